/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Draws every figure of a report page from the JSON beside its canvas. A drawn canvas gets
 * data-rendered with the number of marks inside the plot; a failure gets data-error. */
(function () {
  'use strict';
  var root = document.documentElement;
  /* Okabe and Ito's colours: told apart with any colour vision, on light and dark. */
  var palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c8c8c', '#f0e442'];

  function css(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }

  function short(value) {
    var size = Math.abs(value), rounded = +value.toPrecision(4);
    if (value !== 0 && (size >= 1e5 || size < 1e-3)) {
      return rounded.toExponential().replace('e+', 'e');
    }
    return String(rounded);
  }

  /* Whiskers from lo to hi along the value axis; unknown ends draw nothing. */
  var whiskers = {
    id: 'whiskers',
    afterDatasetsDraw: function (chart) {
      var ctx = chart.ctx;
      var flat = chart.options.indexAxis === 'y';
      var scale = flat ? chart.scales.x : chart.scales.y;
      ctx.save();
      ctx.strokeStyle = css('--ink');
      ctx.lineWidth = 1;
      chart.data.datasets.forEach(function (set, index) {
        if (!set.lo || !chart.isDatasetVisible(index)) { return; }
        chart.getDatasetMeta(index).data.forEach(function (mark, i) {
          if (set.lo[i] === null || set.hi[i] === null) { return; }
          var from = scale.getPixelForValue(set.lo[i]);
          var to = scale.getPixelForValue(set.hi[i]);
          ctx.beginPath();
          if (flat) {
            ctx.moveTo(from, mark.y); ctx.lineTo(to, mark.y);
            ctx.moveTo(from, mark.y - 3); ctx.lineTo(from, mark.y + 3);
            ctx.moveTo(to, mark.y - 3); ctx.lineTo(to, mark.y + 3);
          } else {
            ctx.moveTo(mark.x, from); ctx.lineTo(mark.x, to);
            ctx.moveTo(mark.x - 3, from); ctx.lineTo(mark.x + 3, from);
            ctx.moveTo(mark.x - 3, to); ctx.lineTo(mark.x + 3, to);
          }
          ctx.stroke();
        });
      });
      ctx.restore();
    }
  };

  /* Log axes: labels and grid lines at powers of ten only. `room` keeps marks and whiskers inside. */
  function axis(title, kind, room) {
    var ticks = { color: css('--soft') }, grid = { color: css('--line') };
    function isDecade(value) {
      var digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
      return Math.abs(digit - 1) < 1e-6;
    }
    if (kind === 'logarithmic') {
      ticks.callback = function (value) { return isDecade(value) ? short(value) : ''; };
      ticks.autoSkip = false;
      ticks.maxRotation = 0;
      grid.color = function (context) {
        return context.tick && isDecade(context.tick.value) ? css('--line') : 'transparent';
      };
    }
    return {
      type: kind, ticks: ticks, grid: grid, suggestedMin: room && room.min, suggestedMax: room && room.max,
      title: { display: true, text: title, color: css('--soft') }
    };
  }

  /* Names beside bars. A phone has room for the ends of long ones, which tell variants apart; the tip
   * and the table beside the chart have them whole. */
  function names(title, width) {
    var result = axis(title, 'category');
    result.title.display = width >= 640;
    result.ticks.callback = function (value) {
      var most = Math.floor(this.chart.width * 0.4 / 7), head = Math.ceil((most - 1) / 2);
      var label = this.getLabelForValue(value); /* at the width of now: phones are turned */
      if (this.chart.width >= 640 || label.length <= most) { return label; }
      return label.slice(0, head) + '\u2026' + label.slice(label.length - (most - 1 - head));
    };
    return result;
  }

  /* Names of bars that start left of the canvas, where nobody reads them. */
  function cut(chart) {
    var scale = chart.options.indexAxis === 'y' ? chart.scales.y : null;
    if (!scale) { return 0; }
    chart.ctx.font = Chart.defaults.font.size + 'px ' + Chart.defaults.font.family;
    return scale.ticks.filter(function (tick) {
      return scale.right - 11 - chart.ctx.measureText(tick.label).width < 0; /* 11: tick and gap */
    }).length;
  }

  /* The span of the named columns over all series, a little wider on log axes. */
  function span(spec, names, isLog) {
    var min = Infinity, max = -Infinity;
    spec.series.forEach(function (series) {
      names.forEach(function (name) {
        (series[name] || []).forEach(function (value) {
          if (value === null || (isLog && value <= 0)) { return; }
          min = Math.min(min, value);
          max = Math.max(max, value);
        });
      });
    });
    if (min > max) { return null; }
    return isLog ? { min: min / 1.5, max: max * 1.5 } : { min: min, max: max };
  }

  function datasets(spec) {
    return spec.series.map(function (series, i) {
      var colour = palette[i % palette.length];
      return {
        label: series.name, lo: series.lo, hi: series.hi, notes: series.notes,
        data: series.x ? series.y.map(function (y, j) { return { x: series.x[j], y: y }; }) : series.y,
        backgroundColor: colour, borderColor: colour, borderWidth: series.line ? 2 : 0,
        showLine: Boolean(series.line), pointRadius: series.line ? 0 : 3, minBarLength: 1
      };
    });
  }

  function tip(item) {
    var set = item.dataset, i = item.dataIndex, text = set.label + ': ';
    if (typeof item.raw === 'object') {
      text += short(item.raw.x) + ', ' + short(item.raw.y);
    } else {
      text += short(item.raw);
    }
    if (set.lo && set.lo[i] !== null && set.hi[i] !== null) {
      text += ' [' + short(set.lo[i]) + ', ' + short(set.hi[i]) + ']';
    }
    return set.notes && set.notes[i] ? [text, set.notes[i]] : text;
  }

  function config(spec, width) {
    var bars = spec.kind === 'bars', scatter = spec.kind === 'scatter';
    var curved = spec.linear ? 'linear' : 'logarithmic', isLog = !bars && !spec.linear;
    var values = span(spec, ['y', 'lo', 'hi'], isLog);
    return {
      type: scatter ? 'scatter' : 'bar',
      data: { labels: spec.labels, datasets: datasets(spec) },
      plugins: [whiskers],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        indexAxis: bars ? 'y' : 'x',
        scales: {
          x: bars ? axis(spec.y_title, 'linear', values)
            : axis(spec.x_title, scatter ? curved : 'category', scatter && span(spec, ['x'], isLog)),
          y: bars ? names(spec.x_title, width) : axis(spec.y_title, curved, values)
        },
        plugins: {
          legend: { display: spec.series.length > 1, labels: { color: css('--ink') } },
          tooltip: { callbacks: { label: tip } }
        }
      }
    };
  }

  /* Marks that lie in the plot and show their colour there: a blank canvas has none. */
  function marks(chart) {
    var area = chart.chartArea, ratio = chart.currentDevicePixelRatio, count = 0;
    chart.data.datasets.forEach(function (set, index) {
      chart.getDatasetMeta(index).data.forEach(function (mark, i) {
        var at = mark.getCenterPoint ? mark.getCenterPoint() : mark;
        if (mark.skip || set.data[i] === null || !(at.x >= area.left && at.x <= area.right && at.y >= area.top && at.y <= area.bottom)) {
          return;
        }
        if (chart.ctx.getImageData(Math.round(at.x * ratio), Math.round(at.y * ratio), 1, 1).data[3] > 0) { count++; }
      });
    });
    return count;
  }

  var drawn = [];
  function drawAll() {
    drawn.forEach(function (chart) { chart.destroy(); });
    drawn = [];
    document.querySelectorAll('canvas[data-chart]').forEach(function (canvas) {
      try {
        var spec = JSON.parse(document.getElementById(canvas.dataset.chart).textContent);
        var chart = new Chart(canvas, config(spec, canvas.parentNode.clientWidth));
        drawn.push(chart);
        canvas.setAttribute('data-rendered', String(marks(chart)));
        canvas.setAttribute('data-cut', String(cut(chart)));
      } catch (error) {
        canvas.setAttribute('data-error', String(error));
      }
    });
    root.setAttribute('data-charts', String(drawn.length));
  }
  drawAll();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
}());

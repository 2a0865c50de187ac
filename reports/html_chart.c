/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/html_chart.c -- charts: JSON for the page's script, and the same data as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html_page.h"
#include "runtime/error.h"
#include "support/format.h"
#include "support/json.h"

/* Cells of the grid a dense scatter plot is thinned on. */
#define GRID_WIDTH  50U
#define GRID_HEIGHT 40U
#define BAR_HEIGHT  1.35 /* rem a label and series */
#define CHART_FIXED 6.0  /* rem for axes and legend */

/* Points of a series that are drawn: indices into it. */
typedef struct chosen {
    size_t *index;
    size_t count;
    size_t known; /* points with x and y, drawn or not */
} chosen;

static bool is_drawable(const assay__chart *chart, const assay__chart_series *series, size_t i)
{
    const bool has_log = !chart->is_linear;

    if (!isfinite(series->y[i]) || (has_log && series->y[i] <= 0.0))
        return false;
    return isfinite(series->x[i]) && !(has_log && series->x[i] <= 0.0);
}

static double axis_value(const assay__chart *chart, double value)
{
    return chart->is_linear ? value : log(value);
}

typedef struct range {
    double lo, hi;
} range;

static void widen(range *r, double value)
{
    r->lo = value < r->lo ? value : r->lo;
    r->hi = value > r->hi ? value : r->hi;
}

static size_t grid_step(const range *r, double value, size_t steps)
{
    const double share = r->hi > r->lo ? (value - r->lo) / (r->hi - r->lo) : 0.0;
    const size_t step = (size_t)(share * (double)steps);

    return step < steps ? step : steps - 1;
}

/* Keeps the highest point of each grid cell, so that the worst case stays visible. */
static void thin(const assay__chart *chart, const assay__chart_series *series, chosen *points)
{
    range xs = {(double)INFINITY, -(double)INFINITY}, ys = xs;
    size_t best[GRID_WIDTH * GRID_HEIGHT];
    size_t kept = 0;

    for (size_t i = 0; i < points->count; i++) {
        widen(&xs, axis_value(chart, series->x[points->index[i]]));
        widen(&ys, axis_value(chart, series->y[points->index[i]]));
    }
    for (size_t cell = 0; cell < GRID_WIDTH * GRID_HEIGHT; cell++)
        best[cell] = SIZE_MAX;
    for (size_t i = 0; i < points->count; i++) {
        const size_t point = points->index[i];
        const size_t cell =
            grid_step(&ys, axis_value(chart, series->y[point]), GRID_HEIGHT) * GRID_WIDTH +
            grid_step(&xs, axis_value(chart, series->x[point]), GRID_WIDTH);
        if (best[cell] == SIZE_MAX || series->y[point] > series->y[best[cell]])
            best[cell] = point;
    }
    for (size_t cell = 0; cell < GRID_WIDTH * GRID_HEIGHT; cell++)
        if (best[cell] != SIZE_MAX)
            points->index[kept++] = best[cell];
    points->count = kept;
}

static assay_status choose(const assay__chart *chart, const assay__chart_series *series,
                           chosen *points)
{
    points->index = malloc((series->count + 1) * sizeof *points->index);
    if (points->index == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a chart of %zu points", series->count);
    for (size_t i = 0; i < series->count; i++)
        if (is_drawable(chart, series, i))
            points->index[points->count++] = i;
    points->known = points->count;
    if (!series->is_line && points->count > ASSAY__CHART_POINTS)
        thin(chart, series, points);
    return ASSAY_OK;
}

/* Six digits suffice for pixels and keep the page small; the table has its own digits. */
static json_t *number(double value)
{
    char text[32];

    if (!isfinite(value))
        return json_null();
    (void)snprintf(text, sizeof text, "%.6g", value);
    return json_real(strtod(text, NULL));
}

static assay_status put_numbers(json_t *object, const char *key, const double *values,
                                const chosen *points)
{
    json_t *array = json_array();
    assay_status status = ASSAY_OK;

    for (size_t i = 0; i < points->count && status == ASSAY_OK; i++)
        status = assay__json_append_take(array, number(values[points->index[i]]));
    if (status != ASSAY_OK) {
        json_decref(array);
        return status;
    }
    return assay__json_put_take(object, key, array);
}

static assay_status put_texts(json_t *object, const char *key, const char *const *texts,
                              const chosen *points)
{
    json_t *array = json_array();
    assay_status status = ASSAY_OK;

    for (size_t i = 0; i < points->count && status == ASSAY_OK; i++) {
        const char *text = texts[points->index[i]];
        status = assay__json_append_take(array, assay__json_text(text != NULL ? text : ""));
    }
    if (status != ASSAY_OK) {
        json_decref(array);
        return status;
    }
    return assay__json_put_take(object, key, array);
}

static assay_status put_series(json_t *array, const assay__chart_series *series,
                               const chosen *points)
{
    json_t *object = json_object();
    assay_status status = assay__json_put_string(object, "name", series->name);

    if (status == ASSAY_OK && series->is_line)
        status = assay__json_put_bool(object, "line", true);
    if (status == ASSAY_OK && series->x != NULL)
        status = put_numbers(object, "x", series->x, points);
    if (status == ASSAY_OK)
        status = put_numbers(object, "y", series->y, points);
    if (status == ASSAY_OK && series->lo != NULL && series->hi != NULL) {
        status = put_numbers(object, "lo", series->lo, points);
        if (status == ASSAY_OK)
            status = put_numbers(object, "hi", series->hi, points);
    }
    if (status == ASSAY_OK && series->notes != NULL)
        status = put_texts(object, "notes", series->notes, points);
    if (status != ASSAY_OK) {
        json_decref(object);
        return status;
    }
    return assay__json_append_take(array, object);
}

static assay_status put_title(json_t *object, const char *key, const char *title, const char *unit)
{
    assay__str text = {0};

    assay__str_add(&text, title);
    if (unit != NULL)
        assay__str_addf(&text, " [%s]", unit);
    assay_status status = assay__str_status(&text);
    if (status == ASSAY_OK)
        status = assay__json_put_string(object, key, assay__str_text(&text));
    assay__str_clear(&text);
    return status;
}

static assay_status put_axes(json_t *object, const assay__chart *chart, const chosen *labels)
{
    static const char *const kinds[] = {[ASSAY__CHART_BARS] = "bars",
                                        [ASSAY__CHART_HISTOGRAM] = "histogram",
                                        [ASSAY__CHART_SCATTER] = "scatter"};

    ASSAY_TRY(assay__json_put_string(object, "kind", kinds[chart->kind]));
    ASSAY_TRY(assay__json_put_bool(object, "linear", chart->is_linear));
    ASSAY_TRY(put_title(object, "x_title", chart->x_title, chart->x_unit));
    ASSAY_TRY(put_title(object, "y_title", chart->y_title, chart->y_unit));
    if (chart->labels != NULL)
        ASSAY_TRY(put_texts(object, "labels", chart->labels, labels));
    return ASSAY_OK;
}

static assay_status put_chart(json_t *object, const assay__chart *chart, const chosen *points)
{
    ASSAY_TRY(put_axes(object, chart, &points[0]));
    ASSAY_TRY(assay__json_put_take(object, "series", json_array()));
    json_t *array = json_object_get(object, "series");
    for (size_t i = 0; i < chart->series_count; i++)
        ASSAY_TRY(put_series(array, &chart->series[i], &points[i]));
    return ASSAY_OK;
}

/* '<' inside the script element is written as an escape, so that no text can end it. */
static void add_json(assay__str *out, const char *json)
{
    for (const char *at = json; *at != '\0'; at++)
        if (*at == '<')
            assay__str_add(out, "\\u003c");
        else
            assay__str_addc(out, *at);
}

static double plot_height(const assay__chart *chart, const chosen *points)
{
    return chart->kind != ASSAY__CHART_BARS
               ? 22.0
               : CHART_FIXED + BAR_HEIGHT * (double)(points[0].count * chart->series_count);
}

static void add_figure(assay__html *page, const assay__chart *chart, const chosen *points,
                       const char *json)
{
    assay__str *body = &page->body;

    assay__html_end_facts(page);
    page->charts++;
    assay__str_add(body, "<figure>\n<figcaption>");
    assay__html_escape(body, chart->title);
    assay__str_addf(body,
                    "</figcaption>\n<div class=\"plot\" style=\"height:%.4grem\">"
                    "<canvas data-chart=\"c%zu\" role=\"img\" aria-label=\"",
                    plot_height(chart, points), page->charts);
    assay__html_escape(body, chart->title);
    assay__str_addf(body, "\"></canvas></div>\n<script type=\"application/json\" id=\"c%zu\">",
                    page->charts);
    add_json(body, json);
    assay__str_add(body, "</script>\n</figure>\n");
    for (size_t i = 0; i < chart->series_count; i++)
        if (points[i].count < points[i].known && chart->kind == ASSAY__CHART_SCATTER)
            assay__html_text(page,
                             "%s: %zu points drawn for %zu; where many fall together the highest "
                             "is shown.",
                             chart->series[i].name, points[i].count, points[i].known);
    if (chart->kind != ASSAY__CHART_SCATTER && points[0].count < chart->label_count)
        assay__html_text(page, "The first %zu of %zu are drawn; the table has the others.",
                         points[0].count, chart->label_count);
}

static void add_value(assay__html *page, const assay__chart *chart, const double *values, size_t i)
{
    assay__html_cell_real(page, values == NULL ? (double)NAN : values[i],
                          chart->digits > 0 ? chart->digits : 4);
}

/* The whole series, also what was not drawn, as far as the page's budget goes. */
static void add_rows(assay__html *page, const assay__chart *chart,
                     const assay__chart_series *series, unsigned parts)
{
    for (size_t i = 0; i < series->count; i++) {
        if (assay__html_table_is_full(page)) {
            assay__html_skip_rows(page, series->count - i);
            return;
        }
        if (chart->labels != NULL)
            assay__html_cell(page, chart->labels[i]);
        else
            add_value(page, chart, series->x, i);
        assay__html_cell(page, series->name);
        add_value(page, chart, series->y, i);
        if ((parts & 1U) != 0) {
            add_value(page, chart, series->lo, i);
            add_value(page, chart, series->hi, i);
        }
        if ((parts & 2U) != 0)
            assay__html_cell(page, series->notes != NULL ? series->notes[i] : NULL);
    }
}

static void add_table(assay__html *page, const assay__chart *chart)
{
    assay__html_column columns[6] = {
        {chart->x_title, chart->x_unit, chart->labels == NULL},
        {"series", NULL, false},
        {chart->y_title, chart->y_unit, true},
    };
    size_t count = 3;
    unsigned parts = 0; /* bit 0: intervals, bit 1: notes */

    for (size_t i = 0; i < chart->series_count; i++)
        parts |=
            (chart->series[i].lo != NULL ? 1U : 0U) | (chart->series[i].notes != NULL ? 2U : 0U);
    if ((parts & 1U) != 0) {
        columns[count++] = (assay__html_column){"from", chart->y_unit, true};
        columns[count++] = (assay__html_column){"to", chart->y_unit, true};
    }
    if ((parts & 2U) != 0)
        columns[count++] = (assay__html_column){"note", NULL, false};
    assay__html_table(page, "Data of this chart", columns, count, true);
    for (size_t i = 0; i < chart->series_count; i++)
        add_rows(page, chart, &chart->series[i], parts);
    assay__html_table_end(page);
}

/* For bars and histograms every series draws the same labels. */
static assay_status choose_all(const assay__chart *chart, chosen *points)
{
    const size_t shown =
        chart->kind == ASSAY__CHART_BARS && chart->label_count > ASSAY__CHART_LABELS
            ? ASSAY__CHART_LABELS
            : chart->label_count;

    for (size_t s = 0; s < chart->series_count; s++) {
        if (chart->kind == ASSAY__CHART_SCATTER) {
            ASSAY_TRY(choose(chart, &chart->series[s], &points[s]));
            continue;
        }
        points[s].index = malloc((shown + 1) * sizeof *points[s].index);
        if (points[s].index == NULL)
            return assay__fail(ASSAY_NOMEM, "out of memory for a chart of %zu labels", shown);
        for (size_t i = 0; i < shown; i++)
            points[s].index[points[s].count++] = i;
        points[s].known = chart->label_count;
    }
    return ASSAY_OK;
}

static assay_status add_chart(assay__html *page, const assay__chart *chart, chosen *points)
{
    char *json = NULL;
    json_t *object = json_object();
    assay_status status = choose_all(chart, points);

    if (status == ASSAY_OK)
        status = put_chart(object, chart, points);
    if (status == ASSAY_OK)
        status = assay__json_dump(object, false, &json);
    if (status == ASSAY_OK && page->body.len + strlen(json) < ASSAY__HTML_BUDGET)
        add_figure(page, chart, points, json);
    else if (status == ASSAY_OK)
        assay__html_warn(page, "%s: left out here, the page is full.", chart->title);
    if (status == ASSAY_OK)
        add_table(page, chart);
    free(json);
    json_decref(object);
    return status;
}

void assay__html_chart(assay__html *page, const assay__chart *chart)
{
    chosen points[ASSAY__CHART_SERIES] = {0};
    assay__chart cut = *chart;

    if (cut.series_count > ASSAY__CHART_SERIES)
        cut.series_count = ASSAY__CHART_SERIES;
    if (cut.series_count == 0)
        return;
    if (add_chart(page, &cut, points) != ASSAY_OK)
        page->body.failed = true; /* only memory can fail here */
    for (size_t i = 0; i < ASSAY__CHART_SERIES; i++)
        free(points[i].index);
}

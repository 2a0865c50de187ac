/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost_sets.c -- weighted times of shape sets: on pages, as CSV and as JSON. */
#include <math.h>
#include <stdio.h>

#include "reports/report_cost.h"
#include "reports/report_parts.h"
#include "support/csv_writer.h"
#include "support/format.h"

/* ---- pages ---- */

static void reason(assay__str *out, size_t count, const char *text)
{
    if (count > 0)
        assay__str_addf(out, "%s%zu %s", out->len > 0 ? ", " : "", count, text);
}

static void cell_reasons(assay__page *page, const assay__set_total *t)
{
    assay__str text = {0};

    reason(&text, t->not_measured, "not measured");
    reason(&text, t->no_pick, "without a pick");
    reason(&text, t->no_default, "without a default");
    reason(&text, t->stale, "stale");
    assay__page_cell(page, text.len > 0 ? assay__str_text(&text) : "none");
    assay__str_clear(&text);
}

static void cell_sum(assay__page *page, const assay__set_sum *sum)
{
    assay__page_cell(page, isnan(sum->ns)
                               ? NULL
                               : assay__format_interval(sum->ns, sum->lo_ns, sum->hi_ns, 0).text);
}

static void cell_gain(assay__page *page, const assay__set_total *t)
{
    if (isnan(t->gain))
        assay__page_cell(page, NULL);
    else if (isnan(t->gain_lo) || isnan(t->gain_hi))
        assay__page_cellf(page, "%.2fx", t->gain);
    else
        assay__page_cellf(page, "%.2fx [%.2f, %.2f]%s", t->gain, t->gain_lo, t->gain_hi,
                          assay__part_level(t->gain_level).text);
}

static void total_row(assay__page *page, const assay__set_total *t)
{
    assay__str wins = {0};

    assay__page_cell(page, t->shape_set);
    assay__page_cell(page, t->dtype);
    assay__page_cell(page, t->op != NULL ? t->op : "all");
    assay__page_cellf(page, "%zu of %zu", t->covered, t->rows);
    cell_reasons(page, t);
    assay__page_cellf(page, "%.15g", t->runs); /* a count: whole but for odd sets */
    cell_sum(page, &t->of_default);
    cell_sum(page, &t->of_picked);
    cell_gain(page, t);
    assay__set_wins_text(t, &wins);
    assay__page_cell(page, wins.len > 0 ? assay__str_text(&wins) : NULL);
    assay__str_clear(&wins);
    if (t->place == NULL)
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s, align %u, layout %s", t->policy, t->align, t->layout);
}

static const assay__html_column columns[] = {{"set", NULL, false},
                                             {"dtype", "of results", false},
                                             {"op", NULL, false},
                                             {"covered", "rows", true},
                                             {"not covered", "rows", false},
                                             {"runs", "all rows", true},
                                             {"defaults", "covered rows [95 %]", true},
                                             {"picked", "covered rows [95 %]", true},
                                             {"gain", "[interval]", true},
                                             {"wins", "rows", false},
                                             {"measured as", NULL, false}};

static void table(assay__page *page, const assay__set_totals *sets,
                  const assay__report_place *place, bool by_op)
{
    assay__page_table(page, by_op ? "The same, op by op" : "One row a set: times of one run of it",
                      columns, sizeof columns / sizeof *columns, by_op);
    for (size_t i = 0; i < sets->count; i++) {
        const assay__set_total *t = &sets->items[i];
        if (t->place != place || (t->op != NULL) != by_op || (by_op && t->ops < 2))
            continue;
        if (assay__page_is_full(page))
            assay__page_skip_rows(page, 1);
        else
            total_row(page, t);
    }
    assay__page_table_end(page);
}

bool assay__cost_has_sets(const assay__set_totals *sets, const assay__report_place *place)
{
    for (size_t i = 0; i < sets->count; i++)
        if (sets->items[i].place == place)
            return true;
    return false;
}

static bool has_mixed(const assay__set_totals *sets, const assay__report_place *place)
{
    for (size_t i = 0; i < sets->count; i++)
        if (sets->items[i].place == place && sets->items[i].ops > 1)
            return true;
    return false;
}

void assay__cost_sets_page(assay__page *page, const assay__set_totals *sets,
                           const assay__report_place *place)
{
    table(page, sets, place, false);
    assay__page_text(
        page,
        "Each problem's time times its count, summed over the covered rows: those with a pick and "
        "a "
        "measured default. Rows that are not covered are in neither sum, so a sum of a set that is "
        "not covered whole is no time of the workload. The ends of a sum's interval are the sums "
        "of "
        "the ends, as if all erred the same way. Gain: defaults over picked, of the ratios that "
        "were "
        "paired inside visits; it may differ a little from the ratio of the sums; the level of its "
        "interval is the least of its parts'. Wins: covered "
        "rows "
        "by picked kernel.");
    if (has_mixed(sets, place))
        table(page, sets, place, true);
}

/* ---- CSV: one row a total ---- */

static const char *const titles[] = {
    "deployment",    "shape_set",     "dtype",      "op",           "layout",
    "align_bytes",   "policy",        "rows",       "covered",      "not_measured",
    "no_pick",       "no_default",    "stale_rows", "runs",         "default_ns",
    "default_lo_ns", "default_hi_ns", "picked_ns",  "picked_lo_ns", "picked_hi_ns",
    "gain",          "gain_lo",       "gain_hi",    "wins",         "gain_level"};

static void csv_question(assay__csv_writer *w, const assay__set_total *t)
{
    assay__csv_put(w, t->place != NULL ? t->place->deployment->digest : NULL);
    assay__csv_put(w, t->shape_set);
    assay__csv_put(w, t->dtype);
    assay__csv_put(w, t->op);
    assay__csv_put(w, t->layout);
    if (t->place != NULL)
        assay__csv_put_int(w, t->align);
    else
        assay__csv_put(w, NULL);
    assay__csv_put(w, t->policy);
}

static void csv_total(assay__csv_writer *w, const assay__set_total *t)
{
    const size_t counts[] = {t->rows,    t->covered,    t->not_measured,
                             t->no_pick, t->no_default, t->stale};
    const double figures[] = {
        t->runs,         t->of_default.ns,   t->of_default.lo_ns, t->of_default.hi_ns,
        t->of_picked.ns, t->of_picked.lo_ns, t->of_picked.hi_ns,  t->gain,
        t->gain_lo,      t->gain_hi};
    assay__str wins = {0};

    csv_question(w, t);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assay__csv_put_int(w, (int64_t)counts[i]);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assay__csv_put_real(w, figures[i]);
    assay__set_wins_text(t, &wins);
    assay__csv_put(w, wins.len > 0 ? assay__str_text(&wins) : NULL);
    assay__csv_put_real(w, t->gain_level);
    assay__str_clear(&wins);
    assay__csv_end_row(w);
}

assay_status assay__cost_sets_csv(const assay__set_totals *sets, FILE *file)
{
    assay__csv_writer w;

    assay__csv_begin(&w, file);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__csv_put(&w, titles[i]);
    assay__csv_end_row(&w);
    for (size_t i = 0; i < sets->count; i++)
        csv_total(&w, &sets->items[i]);
    return assay__csv_finish(&w);
}

/* ---- JSON ---- */

static int put_sum(json_t *row, const char *key, const assay__set_sum *sum)
{
    json_t *object;
    int bad = 0;

    if (isnan(sum->ns))
        return 0;
    object = json_object();
    bad |= (int)assay__json_put_real(object, "time_ns", sum->ns);
    bad |= (int)assay__json_put_real(object, "lo_ns", sum->lo_ns);
    bad |= (int)assay__json_put_real(object, "hi_ns", sum->hi_ns);
    return bad | (int)assay__json_put_take(row, key, object);
}

static json_t *wins_json(const assay__set_total *t)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < t->win_count; i++) {
        json_t *one = json_object();
        bad |= (int)assay__json_put_string(one, "backend", t->wins[i].backend);
        bad |= (int)assay__json_put_string(one, "kernel", t->wins[i].kernel);
        bad |= (int)assay__json_put_int(one, "rows", (int64_t)t->wins[i].rows);
        bad |= (int)assay__json_append_take(list, one);
    }
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *total_json(const assay__set_total *t)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "set", t->shape_set);

    bad |= (int)assay__json_put_string(row, "dtype", t->dtype);
    if (t->op != NULL)
        bad |= (int)assay__json_put_string(row, "op", t->op);
    if (t->place != NULL) {
        bad |= (int)assay__json_put_string(row, "deployment", t->place->deployment->digest);
        bad |= (int)assay__json_put_string(row, "layout", t->layout);
        bad |= (int)assay__json_put_int(row, "align_bytes", t->align);
        bad |= (int)assay__json_put_string(row, "policy", t->policy);
    }
    bad |= (int)assay__json_put_int(row, "rows", (int64_t)t->rows);
    bad |= (int)assay__json_put_int(row, "covered", (int64_t)t->covered);
    bad |= (int)assay__json_put_int(row, "not_measured", (int64_t)t->not_measured);
    bad |= (int)assay__json_put_int(row, "no_pick", (int64_t)t->no_pick);
    bad |= (int)assay__json_put_int(row, "no_default", (int64_t)t->no_default);
    bad |= (int)assay__json_put_int(row, "stale_rows", (int64_t)t->stale);
    bad |= (int)assay__json_put_real(row, "runs", t->runs);
    bad |= put_sum(row, "default", &t->of_default) | put_sum(row, "picked", &t->of_picked);
    bad |= (int)assay__json_put_real(row, "gain", t->gain);
    bad |= (int)assay__json_put_real(row, "gain_lo", t->gain_lo);
    bad |= (int)assay__json_put_real(row, "gain_hi", t->gain_hi);
    bad |= (int)assay__json_put_real(row, "gain_level", t->gain_level);
    bad |= (int)assay__json_put_take(row, "wins", wins_json(t));
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

assay_status assay__cost_sets_json(const assay__set_totals *sets, FILE *file)
{
    for (size_t i = 0; i < sets->count; i++)
        ASSAY_TRY(assay__part_json_piece(file, total_json(&sets->items[i]), i == 0));
    return ASSAY_OK;
}

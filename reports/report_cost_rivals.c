/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost_rivals.c -- where which backend wins and what picking gains over each: on
 * pages, as CSV and as JSON. */
#include <math.h>
#include <stdio.h>

#include "reports/report_cost.h"
#include "reports/report_parts.h"
#include "support/csv_writer.h"
#include "support/format.h"

#define DEFAULTS "(default)" /* no name of a backend */

static const char *name_of(const assay__rival_sum *r)
{
    return r->backend != NULL ? r->backend : DEFAULTS;
}

/* Problems in which the picked kernel is slower than the rival's fastest beyond doubt. */
static void put_slower(const assay__rival_sum *r, assay__str *out)
{
    const size_t named = r->slower < ASSAY__RIVAL_NAMES ? r->slower : ASSAY__RIVAL_NAMES;

    for (size_t i = 0; i < named; i++)
        assay__str_addf(out, "%s%s", i > 0 ? "; " : "", r->slower_rows[i]->text);
    if (r->slower > named)
        assay__str_addf(out, "; %zu more", r->slower - named);
}

/* ---- pages ---- */

static void cell_where(assay__page *page, const assay__rival_sum *r)
{
    if (isnan(r->wins_flops_lo))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%.3g to %.3g MFLOP", 1e-6 * r->wins_flops_lo,
                          1e-6 * r->wins_flops_hi);
}

static void cell_gain(assay__page *page, const assay__rival_sum *r)
{
    if (isnan(r->gain))
        assay__page_cell(page, NULL);
    else if (isnan(r->gain_lo) || isnan(r->gain_hi))
        assay__page_cellf(page, "%.3fx", r->gain);
    else
        assay__page_cellf(page, "%.3fx [%.3f, %.3f]", r->gain, r->gain_lo, r->gain_hi);
}

static void cell_slower(assay__page *page, const assay__rival_sum *r)
{
    assay__str names = {0};

    if (r->judged == 0) {
        assay__page_cell(page, NULL);
        return;
    }
    put_slower(r, &names);
    assay__page_cellf(page, "%zu of %zu%s%s", r->slower, r->judged, r->slower > 0 ? ": " : "",
                      assay__str_text(&names));
    assay__str_clear(&names);
}

static void rival_row(assay__page *page, const assay__set_total *t, const assay__rival_sum *r)
{
    assay__page_cell(page, t->shape_set[0] != '\0' ? t->shape_set : "all measured");
    assay__page_cell(page, t->dtype);
    assay__page_cell(page, t->op != NULL ? t->op : "all");
    assay__page_cellf(page, "%s%s", name_of(r), r->is_best ? ", the best alone" : "");
    assay__page_cellf(page, "%zu of %zu", r->wins, t->covered);
    cell_where(page, r);
    assay__page_cellf(page, "%zu", r->measured);
    assay__page_cellf(page, "%zu", r->paired);
    cell_gain(page, r);
    cell_slower(page, r);
    assay__page_cellf(page, "%s, align %u, layout %s", t->policy, t->align, t->layout);
}

static const assay__html_column columns[] = {
    {"set", NULL, false},
    {"dtype", "of results", false},
    {"op", NULL, false},
    {"rival", NULL, false},
    {"picked", "problems", true},
    {"where", "sizes of these", false},
    {"measured", "problems", true},
    {"paired", "problems", true},
    {"gain", "rival over picked [95 %]", true},
    {"picked slower", "by more than 2 %, of those judged", false},
    {"measured as", NULL, false},
};

static void add_rows(assay__page *page, const assay__set_totals *totals,
                     const assay__report_place *place)
{
    for (size_t i = 0; i < totals->count; i++) {
        const assay__set_total *t = &totals->items[i];
        if (t->place != place || t->covered == 0 ||
            (t->op != NULL && t->ops < 2 && t->shape_set[0] != '\0'))
            continue;
        for (size_t k = 0; k < t->rivals->count; k++) {
            if (assay__page_is_full(page))
                assay__page_skip_rows(page, 1);
            else
                rival_row(page, t, &t->rivals->items[k]);
        }
    }
}

void assay__cost_rivals_page(assay__page *page, const assay__set_totals *ops,
                             const assay__set_totals *sets, const assay__report_place *place)
{
    assay__page_table(page, "Who wins where, and what picking gains", columns,
                      sizeof columns / sizeof *columns, false);
    add_rows(page, ops, place);
    add_rows(page, sets, place);
    assay__page_table_end(page);
    assay__page_text(
        page,
        "A rival is a backend, by its fastest right variant at each problem: what whoever uses "
        "that library alone could have had at best. Gain: its time over the picked kernel's, "
        "paired inside visits, geometric mean over the problems with a common visit, in shape sets "
        "weighted by counts; the interval's ends are means of ends, and absent where a problem has "
        "one common visit alone, as variants have that were dropped after screening. The best "
        "alone is the fastest of the rivals that have a ratio in every problem covered. %s: the "
        "default kernels, with the interval that each gain was judged by. Picked slower: problems "
        "in which the interval says that the picked kernel takes more than 1.02 times as long.",
        DEFAULTS);
}

/* ---- CSV ---- */

static const char *const titles[] = {
    "deployment",    "shape_set", "dtype",          "op",      "layout", "align_bytes",
    "policy",        "covered",   "rival",          "is_best", "wins",   "wins_flops_lo",
    "wins_flops_hi", "measured",  "paired",         "judged",  "gain",   "gain_lo",
    "gain_hi",       "slower",    "slower_problems"};

static void csv_rival(assay__csv_writer *w, const assay__set_total *t, const assay__rival_sum *r)
{
    const size_t counts[] = {r->measured, r->paired, r->judged};
    assay__str names = {0};

    assay__csv_put(w, t->place->deployment->digest);
    assay__csv_put(w, t->shape_set);
    assay__csv_put(w, t->dtype);
    assay__csv_put(w, t->op);
    assay__csv_put(w, t->layout);
    assay__csv_put_int(w, t->align);
    assay__csv_put(w, t->policy);
    assay__csv_put_int(w, (int64_t)t->covered);
    assay__csv_put(w, name_of(r));
    assay__csv_put_int(w, r->is_best);
    assay__csv_put_int(w, (int64_t)r->wins);
    assay__csv_put_real(w, r->wins_flops_lo);
    assay__csv_put_real(w, r->wins_flops_hi);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assay__csv_put_int(w, (int64_t)counts[i]);
    assay__csv_put_real(w, r->gain);
    assay__csv_put_real(w, r->gain_lo);
    assay__csv_put_real(w, r->gain_hi);
    if (r->judged > 0)
        assay__csv_put_int(w, (int64_t)r->slower);
    else
        assay__csv_put(w, NULL);
    put_slower(r, &names);
    assay__csv_put(w, names.len > 0 ? assay__str_text(&names) : NULL);
    assay__str_clear(&names);
    assay__csv_end_row(w);
}

static void csv_rivals(assay__csv_writer *w, const assay__set_totals *totals)
{
    for (size_t i = 0; i < totals->count; i++)
        for (size_t k = 0; totals->items[i].covered > 0 && k < totals->items[i].rivals->count; k++)
            csv_rival(w, &totals->items[i], &totals->items[i].rivals->items[k]);
}

assay_status assay__cost_rivals_csv(const assay__set_totals *ops, const assay__set_totals *sets,
                                    FILE *file)
{
    assay__csv_writer w;

    assay__csv_begin(&w, file);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__csv_put(&w, titles[i]);
    assay__csv_end_row(&w);
    csv_rivals(&w, ops);
    csv_rivals(&w, sets);
    return assay__csv_finish(&w);
}

/* ---- JSON ---- */

static json_t *names_json(const assay__rival_sum *r)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < r->slower && i < ASSAY__RIVAL_NAMES; i++)
        bad |= (int)assay__json_append_take(list, json_string(r->slower_rows[i]->text));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static int put_figures(json_t *row, const assay__rival_sum *r)
{
    int bad = (int)assay__json_put_int(row, "wins", (int64_t)r->wins);

    bad |= (int)assay__json_put_real(row, "wins_flops_lo", r->wins_flops_lo);
    bad |= (int)assay__json_put_real(row, "wins_flops_hi", r->wins_flops_hi);
    bad |= (int)assay__json_put_int(row, "measured", (int64_t)r->measured);
    bad |= (int)assay__json_put_int(row, "paired", (int64_t)r->paired);
    bad |= (int)assay__json_put_int(row, "judged", (int64_t)r->judged);
    bad |= (int)assay__json_put_real(row, "gain", r->gain);
    bad |= (int)assay__json_put_real(row, "gain_lo", r->gain_lo);
    bad |= (int)assay__json_put_real(row, "gain_hi", r->gain_hi);
    if (r->judged == 0)
        return bad;
    bad |= (int)assay__json_put_int(row, "slower", (int64_t)r->slower);
    return bad | (int)assay__json_put_take(row, "slower_problems", names_json(r));
}

static json_t *rival_json(const assay__set_total *t, const assay__rival_sum *r)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "dtype", t->dtype);

    if (t->shape_set[0] != '\0')
        bad |= (int)assay__json_put_string(row, "set", t->shape_set);
    if (t->op != NULL)
        bad |= (int)assay__json_put_string(row, "op", t->op);
    bad |= (int)assay__json_put_string(row, "deployment", t->place->deployment->digest);
    bad |= (int)assay__json_put_string(row, "layout", t->layout);
    bad |= (int)assay__json_put_int(row, "align_bytes", t->align);
    bad |= (int)assay__json_put_string(row, "policy", t->policy);
    bad |= (int)assay__json_put_int(row, "covered", (int64_t)t->covered);
    if (r->backend != NULL)
        bad |= (int)assay__json_put_string(row, "rival", r->backend);
    if (r->is_best)
        bad |= (int)assay__json_put_bool(row, "is_best", true);
    bad |= put_figures(row, r);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

static assay_status json_rivals(const assay__set_totals *totals, FILE *file, bool *is_first)
{
    for (size_t i = 0; i < totals->count; i++)
        for (size_t k = 0; totals->items[i].covered > 0 && k < totals->items[i].rivals->count;
             k++) {
            ASSAY_TRY(assay__part_json_piece(
                file, rival_json(&totals->items[i], &totals->items[i].rivals->items[k]),
                *is_first));
            *is_first = false;
        }
    return ASSAY_OK;
}

assay_status assay__cost_rivals_json(const assay__set_totals *ops, const assay__set_totals *sets,
                                     FILE *file)
{
    bool is_first = true;

    ASSAY_TRY(json_rivals(ops, file, &is_first));
    return json_rivals(sets, file, &is_first);
}

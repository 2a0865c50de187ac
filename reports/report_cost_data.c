/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost_data.c -- the cost report for machines: CSV and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_cost.h"
#include "reports/report_parts.h"
#include "runtime/error.h"
#include "support/csv_writer.h"

/* ---- CSV: one row a candidate ---- */

static const char *const titles[] = {"deployment",      "state",      "op",          "dtypes",
                                     "problem",         "layout",     "align_bytes", "policy",
                                     "backend",         "kernel",     "tunables",    "revision",
                                     "is_winner",       "is_tied",    "is_default",  "verdict",
                                     "reason",          "flags",      "median_ns",   "lo_ns",
                                     "hi_ns",           "visits",     "samples",     "ratio",
                                     "ratio_lo",        "ratio_hi",   "max_ulp",     "max_err_ulp",
                                     "max_rho",         "max_rel",    "max_abs",     "proof",
                                     "workspace_bytes", "flops",      "moved_bytes", "rate",
                                     "rate_unit",       "peak_share", "searched",    "total",
                                     "stop_reason",     "profile",    "decided_utc", "measurement",
                                     "ratio_level"};

static void csv_case(assay__csv_writer *w, const assay__cost_case *c,
                     const assay__cost_candidate *one)
{
    assay__csv_put(w, c->place->deployment->digest);
    assay__csv_put(w, assay__row_state_name(one->state));
    assay__csv_put(w, c->problem->op);
    assay__csv_put(w, c->problem->dtypes);
    assay__csv_put(w, c->problem->text);
    assay__csv_put(w, c->layout);
    assay__csv_put_int(w, c->align);
    assay__csv_put(w, c->policy);
}

static void csv_candidate(assay__csv_writer *w, const assay__cost_candidate *one)
{
    const double figures[] = {one->ratio,       one->ratio_lo, one->ratio_hi, one->max_ulp,
                              one->max_err_ulp, one->max_rho,  one->max_rel,  one->max_abs};

    assay__csv_put(w, one->revision->backend);
    assay__csv_put(w, one->revision->kernel);
    assay__csv_put(w, one->revision->tunables);
    assay__csv_put(w, one->revision->variant_revision);
    assay__csv_put_int(w, one->is_winner);
    assay__csv_put_int(w, one->is_tied);
    assay__csv_put_int(w, one->is_default);
    assay__csv_put(w, assay__report_verdict_name(one->verdict));
    assay__csv_put(w, one->reason);
    assay__csv_put(w, one->flags);
    assay__csv_put_real(w, one->time_ns);
    assay__csv_put_real(w, one->lo_ns);
    assay__csv_put_real(w, one->hi_ns);
    assay__csv_put_int(w, one->visits);
    assay__csv_put_int(w, one->samples);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assay__csv_put_real(w, figures[i]);
    assay__csv_put(w, assay__part_proof(one->proof));
    assay__csv_put_int(w, (int64_t)one->workspace_bytes);
}

static void csv_rest(assay__csv_writer *w, const assay__cost_case *c,
                     const assay__cost_candidate *one)
{
    const bool is_winner = one == c->winner;

    assay__csv_put_real(w, c->problem->flops);
    assay__csv_put_real(w, c->problem->moved_bytes);
    assay__csv_put_real(w, is_winner ? c->rate : (double)NAN);
    assay__csv_put(w, !is_winner || isnan(c->rate) ? NULL : c->is_compute ? "flop/ns" : "byte/ns");
    assay__csv_put_real(w, is_winner ? c->peak_share : (double)NAN);
    if (c->searched < 0) {
        assay__csv_put(w, NULL);
        assay__csv_put(w, NULL);
    } else {
        assay__csv_put_int(w, c->searched);
        assay__csv_put_int(w, c->total);
    }
    assay__csv_put(w, c->stop_reason);
    assay__csv_put(w, c->profile);
    assay__csv_put(w, c->decided_utc);
    assay__csv_put_int(w, one->measurement);
    assay__csv_put_real(w, one->ratio_level);
    assay__csv_end_row(w);
}

assay_status assay__cost_csv(const assay__cost *cost, FILE *file)
{
    assay__csv_writer w;

    assay__csv_begin(&w, file);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__csv_put(&w, titles[i]);
    assay__csv_end_row(&w);
    for (size_t i = 0; i < cost->case_count; i++) {
        const assay__cost_case *c = &cost->cases[i];
        for (size_t k = 0; !c->is_hidden && k < c->count; k++) {
            const assay__cost_candidate *one = assay__cost_at(cost, c, k);
            if (one->is_hidden && !one->is_winner)
                continue;
            csv_case(&w, c, one);
            csv_candidate(&w, one);
            csv_rest(&w, c, one);
        }
    }
    return assay__csv_finish(&w);
}

/* ---- JSON ---- */

static int put_known(json_t *object, const char *key, const char *text)
{
    return text == NULL || text[0] == '\0' ? 0 : (int)assay__json_put_string(object, key, text);
}

static json_t *candidate_json(const assay__cost_candidate *one)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "backend", one->revision->backend);

    bad |= (int)assay__json_put_string(row, "kernel", one->revision->kernel);
    bad |= put_known(row, "tunables", one->revision->tunables);
    bad |= (int)assay__json_put_string(row, "revision", one->revision->variant_revision);
    bad |= (int)assay__json_put_string(row, "state", assay__row_state_name(one->state));
    bad |= (int)assay__json_put_string(row, "verdict", assay__report_verdict_name(one->verdict));
    bad |= put_known(row, "reason", one->reason) | put_known(row, "flags", one->flags);
    if (one->is_tied)
        bad |= (int)assay__json_put_bool(row, "is_tied", true);
    if (one->is_default)
        bad |= (int)assay__json_put_bool(row, "is_default", true);
    bad |= (int)assay__json_put_real(row, "time_ns", one->time_ns);
    bad |= (int)assay__json_put_real(row, "lo_ns", one->lo_ns);
    bad |= (int)assay__json_put_real(row, "hi_ns", one->hi_ns);
    bad |= (int)assay__json_put_int(row, "visits", one->visits);
    bad |= (int)assay__json_put_real(row, "ratio", one->ratio);
    bad |= (int)assay__json_put_real(row, "ratio_lo", one->ratio_lo);
    bad |= (int)assay__json_put_real(row, "ratio_hi", one->ratio_hi);
    bad |= (int)assay__json_put_real(row, "ratio_level", one->ratio_level);
    bad |= (int)assay__json_put_real(row, "max_ulp", one->max_ulp);
    bad |= (int)assay__json_put_real(row, "max_rho", one->max_rho);
    bad |= (int)assay__json_put_real(row, "max_rel", one->max_rel);
    bad |= (int)assay__json_put_real(row, "max_abs", one->max_abs);
    bad |= put_known(row, "proof", assay__part_proof(one->proof));
    bad |= (int)assay__json_put_int(row, "workspace_bytes", (int64_t)one->workspace_bytes);
    bad |= (int)assay__json_put_int(row, "measurement", one->measurement);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

static int put_winner(json_t *row, const assay__cost_case *c)
{
    json_t *winner = candidate_json(c->winner);
    int bad = 0;

    if (winner == NULL)
        return (int)ASSAY_NOMEM;
    if (c->interval_visits > 0)
        bad |= (int)assay__json_put_int(winner, "interval_visits", c->interval_visits);
    bad |=
        (int)assay__json_put_real(winner, c->is_compute ? "flop_per_ns" : "byte_per_ns", c->rate);
    bad |= (int)assay__json_put_real(winner, "peak_share", c->peak_share);
    bad |= (int)assay__json_put_real(winner, "speedup", c->speedup);
    bad |= (int)assay__json_put_real(winner, "speedup_lo", c->speedup_lo);
    bad |= (int)assay__json_put_real(winner, "speedup_hi", c->speedup_hi);
    bad |= (int)assay__json_put_real(winner, "speedup_level", c->speedup_level);
    return bad | (int)assay__json_put_take(row, "winner", winner);
}

static int put_route(json_t *row, const assay__cost_case *c)
{
    int bad = 0;

    if (c->searched < 0)
        return 0;
    bad |= (int)assay__json_put_int(row, "searched", c->searched);
    bad |= (int)assay__json_put_int(row, "total", c->total);
    bad |= put_known(row, "stop_reason", c->stop_reason) | put_known(row, "profile", c->profile);
    bad |= put_known(row, "decided_utc", c->decided_utc);
    return bad | (int)assay__json_put_int(row, "ties", (int64_t)c->ties);
}

static json_t *case_json(const assay__cost *cost, const assay__cost_case *c)
{
    json_t *row = json_object(), *candidates = json_array();
    int bad = (int)assay__json_put_string(row, "deployment", c->place->deployment->digest);

    bad |= (int)assay__json_put_string(row, "state", assay__row_state_name(c->state));
    bad |= (int)assay__json_put_string(row, "op", c->problem->op);
    bad |= (int)assay__json_put_string(row, "dtypes", c->problem->dtypes);
    bad |= (int)assay__json_put_string(row, "problem", c->problem->text);
    bad |= (int)assay__json_put_string(row, "layout", c->layout);
    bad |= (int)assay__json_put_int(row, "align_bytes", c->align);
    bad |= (int)assay__json_put_string(row, "policy", c->policy);
    bad |= (int)assay__json_put_real(row, "flops", c->problem->flops);
    bad |= (int)assay__json_put_real(row, "moved_bytes", c->problem->moved_bytes);
    bad |= put_route(row, c);
    if (c->winner != NULL)
        bad |= put_winner(row, c);
    for (size_t k = 0; k < c->count; k++) {
        const assay__cost_candidate *one = assay__cost_at(cost, c, k);
        if (!one->is_hidden || one->is_winner)
            bad |= (int)assay__json_append_take(candidates, candidate_json(one));
    }
    bad |= (int)assay__json_put_take(row, "candidates", candidates);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

assay_status assay__cost_json(const assay__cost *cost, const assay__cost_totals *totals, FILE *file)
{
    bool is_first = true;

    ASSAY_TRY(assay__part_json_begin(&cost->set, "assay.report.cost/1", "problems", file));
    for (size_t i = 0; i < cost->case_count; i++) {
        if (cost->cases[i].is_hidden)
            continue;
        ASSAY_TRY(assay__part_json_piece(file, case_json(cost, &cost->cases[i]), is_first));
        is_first = false;
    }
    (void)fputs("],\n\"sets\": [", file);
    ASSAY_TRY(assay__cost_sets_json(&totals->sets, file));
    (void)fputs("],\n\"rivals\": [", file);
    ASSAY_TRY(assay__cost_rivals_json(&totals->ops, &totals->sets, file));
    (void)fputs("]}\n", file);
    return ASSAY_OK;
}

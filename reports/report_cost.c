/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_cost.c -- the cost report for people: HTML and Markdown. */
#include "reports/report_cost.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/report_parts.h"
#include "support/format.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool assay__cost_is_result(const assay__cost_case *c, const assay__report_place *place)
{
    return c->place == place && !c->is_hidden &&
           (assay__row_counts(c->state) || c->state == ASSAY__ROW_ELSEWHERE);
}

/* ---- cells ---- */

static void cell_variant(assay__page *page, const assay__report_revision *r)
{
    assay__str text = {0};

    assay__part_variant(r, &text);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_clear(&text);
}

static void cell_question(assay__page *page, const assay__cost_case *c)
{
    assay__page_cellf(page, "%s, align %u, layout %s", c->policy, c->align, c->layout);
}

/* A time that is to be doubted says so where it is read. */
static void cell_time(assay__page *page, const assay__cost_case *c)
{
    const assay__cost_candidate *w = c->winner;
    const char *noisy = w->verdict == ASSAY__VERDICT_NOISY ? "noisy" : "";
    const assay__text time =
        assay__format_interval(w->time_ns, w->lo_ns, w->hi_ns, (uint64_t)c->interval_visits);

    if (noisy[0] == '\0' && w->flags[0] == '\0')
        assay__page_cell(page, time.text);
    else
        assay__page_cellf(page, "%s (%s%s%s)", time.text, noisy,
                          noisy[0] != '\0' && w->flags[0] != '\0' ? " " : "", w->flags);
}

static void cell_speedup(assay__page *page, const assay__cost_case *c)
{
    if (c->winner->is_default)
        assay__page_cell(page, "is the default");
    else if (isnan(c->speedup))
        assay__page_cell(page, NULL);
    else if (isnan(c->speedup_lo) || isnan(c->speedup_hi))
        assay__page_cellf(page, "%.2fx", c->speedup);
    else
        assay__page_cellf(page, "%.2fx [%.2f, %.2f]%s", c->speedup, c->speedup_lo, c->speedup_hi,
                          assay__part_level(c->speedup_level).text);
}

static void cell_error(assay__page *page, const assay__cost_case *c,
                       const assay__cost_candidate *one)
{
    /* The maximum of a sample is a lower bound. */
    const char *sign = one->proof == ASSAY_PROOF_EXHAUSTIVE ? "=" : ">=";

    if (c->is_contraction && !isnan(one->max_rho))
        assay__page_cellf(page, "rho %s %s", sign, assay__format_real(one->max_rho, 3).text);
    else if (!isnan(one->max_ulp))
        assay__page_cellf(page, "%s %.0f ulp", sign, one->max_ulp); /* dist: a whole number */
    else
        assay__page_cell(page, NULL);
}

static void cell_rate(assay__page *page, const assay__cost_case *c)
{
    if (isnan(c->rate))
        assay__page_cell(page, NULL);
    else if (c->is_contraction && !c->is_compute && !isnan(c->flop_rate))
        assay__page_cellf(page, "%s (%s)", assay__format_bandwidth(c->rate * 1e9).text,
                          assay__format_flops(c->flop_rate * 1e9).text);
    else
        assay__page_cell(page, c->is_compute ? assay__format_flops(c->rate * 1e9).text
                                             : assay__format_bandwidth(c->rate * 1e9).text);
}

static void cells_searched(assay__page *page, const assay__cost_case *c)
{
    if (c->searched < 0)
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%lld of %lld", (long long)c->searched, (long long)c->total);
    assay__page_cell(page, c->stop_reason);
    assay__page_cell(page, c->profile);
}

/* ---- results ---- */

static void result_row(assay__page *page, const assay__cost_case *c)
{
    const assay__cost_candidate *w = c->winner;

    assay__page_cell(page, c->problem->text);
    if (w == NULL) {
        assay__page_cell(page, c->searched < 0 && c->rejected < c->count
                                   ? "not decided: the sweep did not get there"
                                   : "nothing admissible");
        for (size_t i = 0; i < 7; i++)
            assay__page_cell(page, NULL);
    } else {
        cell_variant(page, w->revision);
        cell_time(page, c);
        cell_rate(page, c);
        assay__page_cell(page,
                         isnan(c->peak_share) ? NULL : assay__format_percent(c->peak_share).text);
        cell_speedup(page, c);
        cell_error(page, c, w);
        assay__page_cell(page, assay__part_proof(w->proof));
        assay__page_cell_count(page, c->ties);
    }
    cells_searched(page, c);
    cell_question(page, c);
}

static const assay__html_column result_columns[] = {{"problem", NULL, false},
                                                    {"winner", NULL, false},
                                                    {"time", "median [95 %], n visits", true},
                                                    {"rate", NULL, true},
                                                    {"of peak", NULL, true},
                                                    {"over default", "speed-up [interval]", true},
                                                    {"max error", NULL, true},
                                                    {"proof", NULL, false},
                                                    {"tied", "variants", true},
                                                    {"searched", "variants", true},
                                                    {"stop", NULL, false},
                                                    {"profile", NULL, false},
                                                    {"measured as", NULL, false}};

static void results(assay__page *page, const assay__cost *cost, const assay__report_place *place)
{
    assay__page_table(page, "One row a problem: the picked kernel", result_columns,
                      COUNT(result_columns), false);
    for (size_t i = 0; i < cost->case_count; i++) {
        if (!assay__cost_is_result(&cost->cases[i], place))
            continue;
        if (assay__page_is_full(page))
            assay__page_skip_rows(page, 1);
        else
            result_row(page, &cost->cases[i]);
    }
    assay__page_table_end(page);
    assay__page_text(
        page,
        "Time: median of the visits' medians with its 95 %% interval; n counts visits of fresh "
        "worker processes. Speed-up: the default kernel's time over the winner's, paired inside "
        "visits, with the interval of the level that it was judged at. Of peak: the rate over the "
        "measured ceiling that bounds "
        "the problem, memory or arithmetic; over 100 %% means operands that stay in a cache. Max "
        "error: dist in units in the last place (0 is correctly rounded), rho for "
        "contractions; a sampled maximum is a lower bound of the true one. Tied: variants that "
        "could not be told from the fastest, the winner included. A dash is not known.");
}

/* ---- warnings ---- */

static void warn_quick(assay__page *page, const assay__cost *cost)
{
    size_t quick = 0, all = 0;

    for (size_t i = 0; i < cost->case_count; i++) {
        const assay__cost_case *c = &cost->cases[i];
        if (c->is_hidden || c->searched < 0)
            continue;
        all++;
        quick += strcmp(c->profile, "quick") == 0;
    }
    if (quick > 0)
        assay__page_warn(page,
                         "%zu of %zu results come from a quick profile: orientation, not for "
                         "production. Sweep with --profile standard before you rely on them.",
                         quick, all);
}

static void warn_apart(assay__page *page, const assay__cost *cost)
{
    size_t stale = 0, elsewhere = 0;

    for (size_t i = 0; i < cost->case_count; i++) {
        const assay__cost_case *c = &cost->cases[i];
        if (c->is_hidden)
            continue;
        elsewhere += c->state == ASSAY__ROW_ELSEWHERE;
        stale += c->stale;
    }
    if (stale > 0)
        assay__page_warn(page,
                         "%zu measured rows are stale: their kernel has changed or is gone. They "
                         "are listed apart and count for nothing else here.",
                         stale);
    if (elsewhere > 0)
        assay__page_warn(page,
                         "%zu results were measured on other deployments. They are shown apart "
                         "and say nothing about this machine.",
                         elsewhere);
    if (cost->lost_routes > 0)
        assay__page_warn(page,
                         "%zu routes have no measurements in this store; `assay check` "
                         "lists what is unsound.",
                         cost->lost_routes);
}

/* ---- candidates ---- */

typedef bool (*candidate_filter)(const assay__cost_case *c, const assay__cost_candidate *one);

static bool is_rejected(const assay__cost_case *c, const assay__cost_candidate *one)
{
    (void)c;
    return assay__cost_is_rejected(one) &&
           (assay__row_counts(one->state) || one->state == ASSAY__ROW_ELSEWHERE);
}

static bool is_running(const assay__cost_case *c, const assay__cost_candidate *one)
{
    (void)c;
    return !assay__cost_is_rejected(one) &&
           (assay__row_counts(one->state) || one->state == ASSAY__ROW_ELSEWHERE);
}

static bool is_idle(const assay__cost_case *c, const assay__cost_candidate *one)
{
    (void)c;
    return one->state == ASSAY__ROW_STALE || one->state == ASSAY__ROW_GONE;
}

/* Calls `put` for those of a place; past a full table they are only counted. */
static size_t each_candidate(assay__page *page, const assay__cost *cost,
                             const assay__report_place *place, candidate_filter wanted,
                             void (*put)(assay__page *, const assay__cost_case *,
                                         const assay__cost_candidate *))
{
    size_t count = 0, skipped = 0;

    for (size_t i = 0; i < cost->case_count; i++) {
        const assay__cost_case *c = &cost->cases[i];
        for (size_t k = 0; !c->is_hidden && c->place == place && k < c->count; k++) {
            const assay__cost_candidate *one = assay__cost_at(cost, c, k);
            if ((one->is_hidden && !one->is_winner) || !wanted(c, one))
                continue;
            count++;
            if (put == NULL)
                continue;
            if (skipped > 0 || assay__page_is_full(page))
                skipped++;
            else
                put(page, c, one);
        }
    }
    if (skipped > 0)
        assay__page_skip_rows(page, skipped);
    return count;
}

static void put_rejected(assay__page *page, const assay__cost_case *c,
                         const assay__cost_candidate *one)
{
    assay__page_cell(page, c->problem->text);
    cell_variant(page, one->revision);
    assay__page_cell(page, assay__part_verdict(one->verdict));
    assay__page_cell(page, one->reason);
}

static void rejected(assay__page *page, const assay__cost *cost, const assay__report_place *place)
{
    static const assay__html_column columns[] = {{"problem", NULL, false},
                                                 {"candidate", NULL, false},
                                                 {"verdict", NULL, false},
                                                 {"reason", NULL, false}};
    size_t count = each_candidate(page, cost, place, is_rejected, NULL);

    if (count == 0) {
        assay__page_text(page, "No candidate was rejected.");
        return;
    }
    assay__page_text(
        page,
        "%zu candidates were rejected. That is expected: a sweep tries variants that "
        "may be wrong, crash or hang, finds out, and never lets one of them be picked.",
        count);
    assay__page_table(page, "Rejected candidates and why", columns, COUNT(columns), count > 40);
    (void)each_candidate(page, cost, place, is_rejected, put_rejected);
    assay__page_table_end(page);
}

static const char *mark_of(const assay__cost_candidate *one)
{
    if (one->is_winner)
        return one->is_default ? "winner, default" : "winner";
    if (one->is_tied)
        return one->is_default ? "tied, default" : "tied";
    return one->is_default ? "default" : NULL;
}

static void put_running(assay__page *page, const assay__cost_case *c,
                        const assay__cost_candidate *one)
{
    assay__page_cell(page, c->problem->text);
    cell_variant(page, one->revision);
    assay__page_cell(page, mark_of(one));
    assay__page_cell(page, assay__part_verdict(one->verdict));
    assay__page_cell(page,
                     isnan(one->time_ns)
                         ? NULL
                         : assay__format_interval(one->time_ns, one->lo_ns, one->hi_ns, 0).text);
    assay__page_cell_count(page, (uint64_t)one->visits);
    if (isnan(one->ratio) || isnan(one->ratio_lo) || isnan(one->ratio_hi))
        assay__page_cell(page, isnan(one->ratio) ? NULL : assay__format_real(one->ratio, 3).text);
    else
        assay__page_cellf(page, "%.3f [%.3f, %.3f]%s", one->ratio, one->ratio_lo, one->ratio_hi,
                          assay__part_level(one->ratio_level).text);
    cell_error(page, c, one);
    if (one->reason[0] != '\0' && one->flags[0] != '\0')
        assay__page_cellf(page, "%s (%s)", one->reason, one->flags);
    else
        assay__page_cell(page, one->reason[0] != '\0' ? one->reason : one->flags);
}

static const assay__html_column running_columns[] = {{"problem", NULL, false},
                                                     {"variant", NULL, false},
                                                     {"role", NULL, false},
                                                     {"verdict", NULL, false},
                                                     {"time", "median [95 %]", true},
                                                     {"visits", "all kinds", true},
                                                     {"time over default", "[interval]", true},
                                                     {"max error", NULL, true},
                                                     {"remark", NULL, false}};

static void put_idle(assay__page *page, const assay__cost_case *c, const assay__cost_candidate *one)
{
    char digits[13];

    (void)snprintf(digits, sizeof digits, "%.12s", one->revision->kernel_revision);
    assay__page_cell(page, c->problem->text);
    cell_variant(page, one->revision);
    assay__page_cell(page, one->state == ASSAY__ROW_GONE ? "gone: no such kernel here now"
                                                         : "stale: the kernel has changed");
    assay__page_cell(page, digits);
    assay__page_cell(page,
                     isnan(one->time_ns)
                         ? NULL
                         : assay__format_interval(one->time_ns, one->lo_ns, one->hi_ns, 0).text);
}

static void idle(assay__page *page, const assay__cost *cost, const assay__report_place *place)
{
    static const assay__html_column columns[] = {{"problem", NULL, false},
                                                 {"variant", NULL, false},
                                                 {"state", NULL, false},
                                                 {"kernel revision", NULL, false},
                                                 {"time then", "median [95 %]", true}};

    if (each_candidate(page, cost, place, is_idle, NULL) == 0)
        return;
    assay__page_section(page, "Stale rows");
    assay__page_text(page, "Measured on this machine with code that is no longer what this program "
                           "has. They are kept, never picked as measured, and mixed with nothing.");
    assay__page_table(page, "Stale rows", columns, COUNT(columns), true);
    (void)each_candidate(page, cost, place, is_idle, put_idle);
    assay__page_table_end(page);
}

/* ---- the page ---- */

static bool has_results(const assay__cost *cost, const assay__report_place *place)
{
    for (size_t i = 0; i < cost->case_count; i++)
        if (assay__cost_is_result(&cost->cases[i], place))
            return true;
    return false;
}

static void section(assay__page *page, const char *title, const assay__report_place *place,
                    bool is_named)
{
    char text[200];

    (void)snprintf(text, sizeof text, "%s%s%.60s%s%.8s", title, is_named ? ": " : "",
                   is_named ? place->deployment->device : "", is_named ? " " : "",
                   is_named ? place->deployment->digest : "");
    assay__page_section(page, text);
}

static void place_part(assay__page *page, const assay__cost *cost, const assay__cost_totals *totals,
                       const assay__report_place *place, bool is_named)
{
    if (has_results(cost, place)) {
        section(page, place->is_here ? "Results" : "Measured elsewhere", place, is_named);
        results(page, cost, place);
        assay__cost_charts(page, cost, place);
    }
    if (has_results(cost, place)) {
        section(page, "Rivals", place, is_named);
        assay__cost_rivals_page(page, &totals->ops, &totals->sets, place);
    }
    if (assay__cost_has_sets(&totals->sets, place)) {
        section(page, "Shape sets", place, is_named);
        assay__cost_sets_page(page, &totals->sets, place);
    }
    if (has_results(cost, place)) {
        section(page, "Rejected candidates", place, is_named);
        rejected(page, cost, place);
        section(page, "All candidates", place, is_named);
        assay__page_table(page, "Variants that passed their check", running_columns,
                          COUNT(running_columns), true);
        (void)each_candidate(page, cost, place, is_running, put_running);
        assay__page_table_end(page);
    }
    idle(page, cost, place);
    section(page, "Deployment", place, is_named);
    assay__part_deployment(page, &cost->set, place);
    assay__part_peaks(page, &cost->set, place);
    assay__part_transfers(page, &cost->set, place);
}

void assay__cost_page(assay__page *page, const assay__cost *cost, const assay__cost_totals *totals)
{
    const assay__report_set *set = &cost->set;

    warn_quick(page, cost);
    warn_apart(page, cost);
    assay__part_unjudged(page, set);
    for (size_t pass = 0; pass < 2; pass++) /* this machine first */
        for (size_t i = 0; i < set->place_count; i++)
            if (set->places[i].is_here == (pass == 0))
                place_part(page, cost, totals, &set->places[i], set->place_count > 1);
    if (assay__cost_has_sets(&totals->sets, NULL)) {
        assay__page_section(page, "Shape sets that were not measured");
        assay__cost_sets_page(page, &totals->sets, NULL);
    }
    assay__part_sources(page, set);
}

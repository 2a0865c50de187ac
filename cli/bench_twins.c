/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_twins.c -- `assay bench`: does the method tell twins apart, and does it see a
 * difference?
 *
 * A pair is a kernel and the same kernel again, timed as a sweep times rivals: in each of VISITS
 * fresh workers one stay each, in random order, and compared by the ratio paired in the visit;
 * pairs that are not decided by then stay in more of them. A winner is false. The same ratios
 * lengthened by 5 % and 3 % must be found: what is called equal or faster is missed, what is called
 * undecided is undecidable here and now. False alarms and misses come from the same samples, so
 * neither can be bought with the other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_stay.h"
#include "runtime/error.h"
#include "tuner/stats.h"
#include "tuner/verdict.h"

#define VISITS      7                       /* of every pair */
#define MOST_VISITS ASSAY_LOOK_MOST(VISITS) /* of a pair that asks for more */
#define SPANS       10
#define SPAN_NS     30e3
#define BUDGET_NS   2e6
#define ELEMENTS    16384 /* hot, about a span of ten calls */

/* What is added to the ratios of a pair, and with what it is judged. */
typedef struct plant {
    double gain;   /* 0: none, the pair is of equals */
    double target; /* the difference that the verdict is asked for */
    bool always;   /* it is to be found whatever floor pairs have here */
} plant;

static const assay__bench_effort effort = {
    .cache = ASSAY_CACHE_HOT, .span_ns = SPAN_NS, .budget_ns = BUDGET_NS, .spans = SPANS};

static const plant equals = {0.0, 0.05, true}, five = {0.05, 0.05, true},
                   three = {0.03, 0.03, false};

typedef struct twins {
    assay__bench_stay stay;
    assay__rng rng;
    size_t pairs;
    double *log_ratios; /* pairs * MOST_VISITS */
    size_t *visits;     /* per pair: that it had */
    size_t *wanted;     /* per pair: that it is to have */
} twins;

static assay_status visit_pair(twins *t, assay__worker *worker, double *log_ratio)
{
    const size_t first = (size_t)assay__rng_below(&t->rng, 2);
    double ns[2] = {0.0, 0.0};

    ASSAY_TRY(assay__bench_stay_time(&t->stay, worker, &effort, &ns[first]));
    ASSAY_TRY(assay__bench_stay_time(&t->stay, worker, &effort, &ns[1 - first]));
    *log_ratio = log(ns[0] / ns[1]);
    return ASSAY_OK;
}

/* Those that want another visit, in random order; the caller frees *out. */
static assay_status order_pairs(twins *t, size_t **out, size_t *count)
{
    size_t *order = calloc(t->pairs, sizeof *order);

    if (order == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for an order");
    *count = 0;
    for (size_t i = 0; i < t->pairs; i++)
        if (t->visits[i] < t->wanted[i])
            order[(*count)++] = i;
    assay__rng_shuffle(&t->rng, order, *count);
    *out = order;
    return ASSAY_OK;
}

/* The first stay of a fresh worker pays for pages and caches: nobody's. */
static assay_status visit(twins *t, bool *any)
{
    assay__worker *worker = NULL;
    size_t *order = NULL, count = 0;
    double unused;
    assay_status status;

    ASSAY_TRY(order_pairs(t, &order, &count));
    *any = count > 0;
    status = *any ? assay__bench_stay_worker(&t->stay, &worker) : ASSAY_OK;
    if (status == ASSAY_OK && *any)
        status = assay__bench_stay_time(&t->stay, worker, &effort, &unused);
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        const size_t pair = order[i];
        status = visit_pair(t, worker, &t->log_ratios[pair * MOST_VISITS + t->visits[pair]]);
        t->visits[pair]++;
    }
    assay__worker_stop(&worker);
    free(order);
    return status;
}

static assay_status compare(const twins *t, size_t pair, const plant *p, assay_comparison *out,
                            size_t *wanted)
{
    assay_verdict_rule rule = assay__verdict_rule_default();
    double shifted[MOST_VISITS];

    rule.target = p->target;
    for (size_t v = 0; v < t->visits[pair]; v++)
        shifted[v] = t->log_ratios[pair * MOST_VISITS + v] + log1p(p->gain);
    return assay__compare_looks(shifted, t->visits[pair], VISITS, &rule, out, wanted);
}

/* Each of the three questions ends by its own ratios alone: that a pair was visited more often for
 * another one changes no answer. */
static assay_status ask_for_more(twins *t)
{
    const plant *plants[] = {&equals, &five, &three};
    assay_comparison c;

    for (size_t i = 0; i < t->pairs; i++)
        for (size_t k = 0; k < sizeof plants / sizeof plants[0]; k++) {
            size_t wanted;
            ASSAY_TRY(compare(t, i, plants[k], &c, &wanted));
            t->wanted[i] = wanted > t->wanted[i] ? wanted : t->wanted[i];
        }
    return ASSAY_OK;
}

static assay_status visit_all(twins *t)
{
    for (size_t i = 0; i < t->pairs; i++)
        t->wanted[i] = VISITS;
    for (size_t look = 0; look < ASSAY_LOOKS; look++) {
        bool any = true;
        while (any)
            ASSAY_TRY(visit(t, &any));
        ASSAY_TRY(ask_for_more(t));
    }
    return ASSAY_OK;
}

typedef struct verdicts {
    size_t slower, faster, undecided;
} verdicts;

/* Of all pairs, when the gain of `p` is added to every ratio of the first of them. */
static assay_status count_verdicts(const twins *t, const plant *p, verdicts *out)
{
    assay_comparison c;
    size_t unused;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < t->pairs; i++) {
        ASSAY_TRY(compare(t, i, p, &c, &unused));
        out->slower += c.verdict == ASSAY_VERDICT_SLOWER ? 1 : 0;
        out->faster += c.verdict == ASSAY_VERDICT_FASTER ? 1 : 0;
        out->undecided += c.verdict == ASSAY_VERDICT_UNDECIDED ? 1 : 0;
    }
    return ASSAY_OK;
}

/* The smallest gain that a pair of this machine can show, in percent. *floor is the share that 95
 * of 100 pairs stay below: what can be asked of them. */
static assay_status add_floor(const twins *t, assay__bench_rows *r, double *floor)
{
    double *sorted = NULL;
    double *floors = calloc(t->pairs, sizeof *floors);
    assay__bench_row *row = NULL;
    assay_status status = ASSAY_OK;

    if (floors == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for floors");
    for (size_t i = 0; status == ASSAY_OK && i < t->pairs; i++) {
        status = assay__aa_floor(&t->log_ratios[i * MOST_VISITS], VISITS, 0.99, &floors[i]);
        floors[i] *= 100.0;
    }
    if (status == ASSAY_OK)
        status = assay__bench_add_median(r, "A/A, floor of a pair", "%", floors, t->pairs, &row);
    if (status == ASSAY_OK)
        status = assay__stats_sorted(floors, t->pairs, &sorted);
    if (status == ASSAY_OK)
        *floor = assay__stats_quantile(sorted, t->pairs, 0.95) / 100.0;
    free(sorted);
    free(floors);
    return status;
}

/* Found or not; and of those that are not, who was told wrong and who was told that this machine
 * cannot say.  5 % are to be found, less where 95 of 100 pairs have a floor that allows it. */
static assay_status add_planted(const twins *t, const plant *p, double floor, assay__bench_rows *r)
{
    assay__bench_row *row = NULL;
    char what[64];
    verdicts v;
    assay_status status = count_verdicts(t, p, &v);

    (void)snprintf(what, sizeof what, "planted %.0f %%, not found", 100.0 * p->gain);
    if (status == ASSAY_OK)
        status = assay__bench_add_rate(r, what, t->pairs - v.slower, t->pairs, &row);
    if (status == ASSAY_OK && (p->always || floor < p->gain))
        row->goal = 5.0;
    (void)snprintf(what, sizeof what, "planted %.0f %%, missed", 100.0 * p->gain);
    if (status == ASSAY_OK)
        status = assay__bench_add_rate(r, what, t->pairs - v.slower - v.undecided, t->pairs, &row);
    if (status == ASSAY_OK)
        row->goal = 5.0;
    (void)snprintf(what, sizeof what, "planted %.0f %%, undecidable", 100.0 * p->gain);
    if (status == ASSAY_OK)
        status = assay__bench_add_rate(r, what, v.undecided, t->pairs, &row);
    return status;
}

static assay_status add_askers(const twins *t, assay__bench_rows *r)
{
    assay__bench_row *row = NULL;
    size_t askers = 0;

    for (size_t i = 0; i < t->pairs; i++)
        askers += t->visits[i] > VISITS ? 1 : 0;
    return assay__bench_add_rate(r, "pairs that asked for more visits", askers, t->pairs, &row);
}

static assay_status judge(const twins *t, assay__bench_rows *r)
{
    double floor = (double)NAN;
    assay__bench_row *row = NULL;
    verdicts v;

    ASSAY_TRY(count_verdicts(t, &equals, &v));
    ASSAY_TRY(assay__bench_add_rate(r, "A/A, false winners", v.slower + v.faster, t->pairs, &row));
    row->goal = 1.0;
    ASSAY_TRY(add_floor(t, r, &floor));
    ASSAY_TRY(add_planted(t, &five, floor, r));
    ASSAY_TRY(add_planted(t, &three, floor, r));
    return add_askers(t, r);
}

static assay_status run(twins *t, const assay__bench_options *o, assay__bench_rows *r)
{
    assay_problem problem;

    ASSAY_TRY(assay_problem_init(ASSAY_OP_add, ASSAY_F32, &problem));
    ASSAY_TRY(assay_problem_set_int(&problem, "n", ELEMENTS));
    ASSAY_TRY(assay__bench_stay_make(o, &problem, &t->stay));
    ASSAY_TRY(visit_all(t));
    return judge(t, r);
}

static assay_status allocate(twins *t)
{
    t->log_ratios = calloc(t->pairs * MOST_VISITS, sizeof *t->log_ratios);
    t->visits = calloc(t->pairs, sizeof *t->visits);
    t->wanted = calloc(t->pairs, sizeof *t->wanted);
    if (t->log_ratios == NULL || t->visits == NULL || t->wanted == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for %zu pairs", t->pairs);
    return ASSAY_OK;
}

assay_status assay__bench_twins(const assay__bench_options *o, assay__bench_rows *r)
{
    twins t = {.stay = {.fds = {-1, -1}}, .pairs = o->pairs};
    assay_status status = allocate(&t);

    assay__rng_seed_named(&t.rng, o->seed, "bench twins");
    if (status == ASSAY_OK)
        status = run(&t, o, r);
    assay__bench_stay_clear(&t.stay);
    free(t.log_ratios);
    free(t.visits);
    free(t.wanted);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/set_totals.c -- times of shape sets, weighted by the counts of their rows. */
#include "reports/set_totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

/* A row of a set. Texts are kept by the report. */
typedef struct use {
    const assay__report_problem *problem;
    const char *shape_set, *dtype, *op;
    double count;
    size_t order;
} use;

typedef struct question {
    const assay__report_place *place;
    const char *layout, *policy; /* kept: compared by address */
    uint32_t align;
} question;

typedef struct work {
    assay__cost *cost;
    const assay__rival_pairs *pairs;
    bool is_by_op; /* no row of a whole set */
    use *uses;     /* owned */
    size_t use_count;
    const assay__cost_case **cases; /* owned; by problem */
    size_t case_count;
    question *questions; /* owned; of the set at hand */
    size_t question_count;
    assay__set_totals *out;
} work;

/* ---- rows of sets ---- */

static assay_status add_row_of(work *w, const assay__report_problem *p, const char *shape_set,
                               double count)
{
    const char *comma = strrchr(p->dtypes, ',');
    use one = {.problem = p, .count = count, .order = w->use_count};

    void *bigger = assay__report_grow(w->uses, w->use_count, sizeof *w->uses);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    w->uses = bigger;
    ASSAY_TRY(assay__report_keep(&w->cost->set, shape_set, &one.shape_set));
    ASSAY_TRY(assay__report_keep(&w->cost->set, p->op, &one.op));
    ASSAY_TRY(assay__report_keep(&w->cost->set, comma != NULL ? comma + 1 : p->dtypes, &one.dtype));
    w->uses[w->use_count++] = one;
    return ASSAY_OK;
}

static assay_status add_use(void *cookie, const assay__report_use *u)
{
    work *w = cookie;

    if (u->shape_set[0] == '\0' || !assay__report_wants_problem(&w->cost->set, u->problem))
        return ASSAY_OK;
    return add_row_of(w, u->problem, u->shape_set, u->run_count);
}

static int by_set_dtype_op(const void *a, const void *b)
{
    const use *x = a, *y = b;
    int order = strverscmp(x->shape_set, y->shape_set); /* t=2 before t=16 */

    if (order == 0)
        order = strcmp(x->dtype, y->dtype);
    if (order == 0)
        order = strcmp(x->op, y->op);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* ---- cases of a problem ---- */

static int by_problem(const void *a, const void *b)
{
    const assay__cost_case *const *x = a, *const *y = b;

    return ((*x)->problem->id > (*y)->problem->id) - ((*x)->problem->id < (*y)->problem->id);
}

static assay_status index_cases(work *w)
{
    w->cases = calloc(w->cost->case_count + 1, sizeof *w->cases);
    if (w->cases == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    for (size_t i = 0; i < w->cost->case_count; i++)
        if (w->cost->cases[i].count > 0)
            w->cases[w->case_count++] = &w->cost->cases[i];
    qsort(w->cases, w->case_count, sizeof *w->cases, by_problem);
    return ASSAY_OK;
}

/* Every problem that was measured, once. */
static assay_status add_measured(work *w)
{
    for (size_t i = 0; i < w->case_count; i++) {
        const assay__report_problem *p = w->cases[i]->problem;
        if ((i == 0 || p != w->cases[i - 1]->problem) &&
            assay__report_wants_problem(&w->cost->set, p))
            ASSAY_TRY(add_row_of(w, p, "", 1.0));
    }
    return ASSAY_OK;
}

/* The first of the problem's cases; those of one problem lie together. */
static size_t first_case(const work *w, const assay__report_problem *p)
{
    size_t low = 0, high = w->case_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->cases[middle]->problem->id < p->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_of(const work *w, size_t at, const assay__report_problem *p)
{
    return at < w->case_count && w->cases[at]->problem == p;
}

/* Ops have different numbers of operands: "ccc" and "cc" are one question, all contiguous. */
static assay_status question_of(work *w, const assay__cost_case *c, question *out)
{
    const char letter[2] = {c->layout[0], '\0'};
    bool is_plain = strspn(c->layout, letter) == strlen(c->layout);

    *out = (question){.place = c->place, .policy = c->policy, .align = c->align};
    return assay__report_keep(&w->cost->set, is_plain ? letter : c->layout, &out->layout);
}

static bool same_question(const question *a, const question *b)
{
    return a->place == b->place && a->layout == b->layout && a->policy == b->policy &&
           a->align == b->align;
}

static assay_status add_question(work *w, const question *q)
{
    for (size_t i = 0; i < w->question_count; i++)
        if (same_question(&w->questions[i], q))
            return ASSAY_OK;
    void *bigger = assay__report_grow(w->questions, w->question_count, sizeof *w->questions);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    w->questions = bigger;
    w->questions[w->question_count++] = *q;
    return ASSAY_OK;
}

static assay_status find_questions(work *w, size_t begin, size_t end)
{
    question q;

    w->question_count = 0;
    for (size_t i = begin; i < end; i++) {
        const assay__report_problem *p = w->uses[i].problem;
        for (size_t at = first_case(w, p); is_of(w, at, p); at++) {
            ASSAY_TRY(question_of(w, w->cases[at], &q));
            ASSAY_TRY(add_question(w, &q));
        }
    }
    return ASSAY_OK;
}

/* *out NULL: there is none. */
static assay_status find_case(work *w, const question *wanted, const assay__report_problem *p,
                              const assay__cost_case **out)
{
    question q;

    *out = NULL;
    for (size_t at = first_case(w, p); *out == NULL && is_of(w, at, p); at++) {
        ASSAY_TRY(question_of(w, w->cases[at], &q));
        if (same_question(&q, wanted))
            *out = w->cases[at];
    }
    return ASSAY_OK;
}

/* ---- sums ---- */

typedef struct paired { /* of covered rows */
    double base, picked, picked_lo, picked_hi;
    double level; /* the least of the intervals; NaN: none */
} paired;

static const assay__cost_candidate *default_of(const assay__cost *cost, const assay__cost_case *c)
{
    if (c->winner->is_default)
        return c->winner;
    for (size_t i = 0; i < c->count; i++) {
        const assay__cost_candidate *one = assay__cost_at(cost, c, i);
        if (one->is_default && one->time_ns > 0)
            return one;
    }
    return NULL;
}

static void add_time(assay__set_sum *sum, double count, const assay__cost_candidate *one)
{
    sum->ns += count * one->time_ns;
    sum->lo_ns += count * one->lo_ns; /* NaN stays: no interval of a part, none of the sum */
    sum->hi_ns += count * one->hi_ns;
}

static void add_ratio(paired *sum, double time_ns, const assay__cost_candidate *winner)
{
    const bool is_default = winner->is_default;

    sum->base += time_ns;
    sum->picked += time_ns * (is_default ? 1.0 : winner->ratio);
    sum->picked_lo += time_ns * (is_default ? 1.0 : winner->ratio_lo);
    sum->picked_hi += time_ns * (is_default ? 1.0 : winner->ratio_hi);
    if (!is_default)
        sum->level = fmin(sum->level, winner->ratio_level); /* of two, the one that is a number */
}

static void add_win(assay__set_total *t, const assay__report_revision *r)
{
    for (size_t i = 0; i < t->win_count; i++) {
        if (strcmp(t->wins[i].kernel, r->kernel) == 0 &&
            strcmp(t->wins[i].backend, r->backend) == 0) {
            t->wins[i].rows++;
            return;
        }
    }
    if (t->win_count < ASSAY__SET_WINS)
        t->wins[t->win_count++] = (assay__set_win){r->backend, r->kernel, 1};
    else
        t->other_wins++;
}

static void add_rivals(const work *w, assay__set_total *t, const use *u, const assay__cost_case *c)
{
    const size_t at = (size_t)(c - w->cost->cases);
    const size_t first = w->pairs->first[at], end = w->pairs->first[at + 1];

    assay__rival_sums_add(t->rivals, &w->pairs->items[first], end - first, u->count, c);
}

static void add_row(const work *w, assay__set_total *t, paired *ratios, const use *u,
                    const assay__cost_case *c)
{
    const assay__cost_candidate *usual;

    t->rows++;
    t->runs += u->count;
    if (c == NULL) {
        t->not_measured++;
    } else if (c->state == ASSAY__ROW_STALE || c->state == ASSAY__ROW_GONE) {
        t->stale++;
    } else if (c->winner == NULL || !(c->winner->time_ns > 0)) {
        t->no_pick++;
    } else if ((usual = default_of(w->cost, c)) == NULL) {
        t->no_default++;
    } else {
        t->covered++;
        add_time(&t->of_default, u->count, usual);
        add_time(&t->of_picked, u->count, c->winner);
        add_ratio(ratios, u->count * usual->time_ns, c->winner);
        add_rivals(w, t, u, c);
        add_win(t, c->winner->revision);
    }
}

static int by_wins(const void *a, const void *b)
{
    const assay__set_win *x = a, *y = b;
    int order = (x->rows < y->rows) - (x->rows > y->rows);

    if (order == 0)
        order = strcmp(x->backend, y->backend);
    return order != 0 ? order : strcmp(x->kernel, y->kernel);
}

static double above_zero(double x)
{
    return x > 0 && isfinite(x) ? x : (double)NAN;
}

static void finish(assay__set_total *t, const paired *ratios)
{
    const assay__set_sum unknown = {(double)NAN, (double)NAN, (double)NAN};

    if (t->covered == 0)
        t->of_default = t->of_picked = unknown;
    t->gain = above_zero(ratios->base) / above_zero(ratios->picked);
    t->gain_lo = above_zero(ratios->base) / above_zero(ratios->picked_hi);
    t->gain_hi = above_zero(ratios->base) / above_zero(ratios->picked_lo);
    t->gain_level = isnan(t->gain_lo) ? (double)NAN : ratios->level;
    qsort(t->wins, t->win_count, sizeof *t->wins, by_wins);
    assay__rival_sums_finish(t->rivals, t->covered);
}

/* ---- totals ---- */

static assay_status sum_rows(work *w, const question *q, size_t begin, size_t end,
                             assay__set_total *t)
{
    paired ratios = {0, 0, 0, 0, (double)NAN};

    for (size_t i = begin; i < end; i++) {
        const assay__cost_case *c = NULL;
        if (q != NULL)
            ASSAY_TRY(find_case(w, q, w->uses[i].problem, &c));
        add_row(w, t, &ratios, &w->uses[i], c);
    }
    finish(t, &ratios);
    return ASSAY_OK;
}

static assay_status add_total(work *w, const question *q, size_t begin, size_t end, const char *op,
                              size_t ops)
{
    const use *first = &w->uses[begin];
    assay__set_total t = {
        .shape_set = first->shape_set, .dtype = first->dtype, .op = op, .ops = ops};
    assay_status status = ASSAY_OK;

    if (q != NULL) {
        t.place = q->place;
        t.layout = q->layout;
        t.policy = q->policy;
        t.align = q->align;
    }
    void *bigger = assay__report_grow(w->out->items, w->out->count, sizeof t);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    w->out->items = bigger;
    t.rivals = calloc(1, sizeof *t.rivals);
    if (t.rivals == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    status = sum_rows(w, q, begin, end, &t);
    if (status == ASSAY_OK)
        w->out->items[w->out->count++] = t;
    else
        free(t.rivals);
    return status;
}

static size_t op_end(const work *w, size_t begin, size_t end)
{
    size_t at = begin;

    while (at < end && w->uses[at].op == w->uses[begin].op)
        at++;
    return at;
}

static assay_status add_totals(work *w, const question *q, size_t begin, size_t end)
{
    size_t ops = 0;

    for (size_t at = begin; at < end; at = op_end(w, at, end))
        ops++;
    if (!w->is_by_op)
        ASSAY_TRY(add_total(w, q, begin, end, NULL, ops));
    for (size_t at = begin; at < end; at = op_end(w, at, end))
        ASSAY_TRY(add_total(w, q, at, op_end(w, at, end), w->uses[at].op, ops));
    return ASSAY_OK;
}

static size_t set_end(const work *w, size_t begin)
{
    size_t at = begin;

    while (at < w->use_count && w->uses[at].shape_set == w->uses[begin].shape_set &&
           w->uses[at].dtype == w->uses[begin].dtype)
        at++;
    return at;
}

static assay_status sum_up(work *w)
{
    qsort(w->uses, w->use_count, sizeof *w->uses, by_set_dtype_op);
    for (size_t begin = 0; begin < w->use_count; begin = set_end(w, begin)) {
        const size_t end = set_end(w, begin);
        ASSAY_TRY(find_questions(w, begin, end));
        if (w->question_count == 0)
            ASSAY_TRY(add_totals(w, NULL, begin, end));
        for (size_t i = 0; i < w->question_count; i++)
            ASSAY_TRY(add_totals(w, &w->questions[i], begin, end));
    }
    return ASSAY_OK;
}

static assay_status end_load(work *w, assay_status status)
{
    if (status == ASSAY_OK && w->use_count > 0)
        status = sum_up(w);
    free(w->uses);
    free(w->cases);
    free(w->questions);
    if (status != ASSAY_OK)
        assay__set_totals_clear(w->out);
    return status;
}

assay_status assay__set_totals_load(assay__cost *cost, const assay__rival_pairs *pairs,
                                    assay__set_totals *out)
{
    work w = {.cost = cost, .pairs = pairs, .out = out};
    assay_status status;

    *out = (assay__set_totals){NULL, 0};
    status = assay__report_each_use(cost->set.report, add_use, &w);
    if (status == ASSAY_OK && w.use_count > 0)
        status = index_cases(&w);
    return end_load(&w, status);
}

assay_status assay__op_totals_load(assay__cost *cost, const assay__rival_pairs *pairs,
                                   assay__set_totals *out)
{
    work w = {.cost = cost, .pairs = pairs, .is_by_op = true, .out = out};
    assay_status status;

    *out = (assay__set_totals){NULL, 0};
    status = index_cases(&w);
    if (status == ASSAY_OK)
        status = add_measured(&w);
    return end_load(&w, status);
}

void assay__set_totals_clear(assay__set_totals *totals)
{
    for (size_t i = 0; i < totals->count; i++)
        free(totals->items[i].rivals);
    free(totals->items);
    *totals = (assay__set_totals){NULL, 0};
}

void assay__set_wins_text(const assay__set_total *t, assay__str *out)
{
    for (size_t i = 0; i < t->win_count; i++)
        assay__str_addf(out, "%s%s/%s %zu", i > 0 ? ", " : "", t->wins[i].backend,
                        t->wins[i].kernel, t->wins[i].rows);
    if (t->other_wins > 0)
        assay__str_addf(out, ", others %zu", t->other_wins);
}

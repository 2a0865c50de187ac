/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/precision_rows.c -- measured errors beside bounds and claims. */
#include "reports/precision_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "runtime/error.h"

struct assay__precision_level {
    const assay__report_deployment *deployment;
    const assay__report_revision *revision;
    const assay__report_problem *problem;
    uint8_t level;          /* assay_stability */
    const char *digests[2]; /* of two numbers of threads that differ; NULL: none */
};

/* ---- bounds ---- */

/* gamma_n = n u / (1 - n u) (Higham, 2002); (1 + u)^n - 1 where that ceases to be useful. */
static double certain_growth(double n, double u)
{
    double share = n * u;

    return share < 0.5 ? share / (1.0 - share) : expm1(n * log1p(u));
}

void assay__precision_rho_bounds(assay_dtype dtype, double terms, double *probable, double *certain)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);

    *probable = *certain = (double)NAN;
    if (info == NULL || !info->is_float || !(terms >= 0))
        return;
    /* Halves are summed in f32.  The rounding of the result is one more u of at most the sum. */
    double u = info->unit_roundoff, u_acc = u > 0x1p-24 ? 0x1p-24 : u;
    double growth = certain_growth(terms, u_acc);
    *certain = growth / u + 1.0;
    *probable = fmin(6.0 * sqrt(terms) * u_acc, growth) / u + 1.0; /* Higham and Mary, 2019 */
}

double assay__precision_share(const assay__precision_row *row)
{
    if (!row->passed || row->elements <= 0)
        return (double)NAN;
    return row->is_exact ? 0.0 : fmin(1.0, 3.0 / (double)row->elements);
}

/* ---- claims and stability ---- */

static assay_status add_claim(void *cookie, const assay__report_claim *c)
{
    assay__precision *p = cookie;
    void *bigger = assay__report_grow(p->claims, p->claim_count, sizeof *p->claims);
    assay__precision_claim row = {.max_ulp = c->max_ulp,
                                  .max_rho = c->max_rho,
                                  .max_rel = c->max_rel,
                                  .max_abs = c->max_abs,
                                  .stability = (uint8_t)c->stability};

    if (bigger == NULL)
        return ASSAY_NOMEM;
    p->claims = bigger;
    ASSAY_TRY(assay__report_keep(&p->set, c->backend, &row.backend));
    ASSAY_TRY(assay__report_keep(&p->set, c->op, &row.op));
    ASSAY_TRY(assay__report_keep(&p->set, c->dtypes, &row.dtypes));
    ASSAY_TRY(assay__report_keep(&p->set, c->kernel, &row.kernel));
    p->claims[p->claim_count++] = row;
    return ASSAY_OK;
}

static const assay__precision_claim *find_claim(const assay__precision *p,
                                                const assay__report_revision *r)
{
    for (size_t i = 0; i < p->claim_count; i++) {
        const assay__precision_claim *c = &p->claims[i];
        if (strcmp(c->kernel, r->kernel) == 0 && strcmp(c->backend, r->backend) == 0 &&
            strcmp(c->dtypes, r->dtypes) == 0 && strcmp(c->op, r->op) == 0)
            return c;
    }
    return NULL;
}

static assay_status add_level(assay__precision *p, const struct assay__precision_level *level)
{
    void *bigger = assay__report_grow(p->levels, p->level_count, sizeof *p->levels);

    if (bigger == NULL)
        return ASSAY_NOMEM;
    p->levels = bigger;
    p->levels[p->level_count++] = *level;
    return ASSAY_OK;
}

static assay_status add_stability(void *cookie, const assay__report_stability *s)
{
    assay__precision *p = cookie;
    struct assay__precision_level level = {
        s->deployment, s->revision, s->problem, (uint8_t)s->level, {NULL, NULL}};

    if (s->other_digest[0] != '\0') {
        ASSAY_TRY(assay__report_keep(&p->set, s->digest, &level.digests[0]));
        ASSAY_TRY(assay__report_keep(&p->set, s->other_digest, &level.digests[1]));
    }
    return add_level(p, &level);
}

/* A sweep tells stability with its routes: did the timed runs give the checked bits? */
static assay_status add_route(void *cookie, const assay__report_route *t)
{
    assay__precision *p = cookie;

    for (size_t i = 0; i < t->candidate_count; i++) {
        const assay__route_candidate *c = &t->candidates[i];
        const struct assay__precision_level level = {
            t->deployment,
            assay__report_find_revision(p->set.report, (int64_t)c->revision_row),
            t->problem,
            c->stability,
            {NULL, NULL}};
        if (level.revision != NULL && c->stability != ASSAY_STABILITY_ABSENT)
            ASSAY_TRY(add_level(p, &level));
    }
    return ASSAY_OK;
}

static int order_of(const void *a, const void *b)
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int by_key(const void *a, const void *b)
{
    const struct assay__precision_level *x = a, *y = b;
    int order = order_of(x->deployment, y->deployment);

    if (order == 0)
        order = order_of(x->revision, y->revision);
    return order != 0 ? order : order_of(x->problem, y->problem);
}

/* The least that was seen. */
static void find_level(const assay__precision *p, assay__precision_row *row)
{
    const struct assay__precision_level key = {
        row->place->deployment, row->revision, row->problem, 0, {NULL, NULL}};
    const struct assay__precision_level *at =
        p->level_count == 0 ? NULL
                            : bsearch(&key, p->levels, p->level_count, sizeof *p->levels, by_key);

    row->stability = ASSAY_STABILITY_ABSENT;
    if (at == NULL)
        return;
    row->stability = at->level;
    while (at > p->levels && by_key(at - 1, &key) == 0)
        at--;
    for (; at < p->levels + p->level_count && by_key(at, &key) == 0; at++) {
        row->stability = at->level < row->stability ? at->level : row->stability;
        if (at->digests[0] != NULL)
            memcpy(row->thread_digests, at->digests, sizeof at->digests);
    }
}

/* ---- rows ---- */

static void copy_figures(const assay__report_accuracy *a, assay__precision_row *row)
{
    row->elements = a->elements;
    row->misrounded = a->misrounded;
    row->nan_mismatch = a->nan_mismatch;
    row->inf_mismatch = a->inf_mismatch;
    row->zero_sign_mismatch = a->zero_sign_mismatch;
    row->flushed = a->flushed;
    row->worst_index = a->worst_index;
    /* Of no elements nothing is known; older versions stored 0. */
    const double known = a->elements > 0 ? 0.0 : (double)NAN;
    row->max_ulp = a->max_ulp + known;
    row->max_err_ulp = a->max_err_ulp + known;
    row->mean_err_ulp = a->mean_err_ulp;
    row->p50_err_ulp = a->p50_err_ulp;
    row->p99_err_ulp = a->p99_err_ulp;
    row->max_rel = a->max_rel + known;
    row->max_abs = a->max_abs + known;
    row->max_rho = a->max_rho;
    row->rms_rho = a->rms_rho;
    row->kappa = a->kappa;
    row->bound = a->bound;
}

static void judge_family(assay__precision_row *row)
{
    const char *last = strrchr(row->problem->dtypes, ',');
    assay_op_id op;
    assay_dtype dtype;

    row->rho_probable = row->rho_certain = (double)NAN;
    if (assay_op_find(row->problem->op, &op) != ASSAY_OK)
        return;
    assay_op_family family = assay_op_get(op)->family;
    row->is_contraction = assay_op_get(op)->bound_rule == ASSAY_BOUND_SUM;
    row->is_elementwise =
        family == ASSAY_FAMILY_ELEMENTWISE_UNARY || family == ASSAY_FAMILY_ELEMENTWISE_BINARY;
    if (row->is_contraction && last != NULL && assay_dtype_parse(last + 1, &dtype) == ASSAY_OK)
        assay__precision_rho_bounds(dtype, row->bound, &row->rho_probable, &row->rho_certain);
}

/* A claim of NaN is none; a measured NaN contradicts nothing and proves nothing. */
static unsigned contradicts(double claim, double measured, unsigned bit)
{
    return claim >= 0 && measured > claim ? bit : 0;
}

void assay__precision_judge(assay__precision_row *row)
{
    const assay__precision_claim *c = row->claim;
    unsigned bits = 0;

    if (c == NULL)
        return;
    bits |= contradicts(c->max_ulp, row->max_ulp, ASSAY__CLAIM_ULP);
    bits |= contradicts(c->max_rho, row->max_rho, ASSAY__CLAIM_RHO);
    bits |= contradicts(c->max_rel, row->max_rel, ASSAY__CLAIM_REL);
    bits |= contradicts(c->max_abs, row->max_abs, ASSAY__CLAIM_ABS);
    /* A result of the wrong class is beyond every finite distance. */
    if (row->nan_mismatch > 0 || row->inf_mismatch > 0) {
        bits |= c->max_ulp >= 0 ? ASSAY__CLAIM_ULP : 0;
        bits |= c->max_rho >= 0 ? ASSAY__CLAIM_RHO : 0;
        bits |= c->max_rel >= 0 ? ASSAY__CLAIM_REL : 0;
        bits |= c->max_abs >= 0 ? ASSAY__CLAIM_ABS : 0;
    }
    /* Where one configuration was repeated, only "runs differ" contradicts. */
    if ((c->stability > ASSAY_STABILITY_NONE && row->stability == ASSAY_STABILITY_NONE) ||
        (c->stability >= ASSAY_STABILITY_MACHINE && row->thread_digests[0] != NULL))
        bits |= ASSAY__CLAIM_STABILITY;
    row->contradicted = (uint8_t)bits;
}

static assay_status add_row(void *cookie, const assay__report_accuracy *a)
{
    assay__precision *p = cookie;
    assay__precision_row row = {.place = assay__report_place_of(&p->set, a->deployment),
                                .revision = a->revision,
                                .problem = a->problem,
                                .id = a->id,
                                .seed = a->seed,
                                .proof = (uint8_t)a->proof,
                                .passed = a->passed != 0};

    if (!assay__report_wants_problem(&p->set, a->problem) ||
        !assay__report_wants_revision(&p->set, a->revision))
        return ASSAY_OK;
    void *bigger = assay__report_grow(p->rows, p->count, sizeof *p->rows);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    p->rows = bigger;
    ASSAY_TRY(assay__report_keep(&p->set, a->stratum, &row.stratum));
    ASSAY_TRY(assay__report_keep(&p->set, a->histogram_json, &row.histogram));
    ASSAY_TRY(assay__report_keep(&p->set, a->worst_json, &row.worst));
    ASSAY_TRY(assay__report_keep(&p->set, a->reference, &row.reference));
    ASSAY_TRY(assay__report_keep(&p->set, a->measured_utc, &row.measured_utc));
    copy_figures(a, &row);
    judge_family(&row);
    row.state = assay__report_state(&p->set, a->deployment, a->revision);
    row.is_union = strcmp(row.stratum, "all") == 0;
    row.is_exact = row.proof == ASSAY_PROOF_EXHAUSTIVE || strcmp(row.stratum, "exhaustive") == 0;
    p->rows[p->count++] = row;
    return ASSAY_OK;
}

static int compare_ids(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_group(const void *a, const void *b)
{
    const assay__precision_row *x = a, *y = b;
    int order = (int)x->state - (int)y->state;

    if (order == 0)
        order = compare_ids(x->place->deployment->id, y->place->deployment->id);
    if (order == 0)
        order = strcmp(x->problem->op, y->problem->op);
    if (order == 0)
        order = compare_ids(x->problem->id, y->problem->id);
    if (order == 0)
        order = compare_ids(x->revision->id, y->revision->id);
    if (order == 0)
        order = (int)y->is_union - (int)x->is_union;
    return order != 0 ? order : compare_ids(x->id, y->id);
}

static bool same_group(const assay__precision_row *a, const assay__precision_row *b)
{
    return a->place == b->place && a->revision == b->revision && a->problem == b->problem;
}

/* Where only single strata were stored, the widest of them speaks. */
static void choose_unions(assay__precision *p)
{
    for (size_t first = 0, end; first < p->count; first = end) {
        size_t best = first;
        for (end = first; end < p->count && same_group(&p->rows[end], &p->rows[first]); end++)
            if (p->rows[end].proof > p->rows[best].proof ||
                (p->rows[end].proof == p->rows[best].proof &&
                 p->rows[end].elements > p->rows[best].elements))
                best = end;
        if (!p->rows[first].is_union)
            p->rows[best].is_union = true;
    }
}

static assay_status load(assay__precision *p, const assay__report_options *options)
{
    ASSAY_TRY(assay__report_set_open(options, &p->set));
    ASSAY_TRY(assay__report_each_claim(p->set.report, add_claim, p));
    ASSAY_TRY(assay__report_each_stability(p->set.report, add_stability, p));
    ASSAY_TRY(assay__report_each_route(p->set.report, add_route, p));
    if (p->level_count > 0)
        qsort(p->levels, p->level_count, sizeof *p->levels, by_key);
    ASSAY_TRY(assay__report_each_accuracy(p->set.report, add_row, p));
    if (p->count == 0)
        return assay__fail(ASSAY_NOTFOUND,
                           "%s: nothing measured, or nothing that --op, --dtype, --backend and "
                           "--kernel let through; `assay sweep` fills a store",
                           options->db_path);
    qsort(p->rows, p->count, sizeof *p->rows, by_group);
    choose_unions(p);
    for (size_t i = 0; i < p->count; i++) {
        p->rows[i].claim = find_claim(p, p->rows[i].revision);
        find_level(p, &p->rows[i]);
        assay__precision_judge(&p->rows[i]);
    }
    return ASSAY_OK;
}

assay_status assay__precision_load(const assay__report_options *options, assay__precision *out)
{
    assay_status status;

    *out = (assay__precision){.rows = NULL};
    status = load(out, options);
    if (status != ASSAY_OK)
        assay__precision_clear(out);
    return status;
}

void assay__precision_clear(assay__precision *p)
{
    free(p->rows);
    free(p->claims);
    free(p->levels);
    assay__report_set_close(&p->set);
    *p = (assay__precision){.rows = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/coverage_rows.c -- op x dtypes x backend from catalogue and kernels; evidence from the
 * store. */
#include "reports/coverage_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/precision_rows.h"
#include "runtime/error.h"

#define NO_KERNEL SIZE_MAX

const char *assay__coverage_state_name(assay__coverage_state state)
{
    static const char *const names[] = {
        [ASSAY__COVERAGE_NO_KERNEL] = "no kernel", [ASSAY__COVERAGE_UNAVAILABLE] = "unavailable",
        [ASSAY__COVERAGE_NONE] = "none",           [ASSAY__COVERAGE_STALE] = "stale",
        [ASSAY__COVERAGE_SOME] = "some",           [ASSAY__COVERAGE_ALL] = "all"};

    return names[state];
}

/* ---- rows ---- */

static bool wants_pair(const assay__report_set *set, const char *op, const char *dtypes)
{
    const assay__report_problem pair = {.op = op, .dtypes = dtypes, .text = ""};

    return assay__report_wants_problem(set, &pair);
}

/* Kernels that nobody gets without asking (reference, fake) are here when asked for too. */
static bool wants_kernel(const assay__report_set *set, const assay__report_kernel *k)
{
    const assay__report_revision like = {.backend = k->backend, .kernel = k->kernel};
    const assay__strlist *named = set->options->backends;

    if (k->is_explicit && (named == NULL || !assay__strlist_has(named, k->backend)))
        return false;
    return wants_pair(set, k->op, k->dtypes) && assay__report_wants_revision(set, &like);
}

static bool names_kernels(const assay__report_options *o)
{
    return (o->backends != NULL && o->backends->count > 0) ||
           (o->kernels != NULL && o->kernels->count > 0);
}

static assay_status add_row(assay__coverage *c, const assay_op_info *op, const char *dtypes,
                            const char *backend)
{
    static const assay_claims none = ASSAY_NO_CLAIMS;

    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].op == op && strcmp(c->rows[i].dtypes, dtypes) == 0 &&
            (backend == NULL ||
             (c->rows[i].backend != NULL && strcmp(c->rows[i].backend, backend) == 0)))
            return ASSAY_OK;
    void *bigger = assay__report_grow(c->rows, c->row_count, sizeof *c->rows);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    c->rows = bigger;
    c->rows[c->row_count++] =
        (assay__coverage_row){.op = op, .dtypes = dtypes, .backend = backend, .claims = none};
    return ASSAY_OK;
}

/* Every tuple that the op takes. */
static assay_status add_catalogue(assay__coverage *c, const assay_op_info *op)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];

    for (size_t t = 0; assay_op_tuple(op->id, t, dtypes); t++) {
        assay__str tuple = {0};
        const char *kept = NULL;
        assay_status status;

        for (size_t i = 0; i < op->inputs + op->outputs; i++)
            assay__str_addf(&tuple, "%s%s", i > 0 ? "," : "", assay_dtype_name(dtypes[i]));
        status = assay__str_status(&tuple);
        if (status == ASSAY_OK && wants_pair(&c->set, op->name, assay__str_text(&tuple))) {
            status = assay__report_keep(&c->set, assay__str_text(&tuple), &kept);
            if (status == ASSAY_OK)
                status = add_row(c, op, kept, NULL);
        }
        assay__str_clear(&tuple);
        ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

static int by_place(const void *a, const void *b)
{
    const assay__coverage_row *x = a, *y = b;
    int order = (int)x->op->id - (int)y->op->id;

    if (order == 0)
        order = strcmp(x->dtypes, y->dtypes);
    return order != 0
               ? order
               : strcmp(x->backend != NULL ? x->backend : "", y->backend != NULL ? y->backend : "");
}

/* Kernels first, so that a pair that someone implements gets no row without a backend. */
static assay_status add_rows(assay__coverage *c)
{
    const assay__report_options *o = c->set.options;
    assay_op_id op;

    for (size_t i = 0; i < o->current_count; i++) {
        const assay__report_kernel *k = &o->current[i];
        if (wants_kernel(&c->set, k) && assay_op_find(k->op, &op) == ASSAY_OK)
            ASSAY_TRY(add_row(c, assay_op_get(op), k->dtypes, k->backend));
    }
    for (int i = 0; i < ASSAY_OP_COUNT && !names_kernels(o); i++)
        ASSAY_TRY(add_catalogue(c, assay_op_get((assay_op_id)i)));
    if (c->row_count == 0)
        return assay__fail(ASSAY_NOTFOUND, "nothing that --op, --dtype, --backend and --kernel let "
                                           "through; `assay kernels` lists what there is");
    qsort(c->rows, c->row_count, sizeof *c->rows, by_place);
    return ASSAY_OK;
}

/* ---- kernels ---- */

static bool is_of_pair(const assay__coverage_row *row, const assay__report_kernel *k)
{
    return strcmp(row->op->name, k->op) == 0 && strcmp(row->dtypes, k->dtypes) == 0;
}

static assay_status add_kernels(assay__coverage *c)
{
    const assay__report_options *o = c->set.options;

    c->kernels = calloc(o->current_count + 1, sizeof *c->kernels);
    if (c->kernels == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    for (size_t r = 0; r < c->row_count; r++) {
        assay__coverage_row *row = &c->rows[r];
        row->first = c->kernel_count;
        for (size_t i = 0; i < o->current_count; i++) {
            const assay__report_kernel *k = &o->current[i];
            if (!is_of_pair(row, k))
                continue;
            row->rivals += k->reason == NULL && !k->is_explicit;
            if (row->backend == NULL || strcmp(row->backend, k->backend) != 0 ||
                !wants_kernel(&c->set, k))
                continue;
            c->kernels[c->kernel_count++] = (assay__coverage_kernel){.now = k, .row = r};
        }
        row->count = c->kernel_count - row->first;
    }
    return ASSAY_OK;
}

/* ---- evidence ---- */

enum { SEEN_NOW, SEEN_STALE, SEEN_ELSEWHERE };

typedef struct sighting { /* of a kernel on a problem */
    size_t kernel;
    int64_t problem;
    int kind;
} sighting;

typedef struct walk {
    assay__coverage *coverage;
    sighting *seen; /* owned */
    size_t seen_count;
    struct {
        const assay__report_revision *revision;
        size_t kernel;
    } memo[1024]; /* direct mapped: finding a kernel compares names */
} walk;

static size_t find_kernel(const assay__coverage *c, const assay__report_revision *r)
{
    for (size_t i = 0; i < c->kernel_count; i++) {
        const assay__report_kernel *k = c->kernels[i].now;
        if (strcmp(k->kernel, r->kernel) == 0 && strcmp(k->backend, r->backend) == 0 &&
            strcmp(k->dtypes, r->dtypes) == 0 && strcmp(k->op, r->op) == 0)
            return i;
    }
    return NO_KERNEL;
}

static size_t kernel_of(walk *w, const assay__report_revision *r)
{
    const size_t at = (uintptr_t)r / sizeof *r % 1024;

    if (w->memo[at].revision != r) {
        w->memo[at].revision = r;
        w->memo[at].kernel = find_kernel(w->coverage, r);
    }
    return w->memo[at].kernel;
}

static assay_status add_measurement(void *cookie, const assay__report_measurement *m)
{
    walk *w = cookie;
    assay__coverage *c = w->coverage;
    const size_t at = kernel_of(w, m->revision);
    const assay__row_state state = assay__report_state(&c->set, m->deployment, m->revision);
    sighting one = {.kernel = at,
                    .problem = m->problem->id,
                    .kind = state == ASSAY__ROW_ELSEWHERE ? SEEN_ELSEWHERE
                            : assay__row_counts(state)    ? SEEN_NOW
                                                          : SEEN_STALE};

    if (at == NO_KERNEL) {
        c->gone += state == ASSAY__ROW_GONE;
        return ASSAY_OK;
    }
    if (one.kind == SEEN_NOW && m->verdict == ASSAY__VERDICT_WRONG)
        c->kernels[at].is_wrong = true;
    if (m->verdict != ASSAY__VERDICT_OK && m->verdict != ASSAY__VERDICT_NOISY)
        return ASSAY_OK;
    void *bigger = assay__report_grow(w->seen, w->seen_count, sizeof *w->seen);
    if (bigger == NULL)
        return ASSAY_NOMEM;
    w->seen = bigger;
    w->seen[w->seen_count++] = one;
    return ASSAY_OK;
}

static int by_kernel_kind_problem(const void *a, const void *b)
{
    const sighting *x = a, *y = b;

    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind - y->kind;
    return (x->problem > y->problem) - (x->problem < y->problem);
}

/* Many variants of a kernel are measured on a problem: it counts once. */
static void count_problems(const walk *w)
{
    for (size_t i = 0; i < w->seen_count; i++) {
        const sighting *s = &w->seen[i];
        assay__coverage_kernel *k = &w->coverage->kernels[s->kernel];
        if (i > 0 && by_kernel_kind_problem(s - 1, s) == 0)
            continue;
        k->problems += s->kind == SEEN_NOW;
        k->stale_problems += s->kind == SEEN_STALE;
        k->elsewhere_problems += s->kind == SEEN_ELSEWHERE;
    }
}

static unsigned contradictions(const assay__report_kernel *k, const assay__report_accuracy *a)
{
    const assay__precision_claim claim = {.max_ulp = k->claims.max_ulp,
                                          .max_rho = k->claims.max_rho,
                                          .max_rel = k->claims.max_rel,
                                          .max_abs = k->claims.max_abs};
    assay__precision_row row = {.claim = &claim,
                                .max_ulp = a->max_ulp,
                                .max_rho = a->max_rho,
                                .max_rel = a->max_rel,
                                .max_abs = a->max_abs,
                                .nan_mismatch = a->nan_mismatch,
                                .inf_mismatch = a->inf_mismatch};

    assay__precision_judge(&row);
    return row.contradicted;
}

static assay_status add_accuracy(void *cookie, const assay__report_accuracy *a)
{
    walk *w = cookie;
    const size_t at = kernel_of(w, a->revision);

    if (at == NO_KERNEL ||
        !assay__row_counts(assay__report_state(&w->coverage->set, a->deployment, a->revision)))
        return ASSAY_OK;
    assay__coverage_kernel *k = &w->coverage->kernels[at];
    k->contradicted |= (uint8_t)contradictions(k->now, a);
    if (!a->passed)
        k->is_wrong = true;
    else if ((uint8_t)a->proof > k->proof)
        k->proof = (uint8_t)a->proof;
    return ASSAY_OK;
}

static assay_status add_stability(void *cookie, const assay__report_stability *s)
{
    walk *w = cookie;
    const size_t at = kernel_of(w, s->revision);

    if (at == NO_KERNEL ||
        !assay__row_counts(assay__report_state(&w->coverage->set, s->deployment, s->revision)))
        return ASSAY_OK;
    assay__coverage_kernel *k = &w->coverage->kernels[at];
    const assay__precision_claim claim = {.max_ulp = (double)NAN,
                                          .max_rho = (double)NAN,
                                          .max_rel = (double)NAN,
                                          .max_abs = (double)NAN,
                                          .stability = (uint8_t)k->now->claims.stability};
    assay__precision_row row = {.claim = &claim, .stability = (uint8_t)s->level};
    if (s->other_digest[0] != '\0')
        row.thread_digests[0] = s->digest;
    assay__precision_judge(&row);
    k->contradicted |= row.contradicted;
    return ASSAY_OK;
}

/* ---- what a row says ---- */

static double weaker(double a, double b)
{
    return a >= 0 && b >= 0 ? fmax(a, b) : -1.0;
}

static void weaken(assay_claims *all, const assay_claims *one, bool is_first)
{
    if (is_first) {
        *all = *one;
        return;
    }
    all->max_ulp = weaker(all->max_ulp, one->max_ulp);
    all->max_rho = weaker(all->max_rho, one->max_rho);
    all->max_rel = weaker(all->max_rel, one->max_rel);
    all->max_abs = weaker(all->max_abs, one->max_abs);
    if (one->stability < all->stability)
        all->stability = one->stability;
}

static bool has_claim(const assay_claims *c)
{
    return c->max_ulp >= 0 || c->max_rho >= 0 || c->max_rel >= 0 || c->max_abs >= 0 ||
           c->stability != ASSAY_STABILITY_ABSENT;
}

static assay__coverage_state state_of(const assay__coverage_row *row, size_t stale)
{
    if (row->backend == NULL)
        return ASSAY__COVERAGE_NO_KERNEL;
    if (row->available == 0)
        return ASSAY__COVERAGE_UNAVAILABLE;
    if (row->measured == 0)
        return stale > 0 ? ASSAY__COVERAGE_STALE : ASSAY__COVERAGE_NONE;
    return row->measured < row->available ? ASSAY__COVERAGE_SOME : ASSAY__COVERAGE_ALL;
}

static void sum_row(const assay__coverage *c, assay__coverage_row *row)
{
    size_t stale = 0;

    for (size_t i = row->first; i < row->first + row->count; i++) {
        const assay__coverage_kernel *k = &c->kernels[i];
        if (k->now->reason != NULL)
            continue;
        weaken(&row->claims, &k->now->claims, row->available == 0);
        row->proof = row->available == 0 || k->proof < row->proof ? k->proof : row->proof;
        row->available++;
        row->measured += k->problems > 0;
        stale += k->stale_problems;
        row->claiming += has_claim(&k->now->claims);
        row->contradicted += k->contradicted != 0;
        row->wrong += k->is_wrong;
        if (k->problems > row->problems)
            row->problems = k->problems;
    }
    row->state = state_of(row, stale);
}

static assay_status gather(assay__coverage *c)
{
    walk *w = calloc(1, sizeof *w);
    assay_status status;

    if (w == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    w->coverage = c;
    status = assay__report_each_measurement(c->set.report, add_measurement, w);
    if (status == ASSAY_OK)
        status = assay__report_each_accuracy(c->set.report, add_accuracy, w);
    if (status == ASSAY_OK)
        status = assay__report_each_stability(c->set.report, add_stability, w);
    if (status == ASSAY_OK && w->seen_count > 0) {
        qsort(w->seen, w->seen_count, sizeof *w->seen, by_kernel_kind_problem);
        count_problems(w);
    }
    free(w->seen);
    free(w);
    return status;
}

static assay_status load(assay__coverage *c, const assay__report_options *options)
{
    if (options->current == NULL || options->here == NULL)
        return assay__fail(ASSAY_UNAVAILABLE,
                           "coverage is about the kernels of this machine, which "
                           "could not be listed; `assay kernels` says why");
    ASSAY_TRY(assay__report_set_open(options, &c->set));
    ASSAY_TRY(add_rows(c));
    ASSAY_TRY(add_kernels(c));
    ASSAY_TRY(gather(c));
    for (size_t i = 0; i < c->row_count; i++)
        sum_row(c, &c->rows[i]);
    return ASSAY_OK;
}

assay_status assay__coverage_load(const assay__report_options *options, assay__coverage *out)
{
    assay_status status;

    *out = (assay__coverage){.rows = NULL};
    status = load(out, options);
    if (status != ASSAY_OK)
        assay__coverage_clear(out);
    return status;
}

void assay__coverage_clear(assay__coverage *c)
{
    free(c->rows);
    free(c->kernels);
    assay__report_set_close(&c->set);
    *c = (assay__coverage){.rows = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_check.c -- is a variant's result right: poison, run, compare with the oracle. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/error_stats.h"
#include "runtime/error.h"
#include "support/json.h"
#include "sweep/acceptance.h"
#include "sweep/sweep_internal.h"

#define BATCH 4096

static const void *output_data(const sweep_problem *p)
{
    return p->output + p->out.offset;
}

static assay_dtype output_dtype(const sweep_problem *p)
{
    return (assay_dtype)p->problem.dtypes[p->problem.dtype_count - 1];
}

static bool is_elementwise(const sweep_problem *p)
{
    assay_op_family family = assay_op_get((assay_op_id)p->problem.op)->family;

    return family == ASSAY_FAMILY_ELEMENTWISE_UNARY || family == ASSAY_FAMILY_ELEMENTWISE_BINARY;
}

static bool has_magnitude(const sweep_problem *p)
{
    return assay_op_get((assay_op_id)p->problem.op)->bound_rule == ASSAY_BOUND_SUM;
}

/* ---- comparing ---- */

/* Figures and acceptance of some elements. */
typedef struct judged {
    assay_accept_spec spec;
    assay_error_stats stats;
    assay_accept_counts counts;
    char where[112]; /* a projection showed it; "" else */
} judged;

static assay_status judged_init(const sweep_problem *p, const assay_kernel_desc *kernel, judged *j)
{
    ASSAY_TRY(assay__acceptance_for(&p->problem, kernel, &j->spec));
    assay__accept_counts_init(&j->counts);
    j->where[0] = '\0';
    return assay__error_stats_init(&j->stats, output_dtype(p), false);
}

typedef struct maps {
    const double *wide; /* hi, lo, bound, magnitude */
    size_t wide_bytes;
    double *spread; /* magnitudes of the kernel's tiles, owned; NULL: an output's own */
    const char *inputs;
    const char *y;
    void *sample; /* owned: those elements of the output that are compared; NULL: all */
} maps;

static assay_status map_set(const sweep_problem *p, size_t set, maps *m)
{
    size_t n = assay__sweep_compared(p, set);

    m->y = output_data(p);
    if (p->sampled[set] != NULL) {
        ASSAY_TRY(assay__sweep_sampled_output(p, set, m->y, &m->sample));
        m->y = m->sample;
    }
    m->wide_bytes = n > 0 ? n * 32 : 32;
    m->wide = mmap(NULL, m->wide_bytes, PROT_READ, MAP_SHARED, p->wide_fd[set], 0);
    m->inputs = mmap(NULL, p->in.total, PROT_READ, MAP_SHARED, p->input_fd[set], 0);
    if (m->wide == MAP_FAILED || m->inputs == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map %zu bytes of expected results", m->wide_bytes);
    return ASSAY_OK;
}

static void unmap_set(const sweep_problem *p, maps *m)
{
    free(m->spread);
    free(m->sample);
    if (m->wide != NULL && m->wide != MAP_FAILED)
        munmap((void *)(uintptr_t)m->wide, m->wide_bytes);
    if (m->inputs != NULL && m->inputs != MAP_FAILED)
        munmap((void *)(uintptr_t)m->inputs, p->in.total);
}

/* The batch of `count` elements from `first` on. */
static assay_error_batch batch_at(const sweep_problem *p, const maps *m, size_t n, size_t first,
                                  size_t count)
{
    assay_error_batch b = {.y = m->y + first * assay_dtype_bytes(output_dtype(p)),
                           .hi = m->wide + first,
                           .lo = m->wide + n + first,
                           .bound = m->wide + 2 * n + first,
                           .magnitude = has_magnitude(p) ? m->wide + 3 * n + first : NULL,
                           .first = first,
                           .count = count};

    for (size_t i = 0; is_elementwise(p) && i + 1 < p->problem.dtype_count; i++) {
        assay_dtype dtype = (assay_dtype)p->problem.dtypes[i];
        b.inputs[i] = m->inputs + p->in.offset[i] + first * assay_dtype_bytes(dtype);
        b.input_dtypes[i] = dtype;
        b.input_count = (unsigned)i + 1;
    }
    return b;
}

static assay_status compare_batch(const sweep_problem *p, const maps *m,
                                  const assay_error_batch *batch, assay__depth_state *state,
                                  judged *j)
{
    double depth[BATCH];
    bool needs_depth = j->spec.rule == ASSAY_ACCEPT_SOFTMAX;

    if (needs_depth)
        ASSAY_TRY(assay__softmax_depth(&p->problem, m->inputs + p->in.offset[0],
                                       (int64_t)batch->first, (int64_t)batch->count, state, depth));
    ASSAY_TRY(assay__error_stats_add(&j->stats, batch));
    assay_error_batch accepted = *batch;
    if (m->spread != NULL)
        accepted.magnitude = m->spread + batch->first;
    return assay__accept_batch(&accepted, needs_depth ? depth : NULL, &j->spec, &j->counts);
}

/* One thread's share of a comparison: elements [begin, end). */
typedef struct share {
    const sweep_problem *p;
    const maps *m;
    size_t n, begin, end;
    judged judged;
    assay_status status;
    char error[256];
    pthread_t thread;
    bool started;
} share;

static void *compare_share(void *arg)
{
    share *w = arg;
    assay__depth_state state = ASSAY__DEPTH_START;

    for (size_t at = w->begin; w->status == ASSAY_OK && at < w->end; at += BATCH) {
        size_t count = w->end - at < BATCH ? w->end - at : BATCH;
        assay_error_batch b = batch_at(w->p, w->m, w->n, at, count);
        w->status = compare_batch(w->p, w->m, &b, &state, &w->judged);
    }
    assay__depth_clear(&state);
    if (w->status != ASSAY_OK)
        (void)snprintf(w->error, sizeof w->error, "%s", assay_last_error());
    return NULL;
}

/* Every figure is the same for every split, so the number of threads changes nothing. */
static assay_status join_share(share *w, judged *out)
{
    assay_status status = w->status;

    if (w->started)
        pthread_join(w->thread, NULL);
    status = w->status;
    if (status != ASSAY_OK)
        status = assay__fail(status, "%s", w->error);
    if (status == ASSAY_OK)
        status = assay__error_stats_merge(&out->stats, &w->judged.stats);
    assay__accept_counts_merge(&out->counts, &w->judged.counts);
    assay__error_stats_clear(&w->judged.stats);
    return status;
}

static assay_status compare_mapped(const sweep_problem *p, const assay_kernel_desc *kernel,
                                   const maps *m, size_t n, size_t threads, judged *out)
{
    share *shares = calloc(threads, sizeof *shares);
    assay_status status = ASSAY_OK, joined;
    size_t each = (n / threads + BATCH) / BATCH * BATCH;

    if (shares == NULL)
        return assay__fail(ASSAY_NOMEM, "comparison");
    for (size_t i = 0; i < threads; i++) {
        share *w = &shares[i];
        w->p = p;
        w->m = m;
        w->n = n;
        w->begin = i * each < n ? i * each : n;
        w->end = (i + 1) * each < n ? (i + 1) * each : n;
        w->status = judged_init(p, kernel, &w->judged);
        w->started = w->status == ASSAY_OK && i + 1 < threads &&
                     pthread_create(&w->thread, NULL, compare_share, w) == 0;
        if (!w->started && w->status == ASSAY_OK)
            (void)compare_share(w);
    }
    for (size_t i = 0; i < threads; i++) {
        joined = join_share(&shares[i], out);
        status = status == ASSAY_OK ? joined : status;
    }
    free(shares);
    return status;
}

static assay_status spread_magnitude(const sweep_problem *p, const assay_kernel_desc *kernel,
                                     size_t n, maps *m)
{
    if (kernel->error_tile == 0 || !has_magnitude(p))
        return ASSAY_OK;
    m->spread = malloc((n + 1) * sizeof *m->spread);
    if (m->spread == NULL)
        return assay__fail(ASSAY_NOMEM, "magnitudes of %zu elements", n);
    assay__tile_magnitude(&p->problem, kernel->error_tile, m->wide + 3 * n, m->spread);
    return ASSAY_OK;
}

static assay_status compare_set(sweep *s, const sweep_problem *p, const assay_kernel_desc *kernel,
                                size_t set, judged *j)
{
    size_t n = assay__sweep_compared(p, set);
    size_t threads = n < 4 * BATCH ? 1 : p->threads;
    maps m = {0};
    assay_status status = map_set(p, set, &m);

    if (status == ASSAY_OK)
        status = spread_magnitude(p, kernel, n, &m);
    if (status == ASSAY_OK)
        status = compare_mapped(p, kernel, &m, n, threads, j);
    unmap_set(p, &m);
    if (status != ASSAY_OK || p->sampled[set] == NULL)
        return status;
    assay__sweep_name_sampled(p, set, &j->stats, &j->counts);
    return assay__sweep_project(s, p, set, output_data(p), &j->spec, &j->stats, &j->counts,
                                j->where, sizeof j->where);
}

/* ---- outputs known already ---- */

/* Variants of a kernel often give the same bits; each distinct output is compared once. */
struct sweep_known {
    struct sweep_known *next;
    size_t set;
    uint64_t digest;
    uint32_t error_tile; /* of its kernel, by which it was judged, */
    double error_factor; /* and this */
    judged judged;
};

static bool errs_alike(const struct sweep_known *k, const assay_kernel_desc *kernel)
{
    return k->error_tile == kernel->error_tile && k->error_factor <= kernel->error_factor &&
           k->error_factor >= kernel->error_factor;
}

void assay__sweep_forget(sweep_problem *p)
{
    while (p->known != NULL) {
        struct sweep_known *next = p->known->next;
        assay__error_stats_clear(&p->known->judged.stats);
        free(p->known);
        p->known = next;
    }
}

static bool is_of_someone(const sweep_problem *p, const struct sweep_known *k)
{
    for (size_t i = 0; i < p->count; i++)
        if (!p->candidates[i].out && p->candidates[i].digests[k->set] == k->digest)
            return true;
    return false;
}

/* Quantiles lie in bins that full counts name: so many values say where in them. */
#define VALUES_KEPT 64

void assay__sweep_thin(sweep_problem *p)
{
    for (struct sweep_known **at = &p->known; *at != NULL;) {
        struct sweep_known *k = *at;
        if (is_of_someone(p, k)) {
            assay__sample_set_trim(&k->judged.stats.sample, VALUES_KEPT);
            at = &k->next;
            continue;
        }
        *at = k->next;
        assay__error_stats_clear(&k->judged.stats);
        free(k);
    }
}

static struct sweep_known *find_known(const sweep_problem *p, const assay_kernel_desc *kernel,
                                      size_t set, uint64_t digest)
{
    struct sweep_known *k = p->known;

    while (k != NULL && (k->set != set || k->digest != digest || !errs_alike(k, kernel)))
        k = k->next;
    return k;
}

static assay_status judge_output(sweep *s, sweep_problem *p, const assay_kernel_desc *kernel,
                                 size_t set, uint64_t digest, judged **out)
{
    struct sweep_known *k = find_known(p, kernel, set, digest);
    assay_status status;

    if (k == NULL) {
        k = calloc(1, sizeof *k);
        if (k == NULL)
            return assay__fail(ASSAY_NOMEM, "comparison");
        k->set = set;
        k->digest = digest;
        k->error_tile = kernel->error_tile;
        k->error_factor = kernel->error_factor;
        status = judged_init(p, kernel, &k->judged);
        double begin = assay__sweep_now_s(s);
        if (status == ASSAY_OK)
            status = compare_set(s, p, kernel, set, &k->judged);
        p->compare_s += assay__sweep_now_s(s) - begin;
        if (status != ASSAY_OK) {
            assay__error_stats_clear(&k->judged.stats);
            free(k);
            return status;
        }
        k->next = p->known;
        p->known = k;
    }
    *out = &k->judged;
    return ASSAY_OK;
}

/* ---- storing ---- */

static json_t *element_json(const assay_error_element *e)
{
    json_t *row = json_object(), *inputs = json_array();
    char bits[24];

    for (unsigned i = 0; i < e->input_count; i++) {
        (void)snprintf(bits, sizeof bits, "0x%llx", (unsigned long long)e->input_bits[i]);
        (void)assay__json_append_take(inputs, assay__json_text(bits));
    }
    (void)snprintf(bits, sizeof bits, "0x%llx", (unsigned long long)e->y_bits);
    (void)assay__json_put_int(row, "index", (int64_t)e->index);
    (void)assay__json_put_real(row, "got", e->y);
    (void)assay__json_put_string(row, "got_bits", bits);
    (void)assay__json_put_real(row, "expected", e->expected);
    (void)assay__json_put_real(row, "exact_hi", e->hi);
    (void)assay__json_put_real(row, "exact_lo", e->lo);
    (void)assay__json_put_take(row, "input_bits", inputs);
    return row;
}

/* The element to show: the first NaN or infinity that should not be, else the worst by figure. */
static const assay_error_element *worst_of(const sweep_problem *p, const assay_error_stats *s)
{
    for (size_t i = 1; i < ASSAY_ULP_CLASSES; i++)
        if (s->classes[i] > 0 && s->first[i].index != ASSAY_ERROR_NONE)
            return &s->first[i];
    if (has_magnitude(p) && s->worst_rho.index != ASSAY_ERROR_NONE)
        return &s->worst_rho;
    return &s->worst;
}

static char *histogram_text(const assay_error_stats *s)
{
    json_t *list = json_array();
    char *text = NULL;

    for (size_t i = 0; i < ASSAY_ERROR_BINS; i++)
        (void)assay__json_append_take(list, json_integer((json_int_t)s->bins[i]));
    if (assay__json_dump(list, false, &text) != ASSAY_OK)
        text = NULL;
    json_decref(list);
    return text;
}

assay_status assay__sweep_put_figures(sweep *s, assay__db_accuracy *row, assay_error_stats *stats,
                                      const assay_error_element *worst, int64_t *id)
{
    json_t *json = element_json(worst);
    assay_error_figures f = {.p50_err_ulp = NAN, .p99_err_ulp = NAN, .mean_err_ulp = NAN};
    char *histogram = histogram_text(stats), *worst_text = NULL;
    bool has_rho = stats->rho_elements > 0;
    assay_status status = assay__json_dump(json, false, &worst_text);

    json_decref(json);
    (void)assay__error_stats_figures(stats, &f); /* none ordinary: the figures stay absent */
    row->elements = (int64_t)stats->elements;
    const bool is_empty = stats->elements == 0; /* then nothing is known of any error */
    row->max_ulp = is_empty ? (double)NAN : (double)stats->max_dist;
    row->max_err_ulp = is_empty ? (double)NAN : stats->max_err_ulp;
    row->mean_err_ulp = f.mean_err_ulp;
    row->p50_err_ulp = f.p50_err_ulp;
    row->p99_err_ulp = f.p99_err_ulp;
    row->max_rel = is_empty ? (double)NAN : stats->max_rel;
    row->max_abs = is_empty ? (double)NAN : stats->max_abs;
    row->max_rho = has_rho ? stats->max_rho : NAN;
    row->rms_rho = has_rho ? f.rms_rho : NAN;
    row->kappa = has_rho ? f.kappa : NAN;
    row->misrounded = (int64_t)stats->misrounded;
    row->nan_mismatch = (int64_t)stats->classes[ASSAY_ULP_NAN_MISMATCH];
    row->inf_mismatch = (int64_t)stats->classes[ASSAY_ULP_INF_MISMATCH];
    row->zero_sign_mismatch = (int64_t)stats->zero_sign_mismatch;
    row->flushed = (int64_t)stats->classes[ASSAY_ULP_FLUSHED];
    row->histogram_json = histogram != NULL ? histogram : "[]";
    row->worst_index = worst->index == ASSAY_ERROR_NONE ? -1 : (int64_t)worst->index;
    row->worst_json = worst_text;
    if (status == ASSAY_OK)
        status = assay__db_put_accuracy(s->db, row, id);
    free(histogram);
    free(worst_text);
    return status;
}

static assay_status put_accuracy(sweep *s, sweep_problem *p, sweep_candidate *c,
                                 const char *stratum, judged *j, assay_proof proof, bool passed)
{
    char reference[120];

    assay__sweep_reference(p, j->stats.elements, reference, sizeof reference);
    assay__db_accuracy row = {.sweep = s->sweep_row,
                              .revision = c->revision_row,
                              .deployment = s->deployment_row,
                              .problem = p->row,
                              .stratum = stratum,
                              .seed = s->o->seed,
                              .proof = proof,
                              .bound = assay__acceptance_bound(&j->spec),
                              .reference = reference,
                              .output_digest = c->digest,
                              .passed = passed};

    return assay__sweep_put_figures(s, &row, &j->stats, worst_of(p, &j->stats), &c->accuracy_row);
}

/* ---- one set ---- */

assay_status assay__sweep_run_set(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w,
                                  size_t set)
{
    json_t *request = assay__sweep_request("run", c), *reply = NULL;
    assay_status status;

    json_object_set_new(request, "set", json_integer((json_int_t)set));
    assay__output_poison(p->output, &p->out, output_dtype(p));
    const double begin = assay__sweep_now_s(s);
    status = assay__worker_call(w, request, NULL, 0, assay__sweep_timeout_ms(s), &reply);
    const double took_s = assay__sweep_now_s(s) - begin;
    s->checked_s += took_s;
    /* No longer than it may take without having waited for a CPU. */
    c->run_ns = fmax(c->run_ns, fmin(1e9 * took_s, 1e6 * assay__sweep_timeout_ms(s)));
    if (status == ASSAY_OK)
        assay__sweep_note_leak(s, p, c, reply);
    json_decref(reply);
    return status;
}

static void call_wrong(sweep *s, sweep_candidate *c, const char *stratum, const char *why)
{
    s->is_tainted = true;
    if (c->verdict == ASSAY__VERDICT_WRONG)
        return; /* the first set that shows it says why, and it counts once */
    c->verdict = ASSAY__VERDICT_WRONG;
    c->out = true;
    (void)snprintf(c->reason, sizeof c->reason, "%s: %.150s", stratum, why);
    s->summary->wrong++;
}

static void describe_worst(const sweep_problem *p, const judged *j, char *buf, size_t cap)
{
    const assay_error_element *e = worst_of(p, &j->stats);

    (void)snprintf(
        buf, cap, "element %llu is %.9g, expected %.9g; %llu of %llu outside the bound%s",
        (unsigned long long)e->index, e->y, e->expected, (unsigned long long)j->counts.failed,
        (unsigned long long)j->stats.elements, j->where);
}

static assay_status overrun(sweep *s, sweep_problem *p, sweep_candidate *c, size_t set, bool *bad)
{
    char text[96];
    uint64_t first = 0;
    size_t bytes = assay__output_overrun(p->output, &p->out, &first);

    *bad = bytes > 0;
    if (bytes > 0) {
        (void)snprintf(text, sizeof text, "%zu bytes written outside the output, first at %lld",
                       bytes, (long long)first - (long long)p->out.offset);
        call_wrong(s, c, p->stratum[set], text);
    }
    return ASSAY_OK;
}

static assay_status judge_set(sweep *s, sweep_problem *p, sweep_candidate *c, size_t set,
                              judged *all, judged **one)
{
    uint64_t digest = assay__output_digest(output_data(p), (size_t)p->out.bytes);
    char why[200];

    if (set == 0)
        c->digest = digest;
    c->digests[set] = digest;
    ASSAY_TRY(judge_output(s, p, c->kernel->desc, set, digest, one));
    if ((*one)->counts.failed > 0) {
        describe_worst(p, *one, why, sizeof why);
        call_wrong(s, c, p->stratum[set], why);
    }
    assay__accept_counts_merge(&all->counts, &(*one)->counts);
    return assay__error_stats_merge(&all->stats, &(*one)->stats);
}

/* Exhaustive: one of the sets held every bit pattern of a 16-bit unary op. */
static assay_proof proof_of(const sweep_problem *p, const assay_error_stats *all)
{
    for (size_t i = 0; i < p->sets; i++)
        if (strcmp(p->stratum[i], SWEEP_ALL_INPUTS) == 0)
            return ASSAY_PROOF_EXHAUSTIVE;
    return all->elements >= 1000000 ? ASSAY_PROOF_SAMPLED : ASSAY_PROOF_ABSENT;
}

static void conclude(sweep *s, sweep_problem *p, sweep_candidate *c, const judged *all)
{
    const assay_error_stats *stats = &all->stats;
    assay_trust trust = assay__error_stats_trust(stats);

    const bool is_unknown = stats->elements == 0;

    c->max_ulp = is_unknown ? NAN : (double)stats->max_dist;
    c->max_rel = is_unknown ? NAN : stats->max_rel;
    c->max_abs = is_unknown ? NAN : stats->max_abs;
    c->max_rho = stats->rho_elements > 0 ? stats->max_rho : NAN;
    c->proof = proof_of(p, stats);
    c->elements = stats->elements;
    if (c->verdict == ASSAY__VERDICT_NONE && trust != ASSAY_TRUST_OK && stats->elements > 0 &&
        !assay__sums_nothing(&p->problem)) {
        c->verdict = ASSAY__VERDICT_MISTRUSTED;
        c->out = true;
        (void)snprintf(c->reason, sizeof c->reason, "%s", assay__trust_text(trust));
        s->summary->mistrusted++;
    }
    if (c->verdict == ASSAY__VERDICT_NONE)
        c->verdict = ASSAY__VERDICT_OK;
}

/* What each set showed; NULL from the first set that was not judged. */
typedef struct checked {
    judged all;
    judged *set[SWEEP_SETS]; /* borrowed from the problem */
} checked;

static assay_status check_sets(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w,
                               checked *out)
{
    for (size_t set = 0; set < p->sets; set++) {
        bool bad = false;
        ASSAY_TRY(assay__sweep_run_set(s, p, c, w, set));
        ASSAY_TRY(overrun(s, p, c, set, &bad));
        if (bad)
            return ASSAY_OK;
        ASSAY_TRY(judge_set(s, p, c, set, &out->all, &out->set[set]));
    }
    return ASSAY_OK;
}

/* The run over all inputs stores its row under this key, which holds for every shape: a set of the
 * same inputs in one problem must not take its place. The union of the sets counts it still. */
static bool has_key_of_all_inputs(const sweep *s, const char *stratum)
{
    return s->o->seed == SWEEP_ALL_INPUTS_SEED && strcmp(stratum, SWEEP_ALL_INPUTS) == 0;
}

static assay_status put_check(sweep *s, sweep_problem *p, sweep_candidate *c, checked *found)
{
    const bool is_wrong = c->verdict == ASSAY__VERDICT_WRONG;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__db_begin(s->db));
    for (size_t i = 0; status == ASSAY_OK && i < p->sets && found->set[i] != NULL; i++)
        if (!has_key_of_all_inputs(s, p->stratum[i]))
            status = put_accuracy(s, p, c, p->stratum[i], found->set[i], ASSAY_PROOF_ABSENT,
                                  found->set[i]->counts.failed == 0);
    /* Who wrote outside of the output was not compared from there on: no error of his is known, and
     * none of it is a pass. */
    if (status == ASSAY_OK && !(is_wrong && found->all.stats.elements == 0))
        status = put_accuracy(s, p, c, "all", &found->all, c->proof, !is_wrong);
    if (status == ASSAY_OK)
        assay__sweep_exhaust_merge(c);
    if (status == ASSAY_OK && c->out)
        status = assay__sweep_put_measurement(s, p, c);
    if (status == ASSAY_OK)
        return assay__db_commit(s->db);
    assay__db_rollback(s->db);
    return status;
}

/* Right alone, and wrong again behind the same one: then it is his doing.  Who is right at times is
 * wrong. */
static assay_status judge_alone(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                sweep_candidate *before, const char *said, bool *is_right)
{
    if (c->verdict == ASSAY__VERDICT_WRONG)
        return ASSAY_OK;
    assay__worker_stop(w); /* who is to show it uses its memory */
    if (before != NULL && before != c)
        ASSAY_TRY(assay__sweep_spoiled(s, p, c, before, said, is_right));
    ASSAY_TRY(assay__sweep_fresh(s, p, w));
    if (*is_right)
        return ASSAY_OK;
    c->verdict = ASSAY__VERDICT_WRONG;
    c->out = true;
    assay__text_fit(said, c->reason, sizeof c->reason);
    s->summary->wrong++;
    return ASSAY_OK;
}

/* Wrong is for good, so it is not booked on the wrong one: who ran before may still write. */
static assay_status check_alone(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                checked *found)
{
    sweep_candidate *before = s->served;
    const bool was_shared = s->is_shared;
    checked alone = {.set = {NULL}};
    char said[sizeof c->reason];
    bool is_right = false;
    assay_status status;

    assay__text_fit(c->reason, said, sizeof said);
    assay__worker_stop(w);
    ASSAY_TRY(assay__sweep_fresh(s, p, w));
    ASSAY_TRY(judged_init(p, c->kernel->desc, &alone.all));
    c->verdict = ASSAY__VERDICT_NONE;
    c->out = false;
    c->reason[0] = '\0';
    s->summary->wrong--;
    status = check_sets(s, p, c, *w, &alone);
    if (status == ASSAY_OK && was_shared && c->verdict != ASSAY__VERDICT_WRONG)
        assay__sweep_share_no_more(s, p, c, said);
    if (status == ASSAY_OK)
        status = judge_alone(s, p, c, w, before, said, &is_right);
    if (is_right) {
        const checked first = *found;
        *found = alone;
        alone = first;
    }
    assay__error_stats_clear(&alone.all.stats);
    return status;
}

assay_status assay__sweep_is_wrong(sweep *s, sweep_problem *p, const sweep_candidate *c, char *why,
                                   size_t cap, bool *wrong)
{
    const uint64_t digest = assay__output_digest(output_data(p), (size_t)p->out.bytes);
    char worst[200];
    judged *j = NULL;

    *wrong = false;
    if (digest == c->digest)
        return ASSAY_OK;
    ASSAY_TRY(judge_output(s, p, c->kernel->desc, 0, digest, &j));
    *wrong = j->counts.failed > 0;
    if (*wrong) {
        describe_worst(p, j, worst, sizeof worst);
        (void)snprintf(why, cap, "%s: %.150s", p->stratum[0], worst);
    }
    return ASSAY_OK;
}

/* The store is not locked while kernels run: one that hangs would keep all other sweeps waiting. */
assay_status assay__sweep_check(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w)
{
    checked found = {.set = {NULL}};
    assay_status status;

    ASSAY_TRY(judged_init(p, c->kernel->desc, &found.all));
    c->checked = true;
    status = check_sets(s, p, c, *w, &found);
    if (status == ASSAY_OK && c->verdict == ASSAY__VERDICT_WRONG &&
        (s->is_shared || (s->served != NULL && s->served != c)))
        status = check_alone(s, p, c, w, &found);
    if (c->verdict == ASSAY__VERDICT_WRONG && assay__sweep_is_fate(status)) {
        assay__worker_stop(w); /* wrong is for good; how it ended says less */
        status = ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        conclude(s, p, c, &found.all);
        status = put_check(s, p, c, &found);
    }
    assay__error_stats_clear(&found.all.stats);
    return status;
}

/* The rows that the check before wrote said "passed": the wrong output of this set counts from now
 * on, in them and in the union, with what of this process's check is known. */
static assay_status put_failure(sweep *s, sweep_problem *p, sweep_candidate *c, size_t shown,
                                judged *wrong)
{
    judged all;
    assay_status status;

    ASSAY_TRY(judged_init(p, c->kernel->desc, &all));
    status = assay__error_stats_merge(&all.stats, &wrong->stats);
    for (size_t set = 0; status == ASSAY_OK && set < p->sets; set++) {
        const struct sweep_known *k = find_known(p, c->kernel->desc, set, c->digests[set]);
        if (c->digests[set] != 0 && k != NULL)
            status = assay__error_stats_merge(&all.stats, &k->judged.stats);
    }
    if (status == ASSAY_OK)
        status = assay__db_begin(s->db);
    if (status == ASSAY_OK) {
        if (!has_key_of_all_inputs(s, p->stratum[shown]))
            status = put_accuracy(s, p, c, p->stratum[shown], wrong, ASSAY_PROOF_ABSENT, false);
        if (status == ASSAY_OK)
            status = put_accuracy(s, p, c, "all", &all, c->proof, false);
        if (status == ASSAY_OK)
            status = assay__db_commit(s->db);
        else
            assay__db_rollback(s->db);
    }
    assay__error_stats_clear(&all.stats);
    return status;
}

assay_status assay__sweep_recheck(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                  size_t set)
{
    assay_status status = ASSAY_OK;
    char why[200];
    judged *j = NULL;

    /* The timed calls accumulated into C: only a fresh run can be compared. */
    if (assay__reads_output(&p->problem))
        status = assay__sweep_run_set(s, p, c, *w, 0);
    const uint64_t digest = assay__output_digest(output_data(p), (size_t)p->out.bytes);
    const uint64_t known = set == 0 ? c->digest : c->digests[set];
    if (status != ASSAY_OK || digest == known)
        return status;
    /* Of a check that is in the store alone this process has not seen what the set gives. */
    const bool is_first = set != 0 && known == 0;
    c->stable = c->stable && is_first;
    ASSAY_TRY(judge_output(s, p, c->kernel->desc, set, digest, &j));
    if (j->counts.failed > 0) {
        describe_worst(p, j, why, sizeof why);
        call_wrong(s, c, set == 0 ? "after timing" : "with other inputs where those timed lay",
                   why);
        if (s->is_shared) {
            s->is_worker_spent = true; /* whoever did it, it ends here */
            assay__sweep_share_no_more(s, p, c, why);
        }
        return put_failure(s, p, c, set, j);
    }
    if (is_first)
        c->digests[set] = digest;
    return ASSAY_OK;
}

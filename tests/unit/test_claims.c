/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_claims.c -- elementwise kernels of every plug-in keep their claims: of 16 bits on
 * all inputs, of 32 on pieces of every sign and exponent and where they are at their worst.
 *
 * Loops over catalogue and manifests: a new unary op, kernel or plug-in needs no edit here.  With
 * ASSAY_LONG set, also all 2^32 inputs of each kernel of 32 bits (an hour of a processor). */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/unary_launch.h"
#include "runtime/error.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

/* A plug-in, open. */
typedef struct source {
    const assay_manifest *manifest;
    assay__backend backend;
} source;

static const assay_manifest *ref;
static int plugin_count;

/* false: its driver or device is not here. */
static bool open_source(source *s, const assay_manifest *m)
{
    s->manifest = m;
    ck_assert_int_eq(assay__backend_init(m->backend, &s->backend), ASSAY_OK);
    assay_status status = assay__backend_open(&s->backend);
    ck_assert_msg(status == ASSAY_OK || status == ASSAY_UNAVAILABLE, "%s: %s", m->name,
                  assay_last_error());
    return status == ASSAY_OK;
}

/* The launch of a kernel at its defaults; false: its op does not qualify, or not on this CPU. */
static bool launch_of(const source *s, const assay_kernel_desc *k, assay_unary_launch *out)
{
    assay_problem p = plugin_problem_of(k);

    *out = (assay_unary_launch){.backend = &s->backend, .kernel = k};
    if (assay__unary_problem(&p, &out->problem) != ASSAY_OK ||
        !plugin_all_runs(s->manifest, s->backend.instance, k))
        return false;
    out->oracle = plugin_oracle(ref, k->op);
    for (size_t i = 0; i < k->tunable_count; i++)
        out->tunables[i] = k->tunables[i].default_value;
    return true;
}

static assay_exhaustive_result run_plan(const assay_unary_launch *l,
                                        const assay_exhaustive_plan *plan)
{
    assay__unary unary = assay__unary_of(l);
    assay_exhaustive_result r;

    ck_assert_msg(assay__exhaustive_run(&unary, plan, &r) == ASSAY_OK, "%s", assay_last_error());
    return r;
}

static assay_exhaustive_result run(const assay_unary_launch *l, unsigned threads)
{
    return run_plan(l, &(assay_exhaustive_plan){.threads = threads});
}

/* Results that cancel may be zero instead of a subnormal, where nobody claims otherwise. */
static bool may_flush(const assay_kernel_desc *k)
{
    return k->claims.max_ulp < 0.0 && assay_op_get(k->op)->bound_rule == ASSAY_BOUND_SUM;
}

/* Says what contradicts a claim, or the law of special values; how many contradictions. */
static int contradictions(const assay_kernel_desc *k, const assay_error_stats *s)
{
    const char *t = assay_dtype_name((assay_dtype)k->dtypes[0]);
    int count = 0;

    for (int c = 1; c < ASSAY_ULP_CLASSES; c++)
        if (s->classes[c] != 0 && !(c == ASSAY_ULP_FLUSHED && may_flush(k))) {
            printf("%s %s: %llu of class %d, first at input 0x%llx\n", k->name, t,
                   (unsigned long long)s->classes[c], c, (unsigned long long)s->first[c].index);
            count++;
        }
    /* Results a hair from a midpoint, such as silu of subnormals, may stay open: one step then. */
    double slack = s->uncertain > 0 ? 1.0 : 0.0;
    if (k->claims.max_ulp >= 0.0 && !((double)s->max_dist <= k->claims.max_ulp + slack)) {
        printf("%s %s: distance %llu at input 0x%llx, claimed %g\n", k->name, t,
               (unsigned long long)s->max_dist, (unsigned long long)s->worst.input_bits[0],
               k->claims.max_ulp);
        count++;
    }
    (void)fflush(stdout);
    return count;
}

/* Of too many inputs the oracle does not know how the result is rounded. */
static int leaves_open(const assay_kernel_desc *k, uint64_t uncertain, uint64_t elements)
{
    if (uncertain * 100 <= elements)
        return 0;
    printf("%s: the oracle leaves %llu of %llu open\n", k->name, (unsigned long long)uncertain,
           (unsigned long long)elements);
    return 1;
}

typedef int (*judge_fn)(const source *s, const assay_kernel_desc *k, const assay_unary_launch *l,
                        void *cookie);

/* Judges each kernel of an op (ASSAY_OP_COUNT: of all) with inputs of so many bytes, whatever
 * plug-in it is of; fails at the end, so that each has its turn.  Returns how many there were. */
static int each_kernel(assay_op_id op, const char *name, size_t bytes, judge_fn judge, void *cookie)
{
    int ran = 0, bad = 0;

    ref = plugin_load("ref");
    for (int p = 0; p < plugin_count; p++) {
        const assay_manifest *m = plugin_all_at(p);
        source s;
        if (m->oracle_count > 0 || m->location != ASSAY_LOCATION_CPU || !open_source(&s, m))
            continue;
        for (size_t i = 0; i < m->kernel_count; i++) {
            const assay_kernel_desc *k = &m->kernels[i];
            assay_unary_launch l;
            if ((op != ASSAY_OP_COUNT && k->op != op) ||
                (name != NULL && strcmp(k->name, name) != 0) ||
                assay_dtype_bytes((assay_dtype)k->dtypes[0]) != bytes || !launch_of(&s, k, &l))
                continue;
            bad += judge(&s, k, &l, cookie);
            ran++;
        }
        assay__backend_close(&s.backend);
    }
    ck_assert_msg(bad == 0, "%d kernels contradict their claims, see above", bad);
    return ran;
}

static int judge_all_of_16_bits(const source *s, const assay_kernel_desc *k,
                                const assay_unary_launch *l, void *cookie)
{
    assay_exhaustive_result r = run(l, 2);
    uint64_t all = 1ull << 8 * assay_dtype_bytes((assay_dtype)k->dtypes[0]);

    (void)s;
    (void)cookie;
    ck_assert(r.is_complete && r.inputs == all && r.stats.elements == all);
    int bad = contradictions(k, &r.stats) + leaves_open(k, r.stats.uncertain, r.stats.elements);
    assay__exhaustive_clear(&r);
    return bad;
}

START_TEST(kernels_of_16_bits_keep_their_claims_on_all_inputs)
{
    each_kernel(ASSAY_OP_COUNT, NULL, 1, judge_all_of_16_bits, NULL);
    /* the portable ones run anywhere */
    ck_assert_int_ge(each_kernel(ASSAY_OP_COUNT, NULL, 2, judge_all_of_16_bits, NULL), 2);
}
END_TEST

/* Of 32 bits: pieces of every sign and exponent. */
static int judge_pieces(const source *s, const assay_kernel_desc *k, const assay_unary_launch *l,
                        void *cookie)
{
    enum { PIECES = 1 << 8 };
    uint64_t elements = 0, uncertain = 0;
    int bad = 0;

    (void)s;
    (void)cookie;
    for (uint64_t i = 0; i < PIECES && bad == 0; i++) {
        uint64_t stride = assay__exhaustive_batches(ASSAY_F32) / PIECES;
        assay_exhaustive_plan plan = {.threads = 1,
                                      .first_batch = i * stride + i * 0x9e3779b97f4a7c15u % stride,
                                      .batch_count = 1};
        assay_exhaustive_result r = run_plan(l, &plan);
        bad = contradictions(k, &r.stats);
        elements += r.stats.elements;
        uncertain += r.stats.uncertain;
        assay__exhaustive_clear(&r);
    }
    return bad + leaves_open(k, uncertain, elements);
}

START_TEST(kernels_of_32_bits_keep_their_claims_on_pieces)
{
    if (assay_op_get((assay_op_id)_i)->family == ASSAY_FAMILY_ELEMENTWISE_UNARY &&
        _i != ASSAY_OP_cast)
        ck_assert_int_ge(each_kernel((assay_op_id)_i, NULL, 4, judge_pieces, NULL), 1);
}
END_TEST

/* ---- the worst of all 2^32 inputs ---- */

/* As the run over all of them found it, rounded up; of own kernels whose bits are those of every
 * CPU, and of libraries, which may be of another version and then must not be worse. */
static const struct worst {
    const char *kernel;
    uint32_t input;
    uint64_t dist;
    double err_ulp;
} worsts[] = {
    {"cpu_exp_avx2", 0xbf81eadf, 1, 0.500001},
    {"cpu_exp_avx512", 0xbf81eadf, 1, 0.500001},
    {"cpu_exp_fast_avx2", 0xc1db0878, 1, 1.008566},
    {"cpu_exp_fast_avx512", 0xc1db0878, 1, 1.008566},
    {"cpu_tanh_avx2", 0x3ac37de2, 0, 0.5},
    {"cpu_tanh_avx512", 0x3ac37de2, 0, 0.5},
    {"cpu_tanh_fast_avx2", 0x3d7fa7cb, 3, 2.605899},
    {"cpu_tanh_fast_avx512", 0x3d7fa7cb, 3, 2.605899},
    {"cpu_sigmoid_avx2", 0xb7818000, 1, 0.500001},
    {"cpu_sigmoid_avx512", 0xb7818000, 1, 0.500001},
    {"cpu_sigmoid_fast_avx2", 0xc18515ec, 2, 2.480739},
    {"cpu_sigmoid_fast_avx512", 0xc18515ec, 2, 2.480739},
    {"cpu_silu_avx2", 0x00000001, 1, 0.5},
    {"cpu_silu_avx512", 0x00000001, 1, 0.5},
    {"cpu_silu_fast_avx2", 0xc18586f6, 2, 2.452596},
    {"cpu_silu_fast_avx512", 0xc18586f6, 2, 2.452596},
    {"cpu_gelu_avx2", 0xb7b0a46f, 1, 0.500001},
    {"cpu_gelu_avx512", 0xb7b0a46f, 1, 0.500001},
    {"cpu_gelu_fast_avx2", 0xc0a065eb, 2, 2.267656},
    {"cpu_gelu_fast_avx512", 0xc0a065eb, 2, 2.267656},
    {"cpu_gelu_erf_avx2", 0x00000001, 1, 0.5},
    {"cpu_gelu_erf_avx512", 0x00000001, 1, 0.5},
    {"cpu_gelu_erf_fast_avx2", 0xbfe9f966, 5, 5.353102},
    {"cpu_gelu_erf_fast_avx512", 0xbfe9f966, 5, 5.353102},
    {"cpu_log_avx2", 0x6f31a8ec, 1, 0.500001},
    {"cpu_log_avx512", 0x6f31a8ec, 1, 0.500001},
    {"cpu_log_fast_avx2", 0x3fb35dd1, 1, 0.828604},
    {"cpu_log_fast_avx512", 0x3fb35dd1, 1, 0.828604},
    {"cpu_sqrt_avx2", 0x017fffff, 0, 0.5},
    {"cpu_sqrt_portable", 0x017fffff, 0, 0.5},
    {"cpu_rsqrt_avx2", 0x00113e07, 1, 0.500001},
    {"cpu_rsqrt_fast_avx2", 0x0080cab3, 1, 1.49035},
    {"sleef_exp_u10", 0x426d199b, 1, 0.987592},
    {"sleef_log_u10", 0x3f3fe59f, 1, 0.6283},
    {"sleef_tanh_u10", 0x339f32ab, 1, 1.000001},
    {"sleef_sigmoid", 0xc085088d, 2, 2.401878},
    {"sleef_silu", 0xc0a2f20e, 5, 4.6184},
    {"sleef_rsqrt", 0x0080cab3, 1, 1.49035},
    {"onednn_tanh", 0x4082c470, 1, 1.214997},
};

static int judge_worst(const source *s, const assay_kernel_desc *k, const assay_unary_launch *l,
                       void *cookie)
{
    const struct worst *w = cookie;

    assay_exhaustive_plan plan = {
        .threads = 1, .first_batch = w->input / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 1};
    assay_exhaustive_result r = run_plan(l, &plan);
    (void)s;
    ck_assert_msg(r.stats.max_dist <= w->dist && r.stats.max_err_ulp <= w->err_ulp,
                  "%s errs more than it did: %llu away, %.6f ulp at input 0x%08llx", k->name,
                  (unsigned long long)r.stats.max_dist, r.stats.max_err_ulp,
                  (unsigned long long)r.stats.worst.input_bits[0]);
    /* The table is about what its row says: an own kernel that became better has a new worst. */
    ck_assert_msg(strncmp(k->name, "cpu_", 4) != 0 || (r.stats.worst.input_bits[0] == w->input &&
                                                       r.stats.max_err_ulp > w->err_ulp - 2e-6),
                  "%s is better than it was: %.6f ulp at input 0x%08llx; run all inputs anew",
                  k->name, r.stats.max_err_ulp, (unsigned long long)r.stats.worst.input_bits[0]);
    ck_assert_msg(k->claims.max_ulp < 0.0 || k->claims.max_ulp == (double)w->dist,
                  "%s claims %g, all inputs showed %llu", k->name, k->claims.max_ulp,
                  (unsigned long long)w->dist);
    assay__exhaustive_clear(&r);
    return 0;
}

START_TEST(worst_inputs_are_no_worse_and_are_what_is_claimed)
{
    struct worst w = worsts[_i];

    each_kernel(ASSAY_OP_COUNT, w.kernel, 4, judge_worst, &w);
}
END_TEST

/* ---- all 2^32 inputs ---- */

/* Of the many pairs of cast those with a rounding of their own: 2^32 inputs take long. */
static bool is_long(const assay_kernel_desc *k)
{
    static const uint8_t pairs[][2] = {{ASSAY_F32, ASSAY_BF16}, {ASSAY_F32, ASSAY_F8E4M3},
                                       {ASSAY_F32, ASSAY_I32},  {ASSAY_F32, ASSAY_I64},
                                       {ASSAY_I32, ASSAY_F16},  {ASSAY_U32, ASSAY_F32}};

    if (k->op != ASSAY_OP_cast)
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (memcmp(k->dtypes, pairs[i], sizeof pairs[i]) == 0)
            return strcmp(k->name, "cpu_cast_avx2") == 0;
    return false;
}

enum { MOST_JUDGED = 32 };

/* What an op's kernels gave so far: bits that were judged need no second look. */
typedef struct judged {
    size_t count;
    assay_exhaustive_result results[MOST_JUDGED];
    char names[MOST_JUDGED][96];
} judged;

static unsigned all_processors(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors > 0 ? (unsigned)processors : 1;
}

static void print_figures(const char *name, const assay_exhaustive_result *r)
{
    const assay_error_stats *s = &r->stats;

    printf("%s: dist %llu, err_ulp %.6f at input 0x%08llx, %llu misrounded, %llu of 1 ulp or more, "
           "nan %llu inf %llu flushed %llu, zero signs %llu, open %llu, digest %016llx\n",
           name, (unsigned long long)s->max_dist, s->max_err_ulp,
           (unsigned long long)s->worst.input_bits[0], (unsigned long long)s->misrounded,
           (unsigned long long)s->over_one, (unsigned long long)s->classes[ASSAY_ULP_NAN_MISMATCH],
           (unsigned long long)s->classes[ASSAY_ULP_INF_MISMATCH],
           (unsigned long long)s->classes[ASSAY_ULP_FLUSHED],
           (unsigned long long)s->zero_sign_mismatch, (unsigned long long)s->uncertain,
           (unsigned long long)r->digest);
}

static int judge_variant(const assay_unary_launch *l, const char *name, judged *all)
{
    assay_exhaustive_plan plan = {.threads = all_processors(), .digest_only = true};

    if (all->count > 0) {
        uint64_t digest = run_plan(l, &plan).digest;
        for (size_t i = 0; i < all->count; i++)
            if (all->results[i].digest == digest) {
                printf("%s: the bits of %s\n", name, all->names[i]);
                return contradictions(l->kernel, &all->results[i].stats);
            }
    }
    ck_assert_uint_lt(all->count, MOST_JUDGED);
    plan.digest_only = false;
    assay_exhaustive_result *r = &all->results[all->count];
    *r = run_plan(l, &plan);
    snprintf(all->names[all->count++], sizeof *all->names, "%s", name);
    ck_assert(r->is_complete);
    print_figures(name, r);
    return contradictions(l->kernel, &r->stats) +
           leaves_open(l->kernel, r->stats.uncertain, r->stats.elements);
}

/* At its defaults, then with each other value of each tunable but the number of threads. */
static int judge_all_of_32_bits(const source *s, const assay_kernel_desc *k,
                                const assay_unary_launch *l, void *cookie)
{
    char name[96];
    int bad = 0;

    (void)s;
    if (!is_long(k))
        return 0;
    snprintf(name, sizeof name, "%s %s", k->name, assay_dtype_name((assay_dtype)k->dtypes[1]));
    bad += judge_variant(l, name, cookie);
    for (size_t t = 0; t < k->tunable_count; t++)
        for (size_t v = 0; v < k->tunables[t].value_count; v++) {
            assay_unary_launch other = *l;
            other.tunables[t] = k->tunables[t].values[v];
            if (strcmp(k->tunables[t].name, "threads") == 0 ||
                other.tunables[t] == l->tunables[t] ||
                (k->can_run_fn != NULL && !k->can_run_fn(&l->problem, other.tunables)))
                continue;
            snprintf(name, sizeof name, "%s %s=%lld", k->name, k->tunables[t].name,
                     (long long)other.tunables[t]);
            bad += judge_variant(&other, name, cookie);
        }
    (void)fflush(stdout);
    return bad;
}

START_TEST(kernels_of_32_bits_keep_their_claims_on_all_inputs)
{
    judged all = {0};

    if (assay_op_get((assay_op_id)_i)->family != ASSAY_FAMILY_ELEMENTWISE_UNARY)
        return;
    ck_assert_int_ge(each_kernel((assay_op_id)_i, NULL, 4, judge_all_of_32_bits, &all), 1);
    for (size_t i = 0; i < all.count; i++)
        assay__exhaustive_clear(&all.results[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("claims");
    TCase *part = tcase_create("part"), *full = tcase_create("full");

    plugin_count = plugin_all_find();
    suite_add_tcase(suite, part);
    suite_add_tcase(suite, full); /* owned by the suite, empty or not */
    tcase_set_timeout(part, 120);
    tcase_add_test(part, kernels_of_16_bits_keep_their_claims_on_all_inputs);
    tcase_add_loop_test(part, kernels_of_32_bits_keep_their_claims_on_pieces, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(part, worst_inputs_are_no_worse_and_are_what_is_claimed, 0,
                        (int)(sizeof worsts / sizeof *worsts));
    if (getenv("ASSAY_LONG")) {
        tcase_add_loop_test(full, kernels_of_32_bits_keep_their_claims_on_all_inputs, 0,
                            ASSAY_OP_COUNT);
        tcase_set_timeout(full, 14400);
    }
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_exhaustive.c -- every bit pattern of a type, and the directed search.
 *
 * With ASSAY_LONG set, glibc's expf, logf and sqrtf over all 2^32 inputs (minutes). */
#include "calibrate/exhaustive.h"
#include "runtime/error.h"

#include <check.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a test function does, and the fault that is planted in it. */
typedef struct subject {
    assay_dtype dtype;
    double (*function)(double);   /* the reference, good to an ulp of f64 */
    float (*function_f32)(float); /* the kernel of f32; NULL: the rounded reference */
    uint64_t bump_at;             /* input pattern whose result is one step too large */
    uint64_t skip_from, skip_to;  /* input patterns whose results are not written */
    uint64_t fail_at;             /* pattern at which the kernel gives up */
} subject;

static subject of(assay_dtype dtype, double (*function)(double))
{
    return (subject){.dtype = dtype,
                     .function = function,
                     .bump_at = UINT64_MAX,
                     .skip_from = UINT64_MAX,
                     .fail_at = UINT64_MAX};
}

static assay_status wide(void *cookie, const void *x, size_t n, double *hi, double *lo,
                         double *bound)
{
    const subject *s = cookie;
    for (size_t i = 0; i < n; i++) {
        double v = assay_load_f64(s->dtype, x, i);
        hi[i] = s->function(v);
        lo[i] = 0.0;
        if (s->function == sqrt && isfinite(hi[i]) && hi[i] > 0.0)
            lo[i] = fma(-hi[i], hi[i], v) / (2.0 * hi[i]);
        bound[i] = isfinite(hi[i]) && s->function != sqrt ? 0x1p-52 * fabs(hi[i]) : 0.0;
    }
    return ASSAY_OK;
}

static assay_status kernel(void *cookie, const void *x, void *y, size_t n)
{
    const subject *s = cookie;
    size_t bytes = assay_dtype_bytes(s->dtype);
    for (size_t i = 0; i < n; i++) {
        uint64_t pattern = assay__element_bits(s->dtype, x, i);
        double v = assay_load_f64(s->dtype, x, i);
        if (pattern == s->fail_at)
            return assay__fail(ASSAY_DEVICE, "kernel: gave up at %llu",
                               (unsigned long long)pattern);
        if (pattern >= s->skip_from && pattern <= s->skip_to)
            continue;
        assay_store_f64(s->dtype, y, i,
                        s->function_f32 ? (double)s->function_f32((float)v) : s->function(v));
        if (pattern == s->bump_at)
            ((unsigned char *)y)[i * bytes]++; /* low byte: one step away from zero */
    }
    return ASSAY_OK;
}

static assay__unary unary_of(subject *s)
{
    return (assay__unary){.input = s->dtype,
                          .output = s->dtype,
                          .kernel = kernel,
                          .wide = wide,
                          .kernel_cookie = s,
                          .wide_cookie = s};
}

static assay_exhaustive_result run(subject *s, unsigned threads, uint64_t first, uint64_t count)
{
    assay_exhaustive_result r;
    assay__unary u = unary_of(s);
    assay_exhaustive_plan plan = {.threads = threads, .first_batch = first, .batch_count = count};
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_OK);
    return r;
}

static const assay_dtype small[] = {ASSAY_F16, ASSAY_BF16, ASSAY_F8E4M3, ASSAY_F8E5M2};
static const uint64_t nans[] = {2 * 1023, 2 * 127, 2, 2 * 3};

START_TEST(rounded_exp_is_right_everywhere)
{
    subject s = of(small[_i], exp);
    assay_exhaustive_result r = run(&s, 2, 0, 0);
    uint64_t all = (uint64_t)1 << (8 * assay_dtype_bytes(small[_i]));
    ck_assert(r.is_complete);
    ck_assert_uint_eq(r.inputs, all);
    ck_assert_uint_eq(r.nan_inputs, nans[_i]);
    ck_assert_uint_eq(r.stats.elements, all);
    ck_assert_uint_eq(r.stats.classes[ASSAY_ULP_ORDINARY], all);
    ck_assert_uint_eq(r.stats.misrounded, 0);
    ck_assert_uint_eq(r.stats.zero_sign_mismatch, 0);
    ck_assert(r.stats.max_err_ulp <= 0.5 && r.stats.max_err_ulp > 0.4);
    assay__exhaustive_clear(&r);
}
END_TEST

START_TEST(one_wrong_pattern_of_all_is_found)
{
    static const uint64_t patterns[] = {0x3c00, 0x0001, 0x4900, 0xbfff, 0x8000};
    for (size_t i = 0; i < 5; i++) {
        subject s = of(ASSAY_F16, exp);
        s.bump_at = patterns[i];
        assay_exhaustive_result r = run(&s, 1 + (unsigned)i % 3, 0, 0);
        ck_assert_uint_eq(r.stats.misrounded, 1);
        ck_assert_uint_eq(r.stats.max_dist, 1);
        ck_assert_uint_eq(r.stats.worst.index, patterns[i]);
        ck_assert_uint_eq(r.stats.worst.input_bits[0], patterns[i]);
        assay__exhaustive_clear(&r);
    }
}
END_TEST

START_TEST(unwritten_results_are_no_stale_ones)
{
    subject s = of(ASSAY_F16, exp);
    s.skip_from = 0x2000, s.skip_to = 0x3fff; /* a whole batch: the one before left its results */
    assay_exhaustive_result r = run(&s, 1, 0, 0);
    ck_assert_uint_eq(r.stats.classes[ASSAY_ULP_NAN_MISMATCH], 0x2000);
    ck_assert_uint_eq(r.stats.first[ASSAY_ULP_NAN_MISMATCH].index, 0x2000);
    assay__exhaustive_clear(&r);
    r = run(&s, 1, 4, 0);
    ck_assert(!r.is_complete && r.inputs == 0x8000);
    assay__exhaustive_clear(&r);
}
END_TEST

START_TEST(threads_change_nothing)
{
    subject s = of(ASSAY_F32, exp);
    s.function_f32 = expf;
    uint64_t first = 0x3b800000 / ASSAY_EXHAUSTIVE_BATCH; /* 2^-8 and on */
    assay_exhaustive_result a = run(&s, 1, first, 40), b = run(&s, 3, first, 40);
    ck_assert(!a.is_complete && a.inputs == 40u * ASSAY_EXHAUSTIVE_BATCH);
    ck_assert_uint_eq(a.digest, b.digest);
    ck_assert_uint_eq(a.stats.misrounded, b.stats.misrounded);
    ck_assert_uint_eq(a.stats.worst.index, b.stats.worst.index);
    ck_assert_uint_eq(a.stats.err_sum.part, b.stats.err_sum.part);
    ck_assert(memcmp(a.stats.bins, b.stats.bins, sizeof a.stats.bins) == 0);
    s.bump_at = 0x3b800001;
    assay__exhaustive_clear(&b);
    b = run(&s, 3, first, 40);
    ck_assert_uint_ne(a.digest, b.digest);
    assay__exhaustive_clear(&a);
    assay__exhaustive_clear(&b);
}
END_TEST

static bool stop_at_two(void *cookie, uint64_t done, uint64_t total)
{
    *(uint64_t *)cookie = total;
    return done < 2;
}

START_TEST(runs_stop_on_request_and_on_failure)
{
    subject s = of(ASSAY_F16, exp);
    assay__unary u = unary_of(&s);
    assay_exhaustive_result r;
    uint64_t total = 0;
    assay_exhaustive_plan plan = {.threads = 1, .progress = stop_at_two, .cookie = &total};
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INTERRUPTED);
    ck_assert_uint_eq(total, 8);
    plan.progress = NULL;
    plan.threads = 3;
    s.fail_at = 0x9000;
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_DEVICE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "gave up")); /* from whichever thread */
}
END_TEST

START_TEST(bad_plans_are_refused)
{
    subject s = of(ASSAY_F64, exp);
    assay__unary u = unary_of(&s);
    assay_exhaustive_result r;
    assay_exhaustive_plan plan = {.threads = 1};
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INVALID);
    u.input = ASSAY_I64;
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INVALID);
    u.input = ASSAY_F16;
    plan.threads = 0;
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INVALID);
    plan = (assay_exhaustive_plan){.threads = 1, .first_batch = 8};
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INVALID);
    plan = (assay_exhaustive_plan){.threads = 1, .first_batch = 4, .batch_count = 5};
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &r), ASSAY_INVALID);
    ck_assert_uint_eq(assay__exhaustive_batches(ASSAY_F32), 524288);
}
END_TEST

/* f64: the error rises by an ulp whenever the way to x = 12 is halved, to 70 there. */
static assay_status flat_wide(void *cookie, const void *x, size_t n, double *hi, double *lo,
                              double *bound)
{
    (void)cookie;
    for (size_t i = 0; i < n; i++) {
        hi[i] = assay_load_f64(ASSAY_F64, x, i);
        lo[i] = bound[i] = 0.0;
    }
    return ASSAY_OK;
}

static assay_status peaked_kernel(void *cookie, const void *x, void *y, size_t n)
{
    const double peak = 12.0;
    uint64_t centre = assay__element_bits(ASSAY_F64, &peak, 0);
    (void)cookie;
    for (size_t i = 0; i < n; i++) {
        double v = assay_load_f64(ASSAY_F64, x, i);
        uint64_t at = assay__element_bits(ASSAY_F64, x, i);
        double steps = (double)(at > centre ? at - centre : centre - at);
        double ulps = floor(70.0 - log2(1.0 + steps));
        assay_store_f64(ASSAY_F64, y, i, isnormal(v) ? v + ldexp(ulps, ilogb(v) - 52) : v);
    }
    return ASSAY_OK;
}

START_TEST(search_climbs_to_the_peak)
{
    const uint64_t starts[] = {0x3ff0000000000000, 0x7fd0000000000000, 0x8000000000000001};
    assay__unary u = {
        .input = ASSAY_F64, .output = ASSAY_F64, .kernel = peaked_kernel, .wide = flat_wide};
    assay_search_plan plan = {starts, 3, 20000, 5};
    assay_search_result a, b;
    ck_assert_int_eq(assay__search_run(&u, &plan, &a), ASSAY_OK);
    ck_assert_int_eq(assay__search_run(&u, &plan, &b), ASSAY_OK);
    ck_assert(memcmp(&a, &b, sizeof a) == 0);
    ck_assert_msg(a.err_ulp >= 67.0, "%g at %llx", a.err_ulp, (unsigned long long)a.input_bits);
    ck_assert_uint_eq(a.dist, (uint64_t)a.err_ulp);
    ck_assert(a.improved > 0 && a.evaluations <= 20000);
    ck_assert(fabs(a.hi - 12.0) < 1e-13);
}
END_TEST

START_TEST(search_reaches_close_to_the_maximum_of_expf)
{
    uint64_t starts[16];
    subject s = of(ASSAY_F32, exp);
    s.function_f32 = expf;
    assay__unary u = unary_of(&s);
    for (uint64_t i = 0; i < 16; i++)
        starts[i] = 0x3f000000 + i * 0x200000;
    assay_search_plan plan = {starts, 16, 50000, 1};
    assay_search_result r;
    ck_assert_int_eq(assay__search_run(&u, &plan, &r), ASSAY_OK);
    ck_assert(r.err_ulp > 0.499 && r.err_ulp < 0.503);
    ck_assert_uint_eq(r.mismatches, 0);
}
END_TEST

START_TEST(search_refuses_nonsense)
{
    const uint64_t start = 0;
    subject s = of(ASSAY_F32, exp);
    assay__unary u = unary_of(&s);
    assay_search_result r;
    assay_search_plan plan = {&start, 0, 1000, 1};
    ck_assert_int_eq(assay__search_run(&u, &plan, &r), ASSAY_INVALID);
    plan = (assay_search_plan){&start, 1, 10, 1};
    ck_assert_int_eq(assay__search_run(&u, &plan, &r), ASSAY_INVALID);
    s.skip_from = 0, s.skip_to = UINT64_MAX; /* all poison */
    plan.evaluations = 1000;
    ck_assert_int_eq(assay__search_run(&u, &plan, &r), ASSAY_NOTFOUND);
}
END_TEST

/* The published rows for glibc 2.36 on x86-64 with FMA. */
typedef struct row {
    double (*wide)(double);
    float (*kernel)(float);
    double max_err;
    float worst;
    uint64_t max_dist, misrounded;
} row;

static const row rows[] = {
    {exp, expf, 0.5016, -0x1.ce651ep-8f, 1, 170648},
    {log, logf, 0.8177, 0x1.060106p+0f, 1, 416909},
    {sqrt, sqrtf, 0.5000, 0x1.fffffep-125f, 0, 0},
};

static assay_status f32_wide(void *cookie, const void *x, size_t n, double *hi, double *lo,
                             double *bound)
{
    const row *r = cookie;
    const float *in = x;
    bool is_sqrt = r->wide == sqrt;
    for (size_t i = 0; i < n; i++) {
        hi[i] = r->wide((double)in[i]);
        lo[i] = is_sqrt && hi[i] > 0.0 && isfinite(hi[i])
                    ? fma(-hi[i], hi[i], (double)in[i]) / (2.0 * hi[i])
                    : 0.0;
        bound[i] = is_sqrt || !isfinite(hi[i]) ? 0.0 : 0x1p-52 * fabs(hi[i]);
    }
    return ASSAY_OK;
}

static assay_status f32_kernel(void *cookie, const void *x, void *y, size_t n)
{
    const row *r = cookie;
    const float *in = x;
    float *out = y;
    for (size_t i = 0; i < n; i++)
        out[i] = r->kernel(in[i]);
    return ASSAY_OK;
}

START_TEST(glibc_rows_are_reproduced)
{
    row r = rows[_i];
    assay__unary u = {.input = ASSAY_F32,
                      .output = ASSAY_F32,
                      .kernel = f32_kernel,
                      .wide = f32_wide,
                      .kernel_cookie = &r,
                      .wide_cookie = &r};
    assay_exhaustive_plan plan = {.threads = 2};
    assay_exhaustive_result result;
    ck_assert_int_eq(assay__exhaustive_run(&u, &plan, &result), ASSAY_OK);
    ck_assert(result.is_complete);
    ck_assert_uint_eq(result.inputs - result.nan_inputs, 4278190082u);
    ck_assert_msg(fabs(result.stats.max_err_ulp - r.max_err) < 5.1e-5, "%.6f at %a",
                  result.stats.max_err_ulp, result.stats.worst.hi);
    ck_assert_uint_eq(result.stats.max_dist, r.max_dist);
    ck_assert_uint_eq(result.stats.misrounded, r.misrounded);
    ck_assert_uint_eq(result.stats.over_one, 0);
    uint64_t worst = assay__element_bits(ASSAY_F32, &r.worst, 0);
    ck_assert_msg(result.stats.worst.input_bits[0] == worst, "worst at %llx, not %llx",
                  (unsigned long long)result.stats.worst.input_bits[0], (unsigned long long)worst);
    assay__exhaustive_clear(&result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exhaustive");
    TCase *all = tcase_create("all"), *search = tcase_create("search"),
          *full = tcase_create("full");

    suite_add_tcase(suite, all);
    suite_add_tcase(suite, search);
    suite_add_tcase(suite, full); /* owned by the suite, empty or not */
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, rounded_exp_is_right_everywhere, 0, 4);
    tcase_add_test(all, one_wrong_pattern_of_all_is_found);
    tcase_add_test(all, unwritten_results_are_no_stale_ones);
    tcase_add_test(all, threads_change_nothing);
    tcase_add_test(all, runs_stop_on_request_and_on_failure);
    tcase_add_test(all, bad_plans_are_refused);
    tcase_add_test(search, search_climbs_to_the_peak);
    tcase_add_test(search, search_reaches_close_to_the_maximum_of_expf);
    tcase_add_test(search, search_refuses_nonsense);
    /* The figures belong to one version of the library. */
    if (getenv("ASSAY_LONG") && strcmp(gnu_get_libc_version(), "2.36") == 0) {
        tcase_add_loop_test(full, glibc_rows_are_reproduced, 0, 3);
        tcase_set_timeout(full, 1800);
    }

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

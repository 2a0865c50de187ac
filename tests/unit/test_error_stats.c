/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_error_stats.c -- injected faults that the error statistics must show. */
#include "calibrate/error_stats.h"
#include "calibrate/ulp_scan.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 20000

static uint64_t noise_state;

static uint64_t noise(void)
{
    noise_state += 0x9e3779b97f4a7c15u;
    uint64_t z = noise_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(void)
{
    return ((double)(noise() >> 11) + 0.5) * 0x1p-53;
}

static float y[N], x[N];
static double hi[N], lo[N];

/* exp of 0.001 .. 20: y correctly rounded from the double, which is the reference. */
static void fill(void)
{
    for (int i = 0; i < N; i++) {
        x[i] = 0.001f * (float)(i + 1);
        hi[i] = exp((double)x[i]);
        lo[i] = 0.0;
        y[i] = (float)hi[i];
    }
}

static assay_error_batch batch_of(size_t first, size_t count)
{
    return (assay_error_batch){.y = y + first,
                               .hi = hi + first,
                               .lo = lo + first,
                               .first = first,
                               .count = count,
                               .inputs = {x + first},
                               .input_dtypes = {ASSAY_F32},
                               .input_count = 1};
}

static assay_error_stats stats_of(void)
{
    assay_error_stats s;
    assay_error_batch b = batch_of(0, N);
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    return s;
}

static assay_error_figures figures_of(assay_error_stats *s)
{
    assay_error_figures f;
    ck_assert_int_eq(assay__error_stats_figures(s, &f), ASSAY_OK);
    return f;
}

START_TEST(rounded_results_show_no_error)
{
    fill();
    assay_error_stats s = stats_of();
    assay_error_figures f = figures_of(&s);
    ck_assert_uint_eq(s.elements, N);
    ck_assert_uint_eq(s.misrounded, 0);
    ck_assert_uint_eq(s.max_dist, 0);
    ck_assert(s.max_err_ulp <= 0.5 && s.max_err_ulp > 0.499);
    ck_assert_uint_eq(s.bins[0], N);
    ck_assert(s.max_rel <= 0x1p-24 && s.max_rel > 0x1p-25);
    ck_assert(fabs(f.mean_err_ulp - 0.25) < 0.01 && fabs(f.p50_err_ulp - 0.25) < 0.02);
    ck_assert(f.p99_err_ulp > 0.48 && f.p999_err_ulp >= f.p99_err_ulp);
    ck_assert(f.eff_bits >= 24.0 && f.eff_bits < 24.1);
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(one_ulp_bump_is_found_with_its_index)
{
    static const int places[] = {0, 1, 63, 64, 255, 256, 12345, N - 1};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        fill();
        y[places[k]] = nextafterf(y[places[k]], INFINITY);
        assay_error_stats s = stats_of();
        ck_assert_uint_eq(s.max_dist, 1);
        ck_assert_uint_eq(s.misrounded, 1);
        ck_assert(s.max_err_ulp > 0.5 && s.max_err_ulp <= 1.5);
        ck_assert_uint_eq(s.worst.index, (uint64_t)places[k]);
        ck_assert_uint_eq(s.worst.input_count, 1);
        ck_assert_uint_eq(s.worst.input_bits[0],
                          assay__element_bits(ASSAY_F32, x, (size_t)places[k]));
        ck_assert_double_eq(s.worst.expected, (double)(float)hi[places[k]]);
        assay__error_stats_clear(&s);
    }
}
END_TEST

START_TEST(classes_stay_out_of_the_figures)
{
    fill();
    y[10] = NAN;
    y[11] = INFINITY;
    hi[12] = 0.0, y[12] = -0.0f;
    hi[13] = 0x1p-140, y[13] = 0.0f;
    hi[14] = NAN, y[14] = NAN;
    hi[15] = 1e300, y[15] = INFINITY;
    assay_error_stats s = stats_of();
    ck_assert_uint_eq(s.classes[ASSAY_ULP_NAN_MISMATCH], 1);
    ck_assert_uint_eq(s.classes[ASSAY_ULP_INF_MISMATCH], 1);
    ck_assert_uint_eq(s.classes[ASSAY_ULP_FLUSHED], 1);
    ck_assert_uint_eq(s.classes[ASSAY_ULP_ORDINARY], N - 3);
    ck_assert_uint_eq(s.zero_sign_mismatch, 1);
    ck_assert_uint_eq(s.first[ASSAY_ULP_NAN_MISMATCH].index, 10);
    ck_assert_uint_eq(s.first[ASSAY_ULP_INF_MISMATCH].index, 11);
    ck_assert_uint_eq(s.first[ASSAY_ULP_FLUSHED].index, 13);
    ck_assert(s.max_err_ulp <= 0.5 && s.max_dist == 0);
    ck_assert(s.max_err_soft > 1e20 && isfinite(s.max_err_soft));
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(unwritten_tail_and_permuted_row_show)
{
    fill();
    for (int i = N - 16; i < N; i++)
        memset(&y[i], 0xff, sizeof y[i]); /* the poison of the harness: a NaN */
    assay_error_stats s = stats_of();
    ck_assert_uint_eq(s.classes[ASSAY_ULP_NAN_MISMATCH], 16);
    ck_assert_uint_eq(s.first[ASSAY_ULP_NAN_MISMATCH].index, N - 16);
    assay__error_stats_clear(&s);
    fill();
    float swap = y[100]; /* two close neighbours: a norm over all would hardly move */
    y[100] = y[101];
    y[101] = swap;
    s = stats_of();
    ck_assert_uint_eq(s.misrounded, 2);
    ck_assert(s.max_err_ulp > 1000.0);
    ck_assert_uint_eq(s.over_one, 2);
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(histogram_bins_are_right_closed)
{
    static const double errors[] = {0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 0x1p19, 0x1p20, 0x1p21};
    static const size_t bins[] = {0, 1, 1, 2, 2, 3, 20, 21, 22};
    for (size_t i = 0; i < 9; i++) {
        hi[i] = 1.0 + 0x1p-23 * 0.5;
        lo[i] = 0.0;
        double target = hi[i] + errors[i] * 0x1p-23;
        y[i] = (float)(1.0 + rint((target - 1.0) * 0x1p23) * 0x1p-23);
        hi[i] = (double)y[i] - errors[i] * 0x1p-23; /* exact: the error is errors[i] */
    }
    assay_error_stats s;
    assay_error_batch b = batch_of(0, 9);
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    uint64_t want[ASSAY_ERROR_BINS] = {0};
    for (size_t i = 0; i < 9; i++)
        want[bins[i]]++;
    for (size_t i = 0; i < ASSAY_ERROR_BINS; i++)
        ck_assert_uint_eq(s.bins[i], want[i]);
    ck_assert_double_eq(s.max_err_ulp, 0x1p21);
    assay__error_stats_clear(&s);
}
END_TEST

static void disturb(void)
{
    noise_state = 99;
    fill();
    for (int i = 0; i < N; i++) {
        lo[i] = hi[i] * 0x1p-54 * (uniform() - 0.5);
        if (noise() % 4 == 0)
            y[i] = nextafterf(y[i], noise() % 2 ? INFINITY : 0.0f);
        if (noise() % 997 == 0)
            y[i] = noise() % 2 ? NAN : 0.0f;
    }
    y[7777] = y[15555] = 1e30f; /* two equal worst elements cannot be: see below */
    hi[15555] = hi[7777];
    lo[15555] = lo[7777];
}

static void same_stats(assay_error_stats *a, assay_error_stats *b)
{
    assay_error_figures fa = figures_of(a), fb = figures_of(b);
    ck_assert(memcmp(&fa, &fb, sizeof fa) == 0);
    ck_assert_uint_eq(a->err_sum.whole, b->err_sum.whole);
    ck_assert_uint_eq(a->err_sum.part, b->err_sum.part);
    ck_assert_uint_eq(a->worst.index, b->worst.index);
    ck_assert_uint_eq(a->misrounded, b->misrounded);
    ck_assert_uint_eq(a->max_dist, b->max_dist);
    ck_assert(a->max_rel >= b->max_rel && a->max_rel <= b->max_rel);
    ck_assert(a->max_abs >= b->max_abs && a->max_abs <= b->max_abs);
    ck_assert(memcmp(a->bins, b->bins, sizeof a->bins) == 0);
    ck_assert(memcmp(a->classes, b->classes, sizeof a->classes) == 0);
    for (int i = 0; i < ASSAY_ULP_CLASSES; i++)
        ck_assert_uint_eq(a->first[i].index, b->first[i].index);
}

START_TEST(figures_do_not_depend_on_the_split)
{
    disturb();
    assay_error_stats whole = stats_of();
    ck_assert_uint_eq(whole.worst.index, 7777); /* the first of two equals */
    for (uint64_t round = 0; round < 20; round++) {
        assay_error_stats part[3];
        noise_state = round;
        for (int t = 0; t < 3; t++)
            ck_assert_int_eq(assay__error_stats_init(&part[t], ASSAY_F32, false), ASSAY_OK);
        for (size_t first = 0; first < N;) {
            size_t count = 1 + noise() % 1500;
            count = count > N - first ? N - first : count;
            assay_error_batch b = batch_of(first, count);
            ck_assert_int_eq(assay__error_stats_add(&part[noise() % 3], &b), ASSAY_OK);
            first += count;
        }
        ck_assert_int_eq(assay__error_stats_merge(&part[2], &part[0]), ASSAY_OK);
        ck_assert_int_eq(assay__error_stats_merge(&part[2], &part[1]), ASSAY_OK);
        same_stats(&whole, &part[2]);
        for (int t = 0; t < 3; t++)
            assay__error_stats_clear(&part[t]);
    }
    assay__error_stats_clear(&whole);
}
END_TEST

START_TEST(two_runs_are_identical)
{
    disturb();
    assay_error_stats a = stats_of(), b = stats_of();
    same_stats(&a, &b);
    uint64_t digest = assay__output_digest(y, sizeof y);
    ck_assert_uint_eq(digest, assay__output_digest(y, sizeof y));
    y[3] = -y[3];
    ck_assert_uint_ne(digest, assay__output_digest(y, sizeof y));
    assay__error_stats_clear(&a);
    assay__error_stats_clear(&b);
}
END_TEST

START_TEST(quantiles_are_exact_for_few_and_close_for_many)
{
    fill();
    for (int i = 0; i < N; i++) { /* err = i / 1000 ulps, exactly known */
        y[i] = 1.5f;
        hi[i] = 1.5 - (double)i / 1000.0 * 0x1p-23;
    }
    assay_error_stats few, all = stats_of();
    assay_error_batch b = batch_of(0, 1001);
    ck_assert_int_eq(assay__error_stats_init(&few, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&few, &b), ASSAY_OK);
    assay_error_figures f = figures_of(&few);
    ck_assert_uint_eq(f.sampled, 1001);
    ck_assert(fabs(f.p50_err_ulp - 0.5) < 1e-6 && fabs(f.p99_err_ulp - 0.99) < 1e-6);
    f = figures_of(&all);
    ck_assert_uint_eq(f.sampled, ASSAY_SAMPLE_KEEP);
    ck_assert(fabs(f.p50_err_ulp - 10.0) < 0.5 && fabs(f.p99_err_ulp - 19.8) < 0.2);
    ck_assert(fabs(f.mean_err_ulp - 9.9995) < 1e-5);
    ck_assert(f.p999_err_ulp <= all.max_err_ulp);
    assay__error_stats_clear(&few);
    assay__error_stats_clear(&all);
}
END_TEST

START_TEST(rho_divides_by_the_magnitude)
{
    static double magnitude[N];
    fill();
    for (int i = 0; i < N; i++)
        magnitude[i] = 10.0 * hi[i];
    y[500] = (float)(hi[500] * (1.0 + 0x1p-20)); /* 16 u of r, 1.6 u of the magnitude */
    magnitude[900] = 0.0;
    y[900] = (float)hi[900];
    hi[900] = (double)y[900]; /* exact: no magnitude needed */
    assay_error_stats s;
    assay_error_batch b = batch_of(0, N);
    b.magnitude = magnitude;
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    assay_error_figures f = figures_of(&s);
    ck_assert_uint_eq(s.worst_rho.index, 500);
    ck_assert(fabs(s.max_rho - 1.6) < 0.1);
    ck_assert(fabs(f.kappa - 10.0) < 1e-9);
    ck_assert(f.rms_rho > 0.02 && f.rms_rho < 0.1);
    ck_assert(fabs(f.eff_bits - (24.0 - log2(1.6))) < 0.1);
    assay__error_stats_clear(&s);
    hi[900] *= 1.0 + 1e-6; /* an error that no product can have made */
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.worst_rho.index, 900);
    ck_assert(s.max_rho > 1e300 && isfinite(figures_of(&s).rms_rho));
    assay__error_stats_clear(&s);
    fill();
    magnitude[900] = NAN;
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.worst_rho.index, 900);
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(rho_below_the_normal_range_counts_in_steps_of_the_format)
{
    static const assay_dtype types[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_F64};
    assay_dtype dtype = types[_i];
    assay_ulp_format format;
    ck_assert_int_eq(assay__ulp_format(dtype, false, &format), ASSAY_OK);
    double step = format.min_subnormal;
    unsigned char stored[2 * sizeof(double)];
    /* A result rounded as well as can be, next to an exact one in the normal range. */
    double values[2] = {3.0 * step, 1.0}, r[2] = {2.5 * step, 1.0}, sizes[2] = {2.5 * step, 1.0};
    if (dtype == ASSAY_F64) /* the reference has no half steps there */
        r[0] = sizes[0] = 2.0 * step;
    ck_assert_int_eq(assay_convert(dtype, stored, ASSAY_F64, values, 2), ASSAY_OK);
    assay_error_batch b = {.y = stored, .hi = r, .magnitude = sizes, .count = 2};
    assay_error_stats s;
    ck_assert_int_eq(assay__error_stats_init(&s, dtype, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_double_eq(s.max_rho, dtype == ASSAY_F64 ? 2.0 : 1.0);
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(largest_relative_error_need_not_be_the_largest_in_ulps)
{
    fill();
    for (int i = 0; i < N; i++)
        y[i] = 1.75f, hi[i] = 1.75;
    hi[100] = 1.75 + 0.49 * 0x1p-23;
    y[2000] = 1.0f, hi[2000] = 1.0 + 0.45 * 0x1p-23;
    assay_error_stats s = stats_of();
    ck_assert(fabs(s.max_rel - 0.45 * 0x1p-23) < 1e-12);
    ck_assert_uint_eq(s.worst.index, 100);
    assay__error_stats_clear(&s);
}
END_TEST

START_TEST(blind_data_are_mistrusted)
{
    assay_error_stats s;
    fill();
    s = stats_of();
    ck_assert_int_eq(assay__error_stats_trust(&s), ASSAY_TRUST_OK);
    assay__error_stats_clear(&s);
    for (int i = 0; i < N; i++)
        hi[i] = i % 20 ? 0.0 : hi[i], y[i] = (float)hi[i];
    s = stats_of();
    ck_assert_int_eq(assay__error_stats_trust(&s), ASSAY_TRUST_ZEROS);
    assay__error_stats_clear(&s);
    for (int i = 0; i < N; i++)
        hi[i] = i % 7 - 3, y[i] = (float)hi[i];
    s = stats_of();
    ck_assert_int_eq(assay__error_stats_trust(&s), ASSAY_TRUST_INTEGERS);
    ck_assert_ptr_nonnull(strstr(assay__trust_text(ASSAY_TRUST_INTEGERS), "mistrusted"));
    assay__error_stats_clear(&s);
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_trust(&s), ASSAY_TRUST_EMPTY);
    assay_error_figures f;
    ck_assert_int_eq(assay__error_stats_figures(&s, &f), ASSAY_NOTFOUND);
    assay__error_stats_clear(&s);
}
END_TEST

/* i64 beyond what a double holds: one off is one off. */
START_TEST(integers_are_right_or_wrong)
{
    static const int64_t out[] = {INT64_MAX, INT64_MIN, 7, 0x20000000000001, -5, 0};
    static const double high[] = {0x1p63, -0x1p63, 7, 0x1p53, -5, 0};
    static const double low[] = {-1, 0, 0, 1, 0, 0};
    assay_error_stats s;
    assay_error_figures f;
    assay_error_batch b = {.y = out, .hi = high, .lo = low, .count = 6};

    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_I64, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.elements, 6);
    ck_assert_uint_eq(s.max_dist, 0);
    ck_assert_uint_eq(s.zeros, 1);
    ck_assert_int_eq(assay__error_stats_trust(&s), ASSAY_TRUST_OK); /* whole is what they are */
    int64_t wrong[6];
    memcpy(wrong, out, sizeof wrong);
    wrong[3]--;
    b.y = wrong;
    b.first = 6;
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.max_dist, 1);
    ck_assert_uint_eq(s.misrounded, 1);
    ck_assert_uint_eq(s.worst.index, 9);
    ck_assert_uint_eq(s.worst.y_bits, 0x20000000000000);
    wrong[0] = INT64_MIN;
    b.first = 12;
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.max_dist, UINT64_MAX);
    ck_assert_int_eq(assay__error_stats_figures(&s, &f), ASSAY_OK);
    ck_assert(f.p50_err_ulp <= 0.0 && f.p50_err_ulp >= 0.0);
    assay__error_stats_clear(&s);
}
END_TEST

/* What is no value of the type cannot be the reference. */
START_TEST(a_reference_that_is_no_integer_passes_nothing)
{
    static const double high[] = {0.5, NAN, INFINITY, 128, -129, 0x1p64};
    assay_error_stats s;
    int8_t out[6] = {0};
    assay_error_batch b = {.y = out, .hi = high, .count = 6};

    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_I8, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    ck_assert_uint_eq(s.classes[ASSAY_ULP_NAN_MISMATCH], 6);
    assay__error_stats_clear(&s);
}
END_TEST

/* Floats of integers are whole by nature, those of floats tell little. */
START_TEST(whole_results_of_whole_operands_are_trusted)
{
    static const int8_t in[] = {1, 2, 3, 4};
    static const float floats[] = {1, 2, 3, 4};
    static const double want[] = {1, 2, 3, 4};
    assay_error_stats s;

    for (int is_whole = 0; is_whole < 2; is_whole++) {
        assay_error_batch b = {.y = floats,
                               .hi = want,
                               .count = 4,
                               .inputs = {is_whole ? (const void *)in : floats},
                               .input_dtypes = {is_whole ? ASSAY_I8 : ASSAY_F32},
                               .input_count = 1};
        ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
        ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
        ck_assert_int_eq(assay__error_stats_trust(&s),
                         is_whole ? ASSAY_TRUST_OK : ASSAY_TRUST_INTEGERS);
        assay__error_stats_clear(&s);
    }
}
END_TEST

START_TEST(bad_batches_are_refused)
{
    assay_error_stats s, t;
    assay_error_batch b = batch_of(0, N);
    ck_assert_int_eq(assay__error_stats_init(&s, (assay_dtype)99, false), ASSAY_INVALID);
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_init(&t, ASSAY_F16, false), ASSAY_OK);
    b.hi = NULL;
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_INVALID);
    b = batch_of(0, N);
    b.input_count = 5;
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_INVALID);
    ck_assert_int_eq(assay__error_stats_merge(&s, &t), ASSAY_INVALID);
    assay__error_stats_clear(&s);
    assay__error_stats_clear(&t);
}
END_TEST

/* A mixture of all that can happen, for the two scans. */
static void strange(const assay_ulp_format *f, double *out, double *ref, double *rest,
                    double *bound, size_t n)
{
    static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0x1p-149};
    for (size_t i = 0; i < n; i++) {
        double r = ldexp(uniform() - 0.5, (int)(noise() % 300) - 150);
        if (noise() % 8 == 0)
            r = ldexp(1.0, (int)(noise() % 20) - 10) * (noise() % 2 ? 1 : -1);
        if (noise() % 8 == 0)
            r = specials[noise() % 8];
        if (noise() % 16 == 0)
            r = f->max_finite * (noise() % 2 ? 1.0 : -4.0);
        ref[i] = r;
        rest[i] = isfinite(r) ? r * 0x1p-54 * (uniform() - 0.5) : 0.0;
        bound[i] = fabs(r) < 1e300 ? fabs(r) * ldexp(1.0, -20 - (int)(noise() % 60)) : 0.0;
        out[i] = assay__ulp_round(f, r, rest[i]);
        if (noise() % 8 == 0)
            out[i] = assay_round_f64(f->dtype, r * (1.0 + 0x1p-8 * uniform()));
        if (noise() % 16 == 0)
            out[i] = assay_round_f64(f->dtype, specials[noise() % 8]);
    }
}

static const assay_dtype floats[] = {ASSAY_F64,  ASSAY_F32,    ASSAY_F16,
                                     ASSAY_BF16, ASSAY_F8E4M3, ASSAY_F8E5M2};

START_TEST(scans_agree_and_plain_elements_are_plain)
{
    static double out[ASSAY_SCAN_MAX], ref[ASSAY_SCAN_MAX], rest[ASSAY_SCAN_MAX],
        bound[ASSAY_SCAN_MAX];
    static assay_scan_out slow, fast;
    assay_ulp_format f;
    noise_state = 4;
    ck_assert_int_eq(assay__ulp_format(floats[_i], false, &f), ASSAY_OK);
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + noise() % ASSAY_SCAN_MAX;
        strange(&f, out, ref, rest, bound, n);
        assay_scan_in in = {&f,
                            out,
                            ref,
                            round % 3 ? rest : NULL,
                            round % 2 ? bound : NULL,
                            n,
                            round % 4 ? f.unit_roundoff * uniform() : 0.0};
        assay__ulp_scan_portable(&in, &slow);
        assay__ulp_scan_best()(&in, &fast);
        ck_assert(memcmp(slow.marked, fast.marked, sizeof slow.marked) == 0);
        ck_assert_uint_eq(slow.plain_sum, fast.plain_sum);
        ck_assert_uint_eq(slow.zeros, fast.zeros);
        ck_assert_uint_eq(slow.integers, fast.integers);
        ck_assert_double_eq(slow.plain_abs, fast.plain_abs);
        ck_assert_double_eq(slow.plain_err, fast.plain_err);
        ck_assert_double_eq(slow.plain_rel, fast.plain_rel);
        for (size_t i = 0; i < n; i++) {
            if (slow.marked[i / 64] >> (i % 64) & 1)
                continue;
            assay_ulp_point p = assay__ulp_measure(&f, out[i], ref[i], round % 3 ? rest[i] : 0.0,
                                                   round % 2 ? bound[i] : 0.0);
            ck_assert_msg(p.class == ASSAY_ULP_ORDINARY && p.dist == 0 && !p.is_uncertain &&
                              !p.zero_sign_mismatch,
                          "y %a r %a", out[i], ref[i]);
            ck_assert(slow.err[i] >= p.err_ulp && slow.err[i] <= p.err_ulp);
            ck_assert(fast.err[i] >= p.err_ulp && fast.err[i] <= p.err_ulp);
        }
    }
}
END_TEST

/* The largest figures, and the first element that shows the largest error, element by element. */
typedef struct plain_figures {
    double err, rel, abs;
    uint64_t index;
} plain_figures;

static plain_figures one_by_one(const assay_ulp_format *f, const double *out, const double *ref,
                                const double *rest, const double *bound, size_t n)
{
    plain_figures p = {.index = ASSAY_ERROR_NONE};
    for (size_t i = 0; i < n; i++) {
        assay_ulp_point point = assay__ulp_measure(f, out[i], ref[i], rest[i], bound[i]);
        if (point.class != ASSAY_ULP_ORDINARY)
            continue;
        p.rel = fmax(p.rel, point.rel);
        p.abs = fmax(p.abs, point.abs);
        if (point.err_ulp > p.err) {
            p.err = point.err_ulp;
            p.index = i;
        }
    }
    return p;
}

/* Many equal errors, errors that rise all the way, and none above another. */
static void crafted(int kind, const assay_ulp_format *f, double *out, double *ref, double *rest,
                    double *bound, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double step = 2.0 * f->unit_roundoff; /* of values in [1, 2) */
        double share = kind == 0   ? 0.25 * (double)(noise() % 4)
                       : kind == 1 ? 0.6 * (double)i / (double)n
                                   : 0.375;
        out[i] = 1.0;
        ref[i] = 1.0 + share * step;
        if (f->dtype == ASSAY_F64)
            ref[i] = 1.0;
        rest[i] = f->dtype == ASSAY_F64 ? share * step : 0.0;
        bound[i] = 0.0;
    }
}

START_TEST(figures_are_those_of_single_elements)
{
    enum { COUNT = 3 * ASSAY_SCAN_MAX + 17 };
    static double out[COUNT], ref[COUNT], rest[COUNT], bound[COUNT];
    static unsigned char raw[8 * COUNT];
    assay_ulp_format f;
    noise_state = 11;
    ck_assert_int_eq(assay__ulp_format(floats[_i], false, &f), ASSAY_OK);
    for (int round = 0; round < 60; round++) {
        assay_error_stats s;
        if (round % 4 == 3)
            strange(&f, out, ref, rest, bound, COUNT);
        else
            crafted(round % 4, &f, out, ref, rest, bound, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            assay_store_f64(f.dtype, raw, i, out[i]);
        assay_error_batch b = {.y = raw, .hi = ref, .lo = rest, .bound = bound, .count = COUNT};
        plain_figures want = one_by_one(&f, out, ref, rest, bound, COUNT);
        ck_assert_int_eq(assay__error_stats_init(&s, f.dtype, false), ASSAY_OK);
        ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
        ck_assert_double_eq(s.max_err_ulp, want.err);
        ck_assert_double_eq(s.max_rel, want.rel);
        ck_assert_double_eq(s.max_abs, want.abs);
        ck_assert_msg(s.worst.index == want.index, "round %d: worst at %llu, not %llu", round,
                      (unsigned long long)s.worst.index, (unsigned long long)want.index);
        assay__error_stats_clear(&s);
    }
}
END_TEST

START_TEST(sums_round_to_the_nearest_of_their_steps)
{
    assay_exact_sum sum = {0, 0};
    assay__sum_add(&sum, 0x1.8p-33); /* three quarters of a step */
    ck_assert_uint_eq(sum.part, 1);
    assay__sum_add(&sum, 3.0 + 0x1.8p-32); /* one and a half: to even */
    ck_assert_uint_eq(sum.part, 3);
    ck_assert_uint_eq(sum.whole, 3);
}
END_TEST

START_TEST(packed_statistics_are_the_same)
{
    static const float got[] = {1.0f, 2.0f, 3.0f, NAN}, from[] = {7.0f, 8.0f, 9.0f, 10.0f};
    static const double exact[] = {1.0, 2.00000012, 2.9, 4.0};
    static unsigned char bytes[ASSAY_ERROR_STATS_PACKED];
    assay_error_stats s, t, broken;
    assay_error_batch b = {.y = got,
                           .hi = exact,
                           .first = 5,
                           .count = 4,
                           .inputs = {from},
                           .input_dtypes = {ASSAY_F32},
                           .input_count = 1};
    ck_assert_int_eq(assay__error_stats_init(&s, ASSAY_F32, false), ASSAY_OK);
    ck_assert_int_eq(assay__error_stats_add(&s, &b), ASSAY_OK);
    assay__error_stats_pack(&s, bytes);
    ck_assert_int_eq(assay__error_stats_unpack(bytes, &t), ASSAY_OK);
    ck_assert(t.sample.items != s.sample.items && t.sample.count == s.sample.count);
    ck_assert(memcmp(t.sample.items, s.sample.items, s.sample.count * sizeof *s.sample.items) == 0);
    ck_assert_int_eq(assay__error_stats_merge(&t, &s), ASSAY_OK);
    ck_assert_uint_eq(t.elements, 8);
    ck_assert_uint_eq(t.classes[ASSAY_ULP_NAN_MISMATCH], 2);
    ck_assert_uint_eq(t.worst.index, 7);
    ck_assert_double_eq(t.max_err_ulp, s.max_err_ulp);
    broken = s;
    broken.sample.count = 0;
    assay__error_stats_pack(&broken, bytes);
    broken.sample.count = 2 * ASSAY_SAMPLE_KEEP + 1;
    memcpy(bytes, &broken, sizeof broken);
    ck_assert_int_eq(assay__error_stats_unpack(bytes, &broken), ASSAY_INVALID);
    memset(bytes, 0xff, sizeof bytes);
    ck_assert_int_eq(assay__error_stats_unpack(bytes, &broken), ASSAY_INVALID);
    assay__error_stats_clear(&s);
    assay__error_stats_clear(&t);
}
END_TEST

/* Those of the lowest priorities stay, whatever the order they came in, and can be merged. */
START_TEST(trimmed_sample_keeps_the_lowest_priorities)
{
    assay_sample_set some, all;
    double *values = NULL;
    size_t count = 0;

    ck_assert_int_eq(assay__sample_set_init(&some), ASSAY_OK);
    ck_assert_int_eq(assay__sample_set_init(&all), ASSAY_OK);
    for (uint32_t i = 0; i < 3000; i++)
        assay__sample_set_put(&some, i, (double)i, (i * 7919u) % 3001u);
    assay__sample_set_trim(&some, 5000);
    ck_assert_uint_eq(some.count, 3000);
    assay__sample_set_trim(&some, 64);
    ck_assert_uint_eq(some.count, 64);
    for (size_t i = 0; i < 64; i++)
        ck_assert_uint_eq(some.items[i].priority, i);
    assay__sample_set_merge(&all, &some);
    ck_assert_int_eq(assay__sample_set_values(&all, &values, &count), ASSAY_OK);
    ck_assert_uint_eq(count, 64);
    free(values);
    assay__sample_set_clear(&some);
    assay__sample_set_clear(&all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error_stats");
    TCase *faults = tcase_create("faults"), *figures = tcase_create("figures");
    TCase *scan = tcase_create("scan");

    suite_add_tcase(suite, faults);
    suite_add_tcase(suite, figures);
    suite_add_tcase(suite, scan);
    tcase_set_timeout(figures, 60);
    tcase_set_timeout(scan, 60);
    tcase_add_test(faults, rounded_results_show_no_error);
    tcase_add_test(faults, one_ulp_bump_is_found_with_its_index);
    tcase_add_test(faults, classes_stay_out_of_the_figures);
    tcase_add_test(faults, unwritten_tail_and_permuted_row_show);
    tcase_add_test(figures, histogram_bins_are_right_closed);
    tcase_add_test(figures, figures_do_not_depend_on_the_split);
    tcase_add_test(figures, two_runs_are_identical);
    tcase_add_test(figures, quantiles_are_exact_for_few_and_close_for_many);
    tcase_add_test(figures, rho_divides_by_the_magnitude);
    tcase_add_loop_test(figures, rho_below_the_normal_range_counts_in_steps_of_the_format, 0, 4);
    tcase_add_test(figures, largest_relative_error_need_not_be_the_largest_in_ulps);
    tcase_add_test(figures, blind_data_are_mistrusted);
    tcase_add_test(figures, integers_are_right_or_wrong);
    tcase_add_test(figures, a_reference_that_is_no_integer_passes_nothing);
    tcase_add_test(figures, whole_results_of_whole_operands_are_trusted);
    tcase_add_test(figures, bad_batches_are_refused);
    tcase_add_test(figures, trimmed_sample_keeps_the_lowest_priorities);
    tcase_add_loop_test(scan, scans_agree_and_plain_elements_are_plain, 0, 6);
    tcase_add_test(scan, sums_round_to_the_nearest_of_their_steps);
    tcase_add_test(scan, packed_statistics_are_the_same);
    tcase_add_loop_test(scan, figures_are_those_of_single_elements, 0, 6);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_ulp.c -- the error of one element: ruler, rounding, distance, classes. */
#include "calibrate/ulp.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

static const assay_dtype floats[] = {ASSAY_F64,  ASSAY_F32,    ASSAY_F16,
                                     ASSAY_BF16, ASSAY_F8E4M3, ASSAY_F8E5M2};
#define FLOATS (int)(sizeof floats / sizeof *floats)

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

static assay_ulp_format format_of(assay_dtype dtype)
{
    assay_ulp_format f;
    ck_assert_int_eq(assay__ulp_format(dtype, false, &f), ASSAY_OK);
    return f;
}

static assay_ulp_point measure(assay_dtype dtype, double y, double hi, double lo)
{
    assay_ulp_format f = format_of(dtype);
    return assay__ulp_measure(&f, y, hi, lo, 0.0);
}

/* One step up of the format, by bits; positive finite values. */
static double step_up(assay_dtype dtype, double value)
{
    uint64_t bits = 0;
    assay_store_f64(dtype, &bits, 0, value);
    bits++;
    return assay_load_f64(dtype, &bits, 0);
}

START_TEST(quantum_is_the_step_of_the_binade)
{
    assay_ulp_format f = format_of(floats[_i]);
    double step = ldexp(1.0, 1 - f.precision);
    ck_assert_double_eq(assay__ulp_quantum(&f, 1.0, 0.0), step);
    ck_assert_double_eq(assay__ulp_quantum(&f, -1.75, 0.0), step);
    ck_assert_double_eq(assay__ulp_quantum(&f, 1.0, -1e-30), 0.5 * step);
    ck_assert_double_eq(assay__ulp_quantum(&f, 1.0, 1e-30), step);
    ck_assert_double_eq(assay__ulp_quantum(&f, -1.0, 1e-30), 0.5 * step);
    ck_assert_double_eq(assay__ulp_quantum(&f, 0.0, 0.0), f.min_subnormal);
    ck_assert_double_eq(assay__ulp_quantum(&f, 0.25 * f.min_subnormal, 0.0), f.min_subnormal);
    ck_assert_double_eq(assay__ulp_quantum(&f, f.min_normal, 0.0), f.min_subnormal);
    ck_assert_double_eq(assay__ulp_quantum(&f, f.max_finite, 0.0),
                        ldexp(1.0, f.emax - f.precision + 1));
    ck_assert_double_eq(assay__ulp_quantum(&f, INFINITY, 0.0),
                        ldexp(1.0, f.emax - f.precision + 1));
}
END_TEST

START_TEST(one_step_is_one_ulp)
{
    assay_ulp_format f = format_of(floats[_i]);
    const double bases[] = {1.0, 1.5, f.min_subnormal, f.min_normal, 2.0};
    for (size_t b = 0; b < 5; b++) {
        assay_ulp_point p = measure(floats[_i], step_up(floats[_i], bases[b]), bases[b], 0.0);
        ck_assert_uint_eq(p.dist, 1);
        ck_assert_double_eq(p.err_ulp, 1.0);
        p = measure(floats[_i], bases[b], bases[b], 0.0);
        ck_assert_uint_eq(p.dist, 0);
        ck_assert(p.err_ulp <= 0.0 && p.class == ASSAY_ULP_ORDINARY);
    }
}
END_TEST

/* Correct rounding of random hi + lo against MPFR's own, near halves above all. */
START_TEST(rounding_happens_once)
{
    assay_ulp_format f = format_of(floats[_i]);
    mpfr_t exact, rounded;
    noise_state = 17;
    mpfr_init2(exact, 2200);
    mpfr_init2(rounded, (mpfr_prec_t)f.precision);
    for (int t = 0; t < 4000; t++) {
        double value = ldexp(1.0 + uniform(), (int)(noise() % 6) - 3);
        double hi = assay_round_f64(floats[_i], value);
        if (t % 2)
            hi += 0.5 * assay__ulp_quantum(&f, hi, 0.0); /* a tie of the narrower formats */
        double lo = ldexp(uniform() - 0.5, -54 - (int)(noise() % 40)) * (t % 3 ? 1.0 : 0.0);
        mpfr_set_d(exact, hi, MPFR_RNDN);
        mpfr_add_d(exact, exact, lo, MPFR_RNDN);
        mpfr_set(rounded, exact, MPFR_RNDN);
        double want = mpfr_get_d(rounded, MPFR_RNDN), got = assay__ulp_round(&f, hi, lo);
        ck_assert_msg(got >= want && got <= want, "%a + %a: %a, not %a", hi, lo, got, want);
        assay_ulp_point p = assay__ulp_measure(&f, got, hi, lo, 0.0);
        ck_assert(p.err_ulp <= 0.5 && p.dist == 0);
    }
    mpfr_clear(exact);
    mpfr_clear(rounded);
}
END_TEST

START_TEST(error_agrees_with_exact_arithmetic)
{
    assay_ulp_format f = format_of(floats[_i]);
    mpfr_t err;
    noise_state = 23;
    mpfr_init2(err, 400);
    for (int t = 0; t < 2000; t++) {
        double hi = ldexp(1.0 + uniform(), (int)(noise() % 4)), lo = ldexp(uniform(), -55);
        double y = assay_round_f64(floats[_i], hi * (1.0 + 0.01 * uniform()));
        mpfr_set_d(err, y, MPFR_RNDN);
        mpfr_sub_d(err, err, hi, MPFR_RNDN);
        mpfr_sub_d(err, err, lo, MPFR_RNDN);
        mpfr_div_d(err, err, assay__ulp_quantum(&f, hi, lo), MPFR_RNDN);
        double want = fabs(mpfr_get_d(err, MPFR_RNDN));
        assay_ulp_point p = assay__ulp_measure(&f, y, hi, lo, 0.0);
        ck_assert(fabs(p.err_ulp - want) <= 1e-15 + 1e-15 * want);
        ck_assert((double)p.dist <= 2.0 * p.err_ulp + 0.5); /* two binades meet at most */
        ck_assert(p.err_ulp <= 2.0 * (double)p.dist + 0.5);
    }
    mpfr_clear(err);
}
END_TEST

START_TEST(ruler_is_continuous_within_two_at_a_power_of_two)
{
    assay_ulp_format f = format_of(floats[_i]);
    double y = step_up(floats[_i], step_up(floats[_i], 1.0)), tiny = 0x1p-80;
    double at = assay__ulp_measure(&f, y, 1.0, 0.0, 0.0).err_ulp;
    double below = assay__ulp_measure(&f, y, 1.0, -tiny, 0.0).err_ulp;
    double above = assay__ulp_measure(&f, y, 1.0, tiny, 0.0).err_ulp;
    ck_assert_double_eq(at, 2.0);
    ck_assert(fabs(below - 4.0) < 1e-6); /* the documented ruler: the reference sets the scale */
    ck_assert(fabs(above - 2.0) < 1e-6);
}
END_TEST

START_TEST(distance_counts_values_through_zero)
{
    assay_ulp_format f = format_of(floats[_i]);
    ck_assert_uint_eq(assay__ulp_distance(&f, 0.0, -0.0), 0);
    ck_assert_uint_eq(assay__ulp_distance(&f, f.min_subnormal, -f.min_subnormal), 2);
    ck_assert_uint_eq(assay__ulp_distance(&f, 1.0, 2.0), (uint64_t)1 << (f.precision - 1));
    ck_assert_uint_eq(assay__ulp_distance(&f, -2.0, -1.0), (uint64_t)1 << (f.precision - 1));
    if (f.has_inf)
        ck_assert_uint_eq(assay__ulp_distance(&f, f.max_finite, INFINITY), 1);
}
END_TEST

/* ---- trap 14: the map from values to integers -------------------------------------------------
 */

/* Values of a 16-bit format and narrower in order, NaN left out; returns how many. */
static size_t all_values(assay_dtype dtype, double *out)
{
    const uint32_t half = assay_dtype_bytes(dtype) == 2 ? 0x8000 : 0x80;
    size_t n = 0;

    for (uint32_t i = half; i-- > 0;) { /* negative ones from the largest magnitude */
        uint32_t bits = half + i;
        double value = assay_load_f64(dtype, &bits, 0);
        if (!isnan(value))
            out[n++] = value;
    }
    for (uint32_t bits = 0; bits < half; bits++) {
        double value = assay_load_f64(dtype, &bits, 0);
        if (!isnan(value))
            out[n++] = value;
    }
    return n;
}

/* Every value of the format, in order: each is one further than the one before, -0 and +0 are one
 * place, and no two others share one. */
START_TEST(trap14_map_is_monotone_over_every_value)
{
    static const assay_dtype narrow[] = {ASSAY_F16, ASSAY_BF16, ASSAY_F8E4M3, ASSAY_F8E5M2};
    static double values[0x10000];
    const assay_ulp_format f = format_of(narrow[_i]);
    const size_t n = all_values(narrow[_i], values);
    uint64_t place = 0;

    ck_assert_uint_gt(n, 200);
    for (size_t i = 0; i < n; i++) {
        bool is_zero = i > 0 && values[i] <= 0.0 && values[i - 1] >= 0.0;
        if (i > 0 && !is_zero)
            place++;
        if (i > 0 && !(is_zero || values[i] > values[i - 1]))
            ck_abort_msg("value %zu is not above the one before", i);
        if (assay__ulp_distance(&f, values[0], values[i]) != place ||
            assay__ulp_distance(&f, values[i], values[0]) != place ||
            assay__ulp_distance(&f, values[i], values[i]) != 0)
            ck_abort_msg("value %zu, %a: %llu from the first, not %llu", i, values[i],
                         (unsigned long long)assay__ulp_distance(&f, values[0], values[i]),
                         (unsigned long long)place);
    }
    ck_assert_uint_eq(place, n - 2); /* two zeros */
}
END_TEST

/* Both ways the same, 0 from itself, and the sum of its parts, through zero and over the edge of
 * the subnormals. */
START_TEST(trap14_distance_is_a_metric)
{
    assay_ulp_format f = format_of(floats[_i]);
    const double below = f.min_normal - f.min_subnormal;

    noise_state = 29;
    ck_assert_uint_eq(assay__ulp_distance(&f, below, f.min_normal), 1);
    ck_assert_uint_eq(assay__ulp_distance(&f, -f.min_normal, -below), 1);
    ck_assert_uint_eq(assay__ulp_distance(&f, -below, below),
                      2 * (((uint64_t)1 << (f.precision - 1)) - 1));
    ck_assert_uint_eq(assay__ulp_distance(&f, -0.0, 0.0), 0);
    ck_assert_uint_eq(assay__ulp_distance(&f, f.min_subnormal, -0.0), 1);
    for (int t = 0; t < 20000; t++) {
        double x[3];
        for (size_t i = 0; i < 3; i++) {
            int spread = f.emax - f.emin + f.precision;
            double value =
                ldexp(1.0 + uniform(), f.emin - f.precision + (int)(noise() % (unsigned)spread));
            x[i] = assay_round_f64(floats[_i], noise() & 1 ? value : -value);
        }
        if (x[1] < x[0]) {
            double other = x[0];
            x[0] = x[1];
            x[1] = other;
        }
        uint64_t ab = assay__ulp_distance(&f, x[0], x[1]), bc = assay__ulp_distance(&f, x[1], x[2]);
        uint64_t ac = assay__ulp_distance(&f, x[0], x[2]);
        if (ab != assay__ulp_distance(&f, x[1], x[0]) || assay__ulp_distance(&f, x[2], x[2]) != 0 ||
            (x[2] >= x[1] && ac != ab + bc))
            ck_abort_msg("%a %a %a: %llu %llu %llu", x[0], x[1], x[2], (unsigned long long)ab,
                         (unsigned long long)bc, (unsigned long long)ac);
    }
}
END_TEST

START_TEST(classes_are_counted_apart)
{
    assay_dtype d = floats[_i];
    assay_ulp_format f = format_of(d);
    double top = f.has_inf ? INFINITY : NAN, far = 4.0 * f.max_finite;
    if (d == ASSAY_F64)
        far = INFINITY;
    ck_assert_int_eq(measure(d, NAN, NAN, 0).class, ASSAY_ULP_ORDINARY);
    ck_assert_int_eq(measure(d, 1.0, NAN, 0).class, ASSAY_ULP_NAN_MISMATCH);
    ck_assert_int_eq(measure(d, NAN, 1.0, 0).class, ASSAY_ULP_NAN_MISMATCH);
    ck_assert_int_eq(measure(d, top, far, 0).class, ASSAY_ULP_ORDINARY);
    ck_assert_int_eq(measure(d, f.max_finite, far, 0).class, ASSAY_ULP_INF_MISMATCH);
    if (f.has_inf) {
        assay_ulp_point p = measure(d, INFINITY, f.max_finite, 0);
        ck_assert_int_eq(p.class, ASSAY_ULP_INF_MISMATCH);
        ck_assert_double_eq(p.err_ulp, 1.0); /* infinity read as 2^(emax+1) */
        ck_assert_int_eq(measure(d, -INFINITY, far, 0).class, ASSAY_ULP_INF_MISMATCH);
        ck_assert_int_eq(measure(d, INFINITY, 1.0, 0).class, ASSAY_ULP_INF_MISMATCH);
        ck_assert(isfinite(measure(d, INFINITY, 1.0, 0).err_ulp));
    }
    assay_ulp_point flushed = measure(d, 0.0, 3.0 * f.min_subnormal, 0);
    ck_assert_int_eq(flushed.class, ASSAY_ULP_FLUSHED);
    ck_assert_uint_eq(flushed.dist, 3);
    ck_assert_int_eq(measure(d, 0.0, f.min_subnormal, 0).class, ASSAY_ULP_ORDINARY);
    ck_assert_int_eq(measure(d, 0.0, f.min_normal, 0).class, ASSAY_ULP_ORDINARY);
    ck_assert(measure(d, 0.0, -0.0, 0).zero_sign_mismatch);
    ck_assert(measure(d, -0.0, 0.0, 0).zero_sign_mismatch);
    ck_assert(!measure(d, -0.0, -0.0, 0).zero_sign_mismatch);
    ck_assert(measure(d, 0.0, -0.0, 0).err_ulp <= 0.0);
    assay_ulp_point nonzero = measure(d, 1.0, 0.0, 0.0);
    ck_assert_double_eq(nonzero.err_ulp, d == ASSAY_F64 ? DBL_MAX : 1.0 / f.min_subnormal);
}
END_TEST

START_TEST(eight_bit_overflow_follows_the_row)
{
    assay_ulp_format f, s;
    ck_assert_int_eq(assay__ulp_format(ASSAY_F8E4M3, false, &f), ASSAY_OK);
    ck_assert_int_eq(assay__ulp_format(ASSAY_F8E4M3, true, &s), ASSAY_OK);
    ck_assert_double_eq(assay__ulp_round(&f, 464.0, 0.0), 448.0); /* the midpoint still fits */
    ck_assert_double_nan(assay__ulp_round(&f, 464.0, 1e-9));
    ck_assert_double_eq(assay__ulp_round(&s, 464.0, 1e-9), 448.0);
    ck_assert_double_eq(assay__ulp_measure(&s, 448.0, 1e9, 0, 0).err_ulp, 0.0);
    ck_assert_int_eq(assay__ulp_measure(&f, NAN, 1e9, 0, 0).class, ASSAY_ULP_ORDINARY);
    ck_assert_int_eq(assay__ulp_measure(&f, NAN, 440.0, 0, 0).class, ASSAY_ULP_NAN_MISMATCH);
    ck_assert_int_eq(assay__ulp_measure(&s, NAN, 1e9, 0, 0).class, ASSAY_ULP_NAN_MISMATCH);
}
END_TEST

START_TEST(scale_is_the_reference_never_the_output)
{
    assay_ulp_point big = measure(ASSAY_F32, 1000.0, 1.0, 0.0);
    ck_assert_double_eq(big.err_ulp, 999.0 * 0x1p23);
    ck_assert_double_eq(big.rel, 999.0);
    ck_assert_double_eq(big.abs, 999.0);
    ck_assert(isfinite(measure(ASSAY_F64, DBL_MAX, -DBL_MAX, 0.0).err_ulp));
    ck_assert(isfinite(measure(ASSAY_F64, DBL_MAX, 0.0, 0.0).err_ulp));
    ck_assert(measure(ASSAY_F32, 0x1p-149, 0x1p-140, 0).rel <= 0.0); /* below the normals */
}
END_TEST

START_TEST(bound_of_the_reference_makes_doubt)
{
    assay_ulp_format f = format_of(ASSAY_F32);
    double half = 1.0 + 0x1p-24;
    ck_assert(assay__ulp_measure(&f, 1.0f, half, 0x1p-60, 0x1p-59).is_uncertain);
    ck_assert(!assay__ulp_measure(&f, 1.0f, half, 0x1p-60, 0x1p-61).is_uncertain);
    ck_assert(!assay__ulp_measure(&f, 1.0f, half, 0x1p-60, 0.0).is_uncertain);
    ck_assert(assay__ulp_measure(&f, 1.0f, half, -0x1p-60, 0x1p-59).is_uncertain);
}
END_TEST

START_TEST(integers_are_refused)
{
    assay_ulp_format f;
    ck_assert_int_eq(assay__ulp_format(ASSAY_I32, false, &f), ASSAY_INVALID);
    ck_assert_int_eq(assay__ulp_format((assay_dtype)99, false, &f), ASSAY_INVALID);
}
END_TEST

START_TEST(bits_come_from_any_width)
{
    const float x[] = {1.0f, -0.0f};
    const uint16_t h[] = {0x3c00, 0xfc01};
    ck_assert_uint_eq(assay__element_bits(ASSAY_F32, x, 0), 0x3f800000);
    ck_assert_uint_eq(assay__element_bits(ASSAY_F32, x, 1), 0x80000000);
    ck_assert_uint_eq(assay__element_bits(ASSAY_F16, h, 1), 0xfc01);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ulp");
    TCase *ruler = tcase_create("ruler"), *classes = tcase_create("classes");

    suite_add_tcase(suite, ruler);
    suite_add_tcase(suite, classes);
    tcase_set_timeout(ruler, 60);
    tcase_add_loop_test(ruler, quantum_is_the_step_of_the_binade, 0, FLOATS);
    tcase_add_loop_test(ruler, one_step_is_one_ulp, 0, FLOATS);
    tcase_add_loop_test(ruler, rounding_happens_once, 0, FLOATS);
    tcase_add_loop_test(ruler, error_agrees_with_exact_arithmetic, 0, FLOATS);
    tcase_add_loop_test(ruler, ruler_is_continuous_within_two_at_a_power_of_two, 0, FLOATS);
    tcase_add_loop_test(ruler, distance_counts_values_through_zero, 0, FLOATS);
    tcase_add_loop_test(ruler, trap14_map_is_monotone_over_every_value, 0, 4);
    tcase_add_loop_test(ruler, trap14_distance_is_a_metric, 0, FLOATS);
    tcase_add_loop_test(classes, classes_are_counted_apart, 0, FLOATS);
    tcase_add_test(classes, eight_bit_overflow_follows_the_row);
    tcase_add_test(classes, scale_is_the_reference_never_the_output);
    tcase_add_test(classes, bound_of_the_reference_makes_doubt);
    tcase_add_test(classes, integers_are_refused);
    tcase_add_test(classes, bits_come_from_any_width);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

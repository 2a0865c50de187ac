/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_accept.c -- bounds of contractions, softmax and elementwise results. */
#include "calibrate/accept.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t noise_state;

static double uniform(void)
{
    noise_state += 0x9e3779b97f4a7c15u;
    uint64_t z = noise_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    double radius = sqrt(-2.0 * log(uniform()));
    return radius * cos(6.283185307179586 * uniform());
}

typedef enum fault { SOUND, BF16_OPERANDS, F16_ACCUMULATOR, DROPPED_TERM } fault;
typedef enum data { MIXED_SIGNS, POSITIVE, INTEGERS } data;

static float draw(data kind)
{
    if (kind == MIXED_SIGNS)
        return (float)normal();
    return kind == POSITIVE ? (float)uniform() : (float)((int)(8.0 * uniform()) - 4);
}

/* One dot product of k terms, in f32, with a fault; the reference in f64 (exact products). */
static assay_accept_element dot(data kind, fault wrong, int k, double *rho)
{
    float sum = 0.0f;
    double exact = 0.0, magnitude = 0.0;
    for (int i = 0; i < k; i++) {
        float a = draw(kind), b = draw(kind);
        exact += (double)a * (double)b;
        magnitude += fabs((double)a * (double)b);
        if (wrong == DROPPED_TERM && i == k - 1)
            continue;
        if (wrong == BF16_OPERANDS) {
            a = (float)assay_round_f64(ASSAY_BF16, (double)a);
            b = (float)assay_round_f64(ASSAY_BF16, (double)b);
        }
        sum += a * b;
        if (wrong == F16_ACCUMULATOR)
            sum = (float)assay_round_f64(ASSAY_F16, (double)sum);
    }
    *rho = fabs((double)sum - exact) / (0x1p-24 * magnitude);
    return (assay_accept_element){
        .y = (double)sum, .hi = exact, .bound = k * 0x1p-53 * magnitude, .magnitude = magnitude};
}

typedef struct tally {
    int failed, warned;
    double max_rho;
} tally;

static tally run(data kind, fault wrong, int k, int trials)
{
    assay_accept_spec spec;
    tally t = {0};
    noise_state = 12;
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, k, &spec), ASSAY_OK);
    for (int i = 0; i < trials; i++) {
        double rho;
        assay_accept_element e = dot(kind, wrong, k, &rho);
        assay_accept_verdict v = assay__accept(&e, &spec);
        t.failed += v == ASSAY_ACCEPT_FAIL;
        t.warned += v == ASSAY_ACCEPT_WARN;
        t.max_rho = fmax(t.max_rho, rho);
    }
    return t;
}

START_TEST(sound_sums_pass_without_warning)
{
    static const int lengths[] = {1, 7, 64, 1024};
    for (int i = 0; i < 4; i++)
        for (data kind = MIXED_SIGNS; kind <= INTEGERS; kind++) {
            tally t = run(kind, SOUND, lengths[i], 200);
            ck_assert_int_eq(t.failed, 0);
            ck_assert_int_eq(t.warned, 0);
        }
}
END_TEST

START_TEST(rounded_operands_are_betrayed_by_rho_not_by_integers)
{
    tally sound = run(MIXED_SIGNS, SOUND, 1024, 100);
    tally leaky = run(MIXED_SIGNS, BF16_OPERANDS, 1024, 100);
    ck_assert_msg(leaky.max_rho > 1000.0 * sound.max_rho, "%g %g", leaky.max_rho, sound.max_rho);
    ck_assert_int_ge(leaky.failed + leaky.warned, 90);
    tally blind = run(INTEGERS, BF16_OPERANDS, 1024, 100);
    ck_assert(blind.max_rho <= 0.0 && blind.failed == 0);
}
END_TEST

START_TEST(narrow_accumulator_fails_on_positive_data)
{
    tally t = run(POSITIVE, F16_ACCUMULATOR, 16384, 20);
    ck_assert_int_eq(t.failed, 20);
    ck_assert_int_eq(run(POSITIVE, SOUND, 16384, 20).failed, 0);
}
END_TEST

START_TEST(dropped_term_fails)
{
    ck_assert_int_ge(run(MIXED_SIGNS, DROPPED_TERM, 64, 100).failed, 95);
}
END_TEST

START_TEST(operand_rounding_is_allowed_only_when_said)
{
    assay_accept_spec spec;
    double rho;
    noise_state = 3;
    assay_accept_element e = dot(POSITIVE, BF16_OPERANDS, 64, &rho);
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, 64, &spec), ASSAY_OK);
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    spec.u_operand = 0x1p-8;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_PASS);
}
END_TEST

START_TEST(tolerance_is_a_pure_function)
{
    assay_accept_spec spec, before;
    double first[2], again[2], rho;
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, 100, &spec), ASSAY_OK);
    memcpy(&before, &spec, sizeof spec);
    noise_state = 1;
    assay_accept_element e = dot(MIXED_SIGNS, SOUND, 100, &rho), bad = e;
    bad.y = 1e10;
    assay__accept_bounds(&e, &spec, &first[0], &first[1]);
    assay_accept_verdict verdict = assay__accept(&e, &spec);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(assay__accept(&bad, &spec), ASSAY_ACCEPT_FAIL);
    assay__accept_bounds(&e, &spec, &again[0], &again[1]);
    ck_assert(memcmp(first, again, sizeof first) == 0);
    ck_assert_int_eq(assay__accept(&e, &spec), verdict);
    ck_assert(memcmp(&before, &spec, sizeof spec) == 0);
}
END_TEST

START_TEST(nan_never_passes)
{
    assay_accept_spec sum, soft, each;
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, 8, &sum), ASSAY_OK);
    ck_assert_int_eq(assay__accept_softmax(ASSAY_F32, ASSAY_F32, 8, 2.0, &soft), ASSAY_OK);
    ck_assert_int_eq(assay__accept_elementwise(ASSAY_F32, UINT64_MAX, &each), ASSAY_OK);
    const assay_accept_spec *specs[] = {&sum, &soft, &each};
    for (int i = 0; i < 3; i++) {
        assay_accept_element e = {.y = NAN, .hi = 1.0, .magnitude = 1.0};
        ck_assert_int_eq(assay__accept(&e, specs[i]), ASSAY_ACCEPT_FAIL);
        e.y = 1.0, e.hi = NAN;
        ck_assert_int_eq(assay__accept(&e, specs[i]), ASSAY_ACCEPT_FAIL);
        e.y = NAN;
        ck_assert_int_eq(assay__accept(&e, specs[i]), ASSAY_ACCEPT_PASS);
    }
    assay_accept_element e = {.y = 1.1, .hi = 1.0, .magnitude = NAN};
    ck_assert_int_eq(assay__accept(&e, &sum), ASSAY_ACCEPT_FAIL);
    e = (assay_accept_element){.y = 1.1, .hi = 1.0, .depth = NAN};
    ck_assert_int_eq(assay__accept(&e, &soft), ASSAY_ACCEPT_FAIL);
}
END_TEST

START_TEST(elementwise_counts_steps)
{
    assay_accept_spec spec;
    ck_assert_int_eq(assay__accept_elementwise(ASSAY_F32, 1, &spec), ASSAY_OK);
    double step = 0x1p-23;
    assay_accept_element e = {.y = 1.5 + step, .hi = 1.5};
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_PASS);
    e.y = 1.5 + 2 * step;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    spec.max_dist = 0;
    e = (assay_accept_element){.y = 1.0, .hi = 1.0 + 0.5 * step, .lo = 0x1p-60, .bound = 0x1p-58};
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_PASS); /* either rounding may be it */
    e.bound = 0.0;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
}
END_TEST

START_TEST(policies_open_one_class_each)
{
    assay_accept_spec spec;
    assay_accept_element flush = {.y = 0.0, .hi = 0x1p-140}, sign = {.y = 0.0, .hi = -0.0};
    assay_accept_element over = {.y = INFINITY, .hi = 1.0};
    ck_assert_int_eq(assay__accept_elementwise(ASSAY_F32, 4, &spec), ASSAY_OK);
    ck_assert_int_eq(assay__accept(&flush, &spec), ASSAY_ACCEPT_FAIL);
    ck_assert_int_eq(assay__accept(&sign, &spec), ASSAY_ACCEPT_PASS);
    ck_assert_int_eq(assay__accept(&over, &spec), ASSAY_ACCEPT_FAIL);
    spec.allows_flush = true;
    ck_assert_int_eq(assay__accept(&flush, &spec), ASSAY_ACCEPT_PASS);
    ck_assert_int_eq(assay__accept(&over, &spec), ASSAY_ACCEPT_FAIL);
    spec.is_strict_zero = true;
    ck_assert_int_eq(assay__accept(&sign, &spec), ASSAY_ACCEPT_FAIL);
}
END_TEST

START_TEST(sums_at_the_overflow_threshold_may_fall_either_way)
{
    assay_accept_spec spec;
    double top = 0x1.fffffep127;
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, 64, &spec), ASSAY_OK);
    assay_accept_element e = {.y = INFINITY, .hi = top, .magnitude = top};
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_PASS);
    e.y = -INFINITY;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    e.y = INFINITY;
    e.hi = e.magnitude = 0.5 * top;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    e.y = top;
    e.hi = e.magnitude = 2.0 * top;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
}
END_TEST

/* A row of softmax in f32, against f64; `skip_max` leaves the maximum in. */
static int softmax_failures(double spread, bool narrow_exp)
{
    enum { COLS = 256 };
    assay_accept_spec spec;
    float x[COLS], p[COLS], top = -INFINITY, sum = 0.0f;
    double exact[COLS], exact_sum = 0.0;
    int failed = 0;
    ck_assert_int_eq(assay__accept_softmax(ASSAY_F32, ASSAY_F32, COLS, 1.0, &spec), ASSAY_OK);
    for (int i = 0; i < COLS; i++) {
        x[i] = (float)(spread * normal());
        top = fmaxf(top, x[i]);
    }
    for (int i = 0; i < COLS; i++) {
        exact_sum += exact[i] = exp((double)x[i] - (double)top);
        p[i] = expf(x[i] - top);
        if (narrow_exp)
            p[i] = (float)assay_round_f64(ASSAY_BF16, (double)p[i]);
        sum += p[i];
    }
    for (int i = 0; i < COLS; i++) {
        assay_accept_element e = {.y = (double)(p[i] / sum),
                                  .hi = exact[i] / exact_sum,
                                  .bound = 0x1p-50 * exact[i] / exact_sum,
                                  .depth = (double)top - (double)x[i]};
        failed += assay__accept(&e, &spec) == ASSAY_ACCEPT_FAIL;
    }
    return failed;
}

START_TEST(softmax_bound_holds_and_catches)
{
    noise_state = 6;
    for (int round = 0; round < 50; round++) {
        ck_assert_int_eq(softmax_failures(1.0, false), 0);
        ck_assert_int_eq(softmax_failures(30.0, false), 0);
        ck_assert_int_gt(softmax_failures(1.0, true), 100);
    }
}
END_TEST

START_TEST(batches_count_and_merge)
{
    const float y[] = {1.0f, 2.0f, 3.0f};
    const double hi[] = {1.0, 2.5, 3.0}, magnitude[] = {1.0, 2.5, 3.0};
    assay_error_batch b = {.y = y, .hi = hi, .magnitude = magnitude, .first = 100, .count = 3};
    assay_accept_counts a, c;
    assay_accept_spec spec;
    assay__accept_counts_init(&a);
    assay__accept_counts_init(&c);
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, 8, &spec), ASSAY_OK);
    ck_assert_int_eq(assay__accept_batch(&b, NULL, &spec, &a), ASSAY_OK);
    ck_assert_uint_eq(a.failed, 1);
    ck_assert_uint_eq(a.first_failed, 101);
    ck_assert(a.worst_share > 1000.0);
    b.first = 50;
    ck_assert_int_eq(assay__accept_batch(&b, NULL, &spec, &c), ASSAY_OK);
    assay__accept_counts_merge(&a, &c);
    ck_assert_uint_eq(a.failed, 2);
    ck_assert_uint_eq(a.first_failed, 51);
    b.magnitude = NULL;
    ck_assert_int_eq(assay__accept_batch(&b, NULL, &spec, &a), ASSAY_INVALID);
    ck_assert_int_eq(assay__accept_softmax(ASSAY_F32, ASSAY_F32, 8, 1.0, &spec), ASSAY_OK);
    ck_assert_int_eq(assay__accept_batch(&b, NULL, &spec, &a), ASSAY_INVALID);
}
END_TEST

/* Whole results: as many steps off as allowed, beyond what a double tells apart. */
START_TEST(integers_count_units)
{
    static const int64_t y[] = {0x20000000000001, 0x20000000000002, 0x20000000000003};
    static const double hi[] = {0x1p53, 0x1p53, 0x1p53}, lo[] = {1, 1, 1};
    assay_error_batch b = {.y = y, .hi = hi, .lo = lo, .count = 3};
    assay_accept_spec spec;
    assay_accept_counts counts;

    for (uint64_t allowed = 0; allowed < 3; allowed++) {
        ck_assert_int_eq(assay__accept_elementwise(ASSAY_I64, allowed, &spec), ASSAY_OK);
        assay__accept_counts_init(&counts);
        ck_assert_int_eq(assay__accept_batch(&b, NULL, &spec, &counts), ASSAY_OK);
        ck_assert_uint_eq(counts.failed, 2 - allowed);
        ck_assert_uint_eq(counts.first_failed, allowed < 2 ? allowed + 1 : ASSAY_ERROR_NONE);
    }
    assay_accept_element e = {.y_whole = 3, .hi = NAN};
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
}
END_TEST

START_TEST(bad_specs_are_refused)
{
    assay_accept_spec spec;
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_F32, -1, &spec), ASSAY_INVALID);
    ck_assert_int_eq(assay__accept_contraction(ASSAY_I32, ASSAY_F32, 8, &spec), ASSAY_INVALID);
    ck_assert_int_eq(assay__accept_contraction(ASSAY_F32, ASSAY_I8, 8, &spec), ASSAY_INVALID);
    ck_assert_int_eq(assay__accept_softmax(ASSAY_F32, ASSAY_F32, 8, NAN, &spec), ASSAY_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("accept");
    TCase *sums = tcase_create("contraction"), *other = tcase_create("other");

    suite_add_tcase(suite, sums);
    suite_add_tcase(suite, other);
    tcase_set_timeout(sums, 60);
    tcase_add_test(sums, sound_sums_pass_without_warning);
    tcase_add_test(sums, rounded_operands_are_betrayed_by_rho_not_by_integers);
    tcase_add_test(sums, narrow_accumulator_fails_on_positive_data);
    tcase_add_test(sums, dropped_term_fails);
    tcase_add_test(sums, operand_rounding_is_allowed_only_when_said);
    tcase_add_test(sums, sums_at_the_overflow_threshold_may_fall_either_way);
    tcase_add_test(other, tolerance_is_a_pure_function);
    tcase_add_test(other, nan_never_passes);
    tcase_add_test(other, elementwise_counts_steps);
    tcase_add_test(other, policies_open_one_class_each);
    tcase_add_test(other, softmax_bound_holds_and_catches);
    tcase_add_test(other, batches_count_and_merge);
    tcase_add_test(other, integers_count_units);
    tcase_add_test(other, bad_specs_are_refused);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_rng.c -- known answers and distribution of the seeded generator. */

#include "support/rng.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Published answers: splitmix64 from seed 1234567, xoshiro256** from state 1, 2, 3, 4. */
START_TEST(bits_match_published_answers)
{
    static const uint64_t mixed[] = {6457827717110365317U, 3203168211198807973U,
                                     9817491932198370423U, 4593380528125082431U,
                                     16408922859458223821U};
    static const uint64_t starred[] = {11520U,
                                       0U,
                                       1509978240U,
                                       1215971899390074240U,
                                       1216172134540287360U,
                                       607988272756665600U,
                                       16172922978634559625U,
                                       8476171486693032832U,
                                       10595114339597558777U,
                                       2904607092377533576U};
    uint64_t state = 1234567;
    assay__rng rng = {{1, 2, 3, 4}};

    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(assay__splitmix64(&state), mixed[i]);
    for (size_t i = 0; i < 10; i++)
        ck_assert_uint_eq(assay__rng_bits(&rng), starred[i]);
}
END_TEST

/* Answers of this generator itself: they hold on every machine, or stored seeds mean nothing. */
START_TEST(bits_of_a_seed_never_change)
{
    assay__rng rng;

    assay__rng_seed(&rng, 1, 0);
    ck_assert_uint_eq(assay__rng_bits(&rng), 17254933023648552173U);
    ck_assert_uint_eq(assay__rng_bits(&rng), 10273995337764303472U);
    assay__rng_seed_named(&rng, 1, "matmul");
    ck_assert_uint_eq(assay__rng_bits(&rng), 1623138073121191626U);
    static const double normals[] = {0x1.97adaff7cc058p-3, -0x1.6be4bd32354d8p+0,
                                     0x1.008c109ff7f32p+0, 0x1.28a20ce471a01p-1};
    assay__rng_seed(&rng, 7, 3);
    for (size_t i = 0; i < 4; i++) {
        const double got = assay__rng_normal(&rng);
        ck_assert_msg(got == normals[i], "normal %zu is %a", i, got);
    }
}
END_TEST

START_TEST(bits_differ_between_seeds_and_streams)
{
    assay__rng left, right;

    assay__rng_seed(&left, 1, 0);
    assay__rng_seed(&right, 1, 1);
    ck_assert_uint_ne(assay__rng_bits(&left), assay__rng_bits(&right));
    assay__rng_seed(&right, 2, 0);
    ck_assert_uint_ne(assay__rng_bits(&left), assay__rng_bits(&right));
    assay__rng_seed(&left, 0, 0);
    ck_assert_uint_ne(left.state[0] | left.state[1] | left.state[2] | left.state[3], 0);
    assay__rng_seed_named(&left, 5, "a");
    assay__rng_seed_named(&right, 5, "b");
    ck_assert_uint_ne(assay__rng_bits(&left), assay__rng_bits(&right));
}
END_TEST

START_TEST(uniform_fills_the_interval)
{
    enum { N = 200000 };
    assay__rng rng;
    double sum = 0.0;
    size_t counts[16] = {0};

    assay__rng_seed(&rng, 11, 0);
    for (int i = 0; i < N; i++) {
        const double u = assay__rng_uniform(&rng);
        ck_assert(u >= 0.0 && u < 1.0);
        sum += u;
        counts[(size_t)(u * 16.0)]++;
    }
    ck_assert_double_eq_tol(sum / N, 0.5, 5.0 * 0.2887 / sqrt(N));
    for (size_t i = 0; i < 16; i++) /* 6 sigma of a binomial count */
        ck_assert_double_eq_tol((double)counts[i], N / 16.0, 6.0 * sqrt(N / 16.0));
}
END_TEST

START_TEST(below_is_bounded_and_even)
{
    enum { N = 60000 };
    assay__rng rng;
    size_t counts[6] = {0};

    assay__rng_seed(&rng, 12, 0);
    ck_assert_uint_eq(assay__rng_below(&rng, 0), 0);
    ck_assert_uint_eq(assay__rng_below(&rng, 1), 0);
    for (int i = 0; i < N; i++)
        counts[assay__rng_below(&rng, 6)]++;
    for (size_t i = 0; i < 6; i++)
        ck_assert_double_eq_tol((double)counts[i], N / 6.0, 6.0 * sqrt(N / 6.0));
}
END_TEST

/* Moments, and the share beyond 1, 2 and 3 sigma (the tails that a sum of uniforms gets wrong). */
START_TEST(normal_has_the_right_moments_and_tails)
{
    enum { N = 300000 };
    static const double beyond[] = {1.0, 0.3173105, 0.0455003, 0.0026998};
    assay__rng rng;
    double sum = 0.0, squares = 0.0, fourths = 0.0;
    size_t tails[4] = {0};

    assay__rng_seed(&rng, 13, 0);
    for (int i = 0; i < N; i++) {
        const double z = assay__rng_normal(&rng);
        sum += z;
        squares += z * z;
        fourths += z * z * z * z;
        for (size_t t = 0; t < 4; t++)
            tails[t] += fabs(z) >= (double)t;
    }
    ck_assert_double_eq_tol(sum / N, 0.0, 5.0 / sqrt(N));
    ck_assert_double_eq_tol(squares / N, 1.0, 5.0 * sqrt(2.0 / N));
    ck_assert_double_eq_tol(fourths / N, 3.0, 5.0 * sqrt(96.0 / N));
    for (size_t t = 1; t < 4; t++)
        ck_assert_double_eq_tol((double)tails[t] / N, beyond[t], 5.0 * sqrt(beyond[t] / N));
}
END_TEST

START_TEST(shuffle_keeps_every_index)
{
    size_t indices[100], seen[100] = {0}, moved = 0;
    assay__rng rng;

    for (size_t i = 0; i < 100; i++)
        indices[i] = i;
    assay__rng_seed(&rng, 14, 0);
    assay__rng_shuffle(&rng, indices, 100);
    for (size_t i = 0; i < 100; i++) {
        seen[indices[i]]++;
        moved += indices[i] != i;
    }
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_eq(seen[i], 1);
    ck_assert_uint_gt(moved, 80);
    assay__rng_shuffle(&rng, indices, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rng");
    TCase *bits_case = tcase_create("bits");
    TCase *uniform_case = tcase_create("uniform");
    TCase *below_case = tcase_create("below");
    TCase *normal_case = tcase_create("normal");
    TCase *shuffle_case = tcase_create("shuffle");

    tcase_add_test(bits_case, bits_match_published_answers);
    tcase_add_test(bits_case, bits_of_a_seed_never_change);
    tcase_add_test(bits_case, bits_differ_between_seeds_and_streams);
    tcase_add_test(uniform_case, uniform_fills_the_interval);
    tcase_add_test(below_case, below_is_bounded_and_even);
    tcase_add_test(normal_case, normal_has_the_right_moments_and_tails);
    tcase_add_test(shuffle_case, shuffle_keeps_every_index);
    suite_add_tcase(suite, bits_case);
    suite_add_tcase(suite, uniform_case);
    suite_add_tcase(suite, below_case);
    suite_add_tcase(suite, normal_case);
    suite_add_tcase(suite, shuffle_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

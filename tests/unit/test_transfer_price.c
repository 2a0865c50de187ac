/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_transfer_price.c -- what moving bytes costs, from measured sizes; and measuring
 * them, on a clock of our own. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/transfer_price.h"
#include "tuner/transfers.h"

static const assay__transfer_point points[] = {
    {1000, 500, 450, 600}, {2000, 700, 650, 800}, {10000, 1500, 1400, 1700}};

static double median_of(size_t count, double bytes)
{
    double out[3];

    ck_assert(assay__transfer_price(points, count, bytes, out));
    ck_assert(out[1] <= out[0] && out[0] <= out[2]);
    return out[0];
}

START_TEST(price_is_that_of_the_measured_sizes)
{
    double out[3];

    for (size_t i = 0; i < 3; i++) {
        ck_assert(assay__transfer_price(points, 3, points[i].bytes, out));
        ck_assert_double_eq_tol(out[0], points[i].median_ns, 1e-9);
        ck_assert_double_eq_tol(out[1], points[i].lo_ns, 1e-9);
        ck_assert_double_eq_tol(out[2], points[i].hi_ns, 1e-9);
    }
}
END_TEST

START_TEST(price_lies_on_lines_between_sizes)
{
    double out[3];

    ck_assert_double_eq_tol(median_of(3, 1500), 600, 1e-9);
    ck_assert(assay__transfer_price(points, 3, 4000, out));
    ck_assert_double_eq_tol(out[0], 900, 1e-9);
    ck_assert_double_eq_tol(out[1], 837.5, 1e-9);
    ck_assert_double_eq_tol(out[2], 1025, 1e-9);
}
END_TEST

START_TEST(price_below_the_first_size_is_latency)
{
    ck_assert_double_eq_tol(median_of(3, 999), 500, 1e-9);
    ck_assert_double_eq_tol(median_of(3, 1), 500, 1e-9);
    ck_assert(!(median_of(3, 0) > 0));
}
END_TEST

START_TEST(price_beyond_the_last_size_goes_on)
{
    ck_assert_double_eq_tol(median_of(3, 20000), 2500, 1e-9);
    ck_assert_double_eq_tol(median_of(2, 10000), 2300, 1e-9);
}
END_TEST

START_TEST(price_of_one_size_goes_on_by_its_rate)
{
    ck_assert_double_eq_tol(median_of(1, 10), 500, 1e-9);
    ck_assert_double_eq_tol(median_of(1, 1000), 500, 1e-9);
    ck_assert_double_eq_tol(median_of(1, 3000), 1500, 1e-9);
}
END_TEST

START_TEST(price_without_sizes_is_unknown)
{
    double out[3] = {-1, -1, -1};

    ck_assert(!assay__transfer_price(points, 0, 100, out));
    ck_assert(!assay__transfer_price(NULL, 0, 0, out));
    ck_assert(!assay__transfer_price(points, 3, NAN, out));
    ck_assert(!assay__transfer_price(points, 3, -1, out));
    ck_assert(out[0] < 0);
}
END_TEST

/* Whatever noise says of the sizes. */
START_TEST(price_never_falls_with_bytes)
{
    assay__transfer_point noisy[6];
    double before[3] = {0, 0, 0}, out[3];

    srand((unsigned)_i);
    for (size_t i = 0; i < 6; i++) {
        const double ns = 100 + rand() % 1000;
        noisy[i] = (assay__transfer_point){ldexp(1, 10 + (int)i), ns, ns * (rand() % 100) / 100,
                                           ns * (100 + rand() % 100) / 100};
    }
    for (double bytes = 1; bytes < 1e6; bytes = bytes * 1.01 + 1) {
        ck_assert(assay__transfer_price(noisy, 6, bytes, out));
        ck_assert_msg(out[1] <= out[0] && out[0] <= out[2], "%g bytes", bytes);
        for (int i = 0; i < 3; i++) {
            ck_assert_msg(out[i] >= before[i] * (1 - 1e-12), "%d of %g bytes: %g after %g", i,
                          bytes, out[i], before[i]);
            before[i] = out[i];
        }
    }
    ck_assert(isfinite(out[2]));
    ck_assert(out[0] > noisy[5].median_ns); /* 30 times its bytes */
}
END_TEST

START_TEST(what_cannot_be_is_not_sound)
{
    static const assay__transfer_point bad[] = {
        {0, 2, 1, 3},   {1, -1, -1, 3}, {1, 2, 3, 4},   {1, 2, 1, 1},       {1, NAN, 1, 3},
        {1, 2, NAN, 3}, {1, 2, 1, NAN}, {NAN, 2, 1, 3}, {1, 2, 1, INFINITY}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!assay__transfer_is_sound(&bad[i]), "number %zu", i);
    ck_assert(assay__transfer_is_sound(&points[0]));
}
END_TEST

/* ---- measuring ---- */

typedef struct machine {
    double now_ns, per_call_ns, per_byte_ns, first_ns;
    size_t calls;
} machine;

static double now_of(void *cookie)
{
    return ((machine *)cookie)->now_ns;
}

static assay_status move(void *cookie, uint64_t bytes)
{
    machine *m = cookie;

    m->now_ns +=
        m->per_call_ns + m->per_byte_ns * (double)bytes + (m->calls == 0 ? m->first_ns : 0);
    m->calls++;
    return m->calls < 1000000 ? ASSAY_OK : ASSAY_INTERNAL;
}

static json_t *measured(machine *m, double seconds, uint64_t most)
{
    const assay__transfer_run run = {now_of, move, m};
    json_t *sizes = json_array();

    ck_assert_int_eq(assay__transfer_measure(&run, m->now_ns + seconds * 1e9, most, sizes),
                     ASSAY_OK);
    return sizes;
}

static const json_t *samples_of(const json_t *sizes, size_t i)
{
    return json_object_get(json_array_get(sizes, i), "samples");
}

START_TEST(sizes_are_measured_from_4_kib_to_64_mib)
{
    /* The first call sets something up. */
    machine m = {.per_call_ns = 200, .per_byte_ns = 0.1, .first_ns = 1e6};
    json_t *sizes = measured(&m, 1, UINT64_C(1) << 40);
    size_t n = 0;

    ck_assert_uint_eq(assay__transfer_size(0), 4096);
    for (; assay__transfer_size(n) != 0; n++) {
        const json_t *samples = samples_of(sizes, n);
        const double bytes = (double)assay__transfer_size(n);
        ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(sizes, n), "bytes")),
                         (json_int_t)assay__transfer_size(n));
        ck_assert_uint_ge(json_array_size(samples), 7);
        for (size_t i = 0; i < json_array_size(samples); i++)
            ck_assert_double_eq_tol(json_number_value(json_array_get(samples, i)),
                                    200 + 0.1 * bytes, 1e-3 + 1e-9 * bytes);
    }
    ck_assert_uint_eq(assay__transfer_size(n - 1), UINT64_C(64) << 20);
    ck_assert_uint_eq(json_array_size(sizes), n);
    json_decref(sizes);
}
END_TEST

START_TEST(sizes_end_with_the_time_or_the_memory)
{
    machine slow = {.per_call_ns = 200, .per_byte_ns = 1}, none = slow, small = slow;
    json_t *sizes = measured(&slow, 0.08, UINT64_C(1) << 40);
    const size_t count = json_array_size(sizes);

    ck_assert_uint_gt(count, 3);
    ck_assert_uint_eq(assay__transfer_size(count - 1), UINT64_C(4) << 20);
    ck_assert_msg(slow.now_ns < 0.08e9, "%g s", slow.now_ns / 1e9);
    json_decref(sizes);
    sizes = measured(&none, 0, UINT64_C(1) << 40);
    ck_assert_uint_eq(json_array_size(sizes), 1); /* the first in any case */
    ck_assert_uint_ge(json_array_size(samples_of(sizes, 0)), 7);
    json_decref(sizes);
    sizes = measured(&small, 1, 20000);
    ck_assert_uint_eq(json_array_size(sizes), 2);
    json_decref(sizes);
}
END_TEST

START_TEST(a_path_that_fails_says_so)
{
    machine m = {.per_call_ns = 1e-3, .calls = 999990};
    const assay__transfer_run run = {now_of, move, &m};
    json_t *sizes = json_array();

    ck_assert_int_eq(assay__transfer_measure(&run, 1e9, 4096, sizes), ASSAY_INTERNAL);
    ck_assert_uint_eq(json_array_size(sizes), 0);
    json_decref(sizes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transfer_price");
    TCase *price = tcase_create("price"), *measure = tcase_create("measure");

    tcase_add_test(price, price_is_that_of_the_measured_sizes);
    tcase_add_test(price, price_lies_on_lines_between_sizes);
    tcase_add_test(price, price_below_the_first_size_is_latency);
    tcase_add_test(price, price_beyond_the_last_size_goes_on);
    tcase_add_test(price, price_of_one_size_goes_on_by_its_rate);
    tcase_add_test(price, price_without_sizes_is_unknown);
    tcase_add_loop_test(price, price_never_falls_with_bytes, 1, 20);
    tcase_add_test(price, what_cannot_be_is_not_sound);
    tcase_add_test(measure, sizes_are_measured_from_4_kib_to_64_mib);
    tcase_add_test(measure, sizes_end_with_the_time_or_the_memory);
    tcase_add_test(measure, a_path_that_fails_says_so);
    suite_add_tcase(suite, price);
    suite_add_tcase(suite, measure);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

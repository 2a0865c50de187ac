/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_exact_unary.c -- abs, neg and sqrt by their definitions, by every kernel of every
 * plug-in: the sign bit and no other; the nearest of three values, by squares that are exact.
 *
 * Neither the oracle nor the C library's root takes part. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* All patterns of 16 bits; of wider types those are the upper ones, each with three endings. Not a
 * multiple of any vector, so that tails take part. */
enum { HIGH = 1 << 16, COUNT = 3 * HIGH + 13 };

static uint64_t pattern(size_t bytes, uint64_t i)
{
    uint64_t high = i % HIGH, state = i, random = plugin_random(&state);
    uint64_t endings[] = {0, 1, random};

    if (bytes == 2)
        return high;
    uint64_t ending = endings[i / HIGH % 3] & (UINT64_MAX >> (80 - 8 * bytes));
    return high << (8 * bytes - 16) | ending;
}

static uint64_t bits_at(const plugin_case *c, uint32_t operand, int64_t i)
{
    size_t bytes = assay_dtype_bytes(c->operands[operand].dtype);
    const char *data = assay_tensor_data(&c->operands[operand]);
    uint64_t bits = 0;

    memcpy(&bits, data + (size_t)i * bytes, bytes);
    return bits;
}

static void run(assay_op_id op, assay_dtype t, every_kernel_fn check)
{
    size_t bytes = assay_dtype_bytes(t);
    plugin_case c;
    char params[32];

    snprintf(params, sizeof params, "n=%d", COUNT);
    plugin_case_init(&c, op, t, params, 0);
    plugin_case_poison(&c);
    for (int64_t i = 0; i < COUNT; i++) {
        uint64_t bits = pattern(bytes, (uint64_t)i);
        memcpy((char *)assay_tensor_data(&c.operands[0]) + (size_t)i * bytes, &bits, bytes);
    }
    ck_assert_int_ge(every_kernel(&c, check, NULL), 2);
    plugin_case_clear(&c);
}

/* ---- signs ----------------------------------------------------------------------------------- */

/* A library may make a signaling NaN a quiet one, and give it any sign. */
static bool keeps_payload(const assay_kernel_desc *k)
{
    return k->libraries == NULL || k->libraries[0] == NULL;
}

static void check_sign(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    uint64_t sign = (uint64_t)1 << (8 * assay_dtype_bytes((assay_dtype)k->dtypes[0]) - 1);

    (void)cookie;
    for (int64_t i = 0; i < c->elements; i++) {
        uint64_t x = bits_at(c, 0, i), y = bits_at(c, 1, i);
        double in = plugin_case_get(c, 0, i), out = plugin_case_get(c, 1, i);
        if (!keeps_payload(k) && isnan(in) && isnan(out))
            continue;
        ck_assert_msg(y == (k->op == ASSAY_OP_abs ? x & ~sign : x ^ sign),
                      "%s %s of 0x%llx: 0x%llx", k->name,
                      assay_dtype_name((assay_dtype)k->dtypes[0]), (unsigned long long)x,
                      (unsigned long long)y);
    }
}

START_TEST(the_sign_bit_changes_and_no_other)
{
    run(ASSAY_OP_abs, floats[_i], check_sign);
    run(ASSAY_OP_neg, floats[_i], check_sign);
}
END_TEST

/* ---- roots ----------------------------------------------------------------------------------- */

static double of_bits(assay_dtype t, uint64_t bits)
{
    return assay_load_f64(t, &bits, 0);
}

static bool is_same(double a, double b)
{
    return a >= b && a <= b && signbit(a) == signbit(b);
}

/* y is the value nearest to the root of x > 0 when x lies between the squares of the midpoints
 * around it, which have 25 bits at most. No root is subnormal, nor a midpoint. */
static bool is_root(assay_dtype t, double x, uint64_t y)
{
    double low = 0.5 * (of_bits(t, y - 1) + of_bits(t, y));
    double high = 0.5 * (of_bits(t, y) + of_bits(t, y + 1));

    return low > 0.0 && low * low < x && x < high * high;
}

/* The same of f64, whose midpoints have 54 bits: x is below (y + h)^2 = y^2 + 2 h y + h^2, with h
 * half a step, when what is left of it is at most 2 h y, being a multiple of 4 h^2 where it is
 * exact; and above the other square alike. The step down from a power of two is shorter. */
static bool is_root_of_f64(double x, uint64_t bits)
{
    double y = of_bits(ASSAY_F64, bits), rest = fma(-y, y, x);
    double down = y - of_bits(ASSAY_F64, bits - 1), up = of_bits(ASSAY_F64, bits + 1) - y;

    return y > 0.0 && isfinite(y) && rest > -down * y && rest <= up * y;
}

static bool is_due(assay_dtype t, double x, uint64_t bits)
{
    double y = of_bits(t, bits);

    if (isnan(x) || x < 0.0)
        return isnan(y);
    if (!(x > 0.0) || isinf(x))
        return is_same(y, x);
    if (t != ASSAY_F64)
        return is_root(t, x, bits);
    /* Below, what is left of x is no double. */
    return x < 0x1p-900 ? isfinite(y) && y > 0.0 : is_root_of_f64(x, bits);
}

static void check_root(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    assay_dtype t = (assay_dtype)k->dtypes[0];

    (void)cookie;
    for (int64_t i = 0; i < c->elements; i++)
        ck_assert_msg(is_due(t, plugin_case_get(c, 0, i), bits_at(c, 1, i)), "%s %s of %a: %a",
                      k->name, assay_dtype_name(t), plugin_case_get(c, 0, i),
                      plugin_case_get(c, 1, i));
}

START_TEST(roots_are_correctly_rounded)
{
    run(ASSAY_OP_sqrt, floats[_i], check_root);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact_unary");
    TCase *tcase = tcase_create("exact_unary");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, every_kernel_open, every_kernel_close);
    tcase_add_loop_test(tcase, the_sign_bit_changes_and_no_other, 0, FLOATS);
    tcase_add_loop_test(tcase, roots_are_correctly_rounded, 0, FLOATS);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

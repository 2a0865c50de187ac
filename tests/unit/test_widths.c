/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_widths.c -- elementwise kernels of 512 bits give the bits of those of 256.
 *
 * Loops over the manifest: cpu_<x>_avx512 has its twin in cpu_<x>_avx2, and what was proven of one
 * holds for the other. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *cpu;
static assay_instance *instance;

static void setup(void)
{
    cpu = plugin_load("cpu");
    ck_assert(plugin_all_open(cpu, &instance));
}

static void teardown(void)
{
    plugin_all_close(cpu, &instance);
}

/* Those that begin otherwise and end within their claims, not at the same bits. */
static bool begins_otherwise(const assay_kernel_desc *k)
{
    return k->op == ASSAY_OP_rsqrt;
}

/* NULL: k is not of 512 bits, not elementwise, or one of the two does not run here. */
static const assay_kernel_desc *twin_of(const assay_kernel_desc *k)
{
    const char *level = strstr(k->name, "_avx512");
    char name[64];

    if (level == NULL || assay_op_get(k->op)->family != ASSAY_FAMILY_ELEMENTWISE_UNARY ||
        begins_otherwise(k) || !plugin_all_runs(cpu, instance, k))
        return NULL;
    snprintf(name, sizeof name, "%.*s_avx2", (int)(level - k->name), k->name);
    const assay_kernel_desc *twin = plugin_kernel(cpu, k->op, (assay_dtype)k->dtypes[0], name);
    ck_assert_msg(twin != NULL, "%s has no twin %s", k->name, name);
    return twin;
}

/* Not a multiple of any vector, so that tails take part. */
enum { COUNT = (1 << 18) + 13 };

/* Every sign and exponent of the type, with mantissas from a sequence without a period here; half
 * of the wide ones near one, where functions do most. */
static uint64_t pattern(size_t bytes, uint64_t i)
{
    uint64_t state = i, random = plugin_random(&state);

    if (bytes == 2)
        return i & 0xffff;
    if (bytes == 4)
        return i % 2 == 0
                   ? random >> 32
                   : (random & 0x80ffffff) + (uint64_t)(0x3a000000 + (int)(i % 14 << 24) / 2);
    return i % 2 == 0 ? random
                      : (random & 0x800fffffffffffff) + ((uint64_t)(1023 - 12 + i % 24) << 52);
}

static bool is_nan(const plugin_case *c, int64_t i)
{
    double y = plugin_case_get(c, 1, i);

    return isnan(y);
}

static void compare(const assay_kernel_desc *k, const assay_kernel_desc *twin)
{
    const int64_t tunables[ASSAY_MAX_TUNABLES] = {1};
    size_t bytes = assay_dtype_bytes((assay_dtype)k->dtypes[0]);
    plugin_case a, b;
    char params[32];

    snprintf(params, sizeof params, "n=%d", COUNT);
    plugin_case_init(&a, k->op, (assay_dtype)k->dtypes[0], params, 0);
    plugin_case_init(&b, k->op, (assay_dtype)k->dtypes[0], params, 16);
    for (int64_t i = 0; i < COUNT; i++) {
        uint64_t bits = pattern(bytes, (uint64_t)i);
        memcpy((char *)assay_tensor_data(&a.operands[0]) + (size_t)i * bytes, &bits, bytes);
        memcpy((char *)assay_tensor_data(&b.operands[0]) + (size_t)i * bytes, &bits, bytes);
    }
    ck_assert_int_eq(plugin_case_run(&a, k, tunables), ASSAY_OK);
    ck_assert_int_eq(plugin_case_run(&b, twin, tunables), ASSAY_OK);
    const char *wide = assay_tensor_data(&a.operands[1]),
               *narrow = assay_tensor_data(&b.operands[1]);
    for (int64_t i = 0; i < COUNT; i++)
        ck_assert_msg(memcmp(wide + (size_t)i * bytes, narrow + (size_t)i * bytes, bytes) == 0 ||
                          (is_nan(&a, i) && is_nan(&b, i)),
                      "%s %s of %a: %a, not %a", k->name, assay_dtype_name(k->dtypes[0]),
                      plugin_case_get(&a, 0, i), plugin_case_get(&a, 1, i),
                      plugin_case_get(&b, 1, i));
    plugin_case_clear(&a);
    plugin_case_clear(&b);
}

START_TEST(wide_kernels_give_the_bits_of_narrow_ones)
{
    for (size_t i = 0; i < cpu->kernel_count; i++) {
        const assay_kernel_desc *k = &cpu->kernels[i], *twin = twin_of(k);
        if (twin != NULL)
            compare(k, twin);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("widths");
    TCase *tcase = tcase_create("width");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, wide_kernels_give_the_bits_of_narrow_ones);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cast.c -- ASSAY_OP_cast: laws by hand, kernels bit for bit, hard inputs. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/inputs.h"
#include "calibrate/special_values.h"
#include "calibrate/ulp.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref, *cpu;

static void setup(void)
{
    ref = plugin_load("ref");
    cpu = plugin_load("cpu");
}

static const assay_kernel_desc *find(const assay_manifest *m, const char *name, assay_dtype from,
                                     assay_dtype to)
{
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        if (k->op == ASSAY_OP_cast && k->dtypes[0] == from && k->dtypes[1] == to &&
            strcmp(k->name, name) == 0)
            return k;
    }
    ck_abort_msg("no %s of %s,%s", name, assay_dtype_name(from), assay_dtype_name(to));
    return NULL;
}

static const char *const names[] = {"ref_cast", "cpu_cast_portable", "cpu_cast_avx2"};
#define NAMES 3

static bool runs(const assay_kernel_desc *k)
{
    return k->requires_isa == NULL ||
           (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

/* ---- laws, each by a value made by hand ---- */

static const struct law {
    assay_dtype from, to;
    uint64_t x, y; /* bits */
} laws[] = {
    /* one rounding, ties to even */
    {ASSAY_F32, ASSAY_BF16, 0x3f808000, 0x3f80},
    {ASSAY_F32, ASSAY_BF16, 0x3f818000, 0x3f82},
    {ASSAY_F32, ASSAY_BF16, 0x3f808001, 0x3f81},
    {ASSAY_F64, ASSAY_F32, 0x3ff0000010000000, 0x3f800000},
    {ASSAY_F64, ASSAY_F32, 0x3ff0000030000000, 0x3f800002},
    {ASSAY_F64, ASSAY_F32, 0x3ff0000010000001, 0x3f800001},
    /* never through f32: a tie there, no tie here */
    {ASSAY_F64, ASSAY_F16, 0x3ff0020000000001, 0x3c01},
    {ASSAY_F64, ASSAY_BF16, 0x3ff0100000000001, 0x3f81},
    {ASSAY_F64, ASSAY_F8E4M3, 0x3ff1000000000001, 0x39},
    {ASSAY_F64, ASSAY_F8E4M3, 0x3ff1000000000000, 0x38},
    {ASSAY_I64, ASSAY_F32, 0x4000004000000001, 0x5e800001}, /* a double would be the tie */
    {ASSAY_I64, ASSAY_F32, 0x4000004000000000, 0x5e800000},
    {ASSAY_I64, ASSAY_F64, 0x4000000000000200, 0x43d0000000000000},
    {ASSAY_I64, ASSAY_F64, 0x4000000000000201, 0x43d0000000000001},
    {ASSAY_I32, ASSAY_BF16, 0x01010001, 0x4b81},
    {ASSAY_U32, ASSAY_F32, 0xffffffff, 0x4f800000},
    {ASSAY_U32, ASSAY_F32, 0x80000080, 0x4f000000},
    {ASSAY_U32, ASSAY_F32, 0x80000081, 0x4f000001},
    /* subnormal results */
    {ASSAY_F64, ASSAY_BF16, 0x3790000000000001, 0x0001}, /* above half of 2^-133 */
    {ASSAY_F64, ASSAY_BF16, 0x3790000000000000, 0x0000},
    {ASSAY_F32, ASSAY_F8E4M3, 0x3a800000, 0x00}, /* 2^-10, a tie */
    {ASSAY_F32, ASSAY_F8E4M3, 0x3a800001, 0x01},
    {ASSAY_F32, ASSAY_F8E4M3, 0xba800000, 0x80},
    /* overflow: infinity, and NaN where there is none */
    {ASSAY_F64, ASSAY_F32, 0x47efffffefffffff, 0x7f7fffff},
    {ASSAY_F64, ASSAY_F32, 0x47effffff0000000, 0x7f800000},
    {ASSAY_F32, ASSAY_F16, 0x477fefff, 0x7bff},
    {ASSAY_F32, ASSAY_F16, 0x477ff000, 0x7c00},
    {ASSAY_F32, ASSAY_F8E4M3, 0x43e80000, 0x7e}, /* 464, the tie above 448 */
    {ASSAY_F32, ASSAY_F8E4M3, 0x43e80001, 0x7f},
    {ASSAY_F32, ASSAY_F8E4M3, 0xff800000, 0xff},
    {ASSAY_I32, ASSAY_F16, 65520, 0x7c00},
    {ASSAY_I32, ASSAY_F16, 65519, 0x7bff},
    /* signs of zero, NaNs */
    {ASSAY_F64, ASSAY_F16, 0x8000000000000000, 0x8000},
    {ASSAY_F64, ASSAY_F16, 0x8000000000000001, 0x8000},
    {ASSAY_F32, ASSAY_F64, 0x7f800001, 0x7ff8000020000000},
    {ASSAY_F32, ASSAY_F32, 0x7f800001, 0x7f800001}, /* the same type: bits */
    {ASSAY_BF16, ASSAY_BF16, 0x7f81, 0x7f81},
    {ASSAY_BF16, ASSAY_F32, 0x7f81, 0x7fc10000},
    {ASSAY_F8E4M3, ASSAY_F32, 0xff, 0xffc00000},
    {ASSAY_F8E4M3, ASSAY_F16, 0x01, 0x1800},
    /* to integers: truncated, clamped, NaN 0 */
    {ASSAY_F32, ASSAY_I32, 0xbfffffff, 0xffffffff},
    {ASSAY_F32, ASSAY_I32, 0x4f000000, 0x7fffffff},
    {ASSAY_F32, ASSAY_I32, 0xcf000001, 0x80000000},
    {ASSAY_F32, ASSAY_I32, 0x7fc00000, 0},
    {ASSAY_F32, ASSAY_U8, 0x437fffff, 255},
    {ASSAY_F32, ASSAY_U8, 0xc0400000, 0},
    {ASSAY_F32, ASSAY_I8, 0xc3008000, 0x80},
    {ASSAY_F64, ASSAY_U32, 0x41efffffffffffff, 0xffffffff},
    {ASSAY_F64, ASSAY_U32, 0x41e0000000100000, 0x80000000},
    {ASSAY_F64, ASSAY_I64, 0x43e0000000000000, 0x7fffffffffffffff},
    {ASSAY_F64, ASSAY_I64, 0x43dfffffffffffff, 0x7ffffffffffffc00},
    {ASSAY_F64, ASSAY_I64, 0xc3e0000000000000, 0x8000000000000000},
    {ASSAY_F64, ASSAY_I64, 0xc3e0000000000001, 0x8000000000000000},
    {ASSAY_F64, ASSAY_I64, 0xc1f0000000080000, 0xffffffff00000000},
    {ASSAY_F64, ASSAY_I64, 0xfff8000000000000, 0},
    {ASSAY_F16, ASSAY_I8, 0x5c00, 127},
    /* between integers: modulo */
    {ASSAY_I64, ASSAY_U8, 0x8000000000000102, 2},
    {ASSAY_I32, ASSAY_I8, 0x80, 0x80},
    {ASSAY_U32, ASSAY_I64, 0xffffffff, 0xffffffff},
    {ASSAY_I8, ASSAY_U32, 0xff, 0xffffffff},
    {ASSAY_I8, ASSAY_I64, 0x80, 0xffffffffffffff80},
    {ASSAY_U32, ASSAY_F64, 0xfffffffe, 0x41efffffffc00000},
};
#define LAWS ((int)(sizeof laws / sizeof *laws))

START_TEST(cast_laws)
{
    const struct law *l = &laws[_i / NAMES];
    const assay_kernel_desc *k =
        find(_i % NAMES == 0 ? ref : cpu, names[_i % NAMES], l->from, l->to);
    const int64_t tunables[ASSAY_MAX_TUNABLES] = {1, 0};
    size_t in = assay_dtype_bytes(l->from), out = assay_dtype_bytes(l->to);
    plugin_case c;

    if (!runs(k))
        return;
    plugin_case_of(&c, k, "n=21", 0); /* in every lane, and in the tail */
    for (size_t i = 0; i < 21; i++)
        memcpy((char *)assay_tensor_data(&c.operands[0]) + i * in, &l->x, in);
    ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
    for (size_t i = 0; i < 21; i++) {
        uint64_t y = 0;
        memcpy(&y, (char *)assay_tensor_data(&c.operands[1]) + i * out, out);
        ck_assert_msg(y == l->y, "%s %s,%s of 0x%llx: 0x%llx, not 0x%llx", k->name,
                      assay_dtype_name(l->from), assay_dtype_name(l->to), (unsigned long long)l->x,
                      (unsigned long long)y, (unsigned long long)l->y);
    }
    plugin_case_clear(&c);
}
END_TEST

/* ---- kernels agree bit for bit ---- */

#define N 20011

static void fill(plugin_case *c, assay_stratum s)
{
    if (assay_dtype_bytes(c->operands[0].dtype) <= 2) { /* all of them */
        for (int64_t i = 0; i < N; i++)
            memcpy((char *)assay_tensor_data(&c->operands[0]) +
                       (size_t)i * assay_dtype_bytes(c->operands[0].dtype),
                   &(uint64_t){(uint64_t)i * 13}, assay_dtype_bytes(c->operands[0].dtype));
        return;
    }
    ck_assert_msg(assay__inputs_fill(&c->problem, s, 3, 0, 0, N,
                                     assay_tensor_data(&c->operands[0])) == ASSAY_OK,
                  "%s", assay_last_error());
}

/* NaNs of every payload among them: the strata have one. */
static void add_payloads(plugin_case *c)
{
    assay_dtype from = c->operands[0].dtype;
    uint64_t seed = 9, top = 0;

    if (!assay_dtype_describe(from)->is_float || assay_dtype_bytes(from) < 4)
        return;
    assay_store_f64(from, &top, 0, INFINITY);
    for (int64_t i = 0; i < 64; i++) {
        uint64_t bits = top | plugin_random(&seed) >> (from == ASSAY_F64 ? 12 : 41);
        memcpy((char *)assay_tensor_data(&c->operands[0]) +
                   (size_t)(i * 7) * assay_dtype_bytes(from),
               &bits, assay_dtype_bytes(from));
    }
}

START_TEST(cast_kernels_agree_on_every_bit)
{
    static const int64_t variants[][2] = {{1, 0}, {1, 1}, {4, 0}, {2, 1}};
    assay_dtype from = (assay_dtype)(_i / ASSAY_DTYPE_COUNT),
                to = (assay_dtype)(_i % ASSAY_DTYPE_COUNT);
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t sets = assay__strata_preferred(ASSAY_OP_cast, ASSAY_STRATUM_COUNT, strata);

    if (from == ASSAY_F8E5M2 || to == ASSAY_F8E5M2)
        return;
    for (size_t s = 0; s < sets; s++) {
        const assay_kernel_desc *r = find(ref, "ref_cast", from, to);
        plugin_case want, got;
        plugin_case_of(&want, r, "n=20011", 0);
        fill(&want, strata[s]);
        if (s == 0)
            add_payloads(&want);
        ck_assert_int_eq(plugin_case_run(&want, r, NULL), ASSAY_OK);
        for (int v = 0; v < 5; v++) {
            const assay_kernel_desc *k =
                find(cpu, v < 4 ? "cpu_cast_avx2" : "cpu_cast_portable", from, to);
            if (!runs(k))
                continue;
            plugin_case_of(&got, k, "n=20011", v % 2 ? 8 : 0);
            memcpy(assay_tensor_data(&got.operands[0]), assay_tensor_data(&want.operands[0]),
                   N * assay_dtype_bytes(from));
            plugin_case_poison(&got);
            ck_assert_int_eq(plugin_case_run(&got, k, variants[v % 4]), ASSAY_OK);
            for (int64_t i = 0; i < N; i++)
                ck_assert_msg(
                    assay__element_bits(to, assay_tensor_data(&got.operands[1]), (size_t)i) ==
                        assay__element_bits(to, assay_tensor_data(&want.operands[1]), (size_t)i),
                    "%s %s,%s element %ld of %s: x 0x%llx gives 0x%llx, not 0x%llx", k->name,
                    assay_dtype_name(from), assay_dtype_name(to), (long)i,
                    assay__stratum_name(strata[s]),
                    (unsigned long long)assay__element_bits(
                        from, assay_tensor_data(&want.operands[0]), (size_t)i),
                    (unsigned long long)assay__element_bits(to, assay_tensor_data(&got.operands[1]),
                                                            (size_t)i),
                    (unsigned long long)assay__element_bits(
                        to, assay_tensor_data(&want.operands[1]), (size_t)i));
            plugin_case_clear(&got);
        }
        plugin_case_clear(&want);
    }
}
END_TEST

/* ---- the oracle keeps all 64 bits ---- */

START_TEST(cast_oracle_is_exact_for_integers)
{
    static const int64_t values[] = {0,
                                     -1,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MAX - 1,
                                     0x20000000000001,
                                     -0x20000000000001,
                                     0x7ffffffffffffe00,
                                     0x123456789abcdef};
    const assay_kernel_desc *k = find(ref, "ref_cast", ASSAY_I64, ASSAY_I64);
    assay_ulp_format format;
    plugin_case c;
    assay_wide w;

    ck_assert_int_eq(assay__ulp_any_format(ASSAY_I64, false, &format), ASSAY_OK);
    plugin_case_of(&c, k, "n=9", 0);
    memcpy(assay_tensor_data(&c.operands[0]), values, sizeof values);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_cast), 1, &w);
    for (size_t i = 0; i < 9; i++) {
        assay_ulp_point right = assay__ulp_measure_integer(&format, values[i], w.hi[i], w.lo[i]);
        assay_ulp_point off = assay__ulp_measure_integer(
            &format, values[i] < 0 ? values[i] + 3 : values[i] - 3, w.hi[i], w.lo[i]);
        ck_assert_int_eq(right.class, ASSAY_ULP_ORDINARY);
        ck_assert_uint_eq(right.dist, 0);
        ck_assert_uint_eq(off.dist, 3);
    }
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cast");
    TCase *tcase = tcase_create("cast");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, cast_laws, 0, LAWS * NAMES);
    tcase_add_loop_test(tcase, cast_kernels_agree_on_every_bit, 0,
                        ASSAY_DTYPE_COUNT * ASSAY_DTYPE_COUNT);
    tcase_add_test(tcase, cast_oracle_is_exact_for_integers);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

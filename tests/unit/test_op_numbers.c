/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_op_numbers.c -- numbers of ops, of their parameters and of dtypes are for ever.
 *
 * A plug-in is built with them and says nothing else of which op a row is for: were they moved, one
 * of yesterday would be picked for another op today.  New ops stand at the end of op.def, new
 * parameters at the end of theirs, with a default; then a line here grows, none changes.  What must
 * move needs another ASSAY_PLUGIN_ABI. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op.h"
#include "assay/plugin.h"

/* clang-format off */
static const char *const frozen[] = {
    "matmul: batch m n k trans_a trans_b alpha beta",
    "fused_linear: batch m n k",
    "conv2d: n c h w k r s stride_h stride_w pad_h pad_w dil_h dil_w groups",
    "conv2d_backward_data: n c h w k r s stride_h stride_w pad_h pad_w dil_h dil_w groups",
    "conv2d_backward_filter: n c h w k r s stride_h stride_w pad_h pad_w dil_h dil_w groups",
    "add: n",
    "mul: n",
    "sub: n",
    "div: n",
    "maximum: n",
    "minimum: n",
    "relu: n",
    "abs: n",
    "neg: n",
    "sqrt: n",
    "tanh: n",
    "sigmoid: n",
    "silu: n",
    "gelu: n",
    "gelu_erf: n",
    "rsqrt: n",
    "log: n",
    "exp: n",
    "cast: n",
    "softmax_last_dim: rows cols",
    "log_softmax_last_dim: rows cols",
    "softmax: outer axis inner",
    "log_softmax: outer axis inner",
    "rms_norm_last_dim: rows cols eps",
    "layer_norm_last_dim: rows cols eps",
    "sum_reduce: outer axis inner",
    "mean_reduce: outer axis inner",
    "max_reduce: outer axis inner",
    "min_reduce: outer axis inner",
    "attention: b hq hkv sq sk d causal scale",
    "gather: rows cols n",
    "scatter: rows cols n",
};
static const char *const dtypes[] = {
    "f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64", "u8", "u32",
};
/* clang-format on */
enum { OPS = sizeof frozen / sizeof frozen[0], DTYPES = sizeof dtypes / sizeof dtypes[0] };

START_TEST(ops_keep_their_numbers)
{
    const assay_op_info *info = assay_op_get((assay_op_id)_i);
    char text[512];
    int used;

    ck_assert_ptr_nonnull(info);
    used = snprintf(text, sizeof text, "%s:", info->name);
    for (size_t i = 0; i < info->param_count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s", info->params[i].name);
    /* The line that stands here is a part of it: parameters may be added behind. */
    ck_assert_msg(strncmp(text, frozen[_i], strlen(frozen[_i])) == 0, "op %d is '%s', was '%s'", _i,
                  text, frozen[_i]);
}
END_TEST

START_TEST(new_ops_are_written_down)
{
    ck_assert_int_eq(ASSAY_OP_COUNT, OPS);
}
END_TEST

START_TEST(dtypes_keep_their_numbers)
{
    ck_assert_str_eq(assay_dtype_name((assay_dtype)_i), dtypes[_i]);
}
END_TEST

/* Structs that plug-ins hold inline have the size they had. */
START_TEST(structs_keep_their_sizes)
{
    ck_assert_uint_eq(sizeof(assay_problem), 176);
    ck_assert_uint_eq(sizeof(assay_tensor), 168);
    ck_assert_uint_eq(sizeof(assay_buffer), 24);
    ck_assert_uint_eq(ASSAY_PLUGIN_ABI, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("op_numbers");
    TCase *tcase = tcase_create("op_numbers");
    int failed;

    tcase_add_loop_test(tcase, ops_keep_their_numbers, 0, OPS);
    tcase_add_test(tcase, new_ops_are_written_down);
    tcase_add_loop_test(tcase, dtypes_keep_their_numbers, 0, DTYPES);
    tcase_add_test(tcase, structs_keep_their_sizes);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

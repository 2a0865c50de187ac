/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_plugin.c -- manifest of the oracle: every op, every dtype, correctly rounded.
 *
 * Never chosen unless asked for by name. */
#include "backends/cast_pairs.h"
#include "backends/host_plugin.h"
#include "backends/index_pairs.h"
#include "backends/ref/ref.h"

#define INPUT                                                                              \
    {                                                                                      \
        ASSAY_CAP_STRIDED | ASSAY_CAP_BROADCAST | ASSAY_CAP_NEGATIVE | ASSAY_CAP_LEADING | \
            ASSAY_CAP_OFFSET,                                                              \
            0                                                                              \
    }
#define OUTPUT                                                                           \
    {                                                                                    \
        ASSAY_CAP_STRIDED | ASSAY_CAP_NEGATIVE | ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }
/* Correctly rounded in every case that MPFR and the tests reach, so bits are the same anywhere;
 * -1: no claim. */
#define EXACT                                           \
    {                                                   \
        0.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_ANYWHERE \
    }

bool ref_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#define DTYPE_SOURCES "runtime/convert.c", "runtime/convert_x86.c", "runtime/dtype.c"

static const char *const add_sources[] = {"backends/ref/ref_add.c", "backends/ref/ref_round.c",
                                          DTYPE_SOURCES, NULL};
static const char *const exp_sources[] = {"backends/ref/ref_exp.c",
                                          "backends/ref/ref_exp_avx2.c",
                                          "backends/ref/ref_exp_dd.c",
                                          "backends/ref/ref_round.c",
                                          DTYPE_SOURCES,
                                          NULL};
static const char *const softmax_last_dim_sources[] = {"backends/ref/ref_softmax.c",
                                                       "backends/ref/ref_exp.c",
                                                       "backends/ref/ref_exp_avx2.c",
                                                       "backends/ref/ref_exp_dd.c",
                                                       "backends/ref/ref_rows.c",
                                                       "backends/ref/ref_round.c",
                                                       DTYPE_SOURCES,
                                                       NULL};
static const char *const matmul_sources[] = {"backends/ref/ref_matmul.c",
                                             "backends/ref/ref_matmul_avx2.c",
                                             "backends/ref/ref_dot.c",
                                             "backends/ref/ref_round.c",
                                             DTYPE_SOURCES,
                                             NULL};
static const char *const add_libraries[] = {NULL};
static const char *const exp_libraries[] = {"libm.so.6", "libmvec.so.1", "libmpfr.so.6", NULL};
static const char *const softmax_last_dim_libraries[] = {"libm.so.6", "libmvec.so.1",
                                                         "libmpfr.so.6", NULL};
static const char *const matmul_libraries[] = {"libmpfr.so.6", NULL};

#define softmax_sources softmax_last_dim_sources

/* Those of ref_ops.def. */
#define ELEMENTWISE "backends/ref/ref_elementwise.c"
#define BY_ROWS     "backends/ref/ref_rows.c"
#define REDUCTION   "backends/ref/ref_reduce.c"
#define PRODUCT \
    "backends/ref/ref_matmul.c", "backends/ref/ref_matmul_avx2.c", "backends/ref/ref_dot.c"
#define TRANSCENDENTAL "backends/ref/ref_unary.c", "backends/ref/ref_unary_avx2.c"
static const char *const none[] = {NULL};
#define REF_ROW(op, shape, libraries_, ...)                                                        \
    assay_status ref_wide_##op(const assay_launch *launch, unsigned threads, const assay_wide *o); \
    assay_status ref_run_##op(const assay_launch *launch);                                         \
    static const char *const op##_sources[] = {"backends/ref/ref_" #op ".c",                       \
                                               "backends/ref/ref_round.c", __VA_ARGS__,            \
                                               DTYPE_SOURCES, NULL};
#include "backends/ref/ref_ops.def"

#define ROW(op_name, tuple, libraries_, run_, suffix, ...)                           \
    {                                                                                \
        .struct_size = sizeof(assay_kernel_desc), .name = "ref_" #op_name suffix,    \
        .op = ASSAY_OP_##op_name, .default_rank = 100, .sources = op_name##_sources, \
        .libraries = libraries_, .claims = EXACT, .entry_point = #run_, .run = run_, \
        tuple(__VA_ARGS__)                                                           \
    }
#define UNARY(t)         .dtype_count = 2, .dtypes = {t, t}, .caps = {INPUT, OUTPUT}
#define BINARY(t)        .dtype_count = 3, .dtypes = {t, t, t}, .caps = {INPUT, INPUT, OUTPUT}
#define MIXED(t, result) .dtype_count = 3, .dtypes = {t, t, result}, .caps = {INPUT, INPUT, OUTPUT}
#define INDEXED(t)       .dtype_count = 3, .dtypes = {t, ASSAY_I64, t}, .caps = {INPUT, INPUT, OUTPUT}
#define TERNARY(t)       .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {INPUT, INPUT, INPUT, OUTPUT}
#define ROWS(op_name, tuple, libraries, run_)                    \
    ROW(op_name, tuple, libraries, run_, "_f64", ASSAY_F64),     \
        ROW(op_name, tuple, libraries, run_, "_f32", ASSAY_F32), \
        ROW(op_name, tuple, libraries, run_, "_f16", ASSAY_F16), \
        ROW(op_name, tuple, libraries, run_, "_bf16", ASSAY_BF16)

/* One name for all pairs: the tuple tells them apart. */
assay_status ref_wide_cast(const assay_launch *launch, unsigned threads, const assay_wide *o);
assay_status ref_run_cast(const assay_launch *launch);
static const char *const cast_sources[] = {"backends/ref/ref_cast.c", "backends/ref/ref_round.c",
                                           DTYPE_SOURCES, NULL};
#define PAIR(from, to) .dtype_count = 2, .dtypes = {from, to}, .caps = {INPUT, OUTPUT}
#define CAST(from, to) ROW(cast, PAIR, none, ref_run_cast, "", ASSAY_##from, ASSAY_##to),

#define NAMED(t, index) .dtype_count = 3, .dtypes = {t, index, t}, .caps = {INPUT, INPUT, OUTPUT}
#define INDEX_ROWS(t, index)                                                \
    ROW(gather, NAMED, none, ref_run_gather, "", ASSAY_##t, ASSAY_##index), \
        ROW(scatter, NAMED, none, ref_run_scatter, "", ASSAY_##t, ASSAY_##index),

static const assay_kernel_desc kernels[] = {
    CAST_PAIRS(CAST) ROWS(matmul, BINARY, matmul_libraries, ref_run_matmul),
    ROW(matmul, MIXED, matmul_libraries, ref_run_matmul, "_f16_f32", ASSAY_F16, ASSAY_F32),
    ROW(matmul, MIXED, matmul_libraries, ref_run_matmul, "_bf16_f32", ASSAY_BF16, ASSAY_F32),
    ROWS(add, BINARY, add_libraries, ref_run_add),
    ROWS(exp, UNARY, exp_libraries, ref_run_exp),
    ROWS(softmax_last_dim, UNARY, softmax_last_dim_libraries, ref_run_softmax),
    ROWS(softmax, UNARY, softmax_last_dim_libraries, ref_run_softmax),
#define REF_ROW(op, shape, libraries, ...) ROWS(op, shape, libraries, ref_run_##op),
#include "backends/ref/ref_ops.def"
    INDEX_PAIRS(INDEX_ROWS)};

#define ORACLE(op_name, wide_)                                                             \
    {                                                                                      \
        .struct_size = sizeof(assay_oracle_desc), .op = ASSAY_OP_##op_name, .wide = wide_, \
        .sources = op_name##_sources                                                       \
    }

static const assay_oracle_desc oracles[] = {
    ORACLE(matmul, ref_wide_matmul),   ORACLE(add, ref_wide_add),
    ORACLE(exp, ref_wide_exp),         ORACLE(softmax_last_dim, ref_wide_softmax),
    ORACLE(softmax, ref_wide_softmax), ORACLE(cast, ref_wide_cast),
#define REF_ROW(op, ...) ORACLE(op, ref_wide_##op),
#include "backends/ref/ref_ops.def"
};

/* What was never written reads as zeros, wherever it runs. */
static assay_status ref_open(const assay_host *host, assay_instance **out)
{
    ASSAY_TRY(assay__host_open(host, out));
    (*out)->zero_fill = true;
    return ASSAY_OK;
}

static const assay_backend backend = {
    ASSAY__HOST_MEMORY_SLOTS,
    .device_count = assay__host_device_count,
    .device_info = assay__host_device_info,
    .device_profile = assay__host_test_profile,
    .map = assay__host_map,
    .open = ref_open,
    .library_identity = assay__host_library_identity,
    .launch = assay__host_launch,
    .measure = assay__host_measure,
    .inject = assay__host_inject,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    HOST_MANIFEST("ref"),
    .oracles = oracles,
    .oracle_count = sizeof oracles / sizeof *oracles,
    .explicit_only = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_plugin.c -- manifest of our own CPU kernels. */
#include "backends/cast_pairs.h"
#include "backends/cpu/cpu.h"
#include "backends/host_plugin.h"
#include "backends/index_pairs.h"

/* ---- entry points, <op>_<dtype>_<isa> -------------------------------------------------------- */

#define CPU_KERNELS(X)             \
    X(add_f64_avx2)                \
    X(add_f32_avx2)                \
    X(add_f16_avx2)                \
    X(add_bf16_avx2)               \
    X(add_f64)                     \
    X(add_f32)                     \
    X(add_f16)                     \
    X(add_bf16)                    \
    X(exp_f64_avx2)                \
    X(exp_f32_avx2)                \
    X(exp_f16_avx2)                \
    X(exp_bf16_avx2)               \
    X(exp_fast_f32_avx2)           \
    X(exp_f64)                     \
    X(exp_f32)                     \
    X(exp_f16)                     \
    X(exp_bf16)                    \
    X(softmax_f64_avx2)            \
    X(softmax_f32_avx2)            \
    X(softmax_f16_avx2)            \
    X(softmax_bf16_avx2)           \
    X(softmax_f64)                 \
    X(softmax_f32)                 \
    X(softmax_f16)                 \
    X(softmax_bf16)                \
    X(matmul_f64_avx2)             \
    X(matmul_f32_avx2)             \
    X(matmul_f16_avx2)             \
    X(matmul_bf16_avx2)            \
    X(matmul_small_f64_avx2)       \
    X(matmul_small_f32_avx2)       \
    X(matmul_f64)                  \
    X(matmul_f32)                  \
    X(matmul_f16)                  \
    X(matmul_bf16)                 \
    X(fused_linear_f64_avx2)       \
    X(fused_linear_f32_avx2)       \
    X(fused_linear_f16_avx2)       \
    X(fused_linear_bf16_avx2)      \
    X(fused_linear_small_f64_avx2) \
    X(fused_linear_small_f32_avx2) \
    X(fused_linear_f64)            \
    X(fused_linear_f32)            \
    X(fused_linear_f16)            \
    X(fused_linear_bf16)

#define X(name) assay_status cpu_##name(const assay_launch *launch);
CPU_KERNELS(X)
#undef X

/* Those of the families in cpu_kernels.def. */
#define DECLARE4(stem)                                         \
    assay_status cpu_##stem##_f64(const assay_launch *launch); \
    assay_status cpu_##stem##_f32(const assay_launch *launch); \
    assay_status cpu_##stem##_f16(const assay_launch *launch); \
    assay_status cpu_##stem##_bf16(const assay_launch *launch);
#define CPU_AVX2(op, ...)               DECLARE4(op##_avx2)
#define CPU_PORTABLE(op, ...)           DECLARE4(op)
#define CPU_SCRATCH_AVX2(op, stem, ...) DECLARE4(stem##_avx2)
#define CPU_COLUMNS_AVX2(op, stem, ...) DECLARE4(stem##_avx2)
#define CPU_LINES(op, stem, ...)        DECLARE4(stem)
#define CPU_FAST(op, ...)               assay_status cpu_##op##_fast_avx2_f32(const assay_launch *launch);
#define CPU_AVX512(op, ...)             DECLARE4(op##_avx512)
#define CPU_FAST_AVX512(op, ...) \
    assay_status cpu_##op##_fast_avx512_f32(const assay_launch *launch);
#include "backends/cpu/cpu_kernels.def"
DECLARE4(softmax_avx512)
DECLARE4(matmul_dot_avx2)
DECLARE4(matmul_dot_avx512)
DECLARE4(matmul_avx512)
assay_status cpu_matmul_small_avx512_f64(const assay_launch *launch);
assay_status cpu_matmul_small_avx512_f32(const assay_launch *launch);
assay_status cpu_fused_linear_small_avx512_f64(const assay_launch *launch);
assay_status cpu_fused_linear_small_avx512_f32(const assay_launch *launch);
DECLARE4(fused_linear_avx512)
DECLARE4(attention_avx512)
/* Products of 16 bits into f32. */
#define DECLARE_MIXED(stem, suffix)                                        \
    assay_status cpu_##stem##_f16_f32##suffix(const assay_launch *launch); \
    assay_status cpu_##stem##_bf16_f32##suffix(const assay_launch *launch);
DECLARE_MIXED(matmul, )
DECLARE_MIXED(matmul, _avx2)
DECLARE_MIXED(matmul_avx512, )
DECLARE_MIXED(matmul_dot_avx2, )
DECLARE_MIXED(matmul_dot_avx512, )
assay_status cpu_gather_any(const assay_launch *launch);
assay_status cpu_gather_avx2_any(const assay_launch *launch);
assay_status cpu_scatter_any(const assay_launch *launch);
assay_status cpu_scatter_avx2_any(const assay_launch *launch);
assay_status cpu_cast(const assay_launch *launch);
assay_status cpu_cast_avx2(const assay_launch *launch);
assay_status cpu_conv2d_winograd_avx2_f32(const assay_launch *launch);
assay_status cpu_conv2d_winograd_avx512_f32(const assay_launch *launch);

/* ---- tunables -------------------------------------------------------------------------------- */

static const int64_t thread_values[] = {1, 2, 4, 8, 16, 32, 64};
static const int64_t switch_values[] = {0, 1};
static const int64_t mc_values[] = {72, 144, 288};
static const int64_t kc_values[] = {256, 512};
static const int64_t keys_values[] = {32, 64, 128, 256};
static const int64_t strips_values[] = {1, 2, 4, 8};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define THREADS                                                                          \
    {                                                                                    \
        "threads", thread_values, COUNT(thread_values), 1, "threads that share the work" \
    }
#define NONTEMPORAL                                                     \
    {                                                                   \
        "nontemporal", switch_values, COUNT(switch_values), 0,          \
            "1: results go around the cache, for arrays larger than it" \
    }

/* The orders are those of CPU_THREADS and its neighbours in cpu.h. */
static const assay_tunable streaming[] = {THREADS, NONTEMPORAL};
static const assay_tunable plain[] = {THREADS};
static const assay_tunable blocked[] = {
    THREADS,
    {"mc", mc_values, COUNT(mc_values), 144, "rows of op(A) packed at a time"},
    {"kc", kc_values, COUNT(kc_values), 256, "products summed before C is touched"},
};

static const assay_tunable by_keys[] = {
    THREADS,
    {"keys", keys_values, COUNT(keys_values), 64, "keys that pass by at a time"},
    {"strips", strips_values, COUNT(strips_values), 4, "strips of queries that share their way"},
};

static const int64_t tile_values[] = {2, 4};
static const assay_tunable by_tiles[] = {
    THREADS,
    {"tile", tile_values, COUNT(tile_values), 2,
     "outputs a side of a tile: larger ones multiply less and err more"},
};

static const int64_t mc_values_of_14[] = {112};
static const assay_tunable blocked_by_14[] = {
    THREADS,
    {"mc", mc_values_of_14, COUNT(mc_values_of_14), 112, "rows of op(A) packed at a time"},
    {"kc", kc_values, COUNT(kc_values), 256, "products summed before C is touched"},
};

bool cpu_threads_usable(const assay_problem *problem, const int64_t *tunables)
{
    static unsigned usable; /* asked once: affinity is set before work begins */
    unsigned cpus = __atomic_load_n(&usable, __ATOMIC_RELAXED);

    (void)problem;
    if (tunables == NULL)
        return true;
    if (cpus == 0) {
        cpus = assay__host_usable_cpus();
        __atomic_store_n(&usable, cpus, __ATOMIC_RELAXED);
    }
    return tunables[CPU_THREADS] == 1 || tunables[CPU_THREADS] <= (int64_t)cpus;
}

/* Beyond this size packing always pays. */
static bool is_small(int64_t m, int64_t n, int64_t k)
{
    return m <= 64 || (m <= 512 && n <= 512 && k <= 512);
}

/* Rows of op(B) in one piece. */
static bool small_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, matmul, trans_b) == 0 &&
           is_small(ASSAY__INT(problem, matmul, m), ASSAY__INT(problem, matmul, n),
                    ASSAY__INT(problem, matmul, k)) &&
           cpu_threads_usable(problem, tunables);
}

static bool small_linear_usable(const assay_problem *problem, const int64_t *tunables)
{
    return is_small(ASSAY__INT(problem, fused_linear, m), ASSAY__INT(problem, fused_linear, n),
                    ASSAY__INT(problem, fused_linear, k)) &&
           cpu_threads_usable(problem, tunables);
}

/* Lines of both operands in one piece along k; with many rows packing pays. */
static bool dot_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, matmul, trans_a) == 0 && ASSAY__INT(problem, matmul, trans_b) != 0 &&
           ASSAY__INT(problem, matmul, m) <= 64 && cpu_threads_usable(problem, tunables);
}

/* The kernels over rows read extents by place: outer stands where rows do, axis where cols. */
_Static_assert(ASSAY__PARAM_INDEX(softmax, outer) == ASSAY__PARAM_INDEX(softmax_last_dim, rows) &&
                   ASSAY__PARAM_INDEX(softmax, axis) == ASSAY__PARAM_INDEX(softmax_last_dim, cols),
               "softmax along the last axis");

static bool softmax_rows_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, softmax, inner) == 1 && cpu_threads_usable(problem, tunables);
}

static bool log_softmax_rows_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, log_softmax, inner) == 1 && cpu_threads_usable(problem, tunables);
}

/* Few enough taps a line for the table of remainders on the stack. */
static bool direct_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, conv2d, r) <= 64 && ASSAY__INT(problem, conv2d, s) <= 64 &&
           cpu_threads_usable(problem, tunables);
}

/* Fewer channels sum too little for what the transforms cost, in time and in error: both bounds are
 * those of test_winograd. */
static bool winograd_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, conv2d, r) == 3 && ASSAY__INT(problem, conv2d, s) == 3 &&
           ASSAY__INT(problem, conv2d, stride_h) == 1 &&
           ASSAY__INT(problem, conv2d, stride_w) == 1 && ASSAY__INT(problem, conv2d, dil_h) == 1 &&
           ASSAY__INT(problem, conv2d, dil_w) == 1 &&
           ASSAY__INT(problem, conv2d, c) / ASSAY__INT(problem, conv2d, groups) >= 16 &&
           cpu_threads_usable(problem, tunables);
}

/* Scratch memory is a multiple of d. */
static bool attention_usable(const assay_problem *problem, const int64_t *tunables)
{
    return ASSAY__INT(problem, attention, d) <= 4096 && cpu_threads_usable(problem, tunables);
}

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }
#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }
#define UNARY(t) .dtype_count = 2, .dtypes = {t, t}, .caps = {CONTIGUOUS, CONTIGUOUS}
#define BINARY(t) \
    .dtype_count = 3, .dtypes = {t, t, t}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define TERNARY(t)                            \
    .dtype_count = 4, .dtypes = {t, t, t, t}, \
    .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define INDEXED(t) \
    .dtype_count = 3, .dtypes = {t, ASSAY_I64, t}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define MATRICES(t) .dtype_count = 3, .dtypes = {t, t, t}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS}
#define MIXED(t)    .dtype_count = 3, .dtypes = {t, t, ASSAY_F32}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS}
#define LINEAR(t) \
    .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {BY_ROWS, BY_ROWS, CONTIGUOUS, BY_ROWS}

/* Without a finite claim: -1.  All are the same for any thread count and placement. */
#define CLAIM(ulp)                                     \
    {                                                  \
        ulp, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE \
    }

/* What files named *_avx512.c are compiled for. */
#define AVX512 "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c"

#define TEAM  "runtime/host_team.c"
#define SPLIT "backends/cpu/cpu_split.c", TEAM

static const char *const libm[] = {"libm.so.6", NULL};
static const char *const none[] = {NULL};

/* Arguments that are lists (SHAPE of a tuple) are passed by name and expanded in the row only. */
#define ROW_IF(usable_, name_, op_, shape_, t_, rank_, isa_, ulp_, tunables_, sources_,            \
               libraries_, run_)                                                                   \
    {                                                                                              \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_, shape_(t_), \
        .default_rank = rank_, .tunables = tunables_, .tunable_count = COUNT(tunables_),           \
        .can_run_fn = usable_, .requires_isa = isa_, .sources = sources_, .libraries = libraries_, \
        .claims = CLAIM(ulp_), .entry_point = #run_, .run = run_                                   \
    }
#define ROW(...) ROW_IF(cpu_threads_usable, __VA_ARGS__)

static const char *const add_avx2_sources[] = {"backends/cpu/cpu_add_avx2.c", SPLIT, NULL};
static const char *const add_sources[] = {"backends/cpu/cpu_add.c", SPLIT, NULL};
static const char *const exp_avx2_sources[] = {"backends/cpu/cpu_exp_avx2.c", SPLIT, NULL};
static const char *const exp_sources[] = {"backends/cpu/cpu_exp.c", SPLIT, NULL};
static const char *const softmax_avx2_sources[] = {"backends/cpu/cpu_softmax_avx2.c",
                                                   "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const softmax_avx512_sources[] = {"backends/cpu/cpu_softmax_avx512.c",
                                                     "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const softmax_sources[] = {"backends/cpu/cpu_softmax.c", SPLIT, NULL};
static const char *const matmul_avx2_sources[] = {"backends/cpu/cpu_matmul_avx2.c",
                                                  "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const matmul_avx512_sources[] = {"backends/cpu/cpu_matmul_avx512.c",
                                                    "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const matmul_small_sources[] = {"backends/cpu/cpu_matmul_small_avx2.c", TEAM,
                                                   NULL};
static const char *const matmul_small_avx512_sources[] = {"backends/cpu/cpu_matmul_small_avx512.c",
                                                          TEAM, NULL};
static const char *const matmul_dot_avx2_sources[] = {"backends/cpu/cpu_matmul_dot_avx2.c", TEAM,
                                                      NULL};
static const char *const attention_avx512_sources[] = {"backends/cpu/cpu_attention_avx512.c",
                                                       "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const winograd_avx2_sources[] = {"backends/cpu/cpu_conv2d_winograd_avx2.c",
                                                    "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const winograd_avx512_sources[] = {"backends/cpu/cpu_conv2d_winograd_avx512.c",
                                                      "backends/cpu/cpu_workspace.c", TEAM, NULL};
static const char *const matmul_dot_avx512_sources[] = {"backends/cpu/cpu_matmul_dot_avx512.c",
                                                        TEAM, NULL};
static const char *const matmul_sources[] = {"backends/cpu/cpu_matmul.c", TEAM, NULL};

#define ADD_AVX2(t, T, isa)                                                              \
    ROW("cpu_add_avx2", add, BINARY, T, 10, isa, 0.0, streaming, add_avx2_sources, none, \
        cpu_add_##t##_avx2)
#define ADD_PORTABLE(t, T) \
    ROW("cpu_add_portable", add, BINARY, T, 20, NULL, 0.0, plain, add_sources, none, cpu_add_##t)
#define EXP_AVX2(t, T, isa)                                                             \
    ROW("cpu_exp_avx2", exp, UNARY, T, 10, isa, 1.0, streaming, exp_avx2_sources, none, \
        cpu_exp_##t##_avx2)
#define EXP_PORTABLE(t, T) \
    ROW("cpu_exp_portable", exp, UNARY, T, 20, NULL, 1.0, plain, exp_sources, libm, cpu_exp_##t)
#define SOFTMAX_AVX2(t, T, isa)                                                   \
    ROW("cpu_softmax_avx2", softmax_last_dim, UNARY, T, 10, isa, -1.0, streaming, \
        softmax_avx2_sources, none, cpu_softmax_##t##_avx2)
#define SOFTMAX_AVX512(t, T)                                                           \
    ROW("cpu_softmax_avx512", softmax_last_dim, UNARY, T, 12, AVX512, -1.0, streaming, \
        softmax_avx512_sources, none, cpu_softmax_avx512_##t),                         \
        LAST_AXIS_ROW(avx512, 12, softmax, softmax_avx512_sources, none, T, AVX512,    \
                      cpu_softmax_avx512_##t)
#define SOFTMAX_PORTABLE(t, T)                                                     \
    ROW("cpu_softmax_portable", softmax_last_dim, UNARY, T, 20, NULL, -1.0, plain, \
        softmax_sources, libm, cpu_softmax_##t)
#define MATMUL_AVX2(t, T, isa)                                                                     \
    ROW("cpu_matmul_avx2", matmul, MATRICES, T, 10, isa, -1.0, blocked, matmul_avx2_sources, none, \
        cpu_matmul_##t##_avx2)
#define MATMUL_AVX512(t, T)                                                        \
    ROW("cpu_matmul_avx512", matmul, MATRICES, T, 14, AVX512, -1.0, blocked_by_14, \
        matmul_avx512_sources, none, cpu_matmul_avx512_##t)
#define MATMUL_SMALL(t, T)                                                                   \
    ROW_IF(small_usable, "cpu_matmul_small_avx2", matmul, MATRICES, T, 11, "avx2,fma", -1.0, \
           plain, matmul_small_sources, none, cpu_matmul_small_##t##_avx2)
#define MATMUL_SMALL_AVX512(t, T)                                                                 \
    ROW_IF(small_usable, "cpu_matmul_small_avx512", matmul, MATRICES, T, 12, AVX512, -1.0, plain, \
           matmul_small_avx512_sources, none, cpu_matmul_small_avx512_##t)
#define MATMUL_DOT(level, t, T, rank, isa)                                                    \
    ROW_IF(dot_usable, "cpu_matmul_dot_" #level, matmul, MATRICES, T, rank, isa, -1.0, plain, \
           matmul_dot_##level##_sources, none, cpu_matmul_dot_##level##_##t)
#define MATMUL_PORTABLE(t, T)                                                                    \
    ROW("cpu_matmul_portable", matmul, MATRICES, T, 20, NULL, -1.0, plain, matmul_sources, none, \
        cpu_matmul_##t)

/* The same of 16 bits with a C of f32. */
#define MIXED_ROWS(t, T, isa)                                                                     \
    ROW("cpu_matmul_avx2", matmul, MIXED, T, 10, isa, -1.0, blocked, matmul_avx2_sources, none,   \
        cpu_matmul_##t##_f32_avx2),                                                               \
        ROW("cpu_matmul_avx512", matmul, MIXED, T, 14, AVX512, -1.0, blocked_by_14,               \
            matmul_avx512_sources, none, cpu_matmul_avx512_##t##_f32),                            \
        ROW_IF(dot_usable, "cpu_matmul_dot_avx2", matmul, MIXED, T, 12, isa, -1.0, plain,         \
               matmul_dot_avx2_sources, none, cpu_matmul_dot_avx2_##t##_f32),                     \
        ROW_IF(dot_usable, "cpu_matmul_dot_avx512", matmul, MIXED, T, 13, AVX512, -1.0, plain,    \
               matmul_dot_avx512_sources, none, cpu_matmul_dot_avx512_##t##_f32),                 \
        ROW("cpu_matmul_portable", matmul, MIXED, T, 20, NULL, -1.0, plain, matmul_sources, none, \
            cpu_matmul_##t##_f32)

#define LINEAR_AVX2(t, T, isa)                                                    \
    ROW("cpu_fused_linear_avx2", fused_linear, LINEAR, T, 10, isa, -1.0, blocked, \
        matmul_avx2_sources, none, cpu_fused_linear_##t##_avx2)
#define LINEAR_AVX512(t, T)                                                                  \
    ROW("cpu_fused_linear_avx512", fused_linear, LINEAR, T, 12, AVX512, -1.0, blocked_by_14, \
        matmul_avx512_sources, none, cpu_fused_linear_avx512_##t)
#define ATTENTION_AVX512(t, T)                                                                \
    ROW_IF(attention_usable, "cpu_attention_avx512", attention, TERNARY, T, 12, AVX512, -1.0, \
           by_keys, attention_avx512_sources, none, cpu_attention_avx512_##t)
#define WINOGRAD(level, rank, isa)                                                            \
    {                                                                                         \
        .struct_size = sizeof(assay_kernel_desc), .name = "cpu_conv2d_winograd_" #level,      \
        .op = ASSAY_OP_conv2d, BINARY(ASSAY_F32), .default_rank = rank, .tunables = by_tiles, \
        .tunable_count = COUNT(by_tiles), .can_run_fn = winograd_usable, .requires_isa = isa, \
        .sources = winograd_##level##_sources, .libraries = none, .claims = CLAIM(-1.0),      \
        .entry_point = "cpu_conv2d_winograd_" #level "_f32",                                  \
        .run = cpu_conv2d_winograd_##level##_f32, .error_tile = 4, .error_factor = 16.0       \
    }
#define LINEAR_SMALL(t, T)                                                                  \
    ROW_IF(small_linear_usable, "cpu_fused_linear_small_avx2", fused_linear, LINEAR, T, 11, \
           "avx2,fma", -1.0, plain, matmul_small_sources, none, cpu_fused_linear_small_##t##_avx2)
#define LINEAR_SMALL_AVX512(t, T)                                                             \
    ROW_IF(small_linear_usable, "cpu_fused_linear_small_avx512", fused_linear, LINEAR, T, 13, \
           AVX512, -1.0, plain, matmul_small_avx512_sources, none,                            \
           cpu_fused_linear_small_avx512_##t)
#define LINEAR_PORTABLE(t, T)                                                        \
    ROW("cpu_fused_linear_portable", fused_linear, LINEAR, T, 20, NULL, -1.0, plain, \
        matmul_sources, none, cpu_fused_linear_##t)

#define CPU_AVX2(op, ...) \
    static const char *const op##_avx2_sources[] = {"backends/cpu/cpu_" #op "_avx2.c", SPLIT, NULL};
#define CPU_AVX512(op, ...)                                                                       \
    static const char *const op##_avx512_sources[] = {"backends/cpu/cpu_" #op "_avx512.c", SPLIT, \
                                                      NULL};
#define CPU_PORTABLE(op, ...) \
    static const char *const op##_sources[] = {"backends/cpu/cpu_" #op ".c", SPLIT, NULL};
#define CPU_LINES(op, stem, ...) \
    static const char *const stem##_sources[] = {"backends/cpu/cpu_" #stem ".c", TEAM, NULL};
#define CPU_COLUMNS_AVX2 CPU_SCRATCH_AVX2
#define CPU_SCRATCH_AVX2(op, stem, ...)                                                    \
    static const char *const stem##_avx2_sources[] = {"backends/cpu/cpu_" #stem "_avx2.c", \
                                                      "backends/cpu/cpu_workspace.c", TEAM, NULL};
#include "backends/cpu/cpu_kernels.def"

#define AVX2_ROW(op, shape, t, T, isa, ulp)                                                 \
    ROW("cpu_" #op "_avx2", op, shape, T, 10, isa, ulp, streaming, op##_avx2_sources, none, \
        cpu_##op##_avx2_##t),
#define AVX512_ROW(op, shape, t, T, ulp)                                                           \
    ROW("cpu_" #op "_avx512", op, shape, T, 12, AVX512, ulp, streaming, op##_avx512_sources, none, \
        cpu_##op##_avx512_##t),
#define PORTABLE_ROW(op, shape, libraries_, t, T, ulp)                                        \
    ROW("cpu_" #op "_portable", op, shape, T, 20, NULL, ulp, plain, op##_sources, libraries_, \
        cpu_##op##_##t),
#define SCRATCH_ROW(op, stem, rank, usable, tunables_, shape, t, T, isa, ulp)     \
    ROW_IF(usable, "cpu_" #stem "_avx2", op, shape, T, rank, isa, ulp, tunables_, \
           stem##_avx2_sources, none, cpu_##stem##_avx2_##t),

#define COLUMNS_ROW(op, stem, libraries_, t, T, isa)                                               \
    ROW("cpu_" #stem "_avx2", op, UNARY, T, 11, isa, -1.0, plain, stem##_avx2_sources, libraries_, \
        cpu_##stem##_avx2_##t),
#define LINES_ROW(op, stem, libraries_, t, T)                                                      \
    ROW("cpu_" #stem "_portable", op, UNARY, T, 20, NULL, -1.0, plain, stem##_sources, libraries_, \
        cpu_##stem##_##t),
/* Along the last axis: the kernels of the ops over rows. */
#define LAST_AXIS_ROW(level, rank, op, sources_, libraries_, T, isa, run_)                         \
    ROW_IF(op##_rows_usable, "cpu_" #op "_rows_" #level, op, UNARY, T, rank, isa, -1.0, streaming, \
           sources_, libraries_, run_)

/* One entry point for all pairs, which the operands tell apart. */
static const char *const cast_sources[] = {"backends/cpu/cpu_cast.c", "runtime/convert.c",
                                           "runtime/dtype.c", TEAM, NULL};
static const char *const cast_avx2_sources[] = {"backends/cpu/cpu_cast_avx2.c", TEAM, NULL};
#define PAIR_OF(from, to) .dtype_count = 2, .dtypes = {from, to}, .caps = {CONTIGUOUS, CONTIGUOUS}
#define PAIR(tuple)       PAIR_OF tuple
#define CAST_ROWS(from, to)                                                                    \
    ROW("cpu_cast_avx2", cast, PAIR, (ASSAY_##from, ASSAY_##to), 10, "avx2,fma,f16c", 0.0,     \
        streaming, cast_avx2_sources, none, cpu_cast_avx2),                                    \
        ROW("cpu_cast_portable", cast, PAIR, (ASSAY_##from, ASSAY_##to), 20, NULL, 0.0, plain, \
            cast_sources, none, cpu_cast),

/* Rows of other types, or named by u32. */
#define NAMED_OF(t, index) \
    .dtype_count = 3, .dtypes = {t, index, t}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define NAMED(tuple) NAMED_OF tuple
#define INDEX_ROWS_OF(op, tuple)                                                                 \
    ROW("cpu_" #op "_avx2", op, NAMED, tuple, 10, "avx2,fma", 0.0, streaming, op##_avx2_sources, \
        none, cpu_##op##_avx2_any),                                                              \
        ROW("cpu_" #op "_portable", op, NAMED, tuple, 20, NULL, 0.0, plain, op##_sources, none,  \
            cpu_##op##_any),
#define INDEX_ROWS(t, index)                          \
    INDEX_ROWS_OF(gather, (ASSAY_##t, ASSAY_##index)) \
    INDEX_ROWS_OF(scatter, (ASSAY_##t, ASSAY_##index))

static const assay_kernel_desc kernels[] = {
    CAST_PAIRS(CAST_ROWS)
#define CPU_COLUMNS_AVX2(op, stem, libraries)                         \
    COLUMNS_ROW(op, stem, libraries, f64, ASSAY_F64, "avx2,fma")      \
    COLUMNS_ROW(op, stem, libraries, f32, ASSAY_F32, "avx2,fma")      \
    COLUMNS_ROW(op, stem, libraries, f16, ASSAY_F16, "avx2,fma,f16c") \
    COLUMNS_ROW(op, stem, libraries, bf16, ASSAY_BF16, "avx2,fma")
#define CPU_LINES(op, stem, libraries)             \
    LINES_ROW(op, stem, libraries, f64, ASSAY_F64) \
    LINES_ROW(op, stem, libraries, f32, ASSAY_F32) \
    LINES_ROW(op, stem, libraries, f16, ASSAY_F16) \
    LINES_ROW(op, stem, libraries, bf16, ASSAY_BF16)
#define CPU_SCRATCH_AVX2(op, stem, rank, usable, tunables_, shape, u64, u32, u16, ub16)         \
    SCRATCH_ROW(op, stem, rank, usable, tunables_, shape, f64, ASSAY_F64, "avx2,fma", u64)      \
    SCRATCH_ROW(op, stem, rank, usable, tunables_, shape, f32, ASSAY_F32, "avx2,fma", u32)      \
    SCRATCH_ROW(op, stem, rank, usable, tunables_, shape, f16, ASSAY_F16, "avx2,fma,f16c", u16) \
    SCRATCH_ROW(op, stem, rank, usable, tunables_, shape, bf16, ASSAY_BF16, "avx2,fma", ub16)
#define CPU_AVX2(op, shape, u64, u32, u16, ub16)              \
    AVX2_ROW(op, shape, f64, ASSAY_F64, "avx2,fma", u64)      \
    AVX2_ROW(op, shape, f32, ASSAY_F32, "avx2,fma", u32)      \
    AVX2_ROW(op, shape, f16, ASSAY_F16, "avx2,fma,f16c", u16) \
    AVX2_ROW(op, shape, bf16, ASSAY_BF16, "avx2,fma", ub16)
#define CPU_PORTABLE(op, shape, libraries, u64, u32, u16, ub16) \
    PORTABLE_ROW(op, shape, libraries, f64, ASSAY_F64, u64)     \
    PORTABLE_ROW(op, shape, libraries, f32, ASSAY_F32, u32)     \
    PORTABLE_ROW(op, shape, libraries, f16, ASSAY_F16, u16)     \
    PORTABLE_ROW(op, shape, libraries, bf16, ASSAY_BF16, ub16)
#define CPU_FAST(op, shape, u32)                                                       \
    ROW("cpu_" #op "_fast_avx2", op, shape, ASSAY_F32, 11, "avx2,fma", u32, streaming, \
        op##_avx2_sources, none, cpu_##op##_fast_avx2_f32),
#define CPU_AVX512(op, shape, u64, u32, u16, ub16) \
    AVX512_ROW(op, shape, f64, ASSAY_F64, u64)     \
    AVX512_ROW(op, shape, f32, ASSAY_F32, u32)     \
    AVX512_ROW(op, shape, f16, ASSAY_F16, u16)     \
    AVX512_ROW(op, shape, bf16, ASSAY_BF16, ub16)
#define CPU_FAST_AVX512(op, shape, u32)                                              \
    ROW("cpu_" #op "_fast_avx512", op, shape, ASSAY_F32, 13, AVX512, u32, streaming, \
        op##_avx512_sources, none, cpu_##op##_fast_avx512_f32),
#include "backends/cpu/cpu_kernels.def"
        LAST_AXIS_ROW(avx2, 10, softmax, softmax_avx2_sources, none, ASSAY_F64, "avx2,fma",
                      cpu_softmax_f64_avx2),
    LAST_AXIS_ROW(avx2, 10, softmax, softmax_avx2_sources, none, ASSAY_F32, "avx2,fma",
                  cpu_softmax_f32_avx2),
    LAST_AXIS_ROW(avx2, 10, softmax, softmax_avx2_sources, none, ASSAY_F16, "avx2,fma,f16c",
                  cpu_softmax_f16_avx2),
    LAST_AXIS_ROW(avx2, 10, softmax, softmax_avx2_sources, none, ASSAY_BF16, "avx2,fma",
                  cpu_softmax_bf16_avx2),
    LAST_AXIS_ROW(avx2, 10, log_softmax, log_softmax_last_dim_avx2_sources, libm, ASSAY_F64,
                  "avx2,fma", cpu_log_softmax_last_dim_avx2_f64),
    LAST_AXIS_ROW(avx2, 10, log_softmax, log_softmax_last_dim_avx2_sources, libm, ASSAY_F32,
                  "avx2,fma", cpu_log_softmax_last_dim_avx2_f32),
    LAST_AXIS_ROW(avx2, 10, log_softmax, log_softmax_last_dim_avx2_sources, libm, ASSAY_F16,
                  "avx2,fma,f16c", cpu_log_softmax_last_dim_avx2_f16),
    LAST_AXIS_ROW(avx2, 10, log_softmax, log_softmax_last_dim_avx2_sources, libm, ASSAY_BF16,
                  "avx2,fma", cpu_log_softmax_last_dim_avx2_bf16),
    LAST_AXIS_ROW(avx512, 12, log_softmax, log_softmax_last_dim_avx512_sources, libm, ASSAY_F64,
                  AVX512, cpu_log_softmax_last_dim_avx512_f64),
    LAST_AXIS_ROW(avx512, 12, log_softmax, log_softmax_last_dim_avx512_sources, libm, ASSAY_F32,
                  AVX512, cpu_log_softmax_last_dim_avx512_f32),
    LAST_AXIS_ROW(avx512, 12, log_softmax, log_softmax_last_dim_avx512_sources, libm, ASSAY_F16,
                  AVX512, cpu_log_softmax_last_dim_avx512_f16),
    LAST_AXIS_ROW(avx512, 12, log_softmax, log_softmax_last_dim_avx512_sources, libm, ASSAY_BF16,
                  AVX512, cpu_log_softmax_last_dim_avx512_bf16),
    MATMUL_AVX2(f64, ASSAY_F64, "avx2,fma"),
    MATMUL_AVX2(f32, ASSAY_F32, "avx2,fma"),
    MATMUL_AVX2(f16, ASSAY_F16, "avx2,fma,f16c"),
    MATMUL_AVX2(bf16, ASSAY_BF16, "avx2,fma"),
    MATMUL_AVX512(f64, ASSAY_F64),
    MATMUL_AVX512(f32, ASSAY_F32),
    MATMUL_AVX512(f16, ASSAY_F16),
    MATMUL_AVX512(bf16, ASSAY_BF16),
    MATMUL_SMALL(f64, ASSAY_F64),
    MATMUL_SMALL(f32, ASSAY_F32),
    MATMUL_SMALL_AVX512(f64, ASSAY_F64),
    MATMUL_SMALL_AVX512(f32, ASSAY_F32),
    MATMUL_DOT(avx2, f64, ASSAY_F64, 12, "avx2,fma"),
    MATMUL_DOT(avx2, f32, ASSAY_F32, 12, "avx2,fma"),
    MATMUL_DOT(avx2, f16, ASSAY_F16, 12, "avx2,fma,f16c"),
    MATMUL_DOT(avx2, bf16, ASSAY_BF16, 12, "avx2,fma"),
    MATMUL_DOT(avx512, f64, ASSAY_F64, 13, AVX512),
    MATMUL_DOT(avx512, f32, ASSAY_F32, 13, AVX512),
    MATMUL_DOT(avx512, f16, ASSAY_F16, 13, AVX512),
    MATMUL_DOT(avx512, bf16, ASSAY_BF16, 13, AVX512),
    MATMUL_PORTABLE(f64, ASSAY_F64),
    MATMUL_PORTABLE(f32, ASSAY_F32),
    MATMUL_PORTABLE(f16, ASSAY_F16),
    MATMUL_PORTABLE(bf16, ASSAY_BF16),
    MIXED_ROWS(f16, ASSAY_F16, "avx2,fma,f16c"),
    MIXED_ROWS(bf16, ASSAY_BF16, "avx2,fma"),
    WINOGRAD(avx2, 13, "avx2,fma"),
    WINOGRAD(avx512, 14, AVX512),
    ATTENTION_AVX512(f64, ASSAY_F64),
    ATTENTION_AVX512(f32, ASSAY_F32),
    ATTENTION_AVX512(f16, ASSAY_F16),
    ATTENTION_AVX512(bf16, ASSAY_BF16),
    LINEAR_AVX2(f64, ASSAY_F64, "avx2,fma"),
    LINEAR_AVX2(f32, ASSAY_F32, "avx2,fma"),
    LINEAR_AVX2(f16, ASSAY_F16, "avx2,fma,f16c"),
    LINEAR_AVX2(bf16, ASSAY_BF16, "avx2,fma"),
    LINEAR_AVX512(f64, ASSAY_F64),
    LINEAR_AVX512(f32, ASSAY_F32),
    LINEAR_AVX512(f16, ASSAY_F16),
    LINEAR_AVX512(bf16, ASSAY_BF16),
    LINEAR_SMALL(f64, ASSAY_F64),
    LINEAR_SMALL(f32, ASSAY_F32),
    LINEAR_SMALL_AVX512(f64, ASSAY_F64),
    LINEAR_SMALL_AVX512(f32, ASSAY_F32),
    LINEAR_PORTABLE(f64, ASSAY_F64),
    LINEAR_PORTABLE(f32, ASSAY_F32),
    LINEAR_PORTABLE(f16, ASSAY_F16),
    LINEAR_PORTABLE(bf16, ASSAY_BF16),
    ADD_AVX2(f64, ASSAY_F64, "avx2,fma"),
    ADD_AVX2(f32, ASSAY_F32, "avx2,fma"),
    ADD_AVX2(f16, ASSAY_F16, "avx2,fma,f16c"),
    ADD_AVX2(bf16, ASSAY_BF16, "avx2,fma"),
    ADD_PORTABLE(f64, ASSAY_F64),
    ADD_PORTABLE(f32, ASSAY_F32),
    ADD_PORTABLE(f16, ASSAY_F16),
    ADD_PORTABLE(bf16, ASSAY_BF16),
    EXP_AVX2(f64, ASSAY_F64, "avx2,fma"),
    EXP_AVX2(f32, ASSAY_F32, "avx2,fma"),
    EXP_AVX2(f16, ASSAY_F16, "avx2,fma,f16c"),
    EXP_AVX2(bf16, ASSAY_BF16, "avx2,fma"),
    ROW("cpu_exp_fast_avx2", exp, UNARY, ASSAY_F32, 10, "avx2,fma", 1.0, streaming,
        exp_avx2_sources, none, cpu_exp_fast_f32_avx2),
    EXP_PORTABLE(f64, ASSAY_F64),
    EXP_PORTABLE(f32, ASSAY_F32),
    EXP_PORTABLE(f16, ASSAY_F16),
    EXP_PORTABLE(bf16, ASSAY_BF16),
    SOFTMAX_AVX2(f64, ASSAY_F64, "avx2,fma"),
    SOFTMAX_AVX2(f32, ASSAY_F32, "avx2,fma"),
    SOFTMAX_AVX2(f16, ASSAY_F16, "avx2,fma,f16c"),
    SOFTMAX_AVX2(bf16, ASSAY_BF16, "avx2,fma"),
    SOFTMAX_AVX512(f64, ASSAY_F64),
    SOFTMAX_AVX512(f32, ASSAY_F32),
    SOFTMAX_AVX512(f16, ASSAY_F16),
    SOFTMAX_AVX512(bf16, ASSAY_BF16),
    SOFTMAX_PORTABLE(f64, ASSAY_F64),
    SOFTMAX_PORTABLE(f32, ASSAY_F32),
    SOFTMAX_PORTABLE(f16, ASSAY_F16),
    SOFTMAX_PORTABLE(bf16, ASSAY_BF16),
    INDEX_PAIRS(INDEX_ROWS)};

HOST_PLUGIN("cpu", assay__host_library_identity);

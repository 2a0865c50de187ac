/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_rows.c -- the kernels of this plug-in as rows.
 *
 * cuBLASLt leads with rank 0, ours have 10, what a compiler makes at run time 12, fast forms 14:
 * those err more, and stand here as far as the bounds of their ops allow. */
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_manifest.h"
#include "backends/cuda/kernels/cuda_shapes.h"
#include "runtime/op_params.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- tunables ----------------------------------------------------------------------------------
 */

static const int64_t block_values[] = {128, 256, 512};
static const int64_t unroll_values[] = {1, 2, 4};
static const int64_t switch_values[] = {0, 1};
static const int64_t walk_block_values[] = {128, 256, 512, 1024};
static const int64_t row_block_values[] = {256, 512, 1024};
static const int64_t row_part_values[] = {0, 4, 16, 64};
static const int64_t sum_part_values[] = {0, 1, 8, 64, 512};
static const int64_t choice_values[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Orders are those of cuda_kernels.h. */
static const assay_tunable map_tunables[] = {
    {"block", block_values, COUNT(block_values), 256, "threads a block"},
    {"unroll", unroll_values, COUNT(unroll_values), 2, "vectors of 16 bytes that a thread loads"},
    {"once", switch_values, COUNT(switch_values), 0, "1: loads and stores are marked as used once"},
};
static const assay_tunable row_tunables[] = {
    {"block", row_block_values, COUNT(row_block_values), 512,
     "most threads a row, as long as they can hold it"},
    {"parts", row_part_values, COUNT(row_part_values), 0,
     "blocks a row, in two grids; 0: one if it can hold the row and rows are many"},
};
static const assay_tunable walk_tunables[] = {
    {"block", walk_block_values, COUNT(walk_block_values), 512,
     "threads a row, each with as many vectors as that leaves it"},
    {"ahead", switch_values, COUNT(switch_values), 1,
     "1: blocks walk over rows and load the next one while they work on one"},
};
static const assay_tunable sum_tunables[] = {
    {"parts", sum_part_values, COUNT(sum_part_values), 0,
     "parts of a line, summed in a second grid; 0: as many as fill the device"},
};
static const assay_tunable choice_tunables[] = {
    {"choice", choice_values, COUNT(choice_values), 0,
     "place in the library's list of algorithms for the problem"},
};

/* A block matters for rows that a warp cannot hold and `block` threads can. */
#define ROW_CONSTRAINT(cols)                                                     \
    "parts == 0 ? block == 512 or (" cols " > 1024 and " cols " <= 16*block) : " \
    "block == 512 and " cols " >= 1024*parts"
/* At most 64 elements a thread, of 1024 threads 16, and a warp or more. */
#define WALK_CONSTRAINT(cols) \
    "block == 512 or (" cols " <= (block == 1024 ? 16 : 64)*block - 8 and " cols " >= 4*block)"
#define SUM_CONSTRAINT "parts <= 1 or axis >= 64*parts"

/* ---- what they take ----------------------------------------------------------------------------
 */

static bool last_axis(const assay_problem *problem, const int64_t *tunables)
{
    (void)tunables;
    return ASSAY__INT(problem, softmax, inner) == 1;
}

/* Along an earlier axis a block has the neighbouring lines of one outer index: a grid of one
 * dimension counts them. */
static bool fits_grid(int64_t outer, int64_t inner)
{
    const int64_t tiles = inner / CUDA_LINE_COLUMNS + (inner % CUDA_LINE_COLUMNS != 0);

    return tiles == 0 || outer <= INT32_MAX / tiles;
}

static bool earlier_axis(const assay_problem *problem, const int64_t *tunables)
{
    return !last_axis(problem, tunables) &&
           fits_grid(ASSAY__INT(problem, softmax, outer), ASSAY__INT(problem, softmax, inner));
}

static bool any_axis(const assay_problem *problem, const int64_t *tunables)
{
    (void)tunables;
    return ASSAY__INT(problem, sum_reduce, inner) == 1 ||
           fits_grid(ASSAY__INT(problem, sum_reduce, outer),
                     ASSAY__INT(problem, sum_reduce, inner));
}
_Static_assert(CUDA_SUM_COLUMNS == CUDA_LINE_COLUMNS, "both have as many lines a block");

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
#define ROWS(t)           .dtype_count = 2, .dtypes = {t, t}, .caps = {BY_ROWS, BY_ROWS}
#define PAIR_OF(from, to) .dtype_count = 2, .dtypes = {from, to}, .caps = {CONTIGUOUS, CONTIGUOUS}
#define PAIR(pair)        PAIR_OF pair
#define MATRICES_OF(t, u) .dtype_count = 3, .dtypes = {t, t, u}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS}
#define MATRICES(pair)    MATRICES_OF pair
#define LINEAR(t) \
    .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {BY_ROWS, BY_ROWS, CONTIGUOUS, BY_ROWS}

/* ---- sources, libraries, claims ----------------------------------------------------------------
 */

#define FAMILY(name, launch, kernel)                                             \
    static const char *const name[] = {"backends/cuda/cuda_kernel_" launch ".c", \
                                       "backends/cuda/kernels/cuda_" kernel ".cu", NULL};
FAMILY(map_sources, "map", "map")
FAMILY(cast_sources, "cast", "cast")
FAMILY(softmax_sources, "rows", "softmax")
FAMILY(layer_norm_sources, "rows", "layer_norm")
FAMILY(rms_norm_sources, "rows", "rms_norm")
FAMILY(sum_sources, "sum", "sum")
static const char *const blaslt_sources[] = {
    "backends/cuda/cuda_blaslt.c", "backends/cuda/cuda_blaslt_plan.c",
    "backends/cuda/cuda_kernel_fill.c", "backends/cuda/kernels/cuda_fill.cu", NULL};

/* Without the driver, those that need nothing else are not there either. */
static const char *const driver[] = {"libcuda", NULL};
static const char *const blaslt[] = {"libcublasLt", NULL};
static const char *const nvrtc[] = {"libnvrtc", NULL};

/* Exact, or of expf, whose 2 units NVIDIA states and an exhaustive run confirmed (1.93). */
#define CLAIM(ulp, stability)                              \
    {                                                      \
        ulp, -1.0, -1.0, -1.0, ASSAY_STABILITY_##stability \
    }

#define ROW(name_, op_, shape_, t_, rank_, sources_, claims_, run_, ...)                           \
    {                                                                                              \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_, shape_(t_), \
        .default_rank = rank_, .sources = sources_, .claims = claims_, .entry_point = #run_,       \
        .run = run_, __VA_ARGS__                                                                   \
    }
#define EACH(X, ...) \
    X(ASSAY_F32, 2.0, __VA_ARGS__), X(ASSAY_F16, 1.0, __VA_ARGS__), X(ASSAY_BF16, 1.0, __VA_ARGS__)

#define COMPILED                                                                        \
    .tunables = map_tunables, .tunable_count = COUNT(map_tunables), .libraries = nvrtc, \
    .constraint = "once == 0 or block == 256"
#define BY_BLOCKS(cols, usable)                                     \
    .tunables = row_tunables, .tunable_count = COUNT(row_tunables), \
    .constraint = ROW_CONSTRAINT(cols), .can_run_fn = usable, .libraries = driver
#define BY_WALKS(cols, usable)                                                            \
    .tunables = walk_tunables, .tunable_count = COUNT(walk_tunables), .libraries = nvrtc, \
    .constraint = WALK_CONSTRAINT(cols), .can_run_fn = usable
#define BY_PARTS                                                                                  \
    .tunables = sum_tunables, .tunable_count = COUNT(sum_tunables), .constraint = SUM_CONSTRAINT, \
    .can_run_fn = any_axis, .libraries = driver
#define BY_CHOICE                                                         \
    .tunables = choice_tunables, .tunable_count = COUNT(choice_tunables), \
    .can_run_fn = cuda_blaslt_usable, .libraries = blaslt
#define NO_TUNABLES .libraries = driver

/* As built, and compiled at run time; claimed ulp 0 or -1 for all types. */
#define MAP_ROWS(t, ulp, op, shape, claimed)                                                 \
    ROW("cuda_" #op, op, shape, t, 10, map_sources, CLAIM(claimed, MACHINE), cuda_##op,      \
        NO_TUNABLES),                                                                        \
        ROW("cuda_" #op "_compiled", op, shape, t, 12, map_sources, CLAIM(claimed, MACHINE), \
            cuda_##op##_compiled, COMPILED)
#define EXP_ROWS(t, ulp, ...)                                                                    \
    ROW("cuda_exp", exp, UNARY, t, 10, map_sources, CLAIM(ulp, MACHINE), cuda_exp, NO_TUNABLES), \
        ROW("cuda_exp_compiled", exp, UNARY, t, 12, map_sources, CLAIM(ulp, MACHINE),            \
            cuda_exp_compiled, COMPILED)
#define FAST_ROWS(t, ulp, op)                                                                  \
    ROW("cuda_" #op "_fast", op, UNARY, t, 14, map_sources, CLAIM(-1.0, MACHINE),              \
        cuda_##op##_fast, NO_TUNABLES),                                                        \
        ROW("cuda_" #op "_fast_compiled", op, UNARY, t, 15, map_sources, CLAIM(-1.0, MACHINE), \
            cuda_##op##_fast_compiled, COMPILED)
#define OVER_ROWS(name, op, shape, t, cols, usable, sources, run)                             \
    ROW(name, op, shape, t, 10, sources, CLAIM(-1.0, CONFIG), run, BY_BLOCKS(cols, usable)),  \
        ROW(name "_compiled", op, shape, t, 12, sources, CLAIM(-1.0, CONFIG), run##_compiled, \
            BY_WALKS(cols, usable))
#define ROW_ROWS(t, ulp, ...)                                                                    \
    OVER_ROWS("cuda_softmax", softmax_last_dim, ROWS, t, "cols", NULL, softmax_sources,          \
              cuda_softmax_rows),                                                                \
        OVER_ROWS("cuda_softmax_rows", softmax, UNARY, t, "axis", last_axis, softmax_sources,    \
                  cuda_softmax_rows),                                                            \
        ROW("cuda_softmax_columns", softmax, UNARY, t, 10, softmax_sources, CLAIM(-1.0, CONFIG), \
            cuda_softmax_columns, .can_run_fn = earlier_axis, .libraries = driver),              \
        OVER_ROWS("cuda_layer_norm", layer_norm_last_dim, ROWS, t, "cols", NULL,                 \
                  layer_norm_sources, cuda_layer_norm),                                          \
        OVER_ROWS("cuda_rms_norm", rms_norm_last_dim, ROWS, t, "cols", NULL, rms_norm_sources,   \
                  cuda_rms_norm),                                                                \
        ROW("cuda_sum", sum_reduce, UNARY, t, 10, sum_sources, CLAIM(-1.0, CONFIG),              \
            cuda_sum_reduce, BY_PARTS)
#define CAST_ROWS(to, ulp, from)                                                                \
    ROW("cuda_cast", cast, PAIR, (from, to), 10, cast_sources, CLAIM(0.0, ANYWHERE), cuda_cast, \
        NO_TUNABLES)
#define MATMUL_ROW(pair)                                                                 \
    ROW("cublaslt_gemm", matmul, MATRICES, pair, 0, blaslt_sources, CLAIM(-1.0, CONFIG), \
        cuda_blaslt_matmul, BY_CHOICE)
#define LINEAR_ROW(t)                                                                          \
    ROW("cublaslt_bias_gemm", fused_linear, LINEAR, t, 0, blaslt_sources, CLAIM(-1.0, CONFIG), \
        cuda_blaslt_linear, BY_CHOICE)

const assay_kernel_desc cuda_rows[] = {
    MATMUL_ROW((ASSAY_F64, ASSAY_F64)),
    MATMUL_ROW((ASSAY_F32, ASSAY_F32)),
    MATMUL_ROW((ASSAY_F16, ASSAY_F16)),
    MATMUL_ROW((ASSAY_BF16, ASSAY_BF16)),
    MATMUL_ROW((ASSAY_F16, ASSAY_F32)),
    MATMUL_ROW((ASSAY_BF16, ASSAY_F32)),
    LINEAR_ROW(ASSAY_F64),
    LINEAR_ROW(ASSAY_F32),
    LINEAR_ROW(ASSAY_F16),
    LINEAR_ROW(ASSAY_BF16),
    EACH(MAP_ROWS, add, BINARY, 0.0),
    EACH(MAP_ROWS, relu, UNARY, 0.0),
    EACH(MAP_ROWS, gelu, UNARY, -1.0),
    EACH(FAST_ROWS, gelu),
    EACH(EXP_ROWS, ),
    FAST_ROWS(ASSAY_F16, 1.0, exp),
    FAST_ROWS(ASSAY_BF16, 1.0, exp),
    EACH(ROW_ROWS, ),
    EACH(CAST_ROWS, ASSAY_F32),
    EACH(CAST_ROWS, ASSAY_F16),
    EACH(CAST_ROWS, ASSAY_BF16),
};
const size_t cuda_row_count = COUNT(cuda_rows);

CUDA_MANIFEST(cuda_rows);

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernels.h -- entry points of the kernel rows, and the places of their
 * tunables. */
#ifndef BACKENDS_CUDA_CUDA_KERNELS_H
#define BACKENDS_CUDA_CUDA_KERNELS_H

#include "backends/cuda/cuda.h"

/* As nvcc is called: bits must not depend on who compiled. */
#define CUDA_NO_CONTRACTION "--fmad=false"

enum { CUDA_MAP_TUNABLE_BLOCK, CUDA_MAP_TUNABLE_UNROLL, CUDA_MAP_TUNABLE_ONCE };
enum { CUDA_ROW_TUNABLE_BLOCK, CUDA_ROW_TUNABLE_PARTS };
enum { CUDA_WALK_TUNABLE_BLOCK, CUDA_WALK_TUNABLE_AHEAD };
enum { CUDA_SUM_TUNABLE_PARTS };
enum { CUDA_BLASLT_TUNABLE_CHOICE };

/* Of the problem's dtypes they take those of their rows in cuda_rows.c. */
#define CUDA_KERNELS(X)      \
    X(add)                   \
    X(relu)                  \
    X(gelu)                  \
    X(gelu_fast)             \
    X(exp)                   \
    X(exp_fast)              \
    X(add_compiled)          \
    X(relu_compiled)         \
    X(gelu_compiled)         \
    X(gelu_fast_compiled)    \
    X(exp_compiled)          \
    X(exp_fast_compiled)     \
    X(cast)                  \
    X(softmax_rows)          \
    X(softmax_columns)       \
    X(layer_norm)            \
    X(rms_norm)              \
    X(softmax_rows_compiled) \
    X(layer_norm_compiled)   \
    X(rms_norm_compiled)     \
    X(sum_reduce)            \
    X(blaslt_matmul)         \
    X(blaslt_linear)

#define X(name) assay_status cuda_##name(const assay_launch *launch);
CUDA_KERNELS(X)
#undef X

/* Extents and leading dimensions that cuBLASLt can count. */
bool cuda_blaslt_usable(const assay_problem *problem, const int64_t *tunables);

#endif

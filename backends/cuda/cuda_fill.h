/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_fill.h -- matrices without a product: C = beta C, rows of a bias. */
#ifndef BACKENDS_CUDA_CUDA_FILL_H
#define BACKENDS_CUDA_CUDA_FILL_H

#include "backends/cuda/cuda.h"
#include "backends/matmul_launch.h"

/* C of the launch times g->beta; what beta 0 multiplies is not read. */
assay_status cuda_fill_scale(const assay_launch *launch, const matmul_launch *g);
/* Every row of a fused_linear's y becomes its bias. */
assay_status cuda_fill_bias(const assay_launch *launch, const matmul_launch *g);

#endif

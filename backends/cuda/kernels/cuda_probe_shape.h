/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_probe_shape.h -- how much a round of cuda_probe.cu is, for its
 * launches too. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_PROBE_SHAPE_H
#define BACKENDS_CUDA_KERNELS_CUDA_PROBE_SHAPE_H

#define CUDA_PROBE_BLOCK 256 /* threads */

/* Vectors of 16 bytes that a thread copies. */
#define CUDA_PROBE_COPIES 4

/* Chains of multiply-adds a thread, which wait for nothing but themselves, and links of each. */
#define CUDA_PROBE_CHAINS 8
#define CUDA_PROBE_LINKS  16

/* Matrix instructions a chain and round: of a warp, and of a warp group. */
#define CUDA_PROBE_PRODUCTS       4
#define CUDA_PROBE_GROUP_PRODUCTS 16

#define CUDA_SHOWN_BLOCK 256 /* threads that show a feature, a word each */

#endif

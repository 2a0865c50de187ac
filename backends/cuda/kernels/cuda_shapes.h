/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_shapes.h -- shapes of blocks that kernels and their launches share.
 * A compiler at run time may be given others. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_SHAPES_H
#define BACKENDS_CUDA_KERNELS_CUDA_SHAPES_H

/* Threads a block, and vectors a thread, of which a single element is a quarter. */
#ifndef CUDA_MAP_BLOCK
#define CUDA_MAP_BLOCK 256
#endif
#ifndef CUDA_MAP_UNROLL
#define CUDA_MAP_UNROLL 2
#endif
#define CUDA_MAP_SINGLES 4 /* elements a thread for each vector, where vectors cannot be */

#define CUDA_CAST_BLOCK  256
#define CUDA_CAST_UNROLL 2
#define CUDA_CAST_VECTOR 8 /* elements */

/* Rows in registers: elements a thread at most, and threads a block at most; twice as many where a
 * thread holds half as many, or it would have too few registers. */
#define CUDA_ROW_HELD 32
#ifndef CUDA_ROW_BLOCK
#define CUDA_ROW_BLOCK 512
#endif

/* Parts of rows. */
#define CUDA_PART_BLOCK  256
#define CUDA_PART_UNROLL 4

/* Softmax along the middle extent: columns x deep threads. */
#define CUDA_LINE_COLUMNS 32
#define CUDA_LINE_DEEP    8

#define CUDA_SUM_BLOCK   256
#define CUDA_SUM_UNROLL  4
#define CUDA_SUM_COLUMNS 32

#define CUDA_FILL_BLOCK 256

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_types_avx2.h -- one type for the templates of convolution.
 *
 * Included once for each type, in order, with PRODUCT_TYPE as cpu_product_types_avx2.h wants it;
 * the tile of convolution comes on top. */
#include "backends/cpu/cpu_conv2d.h"

#undef IS_NAN
#if PRODUCT_TYPE == 64
#define IS_NAN(v) _mm256_movemask_pd(_mm256_cmp_pd(v, v, _CMP_UNORD_Q))
#else
#define IS_NAN(v) _mm256_movemask_ps(_mm256_cmp_ps(v, v, _CMP_UNORD_Q))
#endif

#include "backends/cpu/cpu_product_types_avx2.h"

#ifndef CONV2D_NO_TILE /* a gradient has tiles of its own */
#include "backends/cpu/cpu_conv2d_tile_avx2.h"
#endif

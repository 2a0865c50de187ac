/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_part.cuh -- rows too long for registers, or too few: several blocks a
 * row, in two grids.
 *
 * The first grid leaves what its part adds to the row's figures in memory, one entry a block; the
 * second joins the entries of a row and writes.  So a row is read twice, the second time from the
 * L2 cache where all rows fit there.  Blocks are one-dimensional; block index = row * parts +
 * part. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_PART_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_PART_CUH

#include "backends/cuda/kernels/cuda_row.cuh"

struct cuda_parts_place {
    cuda_rows_place rows;
    cuda_index parts;
    cuda_index vectors; /* of 16 bytes, or elements, a part; the last parts may have none */
};

/* One row in aligned coordinates, and what of it a block walks: [first, end). */
template <typename T, int VEC> struct cuda_part {
    const T *x;
    T *y;
    cuda_index lo, first, end; /* in elements */
};

template <typename T, int VEC> CUDA_INLINE cuda_part<T, VEC> cuda_part_at(const cuda_parts_place &p)
{
    const cuda_index row = blockIdx.x / p.parts, length = p.vectors * VEC;
    cuda_part<T, VEC> part;

    part.x = (const T *)p.rows.x + row * p.rows.x_step;
    part.y = (T *)p.rows.y + row * p.rows.y_step;
    part.lo = VEC > 1 ? (cuda_index)part.x % 16 / sizeof(T) : 0;
    part.x -= part.lo;
    part.y -= part.lo;
    part.first = blockIdx.x % p.parts * length;
    part.end = part.lo + p.rows.cols;
    if (part.first + length < part.end)
        part.end = part.first + length;
    return part;
}

/* CUDA_PART_UNROLL vectors from e on, a block's width apart; fill where there are none.  True: all
 * of them are whole. */
template <typename T, int VEC>
CUDA_INLINE bool cuda_part_load(const cuda_part<T, VEC> &part, cuda_index e, float fill,
                                float (*v)[VEC])
{
    const unsigned step = CUDA_PART_BLOCK * VEC;

    if (e >= part.lo && e + (CUDA_PART_UNROLL - 1) * step + VEC <= part.end) {
        typename cuda_access<T, VEC>::raw raw[CUDA_PART_UNROLL];
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
            raw[u] = cuda_access<T, VEC>::load(part.x + e + u * step);
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
            cuda_access<T, VEC>::unpack(raw[u], v[u]);
        return true;
    }
#pragma unroll
    for (int u = 0; u < CUDA_PART_UNROLL; u++)
        cuda_load_edge<T, VEC>(part.x, e + u * step, part.lo, part.end, fill, v[u]);
    return false;
}

template <typename T, int VEC>
CUDA_INLINE void cuda_part_store(const cuda_part<T, VEC> &part, cuda_index e, float (*v)[VEC])
{
#pragma unroll
    for (int u = 0; u < CUDA_PART_UNROLL; u++)
        cuda_store_edge<T, VEC>(part.y, e + u * CUDA_PART_BLOCK * VEC, part.lo, part.end, v[u]);
}

/* Is element k of vector u, as loaded from e on, within the part? */
template <typename T, int VEC>
CUDA_INLINE bool cuda_part_has(const cuda_part<T, VEC> &part, cuda_index e, int u, int k)
{
    const cuda_index i = e + (cuda_index)u * CUDA_PART_BLOCK * VEC + k;

    return i >= part.lo && i < part.end;
}

#define CUDA_PART_FOR(VEC, part, e)                                       \
    for (cuda_index e = (part).first + threadIdx.x * VEC; e < (part).end; \
         e += CUDA_PART_BLOCK * CUDA_PART_UNROLL * VEC)

/* Entry points <op>_figures_<dtype>, <op>_apply_<dtype>, and both with _single behind. */
#define CUDA_PART_KERNEL(name, body, T, VEC, entry)               \
    extern "C" __global__ void __launch_bounds__(CUDA_PART_BLOCK) \
        name(cuda_parts_place place, entry *entries, double eps)  \
    {                                                             \
        body<T, VEC>(place, entries, eps);                        \
    }
#define CUDA_PART_BOTH(op, t, VEC, suffix, entry)                                  \
    CUDA_PART_KERNEL(op##_figures_##t##suffix, op##_figures, cuda_##t, VEC, entry) \
    CUDA_PART_KERNEL(op##_apply_##t##suffix, op##_apply, cuda_##t, VEC, entry)
#ifdef CUDA_ROW_TYPE
#define CUDA_PART_KERNELS(op, entry)
#else
#define CUDA_PART_KERNELS(op, entry)           \
    CUDA_PART_BOTH(op, f32, 4, , entry)        \
    CUDA_PART_BOTH(op, f16, 8, , entry)        \
    CUDA_PART_BOTH(op, bf16, 8, , entry)       \
    CUDA_PART_BOTH(op, f32, 1, _single, entry) \
    CUDA_PART_BOTH(op, f16, 1, _single, entry) \
    CUDA_PART_BOTH(op, bf16, 1, _single, entry)
#endif

#endif

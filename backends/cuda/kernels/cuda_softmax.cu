/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_softmax.cu -- y = e^(x - max) / sum e^(x - max) over rows, and along
 * the middle one of three extents.
 *
 * A row of -inf gives NaN by itself: -inf - -inf.  A NaN is no maximum but reaches the sum. */
#include "backends/cuda/kernels/cuda_math.cuh"
#include "backends/cuda/kernels/cuda_part.cuh"

#define SOFTMAX_LEAST __uint_as_float(0xff800000u)

struct softmax_rows {
    CUDA_INLINE float outside()
    {
        return SOFTMAX_LEAST;
    }
    template <typename T, int VEC, int PER>
    CUDA_INLINE void work(cuda_group<float> *group, const cuda_row<T, VEC> &row, float n,
                          double eps, float (*v)[VEC])
    {
        float max = SOFTMAX_LEAST, sum = 0.0f;

        (void)row, (void)n, (void)eps;
#pragma unroll
        for (int u = 0; u < PER; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                max = fmaxf(max, v[u][k]);
        max = cuda_group_reduce<cuda_max_of, float>(group, max);
#pragma unroll
        for (int u = 0; u < PER; u++) {
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] = expf(v[u][k] - max);
            sum += cuda_vector_sum<VEC>(v[u]);
        }
        sum = cuda_group_reduce<cuda_sum_of, float>(group, sum);
        const float scale = cuda_divide(1.0f, sum);
#pragma unroll
        for (int u = 0; u < PER; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] *= scale;
    }
};

/* ---- figures of a part: its maximum and the sum by it ------------------------------------------
 */

/* e^(a - max) where a part of nothing but -inf has the share 0 of any sum. */
CUDA_INLINE float softmax_share(float a, float max)
{
    return expf(a - (max == SOFTMAX_LEAST ? 0.0f : max));
}

struct softmax_join {
    enum { is_symmetric = 1 };
    CUDA_INLINE float2 nothing()
    {
        return make_float2(SOFTMAX_LEAST, 0.0f);
    }
    CUDA_INLINE float2 join(float2 a, float2 b)
    {
        const float max = fmaxf(a.x, b.x);

        return make_float2(max, a.y * softmax_share(a.x, max) + b.y * softmax_share(b.x, max));
    }
    CUDA_INLINE float2 shuffled(float2 v, unsigned distance)
    {
        return make_float2(__shfl_xor_sync(0xffffffffu, v.x, (int)distance),
                           __shfl_xor_sync(0xffffffffu, v.y, (int)distance));
    }
};

/* Takes COUNT x VEC more elements in; where there are none, v has -inf. */
template <int COUNT, int VEC> CUDA_INLINE void softmax_take(float2 *figures, float (*v)[VEC])
{
    float max = figures->x, sum = 0.0f;

#pragma unroll
    for (int u = 0; u < COUNT; u++)
#pragma unroll
        for (int k = 0; k < VEC; k++)
            max = fmaxf(max, v[u][k]);
#pragma unroll
    for (int u = 0; u < COUNT; u++) {
#pragma unroll
        for (int k = 0; k < VEC; k++)
            v[u][k] = softmax_share(v[u][k], max);
        sum += cuda_vector_sum<VEC>(v[u]);
    }
    figures->y = figures->y * softmax_share(figures->x, max) + sum;
    figures->x = max;
}

template <typename T, int VEC>
CUDA_INLINE void softmax_figures(const cuda_parts_place &place, float2 *entries, double unused)
{
    __shared__ float2 shared[64];
    cuda_group<float2> group = {shared, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    float2 figures = softmax_join::nothing();
    float v[CUDA_PART_UNROLL][VEC];

    (void)unused;
    CUDA_PART_FOR(VEC, part, e)
    {
        cuda_part_load<T, VEC>(part, e, SOFTMAX_LEAST, v);
        softmax_take<CUDA_PART_UNROLL, VEC>(&figures, v);
    }
    figures = cuda_group_reduce<softmax_join, float2>(&group, figures);
    if (threadIdx.x == 0)
        entries[blockIdx.x] = figures;
}

template <typename T, int VEC>
CUDA_INLINE void softmax_apply(const cuda_parts_place &place, float2 *entries, double unused)
{
    __shared__ float2 shared[64];
    cuda_group<float2> group = {shared, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    const float2 *of_row = entries + blockIdx.x / place.parts * place.parts;
    float2 figures = softmax_join::nothing();
    float v[CUDA_PART_UNROLL][VEC];

    (void)unused;
    for (cuda_index i = threadIdx.x; i < place.parts; i += CUDA_PART_BLOCK)
        figures = softmax_join::join(figures, of_row[i]);
    figures = cuda_group_reduce<softmax_join, float2>(&group, figures);
    const float scale = cuda_divide(1.0f, figures.y);
    CUDA_PART_FOR(VEC, part, e)
    {
        cuda_part_load<T, VEC>(part, e, SOFTMAX_LEAST, v);
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] = expf(v[u][k] - figures.x) * scale;
        cuda_part_store<T, VEC>(part, e, v);
    }
}

/* ---- along the middle extent: neighbouring lines lie side by side ------------------------------
 */

enum { SOFTMAX_AHEAD = 4 };

/* x[outer, axis, inner]; block (columns, deep), whose threads of one column share its line. */
template <typename T>
CUDA_INLINE void softmax_columns(const T *x, T *y, cuda_index axis, cuda_index inner)
{
    __shared__ float2 shared[CUDA_LINE_DEEP][CUDA_LINE_COLUMNS];
    const cuda_index tiles = (inner + CUDA_LINE_COLUMNS - 1) / CUDA_LINE_COLUMNS;
    const cuda_index column = blockIdx.x % tiles * CUDA_LINE_COLUMNS + threadIdx.x;
    const cuda_index line = blockIdx.x / tiles * axis * inner + column;
    const cuda_index end = column < inner ? axis : 0;
    float2 figures = softmax_join::nothing();

    for (cuda_index i = threadIdx.y; i < end; i += CUDA_LINE_DEEP * SOFTMAX_AHEAD) {
        float v[SOFTMAX_AHEAD][1];
#pragma unroll
        for (int u = 0; u < SOFTMAX_AHEAD; u++) {
            const cuda_index at = i + u * CUDA_LINE_DEEP;
            v[u][0] = at < end ? cuda_type<T>::widen(x[line + at * inner]) : SOFTMAX_LEAST;
        }
        softmax_take<SOFTMAX_AHEAD, 1>(&figures, v);
    }
    shared[threadIdx.y][threadIdx.x] = figures;
    __syncthreads();
    figures = shared[0][threadIdx.x];
    for (int d = 1; d < CUDA_LINE_DEEP; d++)
        figures = softmax_join::join(figures, shared[d][threadIdx.x]);
    const float scale = cuda_divide(1.0f, figures.y);
    for (cuda_index i = threadIdx.y; i < end; i += CUDA_LINE_DEEP * SOFTMAX_AHEAD) {
        float v[SOFTMAX_AHEAD];
#pragma unroll
        for (int u = 0; u < SOFTMAX_AHEAD; u++) {
            const cuda_index at = i + u * CUDA_LINE_DEEP;
            v[u] = at < end ? cuda_type<T>::widen(x[line + at * inner]) : 0.0f;
        }
#pragma unroll
        for (int u = 0; u < SOFTMAX_AHEAD; u++) {
            const cuda_index at = i + u * CUDA_LINE_DEEP;
            if (at < end)
                y[line + at * inner] = cuda_type<T>::narrow(expf(v[u] - figures.x) * scale);
        }
    }
}

#define SOFTMAX_COLUMN_KERNEL(t)                                                               \
    extern "C" __global__ void __launch_bounds__(CUDA_LINE_COLUMNS *CUDA_LINE_DEEP)            \
        softmax_columns_##t(const cuda_##t *x, cuda_##t *y, cuda_index axis, cuda_index inner) \
    {                                                                                          \
        softmax_columns<cuda_##t>(x, y, axis, inner);                                          \
    }

CUDA_ROW_KERNELS(softmax, softmax_rows)
CUDA_PART_KERNELS(softmax, float2)
#ifndef CUDA_ROW_TYPE
SOFTMAX_COLUMN_KERNEL(f32)
SOFTMAX_COLUMN_KERNEL(f16)
SOFTMAX_COLUMN_KERNEL(bf16)
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_rms_norm.cu -- y = x / sqrt(mean(x^2) + eps) over rows. */
#include "backends/cuda/kernels/cuda_norm.cuh"

template <int PER, int VEC> CUDA_INLINE float rms_squares(float (*v)[VEC])
{
    float sum = 0.0f;

#pragma unroll
    for (int u = 0; u < PER; u++) {
        float squares[VEC];
#pragma unroll
        for (int k = 0; k < VEC; k++)
            squares[k] = v[u][k] * v[u][k];
        sum += cuda_vector_sum<VEC>(squares);
    }
    return sum;
}

/* ---- rows in registers -------------------------------------------------------------------------
 */

struct rms_norm_rows {
    CUDA_INLINE float outside()
    {
        return 0.0f;
    }
    /* Each group decides for itself whether to scale, but a warp goes one way; where the block is
     * the group, all of its threads hold the same figure. */
    template <typename T, int VEC, int PER>
    CUDA_INLINE void work(cuda_group<float> *group, const cuda_row<T, VEC> &row, float n,
                          double eps, float (*v)[VEC])
    {
        const float share = cuda_reciprocal(n); /* of an infinite sum it leaves one */
        float scale = 1.0f;
        float square =
            cuda_group_reduce<cuda_sum_of, float>(group, rms_squares<PER, VEC>(v)) * share;

        if (!__all_sync(0xffffffffu, row.hi == 0 || norm_in_range(square, eps))) {
            const float largest =
                cuda_group_reduce<cuda_max_of, float>(group, norm_largest<PER, VEC>(v));
            scale = norm_in_range(square, eps) ? 1.0f : norm_scale(largest);
            norm_multiply<PER, VEC>(v, scale);
            square = cuda_group_reduce<cuda_sum_of, float>(group, rms_squares<PER, VEC>(v)) * share;
        }
        norm_multiply<PER, VEC>(v, norm_inverse(square, eps, scale));
    }
};

/* ---- parts of rows -----------------------------------------------------------------------------
 */

/* The sum of squares of scaled values, and the scale. */
typedef float2 rms_figures;

struct rms_join {
    enum { is_symmetric = 1 };
    CUDA_INLINE rms_figures nothing()
    {
        return make_float2(0.0f, 0x1p+126f);
    }
    /* By the smaller scale, that of the larger values; quotients of powers of two are exact.  One
     * after the other: their square may be 0, and an infinite sum stays one. */
    CUDA_INLINE rms_figures join(rms_figures a, rms_figures b)
    {
        const float scale = fminf(a.y, b.y);

        if (a.y == b.y)
            return make_float2(a.x + b.x, scale);
        const float p = scale * cuda_reciprocal(a.y), q = scale * cuda_reciprocal(b.y);
        return make_float2(a.x * p * p + b.x * q * q, scale);
    }
    CUDA_INLINE rms_figures shuffled(rms_figures v, unsigned distance)
    {
        return make_float2(__shfl_xor_sync(0xffffffffu, v.x, (int)distance),
                           __shfl_xor_sync(0xffffffffu, v.y, (int)distance));
    }
};

template <typename T, int VEC>
CUDA_INLINE float rms_part_largest(const cuda_part<T, VEC> &part, cuda_group<float> *group)
{
    float v[CUDA_PART_UNROLL][VEC], largest = 0.0f;

    CUDA_PART_FOR(VEC, part, e)
    {
        cuda_part_load<T, VEC>(part, e, 0.0f, v);
        largest = fmaxf(largest, norm_largest<CUDA_PART_UNROLL, VEC>(v));
    }
    return cuda_group_reduce<cuda_max_of, float>(group, largest);
}

template <typename T, int VEC>
CUDA_INLINE void rms_norm_figures(const cuda_parts_place &place, rms_figures *entries, double eps)
{
    __shared__ float shared[64];
    cuda_group<float> group = {shared, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    const bool is_empty = part.first >= part.end;
    const float n = (float)(part.end - part.first); /* of the part, for the range alone */
    float sum, scale = 1.0f;

#pragma unroll 1
    for (int again = 0;; again = 1) {
        sum = 0.0f;
        CUDA_PART_FOR(VEC, part, e)
        {
            float v[CUDA_PART_UNROLL][VEC];
            cuda_part_load<T, VEC>(part, e, 0.0f, v);
            norm_multiply<CUDA_PART_UNROLL, VEC>(v, scale);
            sum += rms_squares<CUDA_PART_UNROLL, VEC>(v);
        }
        sum = cuda_group_reduce<cuda_sum_of, float>(&group, sum);
        if (again || is_empty ||
            norm_in_range(sum * cuda_reciprocal(n), eps)) /* the same for all threads */
            break;
        scale = norm_scale(rms_part_largest<T, VEC>(part, &group));
    }
    if (threadIdx.x == 0)
        entries[blockIdx.x] = is_empty ? rms_join::nothing() : make_float2(sum, scale);
}

template <typename T, int VEC>
CUDA_INLINE void rms_norm_apply(const cuda_parts_place &place, rms_figures *entries, double eps)
{
    __shared__ rms_figures shared[64];
    cuda_group<rms_figures> group = {shared, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    const rms_figures *of_row = entries + blockIdx.x / place.parts * place.parts;
    rms_figures figures = rms_join::nothing();

    for (cuda_index i = threadIdx.x; i < place.parts; i += CUDA_PART_BLOCK)
        figures = rms_join::join(figures, of_row[i]);
    figures = cuda_group_reduce<rms_join, rms_figures>(&group, figures);
    const float inverse =
        norm_inverse(figures.x * cuda_reciprocal((float)place.rows.cols), eps, figures.y);
    CUDA_PART_FOR(VEC, part, e)
    {
        float v[CUDA_PART_UNROLL][VEC];
        cuda_part_load<T, VEC>(part, e, 0.0f, v);
        norm_multiply<CUDA_PART_UNROLL, VEC>(v, figures.y);
        norm_multiply<CUDA_PART_UNROLL, VEC>(v, inverse);
        cuda_part_store<T, VEC>(part, e, v);
    }
}

CUDA_ROW_KERNELS(rms_norm, rms_norm_rows)
CUDA_PART_KERNELS(rms_norm, rms_figures)

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_layer_norm.cu -- y = (x - mean) / sqrt(var + eps) over rows.
 *
 * The variance is that of the differences from the mean, of a row in registers in a second pass
 * over them, of parts by joining theirs (Chan, Golub and LeVeque, 1979): E[x^2] - E[x]^2 would
 * cancel. */
#include "backends/cuda/kernels/cuda_norm.cuh"

template <int PER, int VEC> CUDA_INLINE float layer_sum(float (*v)[VEC])
{
    float sum = 0.0f;

#pragma unroll
    for (int u = 0; u < PER; u++)
        sum += cuda_vector_sum<VEC>(v[u]);
    return sum;
}

template <int PER, int VEC> CUDA_INLINE float layer_squares(float (*v)[VEC], float mean)
{
    float sum = 0.0f;

#pragma unroll
    for (int u = 0; u < PER; u++) {
        float squares[VEC];
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            const float d = v[u][k] - mean;
            squares[k] = d * d;
        }
        sum += cuda_vector_sum<VEC>(squares);
    }
    return sum;
}

/* ---- rows in registers -------------------------------------------------------------------------
 */

struct layer_norm_rows {
    CUDA_INLINE float outside()
    {
        return 0.0f;
    }
    /* Each group decides for itself whether to scale, but a warp goes one way; where the block is
     * the group, all of its threads hold the same figures. */
    template <typename T, int VEC, int PER>
    CUDA_INLINE void work(cuda_group<float> *group, const cuda_row<T, VEC> &row, float n,
                          double eps, float (*v)[VEC])
    {
        float mean, var, scale = 1.0f;

#pragma unroll 1
        for (int again = 0;; again = 1) {
            mean = cuda_divide(cuda_group_reduce<cuda_sum_of, float>(group, layer_sum<PER, VEC>(v)),
                               n);
            cuda_row_fill<T, VEC, PER>(row, mean, v);
            var = cuda_divide(
                cuda_group_reduce<cuda_sum_of, float>(group, layer_squares<PER, VEC>(v, mean)), n);
            if (again || __all_sync(0xffffffffu, row.hi == 0 || norm_in_range(var, eps)))
                break;
            cuda_row_fill<T, VEC, PER>(row, 0.0f, v);
            const float largest =
                cuda_group_reduce<cuda_max_of, float>(group, norm_largest<PER, VEC>(v));
            scale = norm_in_range(var, eps) ? 1.0f : norm_scale(largest);
            norm_multiply<PER, VEC>(v, scale);
        }
        const float inverse = norm_inverse(var, eps, scale);
#pragma unroll
        for (int u = 0; u < PER; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] = (v[u][k] - mean) * inverse;
    }
};

/* ---- parts of rows -----------------------------------------------------------------------------
 */

/* Of scaled values: how many, their mean, the sum of squares of the differences from it, the scale.
 */
typedef float4 layer_figures;

/* Both by the smaller scale, that of the larger values. */
CUDA_INLINE void layer_rescale(layer_figures *f, float scale)
{
    const float factor = scale * cuda_reciprocal(f->w); /* powers of two, at most one */

    f->y *= factor;
    f->z *= factor * factor;
    f->w = scale;
}

struct layer_join {
    enum { is_symmetric = 0 };
    CUDA_INLINE layer_figures nothing()
    {
        return make_float4(0.0f, 0.0f, 0.0f, 0x1p+126f);
    }
    CUDA_INLINE layer_figures join(layer_figures a, layer_figures b)
    {
        const float count = a.x + b.x, scale = fminf(a.w, b.w);

        if (a.w != b.w) {
            layer_rescale(&a, scale);
            layer_rescale(&b, scale);
        }
        if (a.x == 0.0f || b.x == 0.0f)
            return a.x == 0.0f ? b : a;
        const float difference = b.y - a.y, share = b.x * cuda_reciprocal(count);
        return make_float4(count, fmaf(difference, share, a.y),
                           a.z + b.z + difference * difference * (a.x * share), scale);
    }
    CUDA_INLINE layer_figures shuffled(layer_figures v, unsigned distance)
    {
        return make_float4(__shfl_xor_sync(0xffffffffu, v.x, (int)distance),
                           __shfl_xor_sync(0xffffffffu, v.y, (int)distance),
                           __shfl_xor_sync(0xffffffffu, v.z, (int)distance),
                           __shfl_xor_sync(0xffffffffu, v.w, (int)distance));
    }
};

/* Those of one load; outside the part v has 0 and counts for nothing. */
template <typename T, int VEC>
CUDA_INLINE layer_figures layer_of_load(const cuda_part<T, VEC> &part, cuda_index e, float scale,
                                        bool is_whole, float (*v)[VEC])
{
    float count = CUDA_PART_UNROLL * VEC;

    if (!is_whole) {
        count = 0.0f;
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                count += cuda_part_has<T, VEC>(part, e, u, k) ? 1.0f : 0.0f;
    }
    norm_multiply<CUDA_PART_UNROLL, VEC>(v, scale);
    const float sum = layer_sum<CUDA_PART_UNROLL, VEC>(v);
    const float mean = is_whole       ? sum * (1.0f / (CUDA_PART_UNROLL * VEC))
                       : count > 0.0f ? cuda_divide(sum, count)
                                      : 0.0f;
    if (!is_whole) {
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                if (!cuda_part_has<T, VEC>(part, e, u, k))
                    v[u][k] = mean;
    }
    return make_float4(count, mean, layer_squares<CUDA_PART_UNROLL, VEC>(v, mean), scale);
}

template <typename T, int VEC>
CUDA_INLINE float layer_part_largest(const cuda_part<T, VEC> &part, cuda_group<float> *group)
{
    float v[CUDA_PART_UNROLL][VEC], largest = 0.0f;

    CUDA_PART_FOR(VEC, part, e)
    {
        cuda_part_load<T, VEC>(part, e, 0.0f, v);
        largest = fmaxf(largest, norm_largest<CUDA_PART_UNROLL, VEC>(v));
    }
    return cuda_group_reduce<cuda_max_of, float>(group, largest);
}

/* Differences of means are squared when parts are joined. */
CUDA_INLINE bool layer_in_range(layer_figures f, double eps)
{
    return f.x == 0.0f || (norm_in_range(cuda_divide(f.z, f.x), eps) && fabsf(f.y) <= 0x1p+50f);
}

template <typename T, int VEC>
CUDA_INLINE void layer_norm_figures(const cuda_parts_place &place, layer_figures *entries,
                                    double eps)
{
    __shared__ layer_figures shared[64];
    __shared__ float shared_largest[64];
    cuda_group<layer_figures> group = {shared, CUDA_PART_BLOCK, 0};
    cuda_group<float> largest_group = {shared_largest, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    layer_figures figures;
    float scale = 1.0f;

#pragma unroll 1
    for (int again = 0;; again = 1) {
        figures = layer_join::nothing();
        CUDA_PART_FOR(VEC, part, e)
        {
            float v[CUDA_PART_UNROLL][VEC];
            const bool is_whole = cuda_part_load<T, VEC>(part, e, 0.0f, v);
            figures = layer_join::join(figures, layer_of_load<T, VEC>(part, e, scale, is_whole, v));
        }
        figures = cuda_group_reduce<layer_join, layer_figures>(&group, figures);
        if (again || layer_in_range(figures, eps)) /* the same for all threads */
            break;
        scale = norm_scale(layer_part_largest<T, VEC>(part, &largest_group));
    }
    if (threadIdx.x == 0)
        entries[blockIdx.x] = figures;
}

template <typename T, int VEC>
CUDA_INLINE void layer_norm_apply(const cuda_parts_place &place, layer_figures *entries, double eps)
{
    __shared__ layer_figures shared[64];
    cuda_group<layer_figures> group = {shared, CUDA_PART_BLOCK, 0};
    const cuda_part<T, VEC> part = cuda_part_at<T, VEC>(place);
    const layer_figures *of_row = entries + blockIdx.x / place.parts * place.parts;
    layer_figures figures = layer_join::nothing();

    for (cuda_index i = threadIdx.x; i < place.parts; i += CUDA_PART_BLOCK)
        figures = layer_join::join(figures, of_row[i]);
    figures = cuda_group_reduce<layer_join, layer_figures>(&group, figures);
    const float inverse = norm_inverse(cuda_divide(figures.z, figures.x), eps, figures.w);
    CUDA_PART_FOR(VEC, part, e)
    {
        float v[CUDA_PART_UNROLL][VEC];
        cuda_part_load<T, VEC>(part, e, 0.0f, v);
#pragma unroll
        for (int u = 0; u < CUDA_PART_UNROLL; u++)
#pragma unroll
            for (int k = 0; k < VEC; k++)
                v[u][k] = fmaf(v[u][k], figures.w, -figures.y) * inverse;
        cuda_part_store<T, VEC>(part, e, v);
    }
}

CUDA_ROW_KERNELS(layer_norm, layer_norm_rows)
CUDA_PART_KERNELS(layer_norm, layer_figures)

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_exp_avx2.c -- y = e^x, a vector at a time, stores around the cache on request.
 */
#include "backends/cpu/cpu_exp_avx2.h"
#include "backends/cpu/cpu_map_avx2.h"

CPU_UNARY_SPAN(exp_f64_avx2, f64, double, LANES_PD, vec_pd, exp_pd)
CPU_UNARY_SPAN(exp_f32_avx2, f32, float, LANES_PS, vec_ps, exp_accurate_ps)
CPU_UNARY_SPAN(exp_f16_avx2, f16, uint16_t, LANES_PS, vec_ps, exp_fast_ps)
CPU_UNARY_SPAN(exp_bf16_avx2, bf16, uint16_t, LANES_PS, vec_ps, exp_fast_ps)

/* The fast f32 kernel works on four vectors at a time. */

static inline void fast_part(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += 8) {
        float in[8] = {0}, out[8];
        size_t bytes = (size_t)(n - i < 8 ? n - i : 8) * sizeof *x;
        memcpy(in, x + i, bytes);
        _mm256_storeu_ps(out, exp_fast_ps(_mm256_loadu_ps(in)));
        memcpy(y + i, out, bytes);
    }
}

static inline __attribute__((always_inline)) int64_t
fast_groups(const float *x, float *y, int64_t i, int64_t n, bool nontemporal)
{
    for (; i + 32 <= n; i += 32) {
        __m256 v0 = _mm256_loadu_ps(x + i), v1 = _mm256_loadu_ps(x + i + 8);
        __m256 v2 = _mm256_loadu_ps(x + i + 16), v3 = _mm256_loadu_ps(x + i + 24);
        _mm_prefetch((const char *)(x + i) + CPU_AHEAD, _MM_HINT_T0);
        _mm_prefetch((const char *)(x + i + 16) + CPU_AHEAD, _MM_HINT_T0);
        exp_four_ps(&v0, &v1, &v2, &v3);
        store_f32(y + i, v0, nontemporal);
        store_f32(y + i + 8, v1, nontemporal);
        store_f32(y + i + 16, v2, nontemporal);
        store_f32(y + i + 24, v3, nontemporal);
    }
    return i;
}

static void span_fast_f32(const void *in, void *out, int64_t n, bool nontemporal)
{
    const float *x = in;
    float *y = out;
    int64_t i = 0;

    if (nontemporal) {
        i = elements_to_align(y, 32, sizeof *y, n);
        fast_part(x, y, i);
        i = fast_groups(x, y, i, n, true);
        _mm_sfence();
    } else {
        i = fast_groups(x, y, i, n, false);
    }
    fast_part(x + i, y + i, n - i);
}

CPU_ENTRY(exp_fast_f32_avx2)
{
    return cpu_run_unary(launch, span_fast_f32);
}

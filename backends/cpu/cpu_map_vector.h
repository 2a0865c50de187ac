/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_map_vector.h -- elementwise kernels of one operand, for vectors of either width:
 * cpu_map_avx2.h and cpu_map_avx512.h include it behind their loads and stores.
 *
 * CPU_UNARY_KERNEL(op, level, f, g, h) defines cpu_<op>_<level>_{f64,f32,f16,bf16} from functions
 * of vec_pd (f), of vec_ps for f32 (g) and of vec_ps for halves (h), which are rounded once more;
 * CPU_UNARY_FAST(op, level, g) cpu_<op>_fast_<level>_f32.  Whole vectors and tails take the same
 * path, so that neither alignment nor the number of threads changes a bit. */
#ifndef ASSAY_BACKENDS_CPU_MAP_VECTOR_H
#define ASSAY_BACKENDS_CPU_MAP_VECTOR_H

/* Memory is asked for this many bytes before its turn: arithmetic fills the window in which loads
 * could run ahead. */
#define CPU_AHEAD 4096

#define CPU_UNARY_SPAN(entry, name, type, lanes, vector, f)                          \
    static inline void part_##entry(const type *x, type *y, int64_t n)               \
    {                                                                                \
        type in[lanes] = {0}, out[lanes];                                            \
        memcpy(in, x, (size_t)n * sizeof *x);                                        \
        cpu_out_##name(out, f(cpu_in_##name(in)), false);                            \
        memcpy(y, out, (size_t)n * sizeof *y);                                       \
    }                                                                                \
    static inline __attribute__((always_inline))                                     \
    int64_t vectors_##entry(const type *x, type *y, int64_t i, int64_t n, bool nt)   \
    {                                                                                \
        for (; i + 4 * (lanes) <= n; i += 4 * (lanes)) {                             \
            vector v0 = cpu_in_##name(x + i), v1 = cpu_in_##name(x + i + (lanes));   \
            vector v2 = cpu_in_##name(x + i + 2 * (lanes));                          \
            vector v3 = cpu_in_##name(x + i + 3 * (lanes));                          \
            for (size_t at = 0; at < 4 * (lanes) * sizeof *x; at += 64)              \
                _mm_prefetch((const char *)(x + i) + CPU_AHEAD + at, _MM_HINT_T0);   \
            v0 = f(v0);                                                              \
            v1 = f(v1);                                                              \
            v2 = f(v2);                                                              \
            v3 = f(v3);                                                              \
            cpu_out_##name(y + i, v0, nt);                                           \
            cpu_out_##name(y + i + (lanes), v1, nt);                                 \
            cpu_out_##name(y + i + 2 * (lanes), v2, nt);                             \
            cpu_out_##name(y + i + 3 * (lanes), v3, nt);                             \
        }                                                                            \
        for (; i + (lanes) <= n; i += (lanes))                                       \
            cpu_out_##name(y + i, f(cpu_in_##name(x + i)), nt);                      \
        return i;                                                                    \
    }                                                                                \
    static void span_##entry(const void *in, void *out, int64_t n, bool nontemporal) \
    {                                                                                \
        const type *x = in;                                                          \
        type *y = out;                                                               \
        int64_t i = 0;                                                               \
        if (nontemporal) {                                                           \
            i = elements_to_align(y, cpu_align_##name, sizeof *y, n);                \
            part_##entry(x, y, i);                                                   \
            i = vectors_##entry(x, y, i, n, true);                                   \
            _mm_sfence();                                                            \
        } else {                                                                     \
            i = vectors_##entry(x, y, i, n, false);                                  \
        }                                                                            \
        part_##entry(x + i, y + i, n - i);                                           \
    }                                                                                \
    CPU_ENTRY(entry)                                                                 \
    {                                                                                \
        return cpu_run_unary(launch, span_##entry);                                  \
    }

#define CPU_UNARY_KERNEL(op, level, f, g, h)                               \
    CPU_UNARY_SPAN(op##_##level##_f64, f64, double, LANES_PD, vec_pd, f)   \
    CPU_UNARY_SPAN(op##_##level##_f32, f32, float, LANES_PS, vec_ps, g)    \
    CPU_UNARY_SPAN(op##_##level##_f16, f16, uint16_t, LANES_PS, vec_ps, h) \
    CPU_UNARY_SPAN(op##_##level##_bf16, bf16, uint16_t, LANES_PS, vec_ps, h)

#define CPU_UNARY_FAST(op, level, g) \
    CPU_UNARY_SPAN(op##_fast_##level##_f32, f32, float, LANES_PS, vec_ps, g)

/* A function of f64 on a vector of f32, rounded once: within one value of the correctly rounded
 * one where the function is good to 2^-30. */
#define CPU_THROUGH_F64(name, f)                     \
    static inline vec_ps name(vec_ps x)              \
    {                                                \
        return join_pd(f(low_pd(x)), f(high_pd(x))); \
    }

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_element.cuh -- element types, conversions, and memory 16 bytes at a
 * time.
 *
 * No header of CUDA is included, so that the compiler at run time needs none.  Arrays are walked in
 * aligned coordinates: pointers are lowered to a multiple of 16 bytes, elements [lo, hi) count, and
 * what lies outside is neither read nor written.  Results may lie over operands: what a thread
 * writes no other thread reads, and nothing is read through the read-only cache. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_ELEMENT_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_ELEMENT_CUH

#define CUDA_INLINE static __device__ __forceinline__

typedef unsigned long long cuda_index;
typedef float cuda_f32;
struct cuda_f16 {
    unsigned short bits;
};
struct cuda_bf16 {
    unsigned short bits;
};

/* vec: elements of 16 bytes.  widen is exact, narrow rounds once, ties to even. */
template <typename T> struct cuda_type;

template <> struct cuda_type<cuda_f32> {
    enum { vec = 4 };
    CUDA_INLINE float widen(cuda_f32 x)
    {
        return x;
    }
    CUDA_INLINE cuda_f32 narrow(float x)
    {
        return x;
    }
    CUDA_INLINE void unpack(uint4 raw, float *v)
    {
        v[0] = __uint_as_float(raw.x);
        v[1] = __uint_as_float(raw.y);
        v[2] = __uint_as_float(raw.z);
        v[3] = __uint_as_float(raw.w);
    }
    CUDA_INLINE uint4 pack(const float *v)
    {
        return make_uint4(__float_as_uint(v[0]), __float_as_uint(v[1]), __float_as_uint(v[2]),
                          __float_as_uint(v[3]));
    }
};

template <> struct cuda_type<cuda_f16> {
    enum { vec = 8 };
    CUDA_INLINE float widen(cuda_f16 x)
    {
        float y;
        asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
        return y;
    }
    CUDA_INLINE cuda_f16 narrow(float x)
    {
        cuda_f16 y;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
    }
    CUDA_INLINE void split(unsigned pair, float *v)
    {
        asm("{\n\t.reg .b16 lo, hi;\n\tmov.b32 {lo, hi}, %2;\n\tcvt.f32.f16 %0, lo;\n\t"
            "cvt.f32.f16 %1, hi;\n\t}"
            : "=f"(v[0]), "=f"(v[1])
            : "r"(pair));
    }
    CUDA_INLINE unsigned join(const float *v)
    {
        unsigned pair;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(v[1]), "f"(v[0]));
        return pair;
    }
    CUDA_INLINE void unpack(uint4 raw, float *v)
    {
        split(raw.x, v);
        split(raw.y, v + 2);
        split(raw.z, v + 4);
        split(raw.w, v + 6);
    }
    CUDA_INLINE uint4 pack(const float *v)
    {
        return make_uint4(join(v), join(v + 2), join(v + 4), join(v + 6));
    }
};

template <> struct cuda_type<cuda_bf16> {
    enum { vec = 8 };
    CUDA_INLINE float widen(cuda_bf16 x)
    {
        return __uint_as_float((unsigned)x.bits << 16);
    }
    CUDA_INLINE cuda_bf16 narrow(float x)
    {
        cuda_bf16 y;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
    }
    CUDA_INLINE void split(unsigned pair, float *v)
    {
        v[0] = __uint_as_float(pair << 16);
        v[1] = __uint_as_float(pair & 0xffff0000u);
    }
    CUDA_INLINE unsigned join(const float *v)
    {
        unsigned pair;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(v[1]), "f"(v[0]));
        return pair;
    }
    CUDA_INLINE void unpack(uint4 raw, float *v)
    {
        split(raw.x, v);
        split(raw.y, v + 2);
        split(raw.z, v + 4);
        split(raw.w, v + 6);
    }
    CUDA_INLINE uint4 pack(const float *v)
    {
        return make_uint4(join(v), join(v + 2), join(v + 4), join(v + 6));
    }
};

/* VEC elements at once: 16 bytes or one element. */
template <typename T, int VEC> struct cuda_access {
    typedef uint4 raw;
    CUDA_INLINE raw zero()
    {
        return make_uint4(0, 0, 0, 0);
    }
    CUDA_INLINE raw load(const T *p)
    {
        return *(const uint4 *)p;
    }
    CUDA_INLINE void store(T *p, raw r)
    {
        *(uint4 *)p = r;
    }
    /* For what is used once: the first to leave the caches. */
    CUDA_INLINE raw load_once(const T *p)
    {
        raw r;
        asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "l"(p)
                     : "memory");
        return r;
    }
    CUDA_INLINE void store_once(T *p, raw r)
    {
        asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(r.x), "r"(r.y),
                     "r"(r.z), "r"(r.w)
                     : "memory");
    }
    CUDA_INLINE void unpack(raw r, float *v)
    {
        cuda_type<T>::unpack(r, v);
    }
    CUDA_INLINE raw pack(const float *v)
    {
        return cuda_type<T>::pack(v);
    }
};

template <typename T> struct cuda_access<T, 1> {
    typedef T raw;
    CUDA_INLINE raw zero()
    {
        return T();
    }
    CUDA_INLINE raw load(const T *p)
    {
        return *p;
    }
    CUDA_INLINE void store(T *p, raw r)
    {
        *p = r;
    }
    CUDA_INLINE raw load_once(const T *p)
    {
        return *p;
    }
    CUDA_INLINE void store_once(T *p, raw r)
    {
        *p = r;
    }
    CUDA_INLINE void unpack(raw r, float *v)
    {
        v[0] = cuda_type<T>::widen(r);
    }
    CUDA_INLINE raw pack(const float *v)
    {
        return cuda_type<T>::narrow(v[0]);
    }
};

/* Is the whole vector at `e` among elements [lo, hi)? */
template <int VEC> CUDA_INLINE bool cuda_whole(cuda_index e, cuda_index lo, cuda_index hi)
{
    return e >= lo && e + VEC <= hi;
}

/* A vector that may stick out of [lo, hi): there v has `fill`. */
template <typename T, int VEC>
CUDA_INLINE void cuda_load_edge(const T *p, cuda_index e, cuda_index lo, cuda_index hi, float fill,
                                float *v)
{
    if (cuda_whole<VEC>(e, lo, hi)) {
        cuda_access<T, VEC>::unpack(cuda_access<T, VEC>::load(p + e), v);
        return;
    }
#pragma unroll
    for (int k = 0; k < VEC; k++)
        v[k] = e + k >= lo && e + k < hi ? cuda_type<T>::widen(p[e + k]) : fill;
}

template <typename T, int VEC>
CUDA_INLINE void cuda_store_edge(T *p, cuda_index e, cuda_index lo, cuda_index hi, const float *v)
{
    if (cuda_whole<VEC>(e, lo, hi)) {
        cuda_access<T, VEC>::store(p + e, cuda_access<T, VEC>::pack(v));
        return;
    }
#pragma unroll
    for (int k = 0; k < VEC; k++)
        if (e + k >= lo && e + k < hi)
            p[e + k] = cuda_type<T>::narrow(v[k]);
}

#endif

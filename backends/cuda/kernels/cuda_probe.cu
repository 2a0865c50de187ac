/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_probe.cu -- kernels of known work: they prove clocks and show what the
 * device does at most.
 *
 * Arithmetic is done in registers on numbers that stay normal and finite, all alike, so that power
 * limits as little as can be.  Results are compared with a NaN that none of them is, so that no
 * compiler leaves them out. */
#include "backends/cuda/kernels/cuda_element.cuh"
#include "backends/cuda/kernels/cuda_probe_shape.h"

extern "C" __global__ void probe_empty()
{
}

/* ---- waiting ---- */

struct probe_spun {
    cuda_index ns, cycles, step_ns;
};

CUDA_INLINE cuda_index timer_ns()
{
    cuda_index ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

CUDA_INLINE cuda_index cycles_now()
{
    cuda_index cycles;

    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

/* From a step of the timer to a step of the timer: what is told is then exact, however coarse it
 * is. */
extern "C" __global__ void probe_spin(cuda_index amount, cuda_index by_cycles, probe_spun *out)
{
    const cuda_index before = timer_ns();
    cuda_index begin = before;

    while (begin == before)
        begin = timer_ns();
    const cuda_index first = cycles_now();
    cuda_index step = begin - before, now = begin, cycles = 0;
    do {
        const cuda_index read = timer_ns();
        if (read == now)
            continue;
        step = read - now < step ? read - now : step;
        now = read;
        cycles = cycles_now() - first;
    } while ((by_cycles ? cycles : now - begin) < amount);
    out->ns = now - begin;
    out->cycles = cycles;
    out->step_ns = step;
}

/* ---- copying ---- */

CUDA_INLINE uint4 load_once(const uint4 *p)
{
    uint4 r;

    asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                 : "l"(p));
    return r;
}

CUDA_INLINE void store_once(uint4 *p, uint4 r)
{
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(r.x), "r"(r.y),
                 "r"(r.z), "r"(r.w)
                 : "memory");
}

extern "C" __global__ void probe_copy(const uint4 *from, uint4 *to, cuda_index bytes)
{
    const cuda_index vectors = bytes / 16;
    const cuda_index first =
        (cuda_index)blockIdx.x * (CUDA_PROBE_BLOCK * CUDA_PROBE_COPIES) + threadIdx.x;
    uint4 held[CUDA_PROBE_COPIES];

#pragma unroll
    for (int i = 0; i < CUDA_PROBE_COPIES; i++)
        if (first + i * CUDA_PROBE_BLOCK < vectors)
            held[i] = load_once(from + first + i * CUDA_PROBE_BLOCK);
#pragma unroll
    for (int i = 0; i < CUDA_PROBE_COPIES; i++)
        if (first + i * CUDA_PROBE_BLOCK < vectors)
            store_once(to + first + i * CUDA_PROBE_BLOCK, held[i]);
    if (blockIdx.x == 0 && threadIdx.x < bytes % 16)
        ((char *)(to + vectors))[threadIdx.x] = ((const char *)(from + vectors))[threadIdx.x];
}

/* ---- multiply-adds ---- */

CUDA_INLINE cuda_index bits_of(double x)
{
    return (cuda_index)__double_as_longlong(x);
}
CUDA_INLINE cuda_index bits_of(float x)
{
    return __float_as_uint(x);
}
CUDA_INLINE cuda_index bits_of(unsigned x)
{
    return x;
}

/* x = x / 2 + 1 / 2, which comes to rest at 1; first: of thread i.  Of 16 bits two numbers a
 * register: one half is 0x3800, or 0x3f00 as bf16. */
#define FMA(t, type, constraint, first, half)       \
    struct fma_##t {                                \
        typedef type number;                        \
        CUDA_INLINE number start(unsigned i)        \
        {                                           \
            return first;                           \
        }                                           \
        CUDA_INLINE number next(number x)           \
        {                                           \
            number y;                               \
            asm("fma.rn." #t " %0, %1, %2, %2;"     \
                : "=" constraint(y)                 \
                : constraint(x), constraint(half)); \
            return y;                               \
        }                                           \
    }
FMA(f64, double, "d", 1.0 + i * 0x1p-9, 0.5);
FMA(f32, float, "f", 1.0f + (float)i * 0x1p-9f, 0.5f);
FMA(f16x2, unsigned, "r", 0x3c003c00u + (i & 7), 0x38003800u);
FMA(bf16x2, unsigned, "r", 0x3f803f80u + (i & 7), 0x3f003f00u);

/* never: bits that no result has. */
template <typename U> CUDA_INLINE void chains(cuda_index rounds, cuda_index never, cuda_index *out)
{
    typename U::number x[CUDA_PROBE_CHAINS];

#pragma unroll
    for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
        x[c] = U::start(threadIdx.x + c);
#pragma unroll 1
    for (cuda_index i = 0; i < rounds; i++)
#pragma unroll
        for (int link = 0; link < CUDA_PROBE_LINKS; link++)
#pragma unroll
            for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
                x[c] = U::next(x[c]);
#pragma unroll
    for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
        if (bits_of(x[c]) == never)
            *out = never;
}

#define CHAINS(name, t)                                                        \
    extern "C" __global__ void __launch_bounds__(CUDA_PROBE_BLOCK)             \
        probe_fma_##name(cuda_index rounds, cuda_index never, cuda_index *out) \
    {                                                                          \
        chains<fma_##t>(rounds, never, out);                                   \
    }
CHAINS(f64, f64)
CHAINS(f32, f32)
CHAINS(f16, f16x2)
CHAINS(bf16, bf16x2)

/* ---- products of matrices by warps ---- */

/* 16 x 8 results of 32 bytes of terms; all operands alike.  f16 sums in f16, which some devices do
 * at twice the rate. */
#define PRODUCT(t, shape, types, sum, count, constraint, word)                              \
    struct product_##t {                                                                    \
        typedef sum number;                                                                 \
        enum { sums = count };                                                              \
        CUDA_INLINE void next(number *d)                                                    \
        {                                                                                   \
            PRODUCT_##count("mma.sync.aligned." shape ".row.col." types, constraint, word); \
        }                                                                                   \
    }
#define PRODUCT_2(instruction, constraint, word)                       \
    asm(instruction " {%0, %1}, {%2, %2, %2, %2}, {%2, %2}, {%0, %1};" \
        : constraint(d[0]), constraint(d[1])                           \
        : "r"(word))
#define PRODUCT_4(instruction, constraint, word)                                       \
    asm(instruction " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" \
        : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])       \
        : "r"(word))
PRODUCT(f16, "m16n8k16", "f16.f16.f16.f16", unsigned, 2, "+r", 0u);
PRODUCT(bf16, "m16n8k16", "f32.bf16.bf16.f32", float, 4, "+f", 0x3c003c00u);
PRODUCT(tf32, "m16n8k8", "f32.tf32.tf32.f32", float, 4, "+f", 0x3c000000u);
PRODUCT(i8, "m16n8k32", "s32.s8.s8.s32", unsigned, 4, "+r", 0x01010101u);

/* Of f64 16 x 8 of 16 terms where the device has that, else 8 x 8 of 4. */
struct product_f64 {
    typedef double number;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    enum { sums = 4 };
    CUDA_INLINE void next(number *d)
    {
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %4, %4, %4, %4, %4, %4, %4}, {%4, %4, %4, %4}, {%0, %1, %2, %3};"
            : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
            : "d"(0.0078125));
    }
#else
    enum { sums = 2 };
    CUDA_INLINE void next(number *d)
    {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
            : "+d"(d[0]), "+d"(d[1])
            : "d"(0.0078125));
    }
#endif
};

template <typename U>
CUDA_INLINE void products(cuda_index rounds, cuda_index never, cuda_index *out)
{
    typename U::number d[CUDA_PROBE_CHAINS][U::sums];

#pragma unroll
    for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
#pragma unroll
        for (int i = 0; i < U::sums; i++)
            d[c][i] = 0;
#pragma unroll 1
    for (cuda_index i = 0; i < rounds; i++)
#pragma unroll
        for (int p = 0; p < CUDA_PROBE_PRODUCTS; p++)
#pragma unroll
            for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
                U::next(d[c]);
#pragma unroll
    for (int c = 0; c < CUDA_PROBE_CHAINS; c++)
#pragma unroll
        for (int i = 0; i < U::sums; i++)
            if (bits_of(d[c][i]) == never)
                *out = never;
}

#define PRODUCTS(t)                                                            \
    extern "C" __global__ void __launch_bounds__(CUDA_PROBE_BLOCK)             \
        probe_matrix_##t(cuda_index rounds, cuda_index never, cuda_index *out) \
    {                                                                          \
        products<product_##t>(rounds, never, out);                             \
    }
PRODUCTS(f64)

#ifndef __CUDA_ARCH_FEAT_SM90_ALL
PRODUCTS(f16)
PRODUCTS(bf16)
PRODUCTS(tf32)
PRODUCTS(i8)
#else
/* ---- products of matrices by groups of four warps ---- */

/* 64 x 256 results of 32 bytes of terms, both operands in shared memory: rows of 128 bytes,
 * swizzled, eight rows 1,024 bytes apart. */
enum { GROUP_ROWS = 64, GROUP_COLUMNS = 256, ROW_BYTES = 128, SUMS = 128 };

CUDA_INLINE cuda_index descriptor_of(const void *shared)
{
    const cuda_index at = __cvta_generic_to_shared(shared);

    return (at >> 4 & 0x3fff) | (cuda_index)1 << 16 | (cuda_index)(1024 >> 4) << 32 |
           (cuda_index)1 << 62;
}

#define SUMS_8(c, i)                                                                       \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]), \
        c(d[i + 7])
#define SUMS_32(c, i) SUMS_8(c, i), SUMS_8(c, i + 8), SUMS_8(c, i + 16), SUMS_8(c, i + 24)
#define ALL_SUMS(c)   SUMS_32(c, 0), SUMS_32(c, 32), SUMS_32(c, 64), SUMS_32(c, 96)
#define SUM_NAMES                                                                                  \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "   \
    "%127 "

#define GROUP_PRODUCT(t, types, sum, constraint, flags)                       \
    struct group_##t {                                                        \
        typedef sum number;                                                   \
        CUDA_INLINE void next(number *d, cuda_index a, cuda_index b)          \
        {                                                                     \
            asm volatile("wgmma.mma_async.sync.aligned." types " {" SUM_NAMES \
                         "}, %128, %129, 1" flags ";"                         \
                         : ALL_SUMS(constraint)                               \
                         : "l"(a), "l"(b));                                   \
        }                                                                     \
    }
GROUP_PRODUCT(f16, "m64n256k16.f32.f16.f16", float, "+f", ", 1, 1, 0, 0");
GROUP_PRODUCT(bf16, "m64n256k16.f32.bf16.bf16", float, "+f", ", 1, 1, 0, 0");
GROUP_PRODUCT(tf32, "m64n256k8.f32.tf32.tf32", float, "+f", ", 1, 1");
GROUP_PRODUCT(i8, "m64n256k32.s32.s8.s8", unsigned, "+r", "");

/* word: what all operands consist of. */
template <typename U>
CUDA_INLINE void group_products(unsigned word, cuda_index rounds, cuda_index never, cuda_index *out)
{
    __shared__ __align__(1024) unsigned a[GROUP_ROWS * ROW_BYTES / 4];
    __shared__ __align__(1024) unsigned b[GROUP_COLUMNS * ROW_BYTES / 4];
    typename U::number d[SUMS];
    const unsigned zero = (unsigned)(rounds >> 63); /* at run time: sums begin in their registers */

    for (unsigned i = threadIdx.x; i < sizeof a / 4; i += CUDA_PROBE_BLOCK)
        a[i] = word;
    for (unsigned i = threadIdx.x; i < sizeof b / 4; i += CUDA_PROBE_BLOCK)
        b[i] = word;
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        d[i] = (typename U::number)zero;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const cuda_index at_a = descriptor_of(a), at_b = descriptor_of(b);
    /* One group of warps waits while the other one has the units. */
#pragma unroll 1
    for (cuda_index i = 0; i < rounds; i++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int p = 0; p < CUDA_PROBE_GROUP_PRODUCTS; p++)
            U::next(d, at_a + p % 4 * 2, at_b + p % 4 * 2);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        if (bits_of(d[i]) == never)
            *out = never;
}

#define GROUP_PRODUCTS(t, word)                                                \
    extern "C" __global__ void __launch_bounds__(CUDA_PROBE_BLOCK, 1)          \
        probe_matrix_##t(cuda_index rounds, cuda_index never, cuda_index *out) \
    {                                                                          \
        group_products<group_##t>(word, rounds, never, out);                   \
    }
GROUP_PRODUCTS(f16, 0x20002000u)
GROUP_PRODUCTS(bf16, 0x3c003c00u)
GROUP_PRODUCTS(tf32, 0x3c000000u)
GROUP_PRODUCTS(i8, 0x01010101u)
#endif

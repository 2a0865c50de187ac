/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_math.cuh -- functions of one f32, accurate and fast forms.
 *
 * Compiled without contraction: what is fused says so. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_MATH_CUH
#define BACKENDS_CUDA_KERNELS_CUDA_MATH_CUH

#include "backends/cuda/kernels/cuda_element.cuh"

/* 1/x within 1 ulp (PTX ISA, rcp.approx); x beyond 2^126 gives 0. */
CUDA_INLINE float cuda_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* a / n within 1 ulp for 2^-120 < n < 2^126; an infinite a gives NaN.  IEEE's division is a call
 * for some operands, for which registers would be spilled. */
CUDA_INLINE float cuda_divide(float a, float n)
{
    const float r = cuda_reciprocal(n), q = a * r;

    return fmaf(fmaf(-q, n, a), r, q);
}

/* 2^x within 2 ulp for |x| < 126 (PTX ISA, ex2.approx); results below 2^-126 are 0. */
CUDA_INLINE float cuda_exp2_flushed(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

struct cuda_relu {
    CUDA_INLINE float of(float x)
    {
        return x <= 0.0f ? 0.0f : x; /* NaN is not */
    }
};

struct cuda_exp {
    CUDA_INLINE float of(float x)
    {
        return expf(x);
    }
};

/* The product with log2 e errs by up to 2^-17 of the result, for results of 16 bits. */
struct cuda_exp_fast {
    CUDA_INLINE float of(float x)
    {
        return exp2f(x * 1.44269504f);
    }
};

/* x / (1 + e^-u), u = 2 sqrt(2/pi) (x + 0.044715 x^3).  An error of u grows |u|-fold in e^-u, but
 * then the result is e^-|u| of |x|, by which errors are measured. */
struct cuda_gelu {
    CUDA_INLINE float of(float x)
    {
        float minus_u = x * fmaf(x * x, -0x1.2444f2p-4f, -0x1.988454p+0f);
        /* e^-u overflows, and e^u vanishes, before the result does, beside which 1 is nothing: 2^64
         * e^u, and the last step may leave the normal numbers. */
        if (minus_u > 80.0f)
            return x * expf(44.36142f - minus_u) * 0x1p-64f;
        return x * cuda_reciprocal(1.0f + expf(minus_u));
    }
};

/* The same with log2 e in the constants and the device's own 2^x. */
struct cuda_gelu_fast {
    CUDA_INLINE float of(float x)
    {
        float minus_u = x * fmaf(x * x, -0.102943240f, -2.30220820f);
        if (minus_u > 115.0f) /* in two steps, of which the last may leave the normal numbers */
            return x * cuda_exp2_flushed(64.0f - minus_u) * 0x1p-64f;
        return x * cuda_reciprocal(1.0f + cuda_exp2_flushed(minus_u));
    }
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/fingerprint.c -- fixed floating-point probes.
 *
 * Every operand passes through a volatile object, or the compiler would answer in our stead. */
#include "runtime/fingerprint.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/digest.h"

#if defined(__SSE__)
#include <immintrin.h>
#endif

typedef float vector __attribute__((vector_size(16)));

enum { TAG_F32 = 1, TAG_F64, TAG_PART };

static void put_f32(assay__hasher *hasher, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    assay__hash_u64(hasher, TAG_F32, bits);
}

static void put_f64(assay__hasher *hasher, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    assay__hash_u64(hasher, TAG_F64, bits);
}

/* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 when fused and 0 when the product is rounded first. */
static bool probe_contraction(assay__hasher *hasher)
{
    volatile float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
    volatile double wide_a = 1.0 + 0x1p-27, wide_c = -(1.0 + 0x1p-26);
    float x = a, z = c;
    double wide_x = wide_a, wide_z = wide_c;
    float narrow = x * x + z;
    double wide = wide_x * wide_x + wide_z;

    put_f32(hasher, narrow);
    put_f64(hasher, wide);
    put_f32(hasher, fmaf(x, x, z));
    put_f64(hasher, fma(wide_x, wide_x, wide_z));
    return narrow != 0.0f || wide != 0.0;
}

/* Bits are compared, not values: with subnormals read as zero they would compare equal to 0. */
static bool bits_are(float value, uint32_t bits)
{
    uint32_t own;

    memcpy(&own, &value, sizeof own);
    return own == bits;
}

static void probe_subnormals(assay__hasher *hasher, assay__fingerprint *out)
{
    volatile float tiny = 0x1p-130f, one_over = 0x1p20f, smallest = FLT_MIN, half = 0.5f;
    volatile vector v_tiny = {0x1p-130f, 0x1p-130f, 0x1p-130f, 0x1p-130f};
    volatile vector v_scale = {0x1p20f, 0x1p20f, 0x1p20f, 0x1p20f};
    volatile vector v_smallest = {FLT_MIN, FLT_MIN, FLT_MIN, FLT_MIN};
    volatile vector v_half = {0.5f, 0.5f, 0.5f, 0.5f};
    volatile double wide = DBL_MIN, wide_half = 0.5;
    float in = tiny * one_over, below = smallest * half;
    vector v_in = v_tiny * v_scale, v_below = v_smallest * v_half;

    out->scalar_subnormals_in = bits_are(in, 0x08800000u);     /* 2^-110 */
    out->scalar_subnormals_out = bits_are(below, 0x00400000u); /* 2^-127 */
    out->vector_subnormals_in = bits_are(v_in[0], 0x08800000u);
    out->vector_subnormals_out = bits_are(v_below[3], 0x00400000u);
    put_f32(hasher, in);
    put_f32(hasher, below);
    put_f64(hasher, wide * wide_half);
    for (int i = 0; i < 4; i++) {
        put_f32(hasher, v_in[i]);
        put_f32(hasher, v_below[i]);
    }
}

/* A tie and both sides of one, in both signs: tells all four rounding modes apart. */
static void probe_rounding(assay__hasher *hasher)
{
    static const float steps[] = {0x1p-24f, 0x1.8p-24f, 0x1p-25f};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        volatile float one = 1.0f, step = steps[i];
        float up = one + step;
        float down = -one - step;
        put_f32(hasher, up);
        put_f32(hasher, down);
    }
    for (int i = -3; i <= 3; i++) {
        volatile double tie = i + 0.5;
        put_f64(hasher, rint(tie));
    }
}

/* Points where the C libraries in use differ from correct rounding and from one another. */
static const double points[] = {
    -20.5,     -9.484012603759766, -3.0000001, -1.0,      -0x1.bcc73p+3,
    -0.5,      -0x1p-20,           0x1p-30,    0.1,       0.3333333333333333,
    0.5493061, 0.72134752,         1.0,        1.5,       2.718281828459045,
    4.5,       6.0221e3,           11.013,     20.000001, 39.9,
    86.5,      87.0000005,
};

/* Points where a C library differs from itself: glibc 2.36 has exp, tanh, log, sin and pow twice,
 * for CPUs with FMA and for others, and takes either as GLIBC_TUNABLES says, whatever the CPU has.
 * They differ at one argument in two thousand; these are two a function. */
static const double choices[] = {
    -0x1.9c0c1ee0ec88ap+1, 0x1.1abfa19906d2ep+3,  0x1.5b52015b93840p-3,  -0x1.28ec6bb46be3cp+0,
    0x1.2b25c2e9c3b5bp+2,  -0x1.890d43b847f70p+0, -0x1.6e75ff9253878p+1, 0x1.2b4992d1ae3bbp+4,
    -0x1.f1ab250019944p+3, -0x1.0247c205c7500p+4,
};

static void probe_libm_at(assay__hasher *hasher, double point)
{
    volatile double given = point;
    double x = given, positive = fabs(x);
    float f = (float)x, f_positive = (float)positive;

    put_f64(hasher, exp(x));
    put_f64(hasher, tanh(x));
    put_f64(hasher, 1.0 / sqrt(positive));
    put_f64(hasher, log(positive));
    put_f64(hasher, sin(x));
    put_f64(hasher, erf(x));
    put_f64(hasher, pow(positive, 0.7));
    put_f32(hasher, expf(f));
    put_f32(hasher, tanhf(f));
    put_f32(hasher, 1.0f / sqrtf(f_positive));
    put_f32(hasher, logf(f_positive));
    put_f32(hasher, sinf(f));
    put_f32(hasher, erff(f));
    put_f32(hasher, powf(f_positive, 0.7f));
}

static void probe_libm(assay_digest *out)
{
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-libm-2");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        probe_libm_at(&hasher, points[i]);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        probe_libm_at(&hasher, choices[i]);
    assay__hash_final(&hasher, out);
}

/* rsqrtss and rcpss are not the same function on CPUs of different makers. */
static void probe_hardware(assay_digest *out)
{
    memset(out, 0, sizeof *out);
#if defined(__SSE__)
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-approximations-1");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        volatile float given = (float)fabs(points[i]);
        __m128 x = _mm_set_ss(given);
        put_f32(&hasher, _mm_cvtss_f32(_mm_rsqrt_ss(x)));
        put_f32(&hasher, _mm_cvtss_f32(_mm_rcp_ss(x)));
    }
    assay__hash_final(&hasher, out);
#endif
}

void assay__fingerprint_take(assay__fingerprint *out)
{
    assay__hasher hasher;

    memset(out, 0, sizeof *out);
    assay__hash_init(&hasher, "assay-fingerprint-1");
    out->contracts = probe_contraction(&hasher);
    probe_subnormals(&hasher, out);
    out->rounding = fegetround();
    probe_rounding(&hasher);
    probe_libm(&out->libm);
    probe_hardware(&out->hardware);
    assay__hash_digest(&hasher, TAG_PART, &out->libm);
    assay__hash_digest(&hasher, TAG_PART, &out->hardware);
    assay__hash_final(&hasher, &out->digest);
}

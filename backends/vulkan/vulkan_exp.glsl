/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* e^x in f32 of our own: the one of a driver may be off by 3 + 2|x| ULP, by the specification.
 *
 * x = n ln2 + r, |r| <= ln2/2, e^x = 2^n p(r).  n times the upper part of ln2, of 15 bits, is exact,
 * so it makes no difference whether multiplications and additions are fused.  p is the Taylor series
 * to r^7, whose rest is below 0.1 ULP.  2^n in two steps, so that subnormals are rounded once. */
#ifndef VULKAN_EXP_GLSL
#define VULKAN_EXP_GLSL

float power_of_two(int n)
{
    return uintBitsToFloat(uint(n + 127) << 23);
}

float exp_f32(float x)
{
    if (is_nan_bits(floatBitsToUint(x)))
        return x;
    const float c = clamp(x, -104.0, 89.0); /* beyond: 0 and infinity */
    precise float n = floor(c * 1.44269504 + 0.5);
    precise float r = (c - n * 0.693145751953125) - n * 1.42860682e-6;
    precise float q = r * (1.0 / 5040.0) + 1.0 / 720.0;
    q = q * r + 1.0 / 120.0;
    q = q * r + 1.0 / 24.0;
    q = q * r + 1.0 / 6.0;
    q = q * r + 0.5;
    q = r * r * q + r;
    const int whole = int(n), half_of = whole >> 1;
    precise float y = (1.0 + q) * power_of_two(half_of);
    y = y * power_of_two(whole - half_of);
    return y;
}

#endif

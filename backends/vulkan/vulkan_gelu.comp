#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u): tanh near 0 and
 * near -1 would lose digits.  e^-2|u|, 2^24 times as large, neither overflows nor is it subnormal; far
 * below 0 it is what y is made of, x e^-2|u| / (1 + e^-2|u|).  The last step is a division: on an
 * H200 a difference that is subnormal came out as 0.  -inf gives -inf * 0, NaN. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_exp.glsl"

uint gelu_bits(uint b)
{
    const float x = uintBitsToFloat(b), side = abs(x);
    const float e = exp_scaled(-side * fma(x * x, 0.0713548163, 1.5957691216));
    const float small = e * EXP_UNSCALED;
    const bool is_far = x < -4.0;
    precise float top = is_far ? x * e : x;
    precise float under = is_far ? e + EXP_SCALED : 1.0 + (x >= 0.0 ? small : 1.0 / small);
    precise float y = top / under;

    return isnan(x) ? b : floatBitsToUint(y);
}
#define MAP_BITS(b) gelu_bits(b)
#include "vulkan_map.glsl"

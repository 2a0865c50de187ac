#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u): tanh near 0 and
 * near -1 would lose digits.  e^-2|u|, 2^24 times as large, neither overflows nor is it subnormal; below
 * 0 it is what y is made of, x e^-2|u| / (1 + e^-2|u|).  The last step is a division: on an
 * H200 a difference that is subnormal came out as 0.  -inf gives -inf * 0, NaN. */
#extension GL_GOOGLE_include_directive : require
#define BF16_ABOVE bf16_away /* of NaN there is one */
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_exp.glsl"

uint gelu_bits(uint b)
{
    const float x = uintBitsToFloat(b), side = abs(x);
    const float e = exp_scaled(-side * fma(x * x, 0.0713548163, 1.5957691216));
    precise float top = x < 0.0 ? x * e : x;
    precise float under = x < 0.0 ? e + EXP_SCALED : fma(e, EXP_UNSCALED, 1.0);
    precise float y = top / under;

    return isnan(y) ? 0x7fc00000u : floatBitsToUint(y);
}
#define MAP_BITS(b) gelu_bits(b)
#include "vulkan_map.glsl"

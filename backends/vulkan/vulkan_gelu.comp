#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), which is x / (1 + e^-2u): tanh near 0 and
 * near -1 would lose digits.  As gelu(x) = x + gelu(-x), it is taken of -|x|, whose e^-2|u| neither
 * overflows nor, 2^24 times as large, is subnormal: -|x| e^-2|u| / (1 + e^-2|u|).  -inf gives inf *
 * 0, NaN. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_exp.glsl"

uint gelu_bits(uint b)
{
    const float x = uintBitsToFloat(b), side = abs(x);
    const float e = exp_scaled(-side * fma(x * x, 0.0713548163, 1.5957691216));
    const float finite = x >= 0.0 ? min(side, 1e30) : side; /* what inf gets less is 0 */
    precise float below = finite * e * (1.0 / (e + EXP_SCALED));
    precise float y = (x >= 0.0 ? x : 0.0) - below;

    return isnan(x) ? b : floatBitsToUint(y);
}
#define MAP_BITS(b) gelu_bits(b)
#include "vulkan_map.glsl"

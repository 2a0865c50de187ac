#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), as x / (1 + e^-2u): tanh near 0 and near
 * -1 would lose digits, this loses none that count beside |x|.  -inf gives -inf / inf, NaN. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_exp.glsl"

uint gelu_bits(uint b)
{
    const float x = uintBitsToFloat(b);

    if (is_nan_bits(b))
        return b;
    return floatBitsToUint(x / (1.0 + exp_f32(-1.5957691216 * (x + 0.044715 * x * x * x))));
}
#define MAP_BITS(b) gelu_bits(b)
#include "vulkan_map.glsl"

#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x where x > 0, else +0; NaN stays. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"

uint relu_bits(uint b)
{
    return is_nan_bits(b) || b >> 31 == 0u ? b : 0u;
}
#define MAP_BITS(b) relu_bits(b)
#include "vulkan_map.glsl"

#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x + z.  Of 16 bits too one rounding is seen: 24 bits hold twice what they do, and two more. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"

#define MAP_PAIR(x, z) floatBitsToUint(uintBitsToFloat(x) + uintBitsToFloat(z))
#include "vulkan_map.glsl"

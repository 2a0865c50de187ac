#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = e^x. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_exp.glsl"

#define MAP_BITS(b) floatBitsToUint(exp_f32(uintBitsToFloat(b)))
#include "vulkan_map.glsl"

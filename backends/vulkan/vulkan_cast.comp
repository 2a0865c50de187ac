#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x as another type, one rounding; to the same type bit for bit. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

#ifdef SAME
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint PER = 4;

layout(push_constant) uniform Arguments
{
    X x;
    X y;
    uint n;
} a;

void main()
{
    const uint first = group_number() * (WG * PER) + gl_LocalInvocationID.x;

    for (uint j = 0; j < PER; j++) {
        const uint i = first + j * WG;
        if (i < a.n)
            a.y.v[i] = a.x.v[i];
    }
}
#else
#define MAP_BITS(b) (b)
#include "vulkan_map.glsl"
#endif

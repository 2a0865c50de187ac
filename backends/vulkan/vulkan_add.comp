#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = a + b.  Of 16 bits too one rounding is seen: 24 bits hold twice what they do, and two more. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint PER = 4; /* elements an invocation, WG apart */

layout(push_constant) uniform Arguments
{
    X a;
    X b;
    X y;
    uint n;
} p;

void main()
{
    const uint first = group_number() * (WG * PER) + gl_LocalInvocationID.x;

    for (uint j = 0; j < PER; j++) {
        const uint i = first + j * WG;
        if (i < p.n)
            STORE(p.y, i, LOAD(p.a, i) + LOAD(p.b, i));
    }
}

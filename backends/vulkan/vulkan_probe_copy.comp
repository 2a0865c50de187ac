#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* The first bytes of x to y, vectors of 16; what is left by one invocation, byte by byte in words.
 */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint PER = 4; /* vectors an invocation, WG apart */

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors
{
    uvec4 v[];
};

layout(push_constant) uniform Arguments
{
    Vectors x;
    Vectors y;
    F32s x_rest; /* what is behind those */
    F32s y_rest;
    uint vectors; /* whole ones */
    uint rest;    /* bytes behind them */
} a;

void main()
{
    const uint first = group_number() * (WG * PER) + gl_LocalInvocationID.x;

    for (uint j = 0; j < PER; j++) {
        const uint i = first + j * WG;
        if (i < a.vectors)
            a.y.v[i] = a.x.v[i];
    }
    if (first != 0)
        return;
    for (uint at = 0; at < a.rest; at += 4) {
        const uint word = at / 4;
        const uint mask = a.rest - at >= 4 ? ~0u : (1u << 8 * (a.rest - at)) - 1;
        a.y_rest.v[word] = a.x_rest.v[word] & mask | a.y_rest.v[word] & ~mask;
    }
}

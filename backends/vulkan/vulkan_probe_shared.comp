#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Each BACKWARDS words the other way round, by way of the workgroup's memory. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint BACKWARDS = 64;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words
{
    uint v[];
};

layout(push_constant) uniform Arguments
{
    Words from;
    Words to;
} a;

shared uint words[WG];

void main()
{
    const uint j = gl_LocalInvocationID.x;
    const uint i = group_number() * WG + j;

    words[j] = a.from.v[i];
    barrier();
    a.to.v[i] = words[j - j % BACKWARDS + (BACKWARDS - 1 - j % BACKWARDS)];
}

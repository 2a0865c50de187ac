#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Each word times a constant that the pipeline is made with. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint FACTOR = 1;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words
{
    uint v[];
};

layout(push_constant) uniform Arguments
{
    Words from;
    Words to;
} a;

void main()
{
    const uint i = group_number() * WG + gl_LocalInvocationID.x;

    a.to.v[i] = a.from.v[i] * FACTOR;
}

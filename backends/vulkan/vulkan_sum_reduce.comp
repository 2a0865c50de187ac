#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y[outer,inner] = sum of x[outer,axis,inner] along the axis, in f32.  ACROSS: an invocation an
 * output, neighbours reading neighbours; else, where inner is 1, a workgroup an output. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_rows.glsl"

layout(constant_id = 1) const uint ACROSS = 0;

layout(push_constant) uniform Arguments
{
    X x;
    X y;
    uint outputs;
    uint axis;
    uint inner;
} a;

void sum_across(uint at)
{
    const uint first = at / a.inner * a.axis * a.inner + at % a.inner;
    float sum = 0.0;

    for (uint i = 0; i < a.axis; i++)
        sum += LOAD(a.x, first + i * a.inner);
    STORE(a.y, at, sum);
}

void sum_along(uint at)
{
    float sum = 0.0;

    for (uint i = gl_LocalInvocationID.x; i < a.axis; i += WG)
        sum += LOAD(a.x, at * a.axis + i);
    sum = sum_of_group(sum);
    if (gl_LocalInvocationID.x == 0)
        STORE(a.y, at, sum);
}

void main()
{
    const uint group = group_number();

    if (ACROSS != 0u) {
        const uint at = group * WG + gl_LocalInvocationID.x;
        if (at < a.outputs)
            sum_across(at);
    } else if (group < a.outputs) {
        sum_along(group);
    }
}

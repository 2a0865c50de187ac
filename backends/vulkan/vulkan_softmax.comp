#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = e^(x - max) / sum of e^(x - max) over each row; a row of -inf gives NaN. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_exp.glsl"
#include "vulkan_rows.glsl"

layout(push_constant) uniform Arguments
{
    X x;
    X y;
    uint rows;
    uint cols;
} a;

float most_of_row(uint base)
{
    uint most = 0u;

    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        most = max(most, key_of(GET(a.x, base + c)));
    return uintBitsToFloat(bits_of_key(max_of_group(most)));
}

void main()
{
    const uint row = group_number();

    if (row >= a.rows)
        return;
    const uint base = row * a.cols;
    const float most = most_of_row(base);
    float sum = 0.0;
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        sum += exp_f32(LOAD(a.x, base + c) - most);
    sum = sum_of_group(sum);
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        STORE(a.y, base + c, exp_f32(LOAD(a.x, base + c) - most) / sum);
}

#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x / sqrt(mean(x^2) + eps) over each row. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_rows.glsl"
#include "vulkan_norm.glsl"

void main()
{
    const uint row = group_number();

    if (row >= a.rows)
        return;
    const uint base = row * a.cols;
    const float scale = scale_of_row(magnitude_of_row(base));
    float squares = 0.0;
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG) {
        const float v = LOAD(a.x, base + c) * scale;
        squares += v * v;
    }
    const float mean = sum_of_group(squares) / float(a.cols);
    const float root = sqrt(mean + eps_of_row(scale));
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        STORE(a.y, base + c, LOAD(a.x, base + c) * scale / root);
}

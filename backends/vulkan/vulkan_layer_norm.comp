#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = (x - mean) / sqrt(var + eps) over each row.  The mean is taken twice: what rounding left of it
 * the first time is found among the differences, so that nothing cancels. */
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
    float sum = 0.0, squares = 0.0;
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        sum += LOAD(a.x, base + c) * scale;
    const float mean = sum_of_group(sum) / float(a.cols);
    sum = 0.0;
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG) {
        const float d = LOAD(a.x, base + c) * scale - mean;
        sum += d;
        squares += d * d;
    }
    const float rest = sum_of_group(sum) / float(a.cols);
    const float variance = max(sum_of_group(squares) / float(a.cols) - rest * rest, 0.0);
    const float deviation = sqrt(variance + eps_of_row(scale));
    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        STORE(a.y, base + c, ((LOAD(a.x, base + c) * scale - mean) - rest) / deviation);
}

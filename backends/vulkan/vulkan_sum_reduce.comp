#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y[outer,inner] = sum of x[outer,axis,inner] along the axis, in f32.  ACROSS: an invocation an
 * output, neighbours reading neighbours; else, where inner is 1, a workgroup an output.
 *
 * An invocation sums in order and keeps what each addition lost (Knuth, TAOCP 2, 4.2.2, theorem B),
 * so that its error does not grow with the axis: 100,000 times 0.1 was off by 1.4e-4 of itself.
 * Memory is the limit, not these six operations. */
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

float sum = 0.0, lost = 0.0;

/* precise: no compiler may find out that nothing is lost where numbers are real. */
void add(float x)
{
    precise const float next = sum + x;
    precise const float taken = next - sum;
    precise const float missed = (sum - (next - taken)) + (x - taken);

    sum = next;
    lost += missed;
}

/* Of what is not finite nothing is known to be lost. */
float total()
{
    const bool is_finite = (floatBitsToUint(sum) & 0x7f800000u) != 0x7f800000u;

    return is_finite ? sum + lost : sum;
}

void sum_across(uint at)
{
    const uint first = at / a.inner * a.axis * a.inner + at % a.inner;

    for (uint i = 0; i < a.axis; i++)
        add(LOAD(a.x, first + i * a.inner));
    STORE(a.y, at, total());
}

void sum_along(uint at)
{
    for (uint i = gl_LocalInvocationID.x; i < a.axis; i += WG)
        add(LOAD(a.x, at * a.axis + i));
    const float all = sum_of_group(total());
    if (gl_LocalInvocationID.x == 0)
        STORE(a.y, at, all);
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

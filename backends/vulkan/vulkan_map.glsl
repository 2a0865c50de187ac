/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y[i] = MAP_BITS(bits of x[i]), element by element; X and Y are types of vulkan_types.glsl. */
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint PER = 4; /* elements an invocation, WG apart */

layout(push_constant) uniform Arguments
{
    X x;
    Y y;
    uint n;
} a;

void main()
{
    const uint first = group_number() * (WG * PER) + gl_LocalInvocationID.x;

    for (uint j = 0; j < PER; j++) {
        const uint i = first + j * WG;
        if (i < a.n)
            PUT(a.y, i, MAP_BITS(GET(a.x, i)));
    }
}

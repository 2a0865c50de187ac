#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Rounds of multiply-adds in 8 chains of 16 links: x = x / 2 + 1 / 2, which comes to rest at 1.
 * never: bits of a NaN that no chain holds, so that no compiler leaves them out. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0) in;

layout(push_constant) uniform Arguments
{
    F32s nowhere;
    uint rounds;
    uint never;
} a;

void main()
{
    float x[8];

    for (uint c = 0; c < 8; c++)
        x[c] = 1.0 + float(gl_LocalInvocationID.x + c) * 0.001953125;
    for (uint i = 0; i < a.rounds; i++)
        for (uint link = 0; link < 16; link++) {
            x[0] = fma(x[0], 0.5, 0.5);
            x[1] = fma(x[1], 0.5, 0.5);
            x[2] = fma(x[2], 0.5, 0.5);
            x[3] = fma(x[3], 0.5, 0.5);
            x[4] = fma(x[4], 0.5, 0.5);
            x[5] = fma(x[5], 0.5, 0.5);
            x[6] = fma(x[6], 0.5, 0.5);
            x[7] = fma(x[7], 0.5, 0.5);
        }
    for (uint c = 0; c < 8; c++)
        if (floatBitsToUint(x[c]) == a.never)
            a.nowhere.v[c] = 0;
}

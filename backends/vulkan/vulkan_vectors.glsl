/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* LANES elements that lie together, loaded and stored at once: 16 bytes of the wider type among X
 * and Y, and of the other as many elements.  Bits here are those of f32, as in GET and PUT. */
#ifndef VULKAN_VECTORS_GLSL
#define VULKAN_VECTORS_GLSL

#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Fours
{
    uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Twos
{
    uvec2 v[];
};

#if LANES == 4
void get_lanes_f32(F32s b, uint i, out uint bits[LANES])
{
    const uvec4 w = Fours(b).v[i];
    [[unroll]] for (uint k = 0; k < 4; k++)
        bits[k] = w[k];
}

void put_lanes_f32(F32s b, uint i, uint bits[LANES])
{
    Fours(b).v[i] = uvec4(bits[0], bits[1], bits[2], bits[3]);
}
#define NARROW_VECTORS Twos
#define NARROW_VECTOR  uvec2
#else
#define NARROW_VECTORS Fours
#define NARROW_VECTOR  uvec4
#endif

#ifdef NARROW
void get_lanes_f16(F16s b, uint i, out uint bits[LANES])
{
    const NARROW_VECTOR w = NARROW_VECTORS(b).v[i];
    [[unroll]] for (uint k = 0; k < LANES / 2; k++) {
        bits[2 * k] = f32_of_f16(w[k] & 0xffffu);
        bits[2 * k + 1] = f32_of_f16(w[k] >> 16);
    }
}

void get_lanes_bf16(BF16s b, uint i, out uint bits[LANES])
{
    const NARROW_VECTOR w = NARROW_VECTORS(b).v[i];
    [[unroll]] for (uint k = 0; k < LANES / 2; k++) {
        bits[2 * k] = w[k] << 16;
        bits[2 * k + 1] = w[k] & 0xffff0000u;
    }
}

void put_lanes_f16(F16s b, uint i, uint bits[LANES])
{
    NARROW_VECTOR w;
    [[unroll]] for (uint k = 0; k < LANES / 2; k++)
        w[k] = f16_of_f32(bits[2 * k]) | f16_of_f32(bits[2 * k + 1]) << 16;
    NARROW_VECTORS(b).v[i] = w;
}

void put_lanes_bf16(BF16s b, uint i, uint bits[LANES])
{
    NARROW_VECTOR w;
    [[unroll]] for (uint k = 0; k < LANES / 2; k++)
        w[k] = bf16_above(bits[2 * k]) >> 16 | bf16_above(bits[2 * k + 1]) & 0xffff0000u;
    NARROW_VECTORS(b).v[i] = w;
}
#endif

#endif

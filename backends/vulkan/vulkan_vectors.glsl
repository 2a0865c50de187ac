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
/* 1: the device promises of its own conversions what ours do, see vulkan_pipeline.c. */
layout(constant_id = 5) const uint HALVES = 0;

uvec2 two_f32_of_f16(uint w)
{
    return HALVES != 0u ? floatBitsToUint(unpackHalf2x16(w))
                        : uvec2(f32_of_f16(w & 0xffffu), f32_of_f16(w >> 16));
}

uint two_f16_of_f32(uint low, uint high)
{
    return HALVES != 0u ? packHalf2x16(uintBitsToFloat(uvec2(low, high)))
                        : f16_of_f32(low) | f16_of_f32(high) << 16;
}

void get_lanes_f16(F16s b, uint i, out uint bits[LANES])
{
    const NARROW_VECTOR w = NARROW_VECTORS(b).v[i];
    [[unroll]] for (uint k = 0; k < LANES / 2; k++) {
        const uvec2 two = two_f32_of_f16(w[k]);
        bits[2 * k] = two.x;
        bits[2 * k + 1] = two.y;
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
        w[k] = two_f16_of_f32(bits[2 * k], bits[2 * k + 1]);
    NARROW_VECTORS(b).v[i] = w;
}

void put_lanes_bf16(BF16s b, uint i, uint bits[LANES])
{
    NARROW_VECTOR w;
    [[unroll]] for (uint k = 0; k < LANES / 2; k++)
        w[k] = BF16_ABOVE(bits[2 * k]) >> 16 | BF16_ABOVE(bits[2 * k + 1]) & 0xffff0000u;
    NARROW_VECTORS(b).v[i] = w;
}
#endif

#endif

#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x as another type, one rounding; to the same type bit for bit. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"

#ifdef SAME
#undef GET
#undef PUT
#undef GET_LANES
#undef PUT_LANES
#define GET(buffer_, i)            uint(buffer_.v[i])
#define GET_LANES(buffer_, i, out) get_words(Fours(buffer_), i, out)
#define PUT_LANES(buffer_, i, in)  put_words(Fours(buffer_), i, in)
#ifdef NARROW
#define PUT(buffer_, i, bits) buffer_.v[i] = uint16_t(bits)
#else
#define PUT(buffer_, i, bits) buffer_.v[i] = bits
#endif

/* Words in the place of elements, of which one may have two. */
void get_words(Fours b, uint i, out uint bits[LANES])
{
    const uvec4 w = b.v[i];
    [[unroll]] for (uint k = 0; k < 4; k++)
        bits[k] = w[k];
}

void put_words(Fours b, uint i, uint bits[LANES])
{
    b.v[i] = uvec4(bits[0], bits[1], bits[2], bits[3]);
}
#endif

#define MAP_BITS(b) (b)
#include "vulkan_map.glsl"

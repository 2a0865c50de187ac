/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Types of elements, by address.
 *
 * Everything is loaded and stored as bits and computed in f32.  f16 and bf16 are converted here by
 * integer arithmetic: packHalf2x16 may round either way and conversions may flush subnormals, by
 * the specification; so all that these need of a device is storage of 16 bits. */
#ifndef VULKAN_TYPES_GLSL
#define VULKAN_TYPES_GLSL

#extension GL_EXT_buffer_reference : require
#ifdef NARROW
#extension GL_EXT_shader_16bit_storage : require
#endif

layout(buffer_reference, std430, buffer_reference_align = 4) buffer F32s
{
    uint v[];
};

bool is_nan_bits(uint bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

uint get_f32(F32s b, uint i)
{
    return b.v[i];
}

void put_f32(F32s b, uint i, uint bits)
{
    b.v[i] = bits;
}

#ifdef NARROW
layout(buffer_reference, std430, buffer_reference_align = 2) buffer F16s
{
    uint16_t v[];
};
layout(buffer_reference, std430, buffer_reference_align = 2) buffer BF16s
{
    uint16_t v[];
};

/* Exact: a subnormal one as the difference of 2^-14 and of it above that. */
uint f32_of_f16(uint h)
{
    const uint sign = (h & 0x8000u) << 16, part = (h & 0x7fffu) << 13;
    const uint small = floatBitsToUint(uintBitsToFloat(part + 0x38800000u) - 6.103515625e-05);

    return sign | (part < 0x00800000u    ? small
                   : part >= 0x0f800000u ? part + 0x70000000u
                                         : part + 0x38000000u);
}

/* a: no sign, below 2^-14. */
uint subnormal_f16(uint a)
{
    if (a <= 0x33000000u) /* 2^-25 ties to 0 */
        return 0u;
    const uint part = (a & 0x7fffffu) | 0x800000u, by = 126u - (a >> 23);
    const uint rest = part & (1u << by) - 1u, tie = 1u << by - 1u, whole = part >> by;
    return whole + uint(rest > tie || (rest == tie && (whole & 1u) != 0u));
}

/* To nearest, ties to even; NaN stays NaN. */
uint f16_of_f32(uint b)
{
    const uint sign = b >> 16 & 0x8000u, a = b & 0x7fffffffu;

    if (a < 0x38800000u)
        return sign | subnormal_f16(a);
    const uint rounded = a + 0xfffu + (a >> 13 & 1u) - 0x38000000u >> 13;
    return sign | (a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : min(rounded, 0x7c00u));
}

/* Rounded as bf16, which is the upper half; of NaN those alone whose lower half is 0. */
uint bf16_plain(uint b)
{
    return b + 0x7fffu + (b >> 16 & 1u);
}

uint bf16_above(uint b)
{
    return isnan(uintBitsToFloat(b)) ? b | 0x400000u : bf16_plain(b);
}

/* The same, but ties go away from 0: of what is not exact before, where a tie means nothing, half
 * the price. */
uint bf16_away(uint b)
{
    return b + 0x8000u;
}

/* Who stores no NaN but plain ones says so. */
#ifndef BF16_ABOVE
#define BF16_ABOVE bf16_above
#endif

uint get_f16(F16s b, uint i)
{
    return f32_of_f16(uint(b.v[i]));
}

uint get_bf16(BF16s b, uint i)
{
    return uint(b.v[i]) << 16;
}

void put_f16(F16s b, uint i, uint bits)
{
    b.v[i] = uint16_t(f16_of_f32(bits));
}

void put_bf16(BF16s b, uint i, uint bits)
{
    b.v[i] = uint16_t(BF16_ABOVE(bits) >> 16);
}
#endif

/* A shader is compiled for X, read by GET, and for Y, written by PUT. */
#ifndef X
#define X   F32s
#define GET get_f32
#define PUT put_f32
#endif
#define LOAD(buffer_, i)         uintBitsToFloat(GET(buffer_, i))
#define STORE(buffer_, i, value) PUT(buffer_, i, floatBitsToUint(value))

/* Number of this workgroup in a grid that was folded because no axis is long enough. */
uint group_number()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

#endif

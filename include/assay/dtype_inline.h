/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/dtype_inline.h -- scalar conversions for inner loops, on raw bits.
 *
 * Same rules as assay/dtype.h. Integer arithmetic only, so that neither the rounding mode nor
 * flush-to-zero changes a bit. */
#ifndef ASSAY_DTYPE_INLINE_H
#define ASSAY_DTYPE_INLINE_H

#include <stdint.h>
#include <string.h>

static inline uint32_t assay_f32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float assay_f32_from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float assay_bf16_to_f32(uint16_t bits)
{
    uint32_t quiet = (bits & 0x7fffu) > 0x7f80u ? 0x00400000u : 0u;

    return assay_f32_from_bits((uint32_t)bits << 16 | quiet);
}

static inline uint16_t assay_f32_to_bf16(float value)
{
    uint32_t bits = assay_f32_bits(value);

    /* The rounding carry would turn a NaN of small payload into infinity. */
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(bits >> 16 | 0x0040u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float assay_f16_to_f32(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t rest = bits & 0x7fffu;

    if (rest < 0x0400u) /* zero and subnormals: a product that is exact and normal in f32 */
        return assay_f32_from_bits(sign | assay_f32_bits((float)rest * 0x1p-24f));
    if (rest < 0x7c00u)
        return assay_f32_from_bits(sign | ((rest << 13) + (112u << 23)));
    return assay_f32_from_bits(sign | 0x7f800000u | (rest & 0x03ffu) << 13 |
                               (rest > 0x7c00u ? 0x00400000u : 0u));
}

static inline uint16_t assay_f32_to_f16(float value)
{
    uint32_t bits = assay_f32_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t rest = bits & 0x7fffffffu;

    if (rest >= 0x47800000u) /* 65536 and above, infinity, NaN */
        return (uint16_t)(sign | (rest > 0x7f800000u ? 0x7e00u | (rest >> 13 & 0x03ffu) : 0x7c00u));
    if (rest >= 0x38800000u) /* normal; from 65520 the carry ends in infinity */
        return (uint16_t)(sign | (rest + 0x0fffu + (rest >> 13 & 1u) - (112u << 23)) >> 13);
    if (rest <= 0x33000000u) /* up to 2^-25, half of the smallest subnormal, which is a tie */
        return (uint16_t)sign;
    uint32_t shift = 126u - (rest >> 23);
    uint32_t significand = (rest & 0x007fffffu) | 0x00800000u;
    uint32_t kept = significand >> shift;
    uint32_t twice = (significand - (kept << shift)) << 1;
    uint32_t unit = 1u << shift;
    return (uint16_t)(sign | (kept + (twice > unit || (twice == unit && (kept & 1u)))));
}

static inline float assay_f8e5m2_to_f32(uint8_t bits)
{
    return assay_f16_to_f32((uint16_t)(bits << 8)); /* the upper half of an f16 */
}

static inline float assay_f8e4m3_to_f32(uint8_t bits)
{
    uint32_t sign = (bits & 0x80u) << 8;
    uint32_t rest = bits & 0x7fu;

    if (rest == 0x7fu)
        return assay_f32_from_bits(sign << 16 | 0x7fc00000u);
    /* Read as f16 the exponent is 8 too small: the bias is 15 instead of 7. */
    return assay_f16_to_f32((uint16_t)(sign | rest << 7)) * 256.0f;
}

#endif

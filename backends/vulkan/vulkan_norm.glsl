/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* What both norms share: arguments, and a power of two that keeps squares of a row in range. */
layout(push_constant) uniform Arguments
{
    X x;
    X y;
    uint rows;
    uint cols;
    float eps;
} a;
#include "vulkan_held.glsl"

/* Of a positive finite number: the power of two at or below it. */
int exponent_of(uint bits)
{
    return bits >= 0x00800000u ? int(bits >> 23) - 127 : findMSB(bits) - 149;
}

/* Of the largest |x| of a row, as bits: squares of 2^31 such neither overflow nor, where they
 * count, vanish.  Infinity is above all numbers; a NaN, which may
 * be above or passed over, is in every sum. */
bool is_ordinary(uint magnitude)
{
    return magnitude >= 0x30800000u && magnitude <= 0x53800000u; /* 2^-30 to 2^40 */
}

/* A power of two that brings the largest |x| near 2^20, so that sums of squares never overflow and
 * none vanishes that counts; eps, which it scales too, is kept below 2^102. */
float scale_of_row(uint magnitude)
{
    if (is_ordinary(magnitude) || magnitude >= 0x7f800000u || magnitude == 0u)
        return 1.0;
    const uint eps = floatBitsToUint(a.eps);
    int by = min(20 - exponent_of(magnitude), 126);
    if (eps != 0u)
        by = min(by, (100 - exponent_of(eps)) / 2);
    return uintBitsToFloat(uint(by + 127) << 23);
}

/* eps of the scaled row; it does not become 0, or a row of one large number would be 0 / 0. */
float eps_of_row(float scale)
{
    return floatBitsToUint(a.eps) != 0u ? max(a.eps * scale * scale, 1.17549435e-38) : 0.0;
}

/* ---- a piece in registers ---- */

uint magnitude_of_piece()
{
    float most = 0.0;

    [[unroll]] for (uint i = 0; i < PER * LANES; i++)
        most = max(most, abs(held[i]));
    return floatBitsToUint(most) & 0x7fffffffu;
}

float sum_of_piece()
{
    precise float sum = 0.0;

    [[unroll]] for (uint u = 0; u < PER; u++) {
        precise float v[LANES];
        [[unroll]] for (uint k = 0; k < LANES; k++)
            v[k] = held[u * LANES + k];
        sum += sum_of_lanes(v);
    }
    return sum;
}

float squares_of_piece()
{
    precise float sum = 0.0;

    [[unroll]] for (uint u = 0; u < PER; u++) {
        precise float v[LANES];
        [[unroll]] for (uint k = 0; k < LANES; k++)
            v[k] = held[u * LANES + k] * held[u * LANES + k];
        sum += sum_of_lanes(v);
    }
    return sum;
}

/* For all but the first pass over a row: what is held stays, also scaled. */
void scaled_piece_again(uint base, uint piece, float scale)
{
    if (HELD == 0u) {
        load_piece(base, piece, 0.0);
        multiply_piece(scale);
    }
}

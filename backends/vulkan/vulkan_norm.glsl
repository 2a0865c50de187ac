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

/* Largest |x| of the row, as bits; NaN and infinity are above all numbers. */
uint magnitude_of_row(uint base)
{
    uint most = 0u;

    for (uint c = gl_LocalInvocationID.x; c < a.cols; c += WG)
        most = max(most, GET(a.x, base + c) & 0x7fffffffu);
    return max_of_group(most);
}

/* Of a positive finite number: the power of two at or below it. */
int exponent_of(uint bits)
{
    return bits >= 0x00800000u ? int(bits >> 23) - 127 : findMSB(bits) - 149;
}

/* A power of two that brings the largest |x| near 2^20, so that sums of squares never overflow and
 * none vanishes that counts; eps, which it scales too, is kept below 2^102. */
float scale_of_row(uint magnitude)
{
    if (magnitude >= 0x7f800000u || magnitude == 0u)
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

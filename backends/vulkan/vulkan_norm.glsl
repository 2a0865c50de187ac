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

/* 1 where squares neither overflow nor vanish beside eps. */
float scale_of_row(uint magnitude)
{
    if (magnitude >= 0x7f800000u || magnitude == 0u)
        return 1.0;
    if (magnitude >= 0x53800000u) /* 2^40 */
        return 5.421010862427522e-20; /* 2^-64 */
    if (magnitude < 0x2b800000u && a.eps < 1e-30) /* 2^-40 */
        return 1.8446744073709552e19; /* 2^64 */
    return 1.0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/noise.h -- seeded noise of tests of statistics, one stream a program. */
#ifndef ASSAY_TESTS_NOISE_H
#define ASSAY_TESTS_NOISE_H

#include <math.h>
#include <stdint.h>

static uint64_t noise_state;

/* splitmix64, in (0, 1). */
static inline double uniform(void)
{
    noise_state += 0x9e3779b97f4a7c15u;
    uint64_t z = noise_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static inline double normal(void)
{
    double radius = sqrt(-2.0 * log(uniform())); /* one draw a line: the order is defined */
    return radius * cos(6.283185307179586 * uniform());
}

#endif

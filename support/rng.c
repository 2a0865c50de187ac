/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/rng.c -- xoshiro256** and exact normal variates without libm. */
#include "support/rng.h"

#include <stdbool.h>

__extension__ typedef unsigned __int128 uint128;

uint64_t assay__splitmix64(uint64_t *state)
{
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15U);

    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

void assay__rng_seed(assay__rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t stream_state = stream;
    uint64_t state = seed ^ assay__splitmix64(&stream_state);

    for (int i = 0; i < 4; i++)
        rng->state[i] = assay__splitmix64(&state);
}

void assay__rng_seed_named(assay__rng *rng, uint64_t seed, const char *stream)
{
    uint64_t hash = 0xCBF29CE484222325U; /* FNV-1a */

    for (const char *at = stream; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001B3U;
    assay__rng_seed(rng, seed, hash);
}

static uint64_t rotate_left(uint64_t bits, int count)
{
    return bits << count | bits >> (64 - count);
}

uint64_t assay__rng_bits(assay__rng *rng)
{
    uint64_t *s = rng->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double assay__rng_uniform(assay__rng *rng)
{
    return (double)(assay__rng_bits(rng) >> 11) * 0x1p-53;
}

/* Lemire's multiply-and-reject (ACM TOMACS 29(1), 2019). */
uint64_t assay__rng_below(assay__rng *rng, uint64_t bound)
{
    if (bound == 0)
        return 0;
    const uint64_t reject_below = -bound % bound;
    for (;;) {
        const uint128 product = (uint128)assay__rng_bits(rng) * bound;
        if ((uint64_t)product >= reject_below)
            return (uint64_t)(product >> 64);
    }
}

/* True with probability exp(-x) for 0 <= x <= 1 (von Neumann): the run x > u1 > u2 > ... has even
 * length with just that probability. */
static bool accept_exp(assay__rng *rng, double x)
{
    for (;;) {
        const double first = assay__rng_uniform(rng);
        if (first >= x)
            return true;
        x = assay__rng_uniform(rng);
        if (x >= first)
            return false;
    }
}

/* 2^63 * P(|normal| >= k) for k = 1..9, rounded from 80 digits; beyond 9 it is below 2^-62. */
static const uint64_t tail[] = {0x289da176f964165bU,
                                0x5d2f3e0b27617e6U,
                                0x587787e616d75bU,
                                0x2135af2a95fffU,
                                0x4cf28bc84ceU,
                                0x43cc3bc02U,
                                0x1683c36U,
                                0x2cd4U,
                                0x2U};

/* The whole part k of |normal| comes from its tail probabilities; the rest, x, is accepted with
 * probability exp(-x * (2 * k + x) / 2), split into k + 1 equal factors with exponents below 1. */
double assay__rng_normal(assay__rng *rng)
{
    const uint64_t bits = assay__rng_bits(rng); /* 63 for k, the last one for the sign */
    unsigned k = 0;

    while (k < sizeof tail / sizeof *tail && bits >> 1 < tail[k])
        k++;
    for (;;) {
        const double x = assay__rng_uniform(rng);
        const double part = x * (2 * k + x) / (2 * k + 2);
        unsigned passed = 0;
        while (passed <= k && accept_exp(rng, part))
            passed++;
        if (passed > k)
            return (bits & 1) != 0 ? -(k + x) : k + x;
    }
}

void assay__rng_shuffle(assay__rng *rng, size_t *indices, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        const size_t other = (size_t)assay__rng_below(rng, left);
        const size_t held = indices[left - 1];
        indices[left - 1] = indices[other];
        indices[other] = held;
    }
}

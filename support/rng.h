/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/rng.h -- seeded random numbers, the same bits on every machine.
 *
 * Generator: xoshiro256** 1.0 (Blackman and Vigna 2018), seeded through splitmix64. Nothing calls
 * libm and no expression can be contracted to a fused multiply-add, so that compilers, flags and
 * C libraries do not change a bit. Not for secrets. One object serves one thread. */
#ifndef ASSAY_SUPPORT_RNG_H
#define ASSAY_SUPPORT_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay__rng {
    uint64_t state[4]; /* never all zero after a seed call */
} assay__rng;

/* The splitmix64 step: advances `state`, returns 64 mixed bits. */
uint64_t assay__splitmix64(uint64_t *state);

/* Streams of one seed are independent: give each input, visit or thread its own number. */
void assay__rng_seed(assay__rng *rng, uint64_t seed, uint64_t stream);
/* The stream is named by text, e.g. "matmul f32,f32,f32 m=64:input0". */
void assay__rng_seed_named(assay__rng *rng, uint64_t seed, const char *stream);

uint64_t assay__rng_bits(assay__rng *rng);
/* In [0, 1), a multiple of 2^-53, every multiple equally likely. */
double assay__rng_uniform(assay__rng *rng);
/* In [0, bound), without bias; bound 0 gives 0. */
uint64_t assay__rng_below(assay__rng *rng, uint64_t bound);

/* Standard normal after Karney's exact rejection (ACM TOMS 42(1), 2016): tail probabilities give
 * the whole part, comparisons of uniforms accept the rest, so that no logarithm decides a bit. */
double assay__rng_normal(assay__rng *rng);

/* Fisher-Yates over `count` indices. */
void assay__rng_shuffle(assay__rng *rng, size_t *indices, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_shown.c -- the kernels that show a feature each, as functions of the
 * host's: warps of 32, words of a block backwards by 64. */
#include "tests/fake_cuda/fake_cuda_state.h"

enum { WARP = 32, BACKWARDS = 64 };

static uint32_t backwards(const uint32_t *from, uint64_t i)
{
    return from[i - i % BACKWARDS + (BACKWARDS - 1 - i % BACKWARDS)];
}

static uint32_t exchanged(const uint32_t *from, uint64_t i)
{
    return from[i ^ 1u];
}

static uint32_t summed(const uint32_t *from, uint64_t i)
{
    uint32_t sum = 0;

    for (uint64_t k = i - i % WARP; k < i - i % WARP + WARP; k++)
        sum += from[k];
    return sum;
}

static uint32_t upper_half(const uint32_t *from, uint64_t i)
{
    return (uint32_t)((uint64_t)from[i] * UINT32_C(0x9e3779b9) >> 32);
}

static CUresult each_word(const uint64_t *arguments,
                          uint32_t (*word)(const uint32_t *from, uint64_t i))
{
    const uint32_t *from = (const uint32_t *)(uintptr_t)arguments[0];
    uint32_t *to = (uint32_t *)(uintptr_t)arguments[1];
    const uint64_t words = arguments[2];

    if (fake_find(from, (size_t)words * sizeof *from) == NULL ||
        fake_find(to, (size_t)words * sizeof *to) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < words; i++)
        to[i] = word(from, i);
    return CUDA_SUCCESS;
}

#define SHOWN(name, word)                                  \
    static CUresult show_##name(const uint64_t *arguments) \
    {                                                      \
        return each_word(arguments, word);                 \
    }
SHOWN(shared, backwards)
SHOWN(shuffle, exchanged)
SHOWN(subgroup, summed)
SHOWN(mul_high, upper_half)

const fake_kernel fake_shown[] = {{"shown_shared", 3, show_shared, false, 0},
                                  {"shown_shuffle", 3, show_shuffle, false, 0},
                                  {"shown_subgroup", 3, show_subgroup, false, 0},
                                  {"shown_mul_high", 3, show_mul_high, false, 0},
                                  {NULL, 0, NULL, false, 0}};

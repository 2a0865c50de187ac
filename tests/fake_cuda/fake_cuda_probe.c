/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_probe.c -- the kernels of known work: spins do not wait, arithmetic
 * does nothing, and each takes what the script says. */
#include <stddef.h>
#include <string.h>

#include "assay/plugin.h"
#include "runtime/word_digest.h"
#include "tests/fake_cuda/fake_cuda_state.h"

static CUresult nothing(const uint64_t *arguments)
{
    (void)arguments;
    return CUDA_SUCCESS;
}

static CUresult spin(const uint64_t *arguments)
{
    assay_probe_spun *out = (assay_probe_spun *)(uintptr_t)arguments[2];
    const double ns = (double)arguments[0] / (arguments[1] ? fake.ghz : 1.0);

    if (fake_find(out, sizeof *out) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    *out = (assay_probe_spun){
        .ns = (uint64_t)ns,
        .cycles = (uint64_t)((arguments[1] ? 1.0 : fake.ghz) * (double)arguments[0]),
        .step_ns = 32};
    return CUDA_SUCCESS;
}

static double spin_ns(const uint64_t *arguments)
{
    return (double)arguments[0] / (arguments[1] ? fake.ghz : 1.0) * fake.stretch;
}

static CUresult copy(const uint64_t *arguments)
{
    const void *from = (const void *)(uintptr_t)arguments[0];
    void *to = (void *)(uintptr_t)arguments[1];
    const size_t bytes = (size_t)arguments[2];

    if (fake_find(from, bytes) == NULL || fake_find(to, bytes) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    memcpy(to, from, bytes);
    return CUDA_SUCCESS;
}

/* As cuda_digest.cu. */
static CUresult digest(const uint64_t *arguments)
{
    const uint64_t words = arguments[1], step = arguments[2], count = arguments[3];
    const uint64_t *from = (const uint64_t *)(uintptr_t)arguments[0];
    uint64_t *sums = (uint64_t *)(uintptr_t)arguments[4];

    if (fake_find(from, (size_t)(((count - 1) * step + words) * sizeof *from)) == NULL ||
        fake_find(sums, (size_t)count * sizeof *sums) == NULL)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t k = 0; k < count; k++)
        for (uint64_t i = 0; i < words; i++)
            sums[k] += assay__word_mix(from[k * step + i] + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    return CUDA_SUCCESS;
}

static double copy_ns(const uint64_t *arguments)
{
    return 2.0 * (double)arguments[2] / fake.bytes_per_ns;
}

static double round_ns(const uint64_t *arguments)
{
    return (double)arguments[0] * fake.round_ns;
}

#define ROUNDS(name)                        \
    {                                       \
        "probe_" name, 3, nothing, false, 0 \
    }
const fake_kernel fake_probes[] = {{"probe_empty", 0, nothing, false, 0},
                                   {"probe_spin", 3, spin, false, 0},
                                   {"probe_copy", 3, copy, false, 0},
                                   ROUNDS("fma_f64"),
                                   ROUNDS("fma_f32"),
                                   ROUNDS("fma_f16"),
                                   ROUNDS("fma_bf16"),
                                   ROUNDS("matrix_f64"),
                                   ROUNDS("matrix_tf32"),
                                   ROUNDS("matrix_f16"),
                                   ROUNDS("matrix_bf16"),
                                   ROUNDS("matrix_i8"),
                                   {"digest_words", 5, digest, false, 0},
                                   {NULL, 0, NULL, false, 0}};

double fake_probe_ns(const fake_kernel *k, const uint64_t *arguments)
{
    if (strncmp(k->name, "probe_", 6) != 0 || k->arguments == 0)
        return 0.0;
    return k->run == spin   ? spin_ns(arguments)
           : k->run == copy ? copy_ns(arguments)
                            : round_ns(arguments);
}

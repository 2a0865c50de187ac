/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/word_digest.h -- the digest of the slot `digest`, as the host computes it.
 *
 * The sum of all words of eight bytes, in the order of this machine, each mixed with its place,
 * mixed once more with the number of bytes: in any order and by any number of threads the same.
 * The mixing is the finalizer of MurmurHash3 (Appleby, public domain). */
#ifndef ASSAY_RUNTIME_WORD_DIGEST_H
#define ASSAY_RUNTIME_WORD_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t assay__word_mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* Of the sum. */
static inline uint64_t assay__word_digest_end(uint64_t sum, uint64_t bytes)
{
    return assay__word_mix(sum + bytes);
}

/* bytes: a multiple of 8. */
static inline uint64_t assay__word_digest(const void *data, size_t bytes)
{
    const char *at = data;
    uint64_t sum = 0, word;

    for (size_t i = 0; i < bytes / sizeof word; i++) {
        memcpy(&word, at + i * sizeof word, sizeof word);
        sum += assay__word_mix(word + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    }
    return assay__word_digest_end(sum, bytes);
}

#endif

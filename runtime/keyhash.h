/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/keyhash.h -- XXH3-128 of in-memory keys; the one home of xxhash.h.
 *
 * For tables inside one process only: never stored, never an identity. */
#ifndef ASSAY_RUNTIME_KEYHASH_H
#define ASSAY_RUNTIME_KEYHASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
/* The header is not written for our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <xxhash.h>
#pragma GCC diagnostic pop

typedef struct assay__key128 {
    uint64_t low, high;
} assay__key128;

static inline assay__key128 assay__xxh(const void *bytes, size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return (assay__key128){hash.low64, hash.high64};
}

static inline uint64_t assay__xxh64(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

#endif

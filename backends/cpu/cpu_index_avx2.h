/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_index_avx2.h -- rows moved by vectors: rows to come are prefetched, which no
 * hardware can guess, and results may go around the cache. */
#ifndef ASSAY_BACKENDS_CPU_INDEX_AVX2_H
#define ASSAY_BACKENDS_CPU_INDEX_AVX2_H

#include <immintrin.h>

#include "backends/cpu/cpu_index.h"

enum { LINE = 64, FETCHED = 1024 }; /* bytes; beyond the first KiB the hardware follows by itself */

static inline void fetch_row(const char *row, int64_t bytes)
{
    for (int64_t i = 0; i < bytes && i < FETCHED; i += LINE)
        _mm_prefetch(row + i, _MM_HINT_T0);
}

static inline void move(char *to, const char *from, bool around)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)from);

    if (around)
        _mm256_stream_si256((__m256i *)(void *)to, v);
    else
        _mm256_storeu_si256((__m256i *)(void *)to, v);
}

static void copy_vectors(char *to, const char *from, int64_t row_bytes, const char *ahead,
                         bool nontemporal)
{
    int64_t i = 0, head = (int64_t)(-(uintptr_t)to % 32);

    if (ahead != NULL)
        fetch_row(ahead, row_bytes);
    if (nontemporal && head > 0 && head < row_bytes) {
        memcpy(to, from, (size_t)head);
        i = head;
    }
    bool around = nontemporal && head < row_bytes;
    for (; i + 32 <= row_bytes; i += 32)
        move(to + i, from + i, around);
    memcpy(to + i, from + i, (size_t)(row_bytes - i));
}

static void done_vectors(bool nontemporal)
{
    if (nontemporal)
        _mm_sfence();
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/cold.h -- memory that no cache holds, whoever touched it before.
 *
 * A time must not depend on what ran before it.  Of operands that a stay finds in the last cache
 * some were left there by earlier stays of the visit, and the more stays the more: without eviction
 * the first of five stays over 5 MB of f32 on a Xeon with 480 MB of L3 took 9.5 us a call and the
 * fifth 4.7; with it all took 9.9 to 10.1.  Pure functions of the bytes; any thread. */
#ifndef ASSAY_TUNER_COLD_H
#define ASSAY_TUNER_COLD_H

#include <stddef.h>

/* "clflushopt" and so on; "none": this processor has no such instruction for programs. */
const char *assay__cold_method(void);

/* Writes the bytes back and drops them from the caches of all cores; mapped for reading at least.
 * Bytes of which that is true: all, or, with method "none", 0. */
size_t assay__cold_evict(const void *at, size_t bytes);

/* memcpy and memset with a pattern (of 1, 2, 4 or 8 bytes, repeated from `to` on, the last one cut
 * off) that leave nothing of `to` in a cache but the lines that it shares with its neighbours.
 * Method "none": the bytes, in whatever cache. */
void assay__cold_copy(void *to, const void *from, size_t bytes);
void assay__cold_fill(void *to, const void *pattern, size_t size, size_t bytes);

#endif

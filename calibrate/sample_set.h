/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/sample_set.h -- a bounded sample of (index, value) pairs for quantiles.
 *
 * Which elements are kept depends on their indices alone, so the sample is the same for every
 * thread count and order of merging. Every aligned group of 64 indices orders its members in a
 * way of its own; the lowest priorities over all groups stay. Up to ASSAY_SAMPLE_KEEP values the
 * sample is complete and quantiles are exact. */
#ifndef ASSAY_CALIBRATE_SAMPLE_SET_H
#define ASSAY_CALIBRATE_SAMPLE_SET_H

#include "assay/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_SAMPLE_KEEP 2048

typedef struct assay_sample {
    uint64_t index;
    double value;
    uint32_t priority;
} assay_sample;

typedef struct assay_sample_set {
    assay_sample *items; /* owned, room for twice ASSAY_SAMPLE_KEEP */
    size_t count;
    uint32_t threshold; /* no higher priority can stay */
} assay_sample_set;

assay_status assay__sample_set_init(assay_sample_set *set);
void assay__sample_set_clear(assay_sample_set *set);

/* Leaves no more than `keep` (>= 1) of the lowest priorities, in memory of their size: from then on
 * it may be merged into others, and nothing be put into it. */
void assay__sample_set_trim(assay_sample_set *set, size_t keep);

/* Bits of the group that holds `index`: the same for 64 consecutive, aligned indices. */
uint32_t assay__sample_group(uint64_t index);

static inline uint32_t assay__sample_priority(uint32_t group, uint64_t index)
{
    return (((uint32_t)index ^ group) & 63) << 26 | group >> 6;
}

/* Keeps the pair if its priority is low enough. */
void assay__sample_set_put(assay_sample_set *set, uint64_t index, double value, uint32_t priority);

void assay__sample_set_merge(assay_sample_set *set, const assay_sample_set *other);

/* Sorted values, the caller frees; *count is what remained. Drops what is above the threshold. */
assay_status assay__sample_set_values(assay_sample_set *set, double **out, size_t *count);

#endif

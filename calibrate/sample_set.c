/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/sample_set.c -- a bounded sample of (index, value) pairs for quantiles. */
#include "calibrate/sample_set.h"

#include "runtime/error.h"

#include <stdlib.h>

assay_status assay__sample_set_init(assay_sample_set *set)
{
    assay_sample *items = calloc(2 * ASSAY_SAMPLE_KEEP, sizeof *items);

    if (!items)
        return assay__fail(ASSAY_NOMEM, "error statistics: sample of %d", ASSAY_SAMPLE_KEEP);
    *set = (assay_sample_set){.items = items, .threshold = UINT32_MAX};
    return ASSAY_OK;
}

void assay__sample_set_clear(assay_sample_set *set)
{
    free(set->items);
    *set = (assay_sample_set){0};
}

uint32_t assay__sample_group(uint64_t index)
{
    uint64_t group = index >> 6;
    uint32_t h = (uint32_t)group ^ (uint32_t)(group >> 32) * 0x9e3779b9u;

    h ^= h >> 16; /* the finalizer of MurmurHash3 (Appleby, public domain) */
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

static int by_priority(const void *a, const void *b)
{
    const assay_sample *x = a, *y = b;
    int order = (x->priority > y->priority) - (x->priority < y->priority);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void shrink(assay_sample_set *set)
{
    if (set->count <= ASSAY_SAMPLE_KEEP)
        return;
    qsort(set->items, set->count, sizeof *set->items, by_priority);
    set->count = ASSAY_SAMPLE_KEEP;
    set->threshold = set->items[ASSAY_SAMPLE_KEEP - 1].priority;
}

void assay__sample_set_put(assay_sample_set *set, uint64_t index, double value, uint32_t priority)
{
    if (priority > set->threshold)
        return;
    if (set->count == 2 * ASSAY_SAMPLE_KEEP)
        shrink(set);
    set->items[set->count++] = (assay_sample){index, value, priority};
}

void assay__sample_set_merge(assay_sample_set *set, const assay_sample_set *other)
{
    for (size_t i = 0; i < other->count; i++)
        assay__sample_set_put(set, other->items[i].index, other->items[i].value,
                              other->items[i].priority);
}

void assay__sample_set_trim(assay_sample_set *set, size_t keep)
{
    if (set->count > keep) {
        qsort(set->items, set->count, sizeof *set->items, by_priority);
        set->count = keep;
    }
    assay_sample *less = realloc(set->items, (set->count + 1) * sizeof *less);
    if (less != NULL)
        set->items = less;
}

assay_status assay__sample_set_values(assay_sample_set *set, double **out, size_t *count)
{
    shrink(set);
    double *values = malloc((set->count + 1) * sizeof *values);
    if (!values)
        return assay__fail(ASSAY_NOMEM, "error statistics: sample of %zu", set->count);
    for (size_t i = 0; i < set->count; i++)
        values[i] = set->items[i].value;
    qsort(values, set->count, sizeof *values, by_value);
    *out = values;
    *count = set->count;
    return ASSAY_OK;
}

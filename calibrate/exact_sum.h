/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/exact_sum.h -- sums that do not depend on the order of their terms. */
#ifndef ASSAY_CALIBRATE_EXACT_SUM_H
#define ASSAY_CALIBRATE_EXACT_SUM_H

#include <math.h>
#include <stdint.h>

#define ASSAY_SUM_CAP 0x1p40 /* a larger term counts as this: 2^24 of them still fit */

/* Fixed point: whole + part / 2^32. Up to 2^32 terms; `whole` sticks at its largest value. */
typedef struct assay_exact_sum {
    uint64_t whole, part;
} assay_exact_sum;

static inline uint64_t assay__sum_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Carries full units out of `part`, so that any number of merges is safe. */
static inline void assay__sum_merge(assay_exact_sum *sum, assay_exact_sum other)
{
    uint64_t part = (sum->part & UINT32_MAX) + (other.part & UINT32_MAX);
    uint64_t carry = (sum->part >> 32) + (other.part >> 32) + (part >> 32);

    sum->part = part & UINT32_MAX;
    sum->whole = assay__sum_capped(assay__sum_capped(sum->whole, other.whole), carry);
}

/* value >= 0; rounded to a multiple of 2^-32, ties to even, as the scan does. */
static inline void assay__sum_add(assay_exact_sum *sum, double value)
{
    double term = value < ASSAY_SUM_CAP ? value : ASSAY_SUM_CAP;
    uint64_t whole = (uint64_t)term;
    uint64_t part = (uint64_t)rint((term - (double)whole) * 4294967296.0);

    assay__sum_merge(sum, (assay_exact_sum){whole, part});
}

static inline double assay__sum_value(const assay_exact_sum *sum)
{
    return (double)sum->whole + (double)sum->part * 0x1p-32;
}

#endif

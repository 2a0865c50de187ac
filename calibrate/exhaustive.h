/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/exhaustive.h -- a unary kernel over every bit pattern of its type, and a directed
 * search where there are too many. */
#ifndef ASSAY_CALIBRATE_EXHAUSTIVE_H
#define ASSAY_CALIBRATE_EXHAUSTIVE_H

#include "calibrate/error_stats.h"

/* The function under test and its reference. Both are called from several threads at once with
 * arrays of their own, x and y at 64 bytes. hi + lo is exact to within bound. */
typedef struct assay__unary {
    assay_dtype input, output; /* types of x and y */
    assay_status (*kernel)(void *cookie, const void *x, void *y, size_t n);
    assay_status (*wide)(void *cookie, const void *x, size_t n, double *hi, double *lo,
                         double *bound);
    void *kernel_cookie, *wide_cookie;
    /* In place of `kernel`, or NULL: outputs of n patterns from `first` on into y, one of the
     * rooms, which have place for `piece` of them, whole batches.  One call at a time. */
    assay_status (*fetch)(void *cookie, uint64_t first, size_t n, void *y);
    size_t piece;
    void *rooms[2]; /* at 64 bytes */
} assay__unary;

/* Bit patterns are visited in batches of this size, in numeric order. */
#define ASSAY_EXHAUSTIVE_BATCH 8192

typedef struct assay_exhaustive_plan {
    unsigned threads;     /* 1 to 256 */
    uint64_t first_batch; /* a part of the space: figures are then no maxima of the function */
    uint64_t batch_count; /* 0: to the end */
    bool digest_only;     /* runs the kernel alone: no reference, no figures */
    /* Called by the calling thread now and then; false ends the run. NULL: nobody asks. */
    bool (*progress)(void *cookie, uint64_t done, uint64_t total);
    void *cookie;
} assay_exhaustive_plan;

typedef struct assay_exhaustive_result {
    assay_error_stats stats; /* index = bit pattern of the input; empty with digest_only */
    uint64_t inputs;         /* tested, NaN included */
    uint64_t nan_inputs;     /* of these */
    uint64_t digest;         /* of all output bits, the same for every number of threads; that of
                              * a whole is the sum of its parts' */
    bool is_complete;        /* every pattern of the type */
} assay_exhaustive_result;

/* Patterns first .. first + n - 1 as elements of `bytes` bytes. */
void assay__exhaustive_patterns(void *dst, size_t bytes, uint64_t first, size_t n);

/* How many of the patterns first .. first + n - 1 are NaN.  ASSAY_INVALID: no dtype. */
assay_status assay__exhaustive_count_nan(assay_dtype dtype, uint64_t first, uint64_t n,
                                         uint64_t *out);

/* Batches in a type's space; 0 when it cannot be exhausted (more than 32 bits). */
uint64_t assay__exhaustive_batches(assay_dtype dtype);

/* Outputs are poisoned with NaN before each call of the kernel, so that what is not written shows.
 * ASSAY_INVALID: a type or plan out of range; ASSAY_INTERRUPTED: `progress` said so; ASSAY_NOMEM;
 * else the first failure of a callback. `out` is written on ASSAY_OK only. */
assay_status assay__exhaustive_run(const assay__unary *unary, const assay_exhaustive_plan *plan,
                                   assay_exhaustive_result *out);
void assay__exhaustive_clear(assay_exhaustive_result *result);

typedef struct assay_search_plan {
    const uint64_t *starts; /* input bits, e.g. the worst of every input set */
    size_t start_count;     /* >= 1 */
    uint64_t evaluations;   /* limit, >= 256 */
    uint64_t seed;
} assay_search_plan;

typedef struct assay_search_result {
    double err_ulp; /* largest found: a lower bound of the maximum, nothing more */
    uint64_t dist;
    uint64_t input_bits, output_bits;
    double hi, lo;
    uint64_t evaluations; /* spent */
    uint64_t improved;    /* steps that went up */
    uint64_t mismatches;  /* elements of a class (NaN, infinity, flush) met on the way */
} assay_search_result;

/* Climbs from each start: steps of plus and minus 2^j on the axis of all values and random ones,
 * moving to the worst, until nothing near is worse. Any float type. Deterministic.
 * ASSAY_INVALID: no float, no start, too small a limit; ASSAY_NOTFOUND: no input met has a
 * defined error; else a failure of a callback. */
assay_status assay__search_run(const assay__unary *unary, const assay_search_plan *plan,
                               assay_search_result *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/error_stats.h -- error figures over many elements.
 *
 * Feed batches in increasing order of index; give each thread an accumulator of its own and merge
 * them in any order: every figure, the worst element included, is the same for every split. */
#ifndef ASSAY_CALIBRATE_ERROR_STATS_H
#define ASSAY_CALIBRATE_ERROR_STATS_H

#include "calibrate/exact_sum.h"
#include "calibrate/sample_set.h"
#include "calibrate/ulp.h"

#define ASSAY_ERROR_INPUTS 4
#define ASSAY_ERROR_NONE   UINT64_MAX /* index of an element that there is none of */

/* Bin 0: err_ulp <= 1/2; bin i: (2^(i-2), 2^(i-1)]; the last: beyond 2^20. */
#define ASSAY_ERROR_BINS 23

/* An element worth keeping. */
typedef struct assay_error_element {
    uint64_t index; /* ASSAY_ERROR_NONE: no such element */
    double figure;  /* what made it the worst: err_ulp or rho; 0 for the first of a class */
    double y, hi, lo, expected;
    uint64_t y_bits;
    double magnitude; /* contractions: sum of absolute products; else 0 */
    uint64_t input_bits[ASSAY_ERROR_INPUTS];
    unsigned input_count;
} assay_error_element;

/* One run of elements, first .. first + count - 1. Borrowed for the call. */
typedef struct assay_error_batch {
    const void *y; /* elements of the format */
    const double *hi;
    const double *lo;        /* NULL: zeros */
    const double *bound;     /* NULL: zeros */
    const double *magnitude; /* contractions only, else NULL */
    uint64_t first;
    size_t count;
    const void *inputs[ASSAY_ERROR_INPUTS]; /* elementwise operands, same indices; may be none */
    assay_dtype input_dtypes[ASSAY_ERROR_INPUTS];
    unsigned input_count;
} assay_error_batch;

typedef struct assay_error_stats {
    assay_ulp_format format;
    uint64_t elements;
    uint64_t classes[ASSAY_ULP_CLASSES]; /* by assay_ulp_class; [0] is the rest */
    uint64_t zero_sign_mismatch;
    uint64_t uncertain;  /* the reference does not settle the rounding; 0 for a good one */
    uint64_t misrounded; /* ordinary elements with dist > 0 */
    uint64_t over_one;   /* ordinary elements with err_ulp >= 1 */
    uint64_t max_dist;
    double max_err_ulp;  /* of ordinary elements */
    double max_err_soft; /* of those in INF_MISMATCH, infinity as 2^(emax+1); 0 if none */
    double max_rel, max_abs;
    assay_exact_sum err_sum;
    uint64_t bins[ASSAY_ERROR_BINS];
    assay_error_element worst;                    /* by err_ulp */
    assay_error_element first[ASSAY_ULP_CLASSES]; /* of each class but ORDINARY */
    uint64_t rho_elements;                        /* with a magnitude */
    /* |y - r| / (unit roundoff of the format * magnitude, at least the smallest normal number) */
    double max_rho;
    assay_exact_sum rho_squares;
    assay_error_element worst_rho;
    uint64_t zeros;    /* of the references */
    uint64_t integers; /* of these too, where neither the type nor all operands are integers */
    assay_sample_set sample;
} assay_error_stats;

/* For integers a unit is 1, and there is no rho.  ASSAY_INVALID: no dtype; ASSAY_NOMEM. */
assay_status assay__error_stats_init(assay_error_stats *stats, assay_dtype dtype, bool saturates);
void assay__error_stats_clear(assay_error_stats *stats);

/* ASSAY_INVALID: NULL y or hi with count > 0, or too many inputs. */
assay_status assay__error_stats_add(assay_error_stats *stats, const assay_error_batch *batch);

/* Both of one format, over different elements. */
assay_status assay__error_stats_merge(assay_error_stats *stats, const assay_error_stats *other);

typedef struct assay_error_figures {
    uint64_t sampled;    /* values behind the quantiles; all ordinary ones if there are few */
    double mean_err_ulp; /* terms above 2^40 count as 2^40 */
    double p50_err_ulp, p99_err_ulp, p999_err_ulp;
    double rms_rho;  /* 0 without magnitudes */
    double kappa;    /* magnitude over |r| at worst_rho; 0 without, DBL_MAX for r = 0 */
    double eff_bits; /* -log2(max_rho * u), or -log2(max_rel) without rho; capped at precision */
} assay_error_figures;

/* ASSAY_NOTFOUND when no element was ordinary; ASSAY_NOMEM. */
assay_status assay__error_stats_figures(assay_error_stats *stats, assay_error_figures *out);

/* Whether the data could tell right from wrong at all. */
typedef enum assay_trust {
    ASSAY_TRUST_OK = 0,
    ASSAY_TRUST_EMPTY,   /* no elements */
    ASSAY_TRUST_ZEROS,   /* more than 90 % of the references are zero */
    ASSAY_TRUST_INTEGERS /* 99 % or more of the references are whole numbers or zero */
} assay_trust;

assay_trust assay__error_stats_trust(const assay_error_stats *stats);
const char *assay__trust_text(assay_trust trust);

/* As bytes, for another process of the same program; `out` has room for PACKED. */
#define ASSAY_ERROR_STATS_PACKED \
    (sizeof(assay_error_stats) + 2 * ASSAY_SAMPLE_KEEP * sizeof(assay_sample))
void assay__error_stats_pack(const assay_error_stats *stats, void *out);
/* ASSAY_INVALID: no such bytes; ASSAY_NOMEM. `out` as after init. */
assay_status assay__error_stats_unpack(const void *bytes, assay_error_stats *out);

/* XXH3-64 of the output bits of one array. */
uint64_t assay__output_digest(const void *bits, size_t bytes);

#endif

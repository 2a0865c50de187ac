/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/precision_rows.h -- measured errors beside bounds and claims, as reports show them. */
#ifndef ASSAY_REPORTS_PRECISION_ROWS_H
#define ASSAY_REPORTS_PRECISION_ROWS_H

#include "reports/report_set.h"

/* What a contract says of a kernel; evidence never comes from here. */
typedef struct assay__precision_claim {
    const char *backend, *op, *dtypes, *kernel;
    double max_ulp, max_rho, max_rel, max_abs; /* NaN: no claim */
    uint8_t stability;                         /* assay_stability; ABSENT: no claim */
} assay__precision_claim;

enum { /* what of a claim the evidence contradicts */
       ASSAY__CLAIM_ULP = 1,
       ASSAY__CLAIM_RHO = 2,
       ASSAY__CLAIM_REL = 4,
       ASSAY__CLAIM_ABS = 8,
       ASSAY__CLAIM_STABILITY = 16
};

/* One stratum, or the union of them, of one (deployment, variant, problem). */
typedef struct assay__precision_row {
    const assay__report_place *place;
    const assay__report_revision *revision;
    const assay__report_problem *problem;
    const assay__precision_claim *claim;     /* NULL: none */
    const char *stratum, *histogram, *worst; /* the last two are JSON; "": none */
    const char *reference, *measured_utc;
    int64_t id, elements, misrounded, nan_mismatch, inf_mismatch, zero_sign_mismatch, flushed;
    int64_t worst_index; /* -1: none */
    uint64_t seed;
    double max_ulp, max_err_ulp, mean_err_ulp, p50_err_ulp, p99_err_ulp, max_rel, max_abs;
    double max_rho, rms_rho, kappa, bound; /* NaN: none */
    double rho_probable, rho_certain;      /* contractions; NaN: not known */
    assay__row_state state;
    uint8_t proof, stability; /* assay_proof, assay_stability (measured) */
    uint8_t contradicted;     /* ASSAY__CLAIM_* */
    /* Digests of results at two numbers of threads that differ; NULL: none seen. */
    const char *thread_digests[2];
    bool passed;
    bool is_union; /* speaks for the whole: the union of the strata */
    bool is_exact; /* every input there is: the maximum is one, not a lower bound */
    bool is_contraction, is_elementwise;
} assay__precision_row;

typedef struct assay__precision {
    assay__report_set set;
    assay__precision_row *rows; /* owned; current first, then by op, problem, variant, stratum */
    size_t count;
    assay__precision_claim *claims; /* owned */
    size_t claim_count;
    struct assay__precision_level *levels; /* owned; measured bit stability */
    size_t level_count;
} assay__precision;

/* ASSAY_NOTFOUND: nothing measured (that the filters let through). */
assay_status assay__precision_load(const assay__report_options *options, assay__precision *out);
void assay__precision_clear(assay__precision *precision);

/* Sets `contradicted` from `claim`, the figures, `stability` and digests of the row. */
void assay__precision_judge(assay__precision_row *row);

/* The bounds of rho for sums with `terms` roundings on a path, result rounded to `dtype`. */
void assay__precision_rho_bounds(assay_dtype dtype, double terms, double *probable,
                                 double *certain);

/* 3/N: with 95 % confidence less than this share of elements, drawn as these were, lies beyond the
 * bound.  NaN when one did, or none was drawn; 0 when all inputs there are were tried. */
double assay__precision_share(const assay__precision_row *row);

#endif

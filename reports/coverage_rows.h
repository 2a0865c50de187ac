/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/coverage_rows.h -- op x dtypes x backend: which kernels there are, which were measured,
 * what they claim and what is proven.
 *
 * Rows come from the catalogue and from the kernels of this program; the store adds what is known
 * of them on this machine.  So an op that nobody implements has a row as well. */
#ifndef ASSAY_REPORTS_COVERAGE_ROWS_H
#define ASSAY_REPORTS_COVERAGE_ROWS_H

#include "assay/op.h"
#include "reports/report_set.h"

typedef struct assay__coverage_kernel {
    const assay__report_kernel *now; /* borrowed of the options */
    size_t row;
    size_t problems;           /* measured here as the kernel is now, with the right result */
    size_t stale_problems;     /* measured here with a kernel that has changed since */
    size_t elsewhere_problems; /* measured on other deployments */
    uint8_t proof;             /* assay_proof: the strongest here that was passed */
    uint8_t contradicted;      /* ASSAY__CLAIM_*: claims that evidence from here contradicts */
    bool is_wrong;             /* its result was wrong here, with some variant on some problem */
} assay__coverage_kernel;

typedef enum assay__coverage_state {
    ASSAY__COVERAGE_NO_KERNEL,   /* nobody implements it */
    ASSAY__COVERAGE_UNAVAILABLE, /* no kernel of the backend can run here */
    ASSAY__COVERAGE_NONE,        /* not measured here */
    ASSAY__COVERAGE_STALE,       /* only with kernels that have changed since */
    ASSAY__COVERAGE_SOME,        /* some of the kernels that can run here */
    ASSAY__COVERAGE_ALL
} assay__coverage_state;

typedef struct assay__coverage_row {
    const assay_op_info *op;
    const char *dtypes;
    const char *backend;           /* NULL: no backend has a kernel */
    size_t first, count;           /* kernels of assay__coverage.kernels */
    size_t available, measured;    /* of them */
    size_t rivals;                 /* kernels of all backends that can run here, named ones aside */
    size_t problems;               /* of the kernel that was measured on most */
    size_t claiming, contradicted; /* available kernels with a claim; with a contradicted one */
    size_t wrong;                  /* kernels */
    assay_claims claims;           /* the weakest; none where an available kernel has none */
    uint8_t proof;                 /* the weakest of the available kernels */
    assay__coverage_state state;
} assay__coverage_row;

typedef struct assay__coverage {
    assay__report_set set;
    assay__coverage_row *rows; /* owned; in catalogue order, then dtypes, then backends */
    size_t row_count;
    assay__coverage_kernel *kernels; /* owned; row by row */
    size_t kernel_count;
    size_t gone; /* measured kernels of this machine that are no more */
} assay__coverage;

/* ASSAY_UNAVAILABLE when the kernels of this machine are not known; ASSAY_NOTFOUND when the filters
 * let nothing through.  An empty store is no error: nothing was measured. */
assay_status assay__coverage_load(const assay__report_options *options, assay__coverage *out);
void assay__coverage_clear(assay__coverage *coverage);

/* "no kernel", "unavailable", "none", "stale", "some", "all" */
const char *assay__coverage_state_name(assay__coverage_state state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/store.h -- what the runtime reads from a store; db/ implements it.
 *
 * All read calls leave the file untouched.  Text handed to callbacks is borrowed for the call.  A
 * store serves one thread at a time, and a callback must not read from the store that calls it. */
#ifndef ASSAY_RUNTIME_STORE_H
#define ASSAY_RUNTIME_STORE_H

#include <stdbool.h>

#include "assay/pick.h"

/* One candidate inside a route, as packed into route.candidates (little-endian, 8-byte aligned,
 * one record after another; no padding beyond what is written here). */
typedef struct assay__route_candidate {
    uint64_t revision_row; /* revision.id: kernel, variant revision and tunables hang on it */
    uint64_t measurement;  /* measurement.id */
    uint64_t accuracy;     /* accuracy.id; 0: none */
    double time_ns, lo_ns, hi_ns; /* published: median of confirming visits, 95 % interval */
    double ratio, ratio_lo,
        ratio_hi; /* paired against the default kernel, interval of ratio_level; NaN: none */
    double max_ulp, max_rho, max_rel, max_abs; /* measured; NaN: none */
    uint64_t workspace_bytes;
    uint8_t proof, stability, verdict,
        tied; /* verdict: assay__verdict below; tied: in the tie set */
    uint8_t quarantined;
    uint8_t ratio_level;  /* per cent; 0: 99, of stores older than schema 5, or no interval */
    uint16_t noise;       /* runtime/noise_words.h; 0 in stores older than schema 6 */
} assay__route_candidate; /* 120 bytes */

typedef enum assay__verdict {
    ASSAY__VERDICT_NONE = 0,
    ASSAY__VERDICT_OK,    /* right and measured */
    ASSAY__VERDICT_WRONG, /* result outside the bound: can never be picked */
    ASSAY__VERDICT_NOISY, /* right, interval wider than asked for */
    ASSAY__VERDICT_THROTTLED,
    ASSAY__VERDICT_IMPOSSIBLE, /* faster than the roofline floor: never published */
    ASSAY__VERDICT_CRASHED,
    ASSAY__VERDICT_TIMEOUT,
    ASSAY__VERDICT_MISTRUSTED /* the data could not tell right from wrong */
} assay__verdict;

#define ASSAY__VERDICT_UNSOUND 255 /* in memory only: the record says what cannot be */

/* Can this have been measured?  Records are packed, so no constraint of the store guards them. */
bool assay__candidate_is_sound(const assay__route_candidate *c);

/* The level of ratio_lo..ratio_hi, a share; NaN: no interval. */
double assay__ratio_level(const assay__route_candidate *c);
/* As the record keeps it. */
uint8_t assay__ratio_level_pack(double level);

/* A variant that routes refer to. */
typedef struct assay__store_revision {
    uint64_t row;
    const char *kernel, *backend, *op, *dtypes; /* dtypes "f32,f32,f32" */
    const char *tunables; /* canonical "name=value,..." sorted by name; "" none */
    assay_digest kernel_revision, variant_revision;
} assay__store_revision;

typedef struct assay__store_route {
    uint64_t row;
    const char *problem; /* canonical ACCURACY text */
    const char *layout;  /* a letter an operand */
    const char *policy;  /* "rotate/alone/kernel" */
    uint32_t align;
    uint64_t winner_revision_row; /* of the published winner; 0: none */
    const void *candidates;       /* assay__route_candidate[candidate_count] */
    size_t candidate_count;
    int64_t searched, total;
    const char *stop_reason;
} assay__store_route;

/* Evidence over all inputs of an elementwise op. */
typedef struct assay__store_proof {
    uint64_t accuracy;     /* accuracy.id */
    uint64_t revision_row; /* revision.id */
    const char *problem;   /* canonical ACCURACY text; its shape stands for all */
    double max_ulp, max_rel, max_abs;
    bool passed;
    bool is_contradicted; /* some check of the same revision here failed */
} assay__store_proof;

/* A variant that must not run again. */
typedef struct assay__store_quarantine {
    assay_digest variant; /* its revision */
    const char *problem;  /* canonical ACCURACY text; "": all */
    const char *reason;
    assay__verdict verdict; /* WRONG or CRASHED at that problem; NONE: neither, or not known */
} assay__store_quarantine;

/* How long moving so many bytes from one memory to another takes.  target: with the path at its
 * end, "cpu:0/copy"; memories as in transfer_price.h. */
typedef struct assay__store_transfer {
    const char *source, *target;
    double bytes, median_ns, lo_ns, hi_ns; /* lo, hi NaN: none */
} assay__store_transfer;

typedef struct assay__store assay__store;

/* The read half, about a dozen calls.  A struct of pointers, so that libassay's runtime does not
 * depend on db/. */
typedef struct assay__store_ops {
    /* DB_MISSING, DB_FOREIGN, DB_DAMAGED, DB_NEWER, DB_OLDER, DB_LOCKED; never creates or writes.
     */
    assay_status (*open_read)(const char *path, assay__store **out);
    void (*close)(assay__store *store);
    assay_status (*schema_version)(assay__store *store, int64_t *out);
    /* Changes whenever another connection commits (PRAGMA data_version). */
    assay_status (*data_version)(assay__store *store, int64_t *out);
    /* Counts for sizing before the scans. */
    assay_status (*count_routes)(assay__store *store, const char *deployment_hex, size_t *here,
                                 size_t *elsewhere);
    assay_status (*each_revision)(assay__store *store, const char *deployment_hex,
                                  assay_status (*row)(void *cookie, const assay__store_revision *r),
                                  void *cookie);
    assay_status (*each_route)(assay__store *store, const char *deployment_hex,
                               assay_status (*row)(void *cookie, const assay__store_route *r),
                               void *cookie);
    assay_status (*each_quarantine)(assay__store *store, const char *deployment_hex,
                                    assay_status (*row)(void *cookie,
                                                        const assay__store_quarantine *q),
                                    void *cookie);
    /* NULL in a store that has none. */
    assay_status (*each_proof)(assay__store *store, const char *deployment_hex,
                               assay_status (*row)(void *cookie, const assay__store_proof *p),
                               void *cookie);
    /* Measured peaks of this deployment by name ("fma_f32_avx2_t1" flop/ns, "copy_nt_t2" byte/ns).
     */
    assay_status (*peak)(assay__store *store, const char *deployment_hex, const char *name,
                         double *value);
    /* By source, target and size; NULL in a store that has none. */
    assay_status (*each_transfer)(assay__store *store, const char *deployment_hex,
                                  assay_status (*row)(void *cookie, const assay__store_transfer *t),
                                  void *cookie);
    /* Between the two every read sees one state of the store, whatever others commit. */
    assay_status (*begin_snapshot)(assay__store *store);
    void (*end_snapshot)(assay__store *store);
} assay__store_ops;

/* Implemented in db/open.c. */
const assay__store_ops *assay__store_sqlite(void);

#endif

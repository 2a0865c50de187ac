/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_store.h -- what the picker keeps of a store: routes, variants, quarantine.
 *
 * Read once and never changed; after that no call touches the file.  Candidates stay packed and
 * problems stay text until a question asks for them. */
#ifndef ASSAY_RUNTIME_PICK_STORE_H
#define ASSAY_RUNTIME_PICK_STORE_H

#include "runtime/store.h"
#include "runtime/transfer_price.h"

/* A variant that routes refer to; text is owned by the store data. */
typedef struct assay__stored_variant {
    uint64_t row;
    const char *kernel, *backend, *op, *dtypes, *tunables;
    assay_digest kernel_revision, variant_revision;
} assay__stored_variant;

typedef struct assay__stored_route {
    uint64_t hash; /* of problem text, layout, policy and alignment */
    uint64_t row;
    uint64_t winner; /* revision row; 0: none */
    uint64_t text;   /* where in `text` the canonical problem starts */
    uint64_t first_candidate;
    uint32_t candidate_count;
    uint32_t stop_reason; /* index into stop_reasons */
    int64_t searched, total;
    char layout[ASSAY_MAX_OPERANDS];
    uint8_t align;
    assay_policy policy;
} assay__stored_route;

/* Evidence over all inputs; see pick_proven.h. */
typedef struct assay__stored_proof {
    uint64_t revision, accuracy; /* rows */
    assay_problem problem;
    double max_ulp, max_rel, max_abs; /* NaN: none */
    bool passed, is_contradicted;
} assay__stored_proof;

/* One path from a memory to another. */
typedef struct assay__stored_transfer {
    const char *source, *target; /* target: with the path at its end */
    size_t first, count;         /* of the points */
} assay__stored_transfer;

/* What copies within the host's memory cost here. */
typedef struct assay__copy_costs {
    double bytes_per_ns; /* of one thread, bytes read and written; NaN: not measured here */
    const assay__transfer_point *points; /* borrowed; of bytes moved, which are read and written */
    size_t count;                        /* 0: not measured here */
} assay__copy_costs;

typedef struct assay__pick_store {
    char path[256];
    int64_t schema, data_version;
    size_t routes_here, routes_elsewhere;
    assay__stored_variant *variants; /* sorted by row */
    size_t variant_count, variant_cap;
    assay__stored_route *routes;
    size_t route_count, route_cap;
    uint32_t *index; /* of routes plus one, by hash; 0: free */
    size_t index_mask;
    assay__route_candidate *candidates;
    size_t candidate_count, candidate_cap;
    char *text; /* problems of the routes, one after another */
    size_t text_used, text_cap;
    char **strings; /* owned: texts of variants and reasons */
    size_t string_count, string_cap;
    const char *stop_reasons[64];
    size_t stop_reason_count;
    struct assay__quarantined *quarantined;
    size_t quarantine_count, quarantine_cap;
    assay__stored_proof *proofs; /* sorted by revision */
    size_t proof_count, proof_cap;
    assay__stored_transfer *transfers; /* by source and target */
    size_t transfer_count, transfer_cap;
    assay__transfer_point *points; /* of the transfers, one after another */
    size_t point_count, point_cap;
    assay__copy_costs copies;
    /* What cost functions are told of the device: peaks of `threads` threads; NaN: not measured. */
    assay_capabilities of_f32, of_f64;
} assay__pick_store;

/* An empty one: no store. */
assay_status assay__pick_store_create(assay__pick_store **out);
/* Reads all that belongs to a deployment in one state of the store. */
assay_status assay__pick_store_read(const assay__store_ops *ops, assay__store *store,
                                    const char *path, const char *deployment_hex,
                                    assay__pick_store **out);
void assay__pick_store_destroy(assay__pick_store **store);

/* The route of exactly this layout, alignment and policy; NULL: none.  layout: a letter an operand.
 */
const assay__stored_route *assay__pick_store_find(const assay__pick_store *s,
                                                  const char *problem_text, const char *layout,
                                                  unsigned align, assay_policy policy);
/* Place of a variant in `variants`, or SIZE_MAX. */
size_t assay__pick_store_variant(const assay__pick_store *s, uint64_t revision_row);
/* Median, lower and upper bound in ns of moving `bytes` between two memories, by the path that is
 * the fastest for so many, and which that is; false: not measured here. */
bool assay__pick_store_transfer(const assay__pick_store *s, const char *from, const char *to,
                                double bytes, assay_path *path, double out[3]);
/* Why a variant is quarantined for a problem (its ACCURACY text); NULL: it is not. */
const char *assay__pick_store_quarantine(const assay__pick_store *s, const assay_digest *variant,
                                         const char *problem_text);
/* The worst that a variant is known to have done at any problem: WRONG, else CRASHED, else NONE.
 * problem: where, unless NONE. */
assay__verdict assay__pick_store_worst(const assay__pick_store *s, const assay_digest *variant,
                                       const char **problem);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/fake_store.h -- a store in memory, for tests of the picker. */
#ifndef ASSAY_TESTS_FAKE_STORE_H
#define ASSAY_TESTS_FAKE_STORE_H

#include "runtime/store.h"

#define FAKE_ROWS 64

typedef struct fake_route {
    const char *problem, *layout, *policy;
    uint32_t align;
    uint64_t winner;
    assay__route_candidate candidates[16];
    size_t count;
} fake_route;

typedef struct fake_store {
    assay_status open_status;
    assay__store_revision revisions[FAKE_ROWS];
    size_t revision_count;
    fake_route *routes; /* borrowed */
    size_t route_count, elsewhere;
    assay__store_quarantine quarantine[FAKE_ROWS];
    size_t quarantine_count;
    assay__store_proof proofs[FAKE_ROWS];
    size_t proof_count;
    int is_still; /* nobody commits: the data version stays */
    int64_t commits;
    double copy_rate;    /* peak copy_plain_t1; 0: not measured */
    double fma_rates[2]; /* peaks fma_f32_portable_t1, fma_f64_avx2_t1; 0: not measured */
    assay__store_transfer transfers[FAKE_ROWS];
    size_t transfer_count;
    int inside; /* a snapshot is open */
    int closed; /* how often */
} fake_store;

extern fake_store fake;
const assay__store_ops *fake_store_ops(void);
/* OK verdict, sampled proof, 1 ulp, `ns` +- 1 %, ratio ns / 100 +- 1 %. */
assay__route_candidate fake_candidate(uint64_t revision_row, double ns);

#endif

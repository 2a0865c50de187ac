/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/table.h -- the one table of kernels: bindings, alternatives, registration, lookups.
 *
 * Snapshots are immutable; registering publishes a new one.  All functions are thread-safe;
 * readers take no lock. */
#ifndef ASSAY_TABLE_H
#define ASSAY_TABLE_H

#include "assay/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One implementation of an op for a dtype tuple on a backend: plain copyable data, stored inline.
 * Pointers are borrowed from plug-ins, which are never unloaded. */
typedef struct assay_binding {
    assay_kernel_fn run; /* called directly, nothing in between */
    const assay_kernel_desc *desc;
    const assay_manifest *manifest;
    assay_digest revision; /* of the kernel; a variant's is H(revision, tunables) */
    uint16_t op;
    uint8_t dtype_count;
    uint8_t available; /* 0: its library or ISA is absent; `reason` says why */
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    int32_t default_rank;
    uint8_t left_closed; /* 1: of an op that the context was not opened for, so not looked at */
    char reason[159];    /* "" when available; a longer text ends in "..." */
} assay_binding;

typedef struct assay_table assay_table;       /* opaque; owned by whoever created it */
typedef struct assay_snapshot assay_snapshot; /* counted; see assay_table_hold */

assay_status assay_table_create(assay_table **out);
void assay_table_destroy(assay_table **table);

/* Adds bindings in one step: all or none.  ASSAY_INVALID for a broken row (which row, field and
 * why); the same (op, dtypes, backend, kernel name) twice is a broken row. */
assay_status assay_table_register(assay_table *table, const assay_binding *rows, size_t count);

/* A counted snapshot, for a plan to hold for its life. */
assay_status assay_table_hold(assay_table *table, const assay_snapshot **out);
void assay_snapshot_release(const assay_snapshot **snapshot);

/* Lookups on a held snapshot.  `backend` NULL: any.  Alternatives come in rank order: lowest
 * default_rank first, then backend name, then kernel name; order of registration decides nothing
 * except in a table whose rows all have the same rank, where the first registered leads. */
size_t assay_snapshot_alternatives(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                                   size_t dtype_count, const char *backend,
                                   const assay_binding **out);
/* The default kernel.  ASSAY_UNSUPPORTED: the text lists the coverage of the op. */
assay_status assay_snapshot_default(const assay_snapshot *s, assay_op_id op, const uint8_t *dtypes,
                                    size_t dtype_count, const char *backend,
                                    const assay_binding **out);
size_t assay_snapshot_size(const assay_snapshot *s);
const assay_binding *assay_snapshot_at(const assay_snapshot *s, size_t index);
/* Grows by one with every registration. */
uint64_t assay_snapshot_version(const assay_snapshot *s);

#ifdef __cplusplus
}
#endif
#endif

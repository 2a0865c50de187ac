/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/stored_variants.h -- every variant that a store has measured here, judged by what runs now.
 */
#ifndef ASSAY_CLI_STORED_VARIANTS_H
#define ASSAY_CLI_STORED_VARIANTS_H

#include "cli/kernel_set.h"
#include "db/check.h"

typedef struct assay__stored_variant_row {
    char *backend, *op, *dtypes, *kernel, *tunables; /* owned */
    assay_digest revision;
    assay__check_state state;
    bool is_renewed; /* idle, but the same variant was measured again as it is now */
    int64_t measurements, routes;
} assay__stored_variant_row;

typedef struct assay__stored_variants {
    assay__stored_variant_row *items; /* owned, in the order of the store */
    size_t count, cap;
    assay_status status; /* of the callbacks */
} assay__stored_variants;

/* Zeroed memory is an empty list. */
assay_status assay__stored_variants_judge(assay__store *store, const assay__kernel_set *set,
                                          assay__stored_variants *out,
                                          assay__check_staleness *totals);
void assay__stored_variants_clear(assay__stored_variants *list);

/* The kernel of this program that a store names; NULL: none. */
const assay_binding *assay__stored_kernel_find(const assay_snapshot *rows, const char *backend,
                                               const char *op, const char *dtypes_text,
                                               const char *kernel);
/* The stored tunables in the order of the kernel's row; false: they are not the kernel's. */
bool assay__stored_tunables_read(const assay_kernel_desc *desc, const char *text, int64_t *values);

#endif

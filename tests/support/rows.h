/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/rows.h -- manifests, descriptors and bindings built by hand. */
#ifndef ASSAY_TESTS_ROWS_H
#define ASSAY_TESTS_ROWS_H

#include "assay/table.h"

assay_manifest rows_manifest(const char *name);
/* Dtypes by the op's rule for T; no tunables, no claims, contiguous operands only. */
assay_kernel_desc rows_desc(const char *name, assay_op_id op, assay_dtype t, int rank);
/* Revision: every byte is `mark`. */
assay_binding rows_binding(const assay_manifest *manifest, const assay_kernel_desc *desc,
                           uint8_t mark);
/* The kernel of rows_desc: succeeds and does nothing. */
assay_status rows_run(const assay_launch *launch);

#endif

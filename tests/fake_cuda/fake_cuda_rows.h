/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_rows.h -- kernels that the scripted driver understands. */
#ifndef ASSAY_TESTS_FAKE_CUDA_ROWS_H
#define ASSAY_TESTS_FAKE_CUDA_ROWS_H

#include "assay/plugin.h"

extern const assay_manifest assay_plugin_manifest;

assay_status fake_row_add(const assay_launch *launch);     /* y = a + b of f32 */
assay_status fake_row_count(const assay_launch *launch);   /* one more in operand 0 */
assay_status fake_row_bad(const assay_launch *launch);     /* an illegal address */
assay_status fake_row_refuses(const assay_launch *launch); /* says why not */
assay_status fake_row_lost_name(const assay_launch *launch);
assay_status fake_row_foreign_code(const assay_launch *launch);
assay_status fake_row_compiled(const assay_launch *launch); /* fake_row_source */
assay_status fake_row_grid(const assay_launch *launch);     /* fake_row_shape */
assay_status fake_row_space(const assay_launch *launch);    /* fake_row_bytes of workspace */

typedef struct fake_shape {
    uint64_t groups[3];
    uint32_t threads[3], shared_bytes;
} fake_shape;
extern fake_shape fake_row_shape;
extern const char *fake_row_source;
extern size_t fake_row_bytes;
extern uint64_t fake_row_space_at; /* where it was */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_index.h -- indices of the reference gather and scatter. */
#ifndef ASSAY_BACKENDS_REF_INDEX_H
#define ASSAY_BACKENDS_REF_INDEX_H

#include "backends/ref/ref.h"

int64_t ref_index_at(const assay_tensor *index, int64_t i);

/* ASSAY_INVALID for an index that names none of the rows; asked before anything is read through
 * one. */
assay_status ref_index_check(const assay_launch *launch, int64_t rows);

#endif

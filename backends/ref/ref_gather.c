/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_gather.c -- y[i] = table[index[i]], row by row, nothing rounded. */
#include "backends/ref/ref_index.h"

REF_OP(gather, 1 << 18)
{
    const assay_tensor *table = &launch->operands[0], *index = &launch->operands[1];
    int64_t cols = table->dims[1];

    (void)threads;
    ASSAY_TRY(ref_index_check(launch, table->dims[0]));
    for (int64_t i = 0; i < out->count; i++) {
        int64_t row = ref_index_at(index, (out->first + i) / cols);
        ref_put(out, i, ref_load_exact(table, row * cols + (out->first + i) % cols), 0.0);
    }
    return ASSAY_OK;
}

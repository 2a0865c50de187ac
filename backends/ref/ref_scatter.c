/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_scatter.c -- y[index[i]] = x[i], row by row, nothing rounded; other rows of y
 * stay.
 *
 * Of equal indices the last one wins. */
#include <stdlib.h>

#include "backends/ref/ref_index.h"

REF_OP(scatter, 1 << 18)
{
    const assay_tensor *x = &launch->operands[0], *index = &launch->operands[1];
    const assay_tensor *y = &launch->operands[2];
    int64_t rows = y->dims[0], cols = y->dims[1];

    (void)threads;
    ASSAY_TRY(ref_index_check(launch, rows));
    int64_t *last = malloc((size_t)(rows + 1) * sizeof *last);
    if (last == NULL)
        return ASSAY_NOMEM;
    for (int64_t row = 0; row < rows; row++)
        last[row] = -1;
    for (int64_t i = 0; i < index->dims[0]; i++)
        last[ref_index_at(index, i)] = i;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t at = out->first + i, from = last[at / cols];
        ref_dd v = from < 0 ? ref_load_exact(y, at) : ref_load_exact(x, from * cols + at % cols);
        ref_put(out, i, v, 0.0);
    }
    free(last);
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_index.c -- see ref_index.h. */
#include "backends/ref/ref_index.h"

#include "runtime/host_backend.h"

int64_t ref_index_at(const assay_tensor *index, int64_t i)
{
    return ref_integer_at(index->dtype, ref_element(index, i));
}

assay_status ref_index_check(const assay_launch *launch, int64_t rows)
{
    const assay_tensor *index = &launch->operands[1];

    for (int64_t i = 0; i < index->dims[0]; i++) {
        int64_t row = ref_index_at(index, i);
        if (row < 0 || row >= rows)
            return assay__host_fail(launch->instance, ASSAY_INVALID,
                                    "index %lld is %lld, outside the %lld rows", (long long)i,
                                    (long long)row, (long long)rows);
    }
    return ASSAY_OK;
}

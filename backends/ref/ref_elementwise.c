/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_elementwise.c -- loops over elements, threads and strides apart. */
#include "backends/ref/ref.h"

assay_status ref_wide_binary(const assay_launch *launch, unsigned threads, const assay_wide *out,
                             ref_binary_fn f)
{
    const assay_tensor *a = &launch->operands[0], *b = &launch->operands[1];
    int64_t count = out->count;

#pragma omp parallel for num_threads(threads) schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i++) {
        double bound = 0.0;
        ref_dd y = f(ref_load(a, out->first + i), ref_load(b, out->first + i), &bound);
        ref_put(out, i, y, bound);
    }
    return ASSAY_OK;
}

assay_status ref_wide_each(const assay_launch *launch, unsigned threads, const assay_wide *out,
                           ref_unary_fn f)
{
    const assay_tensor *x = &launch->operands[0];
    int64_t count = out->count;

#pragma omp parallel for num_threads(threads) schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i++) {
        double bound = 0.0;
        ref_dd y = f(ref_load(x, out->first + i), &bound);
        ref_put(out, i, y, bound);
    }
    return ASSAY_OK;
}

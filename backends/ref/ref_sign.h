/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_sign.h -- the kernel of ops that change the sign bit and nothing else.
 *
 * On bytes: a signaling NaN does not come through a double as it is. */
#ifndef ASSAY_BACKENDS_REF_SIGN_H
#define ASSAY_BACKENDS_REF_SIGN_H

#include <string.h>

#include "backends/ref/ref.h"

/* y = x, the highest byte of each element & keep, then ^ flip. */
static inline assay_status ref_run_sign(const assay_launch *launch, unsigned keep, unsigned flip)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    const size_t bytes = assay_dtype_bytes(y->dtype);
    char *base = assay_tensor_data(y);

    for (int64_t i = 0; i < y->dims[0]; i++) {
        unsigned char element[sizeof(double)] = {0};
        memcpy(element, ref_element(x, i), bytes);
        element[bytes - 1] =
            (unsigned char)((element[bytes - 1] & keep) ^ flip); /* little-endian */
        memcpy(base + (ref_element(y, i) - base), element, bytes);
    }
    return ASSAY_OK;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_columns.h -- sums of products whose second factor may be absent, and a
 * convolution as both of its gradients read it. */
#ifndef ASSAY_BACKENDS_REF_COLUMNS_H
#define ASSAY_BACKENDS_REF_COLUMNS_H

#include "backends/ref/ref.h"

typedef struct ref_conv {
    const assay_tensor *in[2];
    int64_t n, c, h, w, k, r, s; /* c, k: of one group */
    int64_t oh, ow, groups;
    int64_t stride[2], pad[2], dilation[2];
} ref_conv;

/* out[plane][row][place] = sum over taps of first(row, tap) second(tap, place). */
typedef struct ref_columns {
    ref_conv g;
    int64_t rows, taps, places;
    double (*first)(const ref_conv *g, int64_t plane, int64_t row, int64_t tap);
    /* false: absent, no product */
    bool (*second)(const ref_conv *g, int64_t plane, int64_t tap, int64_t place, double *value);
} ref_columns;

/* y: extents of the convolution's result; of the op's own dtype. */
void ref_conv_read(const assay_launch *launch, const assay_tensor *y, ref_conv *g);

/* Element of a tensor of rank 4. */
double ref_at4(const assay_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d);

assay_status ref_columns_wide(const ref_columns *g, const assay_tensor *out_tensor,
                              unsigned threads, const assay_wide *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_conv2d_back.h -- gradients of a convolution as products over columns.
 */
#ifndef ASSAY_BACKENDS_OPENBLAS_CONV2D_BACK_H
#define ASSAY_BACKENDS_OPENBLAS_CONV2D_BACK_H

#include "backends/openblas/openblas.h"

assay_status openblas_backward_data(const assay_launch *launch);
assay_status openblas_backward_filter(const assay_launch *launch);
/* Extents of 32 bits; no more threads than this process may use.  Opens nothing. */
bool openblas_back_usable(const assay_problem *problem, const int64_t *tunables);

#endif

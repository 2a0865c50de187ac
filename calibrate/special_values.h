/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/special_values.h -- values at which kernels go wrong, for every float type. */
#ifndef ASSAY_CALIBRATE_SPECIAL_VALUES_H
#define ASSAY_CALIBRATE_SPECIAL_VALUES_H

#include "assay/dtype.h"

/* Zeros, subnormals, normals next to limits, small and large numbers, infinities, NaN; both
 * signs. The same count for every type. */
size_t assay__special_count(void);
double assay__special_value(assay_dtype dtype, size_t index);

/* The value with those low bits as its pattern; a NaN is turned into a number. */
double assay__special_from_bits(assay_dtype dtype, uint64_t bits);

/* A value at most 64 steps from an anchor, chosen by `bits`: powers of two of both signs, zero;
 * with `is_exp` half of the anchors are where exp over- and underflows and multiples of ln2/2. */
double assay__special_edge(bool is_exp, assay_dtype dtype, uint64_t bits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/special_values.h -- values at which kernels go wrong, for every type. */
#ifndef ASSAY_CALIBRATE_SPECIAL_VALUES_H
#define ASSAY_CALIBRATE_SPECIAL_VALUES_H

#include "assay/dtype.h"

/* Zeros, subnormals, normals next to limits, small and large numbers, infinities, NaN; both
 * signs. The same count for every type. */
size_t assay__special_count(void);
double assay__special_value(assay_dtype dtype, size_t index);

/* The same for integers: zero, one, both ends of the type, powers of two and neighbours of all
 * these, as many as there are floats. */
int64_t assay__special_integer(assay_dtype dtype, size_t index);

/* The value with those low bits as its pattern; a NaN is turned into a number. */
double assay__special_from_bits(assay_dtype dtype, uint64_t bits);

/* A value at most 64 steps from an anchor, chosen by `bits`: powers of two of both signs, zero;
 * with `is_exp` half of the anchors are where exp over- and underflows and multiples of ln2/2. */
double assay__special_edge(bool is_exp, assay_dtype dtype, uint64_t bits);

/* A value of `from` a few steps from where the results of a conversion to `to` change: midpoints of
 * its neighbours and its overflow threshold, for integers whole numbers and the ends of the type.
 */
double assay__special_turn(assay_dtype from, assay_dtype to, uint64_t bits);

/* An integer at most a few steps from a power of two, an end of the type or zero; where `to` is a
 * float type too narrow for it, half of them from a midpoint of two neighbours there. */
int64_t assay__special_integer_turn(assay_dtype from, assay_dtype to, uint64_t bits);

#endif

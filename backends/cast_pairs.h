/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cast_pairs.h -- the pairs of types that cast takes, for tables with a row a pair. */
#ifndef ASSAY_BACKENDS_CAST_PAIRS_H
#define ASSAY_BACKENDS_CAST_PAIRS_H

/* X(from, to) for every ordered pair. */
#define CAST_TO_EACH(X, from) \
    X(from, F64)              \
    X(from, F32)              \
    X(from, F16)              \
    X(from, BF16)             \
    X(from, F8E4M3) X(from, I8) X(from, I16) X(from, I32) X(from, I64) X(from, U8) X(from, U32)
#define CAST_PAIRS(X)       \
    CAST_TO_EACH(X, F64)    \
    CAST_TO_EACH(X, F32)    \
    CAST_TO_EACH(X, F16)    \
    CAST_TO_EACH(X, BF16)   \
    CAST_TO_EACH(X, F8E4M3) \
    CAST_TO_EACH(X, I8)     \
    CAST_TO_EACH(X, I16)    \
    CAST_TO_EACH(X, I32) CAST_TO_EACH(X, I64) CAST_TO_EACH(X, U8) CAST_TO_EACH(X, U32)

#endif

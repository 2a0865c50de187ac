/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/index_pairs.h -- X(rows, index): types of rows and of what names them, for the tables of
 * gather and scatter; beside floats with i64, which the families of four types have. */
#ifndef ASSAY_BACKENDS_INDEX_PAIRS_H
#define ASSAY_BACKENDS_INDEX_PAIRS_H

#define INDEX_WHOLE(X, index) \
    X(F8E4M3, index)          \
    X(I8, index) X(I16, index) X(I32, index) X(I64, index) X(U8, index) X(U32, index)
#define INDEX_PAIRS(X) \
    X(F64, U32)        \
    X(F32, U32)        \
    X(F16, U32)        \
    X(BF16, U32)       \
    INDEX_WHOLE(X, I64) INDEX_WHOLE(X, U32)

#endif

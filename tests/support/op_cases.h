/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/op_cases.h -- problems of any op, made from its catalogue row. */
#ifndef ASSAY_TESTS_OP_CASES_H
#define ASSAY_TESTS_OP_CASES_H

#include "assay/op.h"

#define OP_CASE_TEXT 256

/* Number of cases of an op: empty, single, odd and long extents; every value of an enumeration; at
 * most some 20,000 elements an operand. */
size_t op_case_count(assay_op_id op);
/* Case `index` as "name=value,...". */
void op_case_text(assay_op_id op, size_t index, char text[OP_CASE_TEXT]);

/* A problem of moderate extents, none of them 0, with this T and, where T leaves a dtype open, the
 * first that the op takes beside it. */
assay_problem op_case_example(assay_op_id op, assay_dtype dtype);
/* With these dtypes. */
assay_problem op_case_example_of(assay_op_id op, const uint8_t *dtypes, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem_text.h -- small text pieces that problem.c and problem_parse.c share. */
#ifndef ASSAY_RUNTIME_PROBLEM_TEXT_H
#define ASSAY_RUNTIME_PROBLEM_TEXT_H

#include "assay/op.h"

/* Name number `index` of a '|' list: its start and length; NULL past the end. */
const char *assay__list_item(const char *list, size_t index, size_t *len);
/* Index of `name` (len bytes) in a '|' list, or -1. */
int assay__list_find(const char *list, const char *name, size_t len);
/* ASSAY_INVALID with the reason when the catalogue's requirements do not hold. */
assay_status assay__problem_require(const assay_problem *p);

/* What the letters of a dtype rule stand for; a rule without U has u == t. */
typedef struct assay__rule_types {
    assay_dtype t, u;
} assay__rule_types;

/* Item `index` of the dtype rule "T,T,u8". */
assay_status assay__rule_dtype(const char *rule, size_t index, const assay__rule_types *types,
                               assay_dtype *out);
/* Pair number `index` of those that the op takes; false past the last. */
bool assay__op_types(const assay_op_info *info, size_t index, assay__rule_types *out);
bool assay__op_takes(const assay_op_info *info, const assay__rule_types *types);
/* ASSAY_UNSUPPORTED with what it takes instead, for a pair that it does not. */
assay_status assay__op_types_fail(const assay_op_info *info, const assay__rule_types *types);
/* What a tuple of the right length says of T and U; whether the op takes it is another question. */
assay__rule_types assay__rule_types_of(const assay_op_info *info, const assay_dtype *dtypes);
/* For T alone.  ASSAY_UNSUPPORTED: not one of the op's; ASSAY_INVALID: U is open. */
assay_status assay__op_types_of(const assay_op_info *info, assay_dtype t, assay__rule_types *out);

#endif

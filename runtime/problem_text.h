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
/* Item `index` of the dtype rule "T,T,u8": a dtype for 'T' = t. */
assay_status assay__rule_dtype(const char *rule, size_t index, assay_dtype t, assay_dtype *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem_cost.h -- expressions over a problem, and the roofline floor. */
#ifndef ASSAY_RUNTIME_PROBLEM_COST_H
#define ASSAY_RUNTIME_PROBLEM_COST_H

#include "assay/op.h"
#include "runtime/expr.h"

/* Compiles an expression whose names are the op's parameters (slot = catalogue index). */
assay_status assay__problem_expr(const assay_op_info *info, const char *text, assay__expr *out);
/* false: unknown (a division by zero, say). */
bool assay__problem_eval(const assay_problem *p, const assay__expr *e, double *out);
/* max(flops / flops_per_ns, bytes / bytes_per_ns) in ns; false when a rate or a count is unknown.
 */
bool assay__layer1_floor_ns(const assay_problem *p, double flops_per_ns, double bytes_per_ns,
                            double *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/acceptance.c -- see acceptance.h. */
#include "sweep/acceptance.h"

#include <math.h>

#include "runtime/error.h"
#include "runtime/problem_cost.h"

static assay_dtype accumulator_of(assay_dtype dtype)
{
    return dtype == ASSAY_F64 ? ASSAY_F64 : ASSAY_F32;
}

static assay_status terms_of(const assay_problem *p, const assay_op_info *info, double *out)
{
    assay__expr e;

    ASSAY_TRY(assay__problem_expr(info, info->bound_terms, &e));
    if (!assay__problem_eval(p, &e, out))
        return assay__fail(ASSAY_INTERNAL, "%s: no number of terms", info->name);
    return ASSAY_OK;
}

assay_status assay__acceptance_of(const assay_problem *p, assay_accept_spec *out)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[p->dtype_count - 1];
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    double terms;

    if (info == NULL)
        return assay__fail(ASSAY_INTERNAL, "no op number %u", p->op);
    ASSAY_TRY(terms_of(p, info, &terms));
    switch (info->bound_rule) {
    case ASSAY_BOUND_EXACT:
        ASSAY_TRY(assay__accept_elementwise(dtype, 0, out));
        out->is_strict_zero = info->bound_fixed > 0.0;
        return ASSAY_OK;
    case ASSAY_BOUND_DIST:
        return assay__accept_elementwise(dtype, (uint64_t)info->bound_fixed, out);
    case ASSAY_BOUND_SUM:
        return assay__accept_sum(dtype, accumulator_of(dtype), terms, info->bound_fixed, out);
    case ASSAY_BOUND_SOFTMAX:
        return assay__accept_softmax(dtype, accumulator_of(dtype), (int64_t)terms,
                                     info->bound_fixed, out);
    }
    return assay__fail(ASSAY_INTERNAL, "no acceptance rule for op %s", info->name);
}

double assay__acceptance_bound(const assay_accept_spec *spec)
{
    return spec->rule == ASSAY_ACCEPT_ELEMENTWISE ? (double)spec->max_dist : spec->terms;
}

/* Rows of a softmax: the axis is that of the expression of its terms; what is outside comes before
 * it in memory, what is inside behind it. */
static void row_layout(const assay_problem *p, int64_t *axis, int64_t *inner)
{
    int at = assay_op_param_index((assay_op_id)p->op, "axis");
    int in = assay_op_param_index((assay_op_id)p->op, "inner");

    *axis = at >= 0 ? p->params[at].i : assay_problem_int(p, "cols");
    *inner = in >= 0 ? p->params[in].i : 1;
}

static double row_max(assay_dtype dtype, const void *x, int64_t first, int64_t count, int64_t step)
{
    double max = -INFINITY;

    for (int64_t i = 0; i < count; i++) {
        double v = assay_load_f64(dtype, x, (size_t)(first + i * step));
        if (!(v <= max))
            max = v; /* a NaN stays: the whole row is NaN then */
    }
    return max;
}

void assay__softmax_depth(const assay_problem *p, const void *x, int64_t first, int64_t count,
                          assay__depth_state *state, double *out)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[0];
    int64_t axis, inner;

    row_layout(p, &axis, &inner);
    for (int64_t i = 0; i < count; i++) {
        int64_t block = (first + i) / (axis * inner), lane = (first + i) % inner;
        int64_t row = block * inner + lane;
        if (row != state->row) {
            state->row = row;
            state->max = row_max(dtype, x, block * axis * inner + lane, axis, inner);
        }
        double depth = fabs(assay_load_f64(dtype, x, (size_t)(first + i)) - state->max);
        out[i] = isfinite(depth) ? depth : 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/acceptance.c -- see acceptance.h. */
#include "sweep/acceptance.h"

#include <math.h>

#include "runtime/error.h"

static assay_dtype accumulator_of(assay_dtype dtype)
{
    return dtype == ASSAY_F64 ? ASSAY_F64 : ASSAY_F32;
}

assay_status assay__acceptance_of(const assay_problem *p, assay_accept_spec *out)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[p->dtype_count - 1];

    switch ((assay_op_id)p->op) {
    case ASSAY_OP_matmul:
        return assay__accept_contraction(dtype, accumulator_of(dtype), assay_problem_int(p, "k"),
                                         out);
    case ASSAY_OP_add:
        return assay__accept_elementwise(dtype, 0, out);
    case ASSAY_OP_exp:
        return assay__accept_elementwise(dtype, ASSAY__EXP_DIST, out);
    case ASSAY_OP_softmax_last_dim:
        return assay__accept_softmax(dtype, accumulator_of(dtype), assay_problem_int(p, "cols"),
                                     ASSAY__EXP_DIST, out);
    case ASSAY_OP_COUNT:
        break;
    }
    return assay__fail(ASSAY_INTERNAL, "no acceptance rule for op number %u", p->op);
}

double assay__acceptance_bound(const assay_accept_spec *spec)
{
    return spec->rule == ASSAY_ACCEPT_ELEMENTWISE ? (double)spec->max_dist : spec->terms;
}

static double row_max(assay_dtype dtype, const void *x, int64_t row, int64_t cols)
{
    double max = -INFINITY;

    for (int64_t i = 0; i < cols; i++) {
        double v = assay_load_f64(dtype, x, (size_t)(row * cols + i));
        if (!(v <= max))
            max = v; /* a NaN stays: the whole row is NaN then */
    }
    return max;
}

void assay__softmax_depth(const assay_problem *p, const void *x, int64_t first, int64_t count,
                          assay__depth_state *state, double *out)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[0];
    int64_t cols = assay_problem_int(p, "cols");

    for (int64_t i = 0; i < count; i++) {
        int64_t row = (first + i) / cols;
        if (row != state->row) {
            state->row = row;
            state->max = row_max(dtype, x, row, cols);
        }
        double depth = fabs(assay_load_f64(dtype, x, (size_t)(first + i)) - state->max);
        out[i] = isfinite(depth) ? depth : 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/acceptance.c -- see acceptance.h. */
#include "sweep/acceptance.h"

#include <math.h>
#include <stdlib.h>

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

assay_status assay__acceptance_for(const assay_problem *p, const assay_kernel_desc *kernel,
                                   assay_accept_spec *out)
{
    ASSAY_TRY(assay__acceptance_of(p, out));
    if (kernel->error_tile > 0 && out->rule == ASSAY_ACCEPT_CONTRACTION)
        out->terms *= kernel->error_factor;
    return ASSAY_OK;
}

/* One tile of a plane of h x w outputs that starts at (p, q).  A sum that is not finite is no size:
 * its neighbours are right or wrong by their own. */
static void spread_tile(const double *magnitude, double *out, const int64_t plane[2], int64_t p,
                        int64_t q, int64_t tile)
{
    int64_t end_p = p + tile < plane[0] ? p + tile : plane[0];
    int64_t end_q = q + tile < plane[1] ? q + tile : plane[1];
    double most = 0.0;

    for (int64_t i = p; i < end_p; i++)
        for (int64_t j = q; j < end_q; j++)
            if (isfinite(magnitude[i * plane[1] + j]))
                most = fmax(most, magnitude[i * plane[1] + j]);
    for (int64_t i = p; i < end_p; i++)
        for (int64_t j = q; j < end_q; j++)
            out[i * plane[1] + j] =
                isfinite(magnitude[i * plane[1] + j]) ? most : magnitude[i * plane[1] + j];
}

void assay__tile_magnitude(const assay_problem *p, int64_t tile, const double *magnitude,
                           double *out)
{
    int64_t dims[ASSAY_MAX_RANK] = {0};
    uint32_t rank = 0;

    if (assay_problem_operand(p, p->dtype_count - 1u, &rank, dims) != ASSAY_OK || rank != 4)
        return;
    for (int64_t at = 0; at < dims[0] * dims[1];
         at++, magnitude += dims[2] * dims[3], out += dims[2] * dims[3])
        for (int64_t i = 0; i < dims[2]; i += tile)
            for (int64_t j = 0; j < dims[3]; j += tile)
                spread_tile(magnitude, out, dims + 2, i, j, tile);
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

/* The largest element of each of `inner` rows that interleave from `first` on; a NaN stays: the
 * whole row is NaN then. */
static void row_maxima(assay_dtype dtype, const void *x, int64_t first, int64_t axis, int64_t inner,
                       double *max)
{
    for (int64_t lane = 0; lane < inner; lane++)
        max[lane] = -INFINITY;
    for (int64_t i = 0; i < axis; i++, first += inner)
        for (int64_t lane = 0; lane < inner; lane++) {
            double v = assay_load_f64(dtype, x, (size_t)(first + lane));
            if (!(v <= max[lane]))
                max[lane] = v;
        }
}

void assay__depth_clear(assay__depth_state *state)
{
    free(state->max);
    *state = ASSAY__DEPTH_START;
}

/* The maxima of a block are found once: elements of interleaved rows come in turn. */
static assay_status enter_block(assay__depth_state *state, const assay_problem *p, const void *x,
                                int64_t block, int64_t axis, int64_t inner)
{
    if (block == state->block)
        return ASSAY_OK;
    double *max = realloc(state->max, (size_t)inner * sizeof *max);
    if (max == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for the maxima of %lld rows", (long long)inner);
    state->max = max;
    state->block = block;
    row_maxima((assay_dtype)p->dtypes[0], x, block * axis * inner, axis, inner, max);
    return ASSAY_OK;
}

assay_status assay__softmax_depth(const assay_problem *p, const void *x, int64_t first,
                                  int64_t count, assay__depth_state *state, double *out)
{
    assay_dtype dtype = (assay_dtype)p->dtypes[0];
    int64_t axis, inner;

    row_layout(p, &axis, &inner);
    for (int64_t i = first; i < first + count; i++) {
        ASSAY_TRY(enter_block(state, p, x, i / (axis * inner), axis, inner));
        double depth = fabs(assay_load_f64(dtype, x, (size_t)i) - state->max[i % inner]);
        out[i - first] = isfinite(depth) ? depth : 0;
    }
    return ASSAY_OK;
}

bool assay__sums_nothing(const assay_problem *p)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    for (uint32_t i = 0; i < info->inputs; i++)
        if (assay_problem_operand_elements(p, i) == 0)
            return true;
    return assay_op_param_index((assay_op_id)p->op, "alpha") >= 0 &&
           fabs(assay_problem_real(p, "alpha")) <= 0.0;
}

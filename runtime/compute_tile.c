/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_tile.c -- where to begin tuning a product: what was measured, else a rule. */
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"

/* Source: the compute-backend contract's heuristic, kept as it is: it has no notion of skinny
 * products, whose least extent makes all three small. */
static void guess(bool tensor_cores, int64_t m, int64_t n, int64_t k, assay_tile *out)
{
    const int64_t some = m < n ? m : n, least = some < k ? some : k;
    const bool fits = tensor_cores && m % 16 == 0 && n % 16 == 0 && k % 16 == 0;

    if (fits)
        *out = least >= 512 ? (assay_tile){128, 128, 32, false} : (assay_tile){64, 64, 16, false};
    else if (least <= 64)
        *out = (assay_tile){16, 16, 16, false};
    else if (least <= 512)
        *out = (assay_tile){64, 64, 16, false};
    else
        *out = (assay_tile){128, 128, 8, false};
}

/* The tunables of the kernel that won here, where it has any that cut a product into tiles. */
static void look_up(assay_engine *engine, const assay_problem *problem, assay_tile *tile)
{
    assay_question q;
    assay_route route;

    assay_question_init(problem, &q);
    q.backends = engine->kernels;
    if (assay_pick(engine->routes, &q, &route) != ASSAY_OK || route.tier != ASSAY_TIER_MEASURED)
        return;
    const assay_kernel_desc *desc = route.binding->desc;
    for (size_t i = 0; i < desc->tunable_count; i++) {
        const char *name = desc->tunables[i].name;
        int64_t *to = strcmp(name, "mc") == 0   ? &tile->m
                      : strcmp(name, "nc") == 0 ? &tile->n
                      : strcmp(name, "kc") == 0 ? &tile->k
                                                : NULL;
        if (to == NULL)
            continue;
        *to = route.tunables[i];
        tile->is_measured = true;
    }
}

static assay_status recommend(assay_engine *engine, int64_t m, int64_t n, int64_t k,
                              assay_tile *out)
{
    assay_problem p;

    if (m < 1 || n < 1 || k < 1)
        return assay__fail(ASSAY_INVALID, "recommended_tile: m=%lld n=%lld k=%lld: all at least 1",
                           (long long)m, (long long)n, (long long)k);
    ASSAY_TRY(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    ASSAY__SET_INT(&p, matmul, m, m);
    ASSAY__SET_INT(&p, matmul, n, n);
    ASSAY__SET_INT(&p, matmul, k, k);
    ASSAY_TRY(assay_problem_check(&p));
    guess(assay__engine_needs(engine, ASSAY_FEATURE_TENSOR_CORES) == ASSAY_OK, m, n, k, out);
    look_up(engine, &p, out);
    return ASSAY_OK;
}

assay_status assay_recommended_tile(assay_engine *engine, int64_t m, int64_t n, int64_t k,
                                    assay_tile *out)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "recommended_tile", &call));
    return assay__engine_leave(&call, recommend(engine, m, n, k, out), NULL);
}

assay_status assay_tile_outputs(const assay_tile *tile, int64_t *out)
{
    if (tile->m < 0 || tile->n < 0 || __builtin_mul_overflow(tile->m, tile->n, out))
        return assay__fail(ASSAY_OVERFLOW, "a tile of %lld x %lld elements does not fit",
                           (long long)tile->m, (long long)tile->n);
    return ASSAY_OK;
}

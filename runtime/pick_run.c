/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_run.c -- runs a route on host tensors, after checking that they fit. */
#include <stddef.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

static assay_status check_operand(const assay_problem *p, const assay_tensor *t, size_t i)
{
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank = 0;

    ASSAY_TRY(assay_problem_operand(p, i, &rank, dims));
    if (t->dtype != (assay_dtype)p->dtypes[i])
        return assay__fail(ASSAY_INVALID, "operand %zu: dtype %s, the problem says %s", i,
                           assay_dtype_name(t->dtype) != NULL ? assay_dtype_name(t->dtype) : "?",
                           assay_dtype_name((assay_dtype)p->dtypes[i]));
    if (t->rank != rank)
        return assay__fail(ASSAY_INVALID, "operand %zu: rank %u, the problem says %u", i, t->rank,
                           rank);
    for (uint32_t d = 0; d < rank; d++)
        if (t->dims[d] != dims[d])
            return assay__fail(ASSAY_INVALID,
                               "operand %zu: extent %u is %lld, the problem says %lld", i, d,
                               (long long)t->dims[d], (long long)dims[d]);
    if (t->buffer.owner != 0)
        return assay__fail(ASSAY_INVALID, "operand %zu is not in host memory", i);
    if (assay_tensor_data(t) == NULL && assay_tensor_elements(t) > 0)
        return assay__fail(ASSAY_INVALID, "operand %zu has no memory", i);
    return ASSAY_OK;
}

/* A route may be kept and used for another problem of its op; what admits it is asked again. */
static assay_status check_problem(const assay__interned *v, const assay_problem *p)
{
    const assay_binding *b = &v->binding;
    const assay_kernel_desc *desc = b->desc;
    assay__row_values values;

    if (p->op != b->op || p->dtype_count != b->dtype_count ||
        memcmp(p->dtypes, b->dtypes, b->dtype_count) != 0)
        return assay__fail(ASSAY_INVALID, "kernel %s is for another op or other dtypes",
                           desc->name);
    if (v->can_run != NULL || v->constraint != NULL)
        assay__row_values_init(p, &values);
    if (v->can_run != NULL && !assay__row_values_hold(v->can_run, &values, NULL, 0))
        return assay__fail(ASSAY_INVALID, "kernel %s cannot run this problem: %s", desc->name,
                           desc->can_run);
    if (desc->can_run_fn != NULL && !desc->can_run_fn(p, v->tunables))
        return assay__fail(ASSAY_INVALID, "kernel %s declines this problem", desc->name);
    if (v->constraint != NULL &&
        !assay__row_values_hold(v->constraint, &values, v->tunables, desc->tunable_count))
        return assay__fail(ASSAY_INVALID, "kernel %s: its tunables do not suit this problem: %s",
                           desc->name, desc->constraint);
    return ASSAY_OK;
}

static assay_status open_backend(assay_context *context, assay__interned *v)
{
    assay_status status;

    if (v->plugin == NULL || atomic_load_explicit(&v->is_open, memory_order_acquire) != 0)
        return ASSAY_OK;
    pthread_mutex_lock(&context->opening);
    status = assay__backend_open(&v->plugin->backend);
    if (status == ASSAY_OK)
        atomic_store_explicit(&v->is_open, 1, memory_order_release);
    pthread_mutex_unlock(&context->opening);
    return status;
}

/* Routes point into the context's lasting copies, where the rest of the variant lies around them.
 */
static assay__interned *variant_of(const assay_route *route)
{
    union {
        const assay_binding *binding;
        assay__interned *variant;
    } at = {route->binding};

    _Static_assert(offsetof(assay__interned, binding) == 0, "a binding leads its variant");
    if (route->binding == NULL ||
        (const char *)route->tunables !=
            (const char *)route->binding + offsetof(assay__interned, tunables))
        return NULL;
    return at.variant;
}

assay_status assay_run(assay_context *context, const assay_route *route,
                       const assay_problem *problem, const assay_tensor *operands, size_t count)
{
    assay__interned *v = variant_of(route);
    char why[128] = "";
    assay_launch launch;

    if (v == NULL)
        return assay__fail(ASSAY_INVALID, "the route was not made by assay_pick");
    ASSAY_TRY(check_problem(v, problem));
    if (count != problem->dtype_count)
        return assay__fail(ASSAY_INVALID, "%zu operands given, the problem has %u", count,
                           problem->dtype_count);
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(check_operand(problem, &operands[i], i));
    if (!assay__caps_fit_tensors(v->binding.desc, operands, count, why, sizeof why))
        return assay__fail(ASSAY_INVALID, "kernel %s: %s", v->binding.desc->name, why);
    ASSAY_TRY(open_backend(context, v));
    launch = (assay_launch){.struct_size = sizeof launch,
                            .operand_count = (uint32_t)count,
                            .problem = problem,
                            .operands = operands,
                            .tunables = v->tunables,
                            .instance = v->plugin != NULL ? v->plugin->backend.instance : NULL};
    if (v->plugin == NULL)
        return v->binding.run(&launch);
    ASSAY_TRY(assay__backend_launch(&v->plugin->backend, v->binding.run, &launch));
    return assay__backend_synchronize(&v->plugin->backend);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_run.c -- runs a route on host tensors, after checking that they fit. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/caps.h"
#include "runtime/error.h"
#include "runtime/operands.h"
#include "runtime/pick_internal.h"

static assay_status check_op(const assay__interned *v, const assay_problem *p)
{
    const assay_binding *b = &v->binding;

    if (p->op != b->op || p->dtype_count != b->dtype_count ||
        memcmp(p->dtypes, b->dtypes, b->dtype_count) != 0)
        return assay__fail(ASSAY_INVALID, "kernel %s is for another op or other dtypes",
                           b->desc->name);
    return ASSAY_OK;
}

/* A route may be kept and used for another problem of its op; what admits it is asked again. */
static assay_status check_problem(const assay__interned *v, const assay_problem *p)
{
    const assay_kernel_desc *desc = v->binding.desc;
    assay__row_values values;

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
    pthread_mutex_lock(assay__context_opening(context));
    status = assay__plugin_open(v->plugin);
    if (status == ASSAY_OK)
        atomic_store_explicit(&v->is_open, 1, memory_order_release);
    pthread_mutex_unlock(assay__context_opening(context));
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

/* ---- copies ---- */

typedef struct copies {
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    void *memory[ASSAY_MAX_OPERANDS]; /* owned; NULL: as given */
} copies;

static assay_status copy_operand(copies *c, size_t i)
{
    const assay_tensor given = c->operands[i];
    const size_t bytes = (size_t)assay_tensor_elements(&given) * assay_dtype_bytes(given.dtype);

    c->memory[i] = aligned_alloc(64, (bytes / 64 + 1) * 64);
    if (c->memory[i] == NULL)
        return assay__fail(ASSAY_NOMEM, "operand %zu: no memory to make it contiguous", i);
    ASSAY_TRY(assay_tensor_host(c->memory[i], given.dtype, given.rank, given.dims, NULL,
                                &c->operands[i]));
    return assay_tensor_copy(&given, &c->operands[i]);
}

static void clear_copies(copies *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(c->memory[i]);
}

/* Only what the route names is copied, and only where the tensor at hand needs it. */
static assay_status fit_operands(const assay_route *route, const assay_kernel_desc *desc, copies *c,
                                 size_t count, bool may_copy)
{
    char why[128] = "";

    for (size_t i = 0; i < count; i++) {
        if (assay__caps_fit_tensor(desc, &c->operands[i], i, why, sizeof why))
            continue;
        if ((assay_route_copies(route) >> i & 1) == 0)
            return assay__fail(ASSAY_INVALID, "kernel %s: %s", desc->name, why);
        if (!may_copy)
            return assay__fail(ASSAY_UNSUPPORTED,
                               "operand %zu would have to be copied on the host first; make it "
                               "contiguous",
                               i);
        ASSAY_TRY(copy_operand(c, i));
    }
    return ASSAY_OK;
}

/* By the context's instance of the kernel's backend, or by that of an engine. */
static const assay__backend *backend_of(const assay__interned *v, const assay__run_on *on)
{
    if (on != NULL && on->backend != NULL && v->binding.manifest == on->manifest)
        return on->backend;
    return v->plugin != NULL ? &v->plugin->backend : NULL;
}

static assay_status launch_kernel(const assay__interned *v, const assay_problem *problem,
                                  const assay_tensor *operands, size_t count,
                                  const assay__run_on *on)
{
    const assay__backend *backend = backend_of(v, on);
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = (uint32_t)count,
                                 .problem = problem,
                                 .operands = operands,
                                 .tunables = v->tunables,
                                 .queue = on != NULL ? on->queue : NULL,
                                 .instance = backend != NULL ? backend->instance : NULL,
                                 .tunable_count = (uint32_t)v->binding.desc->tunable_count};

    if (backend == NULL)
        return v->binding.run(&launch);
    ASSAY_TRY(assay__backend_launch(backend, v->binding.run, &launch));
    return launch.queue != NULL ? ASSAY_OK : assay__backend_synchronize(backend);
}

/* Nothing is to be written.  Other extents may be huge then, and are nothing to loop over. */
static bool is_empty(const assay_problem *problem, const assay_tensor *operands)
{
    for (size_t i = assay_op_get((assay_op_id)problem->op)->inputs; i < problem->dtype_count; i++)
        if (assay_tensor_elements(&operands[i]) > 0)
            return false;
    return true;
}

/* Work in a queue, or apart from the host, has nothing that this call would make and free. */
static bool is_as_given(const assay__run_on *on)
{
    return on != NULL && (on->queue != NULL || on->is_apart);
}

static void count_work(assay__run_on *on, const copies *c, size_t count)
{
    on->launches = 1;
    for (size_t i = 0; i < count; i++)
        if (c->memory[i] != NULL) {
            on->launches++;
            on->copied_bytes += (uint64_t)assay_tensor_elements(&c->operands[i]) *
                                assay_dtype_bytes(c->operands[i].dtype);
        }
}

static assay_status run_on(assay_context *context, assay__interned *v, const assay_route *route,
                           const assay_problem *problem, copies *c, size_t count, assay__run_on *on)
{
    if (is_as_given(on) && v->binding.manifest != on->manifest)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "kernel %s of '%s' cannot run in a queue or on a device of '%s'",
                           v->binding.desc->name, v->binding.manifest->name, on->manifest->name);
    ASSAY_TRY(fit_operands(route, v->binding.desc, c, count, !is_as_given(on)));
    if (on == NULL || backend_of(v, on) != on->backend)
        ASSAY_TRY(open_backend(context, v));
    if (is_as_given(on))
        memcpy(c->operands, on->handles, count * sizeof *c->operands);
    if (on != NULL)
        count_work(on, c, count);
    return launch_kernel(v, problem, c->operands, count, on);
}

assay_status assay__run_checked(assay_context *context, const assay_route *route,
                                const assay_problem *problem, const assay_tensor *operands,
                                size_t count, assay__run_on *on)
{
    assay__interned *v = variant_of(route);
    copies c = {.memory = {NULL}};

    if (v == NULL)
        return assay__fail(ASSAY_INVALID, "the route was not made by assay_pick");
    ASSAY_TRY(check_op(v, problem));
    ASSAY_TRY(check_problem(v, problem));
    memcpy(c.operands, operands, count * sizeof *operands);
    assay_status status = run_on(context, v, route, problem, &c, count, on);
    clear_copies(&c, count);
    return status;
}

assay_status assay_run(assay_context *context, const assay_route *route,
                       const assay_problem *problem, const assay_tensor *operands, size_t count)
{
    const assay__interned *v = variant_of(route);

    if (v == NULL)
        return assay__fail(ASSAY_INVALID, "the route was not made by assay_pick");
    ASSAY_TRY(check_op(v, problem));
    ASSAY_TRY(assay__operands_check(problem, operands, count));
    if (is_empty(problem, operands))
        return check_problem(v, problem);
    return assay__run_checked(context, route, problem, operands, count, NULL);
}

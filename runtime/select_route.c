/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select_route.c -- a backend for a class of ops: what was measured first, then a rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/select_internal.h"
#include "runtime/table_internal.h"

/* Names of all that could be selected for the question, as a comma list; "": none.  Owned by the
 * caller. */
static assay_status list_selectable(assay_registry *registry, const assay__demands *demands,
                                    char **out)
{
    char *list = calloc(registry->count + 1, ASSAY__BACKEND_NAME_MAX + 2);

    if (list == NULL)
        return assay__fail(ASSAY_NOMEM, "route: no memory");
    assay__words words =
        assay__words_in(list, (registry->count + 1) * (ASSAY__BACKEND_NAME_MAX + 2));
    pthread_mutex_lock(&registry->lock);
    (void)assay__registry_judge(registry, demands);
    for (size_t i = 0; i < registry->count; i++)
        if (registry->entries[i].why_not[0] == '\0')
            assay__words_add(&words, "%s%s", words.used > 0 ? "," : "",
                             assay__entry_name(&registry->entries[i]));
    pthread_mutex_unlock(&registry->lock);
    *out = list;
    return ASSAY_OK;
}

static assay_status select_measured(assay_registry *registry, const assay_route *route,
                                    assay_selection *out)
{
    const char *name = route->binding->manifest->name;

    pthread_mutex_lock(&registry->lock);
    const assay__registry_entry *e = assay__registry_find(registry, name);
    if (e != NULL)
        *out = (assay_selection){.name = assay__entry_name(e),
                                 .kind = e->kind,
                                 .priority = e->priority,
                                 .tier = ASSAY_TIER_MEASURED};
    pthread_mutex_unlock(&registry->lock);
    if (e == NULL)
        return ASSAY_UNAVAILABLE;
    (void)snprintf(out->why, sizeof out->why, "measured: kernel %s, %.6g ns [%.6g, %.6g]",
                   route->binding->desc->name, (double)route->time_ns, (double)route->lo_ns,
                   (double)route->hi_ns);
    return ASSAY_OK;
}

/* ASSAY_NOTFOUND with what the store has instead in `why_not`: the static rule is to answer. */
static assay_status ask_store(assay_registry *registry, const assay__demands *demands,
                              assay_selection *out, char *why_not, size_t cap)
{
    static const char *const texts[] = {[ASSAY_TIER_PREDICTED] = "predicted",
                                        [ASSAY_TIER_DECLARED] = "declared",
                                        [ASSAY_TIER_UNKNOWN] = "the default kernel's"};
    assay_question question = *demands->question;
    char *list = NULL;
    assay_route route;

    ASSAY_TRY(list_selectable(registry, demands, &list));
    question.backends = list;
    assay_status status =
        list[0] != '\0' ? assay_pick(registry->context, &question, &route) : ASSAY_NO_ROUTE;
    free(list);
    if (status == ASSAY_NO_ROUTE) {
        (void)snprintf(why_not, cap, "not measured: no kernel answers this question");
        return ASSAY_NOTFOUND;
    }
    ASSAY_TRY(status);
    if (route.tier == ASSAY_TIER_MEASURED)
        return select_measured(registry, &route, out);
    (void)snprintf(why_not, cap, "not measured: the route is %s",
                   route.tier <= ASSAY_TIER_UNKNOWN ? texts[route.tier] : "of no known tier");
    return ASSAY_NOTFOUND;
}

static bool wants_tensor_cores(assay_op_class op_class)
{
    return op_class == ASSAY_OP_CLASS_MATMUL || op_class == ASSAY_OP_CLASS_CONVOLUTION ||
           op_class == ASSAY_OP_CLASS_ATTENTION;
}

static assay_status select_static(assay_registry *registry, assay_op_class op_class,
                                  const assay__demands *demands, const char *before,
                                  assay_selection *out)
{
    assay__demands with = *demands;
    char rule[256];

    if (wants_tensor_cores(op_class)) {
        with.request.features |= ASSAY_FEATURE_BIT(TENSOR_CORES);
        (void)snprintf(rule, sizeof rule, "%s; static rule for %s, with tensor cores: ", before,
                       assay_op_class_name(op_class));
        assay_status status = assay__select_by(registry, &with, rule, out);
        if (status != ASSAY_UNSUPPORTED)
            return status;
    }
    (void)snprintf(rule, sizeof rule, "%s; static rule for %s%s: ", before,
                   assay_op_class_name(op_class),
                   wants_tensor_cores(op_class) ? ", none has tensor cores" : "");
    return assay__select_by(registry, demands, rule, out);
}

static assay_status check_class(assay_op_class op_class, const assay_question *question)
{
    if ((unsigned)op_class >= ASSAY_OP_CLASS_COUNT)
        return assay__fail(ASSAY_INVALID, "route: %d is no class of ops", (int)op_class);
    if (question == NULL)
        return ASSAY_OK;
    const assay_op_class own = assay_op_class_of((assay_op_id)question->problem.op);
    if (own == ASSAY_OP_CLASS_COUNT)
        return assay__fail(ASSAY_INVALID, "route: the question's op %u is not in the catalogue",
                           (unsigned)question->problem.op);
    return own == op_class ? ASSAY_OK
                           : assay__fail(ASSAY_INVALID, "route: op %s is of class %s, asked for %s",
                                         assay_op_get((assay_op_id)question->problem.op)->name,
                                         assay_op_class_name(own), assay_op_class_name(op_class));
}

assay_status assay_route_class(assay_registry *registry, assay_op_class op_class,
                               const assay_question *question, assay_selection *out)
{
    char why_not[128] = "no question to ask the store";
    assay__demands demands;

    ASSAY_TRY(check_class(op_class, question));
    ASSAY_TRY(assay__demands_init(NULL, &demands));
    if (question != NULL) {
        demands.question = question;
        demands.named = question->backends;
        assay_status status = ask_store(registry, &demands, out, why_not, sizeof why_not);
        if (status != ASSAY_NOTFOUND)
            return status;
    }
    return select_static(registry, op_class, &demands, why_not, out);
}

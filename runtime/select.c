/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select.c -- selecting a backend by a request: judging entries, the best, the chain. */
#include "assay/select.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/select_internal.h"

/* ---- demands ---- */

assay_status assay__demands_init(const assay_select_request *request, assay__demands *out)
{
    assay_select_request *r = &out->request;

    memset(out, 0, sizeof *out);
    if (request != NULL)
        memcpy(r, request, request->struct_size < sizeof *r ? request->struct_size : sizeof *r);
    if (r->features >> ASSAY_FEATURE_COUNT != 0)
        return assay__fail(ASSAY_INVALID,
                           "request, field features: %#llx has bits beyond the %d features; use "
                           "ASSAY_FEATURE_BIT",
                           (unsigned long long)r->features, (int)ASSAY_FEATURE_COUNT);
    if (r->kind != ASSAY_BACKEND_KIND_ANY && assay_backend_kind_priority(r->kind) == 0)
        return assay__fail(ASSAY_INVALID, "request, field kind: %d is no kind of backend",
                           (int)r->kind);
    return ASSAY_OK;
}

/* ---- one entry ---- */

__attribute__((format(printf, 2, 3))) static bool refuse(assay__registry_entry *entry,
                                                         const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assay__text_fit(text, entry->why_not, sizeof entry->why_not);
    return false;
}

/* By name and kind: nothing has to be opened for it. */
static bool is_asked_for(assay__registry_entry *e, const assay__demands *d)
{
    const assay_select_request *r = &d->request;
    const assay_manifest *m = e->plugin->manifest;
    const bool is_named = r->pin != NULL || d->named != NULL;

    if (r->pin != NULL && strcmp(m->name, r->pin) != 0)
        return refuse(e, "is not '%s'", r->pin);
    if (d->named != NULL && !assay__name_in_list(d->named, m->name))
        return refuse(e, "is not asked for");
    if (m->explicit_only && !is_named)
        return refuse(e, "is chosen only when named");
    if (m->oracle_count > 0 && !is_named)
        return refuse(e, "is an oracle, chosen only when named");
    if (assay__name_in_list(r->exclude, m->name))
        return refuse(e, "is excluded");
    if (r->kind != ASSAY_BACKEND_KIND_ANY && e->kind != r->kind)
        return refuse(e, "is of kind %s, not %s", assay_backend_kind_name(e->kind),
                      assay_backend_kind_name(r->kind));
    if (r->require_gpu && e->kind == ASSAY_BACKEND_KIND_CPU)
        return refuse(e, "is no GPU");
    return true;
}

static bool may_be_acquired(assay__registry_entry *e, const assay__demands *d)
{
    if (!d->to_acquire)
        return true;
    if (e->plugin->manifest->kernel_count == 0)
        return refuse(e, "has no kernels");
    if (e->kind == ASSAY_BACKEND_KIND_CPU && d->request.pin == NULL && d->request.allow_cpu != 1)
        return refuse(e, "is of kind cpu, taken unnamed only with allow_cpu");
    return true;
}

static bool is_available(assay_registry *registry, assay__registry_entry *e)
{
    if (e->is_off)
        return refuse(e, "is switched off");
    assay__registry_ask(registry, e);
    return e->trouble[0] == '\0' ? true : refuse(e, "is not available: %s", e->trouble);
}

static bool has_features(assay__registry_entry *e, uint64_t wanted)
{
    const uint64_t missing = wanted & ~e->profile.features;
    char list[160];
    assay__words words = assay__words_in(list, sizeof list);

    if (missing == 0)
        return true;
    for (int i = 0; i < ASSAY_FEATURE_COUNT; i++)
        if ((missing >> i & 1) != 0)
            assay__words_add(&words, "%s%s", words.used > 0 ? ", " : "",
                             assay_feature_name((assay_feature)i));
    return refuse(e, "has no %s", list);
}

static bool has_kernel(const assay_registry *registry, assay__registry_entry *e,
                       const assay_problem *problem)
{
    const assay_snapshot *snapshot;
    const assay_binding *rows;
    bool found = false;

    if (assay_table_hold(assay_context_table(registry->context), &snapshot) != ASSAY_OK)
        return refuse(e, "no memory to look for its kernels");
    const size_t count =
        assay_snapshot_alternatives(snapshot, (assay_op_id)problem->op, problem->dtypes,
                                    problem->dtype_count, assay__entry_name(e), &rows);
    for (size_t i = 0; i < count && !found; i++)
        found = rows[i].available != 0;
    assay_snapshot_release(&snapshot);
    return found ? true
                 : refuse(e, "has no kernel for %s with these dtypes",
                          assay_op_get((assay_op_id)problem->op)->name);
}

size_t assay__registry_judge(assay_registry *registry, const assay__demands *demands)
{
    size_t count = 0;

    for (size_t i = 0; i < registry->count; i++) {
        assay__registry_entry *e = &registry->entries[i];
        e->why_not[0] = '\0';
        count +=
            is_asked_for(e, demands) && may_be_acquired(e, demands) && is_available(registry, e) &&
            has_features(e, demands->request.features) &&
            (demands->question == NULL || has_kernel(registry, e, &demands->question->problem));
    }
    return count;
}

/* ---- the best ---- */

bool assay__entry_outranks(const assay__registry_entry *a, const assay__registry_entry *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->kind != b->kind)
        return assay_backend_kind_priority(a->kind) > assay_backend_kind_priority(b->kind);
    return a->op_count > b->op_count;
}

/* Entries lie in the order of names, so the first of equals stays. */
static const assay__registry_entry *best_of(const assay_registry *registry)
{
    const assay__registry_entry *best = NULL;

    for (size_t i = 0; i < registry->count; i++) {
        const assay__registry_entry *e = &registry->entries[i];
        if (e->why_not[0] == '\0' && (best == NULL || assay__entry_outranks(e, best)))
            best = e;
    }
    return best;
}

static assay_status fail_pinned(assay_registry *registry, const char *name)
{
    const assay__registry_entry *e = assay__registry_find(registry, name);

    if (e == NULL)
        return assay__fail_context(ASSAY_UNSUPPORTED, "select");
    return assay__fail(ASSAY_UNSUPPORTED, "select: '%s' %s", name, e->why_not);
}

static assay_status fail_unmatched(assay_registry *registry, const assay__demands *demands)
{
    char reasons[960];
    assay__words words = assay__words_in(reasons, sizeof reasons);

    if (demands->request.pin != NULL)
        return fail_pinned(registry, demands->request.pin);
    if (registry->count == 0)
        return assay__fail(ASSAY_UNSUPPORTED, "select: this context has no backends; set "
                                              "ASSAY_PLUGIN_PATH to their folder");
    assay__words_add_left_out(&words, registry, "");
    return assay__fail(ASSAY_UNSUPPORTED, "select: no backend matches: %s", reasons);
}

/* Why one of the same priority came behind; "": it has another. */
static const char *reason_of(const assay__registry_entry *best, const assay__registry_entry *e)
{
    if (!assay__entry_outranks(best, e))
        return ", equal: the first by name";
    return e->priority == best->priority && e->kind == best->kind ? ", kernels for fewer ops" : "";
}

static void explain(const assay_registry *registry, const assay__registry_entry *best,
                    assay__words *words)
{
    const char *before = "; before ";

    assay__words_add(words, "%s: priority %d", assay__entry_name(best), (int)best->priority);
    for (size_t i = 0; i < registry->count; i++) {
        const assay__registry_entry *e = &registry->entries[i];
        if (e == best || e->why_not[0] != '\0')
            continue;
        assay__words_add(words, "%s%s (%d%s)", before, assay__entry_name(e), (int)e->priority,
                         reason_of(best, e));
        before = ", ";
    }
    assay__words_add_left_out(words, registry, "; left out: ");
}

assay_status assay__select_by(assay_registry *registry, const assay__demands *demands,
                              const char *rule, assay_selection *out)
{
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&registry->lock);
    if (assay__registry_judge(registry, demands) == 0) {
        status = fail_unmatched(registry, demands);
    } else {
        const assay__registry_entry *best = best_of(registry);
        *out = (assay_selection){.name = assay__entry_name(best),
                                 .kind = best->kind,
                                 .priority = best->priority,
                                 .tier = ASSAY_TIER_UNKNOWN};
        assay__words words = assay__words_in(out->why, sizeof out->why);
        assay__words_add(&words, "%s", rule);
        explain(registry, best, &words);
    }
    pthread_mutex_unlock(&registry->lock);
    return status;
}

assay_status assay_select(assay_registry *registry, const assay_select_request *request,
                          assay_selection *out)
{
    assay__demands demands;

    ASSAY_TRY(assay__demands_init(request, &demands));
    return assay__select_by(registry, &demands, "", out);
}

/* ---- the chain ---- */

/* The host after all others, whatever its priority. */
static int chain_order(const void *left, const void *right)
{
    const assay__registry_entry *a = *(const assay__registry_entry *const *)left;
    const assay__registry_entry *b = *(const assay__registry_entry *const *)right;
    const int host = (a->kind == ASSAY_BACKEND_KIND_CPU) - (b->kind == ASSAY_BACKEND_KIND_CPU);

    if (host != 0)
        return host;
    if (assay__entry_outranks(a, b))
        return -1;
    return assay__entry_outranks(b, a) ? 1 : strcmp(assay__entry_name(a), assay__entry_name(b));
}

/* With `lock` held, after judging: all that match, in order. */
static void sort_matches(const assay_registry *registry, const assay__registry_entry **sorted)
{
    size_t count = 0;

    for (size_t i = 0; i < registry->count; i++)
        if (registry->entries[i].why_not[0] == '\0')
            sorted[count++] = &registry->entries[i];
    qsort(sorted, count, sizeof *sorted, chain_order);
}

static assay_status fill_chain(assay_registry *registry, const assay__demands *demands,
                               const assay__registry_entry **sorted, assay_fallback *out,
                               size_t cap, size_t *count)
{
    const size_t matches = assay__registry_judge(registry, demands);

    if (matches == 0)
        return fail_unmatched(registry, demands);
    sort_matches(registry, sorted);
    for (size_t i = 0; i < matches && i < cap; i++)
        out[i] = (assay_fallback){.name = assay__entry_name(sorted[i]),
                                  .kind = sorted[i]->kind,
                                  .priority = sorted[i]->priority,
                                  .is_last_resort = sorted[i]->kind == ASSAY_BACKEND_KIND_CPU};
    *count = matches;
    return ASSAY_OK;
}

assay_status assay_fallback_chain(assay_registry *registry, const assay_select_request *request,
                                  assay_fallback *out, size_t cap, size_t *count)
{
    assay__demands demands;
    const assay__registry_entry **sorted;

    ASSAY_TRY(assay__demands_init(request, &demands));
    sorted = malloc((registry->count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return assay__fail(ASSAY_NOMEM, "fallback chain: no memory");
    pthread_mutex_lock(&registry->lock);
    assay_status status = fill_chain(registry, &demands, sorted, out, cap, count);
    pthread_mutex_unlock(&registry->lock);
    free(sorted);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select_registry.c -- the backends of a context as entries, asked when somebody needs it.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"
#include "runtime/select_internal.h"

/* ---- texts ---- */

assay__words assay__words_in(char *text, size_t cap)
{
    text[0] = '\0';
    return (assay__words){.text = text, .cap = cap};
}

void assay__words_add(assay__words *words, const char *format, ...)
{
    const size_t room = words->cap - words->used;
    va_list args;

    if (room <= 1)
        return;
    va_start(args, format);
    int n = vsnprintf(words->text + words->used, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < room) {
        words->used += (size_t)n;
        return;
    }
    words->used = words->cap - 1;
    if (words->cap >= sizeof "...")
        memcpy(words->text + words->cap - sizeof "...", "...", sizeof "...");
}

void assay__words_add_left_out(assay__words *words, const assay_registry *registry,
                               const char *before)
{
    for (size_t i = 0; i < registry->count; i++) {
        const assay__registry_entry *e = &registry->entries[i];
        if (e->why_not[0] == '\0')
            continue;
        assay__words_add(words, "%s%s: %s", before, assay__entry_name(e), e->why_not);
        before = "; ";
    }
}

/* ---- creating ---- */

static assay_backend_kind kind_of(const assay_manifest *manifest)
{
    switch (manifest->location) {
    case ASSAY_LOCATION_CUDA:
        return ASSAY_BACKEND_KIND_CUDA;
    case ASSAY_LOCATION_VULKAN:
        return ASSAY_BACKEND_KIND_VULKAN;
    case ASSAY_LOCATION_CPU:
    case ASSAY_LOCATION_COUNT:
        break;
    }
    return ASSAY_BACKEND_KIND_CPU;
}

static size_t count_ops(const assay_manifest *manifest)
{
    bool has[ASSAY_OP_COUNT] = {false};
    size_t count = 0;

    for (size_t i = 0; i < manifest->kernel_count; i++) {
        const assay_op_id op = assay__manifest_kernel(manifest, i)->op;
        if ((unsigned)op < ASSAY_OP_COUNT && !has[op])
            count++;
        if ((unsigned)op < ASSAY_OP_COUNT)
            has[op] = true;
    }
    return count;
}

/* The set is sorted by name; a plug-in that was refused later still lies among the usable. */
static void add_entries(assay_registry *registry, assay__plugins *set)
{
    for (size_t i = 0; set != NULL && i < assay__plugins_count(set); i++) {
        assay__plugin *plugin = assay__plugins_at(set, i);
        if (plugin->manifest == NULL)
            continue;
        assay__registry_entry *e = &registry->entries[registry->count++];
        e->plugin = plugin;
        e->kind = kind_of(plugin->manifest);
        e->op_count = count_ops(plugin->manifest);
        e->priority = assay_backend_kind_priority(e->kind);
    }
}

assay_status assay_registry_create(assay_context *context, assay_registry **out)
{
    assay__plugins *set = assay__context_plugins(context);
    const size_t cap = set != NULL ? assay__plugins_count(set) : 0;
    assay_registry *registry = calloc(1, sizeof *registry + cap * sizeof registry->entries[0]);

    if (registry == NULL || pthread_mutex_init(&registry->lock, NULL) != 0) {
        free(registry);
        return assay__fail(ASSAY_NOMEM, "registry: no memory");
    }
    registry->context = context;
    add_entries(registry, set);
    *out = registry;
    return ASSAY_OK;
}

void assay_registry_destroy(assay_registry **registry)
{
    if (registry == NULL || *registry == NULL)
        return;
    pthread_mutex_destroy(&(*registry)->lock);
    free(*registry);
    *registry = NULL;
}

void assay_registry_refresh(assay_registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count; i++)
        registry->entries[i].is_asked = false;
    pthread_mutex_unlock(&registry->lock);
}

/* ---- asking a backend ---- */

/* With the context's `opening` held. */
static assay_status ask_device(assay__plugin *plugin, assay_device_profile *out)
{
    size_t count = 0;

    ASSAY_TRY(assay__plugin_open(plugin));
    ASSAY_TRY(assay__backend_device_count(&plugin->backend, &count));
    if (count == 0)
        return assay__fail(ASSAY_UNAVAILABLE, "it has no device here");
    return assay__backend_device_profile(&plugin->backend, 0, out);
}

/* Of a backend without a kernel that can run here nobody has any use; one that has no rows at all
 * never claimed to. */
static assay_status check_kernels(assay_context *context, const assay_manifest *manifest)
{
    const assay_snapshot *snapshot;
    const assay_binding *first = NULL;
    assay_status status = ASSAY_OK;

    if (manifest->kernel_count == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay_table_hold(assay_context_table(context), &snapshot));
    for (size_t i = 0; i < assay_snapshot_size(snapshot); i++) {
        const assay_binding *row = assay_snapshot_at(snapshot, i);
        if (row->manifest != manifest)
            continue;
        first = first != NULL ? first : row;
        if (row->available) {
            assay_snapshot_release(&snapshot);
            return ASSAY_OK;
        }
    }
    status = assay__fail(ASSAY_UNAVAILABLE, "none of its kernels can run here: %s",
                         first != NULL ? first->reason : "the table has none");
    assay_snapshot_release(&snapshot);
    return status;
}

void assay__registry_ask(assay_registry *registry, assay__registry_entry *entry)
{
    assay_context *context = registry->context;

    if (entry->is_asked)
        return;
    memset(&entry->profile, 0, sizeof entry->profile);
    assay__error_clear(); /* an old text is no reason */
    pthread_mutex_lock(assay__context_opening(context));
    assay_status status = ask_device(entry->plugin, &entry->profile);
    pthread_mutex_unlock(assay__context_opening(context));
    if (status != ASSAY_OK)
        memset(&entry->profile, 0, sizeof entry->profile);
    else
        status = check_kernels(context, entry->plugin->manifest);
    entry->trouble[0] = '\0';
    if (status != ASSAY_OK)
        assay__text_fit(assay_last_error()[0] != '\0' ? assay_last_error() : assay_strerror(status),
                        entry->trouble, sizeof entry->trouble);
    entry->profile.flops_per_ns = entry->profile.bytes_per_ns = (double)NAN;
    entry->is_asked = true;
}

/* ---- entries as others see them ---- */

static void fill(assay_registry *registry, assay__registry_entry *e, assay_backend_entry *out)
{
    const assay_manifest *m = e->plugin->manifest;

    assay__registry_ask(registry, e);
    memset(out, 0, sizeof *out);
    out->name = m->name;
    out->version = m->version != NULL && m->version[0] != '\0' ? m->version : "unspecified";
    out->kind = e->kind;
    out->priority = e->priority;
    out->available = !e->is_off && e->trouble[0] == '\0';
    out->explicit_only = m->explicit_only != 0;
    out->is_oracle = m->oracle_count > 0;
    out->dispatches = m->kernel_count > 0;
    out->profile = e->profile;
    out->features = e->profile.features;
    if (e->trouble[0] == '\0') /* the store may be read anew at any time */
        assay__add_rates(registry->context, &out->profile);
    (void)snprintf(out->reason, sizeof out->reason, "%s",
                   e->is_off ? "switched off by assay_backend_set_available" : e->trouble);
}

assay__registry_entry *assay__registry_find(assay_registry *registry, const char *name)
{
    char have[512];
    assay__words words = assay__words_in(have, sizeof have);

    for (size_t i = 0; i < registry->count; i++) {
        if (name != NULL && strcmp(assay__entry_name(&registry->entries[i]), name) == 0)
            return &registry->entries[i];
        assay__words_add(&words, "%s%s", i > 0 ? ", " : "",
                         assay__entry_name(&registry->entries[i]));
    }
    (void)assay__fail(ASSAY_UNAVAILABLE, "backend '%.40s' is not in this context; there are: %s",
                      name != NULL ? name : "", registry->count > 0 ? have : "none");
    return NULL;
}

assay_status assay_backends_list(assay_registry *registry, assay_backend_entry *out, size_t cap,
                                 size_t *count)
{
    pthread_mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count && i < cap; i++)
        fill(registry, &registry->entries[i], &out[i]);
    *count = registry->count;
    pthread_mutex_unlock(&registry->lock);
    return ASSAY_OK;
}

assay_status assay_backend_find(assay_registry *registry, const char *name,
                                assay_backend_entry *out)
{
    pthread_mutex_lock(&registry->lock);
    assay__registry_entry *e = assay__registry_find(registry, name);
    if (e != NULL)
        fill(registry, e, out);
    pthread_mutex_unlock(&registry->lock);
    return e != NULL ? ASSAY_OK : ASSAY_UNAVAILABLE;
}

assay_status assay_backend_set_priority(assay_registry *registry, const char *name,
                                        int32_t priority)
{
    pthread_mutex_lock(&registry->lock);
    assay__registry_entry *e = assay__registry_find(registry, name);
    if (e != NULL)
        e->priority = priority;
    pthread_mutex_unlock(&registry->lock);
    return e != NULL ? ASSAY_OK : ASSAY_UNAVAILABLE;
}

assay_status assay_backend_set_available(assay_registry *registry, const char *name, bool available)
{
    pthread_mutex_lock(&registry->lock);
    assay__registry_entry *e = assay__registry_find(registry, name);
    if (e != NULL)
        e->is_off = !available;
    pthread_mutex_unlock(&registry->lock);
    return e != NULL ? ASSAY_OK : ASSAY_UNAVAILABLE;
}

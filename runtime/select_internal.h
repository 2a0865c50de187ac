/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select_internal.h -- the registry's own structure, and judging its entries. */
#ifndef ASSAY_RUNTIME_SELECT_INTERNAL_H
#define ASSAY_RUNTIME_SELECT_INTERNAL_H

#include <pthread.h>

#include "assay/select.h"
#include "runtime/plugin_set.h"

typedef struct assay__registry_entry {
    assay__plugin *plugin; /* the context's */
    assay_backend_kind kind;
    int32_t priority;
    size_t op_count;              /* ops that it has kernels for */
    bool is_off;                  /* by assay_backend_set_available */
    bool is_asked;                /* the next two are known */
    assay_device_profile profile; /* without rates */
    char trouble[256];            /* why it cannot be used; "": it can */
    char why_not[200];            /* of the demands it was judged by last; "": it meets them */
} assay__registry_entry;

struct assay_registry {
    assay_context *context; /* borrowed */
    pthread_mutex_t lock; /* of the entries; taken before the context's `opening` and `answering` */
    size_t count;
    assay__registry_entry entries[]; /* sorted by name */
};

static inline const char *assay__entry_name(const assay__registry_entry *entry)
{
    return entry->plugin->manifest->name;
}

/* NULL with the text recorded, the status being ASSAY_UNAVAILABLE.  With `lock` held. */
assay__registry_entry *assay__registry_find(assay_registry *registry, const char *name);
/* Opens the backend and asks it, once.  With `lock` held. */
void assay__registry_ask(assay_registry *registry, assay__registry_entry *entry);

/* ---- judging ---- */

typedef struct assay__demands {
    assay_select_request request;
    const assay_question *question; /* NULL, or: has a kernel for its op and dtypes */
    const char *named;              /* comma list of who may answer; NULL: all */
    bool to_acquire;                /* by the rules of assay_acquire_preferred */
} assay__demands;

/* A request of any size, NULL among them. */
assay_status assay__demands_init(const assay_select_request *request, assay__demands *out);
/* Sets each entry's why_not; returns how many meet the demands.  With `lock` held. */
size_t assay__registry_judge(assay_registry *registry, const assay__demands *demands);
/* Does a come before b: by priority, then by the default of the kind?  Names are not compared. */
bool assay__entry_outranks(const assay__registry_entry *a, const assay__registry_entry *b);

/* The best that meets the demands. rule: what `why` begins with.  ASSAY_UNSUPPORTED. */
assay_status assay__select_by(assay_registry *registry, const assay__demands *demands,
                              const char *rule, assay_selection *out);

/* ---- texts ---- */

/* Grows by what fits and ends in "..." when something did not. */
typedef struct assay__words {
    char *text; /* borrowed */
    size_t cap, used;
} assay__words;
assay__words assay__words_in(char *text, size_t cap);
__attribute__((format(printf, 2, 3))) void assay__words_add(assay__words *words, const char *format,
                                                            ...);
/* "; name: reason" of each entry that was left out, with `before` first.  With `lock` held. */
void assay__words_add_left_out(assay__words *words, const assay_registry *registry,
                               const char *before);

/* ---- ranking of engines ---- */

typedef struct assay__engine_rank {
    uint32_t score;
    assay_timing_quality timing;
    double bytes_per_ns; /* NaN: unknown */
    int32_t priority;
    assay_backend_kind kind;
    const char *name;
} assay__engine_rank;
/* Negative: a is the better one.  0 only for one and the same name. */
int assay__engine_rank_order(const assay__engine_rank *a, const assay__engine_rank *b);

#endif

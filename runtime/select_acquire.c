/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/select_acquire.c -- engines by name, and the best of all that can be initialised. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/select_internal.h"

/* ---- by name ---- */

static assay_status check_name(assay_registry *registry, const char *name)
{
    pthread_mutex_lock(&registry->lock);
    const assay__registry_entry *e = assay__registry_find(registry, name);
    const bool is_off = e != NULL && e->is_off;
    pthread_mutex_unlock(&registry->lock);
    if (is_off)
        return assay__fail(ASSAY_UNAVAILABLE,
                           "backend '%s' is switched off; assay_backend_set_available takes it "
                           "back",
                           name);
    /* What is no entry may be a file that could not be loaded: creating the engine says why. */
    return ASSAY_OK;
}

assay_status assay_acquire(assay_registry *registry, const char *name,
                           const assay_engine_options *options, assay_engine **out)
{
    assay_engine *engine = NULL;

    ASSAY_TRY(check_name(registry, name));
    ASSAY_TRY(assay_engine_create(registry->context, name, options, &engine));
    assay_status status = assay_engine_init(engine, 0);
    if (status != ASSAY_OK) {
        /* Destroying may fail inside and leave another text. */
        char text[1024];
        assay_error_detail detail;
        (void)snprintf(text, sizeof text, "%s", assay_last_error());
        assay_last_detail(&detail);
        assay_engine_destroy(&engine);
        detail.status = status;
        return assay__fail_detail(&detail, text);
    }
    *out = engine;
    return ASSAY_OK;
}

/* ---- the best ---- */

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Unknown, and whatever else is no rate, counts as none. */
static double rate(double bytes_per_ns)
{
    return bytes_per_ns > 0 ? bytes_per_ns : 0;
}

int assay__engine_rank_order(const assay__engine_rank *a, const assay__engine_rank *b)
{
    const double a_rate = rate(a->bytes_per_ns), b_rate = rate(b->bytes_per_ns);
    const int32_t a_kind = assay_backend_kind_priority(a->kind);
    const int32_t b_kind = assay_backend_kind_priority(b->kind);

    if (a->score != b->score)
        return compare_u32(b->score, a->score);
    if (a->timing != b->timing)
        return compare_u32((uint32_t)b->timing, (uint32_t)a->timing);
    if (a_rate > b_rate || a_rate < b_rate)
        return a_rate > b_rate ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a_kind != b_kind)
        return a_kind > b_kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* What is tried, and what came of it. */
typedef struct trial {
    const assay_engine_options *options;
    assay__engine_rank *ranks; /* of the candidates; their names and priorities, then all */
    size_t count;
    size_t initialised;
    assay_engine *engine; /* the best so far, owned; NULL: none */
    assay__engine_rank best;
    char failures[960];
    assay__words words; /* in failures */
} trial;

/* Those that the request admits; the reasons of the others are kept as failures. */
static assay_status collect(assay_registry *registry, const assay__demands *demands, trial *t)
{
    t->ranks = calloc(registry->count + 1, sizeof *t->ranks);
    if (t->ranks == NULL)
        return assay__fail(ASSAY_NOMEM, "acquire: no memory");
    pthread_mutex_lock(&registry->lock);
    (void)assay__registry_judge(registry, demands);
    for (size_t i = 0; i < registry->count; i++) {
        const assay__registry_entry *e = &registry->entries[i];
        if (e->why_not[0] != '\0')
            continue;
        t->ranks[t->count++] = (assay__engine_rank){
            .priority = e->priority, .kind = e->kind, .name = assay__entry_name(e)};
    }
    assay__words_add_left_out(&t->words, registry, "");
    pthread_mutex_unlock(&registry->lock);
    return ASSAY_OK;
}

static void add_failure(trial *t, const char *name)
{
    assay__words_add(&t->words, "%s%s: %s", t->words.used > 0 ? "; " : "", name,
                     assay_last_error());
}

/* Keeps the better one and destroys the other. */
static void keep_better(trial *t, const assay__engine_rank *rank, assay_engine *engine)
{
    assay_engine *worse = engine;

    t->initialised++;
    if (t->engine == NULL || assay__engine_rank_order(rank, &t->best) < 0) {
        worse = t->engine;
        t->engine = engine;
        t->best = *rank;
    }
    assay_engine_destroy(&worse);
}

static void try_one(assay_registry *registry, trial *t, assay__engine_rank *rank)
{
    assay_engine *engine = NULL;
    assay_device_profile profile;

    if (assay_acquire(registry, rank->name, t->options, &engine) != ASSAY_OK) {
        add_failure(t, rank->name);
        return;
    }
    if (assay_engine_profile(engine, &profile) != ASSAY_OK) {
        add_failure(t, rank->name);
        assay_engine_destroy(&engine);
        return;
    }
    rank->score = assay_capability_score(&profile);
    rank->timing = profile.timing;
    rank->bytes_per_ns = profile.bytes_per_ns;
    keep_better(t, rank, engine);
}

static void explain(const trial *t, assay_selection *out)
{
    assay__words words;

    *out = (assay_selection){.name = t->best.name,
                             .kind = t->best.kind,
                             .priority = t->best.priority,
                             .tier = ASSAY_TIER_UNKNOWN};
    words = assay__words_in(out->why, sizeof out->why);
    assay__words_add(&words, "%s: score %u, timing %d, ", t->best.name, (unsigned)t->best.score,
                     (int)t->best.timing);
    if (t->best.bytes_per_ns > 0)
        assay__words_add(&words, "%.4g bytes/ns", t->best.bytes_per_ns);
    else
        assay__words_add(&words, "bandwidth unknown");
    assay__words_add(&words, ", priority %d; best of %zu that were initialised",
                     (int)t->best.priority, t->initialised);
    if (t->words.used > 0)
        assay__words_add(&words, "; left out: %s", t->failures);
}

assay_status assay_acquire_preferred(assay_registry *registry, const assay_select_request *request,
                                     const assay_engine_options *options, assay_engine **out,
                                     assay_selection *selection)
{
    assay__demands demands;
    trial t = {.options = options};

    ASSAY_TRY(assay__demands_init(request, &demands));
    demands.to_acquire = true;
    t.words = assay__words_in(t.failures, sizeof t.failures);
    ASSAY_TRY(collect(registry, &demands, &t));
    for (size_t i = 0; i < t.count; i++)
        try_one(registry, &t, &t.ranks[i]);
    free(t.ranks);
    if (t.engine == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "acquire: no backend is left: %s",
                           t.words.used > 0 ? t.failures : "this context has none");
    if (selection != NULL)
        explain(&t, selection);
    *out = t.engine;
    return ASSAY_OK;
}

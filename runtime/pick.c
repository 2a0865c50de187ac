/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick.c -- answers questions: call site, cache, and what happens on a miss. */
#include "assay/pick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/pick_internal.h"

/* ---- lasting copies ---- */

static bool same_variant(const assay__interned *i, const assay_binding *b, const int64_t *tunables)
{
    return i->binding.desc == b->desc && i->binding.manifest == b->manifest &&
           assay_digest_equal(&i->binding.revision, &b->revision) &&
           memcmp(i->tunables, tunables, b->desc->tunable_count * sizeof *tunables) == 0;
}

static assay_status copy_expr(const assay_kernel_desc *desc, const char *text, bool with_tunables,
                              assay__expr **out)
{
    if (text == NULL)
        return ASSAY_OK;
    *out = malloc(sizeof **out);
    if (*out == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory");
    return assay__row_expr_compile(desc, text, with_tunables, *out);
}

assay_status assay__intern(assay_context *context, const assay_binding *binding,
                           const int64_t *tunables, const assay__interned **out)
{
    const assay_kernel_desc *desc = binding->desc;
    assay__interned *i = context->interned;

    while (i != NULL && !same_variant(i, binding, tunables))
        i = i->next;
    if (i == NULL) {
        i = calloc(1, sizeof *i);
        if (i == NULL)
            return assay__fail(ASSAY_NOMEM, "route picker: no memory");
        i->next = context->interned; /* linked first, so that a failure below frees it at close */
        context->interned = i;
        i->binding = *binding;
        memcpy(i->tunables, tunables, desc->tunable_count * sizeof *tunables);
        if (context->plugins != NULL)
            i->plugin = assay__plugins_find(context->plugins, binding->manifest->name);
        ASSAY_TRY(copy_expr(desc, desc->can_run, false, &i->can_run));
        ASSAY_TRY(copy_expr(desc, desc->constraint, true, &i->constraint));
    }
    *out = i;
    return ASSAY_OK;
}

/* ---- misses ---- */

static assay_status fail_no_route(const assay_context *context, const assay_question *q)
{
    assay__judgement j = {0};
    char text[ASSAY_PROBLEM_TEXT_MAX] = "?";
    const assay__judged *first;
    assay_status status = assay__judge(context->current, context->named, q, true, &j);

    (void)assay_problem_format(&q->problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
    if (status != ASSAY_OK)
        return status;
    first = j.count > 0 ? &j.items[0] : NULL;
    for (size_t i = 0; i < j.count && first->hidden; i++)
        first = j.items[i].hidden ? first : &j.items[i];
    if (first == NULL)
        status = assay__fail(ASSAY_NO_ROUTE, "%s: the table has no kernel for it", text);
    else
        status =
            assay__fail(ASSAY_NO_ROUTE,
                        "%s: all %zu candidates are rejected; %s: %s; assay_explain and "
                        "`assay pick --explain` list the others",
                        text, j.count,
                        first->stored != NULL ? first->stored->kernel : first->binding->desc->name,
                        first->reason);
    assay__judgement_clear(&j);
    return status;
}

/* Once an op: what would give it evidence; assay_pick_misses_write has the rest. */
static void warn_unmeasured(assay_context *context, const assay_question *q)
{
    char text[ASSAY_PROBLEM_TEXT_MAX], line[ASSAY_PROBLEM_TEXT_MAX + 1024], dtypes[96] = "";
    const assay_op_info *info = assay_op_get((assay_op_id)q->problem.op);
    const char *shape, *path = context->path;

    if (context->log == NULL || context->warned_ops[q->problem.op])
        return;
    context->warned_ops[q->problem.op] = true;
    if (assay_problem_format(&q->problem, ASSAY_TEXT_ACCURACY, text, sizeof text) == 0)
        return;
    assay__dtypes_text(&q->problem, dtypes, sizeof dtypes);
    shape = strrchr(text, ' ');
    (void)snprintf(line, sizeof line,
                   "%s: nothing is measured here, the default kernel answers; measure it with: "
                   "assay sweep%s%.512s --op %s --dtype %s --shape %s",
                   text, path != NULL ? " --db " : "", path != NULL ? path : "", info->name, dtypes,
                   shape != NULL ? shape + 1 : "");
    context->log(context->cookie, 1, line);
}

static assay_status answer(assay_context *context, const assay_question *q,
                           const assay__interned **variant, assay_route *out)
{
    assay__judgement *j = &context->scratch;

    ASSAY_TRY(assay__judge(context->current, context->named, q, false, j));
    if (j->chosen == SIZE_MAX)
        return fail_no_route(context, q);
    ASSAY_TRY(
        assay__intern(context, j->items[j->chosen].binding, j->items[j->chosen].tunables, variant));
    assay__judged_route(&j->items[j->chosen], j->is_default, out);
    out->binding = &(*variant)->binding;
    out->tunables = (*variant)->tunables;
    if (j->is_default &&
        (j->route == NULL || !assay__generation_serves(context->current, j->route)))
        assay__misses_keep(&context->misses, q);
    if (j->is_default)
        warn_unmeasured(context, q);
    return ASSAY_OK;
}

/* Another thread may have answered meanwhile; then its answer is found and given. */
static assay_status pick_miss(assay_context *context, const assay_question *q,
                              const assay__key128 *key, assay_route *out, uint64_t *generation)
{
    const assay__interned *variant = NULL;
    const assay__line *line = NULL;
    assay_route route;
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&context->answering);
    *generation = context->current->cache->generation;
    if (key != NULL)
        line = assay__pick_cache_find(context->current->cache, *key);
    if (line != NULL)
        assay__line_route(line, &route);
    else
        status = answer(context, q, &variant, &route);
    if (status == ASSAY_OK && line == NULL && key != NULL)
        status = assay__pick_cache_add(context->current->cache, *key, variant, &route);
    pthread_mutex_unlock(&context->answering);
    if (status == ASSAY_OK)
        *out = route;
    return status;
}

/* ---- hits ---- */

/* Is the answer there already?  Else the miss is to be answered. */
static inline bool find(assay_context *context, assay__reader *mine, assay__key128 key,
                        assay_route *out, uint64_t *generation)
{
    const assay__pick_cache *cache = assay__reader_enter(&context->readers, mine, &context->cache);
    const assay__line *line = assay__pick_cache_find(cache, key);

    if (__builtin_expect(line == NULL, 0)) {
        assay__reader_leave(mine);
        return false;
    }
    assay__line_route(line, out);
    *generation = cache->generation;
    assay__reader_leave(mine);
    return true;
}

static inline bool hit(assay_context *context, assay__reader *mine, assay__key128 key,
                       assay_route *out, uint64_t *generation)
{
    if (!find(context, mine, key, out, generation))
        return false;
    assay__reader_count(mine, out->flags & 1);
    return true;
}

/* All but a hit of the narrow form; apart, so that such a hit saves no registers for it. */
__attribute__((noinline)) static assay_status
pick_slowly(assay_context *context, const assay_question *q, assay_route *out, uint64_t *generation)
{
    assay__key128 key;
    const bool has_key = assay__question_hash(&context->rules, q, &key);
    assay__reader *mine = assay__reader_mine(&context->readers);

    if (mine == NULL)
        return assay__fail(ASSAY_NOMEM, "route picker: no memory for a reader");
    if (has_key && hit(context, mine, key, out, generation))
        return ASSAY_OK;
    ASSAY_TRY(pick_miss(context, q, has_key ? &key : NULL, out, generation));
    assay__reader_count(mine, out->flags & 1);
    return ASSAY_OK;
}

__attribute__((always_inline)) static inline assay_status
pick(assay_context *context, const assay_question *q, assay_route *out, uint64_t *generation)
{
    assay__question_key words;
    assay__key128 key;
    assay__reader *mine;

    if (__builtin_expect(!assay__question_key_narrow(&context->rules, q, &words), 0))
        return pick_slowly(context, q, out, generation);
    key = assay__xxh(words.words, sizeof words.words);
    mine = assay__reader_cached(&context->readers);
    if (__builtin_expect(mine == NULL, 0) ||
        __builtin_expect(!hit(context, mine, key, out, generation), 0))
        return pick_slowly(context, q, out, generation);
    return ASSAY_OK;
}

assay_status assay_pick(assay_context *context, const assay_question *question, assay_route *out)
{
    uint64_t generation;

    return pick(context, question, out, &generation);
}

assay_status assay__pick_uncounted(assay_context *context, const assay_question *question,
                                   assay_route *out)
{
    assay__reader *mine = assay__reader_mine(&context->readers);
    uint64_t generation;
    assay__key128 key;
    const bool has_key = assay__question_hash(&context->rules, question, &key);

    if (mine != NULL && has_key && find(context, mine, key, out, &generation))
        return ASSAY_OK;
    return pick_miss(context, question, has_key ? &key : NULL, out, &generation);
}

/* Apart, so that the call site's own answer is given without a stack frame. */
__attribute__((noinline)) static assay_status pick_anew(assay_context *context, assay_site *site,
                                                        const assay_question *question,
                                                        assay_route *out)
{
    uint64_t generation = 0;

    ASSAY_TRY(pick(context, question, out, &generation));
    site->generation = 0;
    site->route = *out;
    site->question = *question;
    site->generation = generation;
    return ASSAY_OK;
}

assay_status assay_pick_at(assay_context *context, assay_site *site, const assay_question *question,
                           assay_route *out)
{
    uint64_t now = atomic_load_explicit(&context->generation, memory_order_acquire);

    if (__builtin_expect(site->generation != now, 0) ||
        __builtin_expect(!assay__question_same(&site->question, question), 0))
        return pick_anew(context, site, question, out);
    *out = site->route;
    return ASSAY_OK;
}

/* ---- counters ---- */

void assay_pick_stats_get(const assay_context *context, assay_pick_stats *out)
{
    union {
        const assay_context *read_only;
        assay_context *counting;
    } c = {context}; /* counting is put off until somebody asks */

    memset(out, 0, sizeof *out);
    for (assay_context *b = NULL; (b = assay__context_branch_after(c.counting, b)) != NULL;) {
        assay_pick_stats there;
        assay_pick_stats_get(b, &there);
        out->hits += there.hits;
        out->misses += there.misses;
        out->misses_kept += there.misses_kept;
        out->misses_dropped += there.misses_dropped;
    }
    out->hits += assay__readers_sum(&context->readers, 0);
    out->misses += assay__readers_sum(&context->readers, 1);
    pthread_mutex_lock(&c.counting->answering);
    if (!context->current->counted)
        assay__generation_count(c.counting->current);
    out->misses_kept += context->misses.count;
    out->misses_dropped += context->misses.dropped;
    out->routes_usable = context->current->usable;
    out->routes_idle = context->current->idle;
    memcpy(out->idle_reason, context->current->idle_reason, sizeof out->idle_reason);
    if (context->path != NULL && context->store == NULL)
        (void)snprintf(out->idle_reason, sizeof out->idle_reason, "store %.130s does not exist",
                       context->path);
    pthread_mutex_unlock(&c.counting->answering);
}

static assay_status add_open(assay_context *context, assay__open_misses *list)
{
    assay_status status;

    pthread_mutex_lock(&context->answering);
    status = assay__misses_open(&context->misses, context->current, list);
    pthread_mutex_unlock(&context->answering);
    return status;
}

assay_status assay_pick_misses_write(assay_context *context, const char *path)
{
    assay__open_misses list = {NULL, 0};
    assay_status status = add_open(context, &list);

    for (assay_context *b = NULL;
         status == ASSAY_OK && (b = assay__context_branch_after(context, b)) != NULL;)
        status = add_open(b, &list);
    if (status == ASSAY_OK)
        status = assay__misses_write(&list, path);
    free(list.problems);
    return status;
}

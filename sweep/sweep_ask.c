/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_ask.c -- which variants may run a problem, their can_run_fn asked in a worker.
 *
 * Code of a plug-in never runs in the process that owns the store.  All questions of a problem go
 * to one worker in few requests; one that dies of a question has its kernel refused for the problem
 * and is replaced. */
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/revision.h"
#include "runtime/table_internal.h"
#include "runtime/tunables.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"

#define REQUEST_VARIANTS 4096 /* of one request, about */
#define MOST_FAULTS      3    /* of a kernel that is still asked in this sweep */

/* ---- variants that the sweep itself admits ---- */

/* The number of threads a choice of tunables uses; 1 when the kernel does not say. */
static int64_t threads_of(const assay_kernel_desc *desc, const int64_t *tunables)
{
    for (size_t i = 0; i < desc->tunable_count; i++)
        if (strcmp(desc->tunables[i].name, "threads") == 0)
            return tunables[i];
    return 1;
}

static bool fits(const sweep_variants *v)
{
    const sweep *s = v->sweep;
    const int64_t threads = threads_of(v->desc, v->values);

    if (threads > (int64_t)s->cpus || (s->o->max_threads > 0 && threads > s->o->max_threads))
        return false;
    return !v->constrained ||
           assay__row_expr_holds(&v->constraint, v->problem, v->values, v->desc->tunable_count);
}

assay_status assay__sweep_variants(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                                   sweep_variants *out)
{
    memset(out, 0, sizeof *out);
    out->sweep = s;
    out->problem = &p->problem;
    out->desc = k->desc;
    out->constrained = k->desc->constraint != NULL;
    if (!out->constrained)
        return ASSAY_OK;
    return assay__row_expr_compile(k->desc, k->desc->constraint, true, &out->constraint);
}

/* The next choice of all, first the first values; false: there was none left. */
static bool step(sweep_variants *v)
{
    size_t i = 0;

    if (v->begun)
        for (; i < v->desc->tunable_count; i++) {
            if (++v->at[i] < v->desc->tunables[i].value_count)
                break;
            v->at[i] = 0;
        }
    if (v->begun && i == v->desc->tunable_count)
        return false;
    v->begun = true;
    for (i = 0; i < v->desc->tunable_count; i++)
        v->values[i] = v->desc->tunables[i].values[v->at[i]];
    return true;
}

bool assay__sweep_next_variant(sweep_variants *v)
{
    while (step(v))
        if (fits(v))
            return true;
    return false;
}

bool assay__sweep_default_variant(sweep_variants *v)
{
    assay__tunables_default(v->desc, v->sweep->o->max_threads, v->values);
    return fits(v);
}

/* ---- questions ---- */

/* Variants [from, from + count) of one kernel, as part of a request. */
typedef struct piece {
    sweep_answers *of;
    size_t from, count;
} piece;

static void add_values(const assay_kernel_desc *desc, const int64_t *values, json_t *list)
{
    for (size_t i = 0; i < desc->tunable_count; i++)
        (void)json_array_append_new(list, json_integer(values[i]));
}

static assay_status piece_json(const sweep *s, const sweep_problem *p, const piece *q, json_t *list)
{
    json_t *values = json_array();
    sweep_variants v;
    assay_status status = assay__sweep_variants(s, p, q->of->kernel, &v);

    if (q->of->single)
        add_values(q->of->kernel->desc, q->of->values, values);
    for (size_t i = 0; status == ASSAY_OK && !q->of->single && i < q->from + q->count &&
                       assay__sweep_next_variant(&v);
         i++)
        if (i >= q->from)
            add_values(v.desc, v.values, values);
    return status != ASSAY_OK
               ? status
               : assay__json_append_take(
                     list, json_pack("{s:s, s:s, s:o}", "backend", q->of->kernel->manifest->name,
                                     "kernel", q->of->kernel->desc->name, "tunables", values));
}

static assay_status take_answers(const json_t *reply, const piece *pieces, size_t count)
{
    json_t *list;

    ASSAY_TRY(assay__json_get_array(reply, "answers", &list));
    for (size_t i = 0; i < count; i++) {
        const char *signs = json_string_value(json_array_get(list, i));
        if (signs == NULL || strlen(signs) != pieces[i].count)
            return assay__fail(ASSAY_INTERNAL, "a worker's answers do not fit the questions");
        for (size_t v = 0; v < pieces[i].count; v++)
            pieces[i].of->admits[pieces[i].from + v] = signs[v] == '1';
    }
    return ASSAY_OK;
}

static assay_status ask_once(sweep *s, const sweep_problem *p, const piece *pieces, size_t count)
{
    json_t *questions = json_array(), *reply = NULL;
    assay__worker_options options = assay__sweep_worker_options(s, NULL);
    assay_status status = ASSAY_OK;

    options.fate = &s->fate;
    if (s->asker == NULL)
        status = assay__worker_start(&options, &s->asker);
    for (size_t i = 0; status == ASSAY_OK && i < count; i++)
        status = piece_json(s, p, &pieces[i], questions);
    if (status == ASSAY_OK)
        status = assay__worker_call(s->asker,
                                    json_pack("{s:s, s:s, s:O}", "cmd", "can_run", "problem",
                                              p->text, "questions", questions),
                                    NULL, 0, assay__sweep_timeout_ms(s), &reply);
    json_decref(questions);
    if (status == ASSAY_OK)
        status = take_answers(reply, pieces, count);
    json_decref(reply);
    if (s->asker != NULL && !assay__worker_alive(s->asker))
        assay__worker_stop(&s->asker);
    return status;
}

/* ---- refusing ---- */

static void refuse(sweep_answers *a, assay_status status, const char *reason)
{
    a->refused = status;
    assay__text_fit(reason, a->reason, sizeof a->reason);
}

/* The kernel that the note names, when the worker died in its answer; NULL: in something else. */
static sweep_answers *culprit(const sweep *s, const piece *pieces, size_t count)
{
    if (s->fate.what != ASSAY__DOING_ASK || s->fate.item >= count)
        return NULL;
    return pieces[s->fate.item].of;
}

static assay_status ask_pieces(sweep *s, const sweep_problem *p, piece *pieces, size_t count)
{
    while (count > 0) {
        assay_status status = ask_once(s, p, pieces, count);
        sweep_answers *bad;
        size_t kept = 0;
        if (status != ASSAY_CRASH && status != ASSAY_TIMEOUT)
            return status;
        bad = culprit(s, pieces, count);
        if (bad == NULL)
            return assay__fail_context(ASSAY_UNAVAILABLE, "asking which kernels can run %s",
                                       p->text);
        refuse(bad, status, assay_last_error());
        bad->kernel->faults++;
        for (size_t i = 0; i < count; i++)
            if (pieces[i].of != bad)
                pieces[kept++] = pieces[i];
        count = kept;
    }
    return ASSAY_OK;
}

/* ---- all of a problem ---- */

static assay_status count_variants(const sweep *s, const sweep_problem *p, sweep_answers *a)
{
    sweep_variants v;

    ASSAY_TRY(assay__sweep_variants(s, p, a->kernel, &v));
    if (a->single)
        a->count = assay__sweep_default_variant(&v);
    while (!a->single && assay__sweep_next_variant(&v))
        a->count++;
    a->admits = calloc(a->count + 1, sizeof *a->admits);
    if (a->admits == NULL)
        return assay__fail(ASSAY_NOMEM, "answers of kernels");
    return ASSAY_OK;
}

/* Quarantine is remembered: who ended a worker here, or hung it, is not asked again. */
static assay_status recall(sweep *s, const sweep_problem *p, sweep_answers *a)
{
    const sweep_kernel *k = a->kernel;
    assay_digest variant;
    int found = 0;

    if (!s->any_asked_to_an_end || s->o->retry != NULL)
        return ASSAY_OK;
    ASSAY_TRY(assay__variant_revision(&k->revision, k->desc->tunables, a->values,
                                      k->desc->tunable_count, &variant));
    ASSAY_TRY(assay__db_asked_to_an_end(s->db, &variant, s->deployment_row, p->text, &found));
    if (!found)
        return ASSAY_OK;
    refuse(a, ASSAY_CRASH, "");
    a->recalled = true;
    return ASSAY_OK;
}

static assay_status list_kernels(sweep *s, sweep_problem *p)
{
    p->answers = calloc(s->kernel_count + 1, sizeof *p->answers);
    if (p->answers == NULL)
        return assay__fail(ASSAY_NOMEM, "answers of kernels");
    for (size_t i = 0; i < s->kernel_count; i++) {
        sweep_kernel *k = &s->kernels[i];
        bool is_wanted = false;
        if (k->desc->can_run_fn == NULL || !assay__sweep_may_compete(s, p, k, &is_wanted))
            continue;
        sweep_answers *a = &p->answers[p->answer_count++];
        a->kernel = k;
        a->single = !is_wanted;
        assay__tunables_default(k->desc, s->o->max_threads, a->values);
        ASSAY_TRY(recall(s, p, a));
        if (a->refused == ASSAY_OK && k->faults >= MOST_FAULTS)
            refuse(a, ASSAY_CRASH,
                   "not asked whether it can run: its can_run_fn ended or hung the process at "
                   "three problems of this sweep");
        if (a->refused == ASSAY_OK)
            ASSAY_TRY(count_variants(s, p, a));
    }
    return ASSAY_OK;
}

assay_status assay__sweep_ask(sweep *s, sweep_problem *p)
{
    piece *pieces;
    size_t count = 0, variants = 0;
    assay_status status;

    ASSAY_TRY(list_kernels(s, p));
    pieces = calloc(p->answer_count + 1, sizeof *pieces);
    status = pieces != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "questions");
    for (size_t i = 0; status == ASSAY_OK && i < p->answer_count; i++) {
        sweep_answers *a = &p->answers[i];
        for (size_t at = 0; status == ASSAY_OK && a->refused == ASSAY_OK && at < a->count;) {
            size_t left = a->count - at, room = REQUEST_VARIANTS - variants;
            pieces[count] = (piece){a, at, left < room ? left : room};
            at += pieces[count].count;
            variants += pieces[count++].count;
            if (variants < REQUEST_VARIANTS)
                continue;
            status = ask_pieces(s, p, pieces, count);
            count = variants = 0;
        }
    }
    if (status == ASSAY_OK)
        status = ask_pieces(s, p, pieces, count);
    free(pieces);
    return status;
}

void assay__sweep_forget_answers(sweep_problem *p)
{
    for (size_t i = 0; i < p->answer_count; i++)
        free(p->answers[i].admits);
    free(p->answers);
    p->answers = NULL;
    p->answer_count = 0;
}

const sweep_answers *assay__sweep_answers_of(const sweep_problem *p, const sweep_kernel *k)
{
    for (size_t i = 0; i < p->answer_count; i++)
        if (p->answers[i].kernel == k)
            return &p->answers[i];
    return NULL;
}

bool assay__sweep_default_admitted(const sweep *s, const sweep_problem *p, const sweep_kernel *k,
                                   int64_t *values)
{
    const sweep_answers *a = assay__sweep_answers_of(p, k);
    int64_t wanted[ASSAY_MAX_TUNABLES] = {0};
    sweep_variants v;

    if (assay__sweep_variants(s, p, k, &v) != ASSAY_OK || !assay__sweep_default_variant(&v))
        return false;
    memcpy(wanted, v.values, sizeof wanted);
    memcpy(values, wanted, sizeof wanted);
    if (a == NULL || a->single)
        return a == NULL || (a->refused == ASSAY_OK && a->admits[0]);
    for (size_t i = 0; a->refused == ASSAY_OK && assay__sweep_next_variant(&v); i++)
        if (memcmp(v.values, wanted, sizeof wanted) == 0)
            return a->admits[i];
    return false;
}

/* A variant that the sweep does not choose by itself. */
assay_status assay__sweep_ask_one(sweep *s, const sweep_problem *p, sweep_kernel *k,
                                  const int64_t *values, bool *admitted)
{
    sweep_answers one = {.kernel = k, .single = true, .count = 1, .admits = admitted};
    piece question = {&one, 0, 1};

    *admitted = k->desc->can_run_fn == NULL;
    if (*admitted || k->faults >= MOST_FAULTS)
        return ASSAY_OK;
    memcpy(one.values, values, k->desc->tunable_count * sizeof *values);
    ASSAY_TRY(ask_pieces(s, p, &question, 1));
    if (one.refused != ASSAY_OK)
        assay__sweep_warn(s, "%s/%s: %s", k->manifest->name, k->desc->name, one.reason);
    return ASSAY_OK;
}

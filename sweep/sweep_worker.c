/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_worker.c -- the worker of a visit: a fresh one, or on a device elsewhere the one that
 * serves all problems of a round.
 *
 * Visits of one problem are to come from different processes. To make a context of a device takes
 * longer than a stay there, so that the problems of a round have one process between them: the next
 * round has another. On the host a process costs little, and each visit has its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/error.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"

#define ARENA_PAGE  UINT64_C(65536) /* a multiple of any page */
#define ARENA_SLACK (UINT64_C(64) << 20)

/* Somewhere else in each visit: which pages lie beside each other in the caches is part of what
 * visits must sample. */
static uint64_t arena_begin(const sweep *s, const sweep_problem *p)
{
    const uint64_t bits =
        assay__sweep_draw(s, "arena %s %zu %s", s->visit.kind, s->visit.ordinal, p->text);

    return (bits >> 40) % (ARENA_SLACK / ARENA_PAGE) * ARENA_PAGE;
}

const char *assay__sweep_backends(const sweep_problem *p, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        const char *name = c->kernel->manifest->name;
        if (c->out || (used > 0 && assay__name_in_list(buf, name)))
            continue;
        if (used + strlen(name) + 2 > cap)
            return NULL;
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", used > 0 ? "," : "", name);
    }
    return used > 0 ? buf : NULL;
}

/* It has the problem when this returns; its reply says whether little was left to it. */
static assay_status prepare(sweep *s, sweep_problem *p, assay__worker *w, bool *is_spent)
{
    json_t *request = json_pack("{s:s, s:s, s:i}", "cmd", "prepare", "problem", p->text, "align",
                                (int)s->o->align);
    int fds[SWEEP_SETS + 2];
    size_t count = 0;
    json_t *reply = NULL;

    for (size_t i = 0; i < p->sets; i++)
        fds[count++] = p->input_fd[i];
    fds[count++] = p->output_fd;
    if (s->arena_fd >= 0) {
        fds[count++] = s->arena_fd;
        json_object_set_new(request, "arena", json_integer((json_int_t)arena_begin(s, p)));
    }
    json_object_set_new(request, "memory_bytes", json_real(assay__sweep_worker_bytes(s, p)));
    s->is_worker_spent = s->is_shared = s->is_tainted = false;
    s->served = NULL;
    const assay_status status = assay__worker_call(w, request, fds, count, 30000, &reply);
    *is_spent = json_is_true(json_object_get(reply, "is_spent"));
    json_decref(reply);
    return status;
}

static assay_status start(sweep *s, sweep_problem *p, const assay__worker_options *options,
                          assay__worker **w)
{
    bool is_spent;

    s->summary->workers++;
    ASSAY_TRY(assay__worker_start(options, w));
    const assay_status status = prepare(s, p, *w, &is_spent);
    if (status != ASSAY_OK)
        assay__worker_stop(w);
    return status;
}

/* With the plug-ins of those alone that are still in: to load the others takes longer than a quick
 * stay. */
assay_status assay__sweep_worker(sweep *s, sweep_problem *p, assay__worker **w)
{
    char backends[SWEEP_BACKENDS];
    const assay__worker_options options =
        assay__sweep_worker_options(s, assay__sweep_backends(p, backends, sizeof backends));
    const double begin_s = assay__sweep_now_s(s);
    const assay_status status = start(s, p, &options, w);

    s->starts_s += assay__sweep_now_s(s) - begin_s;
    return status;
}

/* A process that has a context of a device takes a while to end. */
static void stop(sweep *s, assay__worker **w)
{
    const double begin_s = assay__sweep_now_s(s);

    assay__worker_stop(w);
    s->starts_s += assay__sweep_now_s(s) - begin_s;
}

/* ---- one for all problems of a round ---- */

void assay__sweep_end_round(sweep *s)
{
    stop(s, &s->shared);
}

/* What it does with the problem before is nobody's fate, and no reason to end a sweep. */
static assay_status take_shared(sweep *s, sweep_problem *p, assay__worker **w)
{
    char backends[SWEEP_BACKENDS];
    const char *wanted = assay__sweep_backends(p, backends, sizeof backends);
    bool is_spent = true;

    if (s->shared == NULL)
        return ASSAY_OK;
    if (wanted != NULL && strcmp(wanted, s->shared_backends) == 0) {
        const assay_status status = prepare(s, p, s->shared, &is_spent);
        if (status == ASSAY_INTERRUPTED)
            return status;
        is_spent = is_spent || status != ASSAY_OK;
    }
    if (is_spent) {
        assay__worker_stop(&s->shared);
        return ASSAY_OK;
    }
    *w = s->shared;
    s->shared = NULL;
    s->is_shared = true;
    return ASSAY_OK;
}

assay_status assay__sweep_join(sweep *s, sweep_problem *p, assay__worker **w)
{
    const double begin_s = assay__sweep_now_s(s);
    const assay_status status = take_shared(s, p, w);

    s->starts_s += assay__sweep_now_s(s) - begin_s;
    ASSAY_TRY(status);
    return *w != NULL ? ASSAY_OK : assay__sweep_fresh(s, p, w);
}

void assay__sweep_leave(sweep *s, const sweep_problem *p, assay__worker **w)
{
    const bool may_go_on = s->place != NULL && !s->shares_no_more && !s->is_worker_spent &&
                           !s->is_tainted && assay__worker_alive(*w);

    if (may_go_on &&
        assay__sweep_backends(p, s->shared_backends, sizeof s->shared_backends) != NULL) {
        assay__sweep_end_round(s);
        s->shared = *w;
        *w = NULL;
    }
    stop(s, w);
}

void assay__sweep_share_no_more(sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                const char *text)
{
    char name[300];

    if (s->shares_no_more)
        return;
    s->shares_no_more = true;
    assay__sweep_name(c, name, sizeof name);
    assay__sweep_warn(s,
                      "%s: %s went wrong where other problems had run before: %s; each problem has "
                      "workers of its own from now on",
                      p->text, name, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_fate.c -- who is to blame when a worker fails, and what becomes of him. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/error.h"
#include "support/format.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"

/* Problems at which a variant fails, and none at which it does not, before it is left alone
 * everywhere: one that hangs costs ten seconds or more at each. */
#define MOST_FAILED_PROBLEMS 3

bool assay__sweep_is_fate(assay_status status)
{
    return status == ASSAY_CRASH || status == ASSAY_TIMEOUT || status == ASSAY_DEVICE ||
           status == ASSAY_NUMERIC || status == ASSAY_UNSUPPORTED;
}

void assay__sweep_name(const sweep_candidate *c, char *buf, size_t cap)
{
    (void)snprintf(buf, cap, "%s/%s%s%s%s", c->kernel->manifest->name, c->kernel->desc->name,
                   c->tunables_text[0] ? "{" : "", c->tunables_text,
                   c->tunables_text[0] ? "}" : "");
}

/* ---- booking ---- */

/* What the store now says of the variant at all problems holds for those under way, too; the others
 * learn it there when their turn comes. */
static void leave_elsewhere(sweep *s, const sweep_candidate *failed)
{
    char reason[sizeof failed->reason + 64];

    (void)snprintf(reason, sizeof reason, "not run, as at all problems before: %s", failed->reason);
    for (size_t i = 0; i < s->problem_count; i++)
        for (size_t k = 0;
             s->problems[i].candidates != NULL && !s->problems[i].skip && k < s->problems[i].count;
             k++) {
            sweep_candidate *c = &s->problems[i].candidates[k];
            if (c == failed || c->out || c->revision_row != failed->revision_row)
                continue;
            c->out = c->recalled = true;
            c->verdict = failed->verdict;
            assay__text_fit(reason, c->reason, sizeof c->reason);
            s->summary->quarantined++;
        }
}

/* A plain kernel takes a hundred times as long as the machine's best may: where that is longer than
 * the limit it did not hang, or nobody knows. */
#define SLOWER_AT_MOST 1000.0

static bool may_be_slow(const sweep *s, const sweep_problem *p, const sweep_candidate *c)
{
    return c->verdict == ASSAY__VERDICT_TIMEOUT &&
           SLOWER_AT_MOST * assay__sweep_least_call_s(s, &p->problem) >
               1e-3 * assay__sweep_timeout_ms(s);
}

/* The cause is the variant, not the problem, when it never did anything else. */
static assay_status quarantine_everywhere(sweep *s, const sweep_problem *p, sweep_candidate *c,
                                          bool *done)
{
    char reason[sizeof c->reason + 64];
    int64_t failed = 0;
    int succeeded = 0;

    *done = false;
    if (may_be_slow(s, p, c))
        return ASSAY_OK;
    ASSAY_TRY(
        assay__db_count_failures(s->db, c->revision_row, s->deployment_row, &failed, &succeeded));
    if (failed < MOST_FAILED_PROBLEMS || succeeded)
        return ASSAY_OK;
    (void)snprintf(reason, sizeof reason, "failed at all %lld problems tried: %s",
                   (long long)failed, c->reason);
    *done = true;
    return assay__db_put_quarantine(s->db, c->revision_row, s->deployment_row, 0, reason);
}

static assay_status put_fate(sweep *s, sweep_problem *p, sweep_candidate *c, bool *everywhere)
{
    ASSAY_TRY(assay__sweep_put_measurement(s, p, c));
    ASSAY_TRY(
        assay__db_put_quarantine(s->db, c->revision_row, s->deployment_row, p->row, c->reason));
    return quarantine_everywhere(s, p, c, everywhere);
}

assay_status assay__sweep_fate(sweep *s, sweep_problem *p, sweep_candidate *c, assay_status status)
{
    bool everywhere = false;

    if (!assay__sweep_is_fate(status))
        return status;
    c->verdict = status == ASSAY_TIMEOUT ? ASSAY__VERDICT_TIMEOUT : ASSAY__VERDICT_CRASHED;
    c->out = true;
    assay__text_fit(assay_last_error(), c->reason, sizeof c->reason);
    if (status == ASSAY_TIMEOUT)
        s->summary->timed_out++;
    else
        s->summary->crashed++;
    s->summary->quarantined++;
    ASSAY_TRY(assay__db_begin(s->db));
    status = put_fate(s, p, c, &everywhere);
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    ASSAY_TRY(assay__db_commit(s->db));
    if (everywhere)
        leave_elsewhere(s, c);
    return ASSAY_OK;
}

/* ---- blame ---- */

assay_status assay__sweep_fresh(sweep *s, sweep_problem *p, assay__worker **w)
{
    const assay_status status = assay__sweep_worker(s, p, w);

    return assay__sweep_is_fate(status)
               ? assay__fail_context(ASSAY_UNAVAILABLE, "a fresh worker for %s", p->text)
               : status;
}

/* Runs `before` as he ran, then the other once, in a fresh worker: does the fault come again? */
static assay_status repeat(sweep *s, sweep_problem *p, sweep_candidate *before,
                           sweep_candidate *behind)
{
    assay__worker *w = NULL;
    assay_status status;

    ASSAY_TRY(assay__sweep_fresh(s, p, &w));
    status = assay__sweep_rehearse(s, p, before, w);
    if (status == ASSAY_OK)
        status = assay__sweep_run_set(s, p, behind, w, 0);
    assay__worker_stop(&w);
    return status;
}

static assay_status suspect(sweep *s, sweep_problem *p, sweep_candidate *before,
                            sweep_candidate *behind, const char *text, bool was_shared)
{
    char name[300], said[sizeof before->reason];
    assay_status status;

    /* Wrong, and now it is known what else he does.  Who failed behind him may do so again behind
     * another. */
    if (before->out) {
        behind->pardoned = false;
        return ASSAY_OK;
    }
    status = repeat(s, p, before, behind);
    if (status != ASSAY_OK && !assay__sweep_is_fate(status))
        return status;
    /* Where other problems had run there are more to suspect. */
    if (status == ASSAY_OK && was_shared)
        return ASSAY_OK;
    before->suspicions++;
    if (status == ASSAY_OK && before->suspicions < 2)
        return ASSAY_OK;
    behind->pardoned = false;
    assay__text_fit(status == ASSAY_OK ? text : assay_last_error(), said, sizeof said);
    assay__sweep_name(behind, name, sizeof name);
    return assay__sweep_fate(s, p, before,
                             assay__fail(ASSAY_CRASH,
                                         "leaves a fault behind that shows in the next call, as of "
                                         "%s: %s",
                                         name, said));
}

/* Once more, in a worker of his own. */
static assay_status anew(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                         const char *kind)
{
    assay__worker_stop(w);
    c->checked = c->checked && c->verdict != ASSAY__VERDICT_NONE;
    const assay_status status = assay__sweep_attempt(s, p, c, w, kind);
    assay__worker_stop(w); /* the next one uses its memory */
    return status;
}

assay_status assay__sweep_blame(sweep *s, sweep_problem *p, sweep_candidate *c,
                                sweep_candidate *before, assay__worker **w, const char *kind,
                                assay_status status)
{
    const bool is_first = before == NULL || before == c, was_shared = s->is_shared;
    char text[sizeof c->reason], name[300], other[300];

    assay__worker_stop(w); /* what a device or a heap has come to is nobody else's */
    if ((is_first && !was_shared) || c->out || c->pardoned ||
        (status != ASSAY_CRASH && status != ASSAY_DEVICE && status != ASSAY_TIMEOUT))
        return assay__sweep_fate(s, p, c, status);
    assay__text_fit(assay_last_error(), text, sizeof text);
    c->pardoned = true;
    status = anew(s, p, c, w, kind);
    if (status != ASSAY_OK)
        return assay__sweep_fate(s, p, c, status);
    if (was_shared) {
        assay__sweep_share_no_more(s, p, c, text);
        c->pardoned = false; /* for once; no other problem's doing can be his any more */
    }
    if (is_first)
        return ASSAY_OK;
    assay__sweep_name(c, name, sizeof name);
    assay__sweep_name(before, other, sizeof other);
    assay__sweep_warn(s, "%s: %s failed where %s had run before, and alone it does not: %s",
                      p->text, name, other, text);
    return suspect(s, p, before, c, text, was_shared);
}

/* Behind another in one worker: then it may be that one's doing that a device has no memory. */
static bool is_bad_end(const sweep *s, assay_status status)
{
    return assay__sweep_is_fate(status) || (status == ASSAY_NOMEM && s->place != NULL);
}

/* Does he fail, or is he wrong, behind the other in a fresh worker? */
static assay_status is_bad_behind(sweep *s, sweep_problem *p, sweep_candidate *before,
                                  sweep_candidate *behind, bool *is_bad)
{
    char why[sizeof behind->reason];
    const assay_status status = repeat(s, p, before, behind);

    *is_bad = is_bad_end(s, status);
    if (status != ASSAY_OK)
        return *is_bad ? ASSAY_OK : status;
    return assay__sweep_is_wrong(s, p, behind, why, sizeof why, is_bad);
}

/* Once more behind the other, and not behind himself: who errs wherever a process is not fresh
 * needs no other for it. */
static assay_status is_his(sweep *s, sweep_problem *p, sweep_candidate *before,
                           sweep_candidate *behind, bool *again)
{
    bool is_bad_himself = false;

    ASSAY_TRY(is_bad_behind(s, p, before, behind, again));
    if (!*again)
        return ASSAY_OK;
    ASSAY_TRY(is_bad_behind(s, p, behind, behind, &is_bad_himself));
    *again = !is_bad_himself;
    return ASSAY_OK;
}

assay_status assay__sweep_spoiled(sweep *s, sweep_problem *p, sweep_candidate *c,
                                  sweep_candidate *before, const char *text, bool *again)
{
    char name[300], other[300];

    ASSAY_TRY(is_his(s, p, before, c, again));
    if (!*again)
        return ASSAY_OK;
    assay__sweep_name(c, name, sizeof name);
    assay__sweep_name(before, other, sizeof other);
    assay__sweep_warn(s, "%s: %s is wrong where %s has run before, and alone it is not: %s",
                      p->text, name, other, text);
    if (before->out)
        return ASSAY_OK;
    return assay__sweep_fate(
        s, p, before,
        assay__fail(ASSAY_CRASH, "spoils the result of the next call, as of %s: %s", name, text));
}

/* The default, or else anybody whose result is known to be right. */
static sweep_candidate *follower_of(sweep_problem *p, const sweep_candidate *before)
{
    sweep_candidate *found = NULL;

    for (size_t i = 0; i < p->count; i++) {
        sweep_candidate *c = &p->candidates[i];
        if (c != before && !c->out && c->checked && (c->is_default || found == NULL))
            found = c;
    }
    return found;
}

/* It fails behind him, and did not before. */
static assay_status failed_behind(sweep *s, sweep_problem *p, sweep_candidate *before,
                                  sweep_candidate *behind, assay__worker **w)
{
    const bool was_shared = s->is_shared;
    char text[sizeof before->reason], name[300], other[300];
    bool again = false;

    assay__text_fit(assay_last_error(), text, sizeof text);
    assay__worker_stop(w);
    ASSAY_TRY(is_his(s, p, before, behind, &again));
    if (!again && was_shared)
        assay__sweep_share_no_more(s, p, behind, text);
    if (!again)
        return ASSAY_OK;
    assay__sweep_name(behind, name, sizeof name);
    assay__sweep_name(before, other, sizeof other);
    assay__sweep_warn(s, "%s: %s failed where %s had run before, and alone it does not: %s",
                      p->text, name, other, text);
    return assay__sweep_fate(s, p, before,
                             assay__fail(ASSAY_CRASH,
                                         "leaves a fault behind that shows in the next call, as of "
                                         "%s: %s",
                                         name, text));
}

/* Likewise, but it is wrong. */
static assay_status wrong_behind(sweep *s, sweep_problem *p, sweep_candidate *before,
                                 sweep_candidate *behind, const char *why, assay__worker **w)
{
    const bool was_shared = s->is_shared;
    bool again = false;

    assay__worker_stop(w);
    ASSAY_TRY(assay__sweep_spoiled(s, p, behind, before, why, &again));
    if (!again && was_shared)
        assay__sweep_share_no_more(s, p, behind, why);
    return ASSAY_OK;
}

/* Where something went wrong the worker ends: who is to show it again uses its memory, and no other
 * problem is to find what it has come to. */
assay_status assay__sweep_follow(sweep *s, sweep_problem *p, assay__worker **w)
{
    sweep_candidate *before = s->served;
    char why[sizeof before->reason];
    bool is_wrong = false;

    if (*w == NULL || before == NULL || before->out)
        return ASSAY_OK;
    sweep_candidate *behind = follower_of(p, before);
    if (behind == NULL)
        return ASSAY_OK;
    const assay_status status = assay__sweep_run_set(s, p, behind, *w, 0);
    if (is_bad_end(s, status))
        return failed_behind(s, p, before, behind, w);
    ASSAY_TRY(status);
    ASSAY_TRY(assay__sweep_is_wrong(s, p, behind, why, sizeof why, &is_wrong));
    return is_wrong ? wrong_behind(s, p, before, behind, why, w) : ASSAY_OK;
}

/* ---- memory of a device ---- */

#define MOST_OTHERS 3

/* A driver may give back what a process held only some time after its end, the later the more. */
static assay_status rehearse_patiently(sweep *s, sweep_problem *p, sweep_candidate *c)
{
    static const long pauses_ms[] = {250, 1000, 3000};
    const size_t tries = 1 + sizeof pauses_ms / sizeof *pauses_ms;
    assay_status status = ASSAY_NOMEM;

    for (size_t i = 0; i < tries && status == ASSAY_NOMEM; i++) {
        const struct timespec pause = {.tv_sec = i > 0 ? pauses_ms[i - 1] / 1000 : 0,
                                       .tv_nsec = i > 0 ? pauses_ms[i - 1] % 1000 * 1000000 : 0};
        assay__worker *w = NULL;
        (void)nanosleep(&pause, NULL);
        ASSAY_TRY(assay__sweep_fresh(s, p, &w));
        status = assay__sweep_rehearse(s, p, c, w);
        assay__worker_stop(&w);
    }
    return status;
}

/* Does anybody else stay at this problem, in a fresh worker?  Those first whose result is known to
 * be right. */
static assay_status others_fit(sweep *s, sweep_problem *p, const sweep_candidate *c, bool *fit)
{
    int tried = 0;

    *fit = false;
    for (int known = 1; known >= 0; known--)
        for (size_t i = 0; i < p->count; i++) {
            sweep_candidate *other = &p->candidates[i];
            if (other == c || other->out || other->checked != (known == 1))
                continue;
            if (tried++ == MOST_OTHERS)
                return ASSAY_OK;
            const assay_status status = rehearse_patiently(s, p, other);
            *fit = status == ASSAY_OK;
            if (*fit || status == ASSAY_NOMEM)
                return ASSAY_OK;
            if (!assay__sweep_is_fate(status))
                return status;
        }
    return ASSAY_OK;
}

/* All that he did, in a worker of his own: where he is checked already, a stay alone would not show
 * what a launch before it has taken. */
static assay_status all_alone(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                              const char *kind)
{
    ASSAY_TRY(assay__sweep_fresh(s, p, w));
    const assay_status status = assay__sweep_rehearse(s, p, c, *w);
    if (status == ASSAY_OK)
        return anew(s, p, c, w, kind);
    assay__worker_stop(w);
    return status;
}

/* Alone there is none for him either: then it is his doing where there is some for others, or else
 * that of the problem, as NOMEM says. */
static assay_status short_alone(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                const char *kind, const char *text)
{
    bool fit = false;

    ASSAY_TRY(others_fit(s, p, c, &fit));
    if (!fit)
        return assay__fail(ASSAY_NOMEM, "%s", text);
    /* Somebody else may have used the device meanwhile. */
    const assay_status status = all_alone(s, p, c, w, kind);
    if (status != ASSAY_NOMEM)
        return assay__sweep_fate(s, p, c, status);
    return assay__sweep_fate(
        s, p, c,
        assay__fail(ASSAY_DEVICE,
                    "there is no memory of the device for it, and for others there is: %s", text));
}

/* Alone there is enough: he who ran before has it, if that comes again. */
static assay_status short_behind(sweep *s, sweep_problem *p, sweep_candidate *c,
                                 sweep_candidate *before, const char *text)
{
    char name[300], other[300];

    assay__sweep_name(c, name, sizeof name);
    assay__sweep_name(before, other, sizeof other);
    assay__sweep_warn(s,
                      "%s: there was no memory for %s where %s had run before, and alone there is",
                      p->text, name, other);
    const assay_status status = before->out ? ASSAY_OK : repeat(s, p, before, c);
    if (status != ASSAY_NOMEM)
        return assay__sweep_is_fate(status) ? ASSAY_OK : status;
    return assay__sweep_fate(s, p, before,
                             assay__fail(ASSAY_CRASH,
                                         "takes the device's memory and keeps it, so that there is "
                                         "none for %s: %s",
                                         name, text));
}

assay_status assay__sweep_short(sweep *s, sweep_problem *p, sweep_candidate *c,
                                sweep_candidate *before, assay__worker **w, const char *kind)
{
    char text[sizeof c->reason];
    assay_status status = ASSAY_NOMEM;

    assay__text_fit(assay_last_error(), text, sizeof text);
    assay__worker_stop(w); /* with whatever it held */
    if (before != NULL && before != c)
        status = all_alone(s, p, c, w, kind);
    if (status == ASSAY_NOMEM)
        return short_alone(s, p, c, w, kind, text);
    ASSAY_TRY(assay__sweep_fate(s, p, c, status));
    return short_behind(s, p, c, before, text);
}

/* ---- leaks ---- */

/* "12 MiB of memory and 40 descriptors" */
static void leak_text(const sweep_candidate *c, char *buf, size_t cap)
{
    const bool has_bytes = c->leaked_bytes > 0, has_fds = c->leaked_fds > 0;
    char memory[112] = "", files[64] = "";

    if (has_bytes)
        (void)snprintf(memory, sizeof memory, "%s of memory",
                       assay__format_bytes((double)c->leaked_bytes).text);
    if (has_fds)
        (void)snprintf(files, sizeof files, "%s%d descriptors", has_bytes ? " and " : "",
                       c->leaked_fds);
    (void)snprintf(buf, cap, SWEEP_LEAKS "%s%s in one stay", memory, files);
}

void assay__sweep_reason(const sweep_candidate *c, char *buf, size_t cap)
{
    char leak[200] = "";

    if (c->leaked_bytes > 0 || c->leaked_fds > 0)
        leak_text(c, leak, sizeof leak);
    (void)snprintf(buf, cap, "%s%s%s", leak, leak[0] != '\0' && c->reason[0] != '\0' ? "; " : "",
                   c->reason);
}

void assay__sweep_note_leak(sweep *s, const sweep_problem *p, sweep_candidate *c,
                            const json_t *reply)
{
    const double bytes = json_number_value(json_object_get(reply, "leaked_bytes"));
    const int fds = (int)json_integer_value(json_object_get(reply, "leaked_fds"));
    const bool is_known = c->leaked_bytes > 0 || c->leaked_fds > 0;
    char text[200], name[300];

    s->is_worker_spent |= bytes > 0 || fds > 0 || json_is_true(json_object_get(reply, "is_spent"));
    if (!(bytes > 0) && fds <= 0)
        return;
    c->leaked_bytes = fmaxf(c->leaked_bytes, (float)bytes);
    c->leaked_fds = fds > c->leaked_fds ? fds : c->leaked_fds;
    if (is_known)
        return;
    leak_text(c, text, sizeof text);
    assay__sweep_name(c, name, sizeof name);
    assay__sweep_warn(s, "%s: %s %s; its worker is replaced", p->text, name, text);
}

/* ---- another chance ---- */

/* By pairs: who crashed here and was wrong there is to be tried here alone. */
bool assay__sweep_is_tried(const sweep *s, const assay_digest *variant,
                           const assay_problem *problem)
{
    const assay__sweep_retry *retry = s->o->retry;

    for (size_t i = 0; retry != NULL && i < retry->count; i++) {
        const assay__sweep_trial *t = &retry->trials[i];
        if (assay_digest_equal(&t->variant, variant) && assay_problem_equal(&t->problem, problem))
            return true;
    }
    return retry == NULL;
}

/* Far behind is right, too. */
assay_status assay__sweep_acquit(sweep *s, sweep_problem *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        const bool is_right = c->verdict == ASSAY__VERDICT_OK || c->verdict == ASSAY__VERDICT_NOISY;
        if (!c->on_trial || !is_right || !(c->screen_ns > 0))
            continue;
        ASSAY_TRY(assay__db_lift_quarantine(s->db, c->revision_row, s->deployment_row, p->row));
        ASSAY_TRY(assay__db_lift_quarantine(s->db, c->revision_row, s->deployment_row, 0));
    }
    return ASSAY_OK;
}

/* ---- what people are told ---- */

static bool is_rejected(const sweep_candidate *c)
{
    return c->verdict == ASSAY__VERDICT_WRONG || c->verdict == ASSAY__VERDICT_CRASHED ||
           c->verdict == ASSAY__VERDICT_TIMEOUT || c->verdict == ASSAY__VERDICT_IMPOSSIBLE ||
           c->verdict == ASSAY__VERDICT_MISTRUSTED;
}

void assay__sweep_tell_fates(const sweep *s, const sweep_problem *p)
{
    for (size_t i = 0; s->o->fate != NULL && p->candidates != NULL && i < p->count; i++) {
        const sweep_candidate *c = &p->candidates[i];
        const assay__fate fate = {p->text,
                                  c->kernel->manifest->name,
                                  c->kernel->desc->name,
                                  c->tunables_text,
                                  c->verdict,
                                  c->reason};
        if (is_rejected(c) && !c->recalled)
            s->o->fate(s->o->cookie, &fate);
    }
}

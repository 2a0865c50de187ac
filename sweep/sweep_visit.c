/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_visit.c -- one visit: a fresh worker times the candidates in random order. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"
#include "tuner/core_clock.h"
#include "tuner/stats.h"
#include "tuner/worker_sense.h"

json_t *assay__sweep_request(const char *cmd, const sweep_candidate *c)
{
    json_t *tunables = json_array();
    char hex[ASSAY_DIGEST_HEX];

    assay_digest_format(&c->kernel->revision, hex);
    for (size_t i = 0; i < c->kernel->desc->tunable_count; i++)
        json_array_append_new(tunables, json_integer(c->tunables[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "cmd", cmd, "backend", c->kernel->manifest->name,
                     "kernel", c->kernel->desc->name, "revision", hex, "tunables", tunables);
}

/* ---- one timed stay ---- */

typedef struct stay {
    double *samples, *kept; /* all, and those that its time is made of */
    size_t count, kept_count;
    int64_t inner, sets;
    assay_clock_info clock;
    double median_ns; /* NaN: none is kept */
    double called_ns;
    char *rejected; /* JSON; NULL: none */
    char *worker;   /* what the worker says of itself, JSON */
    char *device;   /* and of the device, likewise; NULL: nothing */
    char *context;
    const char *stop_reason;
    unsigned noise;
    bool gave_up;       /* a clock stayed low */
    bool is_device_low; /* and it was the device's */
    int64_t shown_set;  /* which inputs the output that it shows is of */
    uint64_t far;       /* the device's digest of that output */
    bool has_far;
    bool by_digest; /* all outputs have the digest that was expected, and none is shown */
} stay;

static void clear_stay(stay *t)
{
    free(t->samples);
    free(t->kept);
    free(t->rejected);
    free(t->worker);
    free(t->device);
    free(t->context);
}

static assay_status read_samples(const json_t *reply, stay *out)
{
    json_t *list;

    ASSAY_TRY(assay__json_get_array(reply, "samples", &list));
    out->count = json_array_size(list);
    if (out->count == 0)
        return assay__fail(ASSAY_DEVICE, "no time came out of its calls");
    out->samples = calloc(out->count > 0 ? out->count : 1, sizeof *out->samples);
    out->kept = calloc(out->count > 0 ? out->count : 1, sizeof *out->kept);
    if (out->samples == NULL || out->kept == NULL)
        return assay__fail(ASSAY_NOMEM, "samples");
    for (size_t i = 0; i < out->count; i++)
        out->samples[i] = json_number_value(json_array_get(list, i));
    ASSAY_TRY(
        assay__sweep_keep(out->samples, out->count, out->rejected, out->kept, &out->kept_count));
    out->median_ns = NAN;
    return out->kept_count > 0 || !out->gave_up
               ? assay__stats_median(out->kept, out->kept_count, &out->median_ns)
               : ASSAY_OK;
}

static assay_status dump_member(const json_t *reply, const char *name, char **out)
{
    const json_t *member = json_object_get(reply, name);

    return member != NULL ? assay__json_dump(member, false, out) : ASSAY_OK;
}

/* A stay ends when its spans are there, which more would not have made better known where the rule
 * holds; the budget, and a clock that stays low, end it before. */
static assay_status find_stop(const sweep *s, stay *t, bool shortened)
{
    const assay_stop_rule rule = {.confidence = 0.95,
                                  .half_width = s->o->profile->precise,
                                  .budget_ns = 1,
                                  .min_samples = 6,
                                  .max_samples = t->kept_count};
    assay_stop stop = ASSAY_STOP_THROTTLED;

    if (!t->gave_up)
        ASSAY_TRY(assay__stop_check(&rule, t->kept, t->kept_count, shortened ? 1.0 : 0.0, &stop));
    t->stop_reason = assay__stop_name(stop);
    return ASSAY_OK;
}

static assay_status read_clock(const json_t *reply, assay_clock_info *clock)
{
    const char *name;
    int64_t quality;

    ASSAY_TRY(assay__json_get_string(reply, "clock.name", &name));
    ASSAY_TRY(assay__json_get_real(reply, "clock.resolution_ns", &clock->resolution_ns));
    ASSAY_TRY(assay__json_get_real(reply, "clock.overhead_ns", &clock->overhead_ns));
    ASSAY_TRY(assay__json_get_int(reply, "clock.quality", &quality));
    (void)snprintf(clock->name, sizeof clock->name, "%s", name);
    clock->quality = (assay_timing_quality)quality;
    return ASSAY_OK;
}

int assay__sweep_timeout_ms(const sweep *s)
{
    return s->o->run_timeout_ms > 0 ? (int)s->o->run_timeout_ms : s->o->profile->run_timeout_ms;
}

/* A stay makes two whole calls at least, each of which may take as long as its check's did. */
int assay__sweep_time_limit_ms(const sweep *s, const sweep_candidate *c)
{
    const assay__profile f = assay__sweep_effort(s);
    const double known_ns = fmax(c->screen_ns, c->run_ns);

    return assay__sweep_timeout_ms(s) + (int)((f.warm_ns + f.budget_ns + 8 * known_ns) * 4 / 1e6) +
           (int)((ASSAY__CLOCK_WAIT_NS + (s->place != NULL ? ASSAY__SENSE_SETTLE_NS : 0)) / 1e6);
}

#define OTHER_SET 1 /* of inputs, see ask_for_other */

/* Of devices without sensors nothing is known. */
static assay_status read_sensors(const json_t *reply, sweep_candidate *c, stay *out)
{
    const char *low = json_string_value(json_object_get(reply, "low_clock"));
    const char *words;

    out->is_device_low = low != NULL && strcmp(low, "device") == 0;
    if (!assay__json_has(reply, "device"))
        return ASSAY_OK;
    ASSAY_TRY(dump_member(reply, "device", &out->device));
    ASSAY_TRY(assay__json_get_string(reply, "device_flags", &words));
    out->noise |= assay__noise_parse(words);
    return assay__json_get_real(reply, "device_mhz", &c->device_mhz);
}

/* ---- digests of outputs by the device ---- */

/* NULL: none is known of the output that the candidate is to give. */
static const sweep_far *find_far(const sweep_problem *p, const sweep_candidate *c)
{
    for (size_t i = 0; i < p->far_count; i++)
        if (p->far[i].digest == c->digest)
            return &p->far[i];
    return NULL;
}

/* The file holds an output that this process has found to be the expected one, and this is what the
 * device says of the same. */
static void learn_far(sweep_problem *p, const sweep_candidate *c, const stay *t)
{
    if (t->has_far && !t->by_digest && t->shown_set == 0 && !c->out && find_far(p, c) == NULL &&
        p->far_count < SWEEP_FARS &&
        assay__output_digest(p->output + p->out.offset, (size_t)p->out.bytes) == c->digest)
        p->far[p->far_count++] = (sweep_far){c->digest, t->far};
}

static assay_status read_far(const json_t *reply, const sweep_problem *p, const sweep_candidate *c,
                             stay *out)
{
    const char *far = json_string_value(json_object_get(reply, "far"));
    const sweep_far *known = find_far(p, c);

    out->has_far = far != NULL && sscanf(far, "%" SCNx64, &out->far) == 1;
    out->by_digest = json_is_true(json_object_get(reply, "by_digest"));
    if (out->by_digest && (known == NULL || !out->has_far || out->far != known->far))
        return assay__fail(ASSAY_CRASH, "its worker shows no output, and not the digest of the "
                                        "right one");
    return ASSAY_OK;
}

static assay_status read_stay(const sweep *s, const json_t *reply, const sweep_problem *p,
                              sweep_candidate *c, stay *out)
{
    bool shortened, steady;

    ASSAY_TRY(dump_member(reply, "rejected", &out->rejected));
    ASSAY_TRY(dump_member(reply, "worker", &out->worker));
    ASSAY_TRY(assay__json_get_bool(reply, "gave_up", &out->gave_up));
    ASSAY_TRY(read_samples(reply, out));
    ASSAY_TRY(assay__json_get_int(reply, "inner", &out->inner));
    ASSAY_TRY(assay__json_get_int(reply, "sets", &out->sets));
    ASSAY_TRY(assay__json_get_int(reply, "shown_set", &out->shown_set));
    if (out->shown_set != 0 && (out->shown_set != OTHER_SET || p->sets <= OTHER_SET))
        return assay__fail(ASSAY_CRASH, "its worker shows an output of no input set");
    ASSAY_TRY(read_far(reply, p, c, out));
    ASSAY_TRY(read_clock(reply, &out->clock));
    ASSAY_TRY(assay__json_get_real(reply, "called_ns", &out->called_ns));
    ASSAY_TRY(assay__json_get_real(reply, "speed", &c->core_speed));
    ASSAY_TRY(read_sensors(reply, c, out));
    ASSAY_TRY(assay__json_get_bool(reply, "shortened", &shortened));
    ASSAY_TRY(assay__json_get_bool(reply, "steady", &steady));
    out->noise |= steady ? 0u : (unsigned)ASSAY__NOISE_UNSTEADY;
    out->noise |= assay__json_has(reply, "rejected.clock") ? (unsigned)ASSAY__NOISE_CLOCK : 0u;
    return find_stop(s, out, shortened);
}

static assay_status call_under_load(sweep *s, sweep_candidate *c, assay__worker *w, json_t *request,
                                    json_t **reply)
{
    assay_status status = assay__sweep_load_on(s);

    if (status != ASSAY_OK) {
        json_decref(request);
        return status;
    }
    status = assay__worker_call(w, request, NULL, 0, assay__sweep_time_limit_ms(s, c), reply);
    if (status == ASSAY_OK) {
        status = assay__sweep_load_off(s);
        if (status != ASSAY_OK) {
            json_decref(*reply);
            *reply = NULL;
        }
    } else
        assay__worker_stop(&s->loader); /* the text of what the kernel did must stay */
    return status;
}

/* What is published is called with other inputs, too, where those of a timed call lay: in
 * confirming visits, and the default, which may have none, in its last one before them. */
static bool wants_other(const sweep *s, const sweep_candidate *c, const char *kind)
{
    return strcmp(kind, "confirm") == 0 || (strcmp(kind, "measure") == 0 && c->is_default &&
                                            c->visit_count + 1 == s->o->profile->visits);
}

static void ask_for_other(const sweep_problem *p, const sweep_candidate *c, json_t *request)
{
    char expected[20];

    if (p->sets <= OTHER_SET || assay__reads_output(&p->problem))
        return;
    (void)snprintf(expected, sizeof expected, "%016" PRIx64, c->digests[OTHER_SET]);
    json_object_set_new(request, "other", json_integer(OTHER_SET));
    json_object_set_new(request, "other_expected", json_string(expected));
}

json_int_t assay__sweep_span_seed(const sweep *s, const sweep_problem *p, const sweep_candidate *c,
                                  const char *kind)
{
    char name[300];

    assay__sweep_name(c, name, sizeof name);
    return (json_int_t)(assay__sweep_draw(s, "spans %s %zu %s %s", kind, s->visit.ordinal, p->text,
                                          name) >>
                        40);
}

static json_t *time_request(const sweep *s, const sweep_problem *p, const sweep_candidate *c,
                            const char *kind)
{
    const bool screening = strcmp(kind, "screen") == 0;
    const assay__profile f = assay__sweep_effort(s);
    json_t *request = assay__sweep_request("time", c);
    const sweep_far *far = find_far(p, c);
    char expected[20];

    (void)snprintf(expected, sizeof expected, "%016" PRIx64, c->digest);
    json_object_update_new(
        request,
        json_pack("{s:s, s:i, s:i, s:f, s:i, s:f, s:f, s:f, s:I, s:f}", "expected", expected,
                  "cache", (int)s->o->policy.cache, "span", (int)s->o->policy.span, "span_ns",
                  f.span_ns, "spans", screening ? 3 : (int)f.spans, "warm_ns",
                  screening ? f.warm_ns / 2 : f.warm_ns, "budget_ns",
                  screening ? f.budget_ns / 4 : f.budget_ns, "rotate_bytes", s->rotate_bytes,
                  "seed", assay__sweep_span_seed(s, p, c, kind), "speed", c->core_speed));
    json_object_set_new(request, "device_mhz", json_real(c->device_mhz));
    if (far != NULL) {
        (void)snprintf(expected, sizeof expected, "%016" PRIx64, far->far);
        json_object_set_new(request, "expected_far", json_string(expected));
    }
    if (s->o->strict)
        json_object_set_new(request, "strict", json_true());
    return request;
}

/* What the worker does not tell of is the way to it and back. */
static void add_around(sweep *s, const json_t *reply, double seconds)
{
    s->around_s += seconds;
    if (json_object_get(reply, "phases") != NULL)
        s->phase_s[ASSAY__PHASE_asking] += fmax(0, seconds - assay__phases_add(reply, s->phase_s));
}

static assay_status time_candidate(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w,
                                   const char *kind, stay *out)
{
    json_t *request = time_request(s, p, c, kind), *reply = NULL;
    const double begin_s = assay__sweep_now_s(s);
    assay_status status;

    if (wants_other(s, c, kind))
        ask_for_other(p, c, request);
    status = call_under_load(s, c, w, request, &reply);
    if (status == ASSAY_OK)
        assay__sweep_note_leak(s, p, c, reply);
    if (status == ASSAY_OK)
        status = read_stay(s, reply, p, c, out);
    /* What failed does not say what its calls took, and may have hung until its limit. */
    const double took_s = assay__sweep_now_s(s) - begin_s;
    s->timed_ns += status == ASSAY_OK ? out->called_ns : 1e9 * took_s;
    if (status == ASSAY_OK)
        add_around(s, reply, fmax(0, took_s - 1e-9 * out->called_ns));
    json_decref(reply);
    return status;
}

assay_status assay__sweep_rehearse(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w)
{
    stay t = {0};
    assay_status status = assay__sweep_run_set(s, p, c, w, 0);

    if (status == ASSAY_OK)
        status = time_candidate(s, p, c, w, "screen", &t);
    clear_stay(&t);
    return status;
}

void assay__sweep_begin_twin(sweep_candidate *c)
{
    c->twin_ns = 0;
    c->has_time = false;
}

void assay__sweep_pair_twin(sweep_candidate *c, size_t limit)
{
    if (!(c->twin_ns > 0) || !c->has_time)
        return;
    if (c->twin_count >= limit)
        memmove(c->twin_logs, c->twin_logs + 1, --c->twin_count * sizeof c->twin_logs[0]);
    c->twin_logs[c->twin_count++] = log(c->twin_ns / c->visit_ns[c->visit_count - 1]);
    c->twin_ns = 0;
}

/* The stay as its own rival says what equals show; it is no part of the variant's time. */
static void book_twin(sweep_candidate *c, const stay *t)
{
    c->twin_ns = t->median_ns;
    assay__sweep_pair_twin(c, SWEEP_VISITS);
}

static void book_measured(sweep_candidate *c, const stay *t)
{
    if (c->visit_count >= SWEEP_VISITS)
        return;
    c->visit_ns[c->visit_count++] = t->median_ns;
    c->has_time = true;
    assay__sweep_pair_twin(c, SWEEP_VISITS);
}

static void book_samples(sweep_candidate *c, const stay *t, const char *kind)
{
    if (strcmp(kind, "twin") == 0) {
        book_twin(c, t);
        return;
    }
    if (strcmp(kind, "screen") == 0)
        c->screen_ns = t->median_ns;
    else if (strcmp(kind, "confirm") == 0 && c->confirm_count < SWEEP_VISITS)
        c->confirm_ns[c->confirm_count++] = t->median_ns;
    else if (strcmp(kind, "measure") == 0)
        book_measured(c, t);
    c->sample_count += t->kept_count;
    c->rejected += t->count - t->kept_count;
    for (size_t i = 0; i < t->kept_count; i++)
        if (!(c->min_ns <= t->kept[i]))
            c->min_ns = t->kept[i];
}

static assay_status put_visit(sweep *s, sweep_problem *p, sweep_candidate *c, const stay *t,
                              const char *kind)
{
    bool is_twin = strcmp(kind, "twin") == 0;
    char flags[80];
    assay__db_visit row = {.kind = is_twin ? "measure" : kind,
                           .is_twin = is_twin,
                           .samples = t->samples,
                           .sample_count = t->count,
                           .inner = t->inner,
                           .ratio = NAN,
                           .clock = t->clock,
                           .context_json = t->context,
                           .flags = flags,
                           .rejected_json = t->rejected,
                           .stop_reason = t->stop_reason};
    int64_t id;
    assay_status status;

    (void)assay__noise_words(t->noise, flags, sizeof flags);
    ASSAY_TRY(assay__db_begin(s->db));
    status = assay__sweep_put_measurement(s, p, c);
    row.measurement = c->measurement_row;
    /* The twin that came first is of the visit whose time is still to come. */
    row.ordinal =
        (int64_t)(c->visit_count + c->confirm_count + (is_twin && !c->has_time ? 1u : 0u));
    if (status == ASSAY_OK)
        status = assay__db_put_visit(s->db, &row, &id);
    if (status != ASSAY_OK) {
        assay__db_rollback(s->db);
        return status;
    }
    return assay__db_commit(s->db);
}

/* A median below what the machine can do says that the timer is broken, or the result. */
static assay_status check_floor(sweep *s, const sweep_problem *p, sweep_candidate *c, const stay *t)
{
    bool impossible = false;

    ASSAY_TRY(assay__sweep_below_floor(s, p, c, t->median_ns, (double)t->sets, &impossible));
    if (!impossible)
        return ASSAY_OK;
    c->verdict = ASSAY__VERDICT_IMPOSSIBLE;
    (void)snprintf(c->reason, sizeof c->reason, "%.0f ns is below the roofline floor",
                   t->median_ns);
    c->out = true;
    s->summary->impossible++;
    return ASSAY_OK;
}

/* Its other visits would have no pairs, so it makes none; whatever is there stays in the store. */
static void give_up(sweep *s, sweep_candidate *c, const stay *t)
{
    c->verdict = ASSAY__VERDICT_THROTTLED;
    (void)snprintf(c->reason, sizeof c->reason,
                   "the %s's clock stayed below %.0f %% of the fastest that this ran at: of %zu "
                   "samples %zu were left out",
                   t->is_device_low ? "device" : "core", 100 * ASSAY__CLOCK_LEAST, t->count,
                   t->count - t->kept_count);
    c->out = true;
    c->rejected += t->count - t->kept_count;
    s->summary->throttled++;
}

static assay_status take_stay(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker *w,
                              const char *kind, stay *t)
{
    unsigned noise = 0;

    assay__environment_begin(&s->environment);
    ASSAY_TRY(time_candidate(s, p, c, w, kind, t));
    ASSAY_TRY(assay__environment_end(&s->environment, t->worker, t->device, t->called_ns,
                                     &t->context, &noise));
    t->noise |= noise;
    return ASSAY_OK;
}

static assay_status book_stay(sweep *s, const sweep_problem *p, sweep_candidate *c, const stay *t,
                              const char *kind)
{
    if (!c->out && t->gave_up)
        give_up(s, c, t);
    if (t->gave_up)
        return ASSAY_OK;
    if (!c->out)
        ASSAY_TRY(check_floor(s, p, c, t));
    book_samples(c, t, kind);
    return ASSAY_OK;
}

static double end_phase(sweep *s, assay__phase phase, double begin_s)
{
    const double now_s = assay__sweep_now_s(s);

    s->phase_s[phase] += now_s - begin_s;
    return now_s;
}

static assay_status stay_of(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                            const char *kind)
{
    stay t = {0};
    assay_status status = take_stay(s, p, c, *w, kind, &t);

    /* Before anything is booked: what fails here may be tried again. */
    double begin_s = assay__sweep_now_s(s);
    if (status == ASSAY_OK && !t.by_digest)
        status = assay__sweep_recheck(s, p, c, w, (size_t)t.shown_set);
    if (status == ASSAY_OK)
        learn_far(p, c, &t);
    begin_s = end_phase(s, ASSAY__PHASE_judging, begin_s);
    if (status == ASSAY_OK)
        status = book_stay(s, p, c, &t, kind);
    if (status == ASSAY_OK)
        status = put_visit(s, p, c, &t, kind);
    (void)end_phase(s, ASSAY__PHASE_storing, begin_s);
    if (status == ASSAY_OK)
        s->summary->measured++;
    clear_stay(&t);
    return status;
}

/* ---- the visit ---- */

/* Has the candidate had its share of this kind of visit already (before a resume, say)? */
static bool had_enough(const sweep_candidate *c, const char *kind, size_t ordinal)
{
    if (strcmp(kind, "screen") == 0)
        return c->screen_ns > 0;
    if (strcmp(kind, "confirm") == 0)
        return !c->contender || c->confirm_count > ordinal;
    return c->settled || c->visit_count > ordinal;
}

typedef struct place {
    size_t index;
    bool is_twin;
    uint64_t key;
} place;

static int by_key(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Every second visit goes the other way round: whatever the first of two stays has ahead of the
 * second it then has behind, and no ratio over both visits keeps any of it. */
static void put_in_order(place *list, size_t n, size_t ordinal)
{
    qsort(list, n, sizeof *list, by_key);
    for (size_t i = 0; ordinal % 2 == 1 && i < n / 2; i++) {
        place other = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = other;
    }
}

/* The same in both visits of a pair. */
static place place_at(const sweep *s, const sweep_problem *p, size_t index, bool is_twin)
{
    char name[300];

    assay__sweep_name(&p->candidates[index], name, sizeof name);
    return (place){index, is_twin,
                   assay__sweep_draw(s, "place %s %zu %s %s%s", s->visit.kind, s->visit.ordinal / 2,
                                     p->text, name, is_twin ? " twin" : "")};
}

/* The default of a measuring visit stays twice, at places of their own as if it were two; not when
 * only those in doubt are visited, nor where a problem
 * has little time. */
static size_t order_of(sweep *s, sweep_problem *p, const char *kind, size_t ordinal, place *list)
{
    sweep_candidate *base = &p->candidates[p->default_index];
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++)
        if (!p->candidates[i].out && !had_enough(&p->candidates[i], kind, ordinal))
            list[n++] = place_at(s, p, i, false);
    if (strcmp(kind, "measure") == 0 && ordinal < s->o->profile->visits && !base->out &&
        !p->is_heavy && !had_enough(base, kind, ordinal))
        list[n++] = place_at(s, p, p->default_index, true);
    assay__sweep_begin_twin(base);
    put_in_order(list, n, ordinal);
    return n;
}

/* A heavy problem is screened as far as its time goes: those first that are likely to win.  What
 * comes earlier or later has no part in a decision, as screening only drops who is far behind. */
static assay_status put_likely_first(const sweep *s, const sweep_problem *p, place *list, size_t n)
{
    size_t *order = calloc(n + 1, sizeof *order);
    assay_status status;

    if (order == NULL)
        return assay__fail(ASSAY_NOMEM, "visit order");
    for (size_t i = 0; i < n; i++)
        order[i] = list[i].index;
    status = assay__sweep_rank(s, p, order, n);
    for (size_t i = 0; i < n; i++)
        list[i] = (place){.index = order[i]};
    free(order);
    return status;
}

/* Seconds inside calls so far. */
static double called_s(const sweep *s)
{
    return s->checked_s + 1e-9 * s->timed_ns;
}

assay_status assay__sweep_attempt(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                                  const char *kind)
{
    assay_status status = ASSAY_OK;

    if (*w == NULL) {
        ASSAY_TRY(assay__sweep_join(s, p, w));
        assay__sweep_started(s, p);
    }
    if (!c->checked)
        status = assay__sweep_check(s, p, c, w);
    if (status == ASSAY_OK && !c->out)
        status = stay_of(s, p, c, w, kind);
    return status;
}

/* What is held there of a device's memory for other problems is no matter of this one: once more in
 * a worker of its own, unless there is somebody of this problem to look at first. */
static assay_status attempt_with_room(sweep *s, sweep_problem *p, sweep_candidate *c,
                                      const sweep_candidate *before, assay__worker **w,
                                      const char *kind)
{
    const assay_status status = assay__sweep_attempt(s, p, c, w, kind);

    if (status != ASSAY_NOMEM || !s->is_shared || (before != NULL && before != c))
        return status;
    assay__worker_stop(w);
    c->checked = c->checked && c->verdict != ASSAY__VERDICT_NONE;
    return assay__sweep_attempt(s, p, c, w, kind);
}

static assay_status visit_one(sweep *s, sweep_problem *p, sweep_candidate *c, assay__worker **w,
                              const char *kind)
{
    const double before_s = called_s(s);
    sweep_candidate *before = *w != NULL ? s->served : NULL;
    assay_status status = attempt_with_room(s, p, c, before, w, kind);

    if (assay__sweep_is_fate(status))
        status = assay__sweep_blame(s, p, c, before, w, kind, status);
    else if (status == ASSAY_NOMEM && s->place != NULL)
        status = assay__sweep_short(s, p, c, before, w, kind);
    if (*w != NULL && (s->is_worker_spent || !assay__worker_alive(*w)))
        assay__worker_stop(w);
    s->served = c;
    p->spent_s += called_s(s) - before_s;
    return status;
}

/* A problem is left where the device's memory does not suffice; on the host that ends the sweep. */
static assay_status left_for_memory(sweep *s, sweep_problem *p, assay_status status)
{
    return status == ASSAY_NOMEM && s->place != NULL ? assay__sweep_leave_problem(s, p) : status;
}

static assay_status follow_last(sweep *s, sweep_problem *p, assay__worker **w)
{
    const double before_s = called_s(s);
    const assay_status status = assay__sweep_follow(s, p, w);

    p->spent_s += called_s(s) - before_s;
    return left_for_memory(s, p, status);
}

assay_status assay__sweep_visit(sweep *s, sweep_problem *p, const char *kind, size_t ordinal)
{
    const bool is_search = strcmp(kind, "screen") == 0;
    place *order = calloc(p->count + 1, sizeof *order);
    assay__worker *w = NULL;
    assay_status status = ASSAY_OK;
    size_t n;

    if (order == NULL)
        return assay__fail(ASSAY_NOMEM, "visit order");
    s->visit.kind = kind;
    s->visit.ordinal = ordinal;
    n = order_of(s, p, kind, ordinal, order);
    if (is_search && (p->is_heavy || assay__sweep_is_short(p, n)))
        status = put_likely_first(s, p, order, n);
    for (size_t i = 0; status == ASSAY_OK && i < n && !p->skip; i++) {
        sweep_candidate *c = &p->candidates[order[i].index];
        if (is_search && assay__sweep_pass_over(s, p, c))
            continue;
        status = assay__sweep_check_stop(s);
        if (status == ASSAY_OK && is_search)
            p->allowance -= p->allowance > 0;
        if (status == ASSAY_OK)
            status =
                left_for_memory(s, p, visit_one(s, p, c, &w, order[i].is_twin ? "twin" : kind));
        /* What was cut short is no stay: not for the pace, nor in what people read. */
        if (status == ASSAY_OK && !p->skip)
            status = assay__sweep_step(s, kind, p, c);
    }
    if (status == ASSAY_OK && is_search && !p->skip)
        status = follow_last(s, p, &w);
    assay__sweep_leave(s, p, &w);
    /* The file stays; its pages are no part of this process until it looks again. */
    if (p->output != NULL)
        (void)madvise(p->output, p->out.total, MADV_DONTNEED);
    free(order);
    return status;
}

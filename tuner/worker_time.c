/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_time.c -- timing one variant: operand sets to rotate over, warm-up, spans. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/error.h"
#include "tuner/core_clock.h"
#include "tuner/pace.h"
#include "tuner/stats.h"
#include "tuner/switches.h"
#include "tuner/worker.h"
#include "tuner/worker_apart.h"
#include "tuner/worker_guard.h"
#include "tuner/worker_sense.h"

#define MAX_INNER 1000000u
#define SPAN_CALL 1 /* assay_policy.span */

typedef struct timing {
    double span_ns, warm_ns, budget_ns;
    size_t spans, inner;
    double asked_span_ns; /* before the clock and the budget had their say */
    size_t asked_spans;
    bool calls;      /* whole calls are timed, the host's cost included */
    json_t *samples; /* NULL: warming up */
    bool is_rough;   /* nobody keeps what the calls under way take */
    double total_ns, last_ns;
    double called_ns; /* in all calls, those to warm up included */
    bool is_bad;      /* a span took bad_ns, which no clock can have shown */
    double bad_ns;
    bool is_steady; /* calls took the same time when the warm-up ended, or it had none */
    double cold_bytes;
    json_t *switched;    /* how often the CPU was taken away, a sample each; NULL: nobody asks */
    json_t *speeds;      /* of the core's clock, a sample each; NULL: nobody watches it */
    double newest_speed; /* 0: none */
    assay__core_clock core;
    assay__clock_guard guard;
    assay__sense sense; /* the device's sensors */
    bool gave_up;       /* the clock stayed low */
    size_t calm_from;   /* samples before this place were disturbed, and others taken for them */
    size_t cold;        /* so many of them were taken with nothing warm, and never count */
    size_t retakes;
    bool is_strict;      /* samples in which the CPU was taken away are left out */
    bool bears_switches; /* but for spans, or a machine, that never are without */
    size_t switch_tries;
    assay__switches switches;
    bool is_endless;        /* a call takes so long that one is timed */
    bool no_longer_endless; /* and what was timed says that it does not */
    bool is_held;
    assay__guard_held held; /* after the first call */
    size_t held_calls;      /* since then */
    assay__phases *phases;  /* borrowed: of the problem */
} timing;

/* Into the time of calls, and out of that beside them. */
static void add_called(timing *t, double ns)
{
    t->called_ns += ns;
    assay__phases_called(t->phases, ns);
}

static void sense_span(timing *t)
{
    const assay__phase from = assay__phases_go(t->phases, ASSAY__PHASE_sensors);

    assay__sense_span(&t->sense);
    (void)assay__phases_go(t->phases, from);
}

static void take_span(void *cookie, double span_ns, size_t inner)
{
    timing *t = cookie;

    t->held_calls += inner;
    /* One call may take less than a step of the clock; many do not. */
    if (t->samples == NULL && inner == 1 && span_ns >= 0 && span_ns <= 0) {
        t->last_ns = 0;
        return;
    }
    if (!(span_ns > 0 && span_ns < 1e18)) {
        t->is_bad = true;
        t->bad_ns = span_ns;
        return;
    }
    t->last_ns = span_ns / (double)inner;
    t->total_ns += span_ns;
    add_called(t, span_ns);
    if (t->samples == NULL)
        return;
    json_array_append_new(t->samples, json_real(t->last_ns));
    if (t->switched != NULL)
        json_array_append_new(t->switched, json_integer(assay__switches_more(&t->switches)));
    sense_span(t);
    if (t->speeds == NULL)
        return;
    const double speed = t->core.speed(t->core.cookie);
    t->newest_speed = speed;
    assay__clock_guard_saw(&t->guard, speed);
    json_array_append_new(t->speeds, json_real(speed));
}

/* Also of spans that failed. */
static assay_status call_measure(const assay__worker_kernel *k, timing *t,
                                 const assay_measure *what, assay_clock_info *clock)
{
    const assay__phase from =
        assay__phases_go(t->phases, t->samples != NULL ? ASSAY__PHASE_spans : ASSAY__PHASE_warm);
    const assay_status status = t->calls ? assay__backend_measure_calls(k->backend, what, clock)
                                         : assay__backend_measure(k->backend, what, clock);

    t->called_ns += assay__phases_measured(t->phases);
    (void)assay__phases_go(t->phases, from);
    return status;
}

static assay_status measure(const assay__worker_kernel *k, const assay__worker_pool *p, timing *t,
                            size_t inner, size_t spans, assay_cache_mode cache,
                            assay_clock_info *clock)
{
    const assay_measure what = {.struct_size = sizeof what,
                                .run = k->desc->run,
                                .launches = p->launches,
                                .launch_count = p->sets,
                                .inner = inner,
                                .spans = spans,
                                .cache = cache,
                                .sink = take_span,
                                .cookie = t,
                                .is_rough = t->is_rough};

    ASSAY_TRY(assay__worker_blame(k->backend, call_measure(k, t, &what, clock)));
    if (!(clock->resolution_ns >= 0 && clock->resolution_ns < 1e18 && clock->overhead_ns >= 0 &&
          clock->overhead_ns < 1e18 && (unsigned)clock->quality <= ASSAY_TIMING_COUNTERS))
        return assay__fail(ASSAY_NUMERIC,
                           "its timer has steps of %g ns, an overhead of %g ns and quality %d",
                           clock->resolution_ns, clock->overhead_ns, (int)clock->quality);
    /* No time at all would be an infinite speed, and NaN would be lost on its way. */
    if (t->is_bad)
        return assay__fail(ASSAY_NUMERIC, "its timer says that %zu calls took %g ns", inner,
                           t->bad_ns);
    return ASSAY_OK;
}

/* One span over the `sets` operand sets from `first` on. */
static assay_status probe(const assay__worker_kernel *k, const assay__worker_pool *p, timing *t,
                          size_t inner, size_t first, size_t sets, assay_cache_mode cache,
                          assay_clock_info *clock)
{
    assay__worker_pool some = *p;

    some.launches += first;
    some.sets = sets;
    t->is_rough = true;
    const assay_status status = measure(k, &some, t, inner, 1, cache, clock);
    t->is_rough = false;
    return status;
}

static size_t calls_in(double ns, double each_ns)
{
    double calls = ns / (each_ns > 1 ? each_ns : 1);

    if (calls < 1)
        return 1;
    return calls > MAX_INNER ? MAX_INNER : (size_t)calls + 1;
}

#define WARM_PARTS   4    /* of warm_ns, at least */
#define STEADY_PARTS 3    /* that took as long as each other */
#define STEADY       1.05 /* up to that */
#define WARM_AT_MOST 2    /* times warm_ns, where they never do */

static bool are_steady(const double *parts)
{
    double least = parts[0], most = parts[0];

    for (size_t i = 1; i < STEADY_PARTS; i++) {
        least = fmin(least, parts[i]);
        most = fmax(most, parts[i]);
    }
    return most <= STEADY * least;
}

/* On until the newest parts took the same time: clocks rise, code is compiled, threads start, and
 * how long that takes nobody knows beforehand. */
static assay_status warm_steadily(const assay__worker_kernel *k, const assay__worker_pool *p,
                                  timing *t, assay_cache_mode cache, assay_clock_info *clock)
{
    const size_t calls = calls_in((t->warm_ns - t->total_ns) / WARM_PARTS, t->last_ns);
    double parts[STEADY_PARTS];

    t->is_steady = false;
    for (size_t n = 0; t->total_ns < WARM_AT_MOST * t->warm_ns; n++) {
        ASSAY_TRY(probe(k, p, t, calls, 0, 1, cache, clock));
        parts[n % STEADY_PARTS] = t->last_ns;
        t->is_steady = n + 1 >= STEADY_PARTS && are_steady(parts);
        if (t->is_steady && t->total_ns >= t->warm_ns)
            break;
    }
    return ASSAY_OK;
}

/* From the end of the first call of the stay on. */
static void hold(timing *t)
{
    if (t->is_held)
        return;
    assay__guard_hold(&t->held);
    t->is_held = true;
    t->held_calls = 0;
}

/* After so many calls. */
static bool shows_endless(const timing *t, size_t calls)
{
    const size_t untimed = assay__pace_endless_calls(t->last_ns);

    return !t->no_longer_endless && untimed > 0 && untimed <= calls;
}

/* A second call takes no longer than the first, unless it was held up: then neither says that calls
 * take so long, nor was that time to warm up in. */
static assay_status probe_again(const assay__worker_kernel *k, const assay__worker_pool *p,
                                timing *t, assay_cache_mode cache, assay_clock_info *clock)
{
    const double first_ns = t->last_ns;

    ASSAY_TRY(probe(k, p, t, 1, 0, 1, cache, clock));
    if (first_ns > 0 && t->last_ns > first_ns) {
        t->last_ns = first_ns;
        t->total_ns = 2 * first_ns;
    }
    return ASSAY_OK;
}

/* Untimed calls on one set for warm_ns or more; leaves the time of a call in t->last_ns. */
static assay_status warm_up(const assay__worker_kernel *k, const assay__worker_pool *p, timing *t,
                            assay_cache_mode cache, assay_clock_info *clock)
{
    t->samples = NULL;
    t->total_ns = 0;
    t->is_steady = true;
    ASSAY_TRY(probe(k, p, t, 1, 0, 1, cache, clock)); /* page faults, JIT, thread start */
    hold(t);
    t->is_endless = shows_endless(t, 1);
    if (t->is_endless)
        return ASSAY_OK;
    ASSAY_TRY(probe_again(k, p, t, cache, clock));
    t->is_endless = shows_endless(t, 2);
    /* A first call that compiled, or met a device that was idle, has warmed nothing. */
    if (clock->quality >= ASSAY_TIMING_DEVICE)
        t->total_ns = fmin(t->total_ns, 2 * t->last_ns);
    return !t->is_endless && t->total_ns < t->warm_ns ? warm_steadily(k, p, t, cache, clock)
                                                      : ASSAY_OK;
}

/* Steps of the clock and its overhead must be small beside a span, though not at any price; of
 * span_ns 0 each call is a span. */
#define SPAN_STEPS     1000
#define SPAN_OVERHEADS 100
#define SPAN_LIMIT_NS  5e6

static double long_enough(double span_ns, const assay_clock_info *clock)
{
    const double least =
        fmax(SPAN_STEPS * clock->resolution_ns, SPAN_OVERHEADS * clock->overhead_ns);

    return span_ns > 0 && least > span_ns ? fmax(span_ns, fmin(least, SPAN_LIMIT_NS)) : span_ns;
}

/* At least span_ns a span; lengthened by up to a fifth so that spans do not fall in step with a
 * timer. */
static size_t choose_inner(const timing *t, uint64_t seed)
{
    double wanted = t->span_ns / (t->last_ns > 1 ? t->last_ns : 1);

    wanted *= 1.0 + (double)(seed % 1000) / 5000.0;
    if (wanted < 1)
        return 1;
    return wanted > MAX_INNER ? MAX_INNER : (size_t)wanted + 1;
}

/* As many spans as asked for, or as fit the budget; at least one. */
static size_t choose_spans(const timing *t)
{
    double fit = t->budget_ns / (t->last_ns * (double)t->inner + 1);

    if (t->is_endless || fit < 1)
        return 1;
    return fit < (double)t->spans ? (size_t)fit : t->spans;
}

static void reply_clock(json_t *reply, const assay_clock_info *clock)
{
    json_object_set_new(reply, "clock",
                        json_pack("{s:s, s:f, s:f, s:i}", "name", clock->name, "resolution_ns",
                                  clock->resolution_ns, "overhead_ns", clock->overhead_ns,
                                  "quality", (int)clock->quality));
}

/* Spans that go round all sets begin with the same one each, so that a device apart is given one
 * graph of the rotation for all of them, and is busy longer for what a span costs beside its calls.
 * Calls; 0: they would take too long. */
#define ROUND_NS 1.5e6

static size_t calls_round(const timing *t, const assay__worker_pool *p, size_t inner)
{
    const size_t rounds = (inner + p->sets - 1) / p->sets, calls = rounds * p->sets;
    const double span_ns = (double)calls * fmax(t->last_ns, 1);

    if (p->apart == NULL || p->sets < 2 || calls > MAX_INNER || span_ns > ROUND_NS ||
        span_ns * (double)t->spans > t->budget_ns)
        return 0;
    return calls;
}

/* A set for every launch of the untimed span and of the timed ones, or as many as exceed the
 * caches. Calls on operands from memory take longer than the warm ones that say so, so that inner
 * and spans will rather be fewer. */
static size_t sets_for(const assay__worker_pool *p, const timing *t, uint64_t seed)
{
    timing plan = *t;
    double launches;

    plan.inner = choose_inner(&plan, seed);
    if (calls_round(&plan, p, plan.inner) > 0)
        return p->sets;
    launches =
        (double)calls_in(t->span_ns, t->last_ns) + (double)plan.inner * (double)choose_spans(&plan);
    return launches < (double)p->sets ? (size_t)launches : p->sets;
}

/* One untimed span as the timed ones will be, over sets that these come to last: they must find
 * theirs as cold as the rest.  Where operands are so small that the rotation goes round within
 * caches it goes round once, so that the first timed span finds what the others do. */
static assay_status lead_in(const assay__worker_kernel *k, const assay__worker_pool *p, timing *t,
                            assay_cache_mode cache, assay_clock_info *clock)
{
    size_t calls = calls_in(t->span_ns, t->last_ns), sets;

    if (p->sets == ASSAY__WORKER_POOL_SETS && calls < ASSAY__WORKER_POOL_SETS)
        calls = ASSAY__WORKER_POOL_SETS;
    sets = calls < p->sets ? calls : p->sets;
    return probe(k, p, t, calls, p->sets - sets, sets, cache, clock);
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A kernel may be quick since it knows from a call before what its operands give.  One more call,
 * with set `other` where the launch `at` had its own; what that gives goes where an output is shown
 * if it is not what is expected of that set. */
static assay_status call_with_other(assay__worker_problem *w, const assay__worker_kernel *k,
                                    timing *t, size_t at, json_t *request, bool *shown)
{
    const size_t other = (size_t)json_integer_value(json_object_get(request, "other"));
    const char *expected = json_string_value(json_object_get(request, "other_expected"));
    char *output;

    ASSAY_TRY(assay__worker_pool_refill(w, at, other));
    ASSAY_TRY(assay__worker_pool_poison(w, at));
    double begin = now_ns();
    assay_status status = assay__backend_launch(k->backend, k->desc->run, &w->pool->launches[at]);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(k->backend);
    if (!t->core.is_scripted) /* time passes in timed calls alone there */
        add_called(t, now_ns() - begin);
    ASSAY_TRY(assay__worker_blame(k->backend, status));
    ASSAY_TRY(assay__worker_pool_output(w, at, &output));
    *shown = expected == NULL ||
             !assay__worker_output_is(output + w->out.offset, (size_t)w->out.bytes, expected);
    if (*shown)
        memcpy((char *)w->output + w->out.offset, output + w->out.offset, (size_t)w->out.bytes);
    return assay__worker_pool_refill(w, at, 0);
}

/* ---- the timed spans ---- */

typedef struct run {
    assay__worker_problem *w;
    const assay__worker_kernel *k;
    timing *t;
    assay__worker_pool some; /* the sets that the spans rotate over */
    assay_cache_mode cache;
    uint64_t seed;
    assay_clock_info clock;
    size_t calls;                   /* timed ones since the outputs were poisoned */
    const assay__worker_pass *pass; /* NULL: nobody counts */
    assay__sense_history *history;  /* borrowed: of the worker */
} run;

static bool is_at_low_clock(const timing *t, size_t i)
{
    if (assay__sense_is_low(&t->sense, i))
        return true;
    return t->speeds != NULL &&
           assay__clock_guard_is_slow(&t->guard, json_number_value(json_array_get(t->speeds, i)));
}

/* Samples that were taken while the clock was low, of those that are not disturbed besides. */
static size_t slow_samples(const timing *t, const json_t *samples)
{
    size_t slow = 0;

    for (size_t i = t->calm_from; i < json_array_size(samples); i++)
        slow += is_at_low_clock(t, i);
    return slow;
}

/* ---- strict: the CPU that was taken away ---- */

/* What runs longer than the scheduler's slice has it taken away each time. */
#define SLICE_NS 3e6

static bool is_beyond_slice(const timing *t)
{
    return t->is_endless || t->last_ns * (double)t->inner > SLICE_NS;
}

static bool is_switched(const timing *t, size_t i)
{
    return t->switched != NULL && !t->bears_switches &&
           json_integer_value(json_array_get(t->switched, i)) > 0;
}

/* Of those that are neither disturbed nor at a low clock besides. */
static size_t switched_samples(const timing *t)
{
    size_t n = 0;

    for (size_t i = t->calm_from; t->switched != NULL && i < json_array_size(t->switched); i++)
        n += is_switched(t, i) && !is_at_low_clock(t, i);
    return n;
}

/* ---- spans ---- */

/* At most `spans`, on operands that are as cold as those of any other stay. */
static assay_status take_spans(run *r, size_t spans, json_t *samples)
{
    timing *t = r->t;
    assay_status status;

    t->samples = NULL;
    ASSAY_TRY(assay__worker_pool_aim(r->w, r->k, r->some.sets));
    if (r->cache != ASSAY_CACHE_HOT) {
        const assay__phase from = assay__phases_go(t->phases, ASSAY__PHASE_cool);
        t->cold_bytes = assay__worker_pool_cool(r->w, r->some.sets);
        (void)assay__phases_go(t->phases, from);
    }
    if (!t->is_endless)
        ASSAY_TRY(lead_in(r->k, &r->some, t, r->cache, &r->clock));
    if (t->inner == 0) {
        t->inner = choose_inner(t, r->seed);
        if (r->some.sets == r->w->pool->sets && calls_round(t, &r->some, t->inner) > 0)
            t->inner = calls_round(t, &r->some, t->inner);
        t->spans = choose_spans(t);
        t->bears_switches = is_beyond_slice(t);
    }
    spans = t->spans < spans ? t->spans : spans;
    t->samples = samples;
    r->calls = t->inner * spans;
    if (r->pass != NULL)
        ASSAY_TRY(r->pass->begin(r->pass->cookie));
    if (t->switched != NULL)
        assay__switches_begin(&t->switches);
    /* One call: the rotation must go on from span to span. */
    status = measure(r->k, &r->some, t, t->inner, spans, r->cache, &r->clock);
    return r->pass != NULL ? r->pass->end(r->pass->cookie, r->calls, status) : status;
}

/* ---- the device under load ---- */

#define LOAD_NS       5e6 /* a reading may take some milliseconds */
#define LOAD_CALLS    1024u
#define LEAST_LOAD_NS 1e5 /* counts as that at least */
#define RESTLESS_NS   20e6

/* Untimed calls, and a reading while they run.  Calls that are endless have been the load. */
static assay_status load_device(run *r, double *took_ns)
{
    timing *t = r->t;
    size_t calls = t->is_endless ? 0 : calls_in(LOAD_NS, t->last_ns);
    const double begin = now_ns();

    calls = calls < LOAD_CALLS ? calls : LOAD_CALLS;
    ASSAY_TRY(assay__sense_load(&t->sense, r->k->desc->run, r->w->pool->launches, calls));
    *took_ns = t->core.is_scripted ? (double)calls * t->last_ns : now_ns() - begin;
    if (calls > 0)
        add_called(t, *took_ns);
    t->held_calls += calls;
    return ASSAY_OK;
}

/* A device comes from its idle clock to that of the load in its own time.  Where it never arrived
 * the stays behind do not wait as long again. */
static assay_status warm_device(run *r)
{
    timing *t = r->t;
    const double limit_ns = r->history->is_restless ? RESTLESS_NS : ASSAY__SENSE_SETTLE_NS;
    double spent_ns = 0, took_ns = 0;
    bool is_settled = false;

    if (t->sense.backend == NULL)
        return ASSAY_OK;
    while (!is_settled && spent_ns < limit_ns) {
        ASSAY_TRY(load_device(r, &took_ns));
        spent_ns += fmax(took_ns, LEAST_LOAD_NS);
        is_settled = assay__sense_is_settled(&t->sense, r->history) || t->is_endless;
    }
    r->history->is_restless = !is_settled;
    t->is_steady = t->is_steady && is_settled;
    return ASSAY_OK;
}

static void wait_ns(timing *t, double ns)
{
    const assay__phase from = assay__phases_go(t->phases, ASSAY__PHASE_pauses);

    t->core.pause(t->core.cookie, ns);
    (void)assay__phases_go(t->phases, from);
}

/* Waits, and warms up again, or gives up. */
static assay_status wait_for_clock(run *r, size_t slow)
{
    timing *t = r->t;
    const double lost_ns = (double)slow * t->last_ns * (double)t->inner;
    double pause_ns;

    t->gave_up = !assay__clock_guard_wait(&t->guard, lost_ns, &pause_ns);
    if (t->gave_up)
        return ASSAY_OK;
    wait_ns(t, pause_ns);
    t->samples = NULL;
    ASSAY_TRY(
        probe(r->k, &r->some, t, calls_in(t->warm_ns, t->last_ns), 0, 1, r->cache, &r->clock));
    return t->sense.backend != NULL ? load_device(r, &pause_ns) : ASSAY_OK;
}

/* Whatever else the machine does comes in bursts of a tenth of a second and more: on a virtual
 * machine something held the core up for 0.2 ms again and again, without the guest seeing a switch,
 * a fault or stolen time, so that in one stay of five the median was more than half above what the
 * least span took.  A median needs most spans to be good ones. */
#define BURST       1.5 /* the median over the least: more is one */
#define BURST_SPANS 3   /* fewer tell nothing */
#define BURST_MOST  256 /* more need no help */
#define RETAKES     3
static const double burst_pause_ns[RETAKES] = {5e6, 20e6, 60e6};

/* What a low clock lengthened is no burst, and is taken again for that reason. */
static bool is_burst(const timing *t, const json_t *samples)
{
    double values[BURST_MOST], least = INFINITY, median;
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(samples); i++) {
        const double value = json_number_value(json_array_get(samples, i));
        least = fmin(least, value);
        if (i < t->calm_from || is_at_low_clock(t, i) || is_switched(t, i))
            continue;
        if (n == BURST_MOST)
            return false;
        values[n++] = value;
    }
    return n >= BURST_SPANS && assay__stats_median(values, n, &median) == ASSAY_OK &&
           median > BURST * least;
}

/* True: all spans so far are to be left out and taken again, after a pause.  Where no try is calm
 * it is the kernel whose calls differ, or the machine that is never calm: then all of them count.
 */
static bool wait_for_calm(run *r, const json_t *samples)
{
    timing *t = r->t;

    if (!is_burst(t, samples))
        return false;
    if (t->retakes == RETAKES) {
        t->calm_from = t->cold;
        return false;
    }
    t->calm_from = json_array_size(samples);
    wait_ns(t, burst_pause_ns[t->retakes++]);
    return true;
}

/* Spans that are missing yet, where so many count for nothing. */
static size_t missing(const timing *t, const json_t *samples, size_t bad)
{
    const size_t good = json_array_size(samples) - t->calm_from - bad;

    return good < t->spans ? t->spans - good : 0;
}

/* After some tries it is a machine that is never idle: then all of them count. */
static bool gives_in(timing *t)
{
    if (switched_samples(t) == 0 || t->switch_tries++ < RETAKES)
        return false;
    return t->bears_switches = true;
}

/* As many good ones as wanted: for those that were taken in a burst, while the clock was low, or
 * with the CPU taken away, others are taken, and all are told. */
static assay_status time_spans(run *r, json_t *samples)
{
    timing *t = r->t;
    size_t wanted = t->spans, slow = 0;

    do {
        const size_t before = slow;
        ASSAY_TRY(take_spans(r, wanted, samples));
        const bool again = wait_for_calm(r, samples);
        slow = slow_samples(t, samples);
        wanted = missing(t, samples, slow + switched_samples(t));
        if (wanted > 0 && gives_in(t))
            wanted = missing(t, samples, slow);
        if (missing(t, samples, slow) > 0 && !again)
            ASSAY_TRY(wait_for_clock(r, slow > before ? slow - before : 0));
    } while (wanted > 0 && !t->gave_up);
    return ASSAY_OK;
}

static void reply_far(const assay__worker_shown *shown, json_t *reply)
{
    char text[20];

    if (!shown->has_far)
        return;
    (void)snprintf(text, sizeof text, "%016" PRIx64, shown->far);
    json_object_set_new(reply, "far", json_string(text));
    if (!shown->is_there)
        json_object_set_new(reply, "by_digest", json_true());
}

static assay_status show_output(run *r, json_t *request, json_t *reply)
{
    const char *far = json_string_value(json_object_get(request, "expected_far"));
    const json_t *wanted = json_object_get(request, "other");
    assay__worker_shown shown = {.expected =
                                     json_string_value(json_object_get(request, "expected"))};
    bool other = false;

    shown.has_far = far != NULL && sscanf(far, "%" SCNx64, &shown.far) == 1;
    ASSAY_TRY(assay__worker_pool_show(r->w, r->some.sets, r->calls, &shown));
    if (wanted != NULL && shown.as_expected)
        ASSAY_TRY(
            call_with_other(r->w, r->k, r->t, (r->calls - 1) % r->some.sets, request, &other));
    if (!other)
        reply_far(&shown, reply);
    return assay__json_put_int(reply, "shown_set", other ? json_integer_value(wanted) : 0);
}

/* As far as the timed spans. */
static assay_status warm_variant(run *r)
{
    timing *t = r->t;

    ASSAY_TRY(assay__worker_pool_aim(r->w, r->k, 1));
    r->w->pool->touched = r->w->pool->touched > 0 ? r->w->pool->touched : 1;
    ASSAY_TRY(warm_up(r->k, r->w->pool, t, r->cache, &r->clock));
    ASSAY_TRY(warm_device(r));
    t->span_ns = long_enough(t->span_ns, &r->clock);
    r->some = *r->w->pool;
    r->some.sets = sets_for(r->w->pool, t, r->seed);
    return ASSAY_OK;
}

/* Of a device with a clock of its own the host's says nothing. */
static bool is_on_host(const run *r)
{
    assay_device_info info = {.struct_size = sizeof info};

    return r->clock.quality == ASSAY_TIMING_HOST ||
           (r->clock.quality == ASSAY_TIMING_ENQUEUE_WAIT &&
            assay__backend_device_info(r->k->backend, 0, &info) == ASSAY_OK && info.is_cpu);
}

/* A call that was held up, or that compiled first, looks like one that takes as long; the timed one
 * then shows that none does. */
static bool was_misjudged(const timing *t)
{
    return t->is_endless && !t->gave_up && t->last_ns < ASSAY__ENDLESS_NS / 2;
}

/* All as it was asked for, and what is timed so far left out: nothing was warm. */
static assay_status time_anew(run *r, json_t *samples)
{
    timing *t = r->t;

    t->no_longer_endless = true;
    t->calm_from = t->cold = json_array_size(samples);
    t->retakes = t->inner = 0;
    t->spans = t->asked_spans;
    t->span_ns = t->asked_span_ns;
    ASSAY_TRY(warm_variant(r));
    return time_spans(r, samples);
}

static assay_status time_variant(run *r, json_t *request, json_t *reply)
{
    json_t *samples = json_array();

    ASSAY_TRY(assay__json_put_take(reply, "samples", samples));
    ASSAY_TRY(warm_variant(r));
    if (is_on_host(r) || r->t->core.is_scripted) {
        r->t->speeds = json_array();
        r->t->switched = r->t->is_strict ? json_array() : NULL;
    }
    ASSAY_TRY(time_spans(r, samples));
    if (was_misjudged(r->t))
        ASSAY_TRY(time_anew(r, samples));
    assay__guard_report(&r->t->held, r->t->held_calls, reply);
    return show_output(r, request, reply);
}

/* ---- the reply ---- */

/* What the operating system counted for all threads of this process. */
static json_t *usage_json(const struct rusage *a, const struct rusage *b, double speed)
{
    json_t *all = json_pack("{s:I, s:I, s:I}", "switches_involuntary",
                            (json_int_t)(b->ru_nivcsw - a->ru_nivcsw), "switches_voluntary",
                            (json_int_t)(b->ru_nvcsw - a->ru_nvcsw), "faults_minor",
                            (json_int_t)(b->ru_minflt - a->ru_minflt));

    if (speed > 0)
        json_object_set_new(all, "core_speed", json_real(speed));
    return all;
}

/* NULL: it counts. */
static const char *reason_of(const timing *t, size_t i)
{
    if (is_at_low_clock(t, i))
        return "clock";
    if (i < t->calm_from)
        return "disturbed";
    return is_switched(t, i) ? "switched" : NULL;
}

/* Samples left out are told with the reason, each with one; nobody else knows why. */
static assay_status reply_rejected(const timing *t, json_t *reply)
{
    const size_t count = json_array_size(json_object_get(reply, "samples"));
    json_t *rejected = json_object();

    for (size_t i = 0; i < count; i++) {
        const char *reason = reason_of(t, i);
        if (reason == NULL)
            continue;
        if (json_object_get(rejected, reason) == NULL)
            json_object_set_new(rejected, reason, json_array());
        json_array_append_new(json_object_get(rejected, reason), json_integer((json_int_t)i));
    }
    if (json_object_size(rejected) > 0)
        return assay__json_put_take(reply, "rejected", rejected);
    json_decref(rejected);
    return ASSAY_OK;
}

static bool is_device_low(const timing *t)
{
    for (size_t i = 0; i < json_array_size(t->sense.speeds); i++)
        if (assay__sense_is_low(&t->sense, i))
            return true;
    return false;
}

static assay_status reply_timing(const run *r, json_t *reply)
{
    const timing *t = r->t;

    reply_clock(reply, &r->clock);
    json_object_set_new(reply, "inner", json_integer((json_int_t)t->inner));
    json_object_set_new(reply, "sets", json_integer((json_int_t)r->some.sets));
    json_object_set_new(reply, "called_ns", json_real(t->called_ns));
    if (r->cache != ASSAY_CACHE_HOT)
        json_object_set_new(reply, "cold_bytes", json_real(t->cold_bytes));
    json_object_set_new(reply, "steady", json_boolean(t->is_steady));
    json_object_set_new(reply, "shortened", json_boolean(t->spans < t->asked_spans));
    json_object_set_new(reply, "gave_up", json_boolean(t->gave_up));
    json_object_set_new(reply, "speed", json_real(t->guard.fastest));
    if (t->gave_up)
        json_object_set_new(reply, "low_clock", json_string(is_device_low(t) ? "device" : "core"));
    ASSAY_TRY(assay__sense_reply(&t->sense, reply));
    /* On a scripted clock time passes in calls alone. */
    if (!t->core.is_scripted)
        ASSAY_TRY(assay__phases_reply(t->phases, reply));
    return reply_rejected(t, reply);
}

static assay_status time_and_tell(run *r, json_t *request, json_t *reply)
{
    struct rusage before, after;

    (void)getrusage(RUSAGE_SELF, &before);
    ASSAY_TRY(time_variant(r, request, reply));
    (void)getrusage(RUSAGE_SELF, &after);
    ASSAY_TRY(reply_timing(r, reply));
    return assay__json_put_take(reply, "worker", usage_json(&before, &after, r->t->newest_speed));
}

/* What a request asks for; the kernel to *k, the rest to *t and *r. */
static assay_status read_request(assay__worker_state *s, json_t *request, assay__worker_kernel *k,
                                 timing *t, run *r)
{
    const bool hot = json_integer_value(json_object_get(request, "cache")) == ASSAY_CACHE_HOT;
    const double rotate = json_number_value(json_object_get(request, "rotate_bytes"));

    ASSAY_TRY(assay__worker_kernel_find(s, request, k));
    ASSAY_TRY(assay__core_clock_get(&t->core));
    t->span_ns = json_number_value(json_object_get(request, "span_ns"));
    t->warm_ns = json_number_value(json_object_get(request, "warm_ns"));
    t->budget_ns = json_number_value(json_object_get(request, "budget_ns"));
    t->spans = (size_t)json_integer_value(json_object_get(request, "spans"));
    t->asked_span_ns = t->span_ns;
    t->asked_spans = t->spans;
    t->calls = json_integer_value(json_object_get(request, "span")) == SPAN_CALL;
    t->is_strict = json_is_true(json_object_get(request, "strict"));
    ASSAY_TRY(assay__switches_get(&t->switches));
    assay__clock_guard_init(&t->guard, json_number_value(json_object_get(request, "speed")));
    *r = (run){.w = s->prepared,
               .k = k,
               .t = t,
               .cache = hot ? ASSAY_CACHE_HOT : ASSAY_CACHE_ROTATE,
               .history = &s->clocks,
               .seed = (uint64_t)json_integer_value(json_object_get(request, "seed"))};
    t->phases = &s->prepared->phases;
    assay__phases_begin(t->phases, k->backend);
    (void)assay__phases_go(t->phases, ASSAY__PHASE_sets);
    const assay_status status = assay__worker_pool_use(s->prepared, k->backend, hot ? 0 : rotate);
    (void)assay__phases_go(t->phases, ASSAY__PHASE_other);
    return status;
}

assay_status assay__worker_time(assay__worker_state *s, json_t *request, json_t *reply)
{
    timing t = {.samples = NULL};
    assay__worker_kernel k;
    assay_status status;
    run r;

    ASSAY_TRY(read_request(s, request, &k, &t, &r));
    (void)assay__phases_go(t.phases, ASSAY__PHASE_sensors);
    assay__sense_begin(&t.sense, k.backend,
                       json_number_value(json_object_get(request, "device_mhz")));
    assay__phases_ask(t.phases, t.sense.before.costs);
    (void)assay__phases_go(t.phases, ASSAY__PHASE_other);
    status = time_and_tell(&r, request, reply);
    assay__sense_clear(&t.sense);
    json_decref(t.speeds);
    json_decref(t.switched);
    return status;
}

assay_status assay__worker_passes(assay__worker_state *s, json_t *request, size_t passes,
                                  const assay__worker_pass *pass)
{
    timing t = {.samples = NULL};
    assay__worker_kernel k;
    run r;

    ASSAY_TRY(read_request(s, request, &k, &t, &r));
    r.pass = pass;
    ASSAY_TRY(warm_variant(&r));
    for (size_t i = 0; i < passes; i++)
        ASSAY_TRY(take_spans(&r, 1, NULL));
    return ASSAY_OK;
}

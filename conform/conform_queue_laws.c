/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_queue_laws.c -- rules on what a queue keeps, whom it holds up, and which failure
 * it tells.
 *
 * A delay that was planned shows who waits for whom: what is held up is not ended yet.  Where the
 * machine itself was slower than the delay the question is asked again, with a longer one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conform/conform_raw.h"
#include "conform/conform_slots.h"

enum { N = 16, TRIES = 3 };
#define FIRST_DELAY_NS 100000000u /* twice as long with each try */

static bool can_fault(const assay__conform *c)
{
    return assay_engine_supports(c->engine, ASSAY_FEATURE_FAULT_INJECTION);
}
#define NEEDS_FAULTS                                                             \
    do {                                                                         \
        if (!can_fault(c))                                                       \
            return assay__conform_skip(c, "the backend has no fault_injection"); \
    } while (0)

static assay_status plan(const assay__conform *c, assay_fault_kind kind, uint64_t delay_ns)
{
    const assay_fault fault = {
        .struct_size = sizeof fault, .kind = kind, .times = 1, .delay_ns = delay_ns};

    return assay_engine_inject(c->engine, &fault);
}

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- what it keeps ---- */

/* As a caller whose variables are gone: what stands there now is of another launch. */
static void overwrite(assay__raw *raw, const assay__conform_work *other)
{
    raw->operands[0].buffer = other->a;
    raw->operands[1].buffer = raw->operands[2].buffer = other->y;
    (void)assay_problem_set_int(&raw->problem, "n", 1);
    for (int i = 0; i < 3; i++)
        raw->operands[i].dims[0] = 1;
    memset(raw->tunables, 0x77, sizeof raw->tunables);
    memset(&raw->launch, 0, sizeof raw->launch);
}

static assay__conform_verdict tell_of_caller(assay__conform *c, assay__conform_verdict verdict)
{
    char why[300];

    if (verdict != ASSAY__CONFORM_FAIL)
        return verdict;
    (void)snprintf(why, sizeof why, "%.299s", c->reason);
    return assay__conform_fail(c,
                               "a queued launch used its caller's problem, operands or tunables, "
                               "which were overwritten when launch had returned; copy them: %s",
                               why);
}

static assay__conform_verdict launch_and_forget(assay__conform *c, assay__raw *raw,
                                                const assay__conform_work *other,
                                                assay_queue *queue)
{
    /* Without planned delays work of before keeps the queue busy, as long as that may be. */
    for (int i = 0; i < 32 && !can_fault(c); i++)
        ASSAY__FINE(assay__conform_work_run(c->engine, other, queue));
    if (can_fault(c))
        ASSAY__FINE(plan(c, ASSAY_FAULT_DELAY, FIRST_DELAY_NS));
    ASSAY__FINE(assay__raw_launch(c->engine, raw, queue));
    overwrite(raw, other);
    assay__conform_about("what its caller gave was overwritten when it had returned");
    ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    assay__conform_about(NULL);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_copies_its_arguments(assay__conform *c)
{
    assay__conform_work w, other;
    assay_queue *queue = NULL;
    assay__raw *raw = malloc(sizeof *raw);

    ASSAY__HOLDS(raw != NULL, "no memory");
    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__PART(assay__conform_work_make(c, N, &other));
    ASSAY__PART(assay__raw_make(c, &w, raw));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &queue));
    ASSAY__PART(tell_of_caller(c, launch_and_forget(c, raw, &other, queue)));
    ASSAY__PART(tell_of_caller(c, assay__conform_work_check(c, &w, 1)));
    ASSAY__PART(tell_of_caller(c, assay__conform_work_check(c, &other, can_fault(c) ? 0 : 32)));
    free(raw);
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

/* ---- whom it holds up ---- */

assay__conform_verdict assay__conform_queue_lets_its_caller_go(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;
    double delay = 0.0, took = 0.0;

    NEEDS_FAULTS;
    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &queue));
    for (int i = 0; i < TRIES && took >= delay; i++) {
        delay = (double)((uint64_t)FIRST_DELAY_NS << i);
        ASSAY__FINE(plan(c, ASSAY_FAULT_DELAY, (uint64_t)delay));
        const double begin = now_ns();
        ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
        took = now_ns() - begin;
        ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
    }
    ASSAY__HOLDS(took < delay,
                 "a launch into a queue that takes %g ms longer returned after %g ms; it is to "
                 "return at once",
                 delay / 1e6, took / 1e6);
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

typedef struct pair {
    assay__conform_work held, free;
    assay_queue *held_up, *beside;
    assay_event *event; /* behind what is held up */
} pair;

/* *beside: the second queue ended what it had while the first still ran. */
static assay__conform_verdict try_beside(assay__conform *c, const pair *p, uint64_t delay_ns,
                                         bool *beside)
{
    const struct timespec begins = {0, 10000000};
    bool ended = true;

    ASSAY__FINE(plan(c, ASSAY_FAULT_DELAY, delay_ns));
    ASSAY__FINE(assay__conform_work_run(c->engine, &p->held, p->held_up));
    ASSAY__FINE(assay_engine_event_record(c->engine, p->event, p->held_up));
    (void)nanosleep(&begins, NULL); /* the delay is its own then */
    ASSAY__FINE(assay__conform_work_run(c->engine, &p->free, p->beside));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, p->beside));
    ASSAY__FINE(assay_engine_event_ready(c->engine, p->event, &ended));
    *beside = !ended;
    ASSAY__FINE(assay_engine_queue_wait(c->engine, p->held_up));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_queue_runs_beside_others(assay__conform *c)
{
    pair p = {.held_up = NULL};
    bool beside = false;

    NEEDS_FAULTS;
    ASSAY__PART(assay__conform_work_make(c, N, &p.held));
    ASSAY__PART(assay__conform_work_make(c, N, &p.free));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &p.held_up));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &p.beside));
    ASSAY__FINE(assay_engine_event_create(c->engine, &p.event));
    for (int i = 0; i < TRIES && !beside; i++)
        ASSAY__PART(try_beside(c, &p, (uint64_t)FIRST_DELAY_NS << i, &beside));
    ASSAY__HOLDS(beside, "a launch in one queue waited for one in another, which was held up; "
                         "queues run beside each other");
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &p.event));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &p.held_up));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &p.beside));
    return ASSAY__CONFORM_PASS;
}

/* ---- which failure it tells ---- */

/* A launch into the queue has failed, and nobody was told. */
static assay__conform_verdict fail_one(assay__conform *c, const assay__conform_work *w,
                                       assay_queue *queue)
{
    assay_event *event = NULL;

    ASSAY__FINE(plan(c, ASSAY_FAULT_LAUNCH, 0));
    ASSAY__FINE(assay__conform_work_run(c->engine, w, queue));
    ASSAY__FINE(assay_engine_event_create(c->engine, &event));
    ASSAY__FINE(assay_engine_event_record(c->engine, event, queue));
    ASSAY__FINE(assay_engine_event_wait(c->engine, event)); /* tells nothing */
    ASSAY__FINE(assay_engine_event_destroy(c->engine, &event));
    return ASSAY__CONFORM_PASS;
}

/* The second is the loss of the device, which another status tells from the first. */
assay__conform_verdict assay__conform_queue_tells_first_failure(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *queue = NULL;

    NEEDS_FAULTS;
    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &queue));
    ASSAY__PART(fail_one(c, &w, queue));
    ASSAY__FINE(plan(c, ASSAY_FAULT_LOST, 0));
    const assay_status second = assay__conform_work_run(c->engine, &w, queue);
    ASSAY__HOLDS(second == ASSAY_OK || second == ASSAY_DEVICE_LOST,
                 "a launch into a queue of a device that is lost by then gave %s",
                 assay_status_name(second));
    ASSAY__GIVES(assay_engine_queue_wait(c->engine, queue), ASSAY_DEVICE); /* and its text */
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    return ASSAY__CONFORM_PASS;
}

/* Its own failure, to who waits for it; a destroyed queue takes it along. */
assay__conform_verdict assay__conform_queue_keeps_failures_apart(assay__conform *c)
{
    assay__conform_work w;
    assay_queue *failed = NULL, *sound = NULL;

    NEEDS_FAULTS;
    ASSAY__PART(assay__conform_work_make(c, N, &w));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &failed));
    ASSAY__FINE(assay_engine_queue_create(c->engine, &sound));
    ASSAY__PART(fail_one(c, &w, failed));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, sound));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, sound));
    ASSAY__GIVES(assay_engine_queue_wait(c->engine, failed), ASSAY_DEVICE);
    ASSAY__PART(fail_one(c, &w, failed));
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, failed));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &failed)); /* waits for the last */
    ASSAY__PART(assay__conform_work_check(c, &w, 2));
    ASSAY__FINE(assay_engine_queue_wait(c->engine, sound));
    ASSAY__FINE(assay_engine_flush(c->engine));
    ASSAY__FINE(assay_engine_synchronize(c->engine));
    ASSAY__FINE(assay_engine_queue_destroy(c->engine, &sound));
    return ASSAY__CONFORM_PASS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_queue.c -- launches of host plug-ins: at once, or in queues beside the caller.
 *
 * A queue is a thread and a ring of jobs that hold all they need, so that a launch into it
 * allocates nothing; a full ring makes the caller wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/host_backend.h"

enum { RING = 64 };

typedef struct job {
    assay_kernel_fn run; /* NULL: an event passes */
    assay_event *event;
    assay_launch launch; /* as given, its pointers into this job */
    assay_problem problem;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    int64_t tunables[ASSAY_MAX_TUNABLES];
} job;

struct assay_queue {
    assay_queue *next; /* of the instance's list, its lock held */
    assay_instance *instance;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below; never taken with the instance's held by this thread */
    pthread_cond_t changed;
    uint64_t added, ended; /* jobs; job number n lies at n % RING */
    bool closed;           /* takes no more, and the thread ends when it has run what there is */
    bool joined;
    bool going; /* is being destroyed; with `holders` under the instance's lock */
    unsigned holders;
    uint64_t generation; /* of the instance when it was made */
    assay_status failed; /* first since the last wait */
    assay_error_detail detail;
    char why[256];
    job ring[RING];
};

struct assay_event {
    assay_event *next;  /* of the instance's list, its lock held */
    assay_queue *queue; /* of the last record; NULL: none, it passed at once */
    _Atomic uint64_t recorded, passed;
    _Atomic uint64_t time_ns; /* when it passed last */
    uint64_t generation;
};

#include "runtime/queue_hold.h" /* wants the structures */

/* ---- running one ---- */

static void sleep_ns(uint64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    while (nanosleep(&left, &left) != 0)
        ;
}

/* Faults, then the kernel. */
static assay_status run_now(assay_instance *instance, assay_kernel_fn run,
                            const assay_launch *launch)
{
    uint64_t delay_ns = 0;

    ASSAY_TRY(assay__host_alive(instance, "launch"));
    assay__host_count(instance, ASSAY__HOST_COUNT_launches, 1);
    if (assay__host_fault_due(instance, ASSAY_FAULT_DELAY, &delay_ns))
        sleep_ns(delay_ns);
    if (assay__host_fault_due(instance, ASSAY_FAULT_LAUNCH, NULL))
        return assay__host_fail(instance, ASSAY_DEVICE, "launch: fails as it was asked to");
    return run(launch);
}

static assay_status run_job(assay_queue *q, const job *j)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch resolved;

    assay__host_clear_text(); /* that of a job before is no reason */
    ASSAY_TRY(assay__host_resolve(q->instance, &j->launch, &resolved, operands, 0));
    resolved.queue = NULL; /* a kernel's own launches run at once */
    return run_now(q->instance, j->run, &resolved);
}

/* What went wrong is kept where who waits can see it: texts are each thread's own. */
static void keep_failure(assay_queue *q, assay_status status)
{
    if (q->failed != ASSAY_OK)
        return;
    q->failed = status;
    q->detail = (assay_error_detail){.status = status, .generation = q->generation};
    const char *text = assay__host_last_text();
    snprintf(q->why, sizeof q->why, "%.255s", text[0] != '\0' ? text : "the kernel gave no reason");
}

static void end_job(assay_queue *q, job *j)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch unused;

    if (j->run != NULL) {
        (void)assay__host_resolve(q->instance, &j->launch, &unused, operands, -1);
        return;
    }
    atomic_store(&j->event->time_ns, assay__host_now_ns());
    atomic_fetch_add(&j->event->passed, 1);
}

static void *work(void *cookie)
{
    assay_queue *q = cookie;

    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (q->ended == q->added && !q->closed)
            pthread_cond_wait(&q->changed, &q->lock);
        if (q->ended == q->added)
            break;
        job *j = &q->ring[q->ended % RING];
        pthread_mutex_unlock(&q->lock);
        assay_status status = j->run != NULL ? run_job(q, j) : ASSAY_OK;
        end_job(q, j);
        pthread_mutex_lock(&q->lock);
        if (status != ASSAY_OK)
            keep_failure(q, status);
        q->ended++;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- queues ---- */

assay_status assay__host_queue_create(assay_instance *instance, assay_queue **out)
{
    ASSAY_TRY(assay__host_alive(instance, "queue_create"));
    assay_queue *q = calloc(1, sizeof *q);
    if (q == NULL || pthread_mutex_init(&q->lock, NULL) != 0) {
        free(q);
        return assay__host_fail(instance, ASSAY_NOMEM, "queue_create: no memory");
    }
    (void)pthread_cond_init(&q->changed, NULL);
    q->instance = instance;
    if (pthread_create(&q->thread, NULL, work, q) != 0) {
        pthread_cond_destroy(&q->changed);
        pthread_mutex_destroy(&q->lock);
        free(q);
        return assay__host_fail(instance, ASSAY_NOMEM,
                                "queue_create: no thread; the process has too many");
    }
    pthread_mutex_lock(&instance->lock);
    q->generation = instance->generation;
    q->next = instance->queues;
    instance->queues = q;
    atomic_store(&instance->has_queues, true);
    pthread_mutex_unlock(&instance->lock);
    *out = q;
    return ASSAY_OK;
}

static assay_status fail_void(const assay_instance *instance, const char *what)
{
    return assay__host_fail(instance, ASSAY_GENERATION,
                            "%s: it is from before the device was recovered; make it anew", what);
}

/* Keeps a queue of ours from being destroyed meanwhile.  any_age: one of another generation too. */
static assay_status hold(assay_instance *instance, assay_queue *queue, bool any_age)
{
    const assay_status status = assay__queue_hold(instance, queue, any_age);

    if (status == ASSAY_FOREIGN)
        return assay__host_fail(instance, status,
                                "no queue of this instance; wait for it where it was made");
    return status == ASSAY_GENERATION ? fail_void(instance, "queue") : status;
}

static void let_go(assay_instance *instance, assay_queue *queue)
{
    pthread_mutex_lock(&instance->lock);
    assay__queue_let_go(instance, queue);
    pthread_mutex_unlock(&instance->lock);
}

/* What was added still runs. */
static void close_queue(assay_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const bool join = !q->joined;
    q->closed = q->joined = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (join)
        pthread_join(q->thread, NULL);
}

static void free_queue(assay_queue *q)
{
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

static void unlink_queue(assay_instance *instance, assay_queue *queue)
{
    assay_queue **link = &instance->queues;

    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    for (assay_event *e = instance->events; e != NULL; e = e->next)
        if (e->queue == queue)
            e->queue = NULL; /* it has passed */
}

assay_status assay__host_queue_destroy(assay_instance *instance, assay_queue *queue)
{
    ASSAY_TRY(hold(instance, queue, true));
    pthread_mutex_lock(&instance->lock);
    queue->going = true;
    while (queue->holders > 1)
        pthread_cond_wait(&instance->let_go, &instance->lock);
    pthread_mutex_unlock(&instance->lock);
    close_queue(queue);
    pthread_mutex_lock(&instance->lock);
    unlink_queue(instance, queue);
    pthread_mutex_unlock(&instance->lock);
    free_queue(queue);
    return ASSAY_OK;
}

/* Takes the failure that is kept, so that it is told once. */
static assay_status take_failure(assay_queue *q)
{
    assay_status failed = q->failed;
    const assay_error_detail detail = q->detail;

    q->failed = ASSAY_OK;
    if (failed == ASSAY_OK)
        return ASSAY_OK;
    return assay__host_fail_detail(q->instance, &detail, "queued launch: %s", q->why);
}

/* Lock held. */
static void wait_for_added(assay_queue *q)
{
    const uint64_t until = q->added;

    while (q->ended < until)
        pthread_cond_wait(&q->changed, &q->lock);
}

static void run_out(assay_queue *q)
{
    pthread_mutex_lock(&q->lock);
    wait_for_added(q);
    pthread_mutex_unlock(&q->lock);
}

static assay_status drain(assay_queue *q)
{
    pthread_mutex_lock(&q->lock);
    wait_for_added(q);
    assay_status status = take_failure(q);
    pthread_mutex_unlock(&q->lock);
    return status;
}

assay_status assay__host_queue_wait(assay_instance *instance, assay_queue *queue)
{
    ASSAY_TRY(hold(instance, queue, false));
    assay_status status = drain(queue);
    let_go(instance, queue);
    return status;
}

/* The first queue, or the one behind a held one, which is let go; held, NULL at the end. */
static assay_queue *next_held(assay_instance *instance, assay_queue *before)
{
    pthread_mutex_lock(&instance->lock);
    assay_queue *q = before != NULL ? before->next : instance->queues;
    while (q != NULL && q->going)
        q = q->next;
    if (q != NULL)
        q->holders++;
    if (before != NULL)
        assay__queue_let_go(instance, before);
    pthread_mutex_unlock(&instance->lock);
    return q;
}

/* Every queue is waited for; the first failure is told, the others stay with their queues. */
assay_status assay__host_synchronize(assay_instance *instance)
{
    assay_status status = ASSAY_OK;

    if (!atomic_load_explicit(&instance->has_queues, memory_order_acquire))
        return ASSAY_OK; /* every launch has ended when it returns */
    for (assay_queue *q = next_held(instance, NULL); q != NULL; q = next_held(instance, q))
        if (status == ASSAY_OK)
            status = drain(q);
        else
            run_out(q);
    return status;
}

/* Of an instance that nobody uses any more, when it is to forget; else before a recover. */
void assay__host_close_queues(assay_instance *instance, bool forget)
{
    for (assay_queue *q = next_held(instance, NULL); q != NULL; q = next_held(instance, q))
        close_queue(q);
    while (forget && instance->queues != NULL) {
        assay_queue *q = instance->queues;
        instance->queues = q->next;
        free_queue(q);
    }
    while (forget && instance->events != NULL) {
        assay_event *e = instance->events;
        instance->events = e->next;
        free(e);
    }
}

/* ---- adding ---- */

/* The place for the next job, queue locked; NULL: it takes no more. */
static job *next_place(assay_queue *q)
{
    while (q->added - q->ended >= RING && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    return q->closed ? NULL : &q->ring[q->added % RING];
}

static void added(assay_queue *q)
{
    q->added++;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void fill_job(job *j, assay_kernel_fn run, const assay_launch *launch)
{
    j->run = run;
    j->event = NULL;
    j->launch = *launch;
    if (launch->problem != NULL)
        j->problem = *launch->problem;
    memcpy(j->operands, launch->operands, launch->operand_count * sizeof *launch->operands);
    if (launch->tunables != NULL)
        memcpy(j->tunables, launch->tunables, launch->tunable_count * sizeof *launch->tunables);
    j->launch.problem = launch->problem != NULL ? &j->problem : NULL;
    j->launch.operands = j->operands;
    j->launch.tunables = launch->tunables != NULL ? j->tunables : NULL;
}

static assay_status check_queued(const assay_instance *instance, const assay_launch *launch)
{
    if (launch->struct_size < sizeof *launch ||
        (launch->tunables != NULL && launch->tunable_count > ASSAY_MAX_TUNABLES))
        return assay__host_fail(instance, ASSAY_INVALID,
                                "launch: a queue needs the number of tunables, at most %d",
                                ASSAY_MAX_TUNABLES);
    return ASSAY_OK;
}

/* Buffers are looked up now, so that a bad one is this call's failure, and kept until it ran. */
static assay_status push_held(assay_instance *instance, assay_queue *q, assay_kernel_fn run,
                              const assay_launch *launch)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch unused;

    ASSAY_TRY(check_queued(instance, launch));
    ASSAY_TRY(assay__host_not_lost(instance, "launch")); /* faults come when it runs */
    ASSAY_TRY(assay__host_resolve(instance, launch, &unused, operands, +1));
    pthread_mutex_lock(&q->lock);
    job *j = next_place(q);
    if (j == NULL) {
        pthread_mutex_unlock(&q->lock);
        (void)assay__host_resolve(instance, launch, &unused, operands, -1);
        return fail_void(instance, "queue");
    }
    fill_job(j, run, launch);
    added(q);
    assay__host_count(instance, ASSAY__HOST_COUNT_queued_launches, 1);
    return ASSAY_OK;
}

static assay_status push(assay_instance *instance, assay_kernel_fn run, const assay_launch *launch)
{
    assay_queue *q = launch->queue;

    ASSAY_TRY(hold(instance, q, false));
    assay_status status = push_held(instance, q, run, launch);
    let_go(instance, q);
    return status;
}

assay_status assay__host_launch(assay_instance *instance, assay_kernel_fn run,
                                const assay_launch *launch)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch resolved;

    if (launch->queue != NULL)
        return push(instance, run, launch);
    ASSAY_TRY(assay__host_resolve(instance, launch, &resolved, operands, 0));
    return run_now(instance, run, &resolved);
}

/* ---- events ---- */

assay_status assay__host_event_create(assay_instance *instance, assay_event **out)
{
    ASSAY_TRY(assay__host_alive(instance, "event_create"));
    assay_event *e = calloc(1, sizeof *e);
    if (e == NULL)
        return assay__host_fail(instance, ASSAY_NOMEM, "event_create: no memory");
    pthread_mutex_lock(&instance->lock);
    e->generation = instance->generation;
    e->next = instance->events;
    instance->events = e;
    pthread_mutex_unlock(&instance->lock);
    *out = e;
    return ASSAY_OK;
}

static bool has_passed(const assay_event *e)
{
    return atomic_load(&e->passed) == atomic_load(&e->recorded);
}

/* The link to one of ours; lock held. */
static assay_event **find_event(assay_instance *instance, const assay_event *event)
{
    assay_event **link = &instance->events;

    while (*link != NULL && *link != event)
        link = &(*link)->next;
    return *link != NULL ? link : NULL;
}

static assay_status fail_event(const assay_instance *instance)
{
    return assay__host_fail(instance, ASSAY_FOREIGN,
                            "no event of this instance; wait for it where it was made");
}

assay_status assay__host_event_destroy(assay_instance *instance, assay_event *event)
{
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&instance->lock);
    assay_event **link = find_event(instance, event);
    if (link == NULL)
        status = fail_event(instance);
    else if (!has_passed(event))
        status = assay__host_fail(instance, ASSAY_PENDING,
                                  "event: its queue has not come to it; wait for it first");
    else
        *link = event->next;
    pthread_mutex_unlock(&instance->lock);
    if (status == ASSAY_OK)
        free(event);
    return status;
}

static assay_status check_event(assay_instance *instance, const assay_event *event, bool recorded)
{
    pthread_mutex_lock(&instance->lock);
    const bool is_ours = find_event(instance, event) != NULL;
    const bool is_old = is_ours && event->generation != instance->generation;
    pthread_mutex_unlock(&instance->lock);
    if (!is_ours)
        return fail_event(instance);
    if (is_old)
        return fail_void(instance, "event");
    if (recorded && atomic_load(&event->recorded) == 0)
        return assay__host_fail(instance, ASSAY_INVALID, "event: it was never recorded");
    return ASSAY_OK;
}

static assay_status record_in(assay_instance *instance, assay_event *event, assay_queue *q)
{
    pthread_mutex_lock(&q->lock);
    job *j = next_place(q);
    if (j == NULL) {
        pthread_mutex_unlock(&q->lock);
        return fail_void(instance, "queue");
    }
    j->run = NULL;
    j->event = event;
    atomic_fetch_add(&event->recorded, 1);
    added(q);
    return ASSAY_OK;
}

assay_status assay__host_event_record(assay_instance *instance, assay_event *event,
                                      assay_queue *queue)
{
    ASSAY_TRY(assay__host_alive(instance, "event_record"));
    ASSAY_TRY(check_event(instance, event, false));
    if (!has_passed(event))
        return assay__host_fail(instance, ASSAY_PENDING,
                                "event: its queue has not come to it; wait for it first");
    if (queue == NULL) { /* what is not queued has ended */
        atomic_store(&event->time_ns, assay__host_now_ns());
        atomic_fetch_add(&event->recorded, 1);
        atomic_fetch_add(&event->passed, 1);
        return ASSAY_OK;
    }
    ASSAY_TRY(hold(instance, queue, false));
    pthread_mutex_lock(&instance->lock);
    event->queue = queue;
    pthread_mutex_unlock(&instance->lock);
    assay_status status = record_in(instance, event, queue);
    let_go(instance, queue);
    return status;
}

/* The queue of its last record, held; NULL: it is gone or going, and ends what it has. */
static assay_queue *hold_queue_of(assay_instance *instance, const assay_event *event)
{
    pthread_mutex_lock(&instance->lock);
    assay_queue *q = event->queue;
    if (q != NULL && q->going)
        q = NULL;
    if (q != NULL)
        q->holders++;
    pthread_mutex_unlock(&instance->lock);
    return q;
}

assay_status assay__host_event_wait(assay_instance *instance, assay_event *event)
{
    ASSAY_TRY(check_event(instance, event, true));
    while (!has_passed(event)) {
        assay_queue *q = hold_queue_of(instance, event);
        if (q == NULL) { /* somebody destroys it, who waits for the same */
            sleep_ns(100000);
            continue;
        }
        pthread_mutex_lock(&q->lock);
        while (!has_passed(event))
            pthread_cond_wait(&q->changed, &q->lock);
        pthread_mutex_unlock(&q->lock);
        let_go(instance, q);
    }
    return ASSAY_OK;
}

assay_status assay__host_event_ready(assay_instance *instance, assay_event *event, bool *out)
{
    ASSAY_TRY(check_event(instance, event, true));
    *out = has_passed(event);
    return ASSAY_OK;
}

assay_status assay__host_event_elapsed(assay_instance *instance, assay_event *from, assay_event *to,
                                       double *out_ns)
{
    ASSAY_TRY(check_event(instance, from, true));
    ASSAY_TRY(check_event(instance, to, true));
    if (!has_passed(from) || !has_passed(to))
        return assay__host_fail(instance, ASSAY_PENDING, "event: one of the two has not passed");
    *out_ns = (double)atomic_load(&to->time_ns) - (double)atomic_load(&from->time_ns);
    return ASSAY_OK;
}

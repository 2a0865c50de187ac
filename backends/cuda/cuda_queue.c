/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_queue.c -- launches, on the instance's own stream or on those of queues.
 *
 * A queue is a stream.  A launch enqueues at once what its kernel wants, and the driver copies the
 * arguments, so that nothing of the caller's is needed later but the buffers.  Those stay pinned
 * until an event behind the launch has passed, which is asked when somebody wants to know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"
#include "runtime/queue_hold.h"

/* ---- making and freeing ---- */

assay_status cuda_make_queue(assay_instance *instance, assay_queue **out)
{
    assay_queue *q = calloc(1, sizeof *q);

    if (q == NULL || pthread_mutex_init(&q->lock, NULL) != 0) {
        free(q);
        return cuda_fail(instance, ASSAY_NOMEM, "queue: no memory");
    }
    /* Does not wait for the stream 0, which others in the process may use. */
    const assay_status status =
        cuda_check(instance, instance->cu->cuStreamCreate(&q->stream, CU_STREAM_NON_BLOCKING),
                   "making a stream");
    if (status != ASSAY_OK) {
        pthread_mutex_destroy(&q->lock);
        free(q);
        return status;
    }
    q->generation = instance->generation;
    *out = q;
    return ASSAY_OK;
}

void cuda_drop_stream(assay_instance *instance, assay_queue *queue)
{
    const cuda_driver *cu = instance->cu;

    for (size_t i = 0; i < CUDA_RING; i++)
        if (queue->ring[i].ended != NULL)
            (void)cu->cuEventDestroy(queue->ring[i].ended);
    if (queue->workspace != 0)
        (void)cu->cuMemFree(queue->workspace);
    if (queue->stream != NULL)
        (void)cu->cuStreamDestroy(queue->stream);
    memset(queue->ring, 0, sizeof queue->ring);
    queue->added = queue->ended = 0;
    queue->workspace = 0;
    queue->workspace_bytes = 0;
    queue->stream = NULL;
}

void cuda_free_queue(assay_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* Streams and events of the driver go; queues and events of the caller stay, void. */
void cuda_forget_queues(assay_instance *instance)
{
    assay_queue **const internal[2] = {&instance->own, &instance->timed};

    for (int i = 0; i < 2; i++)
        if (*internal[i] != NULL) {
            cuda_drop_stream(instance, *internal[i]);
            cuda_free_queue(*internal[i]);
            *internal[i] = NULL;
        }
    for (assay_queue *q = instance->queues; q != NULL; q = q->next)
        cuda_drop_stream(instance, q);
    for (assay_event *e = instance->events; e != NULL; e = e->next) {
        if (e->mark != NULL)
            (void)instance->cu->cuEventDestroy(e->mark);
        e->mark = NULL;
    }
}

/* Of an instance that nobody uses any more. */
void cuda_drop_queues(assay_instance *instance)
{
    while (instance->queues != NULL) {
        assay_queue *q = instance->queues;
        instance->queues = q->next;
        cuda_free_queue(q);
    }
    while (instance->events != NULL) {
        assay_event *e = instance->events;
        instance->events = e->next;
        free(e);
    }
}

/* ---- holding ---- */

/* Keeps a queue of ours from being destroyed meanwhile.  any_age: of another generation, too. */
assay_status cuda_hold_queue(assay_instance *instance, assay_queue *queue, bool any_age)
{
    const assay_status status = assay__queue_hold(instance, queue, any_age);

    if (status == ASSAY_FOREIGN)
        return cuda_fail(instance, status, "no queue of this instance");
    return status == ASSAY_GENERATION ? cuda_fail_generation(instance, "queue") : status;
}

void cuda_let_go_queue(assay_instance *instance, assay_queue *queue)
{
    pthread_mutex_lock(&instance->lock);
    assay__queue_let_go(instance, queue);
    pthread_mutex_unlock(&instance->lock);
}

/* The first queue of this generation, or the next behind a held one, which is let go; held, NULL at
 * the end. */
static assay_queue *next_held(assay_instance *instance, assay_queue *before)
{
    pthread_mutex_lock(&instance->lock);
    assay_queue *q = before != NULL ? before->next : instance->queues;
    while (q != NULL && (q->going || q->generation != instance->generation))
        q = q->next;
    if (q != NULL)
        q->holders++;
    if (before != NULL)
        assay__queue_let_go(instance, before);
    pthread_mutex_unlock(&instance->lock);
    return q;
}

/* ---- jobs ---- */

/* Lets the buffers go of all launches that have ended, in order.  The queue's lock held. */
static void reap(assay_instance *instance, assay_queue *q)
{
    while (q->ended < q->added) {
        const cuda_job *job = &q->ring[q->ended % CUDA_RING];
        if (instance->cu->cuEventQuery(job->ended) == CUDA_ERROR_NOT_READY)
            break;
        cuda_unpin_slots(instance, job->places, job->count);
        q->ended++;
    }
}

void cuda_reap_queues(assay_instance *instance)
{
    for (assay_queue *q = next_held(instance, NULL); q != NULL; q = next_held(instance, q)) {
        pthread_mutex_lock(&q->lock);
        reap(instance, q);
        pthread_mutex_unlock(&q->lock);
    }
}

/* The place for the next job, once the oldest has ended where all are taken. */
static assay_status next_job(assay_instance *instance, assay_queue *q, cuda_job **out)
{
    const cuda_driver *cu = instance->cu;

    reap(instance, q);
    cuda_job *job = &q->ring[q->added % CUDA_RING];
    if (q->added - q->ended == CUDA_RING) {
        ASSAY_TRY(cuda_check(instance, cu->cuEventSynchronize(job->ended), "launch"));
        reap(instance, q);
    }
    if (job->ended == NULL)
        ASSAY_TRY(cuda_check(instance, cu->cuEventCreate(&job->ended, CU_EVENT_DISABLE_TIMING),
                             "launch, its event"));
    *out = job;
    return ASSAY_OK;
}

/* What went wrong is kept for who waits: texts and numbers are each thread's own.  A kernel may
 * give another status than what it was told, or say nothing. */
static void keep_failure(const assay_instance *instance, assay_queue *q, assay_status status)
{
    if (q->failed != ASSAY_OK)
        return;
    const char *text = cuda_last_text();
    q->failed = status;
    q->detail = *cuda_last_detail();
    if (q->detail.status != status)
        q->detail = (assay_error_detail){.status = status, .generation = instance->generation};
    snprintf(q->why, sizeof q->why, "%.500s", text[0] != '\0' ? text : "the kernel gave no reason");
}

/* Takes the failure that is kept, so that it is told once. */
static assay_status take_failure(const assay_instance *instance, assay_queue *q)
{
    const assay_status failed = q->failed;
    const assay_error_detail detail = q->detail;

    q->failed = ASSAY_OK;
    if (failed == ASSAY_OK)
        return ASSAY_OK;
    return cuda_fail_detail(instance, &detail, "queued launch: %s", q->why);
}

/* ---- launching ---- */

static assay_status check_queued(const assay_instance *instance, const assay_launch *launch)
{
    if (launch->struct_size < sizeof *launch ||
        (launch->tunables != NULL && launch->tunable_count > ASSAY_MAX_TUNABLES))
        return cuda_fail(instance, ASSAY_INVALID,
                         "launch: a queue needs the number of tunables, at most %d",
                         ASSAY_MAX_TUNABLES);
    return ASSAY_OK;
}

/* Runs a kernel into a queue and hands the pins over to the job.  An event that cannot be recorded
 * tells nobody when the launch has ended: then it is waited for here.  Queue's lock held. */
static assay_status add_job(assay_instance *instance, assay_queue *q, assay_kernel_fn run,
                            const assay_launch *launch, const uint32_t *slots, uint32_t count)
{
    cuda_job *job;

    ASSAY_TRY(next_job(instance, q, &job));
    cuda_clear_text(); /* that of a call before is no reason */
    assay_status status = run(launch);
    if (status != ASSAY_OK)
        keep_failure(instance, q, status);
    status = cuda_check(instance, instance->cu->cuEventRecord(job->ended, q->stream),
                        "launch, its event");
    if (status != ASSAY_OK) {
        (void)instance->cu->cuStreamSynchronize(q->stream);
        return status;
    }
    memcpy(job->places, slots, count * sizeof *slots);
    job->count = count;
    q->added++;
    cuda_count(instance, CUDA_COUNT_queued_launches, 1);
    return ASSAY_OK;
}

static assay_status run_queued(assay_instance *instance, assay_kernel_fn run,
                               const assay_launch *launch)
{
    uint32_t slots[ASSAY_MAX_OPERANDS], count;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_queue *q = launch->queue;
    assay_launch resolved;

    ASSAY_TRY(check_queued(instance, launch));
    ASSAY_TRY(cuda_resolve(instance, launch, &resolved, operands, slots, &count));
    pthread_mutex_lock(&q->lock);
    const assay_status status = add_job(instance, q, run, &resolved, slots, count);
    pthread_mutex_unlock(&q->lock);
    if (status != ASSAY_OK)
        cuda_unpin_slots(instance, slots, count);
    return status;
}

/* Pinned while the kernel enqueues; whoever frees waits for the stream. */
static assay_status run_now(assay_instance *instance, assay_kernel_fn run,
                            const assay_launch *launch)
{
    uint32_t slots[ASSAY_MAX_OPERANDS], count;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch resolved;

    ASSAY_TRY(cuda_resolve(instance, launch, &resolved, operands, slots, &count));
    pthread_mutex_lock(&instance->own->lock);
    const assay_status status = run(&resolved);
    pthread_mutex_unlock(&instance->own->lock);
    cuda_unpin_slots(instance, slots, count);
    if (status == ASSAY_OK)
        cuda_count(instance, CUDA_COUNT_launches, 1);
    return status;
}

static assay_status launch_in(assay_instance *instance, assay_kernel_fn run,
                              const assay_launch *launch)
{
    if (launch->queue == NULL)
        return run_now(instance, run, launch);
    ASSAY_TRY(cuda_hold_queue(instance, launch->queue, false));
    const assay_status status = run_queued(instance, run, launch);
    cuda_let_go_queue(instance, launch->queue);
    return status;
}

assay_status cuda_launch(assay_instance *instance, assay_kernel_fn run, const assay_launch *launch)
{
    ASSAY_TRY(cuda_enter(instance, "launch"));
    const assay_status status = launch_in(instance, run, launch);
    cuda_leave(instance);
    return status;
}

CUstream cuda_stream(const assay_launch *launch)
{
    const assay_queue *q = launch->queue;

    return q != NULL ? q->stream : launch->instance->own->stream;
}

/* ---- waiting ---- */

/* Waits; tell: takes the failure that is kept, else leaves it for who waits later. */
static assay_status drain(assay_instance *instance, assay_queue *q, bool tell)
{
    assay_status waited =
        cuda_check(instance, instance->cu->cuStreamSynchronize(q->stream), "waiting for a queue");

    pthread_mutex_lock(&q->lock);
    reap(instance, q);
    if (tell && q->failed != ASSAY_OK)
        waited = take_failure(instance, q);
    pthread_mutex_unlock(&q->lock);
    return waited;
}

static assay_status synchronize(assay_instance *instance)
{
    if (!atomic_load_explicit(&instance->is_ready, memory_order_acquire))
        return ASSAY_OK; /* nothing was launched */
    assay_status status = cuda_check(
        instance, instance->cu->cuStreamSynchronize(instance->own->stream), "synchronize");
    for (assay_queue *q = next_held(instance, NULL); q != NULL; q = next_held(instance, q)) {
        const assay_status here = drain(instance, q, status == ASSAY_OK);
        status = status != ASSAY_OK ? status : here;
    }
    return status;
}

/* Every queue is waited for; the first failure is told, the others stay with their queues. */
assay_status cuda_synchronize(assay_instance *instance)
{
    cuda_enter_any(instance);
    const assay_status status = synchronize(instance);
    cuda_leave(instance);
    return status;
}

assay_status cuda_queue_wait(assay_instance *instance, assay_queue *queue)
{
    cuda_enter_any(instance);
    assay_status status = cuda_hold_queue(instance, queue, false);
    if (status == ASSAY_OK) {
        status = drain(instance, queue, true);
        cuda_let_go_queue(instance, queue);
    }
    cuda_leave(instance);
    return status;
}

/* ---- queues of the caller ---- */

assay_status cuda_queue_create(assay_instance *instance, assay_queue **out)
{
    assay_queue *q = NULL;

    ASSAY_TRY(cuda_enter(instance, "queue_create"));
    const assay_status status = cuda_make_queue(instance, &q);
    if (status == ASSAY_OK) {
        pthread_mutex_lock(&instance->lock);
        q->next = instance->queues;
        instance->queues = q;
        pthread_mutex_unlock(&instance->lock);
        *out = q;
    }
    cuda_leave(instance);
    return status;
}

static void unlink_queue(assay_instance *instance, assay_queue *queue)
{
    pthread_mutex_lock(&instance->lock);
    assay_queue **link = &instance->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    pthread_mutex_unlock(&instance->lock);
}

/* Nobody new holds it from now on, and those who do are waited for. */
static void close_queue(assay_instance *instance, assay_queue *queue)
{
    pthread_mutex_lock(&instance->lock);
    queue->going = true;
    while (queue->holders > 1)
        pthread_cond_wait(&instance->let_go, &instance->lock);
    pthread_mutex_unlock(&instance->lock);
}

/* What it had kept is lost with it; a fault that poisons the context is the instance's by then. */
assay_status cuda_queue_destroy(assay_instance *instance, assay_queue *queue)
{
    cuda_enter_any(instance);
    const assay_status status = cuda_hold_queue(instance, queue, true);
    if (status == ASSAY_OK) {
        close_queue(instance, queue);
        if (queue->stream != NULL)
            (void)drain(instance, queue, false);
        unlink_queue(instance, queue);
        cuda_drop_stream(instance, queue);
        cuda_free_queue(queue);
    }
    cuda_leave(instance);
    return status;
}

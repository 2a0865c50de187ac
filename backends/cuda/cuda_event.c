/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_event.c -- places in a queue, by the driver's events. */
#include <stdlib.h>

#include "backends/cuda/cuda_instance.h"

/* ---- finding ---- */

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
    return cuda_fail(instance, ASSAY_FOREIGN, "no event of this instance");
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
        return cuda_fail_generation(instance, "event");
    if (recorded && !atomic_load(&event->is_recorded))
        return cuda_fail(instance, ASSAY_INVALID, "event: it was never recorded");
    return ASSAY_OK;
}

/* One that was never recorded has passed, as far as the driver is concerned. */
static assay_status ask(assay_instance *instance, const assay_event *event, bool *passed)
{
    const CUresult result = instance->cu->cuEventQuery(event->mark);

    *passed = result == CUDA_SUCCESS;
    return result == CUDA_ERROR_NOT_READY ? ASSAY_OK : cuda_check(instance, result, "event");
}

static assay_status need_passed(assay_instance *instance, const assay_event *event)
{
    bool passed = false;

    ASSAY_TRY(ask(instance, event, &passed));
    return passed ? ASSAY_OK
                  : cuda_fail(instance, ASSAY_PENDING,
                              "event: its queue has not come to it; wait for it first");
}

/* ---- making ---- */

static assay_status make_event(assay_instance *instance, assay_event **out)
{
    assay_event *e = calloc(1, sizeof *e);

    if (e == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "event_create: no memory");
    const assay_status status = cuda_check(
        instance, instance->cu->cuEventCreate(&e->mark, CU_EVENT_DEFAULT), "event_create");
    if (status != ASSAY_OK) {
        free(e);
        return status;
    }
    e->generation = instance->generation;
    pthread_mutex_lock(&instance->lock);
    e->next = instance->events;
    instance->events = e;
    pthread_mutex_unlock(&instance->lock);
    *out = e;
    return ASSAY_OK;
}

assay_status cuda_event_create(assay_instance *instance, assay_event **out)
{
    ASSAY_TRY(cuda_enter(instance, "event_create"));
    const assay_status status = make_event(instance, out);
    cuda_leave(instance);
    return status;
}

/* Of a lost device, or from before a recover: whatever the driver says of it, it goes. */
static assay_status destroy_event(assay_instance *instance, assay_event *event)
{
    pthread_mutex_lock(&instance->lock);
    assay_event **link = find_event(instance, event);
    const bool is_bound = link != NULL && event->mark != NULL && !atomic_load(&instance->is_lost);
    assay_status status = link != NULL ? ASSAY_OK : fail_event(instance);
    if (is_bound && instance->cu->cuEventQuery(event->mark) == CUDA_ERROR_NOT_READY)
        status = cuda_fail(instance, ASSAY_PENDING,
                           "event: its queue has not come to it; wait for it first");
    if (status == ASSAY_OK)
        *link = event->next;
    pthread_mutex_unlock(&instance->lock);
    ASSAY_TRY(status);
    if (event->mark != NULL)
        (void)instance->cu->cuEventDestroy(event->mark);
    free(event);
    return ASSAY_OK;
}

assay_status cuda_event_destroy(assay_instance *instance, assay_event *event)
{
    cuda_enter_any(instance);
    const assay_status status = destroy_event(instance, event);
    cuda_leave(instance);
    return status;
}

/* ---- recording ---- */

static assay_status mark(assay_instance *instance, assay_event *event, CUstream stream)
{
    ASSAY_TRY(
        cuda_check(instance, instance->cu->cuEventRecord(event->mark, stream), "event_record"));
    atomic_store(&event->is_recorded, true);
    return ASSAY_OK;
}

/* Without a queue it has passed when this returns, as everywhere. */
static assay_status mark_now(assay_instance *instance, assay_event *event)
{
    ASSAY_TRY(mark(instance, event, instance->own->stream));
    return cuda_check(instance, instance->cu->cuEventSynchronize(event->mark), "event_record");
}

static assay_status mark_in(assay_instance *instance, assay_event *event, assay_queue *queue)
{
    ASSAY_TRY(cuda_hold_queue(instance, queue, false));
    pthread_mutex_lock(&queue->lock);
    const assay_status status = mark(instance, event, queue->stream);
    pthread_mutex_unlock(&queue->lock);
    cuda_let_go_queue(instance, queue);
    return status;
}

static assay_status record(assay_instance *instance, assay_event *event, assay_queue *queue)
{
    ASSAY_TRY(check_event(instance, event, false));
    ASSAY_TRY(need_passed(instance, event));
    return queue == NULL ? mark_now(instance, event) : mark_in(instance, event, queue);
}

assay_status cuda_event_record(assay_instance *instance, assay_event *event, assay_queue *queue)
{
    ASSAY_TRY(cuda_enter(instance, "event_record"));
    const assay_status status = record(instance, event, queue);
    cuda_leave(instance);
    return status;
}

/* ---- asking ---- */

assay_status cuda_event_wait(assay_instance *instance, assay_event *event)
{
    cuda_enter_any(instance);
    assay_status status = check_event(instance, event, true);
    if (status == ASSAY_OK)
        status = cuda_check(instance, instance->cu->cuEventSynchronize(event->mark), "event_wait");
    cuda_leave(instance);
    return status;
}

assay_status cuda_event_ready(assay_instance *instance, assay_event *event, bool *out)
{
    bool passed = false;

    cuda_enter_any(instance);
    assay_status status = check_event(instance, event, true);
    if (status == ASSAY_OK)
        status = ask(instance, event, &passed);
    if (status == ASSAY_OK)
        *out = passed;
    cuda_leave(instance);
    return status;
}

static assay_status elapsed(assay_instance *instance, assay_event *from, assay_event *to,
                            double *out_ns)
{
    float ms = 0.0f;

    ASSAY_TRY(check_event(instance, from, true));
    ASSAY_TRY(check_event(instance, to, true));
    ASSAY_TRY(need_passed(instance, from));
    ASSAY_TRY(need_passed(instance, to));
    ASSAY_TRY(cuda_check(instance, instance->cu->cuEventElapsedTime(&ms, from->mark, to->mark),
                         "event_elapsed"));
    *out_ns = (double)ms * 1e6;
    return ASSAY_OK;
}

assay_status cuda_event_elapsed(assay_instance *instance, assay_event *from, assay_event *to,
                                double *out_ns)
{
    cuda_enter_any(instance);
    const assay_status status = elapsed(instance, from, to, out_ns);
    cuda_leave(instance);
    return status;
}

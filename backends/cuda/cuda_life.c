/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_life.c -- instances, their context, its loss and recovery. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "backends/cuda/cuda_instance.h"

#define GENERATION_BITS UINT64_C(0xffff)

/* ---- the context ---- */

/* Everything that lives in a context, made anew with it. */
static assay_status fill_context(assay_instance *instance)
{
    assay_status status = cuda_make_queue(instance, &instance->own);

    if (status == ASSAY_OK)
        status = cuda_make_queue(instance, &instance->timed);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    if (instance->own != NULL) {
        cuda_drop_stream(instance, instance->own);
        cuda_free_queue(instance->own);
        instance->own = NULL;
    }
    return status;
}

static assay_status make_context(assay_instance *instance)
{
    const cuda_driver *cu = instance->cu;

    ASSAY_TRY(cuda_check(instance,
                         cu->cuCtxCreate(&instance->context, NULL, CU_CTX_SCHED_AUTO,
                                         cuda_selected(instance)->number),
                         "making a context"));
    const assay_status status = fill_context(instance);
    if (status != ASSAY_OK) {
        (void)cu->cuCtxDestroy(instance->context);
        instance->context = NULL;
        return status;
    }
    atomic_store_explicit(&instance->is_ready, true, memory_order_release);
    return ASSAY_OK;
}

static assay_status need_context(assay_instance *instance)
{
    assay_status status = ASSAY_OK;

    if (atomic_load_explicit(&instance->is_ready, memory_order_acquire))
        return ASSAY_OK;
    pthread_mutex_lock(&instance->making);
    if (!atomic_load_explicit(&instance->is_ready, memory_order_relaxed))
        status = make_context(instance);
    pthread_mutex_unlock(&instance->making);
    return status;
}

/* The thread's context is asked for and not remembered: others in the process (a framework that
 * calls us) set theirs, and the question costs nanoseconds.  It is left current: pushing and
 * popping one costs as much as an enqueue. */
static CUresult take_context(const assay_instance *instance)
{
    CUcontext now = NULL;

    if (instance->cu->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == instance->context)
        return CUDA_SUCCESS;
    return instance->cu->cuCtxSetCurrent(instance->context);
}

assay_status cuda_enter(assay_instance *instance, const char *what)
{
    assay_status status = ASSAY_OK;

    pthread_rwlock_rdlock(&instance->life);
    if (atomic_load_explicit(&instance->is_lost, memory_order_acquire))
        status = cuda_fail_lost(instance, what);
    if (status == ASSAY_OK)
        status = need_context(instance);
    if (status == ASSAY_OK)
        status = cuda_check(instance, take_context(instance), what);
    if (status != ASSAY_OK)
        pthread_rwlock_unlock(&instance->life);
    return status;
}

void cuda_enter_any(assay_instance *instance)
{
    pthread_rwlock_rdlock(&instance->life);
    if (atomic_load_explicit(&instance->is_ready, memory_order_acquire))
        (void)take_context(instance); /* what follows finds out by itself */
}

void cuda_leave(assay_instance *instance)
{
    pthread_rwlock_unlock(&instance->life);
}

/* ---- opening and closing ---- */

/* 48 bits that no other instance of the process has, of this plug-in or another. */
static uint64_t new_owner(void)
{
    static _Atomic uint64_t counter;
    uint64_t mark = 0;

    if (getrandom(&mark, sizeof mark, GRND_NONBLOCK) != (ssize_t)sizeof mark)
        mark = ((uint64_t)(uintptr_t)&counter << 16) * UINT64_C(0x9e3779b97f4a7c15);
    mark = (mark ^ atomic_fetch_add(&counter, 1) << 20) & ~GENERATION_BITS;
    return mark != 0 ? mark : UINT64_C(1) << 16;
}

static assay_status init_locks(assay_instance *instance)
{
    if (pthread_rwlock_init(&instance->life, NULL) != 0)
        return ASSAY_NOMEM;
    /* The others have no way to fail here. */
    (void)pthread_mutex_init(&instance->making, NULL);
    (void)pthread_mutex_init(&instance->lock, NULL);
    (void)pthread_mutex_init(&instance->staging.lock, NULL);
    (void)pthread_mutex_init(&instance->code.lock, NULL);
    (void)pthread_cond_init(&instance->let_go, NULL);
    assay__pinned_init(&instance->pinned);
    return ASSAY_OK;
}

static void free_instance(assay_instance *instance)
{
    cuda_drop_host(instance);
    pthread_cond_destroy(&instance->let_go);
    pthread_mutex_destroy(&instance->code.lock);
    pthread_mutex_destroy(&instance->staging.lock);
    pthread_mutex_destroy(&instance->lock);
    pthread_mutex_destroy(&instance->making);
    pthread_rwlock_destroy(&instance->life);
    free(instance->slots);
    free(instance->devices);
    free(instance);
}

static assay_status start(assay_instance *instance)
{
    char why[768] = "";

    instance->cu = cuda_driver_open(why, sizeof why);
    if (instance->cu == NULL)
        return cuda_fail(instance, ASSAY_UNAVAILABLE, "%s", why);
    ASSAY_TRY(cuda_list_devices(instance, &instance->devices, &instance->device_count));
    if (instance->device_count == 0)
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "the driver finds no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
    return ASSAY_OK;
}

assay_status cuda_open(const assay_host *host, assay_instance **out)
{
    assay_instance *instance = calloc(1, sizeof *instance);

    if (instance == NULL || init_locks(instance) != ASSAY_OK) {
        free(instance);
        return ASSAY_NOMEM;
    }
    instance->host = host;
    instance->generation = 1;
    instance->owner = new_owner() | 1;
    const assay_status status = start(instance);
    if (status != ASSAY_OK) {
        free_instance(instance);
        return status;
    }
    *out = instance;
    return ASSAY_OK;
}

/* Lets go of all that lives in the context, and of the context.  Nobody else is inside.  On a lost
 * device the calls fail, and destroying the context frees what they would have. */
static void drop_context(assay_instance *instance)
{
    if (!atomic_load(&instance->is_ready))
        return;
    (void)take_context(instance);
    cuda_blaslt_close(instance);
    instance->blaslt = NULL;
    cuda_forget_queues(instance);
    cuda_drop_staging(instance);
    cuda_loosen_host(instance);
    cuda_drop_code(instance);
    cuda_forget_memory(instance);
    (void)instance->cu->cuCtxSetCurrent(NULL);
    (void)instance->cu->cuCtxDestroy(instance->context);
    instance->context = NULL;
    memset(instance->clocks, 0, sizeof instance->clocks);
    instance->has_spans_by = false;
    instance->rough = instance->pace = (lead_pace){0}; /* nothing is loaded in the next one */
    atomic_store(&instance->is_ready, false);
}

void cuda_close(assay_instance *instance)
{
    if (instance == NULL)
        return;
    if (!atomic_load(&instance->is_lost))
        (void)cuda_synchronize(instance);
    drop_context(instance);
    cuda_drop_queues(instance);
    free_instance(instance);
}

assay_status cuda_select_device(assay_instance *instance, size_t device)
{
    assay_status status = ASSAY_OK;

    if (device >= instance->device_count)
        return cuda_fail(instance, ASSAY_INVALID, "device %zu: there are %zu, counted from 0",
                         device, instance->device_count);
    pthread_mutex_lock(&instance->making);
    if (atomic_load(&instance->is_ready) && device != instance->device)
        status =
            cuda_fail(instance, ASSAY_INVALID,
                      "device %zu: device %zu is in use already; select before the first alloc",
                      device, instance->device);
    else
        instance->device = device;
    pthread_mutex_unlock(&instance->making);
    return status;
}

/* The context, memory to stage by, and the driver's first launch of anything. */
assay_status cuda_prepare(assay_instance *instance)
{
    ASSAY_TRY(cuda_enter(instance, "prepare"));
    pthread_mutex_lock(&instance->staging.lock);
    const assay_status status = cuda_make_staging(instance);
    pthread_mutex_unlock(&instance->staging.lock);
    cuda_leave(instance);
    return status;
}

/* ---- loss ---- */

assay_status cuda_state(assay_instance *instance, assay_instance_state *out)
{
    cuda_enter_any(instance);
    pthread_mutex_lock(&instance->lock);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->is_lost = atomic_load(&instance->is_lost);
    out->generation = instance->generation;
    out->live_buffers = instance->live_buffers;
    out->live_bytes = instance->live_bytes;
    pthread_mutex_unlock(&instance->lock);
    cuda_leave(instance);
    return ASSAY_OK;
}

/* Also when the new context cannot be made: what was before is void then, and the next recover
 * tries again. */
static assay_status take_anew(assay_instance *instance)
{
    drop_context(instance);
    instance->generation++;
    instance->owner =
        (instance->owner & ~GENERATION_BITS) | (instance->generation & GENERATION_BITS);
    const assay_status status = need_context(instance);
    if (status != ASSAY_OK) {
        return cuda_fail(instance, ASSAY_DEVICE,
                         "recover: %.700s; only a new process may get the device back",
                         cuda_last_text());
    }
    atomic_store(&instance->is_lost, false);
    cuda_count(instance, CUDA_COUNT_recoveries, 1);
    return ASSAY_OK;
}

assay_status cuda_recover(assay_instance *instance)
{
    assay_status status = ASSAY_OK;

    pthread_rwlock_wrlock(&instance->life);
    if (atomic_load(&instance->is_lost))
        status = take_anew(instance);
    pthread_rwlock_unlock(&instance->life);
    return status;
}

/* ---- counters ---- */

assay_status cuda_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count)
{
    static const char *const names[CUDA_COUNTS] = {
#define X(name) #name "_total",
        CUDA_METRICS(X)
#undef X
    };
    assay_instance_state state;

    (void)cuda_state(instance, &state);
    const assay_metric now[] = {{"generation", state.generation},
                                {"live_buffers", state.live_buffers},
                                {"live_bytes", state.live_bytes}};
    const size_t states = sizeof now / sizeof now[0], own = states + CUDA_COUNTS;
    for (size_t i = 0; i < own && i < cap; i++)
        out[i] = i < states ? now[i]
                            : (assay_metric){names[i - states],
                                             atomic_load(&instance->counts[i - states])};
    pthread_mutex_lock(&instance->making); /* another may be selected meanwhile */
    const assay__nvml_id id = {.bus_id = cuda_selected(instance)->bus_id};
    pthread_mutex_unlock(&instance->making);
    *count = own + assay__nvml_sense(&instance->sensors, &id, cap > own ? out + own : NULL,
                                     cap > own ? cap - own : 0);
    return ASSAY_OK;
}

/* ---- what cuda.h offers to kernels ---- */

const cuda_limits *cuda_device_limits(const assay_instance *instance)
{
    return &cuda_selected(instance)->limits;
}

void **cuda_blaslt_place(assay_instance *instance)
{
    return &instance->blaslt;
}

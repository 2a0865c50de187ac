/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_fault.c -- planned faults of a host plug-in, the loss of its device, its counters.
 *
 * A CPU is never lost by itself: without the slot `inject` none of this ever happens. */
#include <string.h>

#include "runtime/host_backend.h"

assay_status assay__host_inject(assay_instance *instance, const assay_fault *fault)
{
    bool any = false;

    if (fault->struct_size < sizeof *fault || fault->kind < ASSAY_FAULT_NONE ||
        fault->kind > ASSAY_FAULT_LAUNCH)
        return assay__host_fail(instance, ASSAY_INVALID, "inject: no fault has number %d",
                                (int)fault->kind);
    pthread_mutex_lock(&instance->lock);
    if (fault->kind == ASSAY_FAULT_NONE)
        memset(instance->faults, 0, sizeof instance->faults);
    else
        instance->faults[fault->kind] = *fault;
    for (int kind = ASSAY_FAULT_LOST; kind <= ASSAY_FAULT_LAUNCH; kind++)
        any = any || instance->faults[kind].kind != ASSAY_FAULT_NONE;
    atomic_store(&instance->has_faults, any);
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

bool assay__host_fault_due(assay_instance *instance, assay_fault_kind kind, uint64_t *delay_ns)
{
    bool due = false;

    if (!atomic_load_explicit(&instance->has_faults, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&instance->lock);
    assay_fault *f = &instance->faults[kind];
    if (f->kind == kind) {
        due = f->after == 0;
        if (!due)
            f->after--;
        if (due && delay_ns != NULL)
            *delay_ns = f->delay_ns;
        if (due && f->times > 0 && --f->times == 0)
            f->kind = ASSAY_FAULT_NONE;
    }
    pthread_mutex_unlock(&instance->lock);
    if (due)
        assay__host_count(instance, ASSAY__HOST_COUNT_faults, 1);
    return due;
}

assay_status assay__host_alive(assay_instance *instance, const char *what)
{
    if (assay__host_fault_due(instance, ASSAY_FAULT_LOST, NULL))
        atomic_store(&instance->is_lost, true);
    return assay__host_not_lost(instance, what);
}

assay_status assay__host_not_lost(assay_instance *instance, const char *what)
{
    if (!atomic_load_explicit(&instance->is_lost, memory_order_acquire))
        return ASSAY_OK;
    pthread_mutex_lock(&instance->lock);
    const assay_error_detail detail = {.status = ASSAY_DEVICE_LOST,
                                       .generation = instance->generation};
    pthread_mutex_unlock(&instance->lock);
    return assay__host_fail_detail(instance, &detail,
                                   "%s: the device is lost (generation %llu); recover takes it "
                                   "anew, buffers from before are void",
                                   what, (unsigned long long)detail.generation);
}

assay_status assay__host_state(assay_instance *instance, assay_instance_state *out)
{
    pthread_mutex_lock(&instance->lock);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->is_lost = atomic_load(&instance->is_lost);
    out->generation = instance->generation;
    out->live_buffers = instance->live_buffers;
    out->live_bytes = instance->live_bytes;
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

assay_status assay__host_recover(assay_instance *instance)
{
    if (!atomic_load(&instance->is_lost))
        return ASSAY_OK;
    assay__host_close_queues(instance, false);
    pthread_mutex_lock(&instance->lock);
    if (atomic_load(&instance->is_lost)) { /* nobody was quicker */
        assay__host_forget_memory(instance);
        assay__pinned_loosen(&instance->pinned, NULL, NULL);
        instance->faults[ASSAY_FAULT_LOST].kind = ASSAY_FAULT_NONE;
        atomic_store(&instance->is_lost, false);
        assay__host_count(instance, ASSAY__HOST_COUNT_recoveries, 1);
    }
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

assay_status assay__host_metrics(assay_instance *instance, assay_metric *out, size_t cap,
                                 size_t *count)
{
    static const char *const names[ASSAY__HOST_COUNTS] = {
#define X(name) #name "_total",
        ASSAY__HOST_METRICS(X)
#undef X
    };
    assay_instance_state state;

    (void)assay__host_state(instance, &state);
    const assay_metric now[] = {{"generation", state.generation},
                                {"live_buffers", state.live_buffers},
                                {"live_bytes", state.live_bytes}};
    const size_t states = sizeof now / sizeof now[0];
    for (size_t i = 0; i < states + ASSAY__HOST_COUNTS && i < cap; i++)
        out[i] = i < states ? now[i]
                            : (assay_metric){names[i - states],
                                             atomic_load(&instance->counts[i - states])};
    *count = states + ASSAY__HOST_COUNTS;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_instance.c -- instances: opening, closing, recovering, what they count. */
#include "backends/vulkan/vulkan_instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* ---- life ---- */

/* 48 bits that no other instance of the process has; the low 16 are the generation's. */
static uint64_t new_owner(void)
{
    static _Atomic uint64_t counter;
    uint64_t mark = 0;

    if (getrandom(&mark, sizeof mark, GRND_NONBLOCK) != (ssize_t)sizeof mark)
        mark = (assay__host_now_ns() ^ (uint64_t)(uintptr_t)&counter << 24) *
               UINT64_C(0x9e3779b97f4a7c15);
    mark ^= (atomic_fetch_add(&counter, 1) + 1) << 16;
    mark &= ~UINT64_C(0xffff);
    return (mark != 0 ? mark : UINT64_C(1) << 16) | 1;
}

static assay_status find_devices(vulkan_instance *v)
{
    ASSAY_TRY(vulkan_loader_get(&v->base, &v->loader));
    return vulkan_find_devices(&v->base, v->loader, &v->devices, &v->device_count);
}

assay_status vulkan_open(const assay_host *host, assay_instance **out)
{
    vulkan_instance *v = calloc(1, sizeof *v);

    if (v == NULL)
        return ASSAY_NOMEM;
    v->base.host = host;
    v->base.owner = new_owner();
    v->base.generation = 1;
    assay_status status = find_devices(v);
    if (status != ASSAY_OK) {
        free(v);
        return status;
    }
    (void)pthread_mutex_init(&v->base.lock, NULL);
    assay__pinned_init(&v->base.pinned);
    (void)pthread_cond_init(&v->base.let_go, NULL);
    (void)pthread_rwlock_init(&v->gate, NULL);
    *out = &v->base;
    return ASSAY_OK;
}

void vulkan_close(assay_instance *instance)
{
    vulkan_instance *v;

    if (instance == NULL)
        return;
    v = vulkan_of(instance);
    assay__host_close_queues(instance, true);
    vulkan_device_destroy(v);
    pthread_rwlock_destroy(&v->gate);
    pthread_cond_destroy(&v->base.let_go);
    assay__pinned_clear(&v->base.pinned);
    pthread_mutex_destroy(&v->base.lock);
    free(v->slots);
    free(v->devices);
    free(v);
}

assay_status vulkan_select(assay_instance *instance, size_t device)
{
    vulkan_instance *v = vulkan_of(instance);
    assay_status status = ASSAY_OK;

    if (device >= v->device_count)
        return assay__host_fail(instance, ASSAY_INVALID, "device %zu: there are %zu", device,
                                v->device_count);
    pthread_rwlock_wrlock(&v->gate);
    if (device != v->selected && instance->live_buffers > 0) {
        status = assay__host_fail(instance, ASSAY_INVALID,
                                  "device %zu: buffers live on device %zu; free them first", device,
                                  v->selected);
    } else if (device != v->selected) {
        vulkan_device_destroy(v);
        v->selected = device;
    }
    pthread_rwlock_unlock(&v->gate);
    return status;
}

assay_status vulkan_prepare(assay_instance *instance)
{
    ASSAY_TRY(assay__host_not_lost(instance, "prepare"));
    ASSAY_TRY(vulkan_enter(vulkan_of(instance)));
    vulkan_leave(vulkan_of(instance));
    return ASSAY_OK;
}

/* Queues run out first: what they hold needs the gate, and fails at once on a lost device. */
assay_status vulkan_recover(assay_instance *instance)
{
    vulkan_instance *v = vulkan_of(instance);

    if (!atomic_load(&instance->is_lost))
        return ASSAY_OK;
    assay__host_close_queues(instance, false);
    pthread_rwlock_wrlock(&v->gate);
    const bool is_lost = atomic_load(&instance->is_lost); /* unless somebody was quicker */
    assay_status status = assay__host_recover(instance);
    if (is_lost)
        vulkan_device_destroy(v); /* and made anew when it is needed */
    pthread_rwlock_unlock(&v->gate);
    return status;
}

/* ---- waiting ---- */

assay_status vulkan_synchronize(assay_instance *instance)
{
    ASSAY_TRY(assay__host_synchronize(instance));
    return vulkan_tell_messages(instance);
}

/* ---- counters ---- */

/* Vulkan itself knows no sensors; NVIDIA's devices have the UUID that NVML knows them by. */
static size_t sense(vulkan_instance *v, assay_metric *out, size_t cap)
{
    char uuid[sizeof "GPU-" + VULKAN_UUID_TEXT];
    const assay__nvml_id id = {.uuid = uuid};

    pthread_rwlock_rdlock(&v->gate); /* another may be selected meanwhile */
    (void)snprintf(uuid, sizeof uuid, "GPU-%s", v->devices[v->selected].uuid);
    pthread_rwlock_unlock(&v->gate);
    return assay__nvml_sense(&v->sensors, &id, out, cap);
}

assay_status vulkan_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count)
{
    static const char *const names[VULKAN_COUNTS] = {
#define X(name) #name "_total",
        VULKAN_METRICS(X)
#undef X
    };
    vulkan_instance *v = vulkan_of(instance);
    size_t at;

    ASSAY_TRY(assay__host_metrics(instance, out, cap, &at));
    for (size_t i = 0; i < VULKAN_COUNTS; i++, at++)
        if (at < cap)
            out[at] = (assay_metric){names[i], atomic_load(&v->counts[i])};
    if (at < cap)
        out[at] = (assay_metric){"validation_messages_total", vulkan_messages()};
    at++;
    *count = at + sense(v, at < cap ? out + at : NULL, at < cap ? cap - at : 0);
    return ASSAY_OK;
}

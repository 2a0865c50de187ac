/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_backend.c -- instances of host plug-ins, and the device that they run on. */
#include "runtime/host_backend.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

static _Thread_local char last_text[512];

const char *assay__host_last_text(void)
{
    return last_text;
}

void assay__host_clear_text(void)
{
    last_text[0] = '\0';
}

assay_status assay__host_fail(const assay_instance *instance, assay_status status,
                              const char *format, ...)
{
    char text[sizeof last_text]; /* aside: an argument may be the old one */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(last_text, text, sizeof text);
    if (instance == NULL || instance->host == NULL || instance->host->fail == NULL)
        return status;
    return instance->host->fail(status, text);
}

assay_status assay__host_fail_detail(const assay_instance *instance,
                                     const assay_error_detail *detail, const char *format, ...)
{
    char text[sizeof last_text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(last_text, text, sizeof text);
    /* Hosts of before know no details. */
    if (instance->host == NULL || instance->host->struct_size < sizeof(assay_host) ||
        instance->host->fail_detail == NULL)
        return assay__host_fail(instance, detail->status, "%s", text);
    return instance->host->fail_detail(detail, text);
}

/* 48 bits that no other instance of the process has: each plug-in has a copy of this code, so that
 * no counter could be shared, and addresses are used again.  The low 16 bits stay 0. */
static uint64_t new_owner(void)
{
    uint64_t mark = 0;

    if (getrandom(&mark, sizeof mark, GRND_NONBLOCK) != (ssize_t)sizeof mark) {
        static uint64_t counter;
        mark = ((uint64_t)(uintptr_t)&counter << 16) * UINT64_C(0x9e3779b97f4a7c15) ^
               assay__host_now_ns() ^ __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED) << 20;
    }
    mark &= ~UINT64_C(0xffff);
    return mark != 0 ? mark : UINT64_C(1) << 16;
}

assay_status assay__host_open(const assay_host *host, assay_instance **out)
{
    assay_instance *instance = calloc(1, sizeof *instance);

    if (instance == NULL)
        return ASSAY_NOMEM;
    if (pthread_mutex_init(&instance->lock, NULL) != 0) {
        free(instance);
        return ASSAY_NOMEM;
    }
    (void)pthread_cond_init(&instance->let_go, NULL); /* has no way to fail here */
    assay__pinned_init(&instance->pinned);
    instance->host = host;
    instance->owner = new_owner() | 1;
    instance->generation = 1;
    *out = instance;
    return ASSAY_OK;
}

void assay__host_close(assay_instance *instance)
{
    if (instance == NULL)
        return;
    assay__host_close_queues(instance, true);
    for (size_t i = 0; i < instance->slot_count; i++)
        if (instance->slots[i].owned)
            free(instance->slots[i].memory);
    free(instance->slots);
    for (size_t i = 0; i < instance->pinned.count; i++)
        if (instance->pinned.blocks[i].is_taken)
            free(instance->pinned.blocks[i].memory);
    assay__pinned_clear(&instance->pinned);
    pthread_cond_destroy(&instance->let_go);
    pthread_mutex_destroy(&instance->lock);
    free(instance);
}

unsigned assay__host_usable_cpus(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1u;
}

assay_status assay__host_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = 1;
    return ASSAY_OK;
}

static void read_cpu_name(char *name, size_t cap)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];

    snprintf(name, cap, "unknown CPU");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        snprintf(name, cap, "%s", colon + 1 + strspn(colon + 1, " \t"));
        name[strcspn(name, "\n")] = '\0';
        break;
    }
    fclose(file);
}

assay_status assay__host_device_info(assay_instance *instance, size_t device,
                                     assay_device_info *out)
{
    struct utsname system;

    if (device != 0)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "device %zu: this backend has device 0 only", device);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    read_cpu_name(out->name, sizeof out->name);
    if (uname(&system) == 0)
        snprintf(out->architecture, sizeof out->architecture, "%.63s", system.machine);
    snprintf(out->driver, sizeof out->driver, "none");
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0)
        out->memory_bytes = (uint64_t)pages * (uint64_t)page;
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0)
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    out->last_cache_bytes = cache > 0 ? (uint64_t)cache : 0;
    out->compute_units = assay__host_usable_cpus();
    out->is_cpu = 1;
    return ASSAY_OK;
}

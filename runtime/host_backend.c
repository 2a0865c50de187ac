/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_backend.c -- instances, buffers and launches of host plug-ins. */
#include "runtime/host_backend.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SLOT_ALIGN 64u

assay_status assay__host_fail(const assay_instance *instance, assay_status status,
                              const char *format, ...)
{
    char text[512];
    va_list args;

    if (instance == NULL || instance->host == NULL || instance->host->fail == NULL)
        return status;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return instance->host->fail(status, text);
}

/* The address of a counter is unique among plug-ins, the count within this one. */
static uint64_t new_owner(void)
{
    static uint64_t counter;
    uint64_t count = __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);

    return ((uint64_t)(uintptr_t)&counter << 16) ^ count;
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
    instance->host = host;
    instance->owner = new_owner();
    *out = instance;
    return ASSAY_OK;
}

void assay__host_close(assay_instance *instance)
{
    if (instance == NULL)
        return;
    for (size_t i = 0; i < instance->slot_count; i++)
        if (instance->slots[i].owned)
            free(instance->slots[i].memory);
    free(instance->slots);
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

/* A free slot, growing the table when there is none; SIZE_MAX: out of memory.  Lock held. */
static size_t take_slot(assay_instance *instance)
{
    size_t i = 0;

    while (i < instance->slot_count && instance->slots[i].memory != NULL)
        i++;
    if (i < instance->slot_count)
        return i;
    size_t grown = instance->slot_count == 0 ? 16 : 2 * instance->slot_count;
    assay__host_slot *slots = realloc(instance->slots, grown * sizeof *slots);
    if (slots == NULL || grown > UINT32_MAX)
        return SIZE_MAX;
    memset(slots + instance->slot_count, 0, (grown - instance->slot_count) * sizeof *slots);
    instance->slots = slots;
    instance->slot_count = grown;
    return i;
}

static assay_status put_slot(assay_instance *instance, void *memory, uint64_t bytes, bool owned,
                             assay_buffer *out)
{
    pthread_mutex_lock(&instance->lock);
    size_t i = take_slot(instance);
    if (i == SIZE_MAX) {
        pthread_mutex_unlock(&instance->lock);
        return ASSAY_NOMEM;
    }
    assay__host_slot *slot = &instance->slots[i];
    slot->memory = memory;
    slot->bytes = bytes;
    slot->owned = owned;
    slot->generation++;
    memset(out, 0, sizeof *out);
    out->owner = instance->owner;
    out->at.slot.index = (uint32_t)i;
    out->at.slot.generation = slot->generation;
    out->size_bytes = bytes;
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

assay_status assay__host_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                               assay_buffer *out)
{
    size_t unit = align > SLOT_ALIGN ? (size_t)align : SLOT_ALIGN;
    void *memory = NULL;

    if (align != 0 && (align & (align - 1)) != 0)
        return assay__host_fail(instance, ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                                (unsigned long long)align);
    if (bytes > (uint64_t)INT64_MAX - unit)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "alloc: %llu bytes do not fit",
                                (unsigned long long)bytes);
    if (posix_memalign(&memory, unit, bytes == 0 ? 1 : (size_t)bytes) != 0)
        return assay__host_fail(instance, ASSAY_NOMEM, "alloc: no memory for %llu bytes",
                                (unsigned long long)bytes);
    assay_status status = put_slot(instance, memory, bytes, true, out);
    if (status != ASSAY_OK)
        free(memory);
    return status;
}

assay_status assay__host_wrap(assay_instance *instance, void *host, uint64_t bytes,
                              assay_buffer *out)
{
    if (host == NULL)
        return assay__host_fail(instance, ASSAY_INVALID, "wrap: the pointer is NULL");
    return put_slot(instance, host, bytes, false, out);
}

/* Host address behind a buffer, with its size.  Lock held, but for plain memory. */
static assay_status slot_memory(assay_instance *instance, assay_buffer buffer, char **memory,
                                uint64_t *bytes)
{
    if (buffer.owner == 0 && buffer.at.host != NULL) {
        *memory = buffer.at.host;
        *bytes = buffer.size_bytes;
        return ASSAY_OK;
    }
    if (buffer.owner != instance->owner || buffer.at.slot.index >= instance->slot_count)
        return assay__host_fail(instance, ASSAY_INVALID, "buffer belongs to another instance");
    const assay__host_slot *slot = &instance->slots[buffer.at.slot.index];
    if (slot->memory == NULL || slot->generation != buffer.at.slot.generation)
        return assay__host_fail(instance, ASSAY_INVALID, "buffer was freed before this use");
    *memory = slot->memory;
    *bytes = slot->bytes;
    return ASSAY_OK;
}

static assay_status find_memory(assay_instance *instance, assay_buffer buffer, char **memory,
                                uint64_t *bytes)
{
    if (buffer.owner == 0) /* no slot to guard, and threads that share this instance would meet */
        return slot_memory(instance, buffer, memory, bytes);
    pthread_mutex_lock(&instance->lock);
    assay_status status = slot_memory(instance, buffer, memory, bytes);
    pthread_mutex_unlock(&instance->lock);
    return status;
}

assay_status assay__host_free(assay_instance *instance, assay_buffer buffer)
{
    char *memory;
    uint64_t bytes;

    pthread_mutex_lock(&instance->lock);
    assay_status status = buffer.owner == 0
                              ? assay__host_fail(instance, ASSAY_INVALID,
                                                 "free: the memory was not made by alloc or wrap")
                              : slot_memory(instance, buffer, &memory, &bytes);
    if (status == ASSAY_OK) {
        assay__host_slot *slot = &instance->slots[buffer.at.slot.index];
        if (slot->owned)
            free(slot->memory);
        slot->memory = NULL;
        slot->owned = false;
    }
    pthread_mutex_unlock(&instance->lock);
    return status;
}

static assay_status check_span(assay_instance *instance, const char *what, uint64_t size,
                               uint64_t offset, uint64_t bytes)
{
    if (offset > size || bytes > size - offset)
        return assay__host_fail(
            instance, ASSAY_INVALID, "%s: bytes %llu..+%llu lie outside a buffer of %llu", what,
            (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)size);
    return ASSAY_OK;
}

assay_status assay__host_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    char *to, *from;
    uint64_t to_size, from_size;

    ASSAY_TRY(find_memory(instance, dst, &to, &to_size));
    ASSAY_TRY(find_memory(instance, src, &from, &from_size));
    ASSAY_TRY(check_span(instance, "copy, destination", to_size, dst_offset, bytes));
    ASSAY_TRY(check_span(instance, "copy, source", from_size, src_offset, bytes));
    memmove(to + dst_offset, from + src_offset, bytes);
    return ASSAY_OK;
}

assay_status assay__host_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                              uint64_t bytes, uint8_t value)
{
    char *to;
    uint64_t size;

    ASSAY_TRY(find_memory(instance, dst, &to, &size));
    ASSAY_TRY(check_span(instance, "fill", size, offset, bytes));
    memset(to + offset, value, bytes);
    return ASSAY_OK;
}

assay_status assay__host_synchronize(assay_instance *instance)
{
    (void)instance; /* every launch has ended when it returns */
    return ASSAY_OK;
}

assay_status assay__host_resolve(assay_instance *instance, const assay_launch *in,
                                 assay_launch *out, assay_tensor *operands)
{
    if (in->operand_count > ASSAY_MAX_OPERANDS)
        return assay__host_fail(instance, ASSAY_INVALID, "launch: %u operands, at most %d",
                                in->operand_count, ASSAY_MAX_OPERANDS);
    *out = *in;
    out->operands = operands;
    out->instance = instance;
    for (uint32_t i = 0; i < in->operand_count; i++) {
        char *memory;
        uint64_t bytes;
        operands[i] = in->operands[i];
        ASSAY_TRY(find_memory(instance, operands[i].buffer, &memory, &bytes));
        operands[i].buffer.owner = 0;
        operands[i].buffer.at.host = memory;
        operands[i].buffer.size_bytes = bytes;
    }
    return ASSAY_OK;
}

assay_status assay__host_launch(assay_instance *instance, assay_kernel_fn run,
                                const assay_launch *launch)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch resolved;

    ASSAY_TRY(assay__host_resolve(instance, launch, &resolved, operands));
    return run(&resolved);
}

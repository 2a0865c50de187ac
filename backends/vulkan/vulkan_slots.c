/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_slots.c -- handles: slots with a generation over pieces of blocks.
 *
 * Handles are those of runtime/host_handle.c. */
#include <stdlib.h>
#include <string.h>

#include "backends/tensor_reach.h"
#include "backends/vulkan/vulkan.h"

#define LEAST_ALIGN 256u /* device_profile says so */

/* ---- slots ---- */

static bool is_taken(const vulkan_slot *slot)
{
    return slot->block != NULL || slot->host != NULL;
}

/* SIZE_MAX: out of memory.  base.lock held. */
static size_t take_slot(vulkan_instance *v)
{
    size_t i = 0;

    while (i < v->slot_count && is_taken(&v->slots[i]))
        i++;
    if (i < v->slot_count)
        return i;
    const size_t grown = v->slot_count == 0 ? 16 : 2 * v->slot_count;
    vulkan_slot *slots = realloc(v->slots, grown * sizeof *slots);
    if (slots == NULL || grown > UINT32_MAX)
        return SIZE_MAX;
    memset(slots + v->slot_count, 0, (grown - v->slot_count) * sizeof *slots);
    v->slots = slots;
    v->slot_count = grown;
    return i;
}

/* Its generation stays, so that handles of it are known as freed. */
static void empty_slot(vulkan_instance *v, vulkan_slot *slot)
{
    v->base.live_buffers--;
    if (slot->block != NULL) {
        v->base.live_bytes -= slot->bytes;
        vulkan_block_give(slot->block, slot->offset);
    }
    slot->block = NULL;
    slot->host = NULL;
    slot->users = 0;
}

void assay__host_forget_memory(assay_instance *instance)
{
    vulkan_instance *v = vulkan_of(instance);

    for (size_t i = 0; i < v->slot_count; i++)
        if (is_taken(&v->slots[i]))
            empty_slot(v, &v->slots[i]);
    assay__host_new_generation(instance);
}

/* base.lock held. */
static assay_status find_slot(vulkan_instance *v, assay_buffer buffer, vulkan_slot **out)
{
    ASSAY_TRY(assay__host_check_handle(&v->base, buffer, v->slot_count));
    vulkan_slot *slot = &v->slots[buffer.at.slot.index];
    if (!is_taken(slot) || slot->generation != buffer.at.slot.generation)
        return assay__host_fail_freed(&v->base);
    *out = slot;
    return ASSAY_OK;
}

static assay_status find_locked(vulkan_instance *v, const char *what, assay_buffer buffer,
                                uint64_t offset, uint64_t bytes, vulkan_place *out)
{
    vulkan_slot *slot;

    ASSAY_TRY(find_slot(v, buffer, &slot));
    if (offset > slot->bytes || bytes > slot->bytes - offset)
        return assay__host_fail(
            &v->base, ASSAY_INVALID, "%s: bytes %llu..+%llu lie outside a buffer of %llu", what,
            (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)slot->bytes);
    *out = (vulkan_place){.offset = slot->offset + offset, .bytes = bytes};
    if (slot->host != NULL)
        out->host = slot->host + offset;
    else
        out->buffer = vulkan_block_buffer(slot->block)->handle;
    return ASSAY_OK;
}

assay_status vulkan_find_place(vulkan_instance *v, const char *what, assay_buffer buffer,
                               uint64_t offset, uint64_t bytes, vulkan_place *out)
{
    pthread_mutex_lock(&v->base.lock);
    assay_status status = find_locked(v, what, buffer, offset, bytes, out);
    pthread_mutex_unlock(&v->base.lock);
    return status;
}

/* ---- making and freeing ---- */

/* host NULL: memory of the device.  base.lock held. */
static assay_status put(vulkan_instance *v, char *host, uint64_t bytes, uint64_t align,
                        assay_buffer *out)
{
    const size_t i = take_slot(v);
    vulkan_block *block = NULL;
    uint64_t offset = 0;

    if (i == SIZE_MAX)
        return assay__host_fail(&v->base, ASSAY_NOMEM, "no memory for another buffer");
    if (host == NULL) /* no bytes have a place of their own, too */
        ASSAY_TRY(vulkan_block_take(v, bytes > 0 ? bytes : 1, align, &block, &offset));
    vulkan_slot *slot = &v->slots[i];
    *slot = (vulkan_slot){.block = block,
                          .host = host,
                          .offset = offset,
                          .bytes = bytes,
                          .generation = slot->generation + 1};
    v->base.live_buffers++;
    v->base.live_bytes += host == NULL ? bytes : 0;
    memset(out, 0, sizeof *out);
    out->owner = v->base.owner;
    out->at.slot.index = (uint32_t)i;
    out->at.slot.generation = slot->generation;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

static assay_status check_alloc(const assay_instance *instance, uint64_t bytes, uint64_t align)
{
    if (bytes == 0)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "alloc: a buffer of 0 bytes; give at least 1");
    if ((align & (align - 1)) != 0)
        return assay__host_fail(instance, ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                                (unsigned long long)align);
    if (bytes > (uint64_t)INT64_MAX / 2 || align > (uint64_t)INT64_MAX / 2)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "alloc: %llu bytes do not fit",
                                (unsigned long long)bytes);
    return ASSAY_OK;
}

static assay_status fail_planned(const vulkan_instance *v, uint64_t bytes)
{
    const assay_error_detail detail = {
        .status = ASSAY_NOMEM, .requested_bytes = bytes, .available_bytes = vulkan_free_bytes(v)};

    return assay__host_fail_detail(&v->base, &detail,
                                   "alloc: no memory for %llu bytes, as it was asked for",
                                   (unsigned long long)bytes);
}

assay_status vulkan_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                          assay_buffer *out)
{
    vulkan_instance *v = vulkan_of(instance);

    ASSAY_TRY(assay__host_alive(instance, "alloc"));
    ASSAY_TRY(check_alloc(instance, bytes, align));
    if (assay__host_fault_due(instance, ASSAY_FAULT_OUT_OF_MEMORY, NULL))
        return fail_planned(v, bytes);
    ASSAY_TRY(vulkan_enter(v));
    pthread_mutex_lock(&instance->lock);
    assay_status status = put(v, NULL, bytes, align > LEAST_ALIGN ? align : LEAST_ALIGN, out);
    pthread_mutex_unlock(&instance->lock);
    vulkan_leave(v);
    if (status == ASSAY_OK)
        assay__host_count(instance, ASSAY__HOST_COUNT_allocs, 1);
    return status;
}

/* base.lock held. */
static assay_status take_back(vulkan_instance *v, assay_buffer buffer, bool *trims)
{
    vulkan_slot *slot;

    ASSAY_TRY(find_slot(v, buffer, &slot));
    if (slot->users > 0)
        return assay__host_fail(&v->base, ASSAY_PENDING,
                                "free: %u queued launches still use the buffer; wait for them",
                                slot->users);
    empty_slot(v, slot);
    *trims = vulkan_blocks_are_idle(v);
    return ASSAY_OK;
}

/* Memory goes back to the device when nobody is at work there; else the next free sees to it. */
static void trim(vulkan_instance *v)
{
    if (pthread_rwlock_trywrlock(&v->gate) != 0)
        return;
    if (v->device != NULL)
        vulkan_blocks_trim(v, false);
    pthread_rwlock_unlock(&v->gate);
}

/* Also of a lost device.  Transfers hold the lock of staging: none loses its buffer meanwhile. */
assay_status vulkan_free(assay_instance *instance, assay_buffer buffer)
{
    vulkan_instance *v = vulkan_of(instance);
    bool trims = false;

    if (buffer.owner == 0)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "free: the memory was not made by alloc or wrap");
    pthread_rwlock_rdlock(&v->gate);
    vulkan_device *d = v->device;
    if (d != NULL)
        pthread_mutex_lock(&d->staging.lock);
    pthread_mutex_lock(&instance->lock);
    assay_status status = take_back(v, buffer, &trims);
    pthread_mutex_unlock(&instance->lock);
    if (d != NULL)
        pthread_mutex_unlock(&d->staging.lock);
    pthread_rwlock_unlock(&v->gate);
    if (trims)
        trim(v);
    if (status == ASSAY_OK)
        assay__host_count(instance, ASSAY__HOST_COUNT_frees, 1);
    return status;
}

/* A handle of the caller's memory, which transfers reach and kernels do not. */
assay_status vulkan_wrap(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out)
{
    ASSAY_TRY(assay__host_alive(instance, "wrap"));
    if (host == NULL)
        return assay__host_fail(instance, ASSAY_INVALID, "wrap: the pointer is NULL");
    pthread_mutex_lock(&instance->lock);
    assay_status status = put(vulkan_of(instance), host, bytes, 1, out);
    pthread_mutex_unlock(&instance->lock);
    return status;
}

/* ---- operands of launches ---- */

/* No handle has it: marks of handles are odd or even as generations are, this one is turned over.
 */
static uint64_t mark_of(const assay_instance *instance)
{
    return ~instance->owner;
}

static assay_status resolve_one(vulkan_instance *v, uint32_t index, assay_tensor *t,
                                vulkan_slot **slot)
{
    union {
        uint64_t number;
        void *address;
    } at = {0};

    if (t->buffer.owner == 0 && !tensor_has_elements(t)) /* never looked at */
        return ASSAY_OK;
    if (t->buffer.owner != 0)
        ASSAY_TRY(find_slot(v, t->buffer, slot));
    if (*slot == NULL || (*slot)->host != NULL)
        return assay__host_fail(&v->base, ASSAY_INVALID,
                                "operand %u lies in host memory, which the device does not reach; "
                                "upload it to a buffer of this backend",
                                index);
    at.number = vulkan_block_buffer((*slot)->block)->address + (*slot)->offset;
    t->buffer.owner = mark_of(&v->base);
    t->buffer.at.host = at.address;
    t->buffer.size_bytes = (*slot)->bytes;
    return ASSAY_OK;
}

static assay_status resolve_all(vulkan_instance *v, const assay_launch *in, assay_tensor *operands,
                                int pin)
{
    vulkan_slot *slots[ASSAY_MAX_OPERANDS] = {NULL};

    for (uint32_t i = 0; i < in->operand_count; i++) {
        operands[i] = in->operands[i];
        ASSAY_TRY(resolve_one(v, i, &operands[i], &slots[i]));
    }
    for (uint32_t i = 0; pin != 0 && i < in->operand_count; i++)
        if (slots[i] != NULL)
            slots[i]->users += pin > 0 ? 1u : UINT32_MAX; /* minus one */
    return ASSAY_OK;
}

/* In place of that of runtime/host_memory.c: addresses of the device. */
assay_status assay__host_resolve(assay_instance *instance, const assay_launch *in,
                                 assay_launch *out, assay_tensor *operands, int pin)
{
    if (in->operand_count > ASSAY_MAX_OPERANDS)
        return assay__host_fail(instance, ASSAY_INVALID, "launch: %u operands, at most %d",
                                in->operand_count, ASSAY_MAX_OPERANDS);
    *out = *in;
    out->operands = operands;
    out->instance = instance;
    pthread_mutex_lock(&instance->lock);
    assay_status status = resolve_all(vulkan_of(instance), in, operands, pin);
    pthread_mutex_unlock(&instance->lock);
    return status;
}

assay_status vulkan_addresses(const assay_launch *launch, uint64_t *out)
{
    assay_instance *instance = launch->instance;
    union {
        void *address;
        uint64_t number;
    } at;

    if (instance == NULL)
        return ASSAY_INVALID; /* not by the slots: there is nobody to tell */
    const uint64_t mark = mark_of(instance);
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        const assay_tensor *t = &launch->operands[i];
        out[i] = 0;
        if (!tensor_has_elements(t))
            continue;
        if (t->buffer.owner != mark)
            return assay__host_fail(instance, ASSAY_INVALID,
                                    "operand %u is no buffer of this device at this time; "
                                    "kernels of 'vulkan' run by the slots launch and measure",
                                    i);
        if (!tensor_is_inside(t, t->buffer.size_bytes))
            return assay__host_fail(instance, ASSAY_INVALID,
                                    "operand %u reaches beyond its buffer of %llu bytes", i,
                                    (unsigned long long)t->buffer.size_bytes);
        at.address = t->buffer.at.host;
        out[i] = at.number + t->byte_offset;
        if (out[i] % assay_dtype_bytes(t->dtype) != 0)
            return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                    "operand %u is not aligned to its elements", i);
    }
    return ASSAY_OK;
}

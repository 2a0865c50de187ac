/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_memory.c -- buffers: slots with a generation, and who holds them.
 *
 * A handle holds the instance's mark, whose low 16 bits are those of the generation that made it,
 * and the place and generation of its slot.  A slot is pinned while a transfer or a launch uses it,
 * so that it is not freed under them.
 *
 * Wrapped memory of the host is registered with the driver, which fixes its pages and gives the
 * device an address for it: kernels then read it across the bus.  Where the device cannot do that
 * wrapping is refused; copying behind the caller's back would show neither side what the other
 * wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"
#include "backends/tensor_reach.h"

#define GENERATION_BITS UINT64_C(0xffff)

/* ---- slots ---- */

/* A free slot, growing the table when there is none; SIZE_MAX: out of memory.  Lock held. */
static size_t take_slot(assay_instance *instance)
{
    size_t i = 0;

    while (i < instance->slot_count && instance->slots[i].address != 0)
        i++;
    if (i < instance->slot_count)
        return i;
    const size_t grown = instance->slot_count == 0 ? 16 : 2 * instance->slot_count;
    cuda_slot *slots = grown <= UINT32_MAX ? realloc(instance->slots, grown * sizeof *slots) : NULL;
    if (slots == NULL)
        return SIZE_MAX;
    memset(slots + instance->slot_count, 0, (grown - instance->slot_count) * sizeof *slots);
    instance->slots = slots;
    instance->slot_count = grown;
    return i;
}

static assay_status put_slot(assay_instance *instance, const cuda_slot *with, assay_buffer *out)
{
    pthread_mutex_lock(&instance->lock);
    const size_t i = take_slot(instance);
    if (i == SIZE_MAX) {
        pthread_mutex_unlock(&instance->lock);
        return cuda_fail(instance, ASSAY_NOMEM, "no memory for another buffer");
    }
    cuda_slot *slot = &instance->slots[i];
    const uint32_t generation = slot->generation + 1;
    *slot = *with;
    slot->generation = generation;
    instance->live_buffers++;
    instance->live_bytes += slot->wrapped == NULL ? slot->bytes : 0;
    memset(out, 0, sizeof *out);
    out->owner = instance->owner;
    out->at.slot.index = (uint32_t)i;
    out->at.slot.generation = slot->generation;
    out->size_bytes = slot->bytes;
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

/* Its generation stays, so that handles of it are known as freed.  Lock held. */
static cuda_slot empty_slot(assay_instance *instance, cuda_slot *slot)
{
    const cuda_slot was = *slot;

    instance->live_buffers--;
    instance->live_bytes -= was.wrapped == NULL ? was.bytes : 0;
    *slot = (cuda_slot){.generation = was.generation};
    return was;
}

/* What was behind a slot goes back to the driver.  On a lost device the calls fail, and the memory
 * goes with the context. */
static void let_go(const assay_instance *instance, const cuda_slot *slot)
{
    if (slot->wrapped != NULL)
        (void)instance->cu->cuMemHostUnregister(slot->wrapped);
    else
        (void)instance->cu->cuMemFree(slot->block != 0 ? slot->block : slot->address);
}

void cuda_forget_memory(assay_instance *instance)
{
    pthread_mutex_lock(&instance->lock);
    for (size_t i = 0; i < instance->slot_count; i++)
        if (instance->slots[i].address != 0) {
            const cuda_slot was = empty_slot(instance, &instance->slots[i]);
            let_go(instance, &was);
        }
    pthread_mutex_unlock(&instance->lock);
}

/* The slot of a handle.  Lock held. */
static assay_status find_slot(assay_instance *instance, assay_buffer buffer, cuda_slot **out)
{
    if ((buffer.owner & ~GENERATION_BITS) != (instance->owner & ~GENERATION_BITS))
        return cuda_fail(instance, ASSAY_FOREIGN,
                         "buffer belongs to another instance; copy by way of the host");
    if (buffer.owner != instance->owner)
        return cuda_fail_generation(instance, "buffer");
    if (buffer.at.slot.index >= instance->slot_count)
        return cuda_fail(instance, ASSAY_INVALID, "buffer %u was never made here",
                         buffer.at.slot.index);
    cuda_slot *slot = &instance->slots[buffer.at.slot.index];
    if (slot->address == 0 || slot->generation != buffer.at.slot.generation)
        return cuda_fail(instance, ASSAY_FREED, "buffer was freed before this use");
    *out = slot;
    return ASSAY_OK;
}

/* ---- making ---- */

static assay_status fail_memory(const assay_instance *instance, uint64_t bytes)
{
    size_t free_bytes = 0, all_bytes = 0;

    (void)instance->cu->cuMemGetInfo(&free_bytes, &all_bytes);
    const assay_error_detail detail = {.status = ASSAY_NOMEM,
                                       .requested_bytes = bytes,
                                       .available_bytes = free_bytes,
                                       .driver_code = CUDA_ERROR_OUT_OF_MEMORY};
    return cuda_fail_detail(instance, &detail,
                            "alloc: the device has no memory for %llu bytes, %zu are free; free "
                            "buffers or choose a smaller problem",
                            (unsigned long long)bytes, free_bytes);
}

/* The driver aligns to CUDA_ALIGN; what is to lie on more gets a block that holds such a place. */
static assay_status make_block(assay_instance *instance, uint64_t bytes, uint64_t align,
                               cuda_slot *out)
{
    const uint64_t more = align > CUDA_ALIGN ? align - CUDA_ALIGN : 0;
    CUdeviceptr block = 0;

    if (bytes > INT64_MAX - more)
        return cuda_fail(instance, ASSAY_OVERFLOW, "alloc: %llu bytes do not fit",
                         (unsigned long long)bytes);
    const CUresult result = instance->cu->cuMemAlloc(&block, (size_t)(bytes + more));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return fail_memory(instance, bytes);
    ASSAY_TRY(cuda_check(instance, result, "alloc"));
    const uint64_t skip = align > 0 ? (align - block % align) % align : 0;
    *out = (cuda_slot){.address = block + skip, .block = skip > 0 ? block : 0, .bytes = bytes};
    return ASSAY_OK;
}

static assay_status make_buffer(assay_instance *instance, uint64_t bytes, uint64_t align,
                                assay_buffer *out)
{
    cuda_slot slot;

    if (bytes == 0)
        return cuda_fail(instance, ASSAY_INVALID, "alloc: a buffer of 0 bytes; give at least 1");
    if ((align & (align - 1)) != 0)
        return cuda_fail(instance, ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                         (unsigned long long)align);
    ASSAY_TRY(make_block(instance, bytes, align, &slot));
    const assay_status status = put_slot(instance, &slot, out);
    if (status != ASSAY_OK)
        let_go(instance, &slot);
    else
        cuda_count(instance, CUDA_COUNT_allocs, 1);
    return status;
}

assay_status cuda_alloc(assay_instance *instance, uint64_t bytes, uint64_t align, assay_buffer *out)
{
    ASSAY_TRY(cuda_enter(instance, "alloc"));
    const assay_status status = make_buffer(instance, bytes, align, out);
    cuda_leave(instance);
    return status;
}

static assay_status register_host(assay_instance *instance, void *host, uint64_t bytes,
                                  cuda_slot *out)
{
    CUdeviceptr address = 0;

    if (cuda_selected(instance)->can_map_host == 0)
        return cuda_fail(
            instance, ASSAY_UNSUPPORTED,
            "wrap: this device does not reach the host's memory; use alloc and upload");
    const CUresult result =
        instance->cu->cuMemHostRegister(host, (size_t)bytes, CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "wrap: the memory is registered with CUDA already, here or elsewhere");
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NOT_PERMITTED ||
        result == CUDA_ERROR_INVALID_VALUE)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "wrap: the driver does not take this memory (%s); use alloc and upload",
                         cuda_result_name(instance->cu, result));
    ASSAY_TRY(cuda_check(instance, result, "wrap"));
    const assay_status status = cuda_check(
        instance, instance->cu->cuMemHostGetDevicePointer(&address, host, 0), "wrap, its address");
    if (status != ASSAY_OK) {
        (void)instance->cu->cuMemHostUnregister(host);
        return status;
    }
    *out = (cuda_slot){.address = address, .wrapped = host, .bytes = bytes};
    return ASSAY_OK;
}

static assay_status wrap(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out)
{
    cuda_slot slot;

    if (host == NULL || bytes == 0)
        return cuda_fail(instance, ASSAY_INVALID, "wrap: %s",
                         host == NULL ? "the pointer is NULL" : "memory of 0 bytes");
    ASSAY_TRY(register_host(instance, host, bytes, &slot));
    const assay_status status = put_slot(instance, &slot, out);
    if (status != ASSAY_OK)
        let_go(instance, &slot);
    return status;
}

assay_status cuda_wrap(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out)
{
    ASSAY_TRY(cuda_enter(instance, "wrap"));
    const assay_status status = wrap(instance, host, bytes, out);
    cuda_leave(instance);
    return status;
}

/* ---- freeing ---- */

/* Takes the slot's content out of the table, unless somebody uses it. */
static assay_status take_out(assay_instance *instance, assay_buffer buffer, cuda_slot *out)
{
    cuda_slot *slot;

    pthread_mutex_lock(&instance->lock);
    assay_status status = find_slot(instance, buffer, &slot);
    if (status == ASSAY_OK && slot->users > 0)
        status = cuda_fail(instance, ASSAY_PENDING,
                           "free: %u launches or transfers still use the buffer; wait for them",
                           slot->users);
    if (status == ASSAY_OK)
        *out = empty_slot(instance, slot);
    pthread_mutex_unlock(&instance->lock);
    return status;
}

/* Launches of queues end unseen: only who asks for their events learns it. */
static assay_status free_buffer(assay_instance *instance, assay_buffer buffer)
{
    cuda_slot was;

    if (buffer.owner == 0)
        return cuda_fail(instance, ASSAY_INVALID, "free: the memory was not made by alloc or wrap");
    assay_status status = take_out(instance, buffer, &was);
    if (status == ASSAY_PENDING) {
        cuda_reap_queues(instance);
        status = take_out(instance, buffer, &was);
    }
    ASSAY_TRY(status);
    /* What was launched without a queue may still use it. */
    if (!atomic_load(&instance->is_lost))
        (void)cuda_check(instance, instance->cu->cuStreamSynchronize(instance->own->stream),
                         "free");
    let_go(instance, &was);
    cuda_count(instance, CUDA_COUNT_frees, 1);
    return ASSAY_OK;
}

/* Also of a lost device: a program that cleans up need not recover first. */
assay_status cuda_free(assay_instance *instance, assay_buffer buffer)
{
    cuda_enter_any(instance);
    const assay_status status = free_buffer(instance, buffer);
    cuda_leave(instance);
    return status;
}

assay_status cuda_map(assay_instance *instance, assay_buffer buffer, void **host, uint64_t *bytes)
{
    if (buffer.owner != 0)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "map: the memory is the device's own (no unified_memory); use download");
    if (buffer.at.host == NULL)
        return cuda_fail(instance, ASSAY_INVALID, "map: the buffer is NULL");
    *host = buffer.at.host;
    *bytes = buffer.size_bytes;
    return ASSAY_OK;
}

/* ---- pinning ---- */

static assay_status check_span(const assay_instance *instance, const char *what, uint64_t size,
                               uint64_t offset, uint64_t bytes)
{
    if (offset > size || bytes > size - offset)
        return cuda_fail(
            instance, ASSAY_INVALID, "%s: bytes %llu..+%llu lie outside a buffer of %llu", what,
            (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)size);
    return ASSAY_OK;
}

static assay_status host_place(const assay_instance *instance, const char *what,
                               assay_buffer buffer, uint64_t offset, uint64_t bytes,
                               cuda_place *out)
{
    if (buffer.at.host == NULL && (buffer.size_bytes > 0 || bytes > 0))
        return cuda_fail(instance, ASSAY_INVALID, "%s: the buffer is NULL", what);
    ASSAY_TRY(check_span(instance, what, buffer.size_bytes, offset, bytes));
    static char nothing; /* of an empty buffer: an address that is not that of the device */
    *out =
        (cuda_place){.host = buffer.at.host != NULL ? (char *)buffer.at.host + offset : &nothing};
    return ASSAY_OK;
}

assay_status cuda_pin(assay_instance *instance, const char *what, assay_buffer buffer,
                      uint64_t offset, uint64_t bytes, cuda_place *out)
{
    cuda_slot *slot;

    if (buffer.owner == 0)
        return host_place(instance, what, buffer, offset, bytes, out);
    pthread_mutex_lock(&instance->lock);
    assay_status status = find_slot(instance, buffer, &slot);
    if (status == ASSAY_OK)
        status = check_span(instance, what, slot->bytes, offset, bytes);
    if (status == ASSAY_OK) {
        slot->users++;
        *out = (cuda_place){.device = slot->address + offset, .slot = buffer.at.slot.index};
    }
    pthread_mutex_unlock(&instance->lock);
    return status;
}

void cuda_unpin_slots(assay_instance *instance, const uint32_t *slots, uint32_t count)
{
    pthread_mutex_lock(&instance->lock);
    for (uint32_t i = 0; i < count; i++)
        instance->slots[slots[i]].users--;
    pthread_mutex_unlock(&instance->lock);
}

void cuda_unpin(assay_instance *instance, const cuda_place *place)
{
    if (place->host == NULL)
        cuda_unpin_slots(instance, &place->slot, 1);
}

/* ---- operands of launches ---- */

/* An operand of no elements is never followed, wherever it is. */
static assay_status refuse_host(const assay_instance *instance, const assay_tensor *t, uint32_t i)
{
    if (!tensor_has_elements(t))
        return ASSAY_OK;
    if (t->buffer.at.host == NULL)
        return cuda_fail(instance, ASSAY_INVALID, "operand %u: the buffer is NULL", i);
    return cuda_fail(instance, ASSAY_UNSUPPORTED,
                     "operand %u lies in memory of the host, which kernels of this device do not "
                     "reach; upload it, or wrap it",
                     i);
}

/* An address that a kernel cannot read loses the device; one beside the buffer is another's. */
static assay_status check_reach(const assay_instance *instance, const assay_tensor *t,
                                const cuda_slot *slot, uint32_t i)
{
    if (!tensor_has_elements(t))
        return ASSAY_OK;
    if (!tensor_is_inside(t, slot->bytes))
        return cuda_fail(instance, ASSAY_INVALID,
                         "operand %u reaches beyond its buffer of %llu bytes", i,
                         (unsigned long long)slot->bytes);
    if ((slot->address + t->byte_offset) % assay_dtype_bytes(t->dtype) != 0)
        return cuda_fail(instance, ASSAY_UNSUPPORTED, "operand %u is not aligned to its elements",
                         i);
    return ASSAY_OK;
}

static assay_status resolve_one(assay_instance *instance, assay_tensor *t, uint32_t i,
                                uint32_t *slots, uint32_t *count)
{
    cuda_slot *slot;

    if (t->buffer.owner == 0)
        return refuse_host(instance, t, i);
    ASSAY_TRY(find_slot(instance, t->buffer, &slot));
    ASSAY_TRY(check_reach(instance, t, slot, i));
    slot->users++;
    slots[(*count)++] = t->buffer.at.slot.index;
    t->buffer.owner = 0;
    t->buffer.at.host = (void *)(uintptr_t)slot->address; /* NOLINT: an address of the device */
    t->buffer.size_bytes = slot->bytes;
    return ASSAY_OK;
}

assay_status cuda_resolve(assay_instance *instance, const assay_launch *in, assay_launch *out,
                          assay_tensor *operands, uint32_t *slots, uint32_t *count)
{
    assay_status status = ASSAY_OK;

    *count = 0;
    if (in->operand_count > ASSAY_MAX_OPERANDS)
        return cuda_fail(instance, ASSAY_INVALID, "launch: %u operands, at most %d",
                         in->operand_count, ASSAY_MAX_OPERANDS);
    *out = *in;
    out->operands = operands;
    out->instance = instance;
    pthread_mutex_lock(&instance->lock);
    for (uint32_t i = 0; i < in->operand_count && status == ASSAY_OK; i++) {
        operands[i] = in->operands[i];
        status = resolve_one(instance, &operands[i], i, slots, count);
    }
    pthread_mutex_unlock(&instance->lock);
    if (status != ASSAY_OK) {
        cuda_unpin_slots(instance, slots, *count);
        *count = 0;
    }
    return status;
}

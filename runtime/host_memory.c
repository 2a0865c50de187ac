/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_memory.c -- buffers of host plug-ins: slots with a generation, and what moves. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/host_backend.h"
#include "runtime/word_digest.h"

#define SLOT_ALIGN 64u

/* ---- slots ---- */

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
        return assay__host_fail(instance, ASSAY_NOMEM, "no memory for another buffer");
    }
    assay__host_slot *slot = &instance->slots[i];
    *slot = (assay__host_slot){
        .memory = memory, .bytes = bytes, .generation = slot->generation + 1, .owned = owned};
    instance->live_buffers++;
    instance->live_bytes += owned ? bytes : 0;
    memset(out, 0, sizeof *out);
    out->owner = instance->owner;
    out->at.slot.index = (uint32_t)i;
    out->at.slot.generation = slot->generation;
    out->size_bytes = bytes;
    pthread_mutex_unlock(&instance->lock);
    return ASSAY_OK;
}

/* Frees what a slot holds; its generation stays, so that handles of it are known as freed. */
static void empty_slot(assay_instance *instance, assay__host_slot *slot)
{
    if (slot->memory == NULL)
        return;
    instance->live_buffers--;
    instance->live_bytes -= slot->owned ? slot->bytes : 0;
    if (slot->owned)
        free(slot->memory);
    slot->memory = NULL;
    slot->owned = false;
    slot->users = 0;
}

void assay__host_forget_memory(assay_instance *instance)
{
    for (size_t i = 0; i < instance->slot_count; i++)
        empty_slot(instance, &instance->slots[i]);
    assay__host_new_generation(instance);
}

/* The slot of a handle.  Lock held. */
static assay_status find_slot(assay_instance *instance, assay_buffer buffer, assay__host_slot **out)
{
    ASSAY_TRY(assay__host_check_handle(instance, buffer, instance->slot_count));
    assay__host_slot *slot = &instance->slots[buffer.at.slot.index];
    if (slot->memory == NULL || slot->generation != buffer.at.slot.generation)
        return assay__host_fail_freed(instance);
    *out = slot;
    return ASSAY_OK;
}

/* Host address behind a buffer, with its size.  Lock held, but for plain memory. */
static assay_status slot_memory(assay_instance *instance, assay_buffer buffer, char **memory,
                                uint64_t *bytes)
{
    assay__host_slot *slot;

    if (buffer.owner == 0) {
        if (buffer.at.host == NULL && buffer.size_bytes > 0)
            return assay__host_fail(instance, ASSAY_INVALID, "the buffer is NULL");
        *memory = buffer.at.host;
        *bytes = buffer.size_bytes;
        return ASSAY_OK;
    }
    ASSAY_TRY(find_slot(instance, buffer, &slot));
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

/* ---- making and freeing ---- */

static assay_status fail_memory(const assay_instance *instance, uint64_t bytes)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const assay_error_detail detail = {
        .status = ASSAY_NOMEM,
        .requested_bytes = bytes,
        .available_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0};

    return assay__host_fail_detail(instance, &detail,
                                   "alloc: no memory for %llu bytes, %llu are free; free buffers "
                                   "or choose a smaller problem",
                                   (unsigned long long)bytes,
                                   (unsigned long long)detail.available_bytes);
}

assay_status assay__host_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                               assay_buffer *out)
{
    size_t unit = align > SLOT_ALIGN ? (size_t)align : SLOT_ALIGN;
    void *memory = NULL;

    ASSAY_TRY(assay__host_alive(instance, "alloc"));
    if (align != 0 && (align & (align - 1)) != 0)
        return assay__host_fail(instance, ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                                (unsigned long long)align);
    if (bytes > (uint64_t)INT64_MAX - unit)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "alloc: %llu bytes do not fit",
                                (unsigned long long)bytes);
    if (assay__host_fault_due(instance, ASSAY_FAULT_OUT_OF_MEMORY, NULL) ||
        posix_memalign(&memory, unit, bytes == 0 ? 1 : (size_t)bytes) != 0)
        return fail_memory(instance, bytes);
    if (instance->zero_fill)
        memset(memory, 0, (size_t)bytes);
    assay_status status = put_slot(instance, memory, bytes, true, out);
    if (status != ASSAY_OK)
        free(memory);
    else
        assay__host_count(instance, ASSAY__HOST_COUNT_allocs, 1);
    return status;
}

assay_status assay__host_wrap(assay_instance *instance, void *host, uint64_t bytes,
                              assay_buffer *out)
{
    ASSAY_TRY(assay__host_alive(instance, "wrap"));
    if (host == NULL)
        return assay__host_fail(instance, ASSAY_INVALID, "wrap: the pointer is NULL");
    return put_slot(instance, host, bytes, false, out);
}

/* Also of a lost device: a program that cleans up need not recover first. */
assay_status assay__host_free(assay_instance *instance, assay_buffer buffer)
{
    assay__host_slot *slot;

    if (buffer.owner == 0)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "free: the memory was not made by alloc or wrap");
    pthread_mutex_lock(&instance->lock);
    assay_status status = find_slot(instance, buffer, &slot);
    if (status == ASSAY_OK && slot->users > 0)
        status = assay__host_fail(instance, ASSAY_PENDING,
                                  "free: %u queued launches still use the buffer; wait for them",
                                  slot->users);
    if (status == ASSAY_OK)
        empty_slot(instance, slot);
    pthread_mutex_unlock(&instance->lock);
    if (status == ASSAY_OK)
        assay__host_count(instance, ASSAY__HOST_COUNT_frees, 1);
    return status;
}

/* ---- moving ---- */

static assay_status check_span(const assay_instance *instance, const char *what, uint64_t size,
                               uint64_t offset, uint64_t bytes)
{
    if (offset > size || bytes > size - offset)
        return assay__host_fail(
            instance, ASSAY_INVALID, "%s: bytes %llu..+%llu lie outside a buffer of %llu", what,
            (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)size);
    return ASSAY_OK;
}

/* Where bytes at an offset of a buffer lie. */
static assay_status span(assay_instance *instance, const char *what, assay_buffer buffer,
                         uint64_t offset, uint64_t bytes, char **out)
{
    char *memory;
    uint64_t size;

    ASSAY_TRY(find_memory(instance, buffer, &memory, &size));
    ASSAY_TRY(check_span(instance, what, size, offset, bytes));
    *out = memory != NULL ? memory + offset : NULL;
    return ASSAY_OK;
}

/* Of memory that this backend reaches as the host does. */
assay_status assay__host_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                                uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    char *from;

    ASSAY_TRY(assay__host_alive(instance, "digest"));
    if (count == 0 || bytes == 0 || (offset | bytes | step) % 8 != 0 ||
        (count > 1 && (step < bytes || step > (UINT64_MAX - bytes - offset) / (count - 1))))
        return assay__host_fail(instance, ASSAY_INVALID,
                                "digest: needs pieces beside each other, in multiples of 8 bytes");
    ASSAY_TRY(span(instance, "digest", buffer, offset, (count - 1) * step + bytes, &from));
    for (size_t i = 0; i < count; i++)
        out[i] = assay__word_digest(from + i * step, (size_t)bytes);
    return ASSAY_OK;
}

assay_status assay__host_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    char *to, *from;

    ASSAY_TRY(assay__host_alive(instance, "copy"));
    ASSAY_TRY(span(instance, "copy, destination", dst, dst_offset, bytes, &to));
    ASSAY_TRY(span(instance, "copy, source", src, src_offset, bytes, &from));
    if (bytes > 0)
        memmove(to, from, bytes);
    assay__host_count(instance, ASSAY__HOST_COUNT_copies, 1);
    assay__host_count(instance, ASSAY__HOST_COUNT_copy_bytes, bytes);
    return ASSAY_OK;
}

assay_status assay__host_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                              uint64_t bytes, uint8_t value)
{
    char *to;

    ASSAY_TRY(assay__host_alive(instance, "fill"));
    ASSAY_TRY(span(instance, "fill", dst, offset, bytes, &to));
    if (bytes > 0)
        memset(to, value, bytes);
    assay__host_count(instance, ASSAY__HOST_COUNT_fills, 1);
    assay__host_count(instance, ASSAY__HOST_COUNT_fill_bytes, bytes);
    return ASSAY_OK;
}

static assay_status find_piece(assay_instance *instance, const char *what,
                               const assay_transfer *piece, size_t i, char **at)
{
    if (piece->host == NULL && piece->bytes > 0)
        return assay__host_fail(instance, ASSAY_INVALID, "%s: piece %zu has no host memory", what,
                                i);
    return span(instance, what, piece->buffer, piece->offset, piece->bytes, at);
}

static void move_piece(const assay_transfer *piece, char *at, bool up)
{
    if (piece->bytes > 0)
        memmove(up ? at : (char *)piece->host, up ? (char *)piece->host : at, piece->bytes);
}

/* All pieces are looked at before the first moves, and looked up again when they do: in between
 * others may free, which the second look refuses, as it would be without a batch. */
static assay_status move_all(assay_instance *instance, const char *what,
                             const assay_transfer *pieces, size_t count, bool up, uint64_t *total)
{
    char *at;

    *total = 0;
    for (size_t i = 0; i < count; i++) {
        ASSAY_TRY(find_piece(instance, what, &pieces[i], i, &at));
        *total += pieces[i].bytes;
    }
    if (count == 1) {
        move_piece(pieces, at, up);
        return ASSAY_OK;
    }
    for (size_t i = 0; i < count; i++) {
        ASSAY_TRY(find_piece(instance, what, &pieces[i], i, &at));
        move_piece(&pieces[i], at, up);
    }
    return ASSAY_OK;
}

static assay_status move_pieces(assay_instance *instance, const char *what,
                                const assay_transfer *pieces, size_t count, bool up)
{
    uint64_t total;

    ASSAY_TRY(assay__host_alive(instance, what));
    ASSAY_TRY(move_all(instance, what, pieces, count, up, &total));
    assay__host_count(instance, ASSAY__HOST_COUNT_staging_operations, 1);
    assay__host_count(instance, up ? ASSAY__HOST_COUNT_uploads : ASSAY__HOST_COUNT_downloads,
                      count);
    assay__host_count(
        instance, up ? ASSAY__HOST_COUNT_upload_bytes : ASSAY__HOST_COUNT_download_bytes, total);
    return ASSAY_OK;
}

assay_status assay__host_upload(assay_instance *instance, const assay_transfer *pieces,
                                size_t count)
{
    return move_pieces(instance, "upload", pieces, count, true);
}

assay_status assay__host_download(assay_instance *instance, const assay_transfer *pieces,
                                  size_t count)
{
    return move_pieces(instance, "download", pieces, count, false);
}

assay_status assay__host_map(assay_instance *instance, assay_buffer buffer, void **host,
                             uint64_t *bytes)
{
    char *memory;

    ASSAY_TRY(assay__host_not_lost(instance, "map"));
    ASSAY_TRY(find_memory(instance, buffer, &memory, bytes));
    *host = memory;
    return ASSAY_OK;
}

/* ---- operands of launches ---- */

/* Under one lock, so that a launch costs one however many operands it has. Lock held. */
static assay_status resolve_slots(assay_instance *instance, const assay_launch *in,
                                  assay_tensor *operands, int pin)
{
    assay__host_slot *slots[ASSAY_MAX_OPERANDS] = {NULL};

    for (uint32_t i = 0; i < in->operand_count; i++) {
        operands[i] = in->operands[i];
        if (operands[i].buffer.owner == 0)
            continue;
        ASSAY_TRY(find_slot(instance, operands[i].buffer, &slots[i]));
        operands[i].buffer.owner = 0;
        operands[i].buffer.at.host = slots[i]->memory;
        operands[i].buffer.size_bytes = slots[i]->bytes;
    }
    for (uint32_t i = 0; pin != 0 && i < in->operand_count; i++)
        if (slots[i] != NULL)
            slots[i]->users += pin > 0 ? 1u : UINT32_MAX; /* minus one */
    return ASSAY_OK;
}

static bool has_elements(const assay_tensor *t)
{
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dims[d] == 0)
            return false;
    return true;
}

/* A kernel would write to where there is nothing; to an operand of no elements it does not. */
static assay_status check_plain(const assay_instance *instance, const assay_launch *launch,
                                bool *has_slots)
{
    *has_slots = false;
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        const assay_buffer *b = &launch->operands[i].buffer;
        *has_slots = *has_slots || b->owner != 0;
        if (b->owner == 0 && b->at.host == NULL && has_elements(&launch->operands[i]))
            return assay__host_fail(instance, ASSAY_INVALID, "operand %u: the buffer is NULL", i);
    }
    return ASSAY_OK;
}

assay_status assay__host_resolve(assay_instance *instance, const assay_launch *in,
                                 assay_launch *out, assay_tensor *operands, int pin)
{
    assay_status status;
    bool has_slots;

    if (in->operand_count > ASSAY_MAX_OPERANDS)
        return assay__host_fail(instance, ASSAY_INVALID, "launch: %u operands, at most %d",
                                in->operand_count, ASSAY_MAX_OPERANDS);
    ASSAY_TRY(check_plain(instance, in, &has_slots));
    *out = *in;
    out->operands = operands;
    out->instance = instance;
    if (!has_slots) {
        if (in->operand_count > 0) /* a launch without any may have no list */
            memcpy(operands, in->operands, in->operand_count * sizeof *operands);
        return ASSAY_OK;
    }
    pthread_mutex_lock(&instance->lock);
    status = resolve_slots(instance, in, operands, pin);
    pthread_mutex_unlock(&instance->lock);
    return status;
}

/* Of a backend for tests, whose devices all lie in the host. */
assay_status assay__host_peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                   assay_instance *source, assay_buffer src, uint64_t src_offset,
                                   uint64_t bytes)
{
    void *host;
    uint64_t size;

    ASSAY_TRY(assay__host_map(source, src, &host, &size));
    if (src_offset > size || bytes > size - src_offset)
        return assay__host_fail(
            instance, ASSAY_INVALID, "peer_copy: bytes %llu..+%llu lie outside a buffer of %llu",
            (unsigned long long)src_offset, (unsigned long long)bytes, (unsigned long long)size);
    const assay_buffer from = {.at.host = (char *)host + src_offset, .size_bytes = bytes};
    return assay__host_copy(instance, dst, dst_offset, from, 0, bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_staging.c -- host memory that the device reads and writes, in parts used
 * in turn: while one is copied by the device, the next is filled or emptied by the host.
 *
 * All commands go to queue 0, so that parts end in order. */
#include <string.h>

#include "backends/vulkan/vulkan.h"

#define PART_BYTES (UINT64_C(1) << 20)

assay_status vulkan_staging_make(vulkan_instance *v)
{
    return vulkan_buffer_make(v, VULKAN_PARTS * PART_BYTES,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                  VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                              VK_MEMORY_PROPERTY_HOST_CACHED_BIT, &v->device->staging.buffer);
}

void vulkan_staging_clear(vulkan_device *d)
{
    vulkan_buffer_clear(d, &d->staging.buffer);
}

static uint64_t part_offset(const vulkan_staging *s)
{
    return s->current * PART_BYTES;
}

/* ---- parts ---- */

/* Waits for a part, and gives the host what it asked for. */
static assay_status finish(vulkan_instance *v, unsigned index)
{
    vulkan_staging *s = &v->device->staging;
    vulkan_part *part = &s->parts[index];
    const char *from = s->buffer.host + index * PART_BYTES;

    if (part->commands == NULL)
        return ASSAY_OK;
    assay_status status = vulkan_wait(v, part->commands);
    for (size_t i = 0; status == ASSAY_OK && i < part->move_count; i++)
        memcpy(part->moves[i].to, from + part->moves[i].offset, part->moves[i].bytes);
    vulkan_give_commands(v->device, part->commands);
    *part = (vulkan_part){.commands = NULL};
    return status;
}

static assay_status open_part(vulkan_instance *v)
{
    vulkan_staging *s = &v->device->staging;
    vulkan_part *part = &s->parts[s->current];
    vulkan_commands *c;

    if (part->commands != NULL)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_take_commands(v, 0, &c));
    assay_status status = vulkan_begin(v, c);
    if (status != ASSAY_OK)
        vulkan_give_commands(v->device, c);
    else
        part->commands = c;
    return status;
}

/* Sends the part off and turns to the next, which is waited for. */
static assay_status close_part(vulkan_instance *v)
{
    vulkan_staging *s = &v->device->staging;
    vulkan_part *part = &s->parts[s->current];

    if (part->commands == NULL)
        return ASSAY_OK;
    vulkan_barrier(v->device, part->commands->buffer, true);
    assay_status status = vulkan_end(v, part->commands);
    if (status == ASSAY_OK)
        status = vulkan_submit(v, part->commands);
    if (status != ASSAY_OK) { /* nothing to wait for */
        vulkan_give_commands(v->device, part->commands);
        *part = (vulkan_part){.commands = NULL};
        return status;
    }
    s->current = (s->current + 1) % VULKAN_PARTS;
    return finish(v, s->current);
}

/* Room for some of `bytes` in the current part; what was copied before is seen. */
static assay_status make_room(vulkan_instance *v, uint64_t bytes, uint64_t *out)
{
    vulkan_staging *s = &v->device->staging;
    const vulkan_part *part = &s->parts[s->current];

    if (part->used == PART_BYTES || part->move_count == VULKAN_MOVES)
        ASSAY_TRY(close_part(v));
    ASSAY_TRY(open_part(v));
    part = &s->parts[s->current];
    if (part->used > 0 || part->move_count > 0)
        vulkan_barrier(v->device, part->commands->buffer, false);
    *out = bytes < PART_BYTES - part->used ? bytes : PART_BYTES - part->used;
    return ASSAY_OK;
}

static void copy(const vulkan_instance *v, VkBuffer to, uint64_t to_offset, VkBuffer from,
                 uint64_t from_offset, uint64_t bytes)
{
    const vulkan_device *d = v->device;
    const VkBufferCopy region = {.srcOffset = from_offset, .dstOffset = to_offset, .size = bytes};

    d->call.CmdCopyBuffer(d->staging.parts[d->staging.current].commands->buffer, from, to, 1,
                          &region);
}

/* ---- what is staged ---- */

void vulkan_stage_begin(vulkan_instance *v)
{
    pthread_mutex_lock(&v->device->staging.lock);
}

assay_status vulkan_stage_up(vulkan_instance *v, const vulkan_place *to, const void *from)
{
    vulkan_staging *s = &v->device->staging;

    for (uint64_t done = 0, bytes; done < to->bytes; done += bytes) {
        ASSAY_TRY(make_room(v, to->bytes - done, &bytes));
        vulkan_part *part = &s->parts[s->current];
        const uint64_t at = part_offset(s) + part->used;
        memcpy(s->buffer.host + at, (const char *)from + done, bytes);
        copy(v, to->buffer, to->offset + done, s->buffer.handle, at, bytes);
        part->used += bytes;
    }
    return ASSAY_OK;
}

assay_status vulkan_stage_down(vulkan_instance *v, const vulkan_place *from, void *to)
{
    vulkan_staging *s = &v->device->staging;

    for (uint64_t done = 0, bytes; done < from->bytes; done += bytes) {
        ASSAY_TRY(make_room(v, from->bytes - done, &bytes));
        vulkan_part *part = &s->parts[s->current];
        copy(v, s->buffer.handle, part_offset(s) + part->used, from->buffer, from->offset + done,
             bytes);
        part->moves[part->move_count].to = (char *)to + done;
        part->moves[part->move_count].offset = part->used;
        part->moves[part->move_count].bytes = bytes;
        part->move_count++;
        part->used += bytes;
    }
    return ASSAY_OK;
}

/* By way of a part, from the end that is not overwritten before it was read. */
assay_status vulkan_stage_across(vulkan_instance *v, const vulkan_place *to,
                                 const vulkan_place *from)
{
    vulkan_staging *s = &v->device->staging;

    for (uint64_t done = 0, bytes; done < to->bytes; done += bytes) {
        ASSAY_TRY(make_room(v, to->bytes - done, &bytes));
        const uint64_t at = to->offset > from->offset ? to->bytes - done - bytes : done;
        const uint64_t by_way = part_offset(s) + s->parts[s->current].used;
        copy(v, s->buffer.handle, by_way, from->buffer, from->offset + at, bytes);
        vulkan_barrier(v->device, s->parts[s->current].commands->buffer, false);
        copy(v, to->buffer, to->offset + at, s->buffer.handle, by_way, bytes);
        s->parts[s->current].used += bytes;
    }
    return ASSAY_OK;
}

assay_status vulkan_stage_copy(vulkan_instance *v, const vulkan_place *to, const vulkan_place *from)
{
    if (to->bytes == 0)
        return ASSAY_OK;
    ASSAY_TRY(open_part(v));
    copy(v, to->buffer, to->offset, from->buffer, from->offset, to->bytes);
    return ASSAY_OK;
}

/* Words by the device; the bytes before and behind them are no whole words. */
assay_status vulkan_stage_fill(vulkan_instance *v, const vulkan_place *to, uint8_t value)
{
    const vulkan_device *d = v->device;
    const uint64_t head = -to->offset & 3, front = head < to->bytes ? head : to->bytes;
    const uint64_t words = (to->bytes - front) & ~UINT64_C(3);
    const uint8_t edge[4] = {value, value, value, value};
    const vulkan_place first = {.buffer = to->buffer, .offset = to->offset, .bytes = front};
    const vulkan_place last = {.buffer = to->buffer,
                               .offset = to->offset + front + words,
                               .bytes = to->bytes - front - words};

    ASSAY_TRY(vulkan_stage_up(v, &first, edge));
    ASSAY_TRY(vulkan_stage_up(v, &last, edge));
    if (words == 0)
        return ASSAY_OK;
    ASSAY_TRY(open_part(v));
    d->call.CmdFillBuffer(d->staging.parts[d->staging.current].commands->buffer, to->buffer,
                          to->offset + front, words, value * 0x01010101u);
    return ASSAY_OK;
}

assay_status vulkan_stage_drain(vulkan_instance *v)
{
    const vulkan_staging *s = &v->device->staging;
    assay_status status = close_part(v);

    for (unsigned i = 0; i < VULKAN_PARTS; i++) { /* the oldest first: downloads are in order */
        const assay_status ended = finish(v, (s->current + i) % VULKAN_PARTS);
        status = status != ASSAY_OK ? status : ended;
    }
    return status;
}

assay_status vulkan_stage_end(vulkan_instance *v, assay_status status)
{
    const assay_status drained = vulkan_stage_drain(v);

    pthread_mutex_unlock(&v->device->staging.lock);
    return status != ASSAY_OK ? status : drained;
}

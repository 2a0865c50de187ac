/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_staging.c -- moves between the host and the device through pinned memory.
 *
 * The copy engine reaches pinned memory alone.  Two halves of it take turns: while the engine works
 * on one the host fills or empties the other, and many small pieces go with one wait.  What the
 * caller has in pinned memory of host_alloc goes without them. */
#include <string.h>

#include "backends/cuda/cuda_instance.h"

/* ---- the memory ---- */

/* Staging lock held. */
assay_status cuda_make_staging(assay_instance *instance)
{
    const cuda_driver *cu = instance->cu;
    cuda_staging *s = &instance->staging;
    void *memory = NULL;

    if (s->memory != NULL)
        return ASSAY_OK;
    ASSAY_TRY(cuda_check(instance, cu->cuMemHostAlloc(&memory, 2 * (size_t)CUDA_HALF, 0),
                         "pinning memory to stage by"));
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
        s->halves[i] = (cuda_half){.memory = (char *)memory + (size_t)i * CUDA_HALF};
        result = cu->cuEventCreate(&s->halves[i].passed, CU_EVENT_DISABLE_TIMING);
    }
    s->memory = memory;
    if (result != CUDA_SUCCESS)
        cuda_drop_staging(instance);
    return cuda_check(instance, result, "making an event to stage by");
}

/* On a lost device the calls fail, and the context takes all with it. */
void cuda_drop_staging(assay_instance *instance)
{
    cuda_staging *s = &instance->staging;

    if (s->memory == NULL)
        return;
    for (int i = 0; i < 2; i++)
        if (s->halves[i].passed != NULL)
            (void)instance->cu->cuEventDestroy(s->halves[i].passed);
    (void)instance->cu->cuMemFreeHost(s->memory);
    s->memory = NULL;
    memset(s->halves, 0, sizeof s->halves);
    s->current = 0;
}

/* ---- taking turns ---- */

/* What a download left in a half goes to where it was wanted, in order. */
static void scatter(cuda_half *half)
{
    for (size_t i = 0; i < half->part_count; i++)
        memcpy(half->parts[i].to, half->memory + half->parts[i].at, half->parts[i].bytes);
    half->part_count = 0;
    half->used = 0;
    half->is_busy = false;
}

/* Sends the current half on its way and takes the other one. */
static assay_status take_turns(assay_instance *instance)
{
    cuda_staging *s = &instance->staging;
    cuda_half *full = &s->halves[s->current], *next = &s->halves[1 - s->current];

    ASSAY_TRY(cuda_check(instance, instance->cu->cuEventRecord(full->passed, instance->own->stream),
                         "staging"));
    full->is_busy = true;
    if (next->is_busy)
        ASSAY_TRY(cuda_check(instance, instance->cu->cuEventSynchronize(next->passed), "staging"));
    scatter(next);
    s->current = 1 - s->current;
    return ASSAY_OK;
}

/* All that is under way has arrived, or will never. */
static assay_status finish(assay_instance *instance)
{
    cuda_staging *s = &instance->staging;
    const assay_status status =
        cuda_check(instance, instance->cu->cuStreamSynchronize(instance->own->stream), "transfer");

    for (int i = 0; i < 2; i++) { /* the older one first */
        cuda_half *half = &s->halves[1 - s->current];
        if (status != ASSAY_OK)
            half->part_count = 0;
        scatter(half);
        s->current = 1 - s->current;
    }
    return status;
}

/* ---- pieces ---- */

/* A half with room for bytes, and how many of them. */
static assay_status take_room(assay_instance *instance, size_t bytes, cuda_half **out, size_t *room)
{
    cuda_staging *s = &instance->staging;
    const cuda_half *now = &s->halves[s->current];

    if (now->used == CUDA_HALF || now->part_count == CUDA_PARTS)
        ASSAY_TRY(take_turns(instance));
    *out = &s->halves[s->current];
    *room = CUDA_HALF - (*out)->used;
    *room = bytes < *room ? bytes : *room;
    return ASSAY_OK;
}

static assay_status send(assay_instance *instance, const char *from, CUdeviceptr to, size_t bytes)
{
    cuda_half *half;
    size_t now;

    if (assay__pinned_holds(&instance->pinned, from, bytes))
        return cuda_check(instance,
                          instance->cu->cuMemcpyHtoDAsync(to, from, bytes, instance->own->stream),
                          "upload");
    for (; bytes > 0; from += now, to += now, bytes -= now) {
        ASSAY_TRY(take_room(instance, bytes, &half, &now));
        char *staged = half->memory + half->used;
        memcpy(staged, from, now);
        ASSAY_TRY(cuda_check(
            instance, instance->cu->cuMemcpyHtoDAsync(to, staged, now, instance->own->stream),
            "upload"));
        half->used += now;
    }
    return ASSAY_OK;
}

static bool has_parts(const cuda_staging *s)
{
    return s->halves[0].part_count > 0 || s->halves[1].part_count > 0;
}

/* Straight to where it is wanted; what earlier pieces left in a half comes first, since both may
 * go to the same place. */
static assay_status fetch_pinned(assay_instance *instance, char *to, CUdeviceptr from, size_t bytes)
{
    if (has_parts(&instance->staging))
        ASSAY_TRY(finish(instance));
    return cuda_check(instance,
                      instance->cu->cuMemcpyDtoHAsync(to, from, bytes, instance->own->stream),
                      "download");
}

static assay_status fetch(assay_instance *instance, char *to, CUdeviceptr from, size_t bytes)
{
    cuda_half *half;
    size_t now;

    if (assay__pinned_holds(&instance->pinned, to, bytes))
        return fetch_pinned(instance, to, from, bytes);
    for (; bytes > 0; to += now, from += now, bytes -= now) {
        ASSAY_TRY(take_room(instance, bytes, &half, &now));
        ASSAY_TRY(cuda_check(instance,
                             instance->cu->cuMemcpyDtoHAsync(half->memory + half->used, from, now,
                                                             instance->own->stream),
                             "download"));
        half->parts[half->part_count++] = (cuda_part){to, half->used, now};
        half->used += now;
    }
    return ASSAY_OK;
}

/* A buffer may be plain memory of the host; pieces before it come first. */
static assay_status move_plain(assay_instance *instance, const cuda_piece *piece, bool up)
{
    ASSAY_TRY(finish(instance));
    memmove(up ? piece->at.host : piece->host, up ? piece->host : piece->at.host,
            (size_t)piece->bytes);
    return ASSAY_OK;
}

static assay_status move_piece(assay_instance *instance, const cuda_piece *piece, bool up)
{
    if (piece->bytes == 0)
        return ASSAY_OK;
    if (piece->at.host != NULL)
        return move_plain(instance, piece, up);
    return up ? send(instance, piece->host, piece->at.device, (size_t)piece->bytes)
              : fetch(instance, piece->host, piece->at.device, (size_t)piece->bytes);
}

assay_status cuda_stage(assay_instance *instance, const cuda_piece *pieces, size_t count, bool up)
{
    cuda_staging *s = &instance->staging;

    pthread_mutex_lock(&s->lock);
    assay_status status = cuda_make_staging(instance);
    const bool is_made = status == ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = move_piece(instance, &pieces[i], up);
    /* Also after a failure: what is under way must not reach memory that is used anew. */
    const assay_status last = is_made ? finish(instance) : status;
    pthread_mutex_unlock(&s->lock);
    return status != ASSAY_OK ? status : last;
}

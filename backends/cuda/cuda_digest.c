/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_digest.c -- digests of what lies in the device's memory, computed there, so
 * that eight bytes of a piece come back and not all of it. */
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_vectors.h"
#include "runtime/word_digest.h"

enum { WORD = 8, BLOCK = 256, WORDS_A_THREAD = 16, MOST_BLOCKS = 2048, MOST_PIECES = 65535 };

typedef struct pieces {
    CUdeviceptr from;
    uint64_t bytes, step, count;
} pieces;

static assay_status enqueue(const assay_launch *own, const pieces *p, CUdeviceptr sums)
{
    CUdeviceptr from = p->from, to = sums;
    uint64_t words = p->bytes / WORD, step = p->step / WORD, count = p->count;
    void *arguments[] = {&from, &words, &step, &count, &to};
    const uint64_t blocks = words / (BLOCK * WORDS_A_THREAD) + 1;
    const cuda_grid grid = {.groups = {blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS,
                                       count < MOST_PIECES ? count : MOST_PIECES, 1},
                            .threads = {BLOCK, 1, 1}};
    CUfunction function;

    ASSAY_TRY(cuda_function(own->instance, &cuda_image_digest, "digest_words", &function));
    return cuda_enqueue(own, function, &grid, arguments);
}

/* The instance's own queue held, whose workspace the sums lie in until they are here. */
static assay_status compute(assay_instance *instance, const pieces *p, uint64_t *out)
{
    const assay_launch own = {.struct_size = sizeof own, .instance = instance};
    const size_t bytes = (size_t)p->count * sizeof *out;
    CUdeviceptr sums = 0;

    ASSAY_TRY(cuda_workspace(&own, bytes, &sums));
    ASSAY_TRY(cuda_check(
        instance, instance->cu->cuMemsetD8Async(sums, 0, bytes, instance->own->stream), "digest"));
    ASSAY_TRY(enqueue(&own, p, sums));
    const cuda_piece piece = {.host = (char *)out, .at = {.device = sums}, .bytes = bytes};
    ASSAY_TRY(cuda_stage(instance, &piece, 1, false));
    for (uint64_t i = 0; i < p->count; i++)
        out[i] = assay__word_digest_end(out[i], p->bytes);
    return ASSAY_OK;
}

static assay_status check_pieces(const assay_instance *instance, uint64_t offset, uint64_t bytes,
                                 uint64_t step, size_t count)
{
    if (count == 0 || bytes == 0 || offset % WORD != 0 || bytes % WORD != 0 || step % WORD != 0)
        return cuda_fail(instance, ASSAY_INVALID,
                         "digest: needs pieces, and offset, bytes and step in multiples of 8");
    if (count > 1 && (step < bytes || step > (UINT64_MAX - bytes - offset) / (count - 1)))
        return cuda_fail(instance, ASSAY_INVALID, "digest: pieces lie over each other");
    return ASSAY_OK;
}

static assay_status digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                           uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    cuda_place place;

    ASSAY_TRY(check_pieces(instance, offset, bytes, step, count));
    ASSAY_TRY(cuda_pin(instance, "digest", buffer, offset, (count - 1) * step + bytes, &place));
    assay_status status = ASSAY_OK;
    if (place.host == NULL && place.device % WORD != 0) { /* a caller's memory, wrapped */
        status = cuda_fail(instance, ASSAY_UNSUPPORTED,
                           "digest: the buffer does not begin at a multiple of 8");
    } else if (place.host != NULL) {
        for (size_t i = 0; i < count; i++)
            out[i] = assay__word_digest(place.host + i * step, (size_t)bytes);
    } else {
        const pieces p = {place.device, bytes, step, count};
        pthread_mutex_lock(&instance->own->lock);
        status = compute(instance, &p, out);
        pthread_mutex_unlock(&instance->own->lock);
    }
    cuda_unpin(instance, &place);
    return status;
}

assay_status cuda_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                         uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    ASSAY_TRY(cuda_enter(instance, "digest"));
    const assay_status status = digest(instance, buffer, offset, bytes, step, count, out);
    cuda_leave(instance);
    return status;
}

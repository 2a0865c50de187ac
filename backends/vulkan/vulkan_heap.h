/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_heap.h -- places within one large piece of device memory.
 *
 * Drivers allow a few thousand allocations, so buffers share them.  First fit over a list of pieces
 * in the order in which they lie; neighbours that are both free become one. */
#ifndef ASSAY_BACKENDS_VULKAN_HEAP_H
#define ASSAY_BACKENDS_VULKAN_HEAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct vulkan_piece {
    struct vulkan_piece *next;
    uint64_t offset, bytes;
    bool is_taken;
} vulkan_piece;

typedef struct vulkan_heap {
    vulkan_piece *first;
    uint64_t address; /* of offset 0, for alignment */
    uint64_t taken;   /* pieces */
} vulkan_heap;

static inline bool vulkan_heap_init(vulkan_heap *heap, uint64_t bytes, uint64_t address)
{
    *heap = (vulkan_heap){.first = calloc(1, sizeof *heap->first), .address = address};
    if (heap->first != NULL)
        heap->first->bytes = bytes;
    return heap->first != NULL;
}

static inline void vulkan_heap_clear(vulkan_heap *heap)
{
    while (heap->first != NULL) {
        vulkan_piece *piece = heap->first;
        heap->first = piece->next;
        free(piece);
    }
}

/* Leaves `bytes` in the piece, the rest in a free one behind it. */
static inline bool vulkan_heap_split(vulkan_piece *piece, uint64_t bytes)
{
    if (piece->bytes == bytes)
        return true;
    vulkan_piece *rest = malloc(sizeof *rest);
    if (rest == NULL)
        return false;
    *rest = (vulkan_piece){
        .next = piece->next, .offset = piece->offset + bytes, .bytes = piece->bytes - bytes};
    piece->next = rest;
    piece->bytes = bytes;
    return true;
}

/* Offset of `bytes` whose address is a multiple of `align`, a power of two; UINT64_MAX: no room. */
static inline uint64_t vulkan_heap_take(vulkan_heap *heap, uint64_t bytes, uint64_t align)
{
    for (vulkan_piece *p = heap->first; p != NULL; p = p->next) {
        const uint64_t skip = -(heap->address + p->offset) & (align - 1);
        if (p->is_taken || p->bytes < skip || p->bytes - skip < bytes)
            continue;
        if (skip > 0) {
            if (!vulkan_heap_split(p, skip))
                return UINT64_MAX;
            p = p->next;
        }
        if (!vulkan_heap_split(p, bytes))
            return UINT64_MAX;
        p->is_taken = true;
        heap->taken++;
        return p->offset;
    }
    return UINT64_MAX;
}

static inline void vulkan_heap_join(vulkan_piece *piece)
{
    while (piece->next != NULL && !piece->is_taken && !piece->next->is_taken) {
        vulkan_piece *gone = piece->next;
        piece->bytes += gone->bytes;
        piece->next = gone->next;
        free(gone);
    }
}

static inline void vulkan_heap_give(vulkan_heap *heap, uint64_t offset)
{
    vulkan_piece *before = NULL, *p = heap->first;

    while (p != NULL && (p->offset != offset || !p->is_taken)) {
        before = p;
        p = p->next;
    }
    if (p == NULL)
        return;
    p->is_taken = false;
    heap->taken--;
    vulkan_heap_join(p);
    if (before != NULL)
        vulkan_heap_join(before);
}

#endif

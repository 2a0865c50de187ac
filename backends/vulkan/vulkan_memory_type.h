/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_memory_type.h -- which of a device's memory types a buffer is to have.
 *
 * The first one that would do may lie in a window of a few hundred MiB through which the host sees
 * the device's memory, or be protected, or uncached: Vulkan 1.3, section 11.2.1, orders types by
 * their properties alone, and only where those of one contain those of the other. */
#ifndef ASSAY_BACKENDS_VULKAN_MEMORY_TYPE_H
#define ASSAY_BACKENDS_VULKAN_MEMORY_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits of VkMemoryPropertyFlags: in the device, and all that may come unasked: host visible,
 * coherent, cached.  Others need features that are not enabled, or are slower. */
enum { VULKAN_TYPE_LOCAL = 0x1, VULKAN_TYPE_PLAIN = 0xf };

typedef struct vulkan_type {
    uint32_t flags;
    uint64_t heap_bytes;
} vulkan_type;

static inline bool vulkan_type_serves(const vulkan_type *t, uint32_t wanted)
{
    return (t->flags & wanted) == wanted &&
           (t->flags & ~(uint32_t)VULKAN_TYPE_PLAIN & ~wanted) == 0;
}

/* With what is liked; in the device if that is wanted, else rather not; in the largest heap, which
 * is the one whose room is told and kept to; else the earlier one. */
static inline bool vulkan_type_is_better(const vulkan_type *a, const vulkan_type *than,
                                         uint32_t wanted, uint32_t liked)
{
    const uint32_t astray = VULKAN_TYPE_LOCAL & ~wanted & ~liked;

    if (((a->flags & liked) == liked) != ((than->flags & liked) == liked))
        return (a->flags & liked) == liked;
    if (((a->flags ^ than->flags) & astray) != 0)
        return (a->flags & astray) == 0;
    return a->heap_bytes > than->heap_bytes;
}

/* Of those whose bit is set in `bits`; UINT32_MAX: none will do. */
static inline uint32_t vulkan_choose_type(const vulkan_type *types, uint32_t count, uint32_t bits,
                                          uint32_t wanted, uint32_t liked)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++)
        if ((bits >> i & 1) != 0 && vulkan_type_serves(&types[i], wanted) &&
            (best == UINT32_MAX || vulkan_type_is_better(&types[i], &types[best], wanted, liked)))
            best = i;
    return best;
}

#endif

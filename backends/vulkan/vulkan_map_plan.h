/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_map_plan.h -- when elements are mapped by vectors. */
#ifndef ASSAY_BACKENDS_VULKAN_MAP_PLAN_H
#define ASSAY_BACKENDS_VULKAN_MAP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operands by address and bytes of an element. */
typedef struct vulkan_mapped {
    uint64_t at;
    uint32_t each;
} vulkan_mapped;

/* Elements of a vector: of the widest type it has 16 bytes, of the others as many elements. */
static inline uint32_t vulkan_map_lanes(const vulkan_mapped *operands, size_t count)
{
    uint32_t most = 1;

    for (size_t i = 0; i < count; i++)
        most = operands[i].each > most ? operands[i].each : most;
    return 16 / most;
}

static inline bool vulkan_map_is_aligned(const vulkan_mapped *operands, size_t count)
{
    const uint32_t lanes = vulkan_map_lanes(operands, count);

    for (size_t i = 0; i < count; i++)
        if (operands[i].at % (lanes * operands[i].each) != 0)
            return false;
    return true;
}

#endif

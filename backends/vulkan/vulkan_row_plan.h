/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_row_plan.h -- how a workgroup walks along a row: the specialization
 * constants of vulkan_held.glsl.
 *
 * Which element is whose, and so the order of sums, depends on the number of columns and on the
 * tunables, not on addresses. */
#ifndef ASSAY_BACKENDS_VULKAN_ROW_PLAN_H
#define ASSAY_BACKENDS_VULKAN_ROW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    VULKAN_AHEAD = 4 /* vectors that are loaded at once where a row is not held */
};

typedef enum vulkan_way {
    VULKAN_BY_VECTORS,
    VULKAN_BY_SINGLES, /* the same elements an invocation, of operands that are not aligned */
    VULKAN_BY_SPREAD   /* rows that are no multiple of a vector: neighbours load neighbours */
} vulkan_way;

typedef struct vulkan_row_plan {
    uint32_t vectors; /* an invocation, at a time */
    vulkan_way way;
    bool is_held;    /* that is the row */
    bool is_whole;   /* pieces of so many end where the row does */
    uint64_t rounds; /* of an invocation's loops at most: four passes, and what joins sums */
} vulkan_row_plan;

/* x, y: addresses; lanes: elements of a vector; most: vectors that an invocation may hold. */
static inline vulkan_row_plan vulkan_plan_row(uint64_t x, uint64_t y, uint32_t cols, uint32_t lanes,
                                              uint32_t workgroup, uint32_t most)
{
    const uint32_t all = (cols - 1) / lanes + 1, each = (all - 1) / workgroup + 1;
    const bool is_held = each <= most;
    const uint32_t vectors = is_held || each < VULKAN_AHEAD ? each : VULKAN_AHEAD;
    const uint32_t pieces = (each - 1) / vectors + 1;
    const bool is_aligned = (x | y) % 16 == 0;

    return (vulkan_row_plan){.vectors = vectors,
                             .way = cols % lanes != 0 ? VULKAN_BY_SPREAD
                                    : is_aligned      ? VULKAN_BY_VECTORS
                                                      : VULKAN_BY_SINGLES,
                             .is_held = is_held,
                             .is_whole = cols % ((uint64_t)workgroup * vectors * lanes) == 0,
                             .rounds = (uint64_t)4 * pieces + 4 * (workgroup / 16)};
}

#endif

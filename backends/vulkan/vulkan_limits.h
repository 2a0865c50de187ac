/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_limits.h -- does a dispatch keep within the limits of a device?
 *
 * Drivers need not look, and those that were tried do not: too many groups run in part, or not at
 * all, and say success. */
#ifndef ASSAY_BACKENDS_VULKAN_LIMITS_H
#define ASSAY_BACKENDS_VULKAN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct vulkan_limits {
    uint32_t groups[3]; /* an axis */
    uint32_t local[3];  /* an axis */
    uint32_t invocations, shared_bytes, push_bytes;
    uint64_t rounds; /* of all loops of an invocation, behind which they end; see vulkan_device.c */
} vulkan_limits;

typedef struct vulkan_shape {
    uint64_t groups;   /* in all */
    uint32_t local[2]; /* invocations of a group, x and y */
    uint32_t shared_bytes, push_bytes;
    uint64_t rounds; /* of its loops at most; 0: few */
} vulkan_shape;

/* Groups in a grid of two axes, at least as many as asked for; shaders pass over those beyond.
 * false: the axes are too short. */
static inline bool vulkan_fold_grid(uint64_t groups, const uint32_t limit[3], uint32_t out[2])
{
    if (groups == 0 || limit[0] == 0)
        return false;
    const uint64_t x = groups < limit[0] ? groups : limit[0];
    const uint64_t y = (groups - 1) / x + 1;
    if (y > limit[1])
        return false;
    out[0] = (uint32_t)x;
    out[1] = (uint32_t)y;
    return true;
}

/* false: `why` says which limit it would break. */
static inline bool vulkan_limits_allow(const vulkan_limits *l, const vulkan_shape *s, char *why,
                                       size_t cap)
{
    const uint64_t invocations = (uint64_t)s->local[0] * s->local[1];
    uint32_t grid[2];

    if (!vulkan_fold_grid(s->groups, l->groups, grid))
        (void)snprintf(why, cap, "%llu workgroups, at most %u times %u",
                       (unsigned long long)s->groups, l->groups[0], l->groups[1]);
    else if (s->local[0] > l->local[0] || s->local[1] > l->local[1])
        (void)snprintf(why, cap, "workgroups of %u x %u, at most %u x %u", s->local[0], s->local[1],
                       l->local[0], l->local[1]);
    else if (invocations > l->invocations)
        (void)snprintf(why, cap, "workgroups of %llu invocations, at most %u",
                       (unsigned long long)invocations, l->invocations);
    else if (s->shared_bytes > l->shared_bytes)
        (void)snprintf(why, cap, "%u bytes of shared memory, at most %u", s->shared_bytes,
                       l->shared_bytes);
    else if (s->push_bytes > l->push_bytes)
        (void)snprintf(why, cap, "%u bytes of push constants, at most %u", s->push_bytes,
                       l->push_bytes);
    else if (s->rounds > l->rounds)
        (void)snprintf(why, cap, "loops of %llu rounds, of which this driver makes %llu",
                       (unsigned long long)s->rounds, (unsigned long long)l->rounds);
    else
        return true;
    return false;
}

#endif

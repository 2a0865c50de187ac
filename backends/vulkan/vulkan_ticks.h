/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_ticks.h -- arithmetic of a device's timestamps.
 *
 * A queue family says how many low bits of a timestamp count, 36 to 64; the others are 0 and the
 * counter begins anew behind them.  A span is below one turn: of 36 bits of 1 ns that is 68 s. */
#ifndef ASSAY_BACKENDS_VULKAN_TICKS_H
#define ASSAY_BACKENDS_VULKAN_TICKS_H

#include <stdint.h>

static inline uint64_t vulkan_ticks_mask(uint32_t valid_bits)
{
    return valid_bits >= 64 ? UINT64_MAX : (UINT64_C(1) << valid_bits) - 1;
}

/* Ticks from one timestamp to a later one, the counter having begun anew at most once. */
static inline uint64_t vulkan_ticks_between(uint64_t from, uint64_t to, uint32_t valid_bits)
{
    return (to - from) & vulkan_ticks_mask(valid_bits);
}

/* period_ns: of a tick. */
static inline double vulkan_ticks_ns(uint64_t ticks, double period_ns)
{
    return (double)ticks * period_ns;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_cache_header.h -- is a stored pipeline cache of this device and driver?
 *
 * Layout: VkPipelineCacheHeaderVersionOne, Vulkan 1.3 section 10.7.3; least significant byte first.
 * Drivers look too, but some have crashed on what they took. */
#ifndef ASSAY_BACKENDS_VULKAN_CACHE_HEADER_H
#define ASSAY_BACKENDS_VULKAN_CACHE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VULKAN_CACHE_HEADER = 32, VULKAN_CACHE_UUID = 16 };

static inline uint32_t vulkan_cache_word(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline bool vulkan_cache_fits(const void *bytes, size_t size, uint32_t vendor,
                                     uint32_t device, const uint8_t uuid[VULKAN_CACHE_UUID])
{
    const unsigned char *at = bytes;

    return size >= VULKAN_CACHE_HEADER && vulkan_cache_word(at) >= VULKAN_CACHE_HEADER &&
           vulkan_cache_word(at) <= size && vulkan_cache_word(at + 4) == 1 &&
           vulkan_cache_word(at + 8) == vendor && vulkan_cache_word(at + 12) == device &&
           memcmp(at + 16, uuid, VULKAN_CACHE_UUID) == 0;
}

#endif

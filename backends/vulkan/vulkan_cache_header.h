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

/* Behind what the driver gave lie two words of our own, a mark and a sum over it: a file that was
 * cut short or damaged in its midst never comes to the driver. */
enum { VULKAN_CACHE_SEAL = 16 };

static inline uint64_t vulkan_cache_sum(const unsigned char *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static inline void vulkan_cache_seal(const unsigned char *bytes, size_t size,
                                     unsigned char seal[VULKAN_CACHE_SEAL])
{
    const uint64_t sum = vulkan_cache_sum(bytes, size);

    memcpy(seal, "assayvk1", 8);
    for (int i = 0; i < 8; i++)
        seal[8 + i] = (unsigned char)(sum >> 8 * i);
}

/* Bytes of the driver in a file of `size`; 0: it is not whole. */
static inline size_t vulkan_cache_body(const void *bytes, size_t size)
{
    unsigned char seal[VULKAN_CACHE_SEAL];

    if (size < VULKAN_CACHE_SEAL)
        return 0;
    const unsigned char *at = bytes;
    vulkan_cache_seal(at, size - VULKAN_CACHE_SEAL, seal);
    return memcmp(at + size - VULKAN_CACHE_SEAL, seal, sizeof seal) == 0 ? size - VULKAN_CACHE_SEAL
                                                                         : 0;
}

#endif

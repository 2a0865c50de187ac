/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_order.h -- the order of devices, and which of them a text means.
 *
 * Drivers list devices in an order that changes with what is plugged in where.  Ours: discrete,
 * integrated, virtual, CPU, others; then by UUID. */
#ifndef ASSAY_BACKENDS_VULKAN_ORDER_H
#define ASSAY_BACKENDS_VULKAN_ORDER_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VULKAN_UUID = 16, VULKAN_UUID_TEXT = 37 };

typedef struct vulkan_rank {
    uint32_t type; /* VkPhysicalDeviceType */
    uint8_t uuid[VULKAN_UUID];
} vulkan_rank;

/* Place of a VkPhysicalDeviceType: 0 other, 1 integrated, 2 discrete, 3 virtual, 4 CPU. */
static inline int vulkan_type_place(uint32_t type)
{
    static const int places[] = {4, 1, 0, 2, 3};

    return type < sizeof places / sizeof places[0] ? places[type] : 4;
}

static inline int vulkan_rank_compare(const vulkan_rank *a, const vulkan_rank *b)
{
    const int by_type = vulkan_type_place(a->type) - vulkan_type_place(b->type);

    return by_type != 0 ? by_type : memcmp(a->uuid, b->uuid, sizeof a->uuid);
}

static inline void vulkan_uuid_text(const uint8_t uuid[VULKAN_UUID], char out[VULKAN_UUID_TEXT])
{
    size_t used = 0;

    for (int i = 0; i < VULKAN_UUID; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[used++] = '-';
        (void)snprintf(out + used, VULKAN_UUID_TEXT - used, "%02x", uuid[i]);
        used += 2;
    }
}

static inline bool vulkan_is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");

    return digits > 0 && digits < 10 && text[digits] == '\0';
}

/* Is `text` the device's number in our order, its UUID, or a part of its name in any case? */
static inline bool vulkan_names_device(const char *text, size_t index, const char *name,
                                       const char *uuid)
{
    if (vulkan_is_number(text))
        return strtoul(text, NULL, 10) == index;
    if (strcasecmp(text, uuid) == 0)
        return true;
    const size_t length = strlen(text);
    for (const char *at = name; length > 0 && strlen(at) >= length; at++)
        if (strncasecmp(at, text, length) == 0)
            return true;
    return false;
}

#endif

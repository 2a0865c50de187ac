/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_memory.c -- device memory: blocks that buffers share, within a budget. */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"
#include "backends/vulkan/vulkan_memory_type.h"

#define BLOCK_BYTES (UINT64_C(32) << 20)

struct vulkan_block {
    vulkan_block *next;
    vulkan_buffer buffer;
    vulkan_heap heap;
};

/* ---- one buffer with memory of its own ---- */

_Static_assert(VULKAN_TYPE_LOCAL == (int)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT &&
                   VULKAN_TYPE_PLAIN == (int)(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                                              VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                              VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                                              VK_MEMORY_PROPERTY_HOST_CACHED_BIT),
               "bits of VkMemoryPropertyFlags");

static uint32_t memory_type(const vulkan_found *f, uint32_t bits, VkMemoryPropertyFlags wanted,
                            VkMemoryPropertyFlags liked)
{
    vulkan_type types[VK_MAX_MEMORY_TYPES];

    for (uint32_t i = 0; i < f->memory.memoryTypeCount; i++) {
        const VkMemoryType *t = &f->memory.memoryTypes[i];
        types[i] = (vulkan_type){t->propertyFlags, f->memory.memoryHeaps[t->heapIndex].size};
    }
    return vulkan_choose_type(types, f->memory.memoryTypeCount, bits, wanted, liked);
}

static VkResult allocate(const vulkan_device *d, const VkMemoryRequirements *needs, uint32_t type,
                         bool has_address, VkDeviceMemory *out)
{
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = has_address ? &flags : NULL,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = type};

    return d->call.AllocateMemory(d->handle, &info, NULL, out);
}

static VkResult fill_buffer(const vulkan_device *d, VkBufferUsageFlags usage,
                            VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked,
                            vulkan_buffer *b)
{
    const bool has_address = (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    VkMemoryRequirements needs;
    void *host = NULL;

    d->call.GetBufferMemoryRequirements(d->handle, b->handle, &needs);
    const uint32_t type = memory_type(d->found, needs.memoryTypeBits, wanted, liked);
    if (type == UINT32_MAX)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    VkResult result = allocate(d, &needs, type, has_address, &b->memory);
    if (result == VK_SUCCESS)
        result = d->call.BindBufferMemory(d->handle, b->handle, b->memory, 0);
    if (result == VK_SUCCESS && (wanted & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0)
        result = d->call.MapMemory(d->handle, b->memory, 0, VK_WHOLE_SIZE, 0, &host);
    b->host = host;
    if (result == VK_SUCCESS && has_address) {
        const VkBufferDeviceAddressInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = b->handle};
        b->address = d->call.GetBufferDeviceAddress(d->handle, &info);
    }
    return result;
}

assay_status vulkan_buffer_make(vulkan_instance *v, uint64_t bytes, VkBufferUsageFlags usage,
                                VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked,
                                vulkan_buffer *out)
{
    const vulkan_device *d = v->device;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = bytes,
                                     .usage = usage,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    vulkan_buffer b = {.bytes = bytes};

    VULKAN_TRY(v, "vkCreateBuffer", d->call.CreateBuffer(d->handle, &info, NULL, &b.handle));
    const VkResult result = fill_buffer(d, usage, wanted, liked, &b);
    if (result != VK_SUCCESS) {
        vulkan_buffer_clear(v->device, &b);
        return vulkan_fail(v, "device memory", result);
    }
    *out = b;
    return ASSAY_OK;
}

void vulkan_buffer_clear(vulkan_device *d, vulkan_buffer *buffer)
{
    d->call.DestroyBuffer(d->handle, buffer->handle, NULL);
    d->call.FreeMemory(d->handle, buffer->memory, NULL); /* unmaps it, too */
    *buffer = (vulkan_buffer){.handle = VK_NULL_HANDLE};
}

/* ---- budget ---- */

uint64_t vulkan_free_bytes(const vulkan_instance *v)
{
    const vulkan_found *f = &v->devices[v->selected];
    const uint32_t heap = vulkan_device_heap(&f->memory);
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};

    if (!f->has_budget)
        return f->memory.memoryHeaps[heap].size;
    v->loader->call.GetPhysicalDeviceMemoryProperties2(f->handle, &all);
    const uint64_t most = budget.heapBudget[heap], used = budget.heapUsage[heap];
    return most > used ? most - used : 0;
}

static assay_status fail_room(vulkan_instance *v, uint64_t bytes, uint64_t there)
{
    const assay_error_detail detail = {
        .status = ASSAY_NOMEM, .requested_bytes = bytes, .available_bytes = there};

    return assay__host_fail_detail(&v->base, &detail,
                                   "alloc: no device memory for %llu bytes, %llu are free; free "
                                   "buffers or choose a smaller problem",
                                   (unsigned long long)bytes, (unsigned long long)there);
}

/* ---- blocks ---- */

static assay_status fill_block(vulkan_instance *v, uint64_t bytes, vulkan_block *block)
{
    ASSAY_TRY(vulkan_buffer_make(
        v, bytes,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &block->buffer));
    if (vulkan_heap_init(&block->heap, bytes, block->buffer.address))
        return ASSAY_OK;
    vulkan_buffer_clear(v->device, &block->buffer);
    return assay__host_fail(&v->base, ASSAY_NOMEM, "alloc: no memory for a block");
}

/* At least `bytes` at any alignment; less than a usual block where there is no room for one. */
static assay_status make_block(vulkan_instance *v, uint64_t bytes, uint64_t align,
                               vulkan_block **out)
{
    const uint64_t there = vulkan_free_bytes(v), most = v->device->found->max_buffer_bytes;
    const uint64_t least = bytes + align;

    if (bytes > most || least > there)
        return fail_room(v, bytes, there < most ? there : most);
    vulkan_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return assay__host_fail(&v->base, ASSAY_NOMEM, "alloc: no memory for a block");
    const uint64_t usual = there / 8 < BLOCK_BYTES ? there / 8 : BLOCK_BYTES;
    uint64_t size = least > usual ? least : usual;
    assay_status status = fill_block(v, size < most ? size : most, block);
    if (status == ASSAY_NOMEM && size > least)
        status = fill_block(v, least, block);
    if (status != ASSAY_OK) {
        free(block);
        return status == ASSAY_NOMEM ? fail_room(v, bytes, vulkan_free_bytes(v)) : status;
    }
    block->next = v->device->blocks;
    v->device->blocks = block;
    vulkan_count(v, VULKAN_COUNT_blocks, 1);
    *out = block;
    return ASSAY_OK;
}

assay_status vulkan_block_take(vulkan_instance *v, uint64_t bytes, uint64_t align,
                               vulkan_block **block, uint64_t *offset)
{
    for (vulkan_block *b = v->device->blocks; b != NULL; b = b->next) {
        *offset = vulkan_heap_take(&b->heap, bytes, align);
        *block = b;
        if (*offset != UINT64_MAX)
            return ASSAY_OK;
    }
    ASSAY_TRY(make_block(v, bytes, align, block));
    *offset = vulkan_heap_take(&(*block)->heap, bytes, align);
    return *offset != UINT64_MAX
               ? ASSAY_OK
               : assay__host_fail(&v->base, ASSAY_NOMEM, "alloc: no memory to divide a block");
}

void vulkan_block_give(vulkan_block *block, uint64_t offset)
{
    vulkan_heap_give(&block->heap, offset);
}

const vulkan_buffer *vulkan_block_buffer(const vulkan_block *block)
{
    return &block->buffer;
}

/* One is kept, for whoever frees and allocates in turn.  What wrap made needs no device. */
bool vulkan_blocks_are_idle(const vulkan_instance *v)
{
    int idle = 0;

    if (v->device == NULL)
        return false;
    for (const vulkan_block *b = v->device->blocks; b != NULL; b = b->next)
        idle += b->heap.taken == 0;
    return idle > 1;
}

void vulkan_blocks_trim(vulkan_instance *v, bool all)
{
    vulkan_block **link = &v->device->blocks;
    bool keeps = !all;

    while (*link != NULL) {
        vulkan_block *b = *link;
        const bool stays = !all && (b->heap.taken > 0 || keeps);
        keeps = keeps && b->heap.taken > 0;
        if (stays) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        vulkan_heap_clear(&b->heap);
        vulkan_buffer_clear(v->device, &b->buffer);
        free(b);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_submit.c -- command buffers: a list of idle ones, each with its pool, its
 * fence and its queue, so that threads meet nowhere but at the lists. */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

enum { RECORDED = 32 }; /* command buffers, before recordings are given up for others */

/* ---- taking and giving ---- */

static VkResult fill_commands(const vulkan_device *d, vulkan_commands *c)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = d->found->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = d->call.CreateCommandPool(d->handle, &pool, NULL, &c->pool);

    if (result != VK_SUCCESS)
        return result;
    const VkCommandBufferAllocateInfo buffer = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = c->pool,
                                                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                .commandBufferCount = 1};
    result = d->call.AllocateCommandBuffers(d->handle, &buffer, &c->buffer);
    return result == VK_SUCCESS ? d->call.CreateFence(d->handle, &fence, NULL, &c->fence) : result;
}

static assay_status make_commands(vulkan_instance *v, uint32_t queue, vulkan_commands **out)
{
    vulkan_device *d = v->device;
    vulkan_commands *c = calloc(1, sizeof *c);

    if (c == NULL)
        return assay__host_fail(&v->base, ASSAY_NOMEM, "no memory for commands");
    const VkResult result = fill_commands(d, c);
    if (result != VK_SUCCESS) {
        d->call.DestroyCommandPool(d->handle, c->pool, NULL);
        free(c);
        return vulkan_fail(v, "vkCreateCommandPool", result);
    }
    pthread_mutex_lock(&d->lock);
    c->queue = (queue != UINT32_MAX ? queue : d->commands_made) % d->queue_count;
    d->commands_made++;
    pthread_mutex_unlock(&d->lock);
    *out = c;
    return ASSAY_OK;
}

/* The last in the list that will do, which was idle longest; d->lock held. */
static vulkan_commands *unlink_idle(vulkan_device *d,
                                    bool (*fits)(const vulkan_commands *, const void *),
                                    const void *cookie)
{
    vulkan_commands **found = NULL;

    for (vulkan_commands **link = &d->idle; *link != NULL; link = &(*link)->next)
        if (fits(*link, cookie))
            found = link;
    vulkan_commands *c = found != NULL ? *found : NULL;
    if (c != NULL)
        *found = c->next;
    return c;
}

static bool is_of_queue(const vulkan_commands *c, const void *cookie)
{
    const uint32_t queue = *(const uint32_t *)cookie;

    return queue == UINT32_MAX || c->queue == queue;
}

static bool is_blank(const vulkan_commands *c, const void *cookie)
{
    return c->pipeline == NULL && is_of_queue(c, cookie);
}

assay_status vulkan_take_commands(vulkan_instance *v, uint32_t queue, vulkan_commands **out)
{
    vulkan_device *d = v->device;

    if (queue != UINT32_MAX)
        queue %= d->queue_count;
    pthread_mutex_lock(&d->lock);
    vulkan_commands *c = unlink_idle(d, is_blank, &queue);
    if (c == NULL && d->commands_made >= RECORDED) /* somebody's recording has to go */
        c = unlink_idle(d, is_of_queue, &queue);
    pthread_mutex_unlock(&d->lock);
    if (c == NULL)
        return make_commands(v, queue, out);
    *out = c;
    return ASSAY_OK;
}

typedef struct wanted_dispatch {
    const vulkan_pipeline *pipeline;
    const uint32_t *grid;
    const void *push;
    size_t push_bytes;
} wanted_dispatch;

static bool holds_dispatch(const vulkan_commands *c, const void *cookie)
{
    const wanted_dispatch *w = cookie;

    return c->pipeline == w->pipeline && c->grid[0] == w->grid[0] && c->grid[1] == w->grid[1] &&
           memcmp(c->push, w->push, w->push_bytes) == 0;
}

vulkan_commands *vulkan_take_recorded(vulkan_device *d, const vulkan_pipeline *pipeline,
                                      const uint32_t grid[2], const void *push, size_t push_bytes)
{
    const wanted_dispatch wanted = {pipeline, grid, push, push_bytes};

    pthread_mutex_lock(&d->lock);
    vulkan_commands *c = unlink_idle(d, holds_dispatch, &wanted);
    pthread_mutex_unlock(&d->lock);
    return c;
}

void vulkan_give_commands(vulkan_device *d, vulkan_commands *c)
{
    pthread_mutex_lock(&d->lock);
    c->next = d->idle;
    d->idle = c;
    pthread_mutex_unlock(&d->lock);
}

/* ---- recording and submitting ---- */

void vulkan_barrier(const vulkan_device *d, VkCommandBuffer buffer, bool to_host)
{
    const VkPipelineStageFlags work =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                         (to_host ? (VkAccessFlags)VK_ACCESS_HOST_READ_BIT : 0)};

    d->call.CmdPipelineBarrier(
        buffer, work, work | (to_host ? (VkPipelineStageFlags)VK_PIPELINE_STAGE_HOST_BIT : 0), 0, 1,
        &barrier, 0, NULL, 0, NULL);
}

assay_status vulkan_begin(vulkan_instance *v, vulkan_commands *c)
{
    const vulkan_device *d = v->device;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};

    ASSAY_TRY(assay__host_not_lost(&v->base, "recording")); /* it may never have ended */
    c->pipeline = NULL;
    if (c->is_recording) /* somebody failed in the midst of it */
        (void)d->call.EndCommandBuffer(c->buffer);
    c->is_recording = true;
    VULKAN_TRY(v, "vkBeginCommandBuffer", d->call.BeginCommandBuffer(c->buffer, &info));
    vulkan_barrier(d, c->buffer, false);
    return ASSAY_OK;
}

assay_status vulkan_submit(vulkan_instance *v, vulkan_commands *c)
{
    vulkan_device *d = v->device;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &c->buffer};

    ASSAY_TRY(assay__host_not_lost(&v->base, "submission"));
    pthread_mutex_lock(&d->queue_locks[c->queue]);
    const VkResult result = d->call.QueueSubmit(d->queues[c->queue], 1, &info, c->fence);
    pthread_mutex_unlock(&d->queue_locks[c->queue]);
    VULKAN_TRY(v, "vkQueueSubmit", result);
    return ASSAY_OK;
}

assay_status vulkan_end(vulkan_instance *v, vulkan_commands *c)
{
    c->is_recording = false;
    VULKAN_TRY(v, "vkEndCommandBuffer", v->device->call.EndCommandBuffer(c->buffer));
    return ASSAY_OK;
}

/* A wait that fails tells nothing of what it waited for, which may still be at work on buffers that
 * will be freed and in commands that will be used again: only recover, which waits for all, helps.
 */
assay_status vulkan_wait(vulkan_instance *v, vulkan_commands *c)
{
    const vulkan_device *d = v->device;
    VkResult result = d->call.WaitForFences(d->handle, 1, &c->fence, VK_TRUE, UINT64_MAX);

    if (result != VK_SUCCESS)
        return vulkan_lose(v, "vkWaitForFences", result);
    result = d->call.ResetFences(d->handle, 1, &c->fence);
    return result == VK_SUCCESS ? ASSAY_OK : vulkan_lose(v, "vkResetFences", result);
}

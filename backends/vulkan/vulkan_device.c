/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_device.c -- the VkDevice of an instance, made when it is first needed. */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

/* ---- failures ---- */

static bool is_memory(VkResult result)
{
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

assay_status vulkan_lose(vulkan_instance *v, const char *what, VkResult result)
{
    assay_instance *instance = &v->base;
    const assay_error_detail detail = {.status = ASSAY_DEVICE_LOST,
                                       .generation = instance->generation, /* changes not in here */
                                       .driver_code = (int64_t)result};

    atomic_store(&instance->is_lost, true);
    return assay__host_fail_detail(instance, &detail,
                                   "%s: the device is lost (VkResult %d, generation %llu); recover "
                                   "takes it anew, buffers from before are void",
                                   what, (int)result, (unsigned long long)detail.generation);
}

assay_status vulkan_fail(vulkan_instance *v, const char *what, VkResult result)
{
    assay_instance *instance = &v->base;

    if (result == VK_ERROR_DEVICE_LOST)
        return vulkan_lose(v, what, result);
    const assay_error_detail detail = {.status = is_memory(result) ? ASSAY_NOMEM : ASSAY_DEVICE,
                                       .driver_code = (int64_t)result};
    return assay__host_fail_detail(instance, &detail, "%s: the driver gave VkResult %d%s", what,
                                   (int)result, is_memory(result) ? ", out of memory" : "");
}

/* ---- making ---- */

static assay_status create(vulkan_instance *v, vulkan_device *d)
{
    static const float priorities[VULKAN_QUEUES] = {1.0f, 1.0f, 1.0f, 1.0f};
    const vulkan_found *f = d->found;
    const char *extensions[3];
    uint32_t count = 0;
    VkPhysicalDeviceVulkan11Features one = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .storageBuffer16BitAccess = f->has_16bit_storage};
    VkPhysicalDeviceVulkan12Features two = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &one,
        .bufferDeviceAddress = VK_TRUE};
    const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = f->family,
                                            .queueCount = f->queue_count,
                                            .pQueuePriorities = priorities};

    if (f->has_budget)
        extensions[count++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
    if (f->has_calibration)
        extensions[count++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &two,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queues,
                                     .enabledExtensionCount = count,
                                     .ppEnabledExtensionNames = extensions};
    VULKAN_TRY(v, "vkCreateDevice",
               v->loader->call.CreateDevice(f->handle, &info, NULL, &d->handle));
    return ASSAY_OK;
}

static assay_status fill_calls(vulkan_instance *v, vulkan_device *d)
{
    const PFN_vkGetDeviceProcAddr get = v->loader->call.GetDeviceProcAddr;

#define X(name)                                              \
    d->call.name = (PFN_vk##name)get(d->handle, "vk" #name); \
    if (d->call.name == NULL)                                \
        return assay__host_fail(&v->base, ASSAY_DEVICE, "the driver lacks vk" #name);
    VULKAN_DEVICE_CALLS(X)
#undef X
    if (d->found->has_calibration)
        d->call.GetTimestamps =
            (PFN_vkGetCalibratedTimestampsEXT)get(d->handle, "vkGetCalibratedTimestampsEXT");
    return ASSAY_OK;
}

/* llvmpipe ends all loops of an invocation, nested or in a row, behind so many rounds without a
 * word (LP_MAX_TGSI_LOOP_ITERATIONS of Mesa): with 65,536 in one loop the last one is not made. */
#define LLVMPIPE_ROUNDS 65535u

static void fill_limits(vulkan_device *d)
{
    const VkPhysicalDeviceLimits *l = &d->found->properties.limits;

    memcpy(d->limits.groups, l->maxComputeWorkGroupCount, sizeof d->limits.groups);
    memcpy(d->limits.local, l->maxComputeWorkGroupSize, sizeof d->limits.local);
    d->limits.invocations = l->maxComputeWorkGroupInvocations;
    d->limits.shared_bytes = l->maxComputeSharedMemorySize;
    d->limits.rounds = vulkan_loops_end(d->found) ? LLVMPIPE_ROUNDS : UINT64_MAX;
    d->limits.push_bytes = VULKAN_PUSH; /* every device has as much, and the layout has no more */
}

static assay_status make_layout(vulkan_instance *v, vulkan_device *d)
{
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .size = VULKAN_PUSH};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};

    VULKAN_TRY(v, "vkCreatePipelineLayout",
               d->call.CreatePipelineLayout(d->handle, &info, NULL, &d->layout));
    return ASSAY_OK;
}

static assay_status make_queries(vulkan_instance *v, vulkan_device *d)
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 2};

    d->overhead_ns = -1.0;
    if (d->found->timestamp_bits == 0)
        return ASSAY_OK;
    VULKAN_TRY(v, "vkCreateQueryPool",
               d->call.CreateQueryPool(d->handle, &info, NULL, &d->queries));
    return ASSAY_OK;
}

static assay_status make_parts(vulkan_instance *v, vulkan_device *d)
{
    ASSAY_TRY(fill_calls(v, d));
    fill_limits(d);
    d->queue_count = d->found->queue_count;
    for (uint32_t i = 0; i < d->queue_count; i++)
        d->call.GetDeviceQueue(d->handle, d->found->family, i, &d->queues[i]);
    ASSAY_TRY(make_layout(v, d));
    ASSAY_TRY(make_queries(v, d));
    ASSAY_TRY(vulkan_cache_open(v));
    return vulkan_staging_make(v);
}

static void init_locks(vulkan_device *d)
{
    for (int i = 0; i < VULKAN_QUEUES; i++)
        (void)pthread_mutex_init(&d->queue_locks[i], NULL);
    (void)pthread_mutex_init(&d->lock, NULL);
    (void)pthread_mutex_init(&d->staging.lock, NULL);
    (void)pthread_mutex_init(&d->measuring, NULL);
}

static void clear_locks(vulkan_device *d)
{
    for (int i = 0; i < VULKAN_QUEUES; i++)
        pthread_mutex_destroy(&d->queue_locks[i]);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->staging.lock);
    pthread_mutex_destroy(&d->measuring);
}

/* With the gate held alone. */
static assay_status make(vulkan_instance *v)
{
    if (v->device != NULL)
        return ASSAY_OK;
    vulkan_device *d = calloc(1, sizeof *d);
    if (d == NULL)
        return assay__host_fail(&v->base, ASSAY_NOMEM, "no memory for a device");
    d->found = &v->devices[v->selected];
    init_locks(d);
    assay_status status = create(v, d);
    if (status != ASSAY_OK) {
        clear_locks(d);
        free(d);
        return status;
    }
    v->device = d;
    status = make_parts(v, d);
    if (status != ASSAY_OK)
        vulkan_device_destroy(v);
    return status;
}

/* ---- ending ---- */

static void destroy_commands(vulkan_device *d)
{
    while (d->idle != NULL) {
        vulkan_commands *c = d->idle;
        d->idle = c->next;
        d->call.DestroyFence(d->handle, c->fence, NULL);
        d->call.DestroyCommandPool(d->handle, c->pool, NULL);
        free(c);
    }
}

void vulkan_device_destroy(vulkan_instance *v)
{
    vulkan_device *d = v->device;

    if (d == NULL)
        return;
    if (d->call.CmdFillBuffer != NULL) {         /* the last of the table: all are there */
        (void)d->call.DeviceWaitIdle(d->handle); /* of a lost one it fails, and all has ended */
        vulkan_blocks_trim(v, true);
        vulkan_staging_clear(d);
        destroy_commands(d);
        vulkan_pipelines_clear(d);
        vulkan_cache_close(d);
        d->call.DestroyQueryPool(d->handle, d->queries, NULL);
        d->call.DestroyPipelineLayout(d->handle, d->layout, NULL);
    }
    if (d->call.DestroyDevice != NULL)
        d->call.DestroyDevice(d->handle, NULL);
    clear_locks(d);
    free(d);
    v->device = NULL;
}

/* ---- the gate ---- */

assay_status vulkan_enter(vulkan_instance *v)
{
    for (;;) {
        pthread_rwlock_rdlock(&v->gate);
        if (v->device != NULL)
            return ASSAY_OK;
        pthread_rwlock_unlock(&v->gate);
        pthread_rwlock_wrlock(&v->gate);
        const assay_status status = make(v);
        pthread_rwlock_unlock(&v->gate);
        ASSAY_TRY(status);
    }
}

void vulkan_leave(vulkan_instance *v)
{
    pthread_rwlock_unlock(&v->gate);
}

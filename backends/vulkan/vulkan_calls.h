/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_calls.h -- the functions of Vulkan that are called, by table.
 *
 * The loader is opened at run time, so that the plug-in loads where it is absent. */
#ifndef ASSAY_BACKENDS_VULKAN_CALLS_H
#define ASSAY_BACKENDS_VULKAN_CALLS_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define VULKAN_LOADER_CALLS(X) \
    X(CreateInstance)          \
    X(EnumerateInstanceLayerProperties)

#define VULKAN_INSTANCE_CALLS(X)              \
    X(EnumeratePhysicalDevices)               \
    X(GetPhysicalDeviceProperties)            \
    X(GetPhysicalDeviceProperties2)           \
    X(GetPhysicalDeviceFeatures2)             \
    X(GetPhysicalDeviceMemoryProperties2)     \
    X(GetPhysicalDeviceQueueFamilyProperties) \
    X(EnumerateDeviceExtensionProperties)     \
    X(CreateDevice)                           \
    X(GetDeviceProcAddr)

#define VULKAN_DEVICE_CALLS(X)     \
    X(DestroyDevice)               \
    X(DeviceWaitIdle)              \
    X(GetDeviceQueue)              \
    X(CreateBuffer)                \
    X(DestroyBuffer)               \
    X(GetBufferMemoryRequirements) \
    X(GetBufferDeviceAddress)      \
    X(BindBufferMemory)            \
    X(AllocateMemory)              \
    X(FreeMemory)                  \
    X(MapMemory)                   \
    X(CreateCommandPool)           \
    X(DestroyCommandPool)          \
    X(AllocateCommandBuffers)      \
    X(BeginCommandBuffer)          \
    X(EndCommandBuffer)            \
    X(CreateFence)                 \
    X(DestroyFence)                \
    X(ResetFences)                 \
    X(WaitForFences)               \
    X(QueueSubmit)                 \
    X(CreateShaderModule)          \
    X(DestroyShaderModule)         \
    X(CreatePipelineLayout)        \
    X(DestroyPipelineLayout)       \
    X(CreatePipelineCache)         \
    X(DestroyPipelineCache)        \
    X(GetPipelineCacheData)        \
    X(CreateComputePipelines)      \
    X(DestroyPipeline)             \
    X(CreateQueryPool)             \
    X(DestroyQueryPool)            \
    X(GetQueryPoolResults)         \
    X(CmdResetQueryPool)           \
    X(CmdWriteTimestamp)           \
    X(CmdBindPipeline)             \
    X(CmdPushConstants)            \
    X(CmdDispatch)                 \
    X(CmdPipelineBarrier)          \
    X(CmdCopyBuffer)               \
    X(CmdFillBuffer)

#define VULKAN_FIELD(name) PFN_vk##name name;
typedef struct vulkan_calls { /* of the process */
    VULKAN_LOADER_CALLS(VULKAN_FIELD)
    VULKAN_INSTANCE_CALLS(VULKAN_FIELD)
    /* NULL: not offered. */
    PFN_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT GetTimeDomains;
} vulkan_calls;

typedef struct vulkan_device_calls { /* of one device, without the loader in between */
    VULKAN_DEVICE_CALLS(VULKAN_FIELD)
    PFN_vkGetCalibratedTimestampsEXT GetTimestamps; /* NULL: not offered */
} vulkan_device_calls;

#endif

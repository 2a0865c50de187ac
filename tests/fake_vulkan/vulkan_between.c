/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_vulkan/vulkan_between.c -- a Vulkan loader that hands everything to the real one, but
 * for calls of a device that a test has asked to fail.
 *
 * Drivers fail when nobody can wait for it: ASSAY_VULKAN names this file, and the test says which
 * call fails, after how many, and with what. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define OPEN __attribute__((visibility("default")))

static PFN_vkGetInstanceProcAddr real_instance_proc;
static PFN_vkGetDeviceProcAddr real_device_proc;
static const char *planned = "";
static int left; /* calls that still succeed */
static VkResult with;

OPEN void between_fail(const char *name, int after, VkResult result);
OPEN PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);

void between_fail(const char *name, int after, VkResult result)
{
    planned = name;
    left = after;
    with = result;
}

static VkBool32 is_due(const char *name)
{
    return strcmp(name, planned) == 0 && left-- == 0;
}

#define BETWEEN(name, parameters, arguments)                        \
    static PFN_vk##name real_##name;                                \
    static VKAPI_ATTR VkResult VKAPI_CALL between_##name parameters \
    {                                                               \
        return is_due(#name) ? with : real_##name arguments;        \
    }
BETWEEN(WaitForFences,
        (VkDevice d, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout),
        (d, count, fences, all, timeout))
BETWEEN(QueueSubmit, (VkQueue q, uint32_t count, const VkSubmitInfo *infos, VkFence fence),
        (q, count, infos, fence))
BETWEEN(AllocateMemory,
        (VkDevice d, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *by,
         VkDeviceMemory *out),
        (d, info, by, out))
BETWEEN(CreateComputePipelines,
        (VkDevice d, VkPipelineCache cache, uint32_t count,
         const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *by,
         VkPipeline *out),
        (d, cache, count, infos, by, out))

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction found = real_device_proc(device, name);

#define TAKE(name_)                                 \
    if (strcmp(name, "vk" #name_) == 0) {           \
        real_##name_ = (PFN_vk##name_)found;        \
        return (PFN_vkVoidFunction)between_##name_; \
    }
    TAKE(WaitForFences)
    TAKE(QueueSubmit)
    TAKE(AllocateMemory)
    TAKE(CreateComputePipelines)
    return found;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    if (real_instance_proc == NULL) {
        void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        void *symbol = loader != NULL ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
        if (symbol == NULL)
            return NULL;
        memcpy(&real_instance_proc, &symbol, sizeof symbol);
    }
    const PFN_vkVoidFunction found = real_instance_proc(instance, name);
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return found;
    real_device_proc = (PFN_vkGetDeviceProcAddr)found;
    return (PFN_vkVoidFunction)device_proc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_vulkan/vulkan_between.c -- a Vulkan loader that hands everything to the real one, but
 * for calls of a device that a test has asked to fail, notes what is recorded, and makes promises.
 *
 * Drivers fail when nobody can wait for it: ASSAY_VULKAN names this file, and the test says which
 * call fails, after how many, and with what.  ASSAY_BETWEEN_HALVES=1: the device promises all of
 * f16, which llvmpipe keeps but for a promise. */
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define OPEN __attribute__((visibility("default")))
enum { RECORDED = 512 };

static PFN_vkGetInstanceProcAddr real_instance_proc;
static PFN_vkGetDeviceProcAddr real_device_proc;
static const char *planned = "";
static int left; /* calls that still succeed */
static VkResult with;

static const char *hidden = "";
static int instances;
static char recorded[RECORDED];
static size_t recorded_count;

OPEN void between_fail(const char *name, int after, VkResult result);
/* The newest recording: b a barrier, d a dispatch, t a timestamp; others are left out. */
OPEN const char *between_recorded(void);
/* The next question for this function of the loader or of an instance finds none. */
OPEN void between_hide(const char *name);
/* What every device says it lacks from now on: "queue" that computes, "addresses" of buffers,
 * "version" 1.2 of the interface, "" nothing. */
OPEN void between_lacks(const char *what);
/* VkInstances that were made and not destroyed. */
OPEN int between_instances(void);
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

const char *between_recorded(void)
{
    return recorded;
}

static void note(char sign)
{
    if (recorded_count + 1 < RECORDED)
        recorded[recorded_count++] = sign;
    recorded[recorded_count] = '\0';
}

#define NOTED(name, sign, parameters, arguments)                \
    static PFN_vk##name real_##name;                            \
    static VKAPI_ATTR void VKAPI_CALL between_##name parameters \
    {                                                           \
        note(sign);                                             \
        real_##name arguments;                                  \
    }
NOTED(CmdDispatch, 'd', (VkCommandBuffer b, uint32_t x, uint32_t y, uint32_t z), (b, x, y, z))
NOTED(CmdWriteTimestamp, 't',
      (VkCommandBuffer b, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t query),
      (b, stage, pool, query))
NOTED(CmdPipelineBarrier, 'b',
      (VkCommandBuffer b, VkPipelineStageFlags from, VkPipelineStageFlags to,
       VkDependencyFlags flags, uint32_t count, const VkMemoryBarrier *barriers, uint32_t buffers,
       const VkBufferMemoryBarrier *of_buffers, uint32_t images,
       const VkImageMemoryBarrier *of_images),
      (b, from, to, flags, count, barriers, buffers, of_buffers, images, of_images))

static PFN_vkBeginCommandBuffer real_BeginCommandBuffer;
static VKAPI_ATTR VkResult VKAPI_CALL
between_BeginCommandBuffer(VkCommandBuffer b, const VkCommandBufferBeginInfo *info)
{
    recorded_count = 0;
    return real_BeginCommandBuffer(b, info);
}

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
    TAKE(BeginCommandBuffer)
    TAKE(CmdDispatch)
    TAKE(CmdWriteTimestamp)
    TAKE(CmdPipelineBarrier)
    return found;
}

void between_hide(const char *name)
{
    hidden = name;
}

int between_instances(void)
{
    return instances;
}

static PFN_vkCreateInstance real_CreateInstance;
static VKAPI_ATTR VkResult VKAPI_CALL between_CreateInstance(const VkInstanceCreateInfo *info,
                                                             const VkAllocationCallbacks *by,
                                                             VkInstance *out)
{
    const VkResult result = real_CreateInstance(info, by, out);

    instances += result == VK_SUCCESS;
    return result;
}

static PFN_vkDestroyInstance real_DestroyInstance;
static VKAPI_ATTR void VKAPI_CALL between_DestroyInstance(VkInstance instance,
                                                          const VkAllocationCallbacks *by)
{
    instances--;
    real_DestroyInstance(instance, by);
}

static PFN_vkGetPhysicalDeviceProperties2 real_properties;

static VKAPI_ATTR void VKAPI_CALL between_properties(VkPhysicalDevice device,
                                                     VkPhysicalDeviceProperties2 *out)
{
    real_properties(device, out);
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES) {
            VkPhysicalDeviceFloatControlsProperties *f = (void *)at;
            f->denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
            f->roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
            f->shaderDenormPreserveFloat16 = VK_TRUE;
            f->shaderRoundingModeRTEFloat16 = VK_TRUE;
            f->shaderSignedZeroInfNanPreserveFloat16 = VK_TRUE;
        }
}

static const char *lacking = "";

void between_lacks(const char *what)
{
    lacking = what;
}

static PFN_vkGetPhysicalDeviceProperties real_GetPhysicalDeviceProperties;
static VKAPI_ATTR void VKAPI_CALL
between_GetPhysicalDeviceProperties(VkPhysicalDevice device, VkPhysicalDeviceProperties *out)
{
    real_GetPhysicalDeviceProperties(device, out);
    if (strcmp(lacking, "version") == 0)
        out->apiVersion = VK_API_VERSION_1_1;
}

static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_GetPhysicalDeviceQueueFamilyProperties;
static VKAPI_ATTR void VKAPI_CALL between_GetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
    real_GetPhysicalDeviceQueueFamilyProperties(device, count, out);
    for (uint32_t i = 0; out != NULL && i < *count && strcmp(lacking, "queue") == 0; i++)
        out[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
}

static PFN_vkGetPhysicalDeviceFeatures2 real_GetPhysicalDeviceFeatures2;
static VKAPI_ATTR void VKAPI_CALL between_GetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                                                     VkPhysicalDeviceFeatures2 *out)
{
    real_GetPhysicalDeviceFeatures2(device, out);
    for (VkBaseOutStructure *at = out->pNext; at != NULL; at = at->pNext)
        if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES &&
            strcmp(lacking, "addresses") == 0)
            ((VkPhysicalDeviceVulkan12Features *)(void *)at)->bufferDeviceAddress = VK_FALSE;
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
    if (strcmp(name, hidden) == 0) {
        hidden = "";
        return NULL;
    }
    const PFN_vkVoidFunction found = real_instance_proc(instance, name);
    TAKE(CreateInstance)
    TAKE(DestroyInstance)
    TAKE(GetPhysicalDeviceProperties)
    TAKE(GetPhysicalDeviceQueueFamilyProperties)
    TAKE(GetPhysicalDeviceFeatures2)
    if (strcmp(name, "vkGetPhysicalDeviceProperties2") == 0 &&
        getenv("ASSAY_BETWEEN_HALVES") != NULL) {
        real_properties = (PFN_vkGetPhysicalDeviceProperties2)found;
        return (PFN_vkVoidFunction)between_properties;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return found;
    real_device_proc = (PFN_vkGetDeviceProcAddr)found;
    return (PFN_vkVoidFunction)device_proc;
}

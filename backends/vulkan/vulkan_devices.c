/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_devices.c -- physical devices: which can be used, in which order. */
#include <stdlib.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

const char *vulkan_type_name(VkPhysicalDeviceType type)
{
    static const char *const names[] = {"other", "integrated", "discrete", "virtual", "cpu"};

    return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "other";
}

uint32_t vulkan_device_heap(const VkPhysicalDeviceMemoryProperties *memory)
{
    uint32_t best = 0;
    VkDeviceSize most = 0;

    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &memory->memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && heap->size > most) {
            most = heap->size;
            best = i;
        }
    }
    return best;
}

/* ---- what one of them is ---- */

static void read_properties(const vulkan_calls *call, vulkan_found *f)
{
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance4Properties four = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties three = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &subgroup};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = &three};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &f->driver};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};

    f->driver = (VkPhysicalDeviceDriverProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &f->floats};
    f->floats = (VkPhysicalDeviceFloatControlsProperties){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, .pNext = &id};
    if (f->has_maintenance4)
        subgroup.pNext = &four;
    call->GetPhysicalDeviceProperties2(f->handle, &all);
    call->GetPhysicalDeviceMemoryProperties2(f->handle, &memory);
    f->properties = all.properties;
    f->memory = memory.memoryProperties;
    f->subgroup_size = subgroup.subgroupSize;
    f->max_buffer_bytes = three.maxMemoryAllocationSize;
    if (f->has_maintenance4 && four.maxBufferSize < f->max_buffer_bytes)
        f->max_buffer_bytes = four.maxBufferSize;
    const uint64_t heap = f->memory.memoryHeaps[vulkan_device_heap(&f->memory)].size;
    f->max_buffer_bytes = f->max_buffer_bytes < heap ? f->max_buffer_bytes : heap;
    f->rank.type = (uint32_t)f->properties.deviceType;
    memcpy(f->rank.uuid, id.deviceUUID, VULKAN_UUID);
    vulkan_uuid_text(f->rank.uuid, f->uuid);
    f->driver.pNext = f->floats.pNext = NULL;
}

static void read_extensions(const vulkan_calls *call, vulkan_found *f)
{
    uint32_t count = 0;

    if (call->EnumerateDeviceExtensionProperties(f->handle, NULL, &count, NULL) != VK_SUCCESS)
        return;
    VkExtensionProperties *list = calloc(count + 1u, sizeof *list);
    if (list != NULL &&
        call->EnumerateDeviceExtensionProperties(f->handle, NULL, &count, list) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count; i++) {
            const char *name = list[i].extensionName;
            f->has_budget = f->has_budget || strcmp(name, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
            f->has_calibration = f->has_calibration ||
                                 strcmp(name, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) == 0;
            f->has_maintenance4 =
                f->has_maintenance4 || strcmp(name, VK_KHR_MAINTENANCE_4_EXTENSION_NAME) == 0;
        }
    free(list);
}

/* Without graphics first: such a family leaves a display alone.  false: none computes. */
static bool choose_family(const vulkan_calls *call, vulkan_found *f)
{
    VkQueueFamilyProperties list[32];
    uint32_t count = sizeof list / sizeof list[0];
    bool found = false;

    call->GetPhysicalDeviceQueueFamilyProperties(f->handle, &count, list);
    for (int graphics = 0; graphics <= 1 && !found; graphics++)
        for (uint32_t i = 0; i < count && !found; i++) {
            const VkQueueFlags flags = list[i].queueFlags;
            if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 ||
                ((flags & VK_QUEUE_GRAPHICS_BIT) != 0) != (graphics != 0))
                continue;
            found = true;
            f->family = i;
            f->queue_count =
                list[i].queueCount < VULKAN_QUEUES ? list[i].queueCount : VULKAN_QUEUES;
            f->timestamp_bits = list[i].timestampValidBits;
        }
    return found;
}

/* NULL: usable; else why not. */
static const char *look_at(const vulkan_calls *call, vulkan_found *f)
{
    VkPhysicalDeviceVulkan11Features one = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceVulkan12Features two = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &one};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &two};

    call->GetPhysicalDeviceProperties(f->handle, &f->properties);
    if (f->properties.apiVersion < VK_API_VERSION_1_2)
        return "its driver is older than Vulkan 1.2";
    read_extensions(call, f);
    read_properties(call, f);
    call->GetPhysicalDeviceFeatures2(f->handle, &all);
    if (!choose_family(call, f))
        return "it has no queue that computes";
    if (!two.bufferDeviceAddress)
        return "it lacks the feature bufferDeviceAddress, by which kernels get their operands";
    f->has_16bit_storage = one.storageBuffer16BitAccess != 0;
    return NULL;
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
    const vulkan_found *x = a, *y = b;

    return vulkan_rank_compare(&x->rank, &y->rank);
}

static assay_status list_handles(assay_instance *instance, const vulkan_loader *loader,
                                 VkPhysicalDevice **out, uint32_t *count)
{
    const vulkan_calls *call = &loader->call;

    *count = 0;
    VkResult result = call->EnumeratePhysicalDevices(loader->handle, count, NULL);
    *out = calloc(*count + 1u, sizeof **out);
    if (*out == NULL)
        return assay__host_fail(instance, ASSAY_NOMEM, "no memory for a list of devices");
    if (result == VK_SUCCESS && *count > 0)
        result = call->EnumeratePhysicalDevices(loader->handle, count, *out);
    if (result >= VK_SUCCESS && *count > 0)
        return ASSAY_OK;
    free(*out);
    return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                            "no Vulkan device here (vkEnumeratePhysicalDevices gave %d); install "
                            "its driver, or mesa-vulkan-drivers (a CPU will do)",
                            (int)result);
}

/* The one that ASSAY_VULKAN_DEVICE means becomes the only one. */
static assay_status choose(assay_instance *instance, vulkan_found *list, size_t *count)
{
    const char *text = getenv("ASSAY_VULKAN_DEVICE");
    char names[256] = "";
    size_t used = 0;

    if (text == NULL || text[0] == '\0')
        return ASSAY_OK;
    for (size_t i = 0; i < *count; i++) {
        if (vulkan_names_device(text, i, list[i].properties.deviceName, list[i].uuid)) {
            list[0] = list[i];
            *count = 1;
            return ASSAY_OK;
        }
        if (used < sizeof names)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%zu %.80s (%s)",
                                 i > 0 ? ", " : "", i, list[i].properties.deviceName, list[i].uuid);
    }
    return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                            "ASSAY_VULKAN_DEVICE: no device is '%.60s'; there is %s", text, names);
}

assay_status vulkan_find_devices(assay_instance *instance, const vulkan_loader *loader,
                                 vulkan_found **out, size_t *count)
{
    VkPhysicalDevice *handles;
    uint32_t there;
    char why[400] = "";

    ASSAY_TRY(list_handles(instance, loader, &handles, &there));
    vulkan_found *list = calloc(there, sizeof *list);
    *count = 0;
    for (uint32_t i = 0; list != NULL && i < there; i++) {
        vulkan_found f = {.handle = handles[i]};
        const char *reason = look_at(&loader->call, &f);
        if (reason == NULL)
            list[(*count)++] = f;
        else
            (void)snprintf(why, sizeof why, "%.200s: %s", f.properties.deviceName, reason);
    }
    free(handles);
    if (list == NULL)
        return assay__host_fail(instance, ASSAY_NOMEM, "no memory for a list of devices");
    qsort(list, *count, sizeof *list, compare);
    assay_status status = *count > 0 ? choose(instance, list, count)
                                     : assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                                        "no usable Vulkan device; %s", why);
    if (status != ASSAY_OK)
        free(list);
    else
        *out = list;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_profile.c -- what a device is and what this backend does on it. */
#include <math.h>
#include <string.h>

#include "backends/vulkan/vulkan.h"

assay_status vulkan_device_count(assay_instance *instance, size_t *out)
{
    *out = vulkan_of(instance)->device_count;
    return ASSAY_OK;
}

static assay_status find(assay_instance *instance, size_t device, const vulkan_found **out)
{
    vulkan_instance *v = vulkan_of(instance);

    if (device >= v->device_count)
        return assay__host_fail(instance, ASSAY_INVALID, "device %zu: there are %zu", device,
                                v->device_count);
    *out = &v->devices[device];
    return ASSAY_OK;
}

/* What was measured holds for this driver alone, so builds of it have to differ in their text: that
 * of the driver is free and may be cut, so its number comes with it, and the UUID by which it
 * refuses pipelines that another build compiled. */
static void name_driver(const vulkan_found *f, char *out, size_t cap)
{
    int used = snprintf(out, cap, "%.32s %.40s, %08x, cache ", f->driver.driverName,
                        f->driver.driverInfo, f->properties.driverVersion);

    for (size_t i = 0; i < VK_UUID_SIZE && used > 0 && (size_t)used < cap; i++)
        used +=
            snprintf(out + used, cap - (size_t)used, "%02x", f->properties.pipelineCacheUUID[i]);
}

/* A CPU that a driver makes a device of has memory of its own in name: is_cpu stays 0, and its
 * architecture says what it is, so that its results and those of others never mix. */
assay_status vulkan_device_info(assay_instance *instance, size_t device, assay_device_info *out)
{
    const vulkan_found *f = NULL;

    ASSAY_TRY(find(instance, device, &f));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    (void)snprintf(out->name, sizeof out->name, "%.127s", f->properties.deviceName);
    (void)snprintf(out->architecture, sizeof out->architecture, "%.32s, %s, driver id %u",
                   f->driver.driverName, vulkan_type_name(f->properties.deviceType),
                   (unsigned)f->driver.driverID);
    name_driver(f, out->driver, sizeof out->driver);
    (void)snprintf(out->uuid, sizeof out->uuid, "%s", f->uuid);
    out->memory_bytes = f->memory.memoryHeaps[vulkan_device_heap(&f->memory)].size;
    return ASSAY_OK;
}

static uint64_t features_of(const vulkan_found *f)
{
    uint64_t features =
        UINT64_C(1) << ASSAY_FEATURE_RESIDENT | UINT64_C(1) << ASSAY_FEATURE_ASYNC_COMPUTE |
        UINT64_C(1) << ASSAY_FEATURE_RECOVERY | UINT64_C(1) << ASSAY_FEATURE_FAULT_INJECTION |
        UINT64_C(1) << ASSAY_FEATURE_SHARED_MEMORY | UINT64_C(1) << ASSAY_FEATURE_SPECIALIZATION;

    if (f->timestamp_bits > 0)
        features |= UINT64_C(1) << ASSAY_FEATURE_DEVICE_TIMESTAMPS;
    return features;
}

static uint32_t least(const uint32_t *values, int count)
{
    uint32_t value = values[0];

    for (int i = 1; i < count; i++)
        value = values[i] < value ? values[i] : value;
    return value;
}

static void fill_limits(const VkPhysicalDeviceLimits *l, assay_device_profile *out)
{
    memcpy(out->max_workgroup_size, l->maxComputeWorkGroupSize, sizeof out->max_workgroup_size);
    out->max_workgroup_invocations = l->maxComputeWorkGroupInvocations;
    out->max_workgroups = least(l->maxComputeWorkGroupCount, 3);
    out->max_shared_bytes = l->maxComputeSharedMemorySize;
}

assay_status vulkan_device_profile(assay_instance *instance, size_t device,
                                   assay_device_profile *out)
{
    const vulkan_found *f = NULL;

    ASSAY_TRY(find(instance, device, &f));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->subgroup_size = f->subgroup_size;
    out->features = features_of(f);
    out->dtypes = (1u << ASSAY_DTYPE_COUNT) - 1; /* buffers hold bytes */
    out->max_int_bits = 32;                      /* that is all that shaders use */
    fill_limits(&f->properties.limits, out);
    out->max_buffer_bytes = f->max_buffer_bytes;
    out->memory_bytes = f->memory.memoryHeaps[vulkan_device_heap(&f->memory)].size;
    out->alignment_bytes = 256;
    out->granularity_bits = 8;
    out->memory = ASSAY_MEMORY_DEVICE;
    out->location = ASSAY_LOCATION_VULKAN;
    out->location_index = (uint32_t)device;
    out->paths[ASSAY_LOCATION_CPU] = 1u << ASSAY_PATH_STAGING;
    out->paths[ASSAY_LOCATION_VULKAN] = 1u << ASSAY_PATH_SAME | 1u << ASSAY_PATH_COPY;
    out->timing = f->timestamp_bits > 0 ? ASSAY_TIMING_DEVICE : ASSAY_TIMING_ENQUEUE_WAIT;
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_device.c -- devices, in an order that does not change, and what they are.
 *
 * The driver numbers devices by CUDA_DEVICE_ORDER, fastest first unless told otherwise, so that
 * number 0 may be another card after an upgrade or in another shell.  Here they are sorted by their
 * place on the bus; devices of one place (parts of a GPU) by their UUID. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"

/* ---- reading ---- */

typedef struct attribute {
    CUdevice_attribute what;
    size_t at; /* of an int in cuda_device */
} attribute;

#define AT(field) offsetof(cuda_device, field)
static const attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, AT(limits.compute_major)},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, AT(limits.compute_minor)},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, AT(limits.multiprocessors)},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, AT(limits.warp)},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, AT(limits.max_threads_block)},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, AT(limits.max_threads_multiprocessor)},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, AT(limits.shared_block_optin)},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, AT(limits.shared_multiprocessor)},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, AT(limits.registers_multiprocessor)},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, AT(max_threads[0])},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, AT(max_threads[1])},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, AT(max_threads[2])},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, AT(can_map_host)},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, AT(place[0])},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, AT(place[1])},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, AT(place[2])},
};

static CUresult read_attributes(const cuda_driver *cu, cuda_device *d)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        int value = 0;
        const CUresult result = cu->cuDeviceGetAttribute(&value, attributes[i].what, d->number);
        if (result != CUDA_SUCCESS)
            return result;
        memcpy((char *)d + attributes[i].at, &value, sizeof value);
    }
    return CUDA_SUCCESS;
}

static CUresult read_limits(const cuda_driver *cu, cuda_device *d)
{
    static const CUdevice_attribute grid[3] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                               CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                               CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
    size_t bytes = 0;
    int value = 0;
    CUresult result = CUDA_SUCCESS;

    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++) {
        result = cu->cuDeviceGetAttribute(&value, grid[i], d->number);
        d->limits.max_groups[i] = value > 0 ? (uint32_t)value : 0;
    }
    if (result == CUDA_SUCCESS)
        result = cu->cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, d->number);
    d->limits.l2_bytes = result == CUDA_SUCCESS && value > 0 ? (uint64_t)value : 0;
    if (result == CUDA_SUCCESS)
        result = cu->cuDeviceTotalMem(&bytes, d->number);
    d->limits.memory_bytes = bytes;
    return result;
}

static CUresult read_device(const cuda_driver *cu, int number, cuda_device *d)
{
    CUresult result = cu->cuDeviceGet(&d->number, number);

    if (result == CUDA_SUCCESS)
        result = cu->cuDeviceGetName(d->name, (int)sizeof d->name, d->number);
    if (result == CUDA_SUCCESS)
        result = cu->cuDeviceGetUuid(&d->uuid, d->number);
    if (result == CUDA_SUCCESS)
        result = cu->cuDeviceGetPCIBusId(d->bus_id, (int)sizeof d->bus_id, d->number);
    if (result == CUDA_SUCCESS)
        result = read_attributes(cu, d);
    return result == CUDA_SUCCESS ? read_limits(cu, d) : result;
}

static int by_place(const void *left, const void *right)
{
    const cuda_device *a = left, *b = right;

    for (int i = 0; i < 3; i++)
        if (a->place[i] != b->place[i])
            return a->place[i] < b->place[i] ? -1 : 1;
    return memcmp(a->uuid.bytes, b->uuid.bytes, sizeof a->uuid.bytes);
}

assay_status cuda_list_devices(assay_instance *instance, cuda_device **out, size_t *count)
{
    int there = 0;

    ASSAY_TRY(cuda_check(instance, instance->cu->cuDeviceGetCount(&there), "counting devices"));
    const size_t n = there > 0 ? (size_t)there : 0;
    cuda_device *devices = calloc(n + 1, sizeof *devices);
    if (devices == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "open: no memory");
    for (size_t i = 0; i < n; i++) {
        const CUresult result = read_device(instance->cu, (int)i, &devices[i]);
        if (result != CUDA_SUCCESS) {
            free(devices);
            return cuda_check(instance, result, "reading a device");
        }
    }
    qsort(devices, n, sizeof *devices, by_place);
    *out = devices;
    *count = n;
    return ASSAY_OK;
}

/* ---- telling ---- */

assay_status cuda_device_count(assay_instance *instance, size_t *out)
{
    *out = instance->device_count;
    return ASSAY_OK;
}

static assay_status find(const assay_instance *instance, size_t device, const cuda_device **out)
{
    if (device >= instance->device_count)
        return cuda_fail(instance, ASSAY_INVALID, "device %zu: there are %zu, counted from 0",
                         device, instance->device_count);
    *out = &instance->devices[device];
    return ASSAY_OK;
}

/* As nvidia-smi writes it. */
static void write_uuid(const CUuuid *uuid, char *out, size_t cap)
{
    size_t at = (size_t)snprintf(out, cap, "GPU-");

    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(out + at, cap - at, "%s%02x", dash ? "-" : "",
                               (unsigned char)uuid->bytes[i]);
    }
}

static void write_driver(const cuda_driver *cu, char *out, size_t cap)
{
    const int cuda = cuda_driver_cuda(cu);
    char version[64];

    cuda_driver_version(cu, version, sizeof version);
    snprintf(out, cap, "%s%s%sCUDA %d.%d", version[0] != '\0' ? "NVIDIA " : "", version,
             version[0] != '\0' ? ", " : "", cuda / 1000, cuda % 1000 / 10);
}

assay_status cuda_device_info(assay_instance *instance, size_t device, assay_device_info *out)
{
    const cuda_device *d = NULL;

    ASSAY_TRY(find(instance, device, &d));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    snprintf(out->name, sizeof out->name, "%s", d->name);
    snprintf(out->architecture, sizeof out->architecture, "sm_%d%d", d->limits.compute_major,
             d->limits.compute_minor);
    write_driver(instance->cu, out->driver, sizeof out->driver);
    write_uuid(&d->uuid, out->uuid, sizeof out->uuid);
    out->memory_bytes = d->limits.memory_bytes;
    out->last_cache_bytes = d->limits.l2_bytes;
    out->compute_units = (uint32_t)d->limits.multiprocessors;
    return ASSAY_OK;
}

#define FEATURE(name) (UINT64_C(1) << ASSAY_FEATURE_##name)

/* Has some kernel of ours an operand of this type?  Arithmetic in it is a kernel's, not the
 * device's alone. */
static bool has_kernels_of(assay_dtype dtype)
{
    for (size_t i = 0; i < cuda_row_count; i++)
        for (size_t k = 0; k < cuda_rows[i].dtype_count; k++)
            if (cuda_rows[i].dtypes[k] == (uint8_t)dtype)
                return true;
    return false;
}

/* Since when devices have it: CUDA C++ Programming Guide, "Feature Support per Compute Capability"
 * and "Arithmetic Instructions". */
static uint64_t features_of(const cuda_limits *limits)
{
    const int capability = 10 * limits->compute_major + limits->compute_minor;
    uint64_t out = FEATURE(RESIDENT) | FEATURE(ASYNC_COMPUTE) | FEATURE(ASYNC_COPY) |
                   FEATURE(RECOVERY) | FEATURE(SUBGROUP_OPS) | FEATURE(SUBGROUP_SHUFFLE) |
                   FEATURE(SHARED_MEMORY) | FEATURE(TRAPS) | FEATURE(MUL_HIGH) |
                   FEATURE(DEVICE_TIMESTAMPS);

    if (capability >= 70)
        out |= FEATURE(TENSOR_CORES);
    if (capability >= 53 && has_kernels_of(ASSAY_F16))
        out |= FEATURE(F16);
    if (capability >= 80 && has_kernels_of(ASSAY_BF16))
        out |= FEATURE(BF16);
    if (capability >= 89 && (has_kernels_of(ASSAY_F8E4M3) || has_kernels_of(ASSAY_F8E5M2)))
        out |= FEATURE(FP8);
    return out;
}

static uint32_t least(const uint32_t values[3])
{
    uint32_t out = values[0];

    for (int i = 1; i < 3; i++)
        out = values[i] < out ? values[i] : out;
    return out;
}

/* The same on every device of the compute capabilities that this build knows: CUDA C++ Programming
 * Guide, "Technical Specifications per Compute Capability". */
static void fill_constants(assay_device_profile *out)
{
    out->registers_per_thread = 255;
    out->shared_banks = 32;
    out->shared_bank_bytes = 4;
    out->cache_line_bytes = 128;
    out->max_int_bits = 64;
    out->granularity_bits = 8;
}

static void fill_limits(const cuda_device *d, assay_device_profile *out)
{
    const cuda_limits *limits = &d->limits;

    out->subgroup_size = (uint32_t)limits->warp;
    out->max_workgroup_invocations = (uint32_t)limits->max_threads_block;
    for (int i = 0; i < 3; i++)
        out->max_workgroup_size[i] = (uint32_t)d->max_threads[i];
    out->max_workgroups = least(limits->max_groups); /* what every dimension takes */
    out->compute_units = (uint32_t)limits->multiprocessors;
    out->max_shared_bytes = (uint64_t)limits->shared_block_optin;
    out->max_buffer_bytes = limits->memory_bytes;
    out->memory_bytes = limits->memory_bytes;
    out->l2_cache_bytes = out->last_cache_bytes = limits->l2_bytes;
    out->compute_capability[0] = (uint32_t)limits->compute_major;
    out->compute_capability[1] = (uint32_t)limits->compute_minor;
}

/* Timing: events are there on every device; whether records of activity can be had only an attempt
 * tells, which slows launches down for good, so measure makes it and says what it found. */
assay_status cuda_device_profile(assay_instance *instance, size_t device, assay_device_profile *out)
{
    const cuda_device *d = NULL;

    ASSAY_TRY(find(instance, device, &d));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->features = features_of(&d->limits);
    out->dtypes = (1u << ASSAY_DTYPE_COUNT) - 1;
    fill_constants(out);
    fill_limits(d, out);
    out->alignment_bytes = CUDA_ALIGN;
    out->memory = ASSAY_MEMORY_DEVICE;
    out->location = ASSAY_LOCATION_CUDA;
    out->location_index = (uint32_t)device;
    out->paths[ASSAY_LOCATION_CPU] = 1u << ASSAY_PATH_STAGING;
    out->paths[ASSAY_LOCATION_CUDA] = 1u << ASSAY_PATH_SAME | 1u << ASSAY_PATH_COPY;
    out->timing = ASSAY_TIMING_DEVICE;
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

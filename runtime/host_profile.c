/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_profile.c -- what the CPU is and what host plug-ins can do on it. */
#include <glob.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "runtime/host_backend.h"

static uint64_t known(long value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* Widest vectors that the compiler's dispatch would use here. */
static uint32_t simd_bits(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return 512;
    if (__builtin_cpu_supports("avx2"))
        return 256;
    return 128;
#else
    return 0;
#endif
}

static uint32_t numa_nodes(void)
{
    glob_t found;
    uint32_t count = 0;

    if (glob("/sys/devices/system/node/node[0-9]*", GLOB_NOSORT, NULL, &found) == 0) {
        count = (uint32_t)found.gl_pathc;
        globfree(&found);
    }
    return count;
}

static void fill_caches(assay_device_profile *out)
{
    out->l1_cache_bytes = known(sysconf(_SC_LEVEL1_DCACHE_SIZE));
    out->l2_cache_bytes = known(sysconf(_SC_LEVEL2_CACHE_SIZE));
    out->last_cache_bytes = known(sysconf(_SC_LEVEL3_CACHE_SIZE));
    if (out->last_cache_bytes == 0)
        out->last_cache_bytes = out->l2_cache_bytes;
    out->cache_line_bytes = (uint32_t)known(sysconf(_SC_LEVEL1_DCACHE_LINESIZE));
    out->memory_bytes = known(sysconf(_SC_PHYS_PAGES)) * known(sysconf(_SC_PAGESIZE));
}

assay_status assay__host_device_profile(assay_instance *instance, size_t device,
                                        assay_device_profile *out)
{
    if (device != 0)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "device %zu: this backend has device 0 only", device);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->features =
        UINT64_C(1) << ASSAY_FEATURE_RESIDENT | UINT64_C(1) << ASSAY_FEATURE_ASYNC_COMPUTE |
        UINT64_C(1) << ASSAY_FEATURE_UNIFIED_MEMORY | UINT64_C(1) << ASSAY_FEATURE_HOST_GRID_SPLIT;
    out->dtypes = (1u << ASSAY_DTYPE_COUNT) - 1;
    out->max_int_bits = 64;
    out->compute_units = assay__host_usable_cpus();
    out->max_buffer_bytes = (uint64_t)INT64_MAX - 64; /* what alloc takes */
    fill_caches(out);
    out->simd_bits = simd_bits();
    out->numa_nodes = numa_nodes();
    out->alignment_bytes = 64;
    out->granularity_bits = 8;
    out->memory = ASSAY_MEMORY_HOST;
    out->location = ASSAY_LOCATION_CPU;
    out->paths[ASSAY_LOCATION_CPU] =
        1u << ASSAY_PATH_SAME | 1u << ASSAY_PATH_SHARED | 1u << ASSAY_PATH_COPY;
    out->timing = ASSAY_TIMING_HOST;
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

assay_status assay__host_test_profile(assay_instance *instance, size_t device,
                                      assay_device_profile *out)
{
    ASSAY_TRY(assay__host_device_profile(instance, device, out));
    out->features |= UINT64_C(1) << ASSAY_FEATURE_RECOVERY | UINT64_C(1)
                                                                 << ASSAY_FEATURE_FAULT_INJECTION;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/plugins/select_plug.c -- plug-ins for tests of selection, one for each SELECT_<name>.
 *
 * What a device says of itself is in $SELECT_<name> when it is asked: words "fail" (it cannot be
 * opened), "none" (there is no device), "stuck" (it cannot be taken), and features=, buffer=,
 * invocations=, subgroup=, timing= with a number each. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "assay/plugin.h"

#define IS_EXPLICIT  0
#define ORACLES      NULL
#define ORACLE_COUNT 0
#define HAS_KERNELS  1
#define ISA          NULL
#define PLACE        ASSAY_LOCATION_CPU

#if defined(SELECT_card_a)
#define NAME "card_a"
#undef PLACE
#define PLACE ASSAY_LOCATION_CUDA
#elif defined(SELECT_card_b)
#define NAME "card_b"
#undef PLACE
#define PLACE ASSAY_LOCATION_CUDA
#elif defined(SELECT_bare)
#define NAME "bare"
#undef PLACE
#define PLACE ASSAY_LOCATION_CUDA
#undef HAS_KERNELS
#define HAS_KERNELS 0
#elif defined(SELECT_vk)
#define NAME "vk"
#undef PLACE
#define PLACE ASSAY_LOCATION_VULKAN
#elif defined(SELECT_host_b)
#define NAME "host_b"
#elif defined(SELECT_hidden)
#define NAME "hidden"
#undef IS_EXPLICIT
#define IS_EXPLICIT 1
#elif defined(SELECT_oracle)
#define NAME "oracle"
#undef ORACLES
#undef ORACLE_COUNT
#define ORACLES      oracles
#define ORACLE_COUNT 1
#elif defined(SELECT_absent)
#define NAME "absent"
#undef ISA
#define ISA "imaginary9"
#else
#define NAME "host_a"
#endif

/* ---- what the test wants it to be ---- */

static const char *script(void)
{
    const char *text = getenv("SELECT_" NAME);

    return text != NULL ? text : "";
}

static uint64_t number(const char *word)
{
    const char *at = strstr(script(), word);

    return at != NULL ? strtoull(at + strlen(word), NULL, 0) : 0;
}

/* ---- the backend ---- */

static const assay_host *services;

static assay_status plug_open(const assay_host *host, assay_instance **out)
{
    services = host;
    if (strstr(script(), "fail") != NULL)
        return host->fail(ASSAY_UNAVAILABLE, "no driver of " NAME " here");
    *out = (assay_instance *)&services;
    return ASSAY_OK;
}

static assay_status plug_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = strstr(script(), "none") != NULL ? 0 : 1;
    return ASSAY_OK;
}

static assay_status plug_device_profile(assay_instance *instance, size_t device,
                                        assay_device_profile *out)
{
    (void)instance;
    (void)device;
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->location = PLACE;
    out->features = number("features=");
    out->max_buffer_bytes = number("buffer=");
    out->max_workgroup_invocations = (uint32_t)number("invocations=");
    out->subgroup_size = (uint32_t)number("subgroup=");
    out->timing = (assay_timing_quality)number("timing=");
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

static assay_status plug_select_device(assay_instance *instance, size_t device)
{
    (void)instance;
    (void)device;
    return strstr(script(), "stuck") != NULL
               ? services->fail(ASSAY_DEVICE, "the device of " NAME " is stuck")
               : ASSAY_OK;
}

static const assay_backend backend = {.struct_size = sizeof(assay_backend),
                                      .abi_version = ASSAY_PLUGIN_ABI,
                                      .open = plug_open,
                                      .device_count = plug_device_count,
                                      .device_profile = plug_device_profile,
                                      .select_device = plug_select_device};

/* ---- kernels ---- */

static const assay_source_hash hashes[] = {{"tests/plugins/select_plug.c", {{1, 2, 3}}}};

#if HAS_KERNELS
static assay_status run(const assay_launch *launch)
{
    return launch->operand_count == 3 ? ASSAY_OK : ASSAY_INVALID;
}

static const char *const sources[] = {"tests/plugins/select_plug.c", NULL};
#define ROW(op_, name_)                                                                    \
    {                                                                                      \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_,     \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32}, .default_rank = 10, \
        .sources = sources, .claims = ASSAY_NO_CLAIMS, .entry_point = "run", .run = run,   \
        .requires_isa = ISA                                                                \
    }
static const assay_kernel_desc kernels[] = {ROW(matmul, NAME "_matmul"), ROW(add, NAME "_add")};
#define KERNELS      kernels
#define KERNEL_COUNT 2
#else
#define KERNELS      NULL
#define KERNEL_COUNT 0
#endif

#if ORACLE_COUNT > 0
static assay_status wide(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    (void)launch;
    (void)threads;
    (void)out;
    return ASSAY_UNSUPPORTED;
}

static const assay_oracle_desc oracles[] = {
    {.struct_size = sizeof(assay_oracle_desc), .op = ASSAY_OP_add, .wide = wide}};
#endif

extern const assay_manifest assay_plugin_manifest;
const assay_manifest assay_plugin_manifest = {.struct_size = sizeof(assay_manifest),
                                              .abi_version = ASSAY_PLUGIN_ABI,
                                              .name = NAME,
                                              .version = "1",
                                              .compiler = "test compiler",
                                              .kernels = KERNELS,
                                              .kernel_count = KERNEL_COUNT,
                                              .sources = hashes,
                                              .source_count = 1,
                                              .backend = &backend,
                                              .oracles = ORACLES,
                                              .oracle_count = ORACLE_COUNT,
                                              .explicit_only = IS_EXPLICIT,
                                              .location = PLACE};

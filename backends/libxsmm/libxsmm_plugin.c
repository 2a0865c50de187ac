/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/libxsmm/libxsmm_plugin.c -- manifest of libxsmm as a backend for small products. */
#include <string.h>

#include "backends/libxsmm/libxsmm_calls.h"
#include "backends/source_hash.h"
#include "gen/config.h"
#include "runtime/host_backend.h"

static const char *const sources[] = {"backends/libxsmm/libxsmm_gemm.c", NULL};
static const char *const libraries[] = {"libxsmm", NULL};

#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }

#define GEMM(dtype, call, run_)                                                                    \
    {                                                                                              \
        .struct_size = sizeof(assay_kernel_desc), .name = "libxsmm_gemm", .op = ASSAY_OP_matmul,   \
        .dtype_count = 3, .dtypes = {dtype, dtype, dtype}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS},    \
        .default_rank = 32, .can_run_fn = xsmm_usable, .sources = sources, .libraries = libraries, \
        .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE}, .entry_point = call,          \
        .run = run_                                                                                \
    }

static const assay_kernel_desc kernels[] = {
    GEMM(ASSAY_F32, "libxsmm_smmdispatch", xsmm_gemm_f32),
    GEMM(ASSAY_F64, "libxsmm_dmmdispatch", xsmm_gemm_f64),
};

static assay_status library_identity(assay_instance *instance, const char *name, char *buf,
                                     size_t cap)
{
    char text[256];

    if (strcmp(name, "libxsmm") != 0)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "no library %s here", name);
    const char *why = xsmm_why_not();
    if (why != NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "%s", why);
    xsmm_describe(text, sizeof text);
    if (strlen(text) >= cap)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "identity of libxsmm needs %zu bytes",
                                strlen(text) + 1);
    memcpy(buf, text, strlen(text) + 1);
    return ASSAY_OK;
}

static const assay_backend backend = {
    ASSAY__HOST_BACKEND_SLOTS,
    .open = assay__host_open,
    .library_identity = library_identity,
    .launch = assay__host_launch,
    .measure = assay__host_measure,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "libxsmm",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = kernels,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/libxsmm/libxsmm_plugin.c -- manifest of libxsmm as a backend for small products. */
#include <string.h>

#include "backends/host_plugin.h"
#include "backends/libxsmm/libxsmm_calls.h"

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

HOST_PLUGIN("libxsmm", library_identity);

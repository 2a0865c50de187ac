/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/cuda_villains/cuda_villains_rows.c -- rows and manifest of the villains on a GPU. */
#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_manifest.h"
#include "tests/cuda_villains/cuda_villains.h"

static const char *const sources[] = {"tests/cuda_villains/cuda_villains.c",
                                      "tests/cuda_villains/cuda_villains_kernels.cu", NULL};
static const char *const driver[] = {"libcuda", NULL};
static const int64_t amounts[] = {1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
static const assay_tunable work[] = {{"work", amounts, 16, 3, "how long it takes"}};

#define ROW(kernel, rank, ...)                                                                    \
    {                                                                                             \
        .struct_size = sizeof(assay_kernel_desc), .name = #kernel, .op = ASSAY_OP_add,            \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},                            \
        .caps = {{ASSAY_CAP_OFFSET, 0}, {ASSAY_CAP_OFFSET, 0}, {ASSAY_CAP_OFFSET, 0}},            \
        .default_rank = rank, .sources = sources, .libraries = driver, .claims = ASSAY_NO_CLAIMS, \
        .entry_point = #kernel, .run = kernel, __VA_ARGS__                                        \
    }
#define VILLAIN(kernel) ROW(kernel, 50, .tunables = NULL),

const assay_kernel_desc cuda_rows[] = {
    ROW(g_honest, 10, .tunables = NULL),
    CUDA_VILLAINS(VILLAIN) ROW(g_work, 50, .tunables = work, .tunable_count = 1),
};
const size_t cuda_row_count = sizeof cuda_rows / sizeof *cuda_rows;

/* Of the libraries that backends/cuda offers these kernels need the driver alone. */
assay_status cuda_blaslt_identity(assay_instance *instance, char *buf, size_t cap)
{
    (void)buf;
    (void)cap;
    return cuda_fail(instance, ASSAY_UNAVAILABLE, "no kernel here takes cuBLASLt");
}

void cuda_blaslt_close(assay_instance *instance)
{
    (void)instance;
}

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "cuda_villains",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = cuda_rows,
    .kernel_count = sizeof cuda_rows / sizeof *cuda_rows,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &cuda_backend,
    .location = ASSAY_LOCATION_CUDA,
    .explicit_only = 1,
};

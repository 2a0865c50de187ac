/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/many/many.c -- kernels of add, f32, with 512 variants each, all alike.
 *
 * A plug-in of the tests, never installed and chosen only by name: for sweeps that are large. */
#include "backends/source_hash.h"
#include "gen/config.h"
#include "runtime/host_backend.h"
#include "runtime/op_params.h"

static assay_status run(const assay_launch *launch)
{
    const float *a = assay_tensor_data(&launch->operands[0]);
    const float *b = assay_tensor_data(&launch->operands[1]);
    float *y = assay_tensor_data(&launch->operands[2]);
    const int64_t n = ASSAY__INT(launch->problem, add, n);

    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
    return ASSAY_OK;
}

static const char *const sources[] = {"tests/many/many.c", NULL};
static const int64_t values[] = {0, 1, 2, 3, 4, 5, 6, 7};
static const assay_tunable tunables[] = {
    {"a", values, 8, 0, "nothing"}, {"b", values, 8, 0, "nothing"}, {"c", values, 8, 0, "nothing"}};

#define ROW(label, rank)                                                                         \
    {                                                                                            \
        .struct_size = sizeof(assay_kernel_desc), .name = label, .op = ASSAY_OP_add,             \
        .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32}, .default_rank = rank,     \
        .tunables = tunables, .tunable_count = 3, .sources = sources, .claims = ASSAY_NO_CLAIMS, \
        .entry_point = "run", .run = run                                                         \
    }

static const assay_kernel_desc kernels[] = {ROW("many", 10), ROW("more", 20)};

static const assay_backend backend = {
    ASSAY__HOST_BACKEND_SLOTS,
    .open = assay__host_open,
    .library_identity = assay__host_library_identity,
    .launch = assay__host_launch,
    .measure = assay__host_measure,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "many",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = kernels,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
};

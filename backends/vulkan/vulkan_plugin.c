/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_plugin.c -- manifest and slots of the Vulkan backend.
 *
 * The slot map is left out: the host does not reach the device's memory, and where it would,
 * addresses of the host are none that kernels take. */
#include "backends/source_hash.h"
#include "backends/vulkan/vulkan_instance.h"
#include "backends/vulkan/vulkan_kernels.h"
#include "gen/config.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- tunables -------------------------------------------------------------------------------- */

static const int64_t workgroup_values[] = {64, 128, 256};
static const int64_t row_workgroup_values[] = {64, 128, 256, 512};
static const int64_t held_wide_values[] = {0, 16};
static const int64_t held_narrow_values[] = {0, 8};
static const int64_t vectors_values[] = {1, 2, 4};
static const int64_t side_values[] = {8, 16};
static const int64_t each_values[] = {1, 2, 4, 8};

#define WORKGROUP                                                    \
    {                                                                \
        "workgroup", workgroup_values, COUNT(workgroup_values), 128, \
            "invocations of a workgroup; every device takes 128"     \
    }

/* The orders are those of the places in vulkan_kernels.h, and of vulkan_matmul.c. */
static const assay_tunable mapped[] = {
    WORKGROUP,
    {"vectors", vectors_values, COUNT(vectors_values), 2,
     "vectors of 16 bytes an invocation, loaded before the first is used"},
};
static const assay_tunable of_sums[] = {WORKGROUP};
/* Of both widths 64 values an invocation. */
#define HELD(values, most)                                                                  \
    {"workgroup", row_workgroup_values, COUNT(row_workgroup_values), 128,                   \
     "invocations a row; every device takes 128"},                                          \
    {                                                                                       \
        "held", values, COUNT(values), most,                                                \
            "most vectors of 16 bytes that an invocation holds; a longer row is read again" \
    }
static const assay_tunable wide_rows[] = {HELD(held_wide_values, 16)};
static const assay_tunable narrow_rows[] = {HELD(held_narrow_values, 8)};
/* Not what is the same as another: rows too long to be held, invocations without a vector. */
#define ROWS_CONSTRAINT \
    "(held > 0 or cols <= 64*workgroup) and (workgroup <= 128 or cols >= 4*workgroup)"
static const assay_tunable tiled[] = {
    {"side", side_values, COUNT(side_values), 16, "invocations a side of a square workgroup"},
    {"each", each_values, COUNT(each_values), 4, "rows and columns of C an invocation makes"},
};

/* ---- rows ------------------------------------------------------------------------------------ */

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }
#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }
#define UNARY(from, to) .dtype_count = 2, .dtypes = {from, to}, .caps = {CONTIGUOUS, CONTIGUOUS}
#define BINARY(t, same) \
    .dtype_count = 3, .dtypes = {t, t, same}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define MATRICES(t, same) \
    .dtype_count = 3, .dtypes = {t, t, same}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS}

/* Shaders count elements in 31 bits. */
#define FEW_N    "n <= 2147483647"
#define FEW_ROWS "rows*cols <= 2147483647"
#define FEW_SUMS "outer*axis*inner <= 2147483647 and outer*inner <= 2147483647"
#define FEW_PRODUCTS                                           \
    "batch*m*k <= 2147483647 and batch*k*n <= 2147483647 and " \
    "batch*m*n <= 2147483647"

/* No order of sums depends on what runs when; errors depend on the device, so none are claimed. */
#define CLAIMS                                         \
    {                                                  \
        -1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG \
    }

#define ROW(name_, op_, shape_, t_, u_, few_, tunables_, sources_, run_) \
    ROW_WITH(name_, op_, shape_, t_, u_, few_, tunables_, sources_, run_, NULL)
#define ROW_WITH(name_, op_, shape_, t_, u_, few_, tunables_, sources_, run_, constraint_)         \
    {                                                                                              \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_,             \
        shape_(t_, u_), .default_rank = 50, .tunables = tunables_,                                 \
        .tunable_count = COUNT(tunables_), .can_run = few_, .sources = sources_, .claims = CLAIMS, \
        .entry_point = #run_, .run = run_, .constraint = constraint_                               \
    }
#define EACH_TYPE(...) ROWS_OF(__VA_ARGS__)
#define ROWS_OF(name_, op_, shape_, few_, tunables_, sources_, run_)                    \
    ROW(name_, op_, shape_, ASSAY_F32, ASSAY_F32, few_, tunables_, sources_, run_),     \
        ROW(name_, op_, shape_, ASSAY_F16, ASSAY_F16, few_, tunables_, sources_, run_), \
        ROW(name_, op_, shape_, ASSAY_BF16, ASSAY_BF16, few_, tunables_, sources_, run_)
#define ALONG_ROW(name_, op_, t_, tunables_, sources_, run_) \
    ROW_WITH(name_, op_, UNARY, t_, t_, FEW_ROWS, tunables_, sources_, run_, ROWS_CONSTRAINT)
#define ALONG_ROWS(name_, op_, sources_, run_)                         \
    ALONG_ROW(name_, op_, ASSAY_F32, wide_rows, sources_, run_),       \
        ALONG_ROW(name_, op_, ASSAY_F16, narrow_rows, sources_, run_), \
        ALONG_ROW(name_, op_, ASSAY_BF16, narrow_rows, sources_, run_)
#define CAST(from, to) \
    ROW("vulkan_cast", cast, UNARY, from, to, FEW_N, mapped, cast_sources, vulkan_cast)
#define CASTS(from) CAST(from, ASSAY_F32), CAST(from, ASSAY_F16), CAST(from, ASSAY_BF16)

/* A shader's hash covers what it includes; float controls change its module before it is used. */
#define SOURCES(name_, shader_, family_)                                          \
    static const char *const name_##_sources[] = {                                \
        "backends/vulkan/" shader_ ".comp",  "backends/vulkan/" family_ ".c",     \
        "backends/vulkan/vulkan_dispatch.c", "backends/vulkan/vulkan_pipeline.c", \
        "backends/vulkan/vulkan_spirv.c",    NULL}
SOURCES(add, "vulkan_add", "vulkan_map");
SOURCES(relu, "vulkan_relu", "vulkan_map");
SOURCES(exp, "vulkan_exp", "vulkan_map");
SOURCES(gelu, "vulkan_gelu", "vulkan_map");
SOURCES(cast, "vulkan_cast", "vulkan_map");
SOURCES(softmax, "vulkan_softmax", "vulkan_softmax");
SOURCES(layer_norm, "vulkan_layer_norm", "vulkan_norms");
SOURCES(rms_norm, "vulkan_rms_norm", "vulkan_norms");
SOURCES(sum_reduce, "vulkan_sum_reduce", "vulkan_sum_reduce");
SOURCES(matmul, "vulkan_matmul", "vulkan_matmul");

static const assay_kernel_desc kernels[] = {
    EACH_TYPE("vulkan_add", add, BINARY, FEW_N, mapped, add_sources, vulkan_add),
    EACH_TYPE("vulkan_relu", relu, UNARY, FEW_N, mapped, relu_sources, vulkan_unary),
    EACH_TYPE("vulkan_exp", exp, UNARY, FEW_N, mapped, exp_sources, vulkan_unary),
    EACH_TYPE("vulkan_gelu", gelu, UNARY, FEW_N, mapped, gelu_sources, vulkan_unary),
    CASTS(ASSAY_F32),
    CASTS(ASSAY_F16),
    CASTS(ASSAY_BF16),
    ALONG_ROWS("vulkan_softmax", softmax_last_dim, softmax_sources, vulkan_softmax),
    ALONG_ROWS("vulkan_layer_norm", layer_norm_last_dim, layer_norm_sources, vulkan_norm),
    ALONG_ROWS("vulkan_rms_norm", rms_norm_last_dim, rms_norm_sources, vulkan_norm),
    EACH_TYPE("vulkan_sum_reduce", sum_reduce, UNARY, FEW_SUMS, of_sums, sum_reduce_sources,
              vulkan_sum_reduce),
    ROW("vulkan_matmul", matmul, MATRICES, ASSAY_F32, ASSAY_F32, FEW_PRODUCTS, tiled,
        matmul_sources, vulkan_matmul),
};

/* ---- manifest -------------------------------------------------------------------------------- */

static const assay_backend backend = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = vulkan_open,
    .close = vulkan_close,
    .device_count = vulkan_device_count,
    .device_info = vulkan_device_info,
    .device_profile = vulkan_device_profile,
    .select_device = vulkan_select,
    .alloc = vulkan_alloc,
    .free = vulkan_free,
    .copy = vulkan_copy,
    .fill = vulkan_fill,
    .wrap = vulkan_wrap,
    .upload = vulkan_upload,
    .download = vulkan_download,
    .launch = assay__host_launch,
    .synchronize = vulkan_synchronize,
    .measure = vulkan_measure,
    .prepare = vulkan_prepare,
    .flush = vulkan_synchronize,
    .state = assay__host_state,
    .recover = vulkan_recover,
    .queue_create = assay__host_queue_create,
    .queue_destroy = assay__host_queue_destroy,
    .queue_wait = assay__host_queue_wait,
    .event_create = assay__host_event_create,
    .event_destroy = assay__host_event_destroy,
    .event_record = assay__host_event_record,
    .event_wait = assay__host_event_wait,
    .event_ready = assay__host_event_ready,
    .event_elapsed = assay__host_event_elapsed,
    .metrics = vulkan_metrics,
    .inject = assay__host_inject,
    .probe = vulkan_probe,
};

/* Explicit: who does not name it works on host memory, which its kernels do not take. */
ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "vulkan",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = kernels,
    .kernel_count = COUNT(kernels),
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
    .location = ASSAY_LOCATION_VULKAN,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_plugin.c -- manifest of OpenBLAS as a backend for matmul and
 * fused_linear, for attention and for gradients of convolutions.
 *
 * `threads` defaults to what the library itself would use: the usable CPUs, rounded down to a
 * value of the list.  The machine decides it, so it is filled in when the plug-in is loaded. */
#include <stdio.h>
#include <string.h>

#include "backends/host_plugin.h"
#include "backends/openblas/openblas_attention.h"
#include "backends/openblas/openblas_conv2d_back.h"
#include "backends/thread_choice.h"
#include "runtime/host_opened.h"

static assay_tunable tunables[] = {THREADS_TUNABLE("threads that OpenBLAS may use")};
static const char *const sources[] = {"backends/openblas/openblas_gemm.c",
                                      "backends/openblas/openblas_library.c", NULL};
static const char *const attention_sources[] = {"backends/openblas/openblas_attention.c",
                                                "backends/openblas/openblas_area.c",
                                                "backends/openblas/openblas_softmax_avx2.c",
                                                "backends/openblas/openblas_library.c",
                                                "runtime/host_team.c",
                                                NULL};
static const char *const back_sources[] = {
    "backends/openblas/openblas_conv2d_back.c", "backends/openblas/openblas_area.c",
    "backends/openblas/openblas_library.c", "runtime/host_team.c", NULL};
static const char *const libraries[] = {"openblas", NULL};

__attribute__((constructor)) static void set_default_threads(void)
{
    int64_t cpus = (int64_t)assay__host_usable_cpus();

    for (size_t i = 0; i < sizeof thread_values / sizeof *thread_values; i++)
        if (thread_values[i] <= cpus)
            tunables[0].default_value = thread_values[i];
}

#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }

/* Its bits depend on the thread count. */
#define COMMON(name_, op_, usable_, run_)                                                  \
    .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = op_, .default_rank = 0, \
    .tunables = tunables, .tunable_count = 1, .can_run_fn = usable_, .sources = sources,   \
    .libraries = libraries, .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG},    \
    .entry_point = "cblas_" #run_, .run = openblas_##run_
#define GEMM(t, run_)                                                    \
    {                                                                    \
        COMMON("openblas_gemm", ASSAY_OP_matmul, openblas_usable, run_), \
            .dtype_count = 3, .dtypes = {t, t, t}, .caps = {             \
                BY_ROWS,                                                 \
                BY_ROWS,                                                 \
                BY_ROWS                                                  \
            }                                                            \
    }
#define LINEAR(t, run_)                                                                    \
    {                                                                                      \
        COMMON("openblas_bias_gemm", ASSAY_OP_fused_linear, openblas_linear_usable, run_), \
            .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {                            \
                BY_ROWS,                                                                   \
                BY_ROWS,                                                                   \
                CONTIGUOUS,                                                                \
                BY_ROWS                                                                    \
            }                                                                              \
    }

#define ATTENTION                                                                                 \
    {                                                                                             \
        .struct_size = sizeof(assay_kernel_desc), .name = "openblas_attention",                   \
        .op = ASSAY_OP_attention, .dtype_count = 4,                                               \
        .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32, ASSAY_F32},                                   \
        .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}, .default_rank = 12,             \
        .tunables = tunables, .tunable_count = 1, .can_run_fn = openblas_attention_usable,        \
        .requires_isa = "avx2,fma", .sources = attention_sources, .libraries = libraries,         \
        .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG}, .entry_point = "cblas_sgemm", \
        .run = openblas_attention                                                                 \
    }

/* Through columns in memory. */
#define GRADIENT(name_, op_, run_)                                                                 \
    {                                                                                              \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = op_, .dtype_count = 3,      \
        .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}, \
        .default_rank = 12, .tunables = tunables, .tunable_count = 1,                              \
        .can_run_fn = openblas_back_usable, .sources = back_sources, .libraries = libraries,       \
        .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG}, .entry_point = "cblas_sgemm",  \
        .run = run_                                                                                \
    }

static const assay_kernel_desc kernels[] = {
    GEMM(ASSAY_F32, sgemm),
    GEMM(ASSAY_F64, dgemm),
    LINEAR(ASSAY_F32, sgemm),
    LINEAR(ASSAY_F64, dgemm),
    ATTENTION,
    GRADIENT("openblas_conv2d_backward_data", ASSAY_OP_conv2d_backward_data,
             openblas_backward_data),
    GRADIENT("openblas_conv2d_backward_filter", ASSAY_OP_conv2d_backward_filter,
             openblas_backward_filter)};

/* The second word of "OpenBLAS 0.3.21 DYNAMIC_ARCH ...". */
static void read_version(const char *config, char *version, size_t cap)
{
    const char *space = strchr(config, ' ');
    size_t length = space != NULL ? strcspn(space + 1, " ") : 0;

    snprintf(version, cap, "%.*s", (int)length, length > 0 ? space + 1 : "");
}

static assay_status library_identity(assay_instance *instance, const char *name, char *buf,
                                     size_t cap)
{
    const char *why;
    char version[32], more[512];
    const void *symbol;

    if (strcmp(name, "openblas") != 0)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "no library %s here", name);
    const openblas_library *library = openblas_open(&why);
    if (library == NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "OpenBLAS: %s", why);
    memcpy(&symbol, &library->sgemm, sizeof symbol);
    read_version(library->get_config(), version, sizeof version);
    snprintf(more, sizeof more, "config=%s\ncorename=%s\nparallel=%d\n", library->get_config(),
             library->get_corename(), library->get_parallel());
    return assay__opened_identity(instance, symbol, version, more, buf, cap);
}

HOST_PLUGIN("openblas", library_identity);

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/blis/blis_plugin.c -- manifest of BLIS as a backend for matmul and fused_linear. */
#include <stdio.h>
#include <string.h>

#include "backends/blis/blis_calls.h"
#include "backends/host_plugin.h"
#include "backends/thread_choice.h"
#include "runtime/host_opened.h"

static const assay_tunable tunables[] = {THREADS_TUNABLE("threads that BLIS may use")};
static const char *const sources[] = {"backends/blis/blis_gemm.c", "backends/blis/blis_library.c",
                                      NULL};
static const char *const libraries[] = {"blis", NULL};

#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }

/* Its bits depend on the thread count. */
#define COMMON(name_, op_, usable_, run_)                                                   \
    .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = op_, .default_rank = 30, \
    .tunables = tunables, .tunable_count = 1, .can_run_fn = usable_, .sources = sources,    \
    .libraries = libraries, .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG},     \
    .entry_point = "bli_" #run_, .run = blis_##run_
#define GEMM(t, run_)                                                                           \
    {                                                                                           \
        COMMON("blis_gemm", ASSAY_OP_matmul, blis_usable, run_), .dtype_count = 3,              \
                                                                 .dtypes = {t, t, t}, .caps = { \
                                                                     BY_ROWS,                   \
                                                                     BY_ROWS,                   \
                                                                     BY_ROWS                    \
                                                                 }                              \
    }
#define LINEAR(t, run_)                                                     \
    {                                                                       \
        COMMON("blis_bias_gemm", ASSAY_OP_fused_linear, blis_usable, run_), \
            .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {             \
                BY_ROWS,                                                    \
                BY_ROWS,                                                    \
                CONTIGUOUS,                                                 \
                BY_ROWS                                                     \
            }                                                               \
    }

static const assay_kernel_desc kernels[] = {GEMM(ASSAY_F32, sgemm), GEMM(ASSAY_F64, dgemm),
                                            LINEAR(ASSAY_F32, sgemm), LINEAR(ASSAY_F64, dgemm)};

/* The architecture is the set of kernels that BLIS chose on this CPU. */
static assay_status library_identity(assay_instance *instance, const char *name, char *buf,
                                     size_t cap)
{
    const char *why;
    char more[128];
    const void *symbol;

    if (strcmp(name, "blis") != 0)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "no library %s here", name);
    const blis_library *library = blis_open(&why);
    if (library == NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "BLIS: %s", why);
    memcpy(&symbol, &library->sgemm, sizeof symbol);
    snprintf(more, sizeof more, "architecture=%s\nthreading=%s\n",
             library->arch_name(library->arch_id()),
             library->openmp() != 0      ? "openmp"
             : library->threading() != 0 ? "pthread"
                                         : "none");
    return assay__opened_identity(instance, symbol, library->version(), more, buf, cap);
}

HOST_PLUGIN("blis", library_identity);

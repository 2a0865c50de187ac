/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/blis/blis_plugin.c -- manifest of BLIS as a backend for matmul. */
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

/* Its bits depend on the thread count. */
#define GEMM(t, run_)                                                                            \
    {                                                                                            \
        .struct_size = sizeof(assay_kernel_desc), .name = "blis_gemm", .op = ASSAY_OP_matmul,    \
        .dtype_count = 3, .dtypes = {t, t, t}, .caps = {BY_ROWS, BY_ROWS, BY_ROWS},              \
        .default_rank = 30, .tunables = tunables, .tunable_count = 1, .can_run_fn = blis_usable, \
        .sources = sources, .libraries = libraries,                                              \
        .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG}, .entry_point = "bli_" #run_, \
        .run = blis_##run_                                                                       \
    }

static const assay_kernel_desc kernels[] = {GEMM(ASSAY_F32, sgemm), GEMM(ASSAY_F64, dgemm)};

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

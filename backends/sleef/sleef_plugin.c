/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_plugin.c -- manifest of SLEEF as a backend for elementwise functions. */
#include <string.h>

#include "backends/host_plugin.h"
#include "backends/sleef/sleef_calls.h"
#include "backends/thread_choice.h"
#include "runtime/host_opened.h"

static const int64_t bits_values[] = {256, 512};
static const assay_tunable tunables[] = {
    THREADS_TUNABLE("threads that share the work"),
    {"bits", bits_values, 2, 256, "bits of a vector; 512 needs AVX-512"},
};
static const char *const sources[] = {"backends/sleef/sleef_unary.c",
                                      "backends/sleef/sleef_map_avx2.c",
                                      "backends/sleef/sleef_map_avx512.c",
                                      "backends/sleef/sleef_library.c",
                                      "runtime/host_team.c",
                                      NULL};
static const char *const libraries[] = {"sleef", "libm.so.6", NULL};

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }

/* u10: SLEEF promises 1.0 ULP, so at most one value away from the correctly rounded one. */
#define EXP(dtype, call)                                                                          \
    {                                                                                             \
        .struct_size = sizeof(assay_kernel_desc), .name = "sleef_exp_u10", .op = ASSAY_OP_exp,    \
        .dtype_count = 2, .dtypes = {dtype, dtype}, .caps = {CONTIGUOUS, CONTIGUOUS},             \
        .default_rank = 33, .tunables = tunables, .tunable_count = 2, .can_run_fn = sleef_usable, \
        .requires_isa = "avx2,fma", .sources = sources, .libraries = libraries,                   \
        .claims = {1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE}, .entry_point = call,          \
        .run = sleef_exp                                                                          \
    }

static const assay_kernel_desc kernels[] = {EXP(ASSAY_F32, "Sleef_expf8_u10, Sleef_expf16_u10"),
                                            EXP(ASSAY_F64, "Sleef_expd4_u10, Sleef_expd8_u10")};

static assay_status library_identity(assay_instance *instance, const char *name, char *buf,
                                     size_t cap)
{
    const char *why;
    const void *symbol;

    if (strcmp(name, "sleef") != 0)
        return assay__host_library_identity(instance, name, buf, cap);
    const sleef_library *library = sleef_open(&why);
    if (library == NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "SLEEF: %s", why);
    memcpy(&symbol, &library->exp.f32[0], sizeof symbol);
    return assay__opened_identity(instance, symbol, NULL, "", buf, cap);
}

HOST_PLUGIN("sleef", library_identity);

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
                                      "backends/sleef/sleef_form_avx2.c",
                                      "backends/sleef/sleef_form_avx512.c",
                                      "backends/sleef/sleef_library.c",
                                      "runtime/host_team.c",
                                      NULL};
static const char *const libraries[] = {"sleef", "libm.so.6", NULL};

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }

#define UNARY(op_, dtype, name_, claimed, call)                                                   \
    {                                                                                             \
        .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_,            \
        .dtype_count = 2, .dtypes = {dtype, dtype}, .caps = {CONTIGUOUS, CONTIGUOUS},             \
        .default_rank = 33, .tunables = tunables, .tunable_count = 2, .can_run_fn = sleef_usable, \
        .requires_isa = "avx2,fma", .sources = sources, .libraries = libraries,                   \
        .claims = {claimed, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE}, .entry_point = call,      \
        .run = sleef_unary                                                                        \
    }
/* u10: SLEEF promises 1.0 ULP, so at most one value away from the correctly rounded one. */
#define PLAIN(op)                                                                                \
    UNARY(op, ASSAY_F32, "sleef_" #op "_u10", 1.0, "Sleef_" #op "f8_u10, Sleef_" #op "f16_u10"), \
        UNARY(op, ASSAY_F64, "sleef_" #op "_u10", 1.0, "Sleef_" #op "d4_u10, Sleef_" #op "d8_u10")
/* Made of a function: f32 is claimed as all its inputs were measured. */
#define FORM(op, of, f32)                                                       \
    UNARY(op, ASSAY_F32, "sleef_" #op, f32, "Sleef_" of "f8, Sleef_" of "f16"), \
        UNARY(op, ASSAY_F64, "sleef_" #op, -1.0, "Sleef_" of "d4, Sleef_" of "d8")

static const assay_kernel_desc kernels[] = {PLAIN(exp),
                                            PLAIN(log),
                                            PLAIN(tanh),
                                            FORM(sigmoid, "exp", 2.0),
                                            FORM(silu, "exp", 5.0),
                                            FORM(gelu, "tanh", -1.0),
                                            FORM(gelu_erf, "erf", -1.0),
                                            FORM(rsqrt, "sqrt", 1.0)};

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

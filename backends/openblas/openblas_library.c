/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_library.c -- where OpenBLAS is found and what is taken from it. */
#include "backends/openblas/openblas.h"

#include <stdio.h>
#include <string.h>

#include "runtime/host_opened.h"

static openblas_library library;

static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
    "libopenblas.so.0",
    NULL,
};

#define TAKE(name, field)                       \
    {                                           \
        name, offsetof(openblas_library, field) \
    }
static const assay__opened_symbol symbols[] = {
    TAKE("cblas_sgemm", sgemm),
    TAKE("cblas_dgemm", dgemm),
    TAKE("openblas_set_num_threads", set_threads),
    TAKE("openblas_get_num_threads", get_threads),
    TAKE("openblas_get_parallel", get_parallel),
    TAKE("openblas_get_config", get_config),
    TAKE("openblas_get_corename", get_corename),
};

static const assay__opened_spec spec = {
    .title = "OpenBLAS",
    .variable = "ASSAY_OPENBLAS",
    .package = "libopenblas0-pthread",
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

/* We pass int; a build with 64-bit integers would read beyond it. */
static bool settle(char *reason, size_t cap)
{
    if (strstr(library.get_config(), "USE64BITINT") != NULL) {
        snprintf(reason, cap, "this build has 64-bit integers, 32-bit ones are needed");
        return false;
    }
    library.set_threads(1); /* it starts with all */
    if (library.get_parallel() == 2)
        (void)assay__openmp_take(&library.team); /* without it one thread is all that is sure */
    return true;
}

static assay__opened opened = ASSAY__OPENED(&spec, &library, settle);

const openblas_library *openblas_open(const char **why)
{
    return assay__opened_get(&opened, why);
}

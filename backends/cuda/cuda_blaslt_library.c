/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt_library.c -- where cuBLASLt is found and which build of it this is. */
#include "backends/cuda/cuda_blaslt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_libraries.h"
#include "runtime/host_opened.h"

#define X(name) {"cublasLt" #name, offsetof(cuda_blaslt_library, name)},
static const assay__opened_symbol symbols[] = {CUDA_BLASLT_CALLS(X)};
#undef X

static assay__opened_spec spec = {
    .title = "cuBLASLt",
    .variable = "ASSAY_CUDA_CUBLASLT",
    .package = "the CUDA toolkit's cuBLAS",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};
static cuda_blaslt_library table;
static assay__opened opened = ASSAY__OPENED(&spec, &table, NULL);

/* What is declared in cublasLt.h has been the same since 12. */
static void find_places(void)
{
    static const char *const sonames[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
    static const char *const last[] = {"libcublasLt.so.13", NULL};
    const char *const *places = cuda_places(sonames, NULL);

    spec.places = places != NULL ? places : last;
}

const cuda_blaslt_library *cuda_blaslt_open(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_places);
    return assay__opened_get(&opened, why);
}

/* ---- identity ----------------------------------------------------------------------------------
 */

enum { VALUE_MAX = 60 }; /* of a variable: numbers and words; of a path the end says more */

/* Variables by which the library takes other arithmetic, or other algorithms first. */
static const char *const variables[] = {"NVIDIA_TF32_OVERRIDE",
                                        "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY",
                                        "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
                                        "CUBLASLT_HEURISTICS_LUT_FILE"};

assay_status cuda_blaslt_describe(const assay_instance *instance, size_t workspace, char *buf,
                                  size_t cap)
{
    char version[32], more[1024];
    const void *address;
    int used = snprintf(more, sizeof more, "workspace=%zu\n", workspace);

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        const size_t length = value != NULL ? strcspn(value, "\n") : 0;
        const size_t skip = length > VALUE_MAX ? length - VALUE_MAX : 0;
        used += snprintf(more + used, sizeof more - (size_t)used, "%s=%.*s\n", variables[i],
                         (int)(length - skip), value != NULL ? value + skip : "");
    }
    snprintf(version, sizeof version, "%zu", table.GetVersion());
    memcpy(&address, &table.GetVersion, sizeof address);
    if (assay__opened_identity(NULL, address, version, more, buf, cap) != ASSAY_OK)
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "libcublasLt: its file cannot be read, or its identity needs more than "
                         "%zu bytes",
                         cap);
    return ASSAY_OK;
}

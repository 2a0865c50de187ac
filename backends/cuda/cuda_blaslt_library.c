/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt_library.c -- where cuBLASLt is found and which build of it this is. */
#include "backends/cuda/cuda_blaslt.h"

#include <inttypes.h>
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

/* Of a variable: numbers and words.  Of what is longer the end is told, for who reads it, and a
 * hash of all. */
enum { VALUE_MAX = 60 };
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_of(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) /* FNV-1a */
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* What a file says counts, whatever it is called.  0: it cannot be read. */
static uint64_t hash_of_file(const char *path)
{
    FILE *file = fopen(path, "rbe");
    uint64_t hash = HASH_START;
    char part[4096];
    size_t count;

    if (file == NULL)
        return 0;
    while ((count = fread(part, 1, sizeof part, file)) > 0)
        hash = hash_of(hash, part, count);
    if (ferror(file) != 0)
        hash = 0;
    (void)fclose(file);
    return hash;
}

static int write_value(char *out, size_t cap, const char *name, const char *value)
{
    const size_t length = strcspn(value, "\n");
    const size_t skip = length > VALUE_MAX ? length - VALUE_MAX : 0;
    char hash[32] = "";

    if (skip > 0)
        (void)snprintf(hash, sizeof hash, "%016" PRIx64 "...", hash_of(HASH_START, value, length));
    return snprintf(out, cap, "%s=%s%.*s\n", name, hash, (int)(length - skip), value + skip);
}

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
        used += write_value(more + used, sizeof more - (size_t)used, variables[i],
                            value != NULL ? value : "");
    }
    const char *choices = getenv("CUBLASLT_HEURISTICS_LUT_FILE");
    if (choices != NULL)
        (void)snprintf(more + used, sizeof more - (size_t)used, "choices=%016" PRIx64 "\n",
                       hash_of_file(choices));
    snprintf(version, sizeof version, "%zu", table.GetVersion());
    memcpy(&address, &table.GetVersion, sizeof address);
    if (assay__opened_identity(NULL, address, version, more, buf, cap) != ASSAY_OK)
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "libcublasLt: its file cannot be read, or its identity needs more than "
                         "%zu bytes",
                         cap);
    return ASSAY_OK;
}

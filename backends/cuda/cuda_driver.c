/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_driver.c -- finds the driver, and says why there is none.
 *
 * Three states that people mix up have texts of their own: no driver, a driver that is older than
 * the toolkit we were built with, and a driver without a device. */
#include "backends/cuda/cuda_driver.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda.h"
#include "runtime/elf_id.h"
#include "runtime/host_opened.h"

/* Only the driver knows its own package; a toolkit does not bring it. */
#define PACKAGE "NVIDIA's driver (nvidia-driver, or libcuda1 in a container)"

static const char *const places[] = {"libcuda.so.1", NULL};

#define X(name) {CUDA_NAME(name), offsetof(cuda_basic, name)},
static const assay__opened_symbol basic_symbols[] = {CUDA_BASIC_CALLS(X)};
#undef X
#define X(name) {CUDA_NAME(name), offsetof(cuda_driver, name)},
static const assay__opened_symbol symbols[] = {CUDA_BASIC_CALLS(X) CUDA_CALLS(X)};
#undef X

static const assay__opened_spec basic_spec = {
    .title = "CUDA's driver",
    .variable = "ASSAY_CUDA_DRIVER",
    .package = PACKAGE,
    .places = places,
    .symbols = basic_symbols,
    .symbol_count = sizeof basic_symbols / sizeof *basic_symbols,
};
static const assay__opened_spec spec = {
    .title = "CUDA's driver",
    .variable = "ASSAY_CUDA_DRIVER",
    .package = PACKAGE,
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

static cuda_basic basic_table;
static cuda_driver table;
static assay__opened basic = ASSAY__OPENED(&basic_spec, &basic_table, NULL);
static assay__opened full = ASSAY__OPENED(&spec, &table, NULL);

static int major(int version)
{
    return version / 1000;
}

static int minor(int version)
{
    return version % 1000 / 10;
}

/* Drivers of one major version run programs built with any toolkit of it, as far as the calls that
 * are made exist; older ones do not. */
static bool is_new_enough(const cuda_basic *cu, char *why, size_t cap)
{
    int version = 0;
    const CUresult result = cu->cuDriverGetVersion(&version);

    if (result == CUDA_SUCCESS && major(version) >= major(CUDA_VERSION))
        return true;
    if (result == CUDA_ERROR_STUB_LIBRARY || (result == CUDA_SUCCESS && version == 0))
        snprintf(why, cap,
                 "libcuda.so.1 is the toolkit's stub, which only links; install " PACKAGE);
    else if (result == CUDA_SUCCESS)
        snprintf(why, cap,
                 "the driver runs CUDA %d.%d, this build needs CUDA %d.%d; install a newer driver "
                 "or build with an older toolkit",
                 major(version), minor(version), major(CUDA_VERSION), minor(CUDA_VERSION));
    else
        snprintf(why, cap, "the driver does not tell its version (CUDA error %d)", (int)result);
    return false;
}

/* What cuInit says, in terms of what to do. */
static void explain_init(const cuda_driver *cu, CUresult result, char *why, size_t cap)
{
    switch (result) {
    case CUDA_ERROR_STUB_LIBRARY:
        snprintf(why, cap,
                 "libcuda.so.1 is the toolkit's stub, which only links; install " PACKAGE);
        break;
    case CUDA_ERROR_NO_DEVICE:
        snprintf(why, cap, "the driver finds no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
        break;
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        snprintf(why, cap,
                 "libcuda.so.1 and the kernel's module are of different versions; reboot, or "
                 "reload the module");
        break;
    default:
        snprintf(why, cap, "the driver does not start: %s (CUDA error %d): %s",
                 cuda_result_name(cu, result), (int)result, cuda_result_text(cu, result));
    }
}

const cuda_driver *cuda_driver_open(char *why, size_t cap)
{
    const char *reason = "";
    int version = 0;
    const cuda_basic *first = assay__opened_get(&basic, &reason);

    if (first == NULL) {
        /* Of a file that was asked for by name the reason says that alone. */
        snprintf(why, cap, "no CUDA driver: %s%s", reason,
                 strstr(reason, "install") != NULL ? "" : "; install " PACKAGE);
        return NULL;
    }
    if (!is_new_enough(first, why, cap))
        return NULL;
    const cuda_driver *cu = assay__opened_get(&full, &reason);
    if (cu == NULL) {
        (void)first->cuDriverGetVersion(&version);
        snprintf(why, cap, "the driver runs CUDA %d.%d and lacks a call of CUDA %d.%d: %s",
                 major(version), minor(version), major(CUDA_VERSION), minor(CUDA_VERSION), reason);
        return NULL;
    }
    const CUresult result = cu->cuInit(0);
    if (result == CUDA_SUCCESS)
        return cu;
    explain_init(cu, result, why, cap);
    return NULL;
}

/* The address of a function as that of an object, which C has no cast for. */
static const void *address_of(const cuda_driver *cu)
{
    const void *address = NULL;

    memcpy(&address, &cu->cuInit, sizeof address);
    return address;
}

void cuda_driver_version(const cuda_driver *cu, char *out, size_t cap)
{
    const char *file = assay__elf_file_of_address(address_of(cu));
    char real[PATH_MAX];
    const char *tail =
        file != NULL && realpath(file, real) != NULL ? strstr(real, "libcuda.so.") : NULL;

    /* "libcuda.so.1" itself tells nothing, "libcuda.so.580.159.04" does. */
    snprintf(out, cap, "%.60s", tail != NULL && strchr(tail + 11, '.') != NULL ? tail + 11 : "");
}

int cuda_driver_cuda(const cuda_driver *cu)
{
    int version = 0;

    return cu->cuDriverGetVersion(&version) == CUDA_SUCCESS ? version : 0;
}

assay_status cuda_driver_identity(const assay_instance *instance, const cuda_driver *cu, char *buf,
                                  size_t cap)
{
    char version[64], more[64];
    const int cuda = cuda_driver_cuda(cu);

    cuda_driver_version(cu, version, sizeof version);
    snprintf(more, sizeof more, "cuda=%d.%d\n", major(cuda), minor(cuda));
    if (assay__opened_identity(NULL, address_of(cu), version[0] != '\0' ? version : NULL, more, buf,
                               cap) != ASSAY_OK)
        return cuda_fail(instance, ASSAY_UNAVAILABLE,
                         "libcuda: the file of the driver cannot be read, or its identity needs "
                         "more than %zu bytes",
                         cap);
    return ASSAY_OK;
}

const char *cuda_result_name(const cuda_driver *cu, CUresult result)
{
    const char *text = NULL;

    if (cu->cuGetErrorName(result, &text) != CUDA_SUCCESS || text == NULL)
        return "unknown CUDA error";
    return text;
}

const char *cuda_result_text(const cuda_driver *cu, CUresult result)
{
    const char *text = NULL;

    if (cu->cuGetErrorString(result, &text) != CUDA_SUCCESS || text == NULL)
        return "the driver has no text for it";
    return text;
}

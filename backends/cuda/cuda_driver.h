/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_driver.h -- NVIDIA's libraries, opened at run time: which calls we take.
 *
 * Nothing of CUDA is linked: a machine without a driver loads the plug-in and is told what is
 * missing.  A table holds pointers to the functions that cuda.h declares, under the names that its
 * macros give them (cuMemAlloc is cuMemAlloc_v2), so that types and versions agree by
 * construction. */
#ifndef BACKENDS_CUDA_CUDA_DRIVER_H
#define BACKENDS_CUDA_CUDA_DRIVER_H

#include <cuda.h>

#include "assay/plugin.h"

/* What can be asked of any driver, however old, before it is known to be new enough. */
#define CUDA_BASIC_CALLS(X) \
    X(cuInit)               \
    X(cuDriverGetVersion)   \
    X(cuGetErrorName)       \
    X(cuGetErrorString)

#define CUDA_CALLS(X)            \
    X(cuDeviceGetCount)          \
    X(cuDeviceGet)               \
    X(cuDeviceGetName)           \
    X(cuDeviceGetUuid)           \
    X(cuDeviceGetAttribute)      \
    X(cuDeviceGetPCIBusId)       \
    X(cuDeviceTotalMem)          \
    X(cuDeviceCanAccessPeer)     \
    X(cuCtxCreate)               \
    X(cuCtxDestroy)              \
    X(cuCtxGetCurrent)           \
    X(cuCtxSetCurrent)           \
    X(cuMemAlloc)                \
    X(cuMemFree)                 \
    X(cuMemGetInfo)              \
    X(cuMemHostAlloc)            \
    X(cuMemFreeHost)             \
    X(cuMemHostRegister)         \
    X(cuMemHostUnregister)       \
    X(cuMemHostGetDevicePointer) \
    X(cuMemcpyHtoDAsync)         \
    X(cuMemcpyDtoHAsync)         \
    X(cuMemcpyDtoDAsync)         \
    X(cuMemcpyPeerAsync)         \
    X(cuMemsetD8Async)           \
    X(cuStreamCreate)            \
    X(cuStreamDestroy)           \
    X(cuStreamSynchronize)       \
    X(cuStreamBeginCapture)      \
    X(cuStreamEndCapture)        \
    X(cuEventCreate)             \
    X(cuEventDestroy)            \
    X(cuEventRecord)             \
    X(cuStreamWaitEvent)         \
    X(cuEventQuery)              \
    X(cuEventSynchronize)        \
    X(cuEventElapsedTime)        \
    X(cuGraphInstantiate)        \
    X(cuGraphUpload)             \
    X(cuGraphLaunch)             \
    X(cuGraphExecDestroy)        \
    X(cuGraphDestroy)            \
    X(cuModuleLoadData)          \
    X(cuModuleUnload)            \
    X(cuModuleGetFunction)       \
    X(cuFuncGetAttribute)        \
    X(cuFuncSetAttribute)        \
    X(cuLaunchKernel)

#define X(name) __typeof__(&name) name;
typedef struct cuda_basic {
    CUDA_BASIC_CALLS(X)
} cuda_basic;
typedef struct cuda_driver {
    CUDA_BASIC_CALLS(X)
    CUDA_CALLS(X)
} cuda_driver;
#undef X

/* The name under which the library has a function, spelled out for dlsym. */
#define CUDA_NAME_(name) #name
#define CUDA_NAME(name)  CUDA_NAME_(name)

/* The driver, opened and initialised; NULL: not usable, with the reason and what to do in `why`. */
const cuda_driver *cuda_driver_open(char *why, size_t cap);

/* Of an opened driver: its own version by the name of its file ("580.159.04"), "" where the name
 * does not say; and the CUDA that it runs, as 1000 * major + 10 * minor. */
void cuda_driver_version(const cuda_driver *cu, char *out, size_t cap);
int cuda_driver_cuda(const cuda_driver *cu);

/* "soname=..., version=..., build_id=..., cuda=..." */
assay_status cuda_driver_identity(const assay_instance *instance, const cuda_driver *cu, char *buf,
                                  size_t cap);

/* Name and text of a result; never NULL. */
const char *cuda_result_name(const cuda_driver *cu, CUresult result);
const char *cuda_result_text(const cuda_driver *cu, CUresult result);

#endif

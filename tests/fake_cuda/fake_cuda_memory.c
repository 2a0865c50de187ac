/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_memory.c -- blocks of the device, which are the host's. */
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_state.h"

enum { ALIGN = 256 };

fake_block *fake_find(const void *at, size_t bytes)
{
    const char *first = at;
    fake_block *b = fake.blocks;

    for (; b != NULL; b = b->next) {
        const char *from = b->memory;
        if (first >= from && first + bytes <= from + b->bytes)
            return b;
    }
    return NULL;
}

static fake_block **link_to(const void *memory)
{
    fake_block **link = &fake.blocks;

    while (*link != NULL && (*link)->memory != memory)
        link = &(*link)->next;
    return link;
}

static void *host_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

static CUresult add(void *memory, size_t bytes, bool is_host, bool is_registered)
{
    fake_block *b = calloc(1, sizeof *b);

    if (b == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *b = (fake_block){.next = fake.blocks,
                      .context = fake_current(),
                      .memory = memory,
                      .bytes = bytes,
                      .is_host = is_host,
                      .is_registered = is_registered};
    fake.blocks = b;
    fake.live++;
    if (!is_host)
        fake.used[fake_current()->device] += bytes;
    return CUDA_SUCCESS;
}

static CUresult make(size_t bytes, bool is_host, void **out)
{
    void *memory = NULL;

    if (!is_host && bytes > fake.memory - fake.used[fake_current()->device])
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (posix_memalign(&memory, ALIGN, bytes) != 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = add(memory, bytes, is_host, false);
    if (result != CUDA_SUCCESS)
        free(memory);
    *out = memory;
    return result;
}

static CUresult drop(const void *memory, bool is_host, bool is_registered)
{
    fake_block **link = link_to(memory), *b = *link;

    if (b == NULL || b->is_host != is_host || b->is_registered != is_registered)
        return CUDA_ERROR_INVALID_VALUE;
    *link = b->next;
    if (!is_host)
        fake.used[b->context->device] -= b->bytes;
    if (!is_registered)
        free(b->memory);
    free(b);
    fake.live--;
    return CUDA_SUCCESS;
}

static CUresult make_device(CUdeviceptr *dptr, size_t bytes)
{
    void *memory = NULL;
    const CUresult result = make(bytes, false, &memory);

    if (result == CUDA_SUCCESS)
        *dptr = (CUdeviceptr)(uintptr_t)memory;
    return result;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    FAKE_CALL("cuMemAlloc", true, make_device(dptr, bytesize));
}

/* Waits for all streams, as the driver's does: what is late by then shows in it. */
static CUresult drop_device(CUdeviceptr dptr)
{
    const CUresult late = fake_current()->late;

    fake_current()->late = CUDA_SUCCESS;
    return late != CUDA_SUCCESS ? late : drop(host_of(dptr), false, false);
}

CUresult CUDAAPI cuMemFree(CUdeviceptr dptr)
{
    FAKE_CALL("cuMemFree", true, drop_device(dptr));
}

CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total)
{
    FAKE_CALL("cuMemGetInfo", true, *total = fake.memory,
              *free = fake.memory - fake.used[fake_current()->device], CUDA_SUCCESS);
}

CUresult CUDAAPI cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    (void)Flags;
    FAKE_CALL("cuMemHostAlloc", true, make(bytesize, true, pp));
}

CUresult CUDAAPI cuMemFreeHost(void *p)
{
    FAKE_CALL("cuMemFreeHost", true, drop(p, true, false));
}

CUresult CUDAAPI cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    (void)Flags;
    FAKE_CALL("cuMemHostRegister", true,
              fake_find(p, bytesize) != NULL ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                                             : add(p, bytesize, true, true));
}

CUresult CUDAAPI cuMemHostUnregister(void *p)
{
    FAKE_CALL("cuMemHostUnregister", true, drop(p, true, true));
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    (void)Flags;
    FAKE_CALL("cuMemHostGetDevicePointer", true, *pdptr = (CUdeviceptr)(uintptr_t)p, CUDA_SUCCESS);
}

/* What leaves a block is an address that the device has not, which nobody hears of before a wait.
 */
static bool is_inside(CUdeviceptr address, size_t bytes)
{
    if (fake_find(host_of(address), bytes) != NULL)
        return true;
    fake_current()->coming = CUDA_ERROR_ILLEGAL_ADDRESS;
    return false;
}

static CUresult move(void *to, const void *from, size_t bytes, bool is_good)
{
    if (is_good)
        memcpy(to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                   CUstream hStream)
{
    (void)hStream;
    FAKE_CALL("cuMemcpyHtoDAsync", true,
              move(host_of(dstDevice), srcHost, ByteCount, is_inside(dstDevice, ByteCount)));
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream)
{
    (void)hStream;
    FAKE_CALL("cuMemcpyDtoHAsync", true,
              move(dstHost, host_of(srcDevice), ByteCount, is_inside(srcDevice, ByteCount)));
}

/* Overlapping ranges are undefined there: here the copy is one that shows it. */
static CUresult move_forwards(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    char *y = host_of(to);
    const char *x = host_of(from);

    if (!is_inside(to, bytes) || !is_inside(from, bytes))
        return CUDA_SUCCESS;
    if (to < from + bytes && from < to + bytes && to != from)
        memset(y, 0xee, bytes);
    else
        memmove(y, x, bytes);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                   CUstream hStream)
{
    (void)hStream;
    FAKE_CALL("cuMemcpyDtoDAsync", true, move_forwards(dstDevice, srcDevice, ByteCount));
}

/* What is told of both ends has to be so. */
static CUresult move_between(CUdeviceptr to, const struct CUctx_st *of_to, CUdeviceptr from,
                             const struct CUctx_st *of_from, size_t bytes,
                             const struct CUstream_st *s)
{
    const fake_block *b = fake_find(host_of(to), bytes), *a = fake_find(host_of(from), bytes);

    if (b == NULL || a == NULL || b->context != of_to || a->context != of_from ||
        s->context != fake_current())
        return CUDA_ERROR_INVALID_VALUE;
    return move_forwards(to, from, bytes);
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                   CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                   CUstream hStream)
{
    FAKE_CALL("cuMemcpyPeerAsync", true,
              move_between(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream));
}

static CUresult fill(CUdeviceptr to, unsigned char value, size_t count)
{
    if (is_inside(to, count))
        memset(host_of(to), value, count);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                                 CUstream hStream)
{
    (void)hStream;
    FAKE_CALL("cuMemsetD8Async", true, fill(dstDevice, uc, N));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_cupti.c -- records of what the scripted driver ran, as CUPTI gives
 * them. */
#include <cupti.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/fake_cuda_state.h"

enum { RECORDS = 8192, KINDS = 64 };

typedef struct kept {
    bool is_graph;
    const struct CUstream_st *stream;
    uint64_t start, end;
} kept;

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static bool enabled[KINDS];
static kept records[RECORDS];
static size_t count;

static uint32_t number_of(const struct CUstream_st *s)
{
    return (uint32_t)((uintptr_t)s >> 4);
}

/* Lock held. */
void fake_note(const struct CUstream_st *s, double from_ns, double to_ns, bool is_graph)
{
    const int kind =
        is_graph ? CUPTI_ACTIVITY_KIND_GRAPH_TRACE : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

    if (!enabled[kind] || count == RECORDS)
        return;
    const uint64_t origin = 1000000; /* 0 means unknown there */
    records[count++] = (kept){is_graph, s, origin + (uint64_t)from_ns, origin + (uint64_t)to_ns};
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **str)
{
    *str = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "not permitted" : "scripted";
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                               CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
    request = funcBufferRequested;
    complete = funcBufferCompleted;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    pthread_mutex_lock(&fake.lock);
    enabled[kind] = fake.cupti == 0;
    pthread_mutex_unlock(&fake.lock);
    return (CUptiResult)fake.cupti;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    pthread_mutex_lock(&fake.lock);
    enabled[kind] = false;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
    (void)context;
    *contextId = 7;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
                                        uint32_t *streamId)
{
    (void)context;
    (void)perThreadStream;
    *streamId = number_of(stream);
    return CUPTI_SUCCESS;
}

static size_t write_record(const kept *from, uint8_t *to)
{
    if (from->is_graph) {
        const CUpti_ActivityGraphTrace2 g = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                             .start = from->start,
                                             .end = from->end,
                                             .contextId = 7,
                                             .streamId = number_of(from->stream)};
        memcpy(to, &g, sizeof g);
        return sizeof g;
    }
    CUpti_ActivityKernel10 k;
    memset(&k, 0, sizeof k);
    k.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    k.start = from->start;
    k.end = from->end;
    k.contextId = 7;
    k.streamId = number_of(from->stream);
    memcpy(to, &k, sizeof k);
    return sizeof k;
}

/* Does this flush keep the last record back?  Lock held. */
static bool keeps(void)
{
    if (count == 0 || (fake.keep_after > 0 && fake.keep_after-- > 0) || fake.keep == 0)
        return false;
    fake.keep--;
    return true;
}

/* Records go in as many buffers as they need; one that was lost is missing at the end. */
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&fake.lock);
    if (fake.lose > 0 && count > 0) {
        fake.lose--;
        count--;
    }
    const size_t behind = keeps() ? 1 : 0;
    count -= behind;
    for (size_t i = 0; i < count;) {
        uint8_t *buffer = NULL;
        size_t size = 0, most = 0, valid = 0;
        request(&buffer, &size, &most);
        while (i < count && valid + sizeof(CUpti_ActivityKernel10) <= size)
            valid += write_record(&records[i++], buffer + valid);
        if (size == 0)
            break;
        complete(NULL, 0, buffer, size, valid);
    }
    if (behind > 0)
        records[0] = records[count];
    count = behind;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

/* Of a buffer of ours; its lock is held by whoever completes it. */
CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes,
                                                CUpti_Activity **record)
{
    uint8_t *next = buffer;

    if (*record != NULL)
        next = (uint8_t *)*record + ((*record)->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE
                                         ? sizeof(CUpti_ActivityGraphTrace2)
                                         : sizeof(CUpti_ActivityKernel10));
    if (next >= buffer + validBufferSizeBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId,
                                                       size_t *dropped)
{
    (void)streamId;
    *dropped = 0;
    if (context != NULL) /* contexts have no buffers of their own */
        return CUPTI_SUCCESS;
    pthread_mutex_lock(&fake.lock);
    *dropped = fake.dropped;
    fake.dropped = 0;
    pthread_mutex_unlock(&fake.lock);
    return CUPTI_SUCCESS;
}

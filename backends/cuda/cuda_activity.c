/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_activity.c -- see cuda_activity.h.
 *
 * Records of other streams and contexts are passed over by their numbers.  The callbacks run in
 * threads of CUPTI's: they take a lock of their own and never print, wait or end the process; where
 * there is no memory CUPTI is given none, drops records and says how many. */
#include "backends/cuda/cuda_activity.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_driver.h"
#include "backends/cuda/cuda_libraries.h"
#include "runtime/host_opened.h"

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGN = 8 };

#define CUPTI_CALLS(X)                   \
    X(cuptiGetResultString)              \
    X(cuptiActivityRegisterCallbacks)    \
    X(cuptiActivityEnable)               \
    X(cuptiActivityDisable)              \
    X(cuptiActivityFlushAll)             \
    X(cuptiActivityGetNextRecord)        \
    X(cuptiActivityGetNumDroppedRecords) \
    X(cuptiGetContextId)                 \
    X(cuptiGetStreamIdEx)

#define X(name) __typeof__(&name) name;
typedef struct profiler {
    CUPTI_CALLS(X)
} profiler;
#undef X
#define X(name) {CUDA_NAME(name), offsetof(profiler, name)},
static const assay__opened_symbol symbols[] = {CUPTI_CALLS(X)};
#undef X

static assay__opened_spec spec = {
    .title = "CUPTI",
    .variable = "ASSAY_CUDA_CUPTI",
    .package = "the CUDA toolkit's CUPTI",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};
static profiler table;

/* ---- what was recorded ---- */

static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER; /* from begin to end */

static struct {
    pthread_mutex_t lock;
    uint32_t context, stream; /* whose records count */
    cuda_activity seen;
} collected = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Lock held. */
static void note(uint32_t context, uint32_t stream, uint64_t start, uint64_t end)
{
    cuda_activity *seen = &collected.seen;

    if (context != collected.context || stream != collected.stream)
        return;
    if (end == 0 || end < start) { /* CUPTI's word for times that it could not get */
        seen->dropped++;
        return;
    }
    seen->first_ns = seen->records == 0 || start < seen->first_ns ? start : seen->first_ns;
    seen->last_ns = end > seen->last_ns ? end : seen->last_ns;
    seen->records++;
}

/* The fields read here have their places in the records of every CUPTI of CUDA 12 and 13: newer
 * ones only grow. */
static void note_record(const CUpti_Activity *record)
{
    const void *at = record; /* the kind says what it is */

    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel10 *k = at;
        note(k->contextId, k->streamId, k->start, k->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy6 *m = at;
        note(m->contextId, m->streamId, m->start, m->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *m = at;
        note(m->contextId, m->streamId, m->start, m->end);
        break;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
        const CUpti_ActivityGraphTrace2 *g = at;
        note(g->contextId, g->streamId, g->start, g->end);
        break;
    }
    default:
        break;
    }
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *most = 0; /* as many as fit */
    *buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
    CUpti_Activity *record = NULL;

    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&collected.lock);
    while (buffer != NULL &&
           table.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        note_record(record);
    pthread_mutex_unlock(&collected.lock);
    free(buffer);
}

/* ---- opening ---- */

static bool settle(char *reason, size_t cap)
{
    const char *text = NULL;
    const CUptiResult result = table.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);

    if (result == CUPTI_SUCCESS)
        return true;
    (void)table.cuptiGetResultString(result, &text);
    snprintf(reason, cap, "CUPTI takes no callbacks: %s", text != NULL ? text : "unknown error");
    return false;
}

static assay__opened opened = ASSAY__OPENED(&spec, &table, settle);

static void find_places(void)
{
    static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12", NULL};
    static const char *const last[] = {"libcupti.so.13", NULL};
    const char *const *places = cuda_places(sonames, "extras/CUPTI/lib64");

    spec.places = places != NULL ? places : last;
}

/* ---- begin, look, end ---- */

static const CUpti_ActivityKind kinds_of_calls[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
static const CUpti_ActivityKind kinds_of_graphs[] = {CUPTI_ACTIVITY_KIND_GRAPH_TRACE};
static const CUpti_ActivityKind *enabled; /* under `measuring` */
static size_t enabled_count;

static void disable(void)
{
    while (enabled_count > 0)
        (void)table.cuptiActivityDisable(enabled[--enabled_count]);
}

static CUptiResult enable(bool graphs)
{
    const size_t count = graphs ? sizeof kinds_of_graphs / sizeof *kinds_of_graphs
                                : sizeof kinds_of_calls / sizeof *kinds_of_calls;
    CUptiResult result = CUPTI_SUCCESS;

    enabled = graphs ? kinds_of_graphs : kinds_of_calls;
    for (enabled_count = 0; enabled_count < count && result == CUPTI_SUCCESS; enabled_count++)
        result = table.cuptiActivityEnable(enabled[enabled_count]);
    if (result != CUPTI_SUCCESS) {
        enabled_count--; /* the one that was refused */
        disable();
    }
    return result;
}

static CUptiResult begin(CUcontext context, CUstream stream, bool graphs)
{
    uint32_t context_id = 0, stream_id = 0;
    CUptiResult result = enable(graphs);

    if (result != CUPTI_SUCCESS)
        return result;
    result = table.cuptiGetContextId(context, &context_id);
    if (result == CUPTI_SUCCESS)
        result = table.cuptiGetStreamIdEx(context, stream, 0, &stream_id);
    if (result != CUPTI_SUCCESS) {
        disable();
        return result;
    }
    /* What was left, also where it is not complete: it would count as of the first span. */
    (void)table.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    pthread_mutex_lock(&collected.lock);
    collected.context = context_id;
    collected.stream = stream_id;
    collected.seen = (cuda_activity){0};
    pthread_mutex_unlock(&collected.lock);
    return CUPTI_SUCCESS;
}

bool cuda_activity_begin(CUcontext context, CUstream stream, bool graphs, char *why, size_t cap)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *reason = "", *text = NULL;

    pthread_once(&once, find_places);
    if (assay__opened_get(&opened, &reason) == NULL) {
        snprintf(why, cap, "%s", reason);
        return false;
    }
    pthread_mutex_lock(&measuring);
    const CUptiResult result = begin(context, stream, graphs);
    if (result == CUPTI_SUCCESS)
        return true;
    pthread_mutex_unlock(&measuring);
    (void)table.cuptiGetResultString(result, &text);
    snprintf(why, cap, "CUPTI refuses: %s", text != NULL ? text : "unknown error");
    return false;
}

static void take_seen(cuda_activity *out)
{
    pthread_mutex_lock(&collected.lock);
    *out = collected.seen;
    collected.seen = (cuda_activity){0};
    pthread_mutex_unlock(&collected.lock);
}

static size_t count_seen(void)
{
    pthread_mutex_lock(&collected.lock);
    const size_t count = collected.seen.records + collected.seen.dropped;
    pthread_mutex_unlock(&collected.lock);
    return count;
}

/* A buffer in which one record is not complete stays behind by itself; that record may be another
 * stream's, so that ours are asked for by force. */
bool cuda_activity_look(size_t least, cuda_activity *out)
{
    size_t dropped = 0;

    if (table.cuptiActivityFlushAll(0) != CUPTI_SUCCESS)
        return false;
    if (count_seen() < least &&
        table.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != CUPTI_SUCCESS)
        return false;
    take_seen(out);
    /* Of the one queue that all contexts have since CUDA 6: a context of its own has none. */
    (void)table.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
    out->dropped += dropped;
    return true;
}

void cuda_activity_forget(void)
{
    cuda_activity seen;

    (void)table.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    take_seen(&seen);
}

void cuda_activity_end(void)
{
    disable();
    pthread_mutex_unlock(&measuring);
}

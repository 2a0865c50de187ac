/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine_internal.h -- an engine's own structure, and how calls go in and out of it. */
#ifndef ASSAY_RUNTIME_ENGINE_INTERNAL_H
#define ASSAY_RUNTIME_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "assay/engine.h"
#include "runtime/backend_slots.h"
#include "runtime/host_pinned.h"
#include "runtime/plugin_set.h"
#include "runtime/transfer_price.h"

/* What typed calls count; the names of assay_metric behind "engine_", in this order. */
#define ASSAY__ENGINE_METRICS(X) \
    X(calls)                     \
    X(failed_calls)              \
    X(native_calls)              \
    X(emulated_calls)            \
    X(host_fallback_calls)       \
    X(launches)                  \
    X(transfers)                 \
    X(transfer_bytes)            \
    X(copied_bytes)
enum {
#define X(name) ASSAY__ENGINE_COUNT_##name,
    ASSAY__ENGINE_METRICS(X)
#undef X
        ASSAY__ENGINE_COUNTS
};

typedef struct assay__trace {
    atomic_bool on;
    pthread_mutex_t lock;
    uint64_t count; /* events ever; event n lies at n % ASSAY_TRACE_EVENTS */
    assay_trace_event events[ASSAY_TRACE_EVENTS];
} assay__trace;

struct assay_engine {
    uint64_t serial;        /* unique in the process */
    assay_context *context; /* borrowed */
    assay_context *routes;  /* of its device: `context`, or a branch of it; set by init */
    assay__plugin *plugin;  /* the context's */
    assay__backend backend; /* an instance of its own */
    char *kernels;          /* owned; comma list for questions */
    bool allow_host_fallback;
    bool lives_always; /* of backend null: neither init nor shutdown changes anything */
    /* Bit 0: initialised.  The rest: twice the calls under way. */
    _Atomic uint64_t gate;
    pthread_mutex_t life; /* init, shutdown, recover: one at a time */
    pthread_cond_t idle;  /* the last call has left, or a recovery has ended */
    bool is_recovering;   /* with `life` */
    size_t device;
    char memory[ASSAY__MEMORY_MAX]; /* its name in rows of transfers; set by init */
    assay_device_profile profile;   /* of `device`; const while initialised */
    assay__pinned pinned;           /* of host_alloc */
    _Atomic uint64_t counts[ASSAY__ENGINE_COUNTS];
    assay__trace trace;
};

/* A call that is under way. */
typedef struct assay__engine_call {
    assay_engine *engine;
    const char *what;
    uint64_t begin_ns; /* 0: not traced */
} assay__engine_call;

/* ASSAY_NOT_INITIALIZED, or the engine stays what it is until leave. */
assay_status assay__engine_enter(assay_engine *engine, const char *what, assay__engine_call *call);
/* Returns `status`. detail: for the trace, or NULL. */
assay_status assay__engine_leave(const assay__engine_call *call, assay_status status,
                                 const char *detail);

/* Two engines, or one twice; whichever of them is named first. */
assay_status assay__engines_enter(assay_engine *a, assay_engine *b, const char *what,
                                  assay__engine_call calls[2]);
assay_status assay__engines_leave(const assay__engine_call calls[2], assay_status status);
/* Inside a call: ASSAY_UNSUPPORTED without the feature. */
assay_status assay__engine_needs(const assay_engine *engine, assay_feature feature);

/* Inside a call: what was measured here of moving so many bytes as one operation; false: nothing
 * was.  host: memory of the caller's, NULL: the library's, which is pageable. */
bool assay__engine_transfer_cost(assay_engine *engine, const void *host, uint64_t bytes, bool up,
                                 assay_transfer_cost *out);

/* What was measured of the host, by the context's store; NaN for what is none, or apart. */
void assay__add_rates(assay_context *context, assay_device_profile *profile);

static inline void assay__engine_count(assay_engine *engine, int what, uint64_t by)
{
    atomic_fetch_add_explicit(&engine->counts[what], by, memory_order_relaxed);
}

void assay__trace_init(assay__trace *trace);
void assay__trace_clear(assay__trace *trace);
void assay__trace_add(assay__trace *trace, const assay__engine_call *call, uint64_t end_ns,
                      assay_status status, const char *detail);
uint64_t assay__trace_now_ns(void);

#endif

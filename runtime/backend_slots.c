/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/backend_slots.c -- filling the slots a backend leaves out, and calling them. */
#include "runtime/backend_slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/error.h"

/* Every slot is a pointer after the header, so a slot without a forwarder shows in the size. */
enum {
    SLOT_COUNT = 2 /* open and close, which keep the instance */
#define X(slot, parameters, arguments) +1
    ASSAY__BACKEND_SLOTS(X) ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
};
_Static_assert(sizeof(assay_backend) == offsetof(assay_backend, open) + SLOT_COUNT * sizeof(void *),
               "a slot of assay_backend has no row in the lists of backend_slots.h");

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Least of 64 readings: what a span holds beyond its launches. */
static double clock_overhead_ns(void)
{
    double best = INFINITY;

    for (int i = 0; i < 64; i++) {
        double start = now_ns(), took = now_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

static assay_status measure_span(const assay__backend *b, const assay_measure *what, size_t first,
                                 double *out)
{
    double start = now_ns();

    for (size_t i = 0; i < what->inner; i++) {
        ASSAY_TRY(assay__backend_launch(b, what->run, &what->launches[first]));
        first = first + 1 == what->launch_count ? 0 : first + 1;
    }
    ASSAY_TRY(assay__backend_synchronize(b));
    *out = now_ns() - start;
    return ASSAY_OK;
}

/* As a program that needs each result before it goes on. */
static assay_status call_span(const assay__backend *b, const assay_measure *what, size_t first,
                              double *out)
{
    double start = now_ns();

    for (size_t i = 0; i < what->inner; i++) {
        ASSAY_TRY(assay__backend_launch(b, what->run, &what->launches[first]));
        ASSAY_TRY(assay__backend_synchronize(b));
        first = first + 1 == what->launch_count ? 0 : first + 1;
    }
    *out = now_ns() - start;
    return ASSAY_OK;
}

typedef assay_status (*span_fn)(const assay__backend *b, const assay_measure *what, size_t first,
                                double *out);

static assay_status host_measure(const assay__backend *b, const assay_measure *what, span_fn span,
                                 assay_clock_info *clock)
{
    struct timespec resolution = {0, 0};
    size_t first = 0;

    if (what->run == NULL || what->sink == NULL || what->launch_count == 0 || what->inner == 0)
        return assay__fail(ASSAY_INVALID,
                           "measure: needs run, sink, and at least one launch and inner call");
    (void)clock_getres(CLOCK_MONOTONIC_RAW, &resolution);
    memset(clock, 0, sizeof *clock);
    memcpy(clock->name, "CLOCK_MONOTONIC_RAW", sizeof "CLOCK_MONOTONIC_RAW");
    clock->resolution_ns = (double)resolution.tv_sec * 1e9 + (double)resolution.tv_nsec;
    clock->overhead_ns = clock_overhead_ns();
    clock->quality = ASSAY_TIMING_ENQUEUE_WAIT;
    ASSAY_TRY(assay__backend_synchronize(b));
    for (size_t i = 0; i < what->spans; i++) {
        double span_ns;
        ASSAY_TRY(span(b, what, first, &span_ns));
        if (what->cache == ASSAY_CACHE_ROTATE)
            first = (first + what->inner) % what->launch_count;
        what->sink(what->cookie, span_ns, what->inner);
    }
    return ASSAY_OK;
}

/* ---- a backend that stands before another ---- */

/* The instance of such a backend is the backend behind it. */
static const assay__backend *behind(assay_instance *instance)
{
    union {
        assay_instance *instance;
        const assay__backend *backend;
    } at = {instance};

    return at.backend;
}

#define X(slot, parameters, arguments)                                      \
    static assay_status forward_##slot(assay_instance *instance parameters) \
    {                                                                       \
        return assay__backend_##slot(behind(instance) arguments);           \
    }
ASSAY__BACKEND_SLOTS(X)
ASSAY__BACKEND_MADE_SLOTS(X)
#undef X

void assay__backend_forward(const assay__backend *to, assay__backend *out)
{
    union {
        const assay__backend *backend;
        assay_instance *instance;
    } at = {to};

    memset(out, 0, sizeof *out);
    out->slots.struct_size = sizeof out->slots;
    out->slots.abi_version = ASSAY_PLUGIN_ABI;
    out->slots.open = assay__backend_defaults.open;
    out->slots.close = assay__backend_defaults.close;
#define X(slot, parameters, arguments) out->slots.slot = forward_##slot;
    ASSAY__BACKEND_SLOTS(X)
    ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
    out->instance = at.instance;
    out->is_open = true;
}

/* ---- filling and forwarding ---- */

assay_status assay__backend_init(const assay_backend *from, assay__backend *out)
{
    assay_backend given;

    memset(&given, 0, sizeof given);
    if (from != NULL) {
        if (from->abi_version != ASSAY_PLUGIN_ABI)
            return assay__fail(ASSAY_ABI, "its backend has ABI %u, this library has %u; rebuild it",
                               from->abi_version, ASSAY_PLUGIN_ABI);
        if (from->struct_size < offsetof(assay_backend, open))
            return assay__fail(ASSAY_ABI, "its backend has struct_size %u; rebuild it",
                               from->struct_size);
        /* Whole slots only. */
        size_t known = (from->struct_size - offsetof(assay_backend, open)) / sizeof(void *);
        known = offsetof(assay_backend, open) + known * sizeof(void *);
        memcpy(&given, from, known < sizeof given ? known : sizeof given);
    }
    memset(out, 0, sizeof *out);
    out->slots = assay__backend_defaults;
#define X(slot, parameters, arguments) \
    if (given.slot != NULL)            \
        out->slots.slot = given.slot;
    X(open, , )
    X(close, , )
    ASSAY__BACKEND_SLOTS(X)
    ASSAY__BACKEND_MADE_SLOTS(X)
#undef X
    return ASSAY_OK;
}

#define X(slot, parameters, arguments)                                     \
    assay_status assay__backend_##slot(const assay__backend *b parameters) \
    {                                                                      \
        return b->slots.slot(b->instance arguments);                       \
    }
ASSAY__BACKEND_SLOTS(X)
#undef X

assay_status assay__backend_flush(const assay__backend *b)
{
    return b->slots.flush != NULL ? b->slots.flush(b->instance) : assay__backend_synchronize(b);
}

static assay_status check_piece(const assay_transfer *piece, size_t i)
{
    const assay_buffer to = piece->buffer;

    if (piece->host == NULL && piece->bytes > 0)
        return assay__fail(ASSAY_INVALID, "transfer: piece %zu has no host memory", i);
    if (piece->offset > to.size_bytes || piece->bytes > to.size_bytes - piece->offset)
        return assay__fail(ASSAY_INVALID,
                           "transfer: piece %zu, %llu bytes at %llu, leaves a buffer"
                           " of %llu",
                           i, (unsigned long long)piece->bytes, (unsigned long long)piece->offset,
                           (unsigned long long)to.size_bytes);
    return ASSAY_OK;
}

/* By the slot copy, host memory as a buffer of owner 0. */
static assay_status copy_pieces(const assay__backend *b, const assay_transfer *pieces, size_t count,
                                bool up)
{
    for (size_t i = 0; i < count; i++) {
        const assay_buffer none = {.at.host = pieces[i].host};
        ASSAY_TRY(check_piece(&pieces[i], i));
        /* Whose handle it is only the backend knows: a copy of nothing asks it. */
        ASSAY_TRY(up ? assay__backend_copy(b, pieces[i].buffer, pieces[i].offset, none, 0, 0)
                     : assay__backend_copy(b, none, 0, pieces[i].buffer, pieces[i].offset, 0));
    }
    for (size_t i = 0; i < count; i++) {
        const assay_transfer *p = &pieces[i];
        const assay_buffer host = {.at.host = p->host, .size_bytes = p->bytes};
        ASSAY_TRY(up ? assay__backend_copy(b, p->buffer, p->offset, host, 0, p->bytes)
                     : assay__backend_copy(b, host, 0, p->buffer, p->offset, p->bytes));
    }
    return ASSAY_OK;
}

assay_status assay__backend_upload(const assay__backend *b, const assay_transfer *pieces,
                                   size_t count)
{
    return b->slots.upload != NULL ? b->slots.upload(b->instance, pieces, count)
                                   : copy_pieces(b, pieces, count, true);
}

assay_status assay__backend_download(const assay__backend *b, const assay_transfer *pieces,
                                     size_t count)
{
    return b->slots.download != NULL ? b->slots.download(b->instance, pieces, count)
                                     : copy_pieces(b, pieces, count, false);
}

assay_status assay__backend_measure(const assay__backend *b, const assay_measure *what,
                                    assay_clock_info *clock)
{
    return b->slots.measure != NULL ? b->slots.measure(b->instance, what, clock)
                                    : host_measure(b, what, measure_span, clock);
}

assay_status assay__backend_measure_calls(const assay__backend *b, const assay_measure *what,
                                          assay_clock_info *clock)
{
    return host_measure(b, what, call_span, clock);
}

assay_status assay__backend_blame(assay_status status)
{
    if (status == ASSAY_OK || status == ASSAY_UNSUPPORTED || status == ASSAY_DEVICE ||
        status == ASSAY_NUMERIC)
        return status;
    return assay__fail_context(ASSAY_DEVICE, "the kernel returned status %d (%s)", (int)status,
                               assay_status_name(status));
}

static assay_status host_fail(assay_status status, const char *text)
{
    return assay__fail(status, "%s", text);
}

static void host_log(void *cookie, int level, const char *text)
{
    (void)cookie;
    (void)level;
    (void)text;
}

const assay_host *assay__host(void)
{
    static const assay_host host = {sizeof(assay_host), ASSAY_PLUGIN_ABI, host_fail, host_log, NULL,
                                    assay__fail_detail};

    return &host;
}

assay_status assay__backend_open(assay__backend *b)
{
    if (b->is_open)
        return ASSAY_OK;
    ASSAY_TRY(b->slots.open(assay__host(), &b->instance));
    b->is_open = true;
    return ASSAY_OK;
}

void assay__backend_close(assay__backend *b)
{
    if (!b->is_open)
        return;
    b->slots.close(b->instance);
    b->instance = NULL;
    b->is_open = false;
}

bool assay__profile_is_apart(const assay_device_profile *profile)
{
    return profile->location != ASSAY_LOCATION_CPU ||
           (profile->memory == ASSAY_MEMORY_DEVICE &&
            (profile->features >> ASSAY_FEATURE_UNIFIED_MEMORY & 1) == 0);
}

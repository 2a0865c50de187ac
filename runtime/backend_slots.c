/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/backend_slots.c -- defaults for the slots a backend leaves out, and the forwarders. */
#include "runtime/backend_slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/error.h"

/* Every slot is a pointer after the header, so a slot without a forwarder shows in the size. */
enum {
    SLOT_COUNT = 3 /* open and close, which keep the instance, and measure */
#define X(slot, parameters, arguments) +1
    ASSAY__BACKEND_SLOTS(X)
#undef X
};
_Static_assert(sizeof(assay_backend) == offsetof(assay_backend, open) + SLOT_COUNT * sizeof(void *),
               "a slot of assay_backend has no row in ASSAY__BACKEND_SLOTS");

/* ---- defaults ---- */

static assay_status default_open(const assay_host *host, assay_instance **out)
{
    (void)host;
    *out = NULL;
    return ASSAY_OK;
}

static void default_close(assay_instance *instance)
{
    (void)instance;
}

static assay_status default_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = 1;
    return ASSAY_OK;
}

static assay_status default_device_info(assay_instance *instance, size_t device,
                                        assay_device_info *out)
{
    (void)instance;
    if (device != 0)
        return assay__fail(ASSAY_INVALID, "device %zu does not exist; there is one, the host",
                           device);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    memcpy(out->name, "host", sizeof "host");
    out->is_cpu = 1;
    return ASSAY_OK;
}

static assay_status default_library_identity(assay_instance *instance, const char *library,
                                             char *buf, size_t cap)
{
    (void)instance;
    (void)buf;
    (void)cap;
    return assay__fail(ASSAY_UNAVAILABLE, "library '%s': this backend identifies no libraries",
                       library);
}

static assay_status default_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                                  assay_buffer *out)
{
    void *memory = NULL;

    (void)instance;
    if (align < sizeof(void *))
        align = sizeof(void *);
    if ((align & (align - 1)) != 0)
        return assay__fail(ASSAY_INVALID, "alloc: alignment %llu is no power of two",
                           (unsigned long long)align);
    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, align, bytes > 0 ? bytes : 1) != 0)
        return assay__fail(ASSAY_NOMEM, "alloc: no memory for %llu bytes",
                           (unsigned long long)bytes);
    memset(out, 0, sizeof *out);
    out->at.host = memory;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

static assay_status need_host(const char *what, assay_buffer buffer)
{
    if (buffer.owner != 0)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "%s: the backend keeps buffers of its own but does not offer this",
                           what);
    return ASSAY_OK;
}

static assay_status need_range(const char *what, assay_buffer buffer, uint64_t offset,
                               uint64_t bytes)
{
    ASSAY_TRY(need_host(what, buffer));
    if (offset > buffer.size_bytes || bytes > buffer.size_bytes - offset)
        return assay__fail(ASSAY_INVALID, "%s: %llu bytes at %llu leave a buffer of %llu", what,
                           (unsigned long long)bytes, (unsigned long long)offset,
                           (unsigned long long)buffer.size_bytes);
    if (buffer.at.host == NULL && bytes > 0)
        return assay__fail(ASSAY_INVALID, "%s: the buffer is NULL", what);
    return ASSAY_OK;
}

static assay_status default_free(assay_instance *instance, assay_buffer buffer)
{
    (void)instance;
    ASSAY_TRY(need_host("free", buffer));
    free(buffer.at.host);
    return ASSAY_OK;
}

static assay_status default_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                 assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    (void)instance;
    ASSAY_TRY(need_range("copy", dst, dst_offset, bytes));
    ASSAY_TRY(need_range("copy", src, src_offset, bytes));
    if (bytes > 0)
        memmove((char *)dst.at.host + dst_offset, (const char *)src.at.host + src_offset, bytes);
    return ASSAY_OK;
}

static assay_status default_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                                 uint64_t bytes, uint8_t value)
{
    (void)instance;
    ASSAY_TRY(need_range("fill", dst, offset, bytes));
    if (bytes > 0)
        memset((char *)dst.at.host + offset, value, bytes);
    return ASSAY_OK;
}

static assay_status default_wrap(assay_instance *instance, void *host, uint64_t bytes,
                                 assay_buffer *out)
{
    (void)instance;
    memset(out, 0, sizeof *out);
    out->at.host = host;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

static assay_status default_launch(assay_instance *instance, assay_kernel_fn run,
                                   const assay_launch *launch)
{
    (void)instance;
    return run(launch);
}

static assay_status default_synchronize(assay_instance *instance)
{
    (void)instance;
    return ASSAY_OK;
}

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

/* ---- filling and forwarding ---- */

static const assay_backend default_slots = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = default_open,
    .close = default_close,
    .device_count = default_device_count,
    .device_info = default_device_info,
    .library_identity = default_library_identity,
    .alloc = default_alloc,
    .free = default_free,
    .copy = default_copy,
    .fill = default_fill,
    .wrap = default_wrap,
    .launch = default_launch,
    .synchronize = default_synchronize,
    .measure = NULL,
};

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
    out->slots = default_slots;
#define X(slot, parameters, arguments) \
    if (given.slot != NULL)            \
        out->slots.slot = given.slot;
    X(open, , )
    X(close, , )
    X(measure, , )
    ASSAY__BACKEND_SLOTS(X)
#undef X
    return ASSAY_OK;
}

#define X(slot, parameters, arguments)            \
    assay_status assay__backend_##slot parameters \
    {                                             \
        return b->slots.slot arguments;           \
    }
ASSAY__BACKEND_SLOTS(X)
#undef X

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
    static const assay_host host = {sizeof(assay_host), ASSAY_PLUGIN_ABI, host_fail, host_log,
                                    NULL};

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

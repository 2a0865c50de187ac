/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/probe_run.c -- see probe_run.h. */
#include "tuner/probe_run.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/error.h"

#define APART       256u /* bytes from one place of a spin to the next */
#define LEAST_BYTES (UINT64_C(1) << 20)
#define MOST_AMOUNT (INT64_C(1) << 48)
#define MOST_STEP   64.0 /* from one try to the next: what the first ones took may be overhead */
#define NEAR        0.5  /* of the time that is wanted */

bool assay__probe_kind_of(const char *name, assay_probe_kind *out)
{
    static const char *const names[ASSAY_PROBE_KINDS] = {
        [ASSAY_PROBE_EMPTY] = "empty",
        [ASSAY_PROBE_SPIN_NS] = "spin_ns",
        [ASSAY_PROBE_SPIN_CYCLES] = "spin_cycles",
        [ASSAY_PROBE_COPY] = "copy",
        [ASSAY_PROBE_FMA] = "fma",
        [ASSAY_PROBE_MATRIX] = "matrix",
    };

    for (int i = 0; name != NULL && i < ASSAY_PROBE_KINDS; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (assay_probe_kind)i;
            return true;
        }
    return false;
}

static bool is_spin(const assay__probe_run *run)
{
    return run->probe.kind == ASSAY_PROBE_SPIN_NS || run->probe.kind == ASSAY_PROBE_SPIN_CYCLES;
}

/* ---- launches ---- */

/* A worker has one thread that measures. */
static struct {
    assay_kernel_fn run;
    double ns;
} late;

static assay_status run_late(const assay_launch *launch)
{
    struct timespec left = {.tv_sec = (time_t)(late.ns / 1e9), .tv_nsec = (long)fmod(late.ns, 1e9)};

    while (nanosleep(&left, &left) != 0)
        ;
    return late.run(launch);
}

static assay_kernel_fn entry_of(const assay__probe_run *run)
{
    if (!(run->late_ns > 0))
        return run->probe.run;
    late.run = run->probe.run;
    late.ns = run->late_ns;
    return run_late;
}

/* Operands of launch number `at`. */
static assay_status place(const assay__probe_run *run, size_t at, assay_tensor *out)
{
    const int64_t n = is_spin(run) ? (int64_t)sizeof(assay_probe_spun) : (int64_t)run->bytes;

    for (uint32_t i = 0; i < run->probe.operand_count; i++) {
        ASSAY_TRY(assay_tensor_host(NULL, ASSAY_U8, 1, &n, NULL, &out[i]));
        out[i].buffer = run->buffers[i];
        out[i].byte_offset = is_spin(run) ? at * APART : 0;
    }
    return ASSAY_OK;
}

typedef struct told {
    double *ns;
    size_t count, cap;
} told;

static void on_span(void *cookie, double span_ns, size_t inner)
{
    told *t = cookie;

    (void)inner;
    if (t->count < t->cap)
        t->ns[t->count] = span_ns;
    t->count++;
}

/* `spans` spans of one launch over and over, which tells at `place` what it did. */
static assay_status time_at(const assay__probe_run *run, size_t at, int64_t amount, size_t spans,
                            size_t inner, double *ns, assay_clock_info *clock)
{
    assay_tensor operands[2];
    assay_clock_info unused;
    told t = {.ns = ns, .cap = spans};
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = run->probe.operand_count,
                                 .operands = operands,
                                 .tunables = &amount,
                                 .instance = run->backend->instance,
                                 .tunable_count = 1};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = entry_of(run),
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = inner,
                                .spans = spans,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = &t};

    ASSAY_TRY(place(run, at, operands));
    ASSAY_TRY(assay__backend_measure(run->backend, &what, clock != NULL ? clock : &unused));
    if (t.count != spans)
        return assay__fail(ASSAY_DEVICE, "measure told %zu spans instead of %zu", t.count, spans);
    /* What no clock can have shown would be tried again with ever more work. */
    for (size_t i = 0; i < spans; i++)
        if (!(ns[i] >= 0 && ns[i] < 1e18))
            return assay__fail(ASSAY_NUMERIC, "its timer says that %zu launches took %g ns", inner,
                               ns[i]);
    return ASSAY_OK;
}

/* Each spin is measured by itself: what a backend launches untimed before a span tells at the same
 * place, and the timed one is the last there. */
assay_status assay__probe_time(const assay__probe_run *run, int64_t amount, size_t spans,
                               size_t inner, double *ns, assay_clock_info *clock)
{
    if (spans == 0 || spans > ASSAY__PROBE_SPANS || inner == 0 || (is_spin(run) && inner != 1))
        return assay__fail(ASSAY_INVALID, "probe: %zu spans of %zu launches", spans, inner);
    if (!is_spin(run))
        return time_at(run, 0, amount, spans, inner, ns, clock);
    for (size_t i = 0; i < spans; i++)
        ASSAY_TRY(time_at(run, i, amount, 1, 1, &ns[i], clock));
    return ASSAY_OK;
}

assay_status assay__probe_amount(const assay__probe_run *run, double wanted_ns, int64_t *out)
{
    const bool is_copy = run->probe.kind == ASSAY_PROBE_COPY;
    const double most = is_copy ? (double)run->bytes : (double)MOST_AMOUNT;
    double amount = is_copy ? (double)LEAST_BYTES : 1.0, ns = 0;

    for (;;) {
        amount = fmin(floor(amount), most);
        ASSAY_TRY(assay__probe_time(run, (int64_t)amount, 1, 1, &ns, NULL));
        if (ns >= NEAR * wanted_ns || amount >= most)
            break;
        amount *= ns > 0 ? fmin(fmax(wanted_ns / ns, 2.0), MOST_STEP) : MOST_STEP;
    }
    *out = (int64_t)amount;
    return ASSAY_OK;
}

assay_status assay__probe_spun(const assay__probe_run *run, size_t spans, assay_probe_spun *out)
{
    assay_transfer pieces[ASSAY__PROBE_SPANS];

    if (!is_spin(run) || spans > ASSAY__PROBE_SPANS)
        return assay__fail(ASSAY_INVALID, "probe: no spins that could tell");
    for (size_t i = 0; i < spans; i++)
        pieces[i] = (assay_transfer){.buffer = run->buffers[0],
                                     .offset = i * APART,
                                     .host = &out[i],
                                     .bytes = sizeof out[i]};
    return assay__backend_download(run->backend, pieces, spans);
}

/* ---- what it needs ---- */

static void give_back(assay__probe_run *run)
{
    while (run->held > 0)
        (void)assay__backend_free(run->backend, run->buffers[--run->held]);
}

static assay_status take(assay__probe_run *run)
{
    while (run->held < run->probe.operand_count) {
        assay_status status =
            assay__backend_alloc(run->backend, run->bytes, APART, &run->buffers[run->held]);
        if (status != ASSAY_OK) {
            give_back(run);
            return status;
        }
        run->held++;
    }
    return ASSAY_OK;
}

static assay_status take_room(assay__probe_run *run, uint64_t copy_bytes)
{
    assay_status status;

    run->bytes = is_spin(run) ? (uint64_t)ASSAY__PROBE_SPANS * APART : copy_bytes;
    if (run->probe.operand_count > 2)
        return assay__fail(ASSAY_INVALID, "probe: %u operands, of two at most",
                           run->probe.operand_count);
    while ((status = take(run)) == ASSAY_NOMEM && run->bytes / 2 >= LEAST_BYTES)
        run->bytes /= 2;
    for (uint32_t i = 0; status == ASSAY_OK && i < run->held; i++)
        status = assay__backend_fill(run->backend, run->buffers[i], 0, run->bytes, 0x3c);
    return status;
}

assay_status assay__probe_begin(const assay__backend *backend, assay_probe_kind kind,
                                assay_dtype dtype, uint64_t copy_bytes, assay__probe_run *out)
{
    double ns;

    *out = (assay__probe_run){
        .backend = backend,
        .probe = {.struct_size = sizeof out->probe, .kind = kind, .dtype = dtype}};
    ASSAY_TRY(assay__backend_probe(backend, &out->probe));
    if (out->probe.run == NULL)
        return assay__fail(ASSAY_INVALID, "probe: a kernel without an entry point");
    ASSAY_TRY(take_room(out, copy_bytes));
    return assay__probe_time(out, 1, 1, 1, &ns, NULL);
}

void assay__probe_end(assay__probe_run *run)
{
    give_back(run);
}

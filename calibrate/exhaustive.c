/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/exhaustive.c -- a unary kernel over every bit pattern of its type. */
#include "calibrate/exhaustive.h"

#include "calibrate/exhaustive_feed.h"
#include "runtime/error.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH       ASSAY_EXHAUSTIVE_BATCH
#define MAX_THREADS 256
#define TEXT        512

typedef struct shared {
    const assay__unary *unary;
    const assay_exhaustive_plan *plan;
    assay_ulp_format input; /* that of the patterns */
    uint64_t first, end;    /* batches */
    size_t batch;           /* patterns in each */
    assay__feed *feed;      /* NULL: the kernel is called */
    _Atomic uint64_t next, done;
    atomic_bool stop;
} shared;

typedef struct worker {
    shared *all;
    pthread_t thread;
    bool is_caller; /* the one that reports progress */
    assay_error_stats stats;
    uint64_t inputs, nan_inputs, digest;
    assay_status status;
    char text[TEXT]; /* the error's, which lives per thread */
    _Alignas(64) unsigned char x[4 * BATCH];
    _Alignas(64) unsigned char y[8 * BATCH];
    _Alignas(64) double hi[BATCH];
    double lo[BATCH], bound[BATCH];
} worker;

uint64_t assay__exhaustive_batches(assay_dtype dtype)
{
    const assay_dtype_info *info = assay_dtype_describe(dtype);

    if (!info || info->bytes > 4)
        return 0;
    uint64_t patterns = (uint64_t)1 << (8 * info->bytes);
    return patterns > BATCH ? patterns / BATCH : 1;
}

void assay__exhaustive_patterns(void *dst, size_t bytes, uint64_t first, size_t n)
{
    if (bytes == 4) {
        uint32_t *to = dst;
        for (size_t i = 0; i < n; i++)
            to[i] = (uint32_t)(first + i);
    } else if (bytes == 2) {
        uint16_t *to = dst;
        for (size_t i = 0; i < n; i++)
            to[i] = (uint16_t)(first + i);
    } else {
        uint8_t *to = dst;
        for (size_t i = 0; i < n; i++)
            to[i] = (uint8_t)(first + i);
    }
}

/* NaN patterns among first .. first + n - 1: of each sign, those above the last number. */
static uint64_t count_nan(const assay_ulp_format *format, uint64_t first, uint64_t n)
{
    uint64_t half = (uint64_t)1 << (8 * assay_dtype_bytes(format->dtype) - 1), last = 0, nan = 0;

    if (format->is_integer)
        return 0;
    assay_store_f64(format->dtype, &last, 0, format->has_inf ? INFINITY : format->max_finite);
    for (uint64_t base = 0; base <= half; base += half) {
        uint64_t from = base + last + 1, to = base + half;
        from = from > first ? from : first;
        to = to < first + n ? to : first + n;
        nan += to > from ? to - from : 0;
    }
    return nan;
}

assay_status assay__exhaustive_count_nan(assay_dtype dtype, uint64_t first, uint64_t n,
                                         uint64_t *out)
{
    assay_ulp_format format;

    ASSAY_TRY(assay__ulp_any_format(dtype, false, &format));
    *out = count_nan(&format, first, n);
    return ASSAY_OK;
}

static uint64_t mixed(uint64_t digest, uint64_t batch)
{
    const uint64_t pair[2] = {digest, batch};
    return assay__output_digest(pair, sizeof pair);
}

/* The reference and the comparison; `y` is the kernel's. */
static assay_status judge_batch(worker *w, const void *y, uint64_t first, size_t n)
{
    const assay__unary *u = w->all->unary;

    ASSAY_TRY(u->wide(u->wide_cookie, w->x, n, w->hi, w->lo, w->bound));
    assay_error_batch b = {.y = y,
                           .hi = w->hi,
                           .lo = w->lo,
                           .bound = w->bound,
                           .first = first,
                           .count = n,
                           .inputs = {w->x},
                           .input_dtypes = {u->input},
                           .input_count = 1};
    return assay__error_stats_add(&w->stats, &b);
}

static assay_status take_outputs(worker *w, uint64_t batch, size_t n, const void **y)
{
    const assay__unary *u = w->all->unary;

    if (w->all->feed != NULL)
        return assay__feed_take(w->all->feed, batch, y);
    *y = w->y;
    memset(w->y, 0xff, n * assay_dtype_bytes(u->output)); /* a NaN in every float format */
    return u->kernel(u->kernel_cookie, w->x, w->y, n);
}

static assay_status run_batch(worker *w, uint64_t batch)
{
    const assay__unary *u = w->all->unary;
    const size_t n = w->all->batch;
    const uint64_t first = batch * n;
    assay_status status = ASSAY_OK;
    const void *y;

    assay__exhaustive_patterns(w->x, assay_dtype_bytes(u->input), first, n);
    ASSAY_TRY(take_outputs(w, batch, n, &y));
    if (!w->all->plan->digest_only)
        status = judge_batch(w, y, first, n);
    w->inputs += n;
    w->nan_inputs += count_nan(&w->all->input, first, n);
    w->digest += mixed(assay__output_digest(y, n * assay_dtype_bytes(u->output)), batch);
    if (w->all->feed != NULL)
        assay__feed_give(w->all->feed, batch);
    return status;
}

static void report(worker *w)
{
    shared *all = w->all;

    if (w->is_caller && all->plan->progress &&
        !all->plan->progress(all->plan->cookie, atomic_load(&all->done), all->end - all->first)) {
        w->status = assay__fail(ASSAY_INTERRUPTED, "exhaustive run: stopped on request");
        atomic_store(&all->stop, true);
    }
}

static void *work(void *argument)
{
    worker *w = argument;
    shared *all = w->all;

    while (w->status == ASSAY_OK && !atomic_load_explicit(&all->stop, memory_order_relaxed)) {
        uint64_t batch = atomic_fetch_add(&all->next, 1);
        if (batch >= all->end)
            break;
        w->status = run_batch(w, batch);
        if (w->status != ASSAY_OK)
            atomic_store(&all->stop, true);
        atomic_fetch_add(&all->done, 1);
        if (w->status == ASSAY_OK)
            report(w);
    }
    if (w->status != ASSAY_OK)
        (void)snprintf(w->text, sizeof w->text, "%s", assay_last_error());
    return NULL;
}

/* Starts all but the first worker, which is the caller itself; returns how many run. */
static unsigned start(worker **workers, unsigned count)
{
    for (unsigned t = 1; t < count; t++)
        if (pthread_create(&workers[t]->thread, NULL, work, workers[t]) != 0)
            return t; /* fewer threads, the same result */
    return count;
}

static assay_status plan_validate(const assay__unary *unary, const assay_exhaustive_plan *plan,
                                  shared *all)
{
    uint64_t batches = assay__exhaustive_batches(unary->input);

    if (batches == 0)
        return assay__fail(ASSAY_INVALID, "exhaustive run: %s is no type of at most 32 bits",
                           assay_dtype_name(unary->input) ? assay_dtype_name(unary->input) : "?");
    ASSAY_TRY(assay__ulp_any_format(unary->input, false, &all->input));
    if (plan->threads == 0 || plan->threads > MAX_THREADS)
        return assay__fail(ASSAY_INVALID, "exhaustive run: %u threads (1 to %d)", plan->threads,
                           MAX_THREADS);
    if (plan->first_batch >= batches || plan->batch_count > batches - plan->first_batch)
        return assay__fail(ASSAY_INVALID, "exhaustive run: batches %llu + %llu of %llu",
                           (unsigned long long)plan->first_batch,
                           (unsigned long long)plan->batch_count, (unsigned long long)batches);
    all->first = plan->first_batch;
    all->end = plan->batch_count ? plan->first_batch + plan->batch_count : batches;
    size_t bits = 8 * assay_dtype_bytes(unary->input);
    all->batch = bits < 13 ? (size_t)1 << bits : BATCH;
    atomic_init(&all->next, all->first);
    atomic_init(&all->done, 0);
    atomic_init(&all->stop, false);
    return ASSAY_OK;
}

static void workers_destroy(worker **workers, unsigned count)
{
    for (unsigned t = 0; t < count; t++) {
        if (workers[t])
            assay__error_stats_clear(&workers[t]->stats);
        free(workers[t]);
    }
}

static assay_status workers_create(worker **workers, unsigned count, shared *all)
{
    for (unsigned t = 0; t < count; t++) {
        workers[t] = aligned_alloc(64, sizeof *workers[t]);
        if (!workers[t])
            return assay__fail(ASSAY_NOMEM, "exhaustive run: %u threads", count);
        memset(workers[t], 0, sizeof *workers[t]);
        workers[t]->all = all;
        workers[t]->is_caller = t == 0;
        ASSAY_TRY(assay__error_stats_init(&workers[t]->stats, all->unary->output, false));
    }
    return ASSAY_OK;
}

static assay_status collect(worker **workers, unsigned count, const shared *all,
                            assay_exhaustive_result *out)
{
    worker *w = workers[0];

    for (unsigned t = 0; t < count; t++)
        if (workers[t]->status != ASSAY_OK)
            return assay__fail(workers[t]->status, "%s", workers[t]->text);
    for (unsigned t = 1; t < count; t++) {
        ASSAY_TRY(assay__error_stats_merge(&w->stats, &workers[t]->stats));
        w->inputs += workers[t]->inputs;
        w->nan_inputs += workers[t]->nan_inputs;
        w->digest += workers[t]->digest;
    }
    *out = (assay_exhaustive_result){.stats = w->stats,
                                     .inputs = w->inputs,
                                     .nan_inputs = w->nan_inputs,
                                     .digest = w->digest,
                                     .is_complete = all->end - all->first ==
                                                    assay__exhaustive_batches(all->unary->input)};
    w->stats.sample.items = NULL; /* moved */
    return ASSAY_OK;
}

static assay_status run(shared *all, assay_exhaustive_result *out)
{
    const unsigned threads = all->plan->threads;
    worker *workers[MAX_THREADS] = {NULL};

    assay_status status = workers_create(workers, threads, all);
    if (status == ASSAY_OK) {
        unsigned running = start(workers, threads);
        (void)work(workers[0]);
        for (unsigned t = 1; t < running; t++)
            (void)pthread_join(workers[t]->thread, NULL);
        status = collect(workers, threads, all, out);
    }
    workers_destroy(workers, threads);
    return status;
}

assay_status assay__exhaustive_run(const assay__unary *unary, const assay_exhaustive_plan *plan,
                                   assay_exhaustive_result *out)
{
    shared all = {.unary = unary, .plan = plan};
    assay__feed feed;

    ASSAY_TRY(plan_validate(unary, plan, &all));
    if (unary->fetch == NULL)
        return run(&all, out);
    ASSAY_TRY(assay__feed_init(&feed, unary, all.batch, all.first, all.end));
    all.feed = &feed;
    assay_status status = run(&all, out);
    assay__feed_clear(&feed);
    return status;
}

void assay__exhaustive_clear(assay_exhaustive_result *result)
{
    assay__error_stats_clear(&result->stats);
}

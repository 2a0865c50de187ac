/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_measure.c -- the default timing loop of host plug-ins. */
#include "runtime/host_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t assay__host_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Resolution: the least step seen.  Overhead: what an empty span reads, the least of many. */
static void probe_clock(double *resolution, double *overhead)
{
    uint64_t step = UINT64_MAX, empty = UINT64_MAX;

    for (int i = 0; i < 2000; i++) {
        uint64_t start = assay__host_now_ns();
        uint64_t end = assay__host_now_ns();
        empty = end - start < empty ? end - start : empty;
        while (end == start)
            end = assay__host_now_ns();
        step = end - start < step ? end - start : step;
    }
    *resolution = (double)step;
    *overhead = (double)empty;
}

static double clock_resolution, clock_overhead;

static void probe_once(void)
{
    probe_clock(&clock_resolution, &clock_overhead);
}

static void describe_clock(assay_clock_info *clock)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, probe_once);
    memset(clock, 0, sizeof *clock);
    snprintf(clock->name, sizeof clock->name, "CLOCK_MONOTONIC_RAW");
    clock->resolution_ns = clock_resolution;
    clock->overhead_ns = clock_overhead;
    clock->quality = ASSAY_TIMING_HOST;
}

/* Resolves all launches up front: `count` launches, each with its own operands. */
static assay_status resolve_all(assay_instance *instance, const assay_measure *what,
                                assay_launch *launches, assay_tensor *operands)
{
    for (size_t i = 0; i < what->launch_count; i++)
        ASSAY_TRY(assay__host_resolve(instance, &what->launches[i], &launches[i],
                                      operands + i * ASSAY_MAX_OPERANDS, 0));
    return ASSAY_OK;
}

static assay_status run_spans(const assay_measure *what, const assay_launch *launches)
{
    size_t next = 0;

    for (size_t span = 0; span < what->spans; span++) {
        assay_status status = ASSAY_OK;
        uint64_t start = assay__host_now_ns();
        for (size_t i = 0; i < what->inner && status == ASSAY_OK; i++) {
            status = what->run(&launches[next]);
            next = next + 1 == what->launch_count ? 0 : next + 1;
        }
        uint64_t end = assay__host_now_ns();
        if (status != ASSAY_OK)
            return status;
        what->sink(what->cookie, (double)(end - start), what->inner);
    }
    return ASSAY_OK;
}

assay_status assay__host_measure(assay_instance *instance, const assay_measure *what,
                                 assay_clock_info *clock)
{
    ASSAY_TRY(assay__host_alive(instance, "measure"));
    if (what->launch_count == 0 || what->inner == 0 || what->sink == NULL || what->run == NULL)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "measure: needs a kernel, a sink, launches and inner >= 1");
    if (what->cache == ASSAY_CACHE_HOT && what->launch_count != 1)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "measure: a hot cache needs one launch, %zu given",
                                what->launch_count);
    assay_launch *launches = calloc(what->launch_count, sizeof *launches);
    assay_tensor *operands = calloc(what->launch_count, ASSAY_MAX_OPERANDS * sizeof *operands);
    assay_status status = launches != NULL && operands != NULL ? ASSAY_OK : ASSAY_NOMEM;

    if (status == ASSAY_OK)
        status = resolve_all(instance, what, launches, operands);
    if (status == ASSAY_OK)
        status = run_spans(what, launches);
    if (status == ASSAY_OK)
        describe_clock(clock);
    free(operands);
    free(launches);
    return status;
}

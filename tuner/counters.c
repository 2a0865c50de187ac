/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/counters.c -- see counters.h. */
#include "tuner/counters.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/error.h"
#include "tuner/core_clock.h"

static const struct row {
    const char *name, *unit;
    bool moves;
    const char *papi, *usage;
} rows[] = {
#define X(name, unit, moves, papi, usage) {name, unit, moves, papi, usage},
#include "tuner/counters.def"
#undef X
};
#define ROWS (sizeof rows / sizeof rows[0])

/* ---- proof ---- */

#define PROOF_BYTES (UINT64_C(1) << 20)
#define PROOF_LINKS 20000u
#define PROOF_FLOPS 20000

/* Cycles, instructions, f32 and f64 operations, memory that no page and no cache holds, and a
 * moment without the processor. */
static void work(void)
{
    const struct timespec moment = {0, 1000};
    volatile float single = 1.0f;
    volatile double twice = 1.0;
    char *fresh =
        mmap(NULL, PROOF_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)assay__chain_ns(ASSAY__CHAIN_MULTIPLY, PROOF_LINKS);
    for (int i = 0; i < PROOF_FLOPS; i++) {
        single = single * 0.5f + 1.0f;
        twice = twice * 0.5 + 1.0;
    }
    for (uint64_t at = 0; fresh != MAP_FAILED && at < PROOF_BYTES; at += 64)
        fresh[at] = 1;
    if (fresh != MAP_FAILED)
        munmap(fresh, PROOF_BYTES);
    (void)nanosleep(&moment, NULL);
}

static void *work_when_told(void *cookie)
{
    (void)pthread_barrier_wait(cookie);
    work();
    (void)pthread_barrier_wait(cookie);
    return NULL;
}

/* What cannot count in other threads cannot count kernels that have some: where there is no
 * processor's counter, PAPI attaches to no thread, not even for what the system counts. */
static bool count_in_two(const assay__counter_source *source, const char *event, double *count,
                         char *why, size_t cap)
{
    pthread_barrier_t barrier;
    pthread_t other;
    bool good;

    if (pthread_barrier_init(&barrier, NULL, 2) != 0 ||
        pthread_create(&other, NULL, work_when_told, &barrier) != 0) {
        (void)snprintf(why, cap, "no thread to prove it with");
        return false;
    }
    good = source->begin(event, why, cap);
    (void)pthread_barrier_wait(&barrier);
    work();
    (void)pthread_barrier_wait(&barrier);
    if (good)
        good = source->end(count, why, cap);
    (void)pthread_join(other, NULL);
    (void)pthread_barrier_destroy(&barrier);
    return good;
}

static bool prove(const assay__counter_source *source, const char *event, bool moves, char *why,
                  size_t cap)
{
    double count = 0;

    if (!count_in_two(source, event, &count, why, cap))
        return false;
    if (count >= 0 && (count > 0 || !moves))
        return true;
    (void)snprintf(why, cap, "counted %g of work that must count", count);
    return false;
}

/* ---- the table ---- */

/* The first of the events that is there; else the reasons of all, as far as there is room. */
static bool try_events(const struct row *row, const assay__counter_source *source,
                       const char *events, assay__counter *out)
{
    while (*events != '\0') {
        const size_t length = strcspn(events, "|"), used = strlen(out->reason);
        char why[120] = "";
        (void)snprintf(out->event, sizeof out->event, "%.*s", (int)length, events);
        if (prove(source, out->event, row->moves, why, sizeof why)) {
            out->source = source;
            out->reason[0] = '\0';
            return true;
        }
        (void)snprintf(out->reason + used, sizeof out->reason - used, "%s%s: %s",
                       used > 0 ? "; " : "", out->event, why);
        events += length;
        events += *events == '|';
    }
    out->event[0] = '\0';
    return false;
}

static void try_row(const struct row *row, bool is_scripted, assay__counter *out)
{
    *out = (assay__counter){.name = row->name, .unit = row->unit};
    if (is_scripted)
        (void)try_events(row, &assay__counter_script, row->name, out);
    else if (!try_events(row, &assay__counter_papi, row->papi, out))
        (void)try_events(row, &assay__counter_usage, row->usage, out);
}

const assay__counter *assay__counters(size_t *count)
{
    static assay__counter all[ROWS];
    static bool is_known;

    if (!is_known)
        for (size_t i = 0; i < ROWS; i++)
            try_row(&rows[i], getenv("ASSAY_FAKE_COUNTERS") != NULL, &all[i]);
    is_known = true;
    *count = ROWS;
    return all;
}

const assay__counter *assay__counter_find(const char *name)
{
    size_t count;
    const assay__counter *all = assay__counters(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].source != NULL ? &all[i] : NULL;
    return NULL;
}

/* ---- counting ---- */

assay_status assay__counter_begin(const assay__counter *c)
{
    char why[160] = "";

    if (c->source->begin(c->event, why, sizeof why))
        return ASSAY_OK;
    return assay__fail(ASSAY_UNAVAILABLE, "%s: %s", c->event, why);
}

assay_status assay__counter_end(const assay__counter *c, double *count)
{
    char why[160] = "";

    if (!c->source->end(count, why, sizeof why))
        return assay__fail(ASSAY_UNAVAILABLE, "%s: %s", c->event, why);
    if (!(*count >= 0 && *count < 1e18))
        return assay__fail(ASSAY_UNAVAILABLE, "%s: counted %g", c->event, *count);
    return ASSAY_OK;
}

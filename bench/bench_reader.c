/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_reader.c -- ns for entering and leaving a published object, for holding and releasing
 * a snapshot of the table.
 *
 * Medians of 21 rounds, one thread, nobody else inside. */
#include "runtime/reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "assay/table.h"
#include "bench/bench_print.h"

#define ROUNDS 21
#define CALLS  200000

static assay__readers readers;
static _Atomic(const void *) published;
static assay_table *table;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void enter_once(void)
{
    assay__reader *mine = assay__reader_mine(&readers);

    *(const volatile int *)assay__reader_enter(&readers, mine, &published);
    assay__reader_leave(mine);
}

static void hold_once(void)
{
    const assay_snapshot *s = NULL;

    if (assay_table_hold(table, &s) != ASSAY_OK)
        exit(EXIT_FAILURE);
    assay_snapshot_release(&s);
}

static void lock_once(void)
{
    (void)pthread_rwlock_rdlock(&lock);
    (void)pthread_rwlock_unlock(&lock);
}

static bench_figure median_ns(void (*call)(void))
{
    double rounds[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();
        for (int i = 0; i < CALLS; i++)
            call();
        rounds[r] = (now_ns() - start) / CALLS;
    }
    return bench_median(rounds, ROUNDS);
}

int main(void)
{
    static int object;

    if (assay__readers_init(&readers) != ASSAY_OK || assay_table_create(&table) != ASSAY_OK)
        return EXIT_FAILURE;
    atomic_init(&published, &object);
    bench_figure own = median_ns(enter_once);
    bench_print("reader: enter and leave", own, "ns", "pthread_rwlock", median_ns(lock_once).value,
                "", 0);
    readers.has_membarrier = false;
    bench_print("reader: enter and leave without membarrier", median_ns(enter_once), "ns", NULL, 0,
                "", 0);
    bench_print("reader: hold and release of the table", median_ns(hold_once), "ns", NULL, 0, "",
                0);
    assay_table_destroy(&table);
    assay__readers_clear(&readers);
    return EXIT_SUCCESS;
}

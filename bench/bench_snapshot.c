/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_snapshot.c -- ns for one acquire and release, a hold and unhold, a publish.
 *
 * Medians of 21 rounds, one thread, nobody else inside. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench_print.h"
#include "runtime/snapshot.h"

#define ROUNDS 21
#define CALLS  200000

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void read_once(assay__snap_domain *domain)
{
    assay__snap_ref ref;

    assay__snap_acquire(domain, &ref);
    *(const volatile int *)ref.object;
    assay__snap_release(&ref);
}

static void hold_once(assay__snap_domain *domain)
{
    assay__snap_hold *hold = assay__snap_hold_current(domain);

    assay__snap_unhold(&hold);
}

static void publish_once(assay__snap_domain *domain)
{
    static int object;

    (void)assay__snap_publish(domain, &object, NULL);
}

static bench_figure median_ns(assay__snap_domain *domain, void (*call)(assay__snap_domain *),
                              int calls)
{
    double rounds[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();
        for (int i = 0; i < calls; i++)
            call(domain);
        rounds[r] = (now_ns() - start) / calls;
    }
    return bench_median(rounds, ROUNDS);
}

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void lock_once(assay__snap_domain *domain)
{
    (void)domain;
    (void)pthread_rwlock_rdlock(&lock);
    (void)pthread_rwlock_unlock(&lock);
}

int main(void)
{
    assay__snap_domain *domain = NULL;

    if (assay__snap_create(&domain) != ASSAY_OK)
        return EXIT_FAILURE;
    publish_once(domain);
    bench_figure own = median_ns(domain, read_once, CALLS);
    bench_print("snapshot: acquire and release", own, "ns", "pthread_rwlock",
                median_ns(domain, lock_once, CALLS).value, "", 0);
    bench_print("snapshot: hold and unhold", median_ns(domain, hold_once, CALLS), "ns", NULL, 0, "",
                0);
    bench_print("snapshot: publish", median_ns(domain, publish_once, CALLS / 100), "ns", NULL, 0,
                "", 0);
    assay__snap_destroy(&domain);
    return EXIT_SUCCESS;
}

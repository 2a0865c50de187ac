/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_snapshot.c -- ns for one acquire and release, a hold and unhold, a publish.
 *
 * Medians of 21 rounds, one thread, nobody else inside. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/snapshot.h"

#define ROUNDS 21
#define CALLS  200000

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
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

static double median_ns(assay__snap_domain *domain, void (*call)(assay__snap_domain *), int calls)
{
    double rounds[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();
        for (int i = 0; i < calls; i++)
            call(domain);
        rounds[r] = (now_ns() - start) / calls;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_value);
    return rounds[ROUNDS / 2];
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
    printf("snapshot: acquire and release,%.2f,ns,pthread_rwlock,%.2f,,info\n",
           median_ns(domain, read_once, CALLS), median_ns(domain, lock_once, CALLS));
    printf("snapshot: hold and unhold,%.2f,ns,,,,info\n", median_ns(domain, hold_once, CALLS));
    printf("snapshot: publish,%.1f,ns,,,,info\n", median_ns(domain, publish_once, CALLS / 100));
    assay__snap_destroy(&domain);
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks.c -- the peaks probe; see peaks.h. */
#include "tuner/peaks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/error.h"
#include "tuner/peak_kernels.h"

#define MAX_THREADS 64
#define REPEATS     5
#define COPY_BYTES  ((size_t)96 << 20) /* a thread's share is this over the thread count */

typedef struct team {
    const assay__peak_kernel *kernel;
    size_t threads;
    uint64_t work;           /* kernel units a thread */
    char *from[MAX_THREADS]; /* copies only */
    char *to[MAX_THREADS];
    size_t bytes; /* a thread */
    int cpus[MAX_THREADS];
    pthread_barrier_t barrier;
    double elapsed_ns[MAX_THREADS];
    _Atomic size_t next;
} team;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *member(void *arg)
{
    team *t = arg;
    size_t me = atomic_fetch_add(&t->next, 1);
    double begin;

    pin(t->cpus[me]);
    if (t->kernel->bytes)
        memset(t->to[me], 1, t->bytes);
    pthread_barrier_wait(&t->barrier);
    begin = now_ns();
    t->kernel->run(t->work, t->to[me], t->from[me], t->bytes);
    pthread_barrier_wait(&t->barrier);
    t->elapsed_ns[me] = now_ns() - begin;
    return NULL;
}

static double run_team(team *t)
{
    pthread_t ids[MAX_THREADS];
    size_t started = 0;

    atomic_store(&t->next, 0);
    if (pthread_barrier_init(&t->barrier, NULL, (unsigned)t->threads) != 0)
        return 0;
    for (size_t i = 0; i < t->threads; i++) {
        if (pthread_create(&ids[i], NULL, member, t) != 0)
            abort(); /* a worker: the parent sees a crash of the probe, not a wrong peak */
        started++;
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&t->barrier);
    return t->elapsed_ns[0];
}

static bool allocate(team *t, char **base)
{
    size_t each = COPY_BYTES / t->threads / 4096 * 4096;

    *base = NULL;
    t->bytes = 0;
    if (!t->kernel->bytes)
        return true;
    *base = mmap(NULL, 2 * COPY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*base == MAP_FAILED)
        return false;
    memset(*base, 3, 2 * COPY_BYTES);
    t->bytes = each;
    for (size_t i = 0; i < t->threads; i++) {
        t->from[i] = *base + i * each;
        t->to[i] = *base + COPY_BYTES + i * each;
    }
    return true;
}

static size_t usable_cpus(int *cpus)
{
    cpu_set_t set;
    size_t n = 0;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && n < MAX_THREADS; i++)
        if (CPU_ISSET((size_t)i, &set))
            cpus[n++] = i;
    return n;
}

/* Units so that one run lasts about `wanted_ns`. */
static void size_work(team *t, double wanted_ns)
{
    double elapsed;

    t->work = t->kernel->bytes ? 1 : 10000;
    elapsed = run_team(t);
    while (elapsed < wanted_ns / 4 && t->work < (uint64_t)1 << 40) {
        t->work *= 2;
        elapsed = run_team(t);
    }
}

static assay_status probe(const assay__peak_kernel *kernel, size_t threads, const int *cpus,
                          double wanted_ns, json_t *list)
{
    team t = {.kernel = kernel, .threads = threads};
    json_t *samples = json_array();
    char *base, name[64];

    memcpy(t.cpus, cpus, threads * sizeof *cpus);
    if (!allocate(&t, &base)) {
        json_decref(samples);
        return assay__fail(ASSAY_NOMEM, "peaks: %zu bytes", 2 * COPY_BYTES);
    }
    size_work(&t, wanted_ns);
    for (int i = 0; i < REPEATS; i++) {
        double elapsed = run_team(&t);
        double units = kernel->bytes ? 2.0 * (double)t.bytes : kernel->flops;
        double rate = units * (double)t.work * (double)threads / elapsed;
        json_array_append_new(samples, json_real(rate));
    }
    if (base != NULL)
        munmap(base, 2 * COPY_BYTES);
    (void)snprintf(name, sizeof name, "%s_t%zu", kernel->name, threads);
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:o}", "name", name, "unit",
                                    kernel->bytes ? "byte/ns" : "flop/ns", "samples", samples));
    return ASSAY_OK;
}

assay_status assay__peaks_measure(double seconds, json_t *reply)
{
    int cpus[MAX_THREADS];
    size_t count = usable_cpus(cpus), kernels = 0;
    json_t *list = json_array();
    double each;

    json_object_set_new(reply, "peaks", list);
    for (const assay__peak_kernel *k = assay__peak_kernels; k->name != NULL; k++)
        kernels += k->usable() ? 1u : 0u;
    /* Two thread counts, REPEATS runs and about one to size the work. */
    each = seconds * 1e9 / (double)(kernels * 2 * (REPEATS + 2));
    for (const assay__peak_kernel *k = assay__peak_kernels; k->name != NULL; k++) {
        if (!k->usable())
            continue;
        ASSAY_TRY(probe(k, 1, cpus, each, list));
        for (size_t n = 2; n < count; n *= 2)
            ASSAY_TRY(probe(k, n, cpus, each, list));
        if (count > 1)
            ASSAY_TRY(probe(k, count, cpus, each, list));
    }
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks.c -- the peaks probe; see peaks.h. */
#include "tuner/peaks.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/machine.h"
#include "tuner/caches.h"
#include "tuner/peak_kernels.h"
#include "tuner/peaks_script.h"

#define MAX_THREADS  512
#define RUNS         5 /* timed ones */
#define MEMORY_PARTS 3
#define MEMORY_LEAST ((size_t)192 << 20) /* both buffers */
#define MEMORY_MOST  ((size_t)2 << 30)
/* Within any first cache; loads and stores half a page apart, or they would wait for each other. */
#define CACHE_BYTES  ((size_t)4 << 10)
#define CACHE_TARGET (CACHE_BYTES + 2048)
#define SHORTEST_NS  3e5
#define LONGEST_NS   4e6

typedef struct team {
    const assay__peak_kernel *kernel;
    size_t threads;
    uint64_t work;           /* kernel units a thread */
    char *from[MAX_THREADS]; /* streaming only */
    char *to[MAX_THREADS];
    size_t bytes; /* a thread */
    const int *cpus;
    pthread_barrier_t barrier;
    double elapsed_ns;
    _Atomic size_t next;
} team;

/* What one probe of all kernels shares. */
typedef struct probe {
    int cpus[MAX_THREADS];
    size_t cpu_count;
    char isa[1024];
    char *memory; /* NULL: a spot check streams nothing */
    size_t memory_bytes;
    double run_ns;
    size_t runs;
    json_t *list; /* borrowed */
} probe;

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
    pthread_barrier_wait(&t->barrier);
    begin = now_ns();
    t->kernel->run(t->work, t->to[me], t->from[me], t->bytes);
    pthread_barrier_wait(&t->barrier);
    if (me == 0)
        t->elapsed_ns = now_ns() - begin;
    return NULL;
}

static double run_team(team *t)
{
    pthread_t ids[MAX_THREADS];

    atomic_store(&t->next, 0);
    if (pthread_barrier_init(&t->barrier, NULL, (unsigned)t->threads) != 0)
        abort();
    for (size_t i = 0; i < t->threads; i++)
        if (pthread_create(&ids[i], NULL, member, t) != 0)
            abort(); /* a worker: the parent sees a crash of the probe, not a wrong peak */
    for (size_t i = 0; i < t->threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&t->barrier);
    return t->elapsed_ns;
}

static void add_rate(const team *t, json_t *samples, double elapsed_ns)
{
    double each = t->kernel->per_unit * (double)t->work;

    if (t->kernel->kind != ASSAY__PEAK_FLOPS)
        each *= (double)t->bytes;
    json_array_append_new(samples, json_real(each * (double)t->threads / elapsed_ns));
}

/* Arithmetic, or streaming within buffers of the first cache. */
static void run_small(const probe *p, team *t, json_t *samples)
{
    double elapsed;

    t->work = t->kernel->kind == ASSAY__PEAK_CACHE ? 100 : 1000;
    elapsed = run_team(t);
    while (elapsed < p->run_ns / 2 && t->work < (uint64_t)1 << 40) {
        double grow = p->run_ns / (elapsed + 1);
        t->work = (uint64_t)((double)t->work * fmin(fmax(grow, 1.5), 16.0));
        elapsed = run_team(t);
    }
    for (size_t i = 0; i < p->runs; i++)
        add_rate(t, samples, run_team(t));
}

/* Each run streams through a part of the buffers that no other run of this team touches.  Kernels
 * that only load or only store have both buffers as one. */
static void run_memory(const probe *p, team *t, json_t *samples)
{
    bool one = t->kernel->per_unit < 1.5;
    size_t side = one ? p->memory_bytes : p->memory_bytes / 2;

    t->work = 1;
    t->bytes = side / t->threads / MEMORY_PARTS / 4096 * 4096;
    for (size_t part = 0; part < MEMORY_PARTS; part++) {
        for (size_t i = 0; i < t->threads; i++) {
            t->from[i] = p->memory + (i * MEMORY_PARTS + part) * t->bytes;
            t->to[i] = t->from[i] + (one ? 0 : side);
        }
        add_rate(t, samples, run_team(t));
    }
}

static assay_status run_kernel(const probe *p, const assay__peak_kernel *kernel, size_t threads)
{
    static char caches[MAX_THREADS][3 * CACHE_BYTES] __attribute__((aligned(4096)));
    team t = {.kernel = kernel, .threads = threads, .cpus = p->cpus};
    json_t *samples = json_array();
    char name[64];

    t.bytes = CACHE_BYTES;
    for (size_t i = 0; i < threads; i++) {
        t.from[i] = caches[i];
        t.to[i] = caches[i] + CACHE_TARGET;
    }
    if (kernel->kind == ASSAY__PEAK_MEMORY)
        run_memory(p, &t, samples);
    else
        run_small(p, &t, samples);
    (void)snprintf(name, sizeof name, "%s_t%zu", kernel->name, threads);
    return assay__json_append_take(
        p->list,
        json_pack("{s:s, s:s, s:o}", "name", name, "unit",
                  kernel->kind == ASSAY__PEAK_FLOPS ? "flop/ns" : "byte/ns", "samples", samples));
}

static bool wanted(const probe *p, const assay__peak_kernel *k)
{
    return assay__peak_kernel_usable(k, p->isa) &&
           (p->memory != NULL || k->kind == ASSAY__PEAK_FLOPS);
}

static assay_status run_all(probe *p, double seconds)
{
    const assay__peak_kernel *k;
    size_t kernels = 0, counts = 1;

    for (size_t i = 0; (k = assay__peak_kernel_at(i)) != NULL; i++)
        kernels += wanted(p, k) && k->kind != ASSAY__PEAK_MEMORY ? 1u : 0u;
    for (size_t n = 1; n < p->cpu_count; n *= 2)
        counts++;
    /* About two more runs size the work; streaming takes half of the time of a whole probe. */
    p->run_ns = seconds * 1e9 * (p->memory != NULL ? 0.5 : 1.0) /
                (double)(kernels * counts * (p->runs + 2));
    p->run_ns = fmin(fmax(p->run_ns, SHORTEST_NS), LONGEST_NS);
    for (size_t i = 0; (k = assay__peak_kernel_at(i)) != NULL; i++) {
        if (!wanted(p, k))
            continue;
        for (size_t n = 1; n < p->cpu_count; n *= 2)
            ASSAY_TRY(run_kernel(p, k, n));
        ASSAY_TRY(run_kernel(p, k, p->cpu_count));
    }
    return ASSAY_OK;
}

/* ---- the host ---- */

static void find_cpus(probe *p, const assay__machine *host)
{
    size_t quota = assay__machine_usable_cpus(host);
    cpu_set_t set;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && p->cpu_count < MAX_THREADS; i++)
        if (CPU_ISSET((size_t)i, &set))
            p->cpus[p->cpu_count++] = i;
    if (quota > 0 && p->cpu_count > quota)
        p->cpu_count = quota;
    if (p->cpu_count == 0)
        p->cpu_count = 1;
}

/* Twice the last cache, so that nothing of the last round is found there; no more than a quarter
 * of what may be taken. */
static size_t memory_wanted(const assay__machine *host, double cache_bytes)
{
    double most = (double)MEMORY_MOST, limit;
    double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double bytes = isnan(cache_bytes) ? 0 : 2 * cache_bytes;

    if (free_bytes > 0)
        most = fmin(most, free_bytes / 4);
    if (assay__machine_number(host->sys, "fs/cgroup/memory.max", &limit))
        most = fmin(most, limit / 4);
    bytes = fmin(fmax(bytes, (double)MEMORY_LEAST), most);
    return (size_t)bytes >> 16 << 16;
}

typedef struct toucher {
    char *at;
    size_t bytes;
    int cpu;
    pthread_t id;
    bool started;
} toucher;

static void *touch(void *arg)
{
    toucher *t = arg;

    if (t->cpu >= 0)
        pin(t->cpu);
    memset(t->at, 3, t->bytes);
    return NULL;
}

/* By as many threads as will stream there: each page beside the CPU that uses it. */
static void touch_all(probe *p)
{
    toucher all[MAX_THREADS];
    size_t each = p->memory_bytes / p->cpu_count;

    for (size_t i = 0; i < p->cpu_count; i++) {
        size_t end = i + 1 == p->cpu_count ? p->memory_bytes : (i + 1) * each;
        all[i] = (toucher){.at = p->memory + i * each, .bytes = end - i * each, .cpu = p->cpus[i]};
        all[i].started = pthread_create(&all[i].id, NULL, touch, &all[i]) == 0;
        if (!all[i].started) {
            all[i].cpu = -1;
            (void)touch(&all[i]);
        }
    }
    for (size_t i = 0; i < p->cpu_count; i++)
        if (all[i].started)
            pthread_join(all[i].id, NULL);
}

static assay_status take_memory(probe *p, size_t bytes)
{
    p->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->memory == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "peaks: %zu bytes to stream through", bytes);
    p->memory_bytes = bytes;
    touch_all(p);
    return ASSAY_OK;
}

assay_status assay__peaks_measure(double seconds, bool spot, json_t *reply)
{
    const assay__machine host = ASSAY__MACHINE_HERE;
    const char *script = getenv("ASSAY_FAKE_PEAKS");
    probe p = {.runs = spot ? 2 : RUNS};
    double cache_bytes = assay__cache_bytes(&host);
    assay_status status = ASSAY_OK;

    if (script != NULL)
        return assay__peaks_scripted(script, spot, reply);
    p.list = json_array();
    ASSAY_TRY(assay__json_put_take(reply, "peaks", p.list));
    ASSAY_TRY(assay__json_put_real(reply, "cache_bytes", cache_bytes));
    if (!assay__machine_isa(&host, p.isa, sizeof p.isa))
        p.isa[0] = '\0';
    find_cpus(&p, &host);
    if (!spot)
        status = take_memory(&p, memory_wanted(&host, cache_bytes));
    if (status == ASSAY_OK)
        status = run_all(&p, seconds);
    if (p.memory_bytes > 0)
        munmap(p.memory, p.memory_bytes);
    return status;
}

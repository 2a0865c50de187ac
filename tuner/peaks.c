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

#include "runtime/error.h"
#include "runtime/host_team.h"
#include "runtime/machine.h"
#include "tuner/caches.h"
#include "tuner/free_memory.h"
#include "tuner/peak_budget.h"
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
#define LEVELS       3
#define LAUNCHES     1e3
#define SHORTEST_NS  3e5
#define LONGEST_NS   4e6
/* A thread streams through no less at a time. */
#define LEAST_PART ((size_t)1 << 20)

typedef struct team {
    const assay__peak_kernel *kernel;
    size_t threads;
    uint64_t work;           /* kernel units a thread */
    char *from[MAX_THREADS]; /* streaming only */
    char *to[MAX_THREADS];
    size_t bytes; /* a thread */
    const int *cpus;
    pthread_barrier_t barrier;
    double begin_ns[MAX_THREADS], end_ns[MAX_THREADS];
    _Atomic size_t next;
    struct probe *probe; /* borrowed */
    json_t *samples;     /* borrowed */
} team;

/* What one probe of all kernels shares. */
typedef struct probe {
    int cpus[MAX_THREADS];
    size_t cpu_count;
    char isa[1024];
    char *memory; /* NULL: a spot check streams nothing */
    size_t memory_bytes;
    bool exceeds_caches; /* else what streams through it shows a cache */
    double touch_per_ns; /* bytes, when they were first written */
    size_t part_at;      /* of each thread's share of the memory: the next part begins there */
    size_t level_bytes[LEVELS]; /* a thread's operands of each cache beyond the first; 0: none */
    size_t runs;
    assay__peak_budget budget;
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

    pin(t->cpus[me]);
    pthread_barrier_wait(&t->barrier);
    t->begin_ns[me] = now_ns();
    t->kernel->run(t->work, t->to[me], t->from[me], t->bytes);
    t->end_ns[me] = now_ns();
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
    return assay__peak_elapsed(t->begin_ns, t->end_ns, t->threads);
}

static double unit_now_ns(void *cookie)
{
    (void)cookie;
    return now_ns();
}

static void take_rate(void *cookie, double work, double ns)
{
    team *t = cookie;
    double each = t->kernel->per_unit * (double)t->work;

    (void)work;
    if (t->kernel->kind != ASSAY__PEAK_FLOPS)
        each *= (double)t->bytes;
    json_array_append_new(t->samples, json_real(each * (double)t->threads / ns));
}

/* Arithmetic, or streaming within buffers of the first cache: `work` units. */
static double run_small(void *cookie, double work)
{
    team *t = cookie;

    t->work = (uint64_t)work;
    return run_team(t);
}

/* Kernels that only load or only store have both buffers as one. */
static size_t side_of(const team *t)
{
    return t->kernel->per_unit < 1.5 ? t->probe->memory_bytes : t->probe->memory_bytes / 2;
}

/* Streams through `work` bytes a thread; each run through a part of the buffers that no other has
 * touched for as long as can be. */
static double run_memory(void *cookie, double work)
{
    team *t = cookie;
    probe *p = t->probe;
    size_t side = side_of(t), share = side / t->threads / 4096 * 4096;

    t->work = 1;
    t->bytes = (size_t)work / 4096 * 4096;
    if (p->part_at + t->bytes > share)
        p->part_at = 0;
    for (size_t i = 0; i < t->threads; i++) {
        t->from[i] = p->memory + i * share + p->part_at;
        t->to[i] = t->from[i] + (side < p->memory_bytes ? side : 0);
    }
    p->part_at += t->bytes;
    return run_team(t);
}

static size_t level_of(const assay__peak_kernel *k)
{
    return k->kind == ASSAY__PEAK_LEVEL2 ? 1 : k->kind == ASSAY__PEAK_LEVEL3 ? 2 : 0;
}

static void run_unit(probe *p, team *t)
{
    bool in_memory = t->kernel->kind == ASSAY__PEAK_MEMORY;
    const assay__peak_unit small = {.now_ns = unit_now_ns,
                                    .run = run_small,
                                    .take = take_rate,
                                    .cookie = t,
                                    .runs = p->runs,
                                    .least = level_of(t->kernel) > 0                ? 1
                                             : t->kernel->kind == ASSAY__PEAK_CACHE ? 100
                                                                                    : 1000,
                                    .most = 0x1p40,
                                    .shortest_ns = SHORTEST_NS,
                                    .longest_ns = LONGEST_NS};
    assay__peak_unit memory = small;

    if (in_memory) {
        memory.run = run_memory;
        memory.runs = MEMORY_PARTS;
        memory.most = (double)(side_of(t) / t->threads / MEMORY_PARTS);
        memory.least = fmin((double)LEAST_PART, memory.most);
        memory.per_ns = p->touch_per_ns / (double)t->threads / t->kernel->per_unit;
        memory.longest_ns = INFINITY;
    }
    assay__peak_spend(&p->budget, in_memory ? &memory : &small);
}

/* Buffers of a kernel that stays within a cache: in a few pages, or at the begin of each thread's
 * share of the memory. */
static void place_small(probe *p, team *t)
{
    static char caches[MAX_THREADS][3 * CACHE_BYTES] __attribute__((aligned(4096)));
    const size_t level = level_of(t->kernel), share = p->memory_bytes / p->cpu_count / 4096 * 4096;
    const bool is_copy = t->kernel->per_unit > 1.5;

    t->bytes = level > 0 ? p->level_bytes[level] / (is_copy ? 2 : 1) / 4096 * 4096 : CACHE_BYTES;
    for (size_t i = 0; i < t->threads; i++) {
        t->from[i] = level > 0 ? p->memory + i * share : caches[i];
        t->to[i] = t->from[i] + (level > 0 ? t->bytes + 2048 : CACHE_TARGET);
    }
}

static assay_status put_samples(probe *p, const char *what, size_t threads, const char *unit,
                                json_t *samples)
{
    char name[64];

    (void)snprintf(name, sizeof name, "%s_t%zu", what, threads);
    return assay__json_append_take(
        p->list, json_pack("{s:s, s:s, s:o}", "name", name, "unit", unit, "samples", samples));
}

static assay_status run_kernel(probe *p, const assay__peak_kernel *kernel, size_t threads)
{
    json_t *samples = json_array();
    team t = {
        .kernel = kernel, .threads = threads, .cpus = p->cpus, .probe = p, .samples = samples};

    place_small(p, &t);
    run_unit(p, &t);
    return put_samples(p, kernel->name, threads,
                       kernel->kind == ASSAY__PEAK_FLOPS ? "flop/ns" : "byte/ns", samples);
}

/* ---- launches ---- */

static void no_part(void *cookie, int64_t part)
{
    (void)cookie;
    (void)part;
}

/* `work` empty kernels, one after the other, each with a part for every thread. */
static double run_launches(void *cookie, double work)
{
    const team *t = cookie;
    const double begin = now_ns();

    for (double i = 0; i < work; i++)
        assay__host_team_run((int)t->threads, (int64_t)t->threads, no_part, NULL);
    return now_ns() - begin;
}

static void take_launches(void *cookie, double work, double ns)
{
    team *t = cookie;

    json_array_append_new(t->samples, json_real(work / ns));
}

static assay_status run_launch(probe *p, size_t threads)
{
    json_t *samples = json_array();
    team t = {.threads = threads, .samples = samples};
    const assay__peak_unit unit = {.now_ns = unit_now_ns,
                                   .run = run_launches,
                                   .take = take_launches,
                                   .cookie = &t,
                                   .runs = p->runs,
                                   .least = 10,
                                   .most = LAUNCHES * LAUNCHES,
                                   .shortest_ns = SHORTEST_NS,
                                   .longest_ns = LONGEST_NS};

    assay__peak_spend(&p->budget, &unit);
    return put_samples(p, "launch", threads, "call/ns", samples);
}

static bool wanted(const probe *p, const assay__peak_kernel *k)
{
    return assay__peak_kernel_usable(k, p->isa) &&
           (p->memory != NULL || k->kind == ASSAY__PEAK_FLOPS) &&
           (k->kind != ASSAY__PEAK_MEMORY || p->exceeds_caches) &&
           (level_of(k) == 0 || p->level_bytes[level_of(k)] > 0);
}

/* A spot check has none; of more threads than a team has it would only show those. */
static bool launches(const probe *p, size_t threads)
{
    return p->memory != NULL && threads <= ASSAY__HOST_TEAM_MOST;
}

/* 1, 2, 4 ... and all CPUs; 0: no more. */
static size_t threads_at(const probe *p, size_t i)
{
    const size_t n = (size_t)1 << i;

    if (n / 2 >= p->cpu_count)
        return 0;
    return n < p->cpu_count ? n : p->cpu_count;
}

/* All kernels that stream through memory, or all others. */
static assay_status run_some(probe *p, bool in_memory)
{
    const assay__peak_kernel *k;

    for (size_t i = 0; (k = assay__peak_kernel_at(i)) != NULL; i++) {
        if (!wanted(p, k) || (k->kind == ASSAY__PEAK_MEMORY) != in_memory)
            continue;
        for (size_t at = 0, n; (n = threads_at(p, at)) != 0; at++)
            ASSAY_TRY(run_kernel(p, k, n));
    }
    return ASSAY_OK;
}

/* Memory last: it has use for whatever time the others leave. */
static assay_status run_all(probe *p)
{
    const assay__peak_kernel *k;
    size_t kernels = 0;

    for (size_t i = 0; (k = assay__peak_kernel_at(i)) != NULL; i++)
        kernels += wanted(p, k);
    for (size_t i = 0, n; (n = threads_at(p, i)) != 0; i++)
        p->budget.units += kernels + launches(p, n);
    ASSAY_TRY(run_some(p, false));
    for (size_t i = 0, n; (n = threads_at(p, i)) != 0; i++)
        if (launches(p, n))
            ASSAY_TRY(run_launch(p, n));
    return run_some(p, true);
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

static void find_levels(probe *p, const assay__machine *host)
{
    const double most = (double)p->memory_bytes / (double)p->cpu_count - 4096;
    double bytes[LEVELS];

    assay__cache_operands(host, p->cpus, p->cpu_count, bytes, LEVELS);
    for (size_t i = 1; i < LEVELS; i++)
        p->level_bytes[i] = bytes[i] <= most ? (size_t)bytes[i] : 0;
}

/* Twice the last cache, so that nothing of the last round is found there; no more than a quarter
 * of what may be taken. */
static size_t memory_wanted(const assay__machine *host, double cache_bytes)
{
    const double free_bytes = assay__free_memory(host);
    double most = (double)MEMORY_MOST;
    double bytes = isnan(cache_bytes) ? 0 : 2 * cache_bytes;

    if (free_bytes > 0)
        most = fmin(most, free_bytes / 4);
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
    double begin = now_ns();
    touch_all(p);
    p->touch_per_ns = (double)bytes / (now_ns() - begin + 1);
    return ASSAY_OK;
}

assay_status assay__peaks_measure(double seconds, bool spot, json_t *reply)
{
    const assay__machine host = ASSAY__MACHINE_HERE;
    const char *script = getenv("ASSAY_FAKE_PEAKS");
    probe p = {.runs = spot ? 2 : RUNS, .budget = {.end_ns = now_ns() + seconds * 1e9}};
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
    p.exceeds_caches = !((double)p.memory_bytes < cache_bytes); /* also where these are not known */
    if (status == ASSAY_OK && !spot)
        find_levels(&p, &host);
    if (status == ASSAY_OK)
        status = run_all(&p);
    if (p.memory_bytes > 0)
        munmap(p.memory, p.memory_bytes);
    return status;
}

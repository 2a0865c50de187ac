/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_pick.c -- what a pick costs: hits, call sites, two threads, misses, opening.
 *
 * The store of the hits and misses is in memory, 16 candidates a route; opening reads a real one
 * of 100,000 routes with 8 candidates.  Percentiles are over batches of 64 picks.  The peer of a
 * hit is XXH3-128 of a key at hand, a word a parameter, and its line; a pick packs its key to hash
 * less, and how it stands to the hash of the packed one is printed too.  The peer of a uniform
 * pick is a random line of a table of the same size, each address taken from the line before.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_print.h"
#include "db/db_write.h"
#include "runtime/pick_internal.h"
#include "runtime/revision.h"

#define KERNELS 16
#define HOT     1000
#define UNIFORM 1000000
#define BATCH   64
#define BATCHES 4000
#define COLD    2000
#define ROUTES  100000
#define STORED  8

#define MUST(expr)                                                   \
    do {                                                             \
        if ((expr) != ASSAY_OK) {                                    \
            fprintf(stderr, "bench_pick: %s\n", assay_last_error()); \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static uint64_t seed = 88172645463325252u;
static uint64_t random_u64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* The median of values, or another share of them; peer NULL: none. */
static void row(const char *what, bench_figure f, const char *unit, const char *peer,
                double peer_value, const char *goal, int met)
{
    char whole[128];

    snprintf(whole, sizeof whole, "pick: %s", what);
    bench_print(whole, f, unit, peer, peer_value, goal, met);
}

/* One figure over another, each with its own interval. */
static bench_figure over(bench_figure a, bench_figure b)
{
    return (bench_figure){a.value / b.value, a.lo / b.hi, a.hi / b.lo, a.n};
}

/* ---- table and store ---- */

static assay_status run(const assay_launch *launch)
{
    (void)launch;
    return ASSAY_OK;
}

static const int64_t tiles[] = {8, 16};
static const assay_tunable tile[] = {{"tile", tiles, 2, 8, ""}};
static const assay_manifest manifest = {
    .struct_size = sizeof manifest, .abi_version = ASSAY_PLUGIN_ABI, .name = "cpu"};
static char names[KERNELS][16];
static assay_kernel_desc descs[KERNELS];
static assay_binding rows[KERNELS];
static assay_digest variants[KERNELS];

static void make_table(void)
{
    const int64_t value = 16;

    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "kernel%02d", i);
        descs[i] = (assay_kernel_desc){.struct_size = sizeof descs[i],
                                       .name = names[i],
                                       .op = ASSAY_OP_matmul,
                                       .dtype_count = 3,
                                       .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},
                                       .default_rank = i,
                                       .tunables = tile,
                                       .tunable_count = 1,
                                       .constraint = "tile <= m",
                                       .can_run = "k > 0",
                                       .claims = ASSAY_NO_CLAIMS,
                                       .entry_point = "run",
                                       .run = run};
        rows[i] = (assay_binding){.run = run,
                                  .desc = &descs[i],
                                  .manifest = &manifest,
                                  .op = ASSAY_OP_matmul,
                                  .dtype_count = 3,
                                  .available = 1,
                                  .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},
                                  .default_rank = i};
        rows[i].revision.bytes[0] = (uint8_t)(i + 1);
        MUST(assay__variant_revision(&rows[i].revision, tile, &value, 1, &variants[i]));
    }
}

static assay__route_candidate candidate(uint64_t revision_row, double ns)
{
    assay__route_candidate c;

    memset(&c, 0, sizeof c);
    c.revision_row = revision_row;
    c.measurement = revision_row;
    c.time_ns = ns;
    c.lo_ns = ns * 0.99;
    c.hi_ns = ns * 1.01;
    c.ratio = ns / 100;
    c.ratio_lo = c.ratio * 0.99;
    c.ratio_hi = c.ratio * 1.01;
    c.max_ulp = 2;
    c.max_rho = c.max_rel = c.max_abs = NAN;
    c.proof = ASSAY_PROOF_SAMPLED;
    c.verdict = ASSAY__VERDICT_OK;
    return c;
}

static void set_shape(assay_problem *p, uint64_t i)
{
    p->params[1].i = (int64_t)(16 + i % 1000);
    p->params[2].i = (int64_t)(16 + i / 1000);
    p->params[3].i = 512;
}

static assay_question question_of(uint64_t i)
{
    assay_problem p;
    assay_question q;

    MUST(assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &p));
    MUST(assay_problem_set_int(&p, "m", 16));
    MUST(assay_problem_set_int(&p, "n", 16));
    MUST(assay_problem_set_int(&p, "k", 512));
    set_shape(&p, i);
    assay_question_init(&p, &q);
    return q;
}

static size_t served; /* routes of the store in memory */

static assay_status mem_open(const char *path, assay__store **out)
{
    (void)path;
    *out = (assay__store *)&served;
    return ASSAY_OK;
}
static void mem_close(assay__store *store)
{
    (void)store;
}
static assay_status mem_version(assay__store *store, int64_t *out)
{
    (void)store;
    *out = 1;
    return ASSAY_OK;
}
static assay_status mem_begin(assay__store *store)
{
    (void)store;
    return ASSAY_OK;
}
static assay_status mem_count(assay__store *store, const char *hex, size_t *here, size_t *elsewhere)
{
    (void)store;
    (void)hex;
    *here = served;
    *elsewhere = 0;
    return ASSAY_OK;
}

static assay_status mem_revisions(assay__store *store, const char *hex,
                                  assay_status (*take)(void *, const assay__store_revision *),
                                  void *cookie)
{
    (void)store;
    (void)hex;
    for (int i = 0; i < KERNELS; i++) {
        const assay__store_revision r = {.row = (uint64_t)i + 1,
                                         .kernel = names[i],
                                         .backend = "cpu",
                                         .op = "matmul",
                                         .dtypes = "f32,f32,f32",
                                         .tunables = "tile=16",
                                         .kernel_revision = rows[i].revision,
                                         .variant_revision = variants[i]};
        ASSAY_TRY(take(cookie, &r));
    }
    return ASSAY_OK;
}

static assay_status mem_routes(assay__store *store, const char *hex,
                               assay_status (*take)(void *, const assay__store_route *),
                               void *cookie)
{
    assay__route_candidate c[KERNELS];
    char text[ASSAY_PROBLEM_TEXT_MAX];

    (void)store;
    (void)hex;
    for (int i = 0; i < KERNELS; i++)
        c[i] = candidate((uint64_t)i + 1, 100 + i);
    for (size_t i = 0; i < served; i++) {
        const assay_question q = question_of(i);
        const assay__store_route r = {.row = i + 1,
                                      .problem = text,
                                      .layout = "ccc",
                                      .policy = "rotate/alone/kernel",
                                      .align = 16,
                                      .candidates = c,
                                      .candidate_count = KERNELS,
                                      .stop_reason = "done"};
        (void)assay_problem_format(&q.problem, ASSAY_TEXT_ACCURACY, text, sizeof text);
        ASSAY_TRY(take(cookie, &r));
    }
    return ASSAY_OK;
}

static assay_status mem_quarantine(assay__store *store, const char *hex,
                                   assay_status (*take)(void *, const assay__store_quarantine *),
                                   void *cookie)
{
    (void)store;
    (void)hex;
    (void)take;
    (void)cookie;
    return ASSAY_OK;
}

static assay_status mem_peak(assay__store *store, const char *hex, const char *name, double *value)
{
    (void)store;
    (void)hex;
    (void)name;
    (void)value;
    return ASSAY_NOTFOUND;
}

static const assay__store_ops memory = {.open_read = mem_open,
                                        .close = mem_close,
                                        .schema_version = mem_version,
                                        .data_version = mem_version,
                                        .count_routes = mem_count,
                                        .each_revision = mem_revisions,
                                        .each_route = mem_routes,
                                        .each_quarantine = mem_quarantine,
                                        .peak = mem_peak,
                                        .begin_snapshot = mem_begin,
                                        .end_snapshot = mem_close};

static assay_context *open_with(const char *path, const assay__store_ops *ops, const char *hex)
{
    const assay_open_options bare = {.struct_size = sizeof bare, .bare = 1};
    assay_context *context = NULL;

    MUST(assay__context_open(path, &bare, ops, hex, &context));
    MUST(assay_table_register(assay_context_table(context), rows, KERNELS));
    return context;
}

/* ---- hits ---- */

static assay_question hot[HOT];
static uint16_t order[BATCH * 64]; /* which to ask for; short enough to stay in cache */

static double hot_batch(assay_context *context, size_t at)
{
    double start = now_ns();
    assay_route route;

    for (size_t i = 0; i < BATCH; i++)
        if (assay_pick(context, &hot[order[at + i]], &route) != ASSAY_OK)
            exit(EXIT_FAILURE);
    return (now_ns() - start) / BATCH;
}

/* A peer: keys at hand, each of `size` bytes, and a cache of their answers. */
typedef struct peer {
    const uint64_t *keys;
    size_t words;
    assay__pick_cache *cache;
} peer;

/* What a hit cannot do without: the hash of a key, and its line. The count of words is a constant
 * where it is called, as it is in a pick. */
__attribute__((always_inline)) static inline double peer_batch(const peer *p, size_t words,
                                                               size_t at)
{
    double start = now_ns();
    assay_route route;

    for (size_t i = 0; i < BATCH; i++) {
        const uint64_t *key = &p->keys[order[at + i] * words];
        const assay__line *line =
            assay__pick_cache_find(p->cache, assay__xxh(key, words * sizeof *key));
        if (line == NULL)
            exit(EXIT_FAILURE);
        assay__line_route(line, &route);
        __asm__ volatile("" : : "r"(&route) : "memory");
    }
    return (now_ns() - start) / BATCH;
}

static void fill_peer(assay_context *context, peer *p)
{
    MUST(assay__pick_cache_create(1, &p->cache));
    for (size_t i = 0; i < HOT; i++) {
        assay_route route;
        MUST(assay_pick(context, &hot[i], &route));
        MUST(assay__pick_cache_add(p->cache,
                                   assay__xxh(&p->keys[i * p->words], p->words * sizeof(uint64_t)),
                                   context->interned, &route));
    }
}

static double clock_ns(void)
{
    double best = INFINITY;

    for (int i = 0; i < 1000; i++) {
        double start = now_ns(), took = now_ns() - start;
        best = took < best ? took : best;
    }
    return best;
}

#define WHOLE (ASSAY__KEY_HEAD + 8) /* words of a key of matmul before it is packed */
static uint64_t packed_keys[HOT][ASSAY__KEY_NARROW], whole_keys[HOT][WHOLE];

static void make_hot(assay_context *context)
{
    for (size_t i = 0; i < HOT; i++) {
        assay__question_key key;
        hot[i] = question_of(i);
        if (!assay__question_key_narrow(&context->rules, &hot[i], &key))
            exit(EXIT_FAILURE);
        memcpy(packed_keys[i], key.words, sizeof packed_keys[i]);
        memcpy(whole_keys[i], key.words, ASSAY__KEY_HEAD * sizeof(uint64_t));
        memcpy(whole_keys[i] + ASSAY__KEY_HEAD, hot[i].problem.params, 8 * sizeof(uint64_t));
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        order[i] = (uint16_t)(random_u64() % HOT);
}

static void bench_hot(assay_context *context)
{
    static double own[BATCHES], whole[BATCHES], packed[BATCHES];
    peer by_whole = {whole_keys[0], WHOLE, NULL};
    peer by_packed = {packed_keys[0], ASSAY__KEY_NARROW, NULL};
    double clock = clock_ns() / BATCH;

    make_hot(context);
    fill_peer(context, &by_whole);
    fill_peer(context, &by_packed);
    for (size_t pass = 0; pass < 2; pass++) /* the first warms */
        for (size_t i = 0; i < BATCHES; i++) {
            own[i] = hot_batch(context, i % 64 * BATCH) - clock;
            whole[i] = peer_batch(&by_whole, WHOLE, i % 64 * BATCH) - clock;
            packed[i] = peer_batch(&by_packed, ASSAY__KEY_NARROW, i % 64 * BATCH) - clock;
        }
    bench_figure p50 = bench_median(own, BATCHES), p99 = bench_quantile(own, BATCHES, 0.99);
    bench_figure base50 = bench_median(whole, BATCHES);
    bench_figure base99 = bench_quantile(whole, BATCHES, 0.99);
    bench_figure least = bench_median(packed, BATCHES);
    row("hit of 1000 problems p50", p50, "ns", "hash and line", base50.value, "<= 50",
        p50.value <= 50);
    row("hit of 1000 problems p99", p99, "ns", "hash and line", base99.value, "<= 120",
        p99.value <= 120);
    row("hit over hash and line", over(p50, base50), "x", NULL, 0, "<= 1.5",
        p50.value <= 1.5 * base50.value);
    row("hit over hash of the packed key and line", over(p50, least), "x", NULL, 0, "", 0);
    assay__pick_cache_destroy(&by_whole.cache);
    assay__pick_cache_destroy(&by_packed.cache);
}

static void bench_site(assay_context *context)
{
    static double own[BATCHES];
    assay_site site;
    assay_route route;
    double clock = clock_ns() / BATCH;

    memset(&site, 0, sizeof site);
    for (size_t i = 0; i < BATCHES; i++) {
        double start = now_ns();
        for (size_t k = 0; k < BATCH; k++)
            if (assay_pick_at(context, &site, &hot[7], &route) != ASSAY_OK)
                exit(EXIT_FAILURE);
        own[i] = (now_ns() - start) / BATCH - clock;
    }
    bench_figure p50 = bench_median(own, BATCHES);
    row("call site p50", p50, "ns", NULL, 0, "<= 6", p50.value <= 6);
}

/* ---- two threads ---- */

static pthread_barrier_t gate;
static assay_context *shared;

static void *pick_all(void *picks)
{
    assay_route route;
    uint64_t n = *(const uint64_t *)picks;

    pthread_barrier_wait(&gate);
    for (uint64_t i = 0; i < n; i++)
        if (assay_pick(shared, &hot[order[i % (BATCH * 64)]], &route) != ASSAY_OK)
            exit(EXIT_FAILURE);
    pthread_barrier_wait(&gate);
    return NULL;
}

/* Picks a ns of `threads` threads together. */
static double rate(unsigned threads)
{
    uint64_t picks = 2000000;
    pthread_t ids[2];
    double start;

    pthread_barrier_init(&gate, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, pick_all, &picks) != 0)
            exit(EXIT_FAILURE);
    pthread_barrier_wait(&gate);
    start = now_ns();
    pthread_barrier_wait(&gate);
    start = now_ns() - start;
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&gate);
    return threads * (double)picks / start;
}

static void bench_threads(assay_context *context)
{
    double ratios[7];

    shared = context;
    (void)rate(1);
    for (size_t i = 0; i < 7; i++) {
        double one = rate(1);
        ratios[i] = rate(2) / one;
    }
    bench_figure gain = bench_median(ratios, 7);
    row("two threads", gain, "x", NULL, 0, ">= 1.9", gain.value >= 1.9);
}

/* ---- misses ---- */

static void bench_miss(assay_context *context)
{
    static double own[COLD];
    assay_route route;

    for (size_t i = 0; i < COLD; i++) {
        assay_question q = question_of(HOT + i);
        double start = now_ns();
        MUST(assay_pick(context, &q, &route));
        own[i] = now_ns() - start;
        if (route.flags & 1)
            exit(EXIT_FAILURE);
    }
    bench_figure p50 = bench_median(own, COLD);
    row("miss of 16 alternatives p50", p50, "ns", NULL, 0, "<= 4000", p50.value <= 4000);
}

/* ---- uniform over a million ---- */

static double random_line_ns(size_t bytes)
{
    size_t count = bytes / 64, steps = 2000000;
    uint64_t(*lines)[8] =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t at = 0;
    double start;

    if ((void *)lines == MAP_FAILED)
        exit(EXIT_FAILURE);
    (void)madvise(lines, bytes, MADV_HUGEPAGE);
    for (size_t i = 0; i < count; i++)
        lines[i][0] = random_u64();
    start = now_ns();
    for (size_t i = 0; i < steps; i++)
        at = (lines[at & (count - 1)][0] + i) * 0x9e3779b97f4a7c15u >> 20;
    start = now_ns() - start;
    __asm__ volatile("" : : "r"(at));
    (void)munmap(lines, bytes);
    return start / (double)steps;
}

static void bench_uniform(assay_context *context)
{
    static double own[BATCHES];
    assay_question q = question_of(0);
    assay_route route;
    double line;

    for (uint64_t i = 0; i < UNIFORM; i++) {
        set_shape(&q.problem, i);
        MUST(assay_pick(context, &q, &route));
    }
    for (size_t i = 0; i < BATCHES; i++) {
        double start = now_ns();
        for (size_t k = 0; k < BATCH; k++) {
            set_shape(&q.problem, random_u64() % UNIFORM);
            if (assay_pick(context, &q, &route) != ASSAY_OK)
                exit(EXIT_FAILURE);
        }
        own[i] = (now_ns() - start) / BATCH;
    }
    bench_figure p50 = bench_median(own, BATCHES);
    line = random_line_ns(atomic_load(&context->current->cache->table)->bytes);
    row("uniform over 10^6 problems p50", p50, "ns", "random line", line, "<= 1.3 peer + 40",
        p50.value <= 1.3 * line + 40);
}

/* ---- table and opening ---- */

static void bench_table(void)
{
    enum { MANY = 10000, ADDED = 21 };
    static char text[MANY + ADDED][16];
    static assay_kernel_desc many[MANY + ADDED];
    static assay_binding bindings[MANY + ADDED];
    double took[ADDED];
    assay_table *table = NULL;

    for (int i = 0; i < MANY + ADDED; i++) {
        snprintf(text[i], sizeof text[i], "k%d", i);
        many[i] = descs[i % KERNELS];
        many[i].name = text[i];
        many[i].constraint = many[i].can_run = NULL;
        bindings[i] = rows[i % KERNELS];
        bindings[i].desc = &many[i];
    }
    MUST(assay_table_create(&table));
    MUST(assay_table_register(table, bindings, MANY));
    for (size_t i = 0; i < ADDED; i++) {
        double start = now_ns();
        MUST(assay_table_register(table, &bindings[MANY + i], 1));
        took[i] = (now_ns() - start) / 1e6;
    }
    bench_figure p50 = bench_median(took, ADDED);
    row("register beside 10000 bindings", p50, "ms", NULL, 0, "<= 1", p50.value <= 1);
    assay_table_destroy(&table);
}

/* A store lists the variants that it has measurements of. */
static void put_measurement(assay__db *db, int64_t sweep, int64_t deployment, int64_t revision)
{
    const assay_question q = question_of(0);
    assay__db_measurement m = {.sweep = sweep,
                               .revision = revision,
                               .deployment = deployment,
                               .layout = "ccc",
                               .policy = "rotate/alone/kernel",
                               .align = 16,
                               .verdict = ASSAY__VERDICT_OK,
                               .reason = "",
                               .median_ns = 100,
                               .lo_ns = 99,
                               .hi_ns = 101,
                               .min_ns = 98,
                               .mad_ns = 1,
                               .ratio = 1,
                               .ratio_lo = 0.99,
                               .ratio_hi = 1.01,
                               .samples = 50,
                               .visits = 5,
                               .stop_reason = "done",
                               .flags = ""};
    int64_t id;

    MUST(assay__db_put_problem(db, &q.problem, &m.problem));
    MUST(assay__db_put_measurement(db, &m, &id));
}

static void fill_store(const char *path, char hex[ASSAY_DIGEST_HEX])
{
    const assay__db_sweep sweep = {"standard", "{}", "[]", 1};
    assay__route_candidate c[STORED];
    assay_deployment d;
    assay_digest digest;
    assay__db *db = NULL;
    int64_t deployment, sweep_row, revision;

    memset(&d, 0, sizeof d);
    memcpy(d.backend, "cpu", 4);
    MUST(assay__db_open(path, &db));
    MUST(assay__db_put_deployment(db, &d, NULL, &deployment));
    MUST(assay__db_begin_sweep(db, &sweep, &sweep_row));
    for (int i = 0; i < STORED; i++) {
        const assay__db_kernel k = {.kernel = names[i],
                                    .backend = "cpu",
                                    .op = "matmul",
                                    .dtypes = "f32,f32,f32",
                                    .entry_point = "run",
                                    .claims = ASSAY_NO_CLAIMS,
                                    .kernel_revision = rows[i].revision,
                                    .variant_revision = variants[i],
                                    .tunables = "tile=16",
                                    .libraries = "",
                                    .compiler = ""};
        MUST(assay__db_put_revision(db, &k, &revision));
        put_measurement(db, sweep_row, deployment, revision);
        c[i] = candidate((uint64_t)revision, 100 + i);
    }
    MUST(assay__db_begin(db));
    for (uint64_t i = 0; i < ROUTES; i++) {
        const assay_question q = question_of(i);
        assay__db_route r = {.sweep = sweep_row,
                             .deployment = deployment,
                             .winner_revision = (int64_t)c[i % STORED].revision_row,
                             .layout = "ccc",
                             .policy = "rotate/alone/kernel",
                             .align = 16,
                             .candidates = c,
                             .candidate_count = STORED,
                             .stop_reason = "done"};
        MUST(assay__db_put_problem(db, &q.problem, &r.problem));
        MUST(assay__db_put_route(db, &r));
    }
    MUST(assay__db_commit(db));
    assay__db_close(&db);
    assay_deployment_digest(&d, &digest);
    assay_digest_format(&digest, hex);
}

static void bench_open(void)
{
    char folder[] = "/tmp/assay-bench-XXXXXX", path[64], command[64], hex[ASSAY_DIGEST_HEX];
    assay_question q = question_of(ROUTES / 2);
    double took[5];
    assay_route route;

    if (mkdtemp(folder) == NULL)
        exit(EXIT_FAILURE);
    snprintf(path, sizeof path, "%s/routes.db", folder);
    fill_store(path, hex);
    for (size_t i = 0; i < 5; i++) {
        double start = now_ns();
        assay_context *context = open_with(path, assay__store_sqlite(), hex);
        MUST(assay_pick(context, &q, &route));
        took[i] = (now_ns() - start) / 1e6;
        if (route.flags & 1) {
            fprintf(stderr, "bench_pick: the route of the store is not used\n");
            exit(EXIT_FAILURE);
        }
        assay_close(&context);
    }
    bench_figure p50 = bench_median(took, 5);
    row("open 100000 routes and first pick", p50, "ms", NULL, 0, "<= 150", p50.value <= 150);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        exit(EXIT_FAILURE);
}

int main(void)
{
    assay_context *context;

    make_table();
    served = HOT + COLD;
    context = open_with("memory", &memory, "d0");
    bench_hot(context);
    bench_site(context);
    bench_threads(context);
    bench_miss(context);
    bench_uniform(context);
    assay_close(&context);
    bench_table();
    bench_open();
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_pool.c -- operand sets that timed launches rotate over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/error.h"
#include "runtime/keyhash.h"
#include "runtime/word_digest.h"
#include "tuner/cold.h"
#include "tuner/worker_apart.h"

#define MAX_SETS ASSAY__WORKER_POOL_SETS

static void clear(assay__worker_pool *p)
{
    if (p->apart != NULL)
        assay__apart_pool_clear(p);
    if (p->inputs != NULL)
        munmap(p->inputs, p->input_bytes);
    if (p->outputs != NULL)
        munmap(p->outputs, p->output_bytes);
    free(p->operands);
    free(p->launches);
    free(p);
}

void assay__worker_pools_clear(assay__worker_problem *w)
{
    while (w->pools != NULL) {
        assay__worker_pool *next = w->pools->next;
        clear(w->pools);
        w->pools = next;
    }
    w->pool = NULL;
}

static size_t set_count(const assay__worker_problem *w, double rotate_bytes)
{
    uint64_t each = w->in.total + w->out.total;
    double sets = rotate_bytes / (double)each;

    if (!(sets > 1))
        return 1;
    return sets >= MAX_SETS ? MAX_SETS : (size_t)sets + 1;
}

/* Pages of the arena are there already, from the worker before; fresh ones cost more to get than a
 * quick visit takes to time what lies in them. */
static char *map_bytes(const assay__worker_problem *w, size_t at, size_t bytes)
{
    int flags = w->arena >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    off_t from = w->arena >= 0 ? (off_t)w->arena_begin + (off_t)at : 0;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, w->arena, from);

    return p == MAP_FAILED ? NULL : p;
}

/* Makes sets [filled, wanted): touching memory costs more than timing a small kernel, so only what
 * the spans will rotate over is made. */
static assay_status fill(assay__worker_pool *p, assay__worker_problem *w, size_t wanted)
{
    if (wanted <= p->filled)
        return ASSAY_OK;
    ASSAY_TRY(assay__worker_place(w, 0));
    assay__populate(p->inputs + p->filled * w->in.total, (wanted - p->filled) * w->in.total,
                    w->arena >= 0);
    assay__populate(p->outputs + p->filled * w->out.total, (wanted - p->filled) * w->out.total,
                    w->arena >= 0);
    for (size_t i = p->filled; i < wanted; i++) {
        char *inputs = p->inputs + i * w->in.total, *output = p->outputs + i * w->out.total;
        void *addresses[ASSAY_MAX_OPERANDS] = {NULL};

        assay__cold_copy(inputs, w->inputs, (size_t)w->in.total);
        assay__worker_addresses(w, inputs, output, addresses);
        ASSAY_TRY(
            assay__tensors_make(&w->problem, addresses, p->operands + i * w->problem.dtype_count));
    }
    p->filled = wanted;
    if (mprotect(p->inputs, (size_t)w->in.total * wanted, PROT_READ) != 0)
        return assay__fail(ASSAY_INTERNAL, "cannot protect the inputs");
    return ASSAY_OK;
}

static assay_status map_sets(assay__worker_problem *w, assay__worker_pool *p)
{
    p->input_bytes = (size_t)w->in.total * p->sets;
    p->output_bytes = (size_t)w->out.total * p->sets;
    p->inputs = map_bytes(w, 0, p->input_bytes);
    p->outputs = map_bytes(w, p->input_bytes, p->output_bytes);
    if (p->inputs != NULL && p->outputs != NULL)
        return ASSAY_OK;
    return assay__fail(ASSAY_NOMEM, "%zu bytes to rotate over", p->input_bytes + p->output_bytes);
}

static assay_status make(assay__worker_problem *w, assay__worker_pool *p, double rotate_bytes)
{
    p->sets = set_count(w, p->apart != NULL && rotate_bytes > 0
                               ? assay__apart_rotate_bytes(p->apart, rotate_bytes)
                               : rotate_bytes);
    ASSAY_TRY(p->apart != NULL ? assay__apart_pool_make(w, p) : map_sets(w, p));
    p->operands = calloc(p->sets * w->problem.dtype_count, sizeof *p->operands);
    p->launches = calloc(p->sets, sizeof *p->launches);
    return p->operands != NULL && p->launches != NULL ? ASSAY_OK
                                                      : assay__fail(ASSAY_NOMEM, "operand sets");
}

assay_status assay__worker_pool_use(assay__worker_problem *w, const assay__backend *backend,
                                    double rotate_bytes)
{
    bool is_apart = false;
    assay_status status;

    ASSAY_TRY(assay__worker_is_apart(backend, &is_apart));
    const assay__backend *const apart = is_apart ? backend : NULL;
    for (w->pool = w->pools; w->pool != NULL; w->pool = w->pool->next)
        if (w->pool->apart == apart)
            return ASSAY_OK;
    if (apart != NULL)
        ASSAY_TRY(assay__worker_apart_ready(w, apart));
    assay__worker_pool *p = calloc(1, sizeof *p);
    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "operand sets");
    p->apart = apart;
    status = make(w, p, rotate_bytes);
    if (status != ASSAY_OK) {
        clear(p);
        return status;
    }
    p->next = w->pools;
    w->pool = w->pools = p;
    return ASSAY_OK;
}

static void poison(const assay__worker_problem *w, const assay__worker_pool *p, size_t at)
{
    assay__output_poison(p->outputs + at * (size_t)w->out.total, &w->out,
                         (assay_dtype)w->problem.dtypes[w->problem.dtype_count - 1u]);
}

static void poison_all(const assay__worker_problem *w, const assay__worker_pool *p, size_t sets)
{
    for (size_t i = 0; i < sets; i++) {
        poison(w, p, i);
        if (assay__reads_output(&w->problem))
            assay__cold_copy(p->outputs + i * w->out.total + w->out.offset,
                             p->inputs + i * w->in.total + w->in.offset[w->in.count - 1],
                             (size_t)w->out.bytes);
    }
}

/* The first `sets` sets: fresh poison in every output, launches of this kernel.  No cache holds an
 * output then. */
assay_status assay__worker_pool_aim(assay__worker_problem *w, const assay__worker_kernel *k,
                                    size_t sets)
{
    assay__worker_pool *p = w->pool;
    size_t operands = w->problem.dtype_count;

    if (p->apart != NULL) {
        ASSAY_TRY(assay__apart_pool_fill(w, p, sets));
    } else {
        const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_sets);
        ASSAY_TRY(fill(p, w, sets));
        (void)assay__phases_go(&w->phases, ASSAY__PHASE_poison);
        poison_all(w, p, sets);
        (void)assay__phases_go(&w->phases, from);
    }
    for (size_t i = 0; i < sets; i++)
        p->launches[i] = (assay_launch){.struct_size = sizeof(assay_launch),
                                        .operand_count = (uint32_t)operands,
                                        .problem = &w->problem,
                                        .operands = p->operands + i * operands,
                                        .tunables = k->tunables,
                                        .instance = k->backend->instance,
                                        .tunable_count = (uint32_t)k->desc->tunable_count};
    return ASSAY_OK;
}

/* Whoever stayed before has left more or less of the inputs in the caches, the first stay of a
 * worker what its warm-up read: each begins with all of them in memory, as they are once made. */
double assay__worker_pool_cool(const assay__worker_problem *w, size_t sets)
{
    assay__worker_pool *p = w->pool;

    if (p->apart != NULL)
        return assay__apart_pool_cool(w, p, sets);
    size_t touched = p->touched < sets ? p->touched : sets, fresh = sets - touched;
    size_t evicted = assay__cold_evict(p->inputs, touched * (size_t)w->in.total);

    p->touched += fresh;
    if (evicted == 0)
        return 0;
    return (double)evicted + (double)fresh * (double)w->in.total +
           (double)sets * (double)w->out.total;
}

/* Other inputs where those of a timed launch lie. */
assay_status assay__worker_pool_refill(assay__worker_problem *w, size_t at, size_t set)
{
    const size_t bytes = (size_t)w->in.total;

    ASSAY_TRY(assay__worker_place(w, set));
    if (w->pool->apart != NULL)
        return assay__apart_pool_refill(w, w->pool, at);
    char *inputs = w->pool->inputs + at * bytes;
    if (mprotect(inputs, bytes, PROT_READ | PROT_WRITE) != 0)
        return assay__fail(ASSAY_INTERNAL, "cannot write to the inputs");
    assay__cold_copy(inputs, w->inputs, bytes);
    if (mprotect(inputs, bytes, PROT_READ) != 0)
        return assay__fail(ASSAY_INTERNAL, "cannot protect the inputs");
    return ASSAY_OK;
}

bool assay__worker_output_is(const void *output, size_t bytes, const char *expected)
{
    char digest[20];

    (void)snprintf(digest, sizeof digest, "%016" PRIx64, assay__xxh64(output, bytes));
    return strcmp(digest, expected) == 0;
}

/* Of timed outputs so much is looked at: a share of what the calls themselves took. */
#define LOOKED_BYTES ((size_t)16 << 20)

assay_status assay__worker_pool_poison(assay__worker_problem *w, size_t at)
{
    if (w->pool->apart != NULL)
        return assay__apart_pool_poison(w, w->pool, at);
    poison(w, w->pool, at);
    return ASSAY_OK;
}

assay_status assay__worker_pool_output(const assay__worker_problem *w, size_t at, char **out)
{
    if (w->pool->apart != NULL)
        return assay__apart_pool_output(w, w->pool, at, out);
    *out = w->pool->outputs + at * (size_t)w->out.total;
    return ASSAY_OK;
}

/* What comes back of a device brings its canaries along, which the parent looks at. */
static void show(assay__worker_problem *w, const char *output)
{
    if (w->pool->apart != NULL)
        memcpy(w->output, output, (size_t)w->out.total);
    else
        memcpy((char *)w->output + w->out.offset, output + w->out.offset, (size_t)w->out.bytes);
}

/* The output of set `at`; is it the expected one? */
static assay_status look(assay__worker_problem *w, size_t at, const char *expected, char **output,
                         bool *as_expected)
{
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_fetch);

    ASSAY_TRY(assay__worker_pool_output(w, at, output));
    (void)assay__phases_go(&w->phases, ASSAY__PHASE_hash);
    if (expected != NULL)
        *as_expected =
            assay__worker_output_is(*output + w->out.offset, (size_t)w->out.bytes, expected);
    (void)assay__phases_go(&w->phases, from);
    return ASSAY_OK;
}

static assay_status look_at_inputs(assay__worker_problem *w, size_t at, size_t used)
{
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_inputs);

    ASSAY_TRY(assay__worker_place(w, 0)); /* another set may have been run since */
    ASSAY_TRY(assay__apart_pool_intact(w, w->pool, at, used));
    (void)assay__phases_go(&w->phases, from);
    return ASSAY_OK;
}

/* The newest of the first `used` outputs whose digest is not `wanted`, as calls went round from
 * `last` backwards; `used`: all have it. */
static assay_status find_other(const assay__worker_problem *w, size_t last, size_t used,
                               uint64_t wanted, size_t *out)
{
    uint64_t *digests = malloc(used * sizeof *digests);
    size_t i = 0;

    if (digests == NULL)
        return assay__fail(ASSAY_NOMEM, "digests of %zu outputs", used);
    const assay_status status = assay__apart_pool_digests(w, w->pool, used, digests);
    while (status == ASSAY_OK && i < used && digests[(last + used - i) % used] == wanted)
        i++;
    *out = i < used ? (last + used - i) % used : used;
    free(digests);
    return status;
}

/* *other: as bring_output wants it. */
static assay_status show_by_digest(assay__worker_problem *w, size_t last, size_t used,
                                   assay__worker_shown *shown, size_t *other)
{
    if (w->pool->apart == NULL || !shown->has_far || shown->expected == NULL)
        return ASSAY_OK;
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_hash);
    const assay_status status = find_other(w, last, used, shown->far, other);
    (void)assay__phases_go(&w->phases, from);
    if (status != ASSAY_OK) {
        *other = used;
        return status == ASSAY_UNSUPPORTED ? ASSAY_OK : status;
    }
    shown->as_expected = *other == used;
    shown->is_there = !shown->as_expected;
    return ASSAY_OK;
}

/* The device's digest of the last output, which is here and as expected, for the next time: if it
 * is that of the host. */
static assay_status find_far(assay__worker_problem *w, size_t last, const char *output,
                             assay__worker_shown *shown)
{
    shown->has_far = false;
    if (w->pool->apart == NULL || !shown->as_expected)
        return ASSAY_OK;
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_hash);
    uint64_t *digests = malloc((last + 1) * sizeof *digests);
    if (digests == NULL)
        return assay__fail(ASSAY_NOMEM, "digests of %zu outputs", last + 1);
    const assay_status status = assay__apart_pool_digests(w, w->pool, last + 1, digests);
    if (status == ASSAY_OK) {
        shown->far = digests[last];
        shown->has_far = digests[last] == assay__word_digest(output, (size_t)w->out.total);
    }
    free(digests);
    (void)assay__phases_go(&w->phases, from);
    return status == ASSAY_UNSUPPORTED ? ASSAY_OK : status;
}

/* From the newest backwards, or from `other` if that is below `used` and known to be another, the
 * first output that is not the expected one; else the last. */
static assay_status bring_output(assay__worker_problem *w, size_t last, size_t used, size_t other,
                                 assay__worker_shown *shown)
{
    const size_t bytes = (size_t)w->out.bytes, first = other < used ? other : last;
    size_t looked = 0;
    char *output;

    shown->as_expected = shown->expected != NULL;
    for (size_t i = 0; shown->as_expected && i < used && i * bytes <= LOOKED_BYTES; i++, looked++)
        ASSAY_TRY(
            look(w, (first + used - i) % used, shown->expected, &output, &shown->as_expected));
    /* Of a large one that came from a device it is here already. */
    if (shown->expected == NULL || (shown->as_expected && looked > 1))
        ASSAY_TRY(look(w, last, NULL, &output, &shown->as_expected));
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_fetch);
    show(w, output);
    (void)assay__phases_go(&w->phases, from);
    return find_far(w, last, output, shown);
}

/* Of a timed run goes back what will be judged: the first of its newest outputs that is not the
 * expected one, which all must be since all had the same inputs; else the last.  Of calls that read
 * their output each had another. */
assay_status assay__worker_pool_show(assay__worker_problem *w, size_t sets, size_t calls,
                                     assay__worker_shown *shown)
{
    const size_t last = (calls - 1) % sets, used = calls < sets ? calls : sets;
    size_t other = used;

    if (assay__reads_output(&w->problem))
        shown->expected = NULL;
    shown->is_there = true;
    ASSAY_TRY(show_by_digest(w, last, used, shown, &other));
    if (shown->is_there)
        ASSAY_TRY(bring_output(w, last, used, other, shown));
    return w->pool->apart == NULL ? ASSAY_OK : look_at_inputs(w, last, used);
}

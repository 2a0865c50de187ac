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
#include "tuner/cold.h"
#include "tuner/worker.h"

#define MAX_SETS ASSAY__WORKER_POOL_SETS

void assay__worker_pool_clear(assay__worker_pool **p)
{
    assay__worker_pool *q = *p;

    if (q == NULL)
        return;
    if (q->inputs != NULL)
        munmap(q->inputs, q->input_bytes);
    if (q->outputs != NULL)
        munmap(q->outputs, q->output_bytes);
    free(q->operands);
    free(q->launches);
    free(q);
    *p = NULL;
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

assay_status assay__worker_pool_make(assay__worker_problem *w, double rotate_bytes)
{
    assay__worker_pool *p = calloc(1, sizeof *p);

    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "operand sets");
    w->pool = p;
    p->sets = set_count(w, rotate_bytes);
    p->input_bytes = (size_t)w->in.total * p->sets;
    p->output_bytes = (size_t)w->out.total * p->sets;
    p->operands = calloc(p->sets * w->problem.dtype_count, sizeof *p->operands);
    p->launches = calloc(p->sets, sizeof *p->launches);
    p->inputs = map_bytes(w, 0, p->input_bytes);
    p->outputs = map_bytes(w, p->input_bytes, p->output_bytes);
    if (p->inputs != NULL && p->outputs != NULL && p->operands != NULL && p->launches != NULL)
        return ASSAY_OK;
    const size_t bytes = p->input_bytes + p->output_bytes;
    assay__worker_pool_clear(&w->pool);
    return assay__fail(ASSAY_NOMEM, "%zu bytes to rotate over", bytes);
}

/* The first `sets` sets: fresh poison in every output, launches of this kernel.  No cache holds an
 * output then. */
assay_status assay__worker_pool_aim(assay__worker_problem *w, const assay__worker_kernel *k,
                                    size_t sets)
{
    assay__worker_pool *p = w->pool;
    size_t operands = w->problem.dtype_count;

    ASSAY_TRY(fill(p, w, sets));
    for (size_t i = 0; i < sets; i++) {
        char *output = p->outputs + i * w->out.total;
        assay__output_poison(output, &w->out, (assay_dtype)w->problem.dtypes[operands - 1]);
        if (assay__reads_output(&w->problem))
            assay__cold_copy(output + w->out.offset,
                             p->inputs + i * w->in.total + w->in.offset[w->in.count - 1],
                             (size_t)w->out.bytes);
        p->launches[i] = (assay_launch){.struct_size = sizeof(assay_launch),
                                        .operand_count = (uint32_t)operands,
                                        .problem = &w->problem,
                                        .operands = p->operands + i * operands,
                                        .tunables = k->tunables,
                                        .instance = k->backend->instance};
    }
    return ASSAY_OK;
}

/* Whoever stayed before has left more or less of the inputs in the caches, the first stay of a
 * worker what its warm-up read: each begins with all of them in memory, as they are once made. */
double assay__worker_pool_cool(const assay__worker_problem *w, size_t sets)
{
    assay__worker_pool *p = w->pool;
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
    char *inputs = w->pool->inputs + at * (size_t)w->in.total;
    const size_t bytes = (size_t)w->in.total;

    ASSAY_TRY(assay__worker_place(w, set));
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

/* Of a timed run goes back what will be judged: the first of its newest outputs that is not the
 * expected one, which all must be since all had the same inputs; else the last.  Of calls that read
 * their output each had another. */
const void *assay__worker_pool_shown(const assay__worker_problem *w, const assay__worker_pool *p,
                                     size_t calls, const char *expected, bool *as_expected)
{
    const size_t last = (calls - 1) % p->sets, used = calls < p->sets ? calls : p->sets;
    const size_t bytes = (size_t)w->out.bytes, operand = w->problem.dtype_count - 1u;

    if (assay__reads_output(&w->problem))
        expected = NULL;
    *as_expected = false;
    for (size_t i = 0; expected != NULL && i < used && i * bytes <= LOOKED_BYTES; i++) {
        const assay_launch *launch = &p->launches[(last + p->sets - i) % p->sets];
        const void *output = assay_tensor_data(&launch->operands[operand]);
        if (!assay__worker_output_is(output, bytes, expected))
            return output;
    }
    *as_expected = expected != NULL;
    return assay_tensor_data(&p->launches[last].operands[operand]);
}

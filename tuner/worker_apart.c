/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_apart.c -- see worker_apart.h. */
#include "tuner/worker_apart.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/word_digest.h"

#define BUFFER_ALIGN 4096u /* phases of operands count from there, as from a page of the host's */
#define LOOK_BYTES   ((size_t)4 << 20)
#define CACHE_TIMES  4.0 /* the last cache */

assay_status assay__worker_is_apart(const assay__backend *backend, bool *out)
{
    assay_device_profile profile = {.struct_size = sizeof profile};
    const assay_status status = assay__backend_device_profile(backend, 0, &profile);

    if (status == ASSAY_NOMEM || status == ASSAY_DEVICE_LOST)
        return status;
    if (status != ASSAY_OK)
        return assay__fail_context(ASSAY_UNAVAILABLE, "the device does not say what it is");
    *out = assay__profile_is_apart(&profile);
    return ASSAY_OK;
}

assay_status assay__worker_apart_ready(assay__worker_problem *w, const assay__backend *backend)
{
    if (w->is_ready)
        return ASSAY_OK;
    const assay_status status = assay__backend_prepare(backend);
    w->is_ready = status == ASSAY_OK;
    /* Lost it can only be by a kernel of the problem before. */
    if (status == ASSAY_OK || status == ASSAY_NOMEM || status == ASSAY_DEVICE_LOST)
        return status;
    return assay__fail_context(ASSAY_UNAVAILABLE, "the device cannot be used");
}

assay_status assay__worker_blame(const assay__backend *backend, assay_status status)
{
    assay_device_profile profile = {.struct_size = sizeof profile};

    if (status != ASSAY_NOMEM)
        return assay__backend_blame(status);
    /* Nobody is blamed where the device does not say what it is. */
    return assay__backend_device_profile(backend, 0, &profile) == ASSAY_OK &&
                   !assay__profile_is_apart(&profile)
               ? assay__backend_blame(status)
               : status;
}

/* ---- moving ---- */

static assay_status put(const assay__backend *b, assay_buffer to, uint64_t offset, const void *from,
                        uint64_t bytes)
{
    const assay_transfer piece = {
        .buffer = to, .offset = offset, .host = (void *)(uintptr_t)from, .bytes = bytes};

    return assay__backend_upload(b, &piece, 1);
}

static assay_status get(const assay__backend *b, assay_buffer from, uint64_t offset, void *to,
                        uint64_t bytes)
{
    const assay_transfer piece = {.buffer = from, .offset = offset, .host = to, .bytes = bytes};

    return assay__backend_download(b, &piece, 1);
}

/* The first of `sets` pieces of so many bytes into all of them, twice as many with each copy. */
static assay_status spread(const assay__backend *b, assay_buffer buffer, uint64_t bytes,
                           uint64_t sets)
{
    for (uint64_t have = 1; have < sets;) {
        const uint64_t more = have < sets - have ? have : sets - have;
        ASSAY_TRY(assay__backend_copy(b, buffer, have * bytes, buffer, 0, more * bytes));
        have += more;
    }
    return ASSAY_OK;
}

/* Is what lies there still what the host has? */
static assay_status compare(const assay__backend *b, assay_buffer buffer, uint64_t offset,
                            const char *expected, uint64_t bytes, char *room, size_t room_bytes)
{
    for (uint64_t at = 0; at < bytes; at += room_bytes) {
        const uint64_t some = bytes - at < room_bytes ? bytes - at : room_bytes;
        ASSAY_TRY(get(b, buffer, offset + at, room, some));
        if (memcmp(room, expected + at, (size_t)some) != 0)
            return assay__fail(ASSAY_DEVICE, "the kernel wrote to its inputs");
    }
    return ASSAY_OK;
}

static assay_status compare_all(const assay__worker_problem *w, const assay__backend *b,
                                assay_buffer inputs, uint64_t offset)
{
    const size_t bytes = (size_t)w->in.total < LOOK_BYTES ? (size_t)w->in.total : LOOK_BYTES;
    char *room = malloc(bytes);

    if (room == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu bytes to look at inputs", bytes);
    assay_status status = compare(b, inputs, offset, w->inputs, w->in.total, room, bytes);
    free(room);
    return status;
}

/* What the host says of the inputs in place. */
static uint64_t digest_here(assay__worker_problem *w)
{
    const size_t set = w->placed;

    if (!w->has_digest[set])
        w->input_digest[set] = assay__word_digest(w->inputs, (size_t)w->in.total);
    w->has_digest[set] = true;
    return w->input_digest[set];
}

static assay_status digests_of(const assay__backend *b, assay_buffer buffer, uint64_t bytes,
                               size_t sets, uint64_t *out)
{
    if (bytes == 0 || bytes % sizeof *out != 0)
        return assay__fail(ASSAY_UNSUPPORTED, "%llu bytes are no words", (unsigned long long)bytes);
    return assay__backend_digest(b, buffer, 0, bytes, bytes, sets, out);
}

/* Intact are sets whose digest there is that of the host; the first of the others is compared byte
 * by byte, which alone says that one is not.  Where there are no digests that one is `only`. */
static assay_status inputs_intact(assay__worker_problem *w, const assay__backend *b,
                                  assay_buffer inputs, size_t only, size_t sets)
{
    uint64_t *digests = malloc(sets * sizeof *digests);
    size_t bad = 0;

    if (digests == NULL)
        return assay__fail(ASSAY_NOMEM, "digests of %zu input sets", sets);
    const assay_status status = digests_of(b, inputs, w->in.total, sets, digests);
    while (status == ASSAY_OK && bad < sets && digests[bad] == digest_here(w))
        bad++;
    free(digests);
    if (status == ASSAY_OK && bad == sets)
        return ASSAY_OK;
    if (status != ASSAY_OK && status != ASSAY_UNSUPPORTED)
        return status;
    return compare_all(w, b, inputs, (status == ASSAY_OK ? bad : only) * w->in.total);
}

/* Handles instead of addresses: those of set `at`. */
static assay_status operands_of(const assay__worker_problem *w, assay_buffer inputs,
                                assay_buffer outputs, size_t at, assay_tensor *out)
{
    void *addresses[ASSAY_MAX_OPERANDS] = {NULL};
    const size_t last = w->problem.dtype_count - 1u;

    assay__worker_addresses(w, w->inputs, w->output, addresses);
    ASSAY_TRY(assay__tensors_make(&w->problem, addresses, out));
    for (size_t i = 0; i < last; i++) {
        out[i].buffer = inputs;
        out[i].byte_offset = at * w->in.total + w->in.offset[i];
    }
    out[last].buffer = outputs;
    out[last].byte_offset = at * w->out.total + w->out.offset;
    return ASSAY_OK;
}

/* ---- a run by itself ---- */

typedef struct lone {
    assay_buffer inputs, output;
    bool has_inputs, has_output;
} lone;

static assay_status bring(const assay__worker_problem *w, const assay__backend *b, lone *l)
{
    ASSAY_TRY(assay__backend_alloc(b, w->in.total, BUFFER_ALIGN, &l->inputs));
    l->has_inputs = true;
    ASSAY_TRY(assay__backend_alloc(b, w->out.total, BUFFER_ALIGN, &l->output));
    l->has_output = true;
    ASSAY_TRY(put(b, l->inputs, 0, w->inputs, w->in.total));
    return put(b, l->output, 0, w->output, w->out.total);
}

static assay_status launch(const assay__worker_problem *w, const assay__worker_kernel *k,
                           const lone *l)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_status status;

    ASSAY_TRY(operands_of(w, l->inputs, l->output, 0, operands));
    const assay_launch one = {.struct_size = sizeof one,
                              .operand_count = w->problem.dtype_count,
                              .problem = &w->problem,
                              .operands = operands,
                              .tunables = k->tunables,
                              .instance = k->backend->instance,
                              .tunable_count = (uint32_t)k->desc->tunable_count};
    status = assay__backend_launch(k->backend, k->desc->run, &one);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(k->backend);
    return assay__worker_blame(k->backend, status);
}

static assay_status bring_and_run(assay__worker_problem *w, const assay__worker_kernel *k, lone *l)
{
    ASSAY_TRY(assay__worker_apart_ready(w, k->backend));
    ASSAY_TRY(bring(w, k->backend, l));
    ASSAY_TRY(launch(w, k, l));
    ASSAY_TRY(get(k->backend, l->output, 0, w->output, w->out.total));
    return inputs_intact(w, k->backend, l->inputs, 0, 1);
}

assay_status assay__worker_apart_run(assay__worker_problem *w, const assay__worker_kernel *k)
{
    lone l = {.has_inputs = false};
    assay_status status = bring_and_run(w, k, &l);

    /* A lost device takes its buffers along. */
    if (l.has_inputs)
        (void)assay__backend_free(k->backend, l.inputs);
    if (l.has_output)
        (void)assay__backend_free(k->backend, l.output);
    /* Drivers wait for all of the device where memory is freed: what the kernel began beside the
     * stream that it was given shows here, and is still his. */
    return status == ASSAY_OK
               ? assay__worker_blame(k->backend, assay__backend_synchronize(k->backend))
               : status;
}

/* ---- the pool ---- */

static uint64_t last_cache(const assay__backend *b)
{
    assay_device_info info = {.struct_size = sizeof info};

    return assay__backend_device_info(b, 0, &info) == ASSAY_OK ? info.last_cache_bytes : 0;
}

double assay__apart_rotate_bytes(const assay__backend *backend, double otherwise)
{
    const uint64_t cache = last_cache(backend);

    return cache > 0 ? CACHE_TIMES * (double)cache : otherwise;
}

/* Behind the sets of outputs lies one that holds poison, to copy from. */
static assay_status take_memory(const assay__worker_problem *w, assay__worker_pool *p)
{
    ASSAY_TRY(assay__backend_alloc(p->apart, w->in.total * p->sets, BUFFER_ALIGN, &p->far_inputs));
    assay_status status =
        assay__backend_alloc(p->apart, w->out.total * (p->sets + 1), BUFFER_ALIGN, &p->far_outputs);
    if (status != ASSAY_OK)
        (void)assay__backend_free(p->apart, p->far_inputs);
    p->has_far = status == ASSAY_OK;
    return status;
}

/* Kernels need memory of the device, too: more than one set only as far as this share of it goes,
 * where the device tells how much it has.  What a sweep lets through has room for one. */
#define MEMORY_SHARE 0.75

static size_t sets_with_room(const assay__worker_problem *w, const assay__worker_pool *p)
{
    assay_device_info info = {.struct_size = sizeof info};

    if (assay__backend_device_info(p->apart, 0, &info) != ASSAY_OK || info.memory_bytes == 0)
        return p->sets;
    const double each = (double)w->in.total + (double)w->out.total;
    const double room = MEMORY_SHARE * (double)info.memory_bytes - (double)w->out.total;
    const double sets = room / each;

    return sets >= (double)p->sets ? p->sets : sets >= 1 ? (size_t)sets : 1;
}

assay_status assay__apart_pool_make(assay__worker_problem *w, assay__worker_pool *p)
{
    assay_status status;

    p->near_output = malloc((size_t)w->out.total);
    if (p->near_output == NULL)
        return assay__fail(ASSAY_NOMEM, "%llu bytes for an output",
                           (unsigned long long)w->out.total);
    p->sets = sets_with_room(w, p);
    while ((status = take_memory(w, p)) == ASSAY_NOMEM && p->sets > 1)
        p->sets /= 2;
    return status;
}

void assay__apart_pool_clear(assay__worker_pool *p)
{
    if (p->has_far) {
        (void)assay__backend_free(p->apart, p->far_inputs);
        (void)assay__backend_free(p->apart, p->far_outputs);
    }
    if (p->has_scratch)
        (void)assay__backend_free(p->apart, p->scratch);
    free(p->near_output);
}

static assay_status fill_first(assay__worker_problem *w, assay__worker_pool *p)
{
    const size_t last = w->problem.dtype_count - 1u;

    ASSAY_TRY(assay__worker_place(w, 0));
    ASSAY_TRY(put(p->apart, p->far_inputs, 0, w->inputs, w->in.total));
    assay__output_poison(p->near_output, &w->out, (assay_dtype)w->problem.dtypes[last]);
    if (assay__reads_output(&w->problem))
        memcpy(p->near_output + w->out.offset, (char *)w->inputs + w->in.offset[w->in.count - 1],
               (size_t)w->out.bytes);
    return put(p->apart, p->far_outputs, p->sets * w->out.total, p->near_output, w->out.total);
}

assay_status assay__apart_pool_fill(assay__worker_problem *w, assay__worker_pool *p, size_t sets)
{
    const assay__phase from = assay__phases_go(&w->phases, ASSAY__PHASE_sets);
    if (p->filled == 0)
        ASSAY_TRY(fill_first(w, p));
    if (sets > p->filled) {
        /* All from the first: twice as many a copy is a dozen copies at most. */
        ASSAY_TRY(spread(p->apart, p->far_inputs, w->in.total, sets));
        for (size_t i = p->filled; i < sets; i++)
            ASSAY_TRY(operands_of(w, p->far_inputs, p->far_outputs, i,
                                  p->operands + i * w->problem.dtype_count));
        p->filled = sets;
    }
    (void)assay__phases_go(&w->phases, ASSAY__PHASE_poison);
    ASSAY_TRY(assay__apart_pool_poison(w, p, 0));
    ASSAY_TRY(spread(p->apart, p->far_outputs, w->out.total, sets));
    const assay_status status = assay__backend_synchronize(p->apart);
    (void)assay__phases_go(&w->phases, from);
    return status;
}

double assay__apart_pool_cool(const assay__worker_problem *w, assay__worker_pool *p, size_t sets)
{
    const uint64_t bytes = 2 * last_cache(p->apart);

    if (bytes == 0)
        return 0;
    if (!p->has_scratch)
        p->has_scratch =
            assay__backend_alloc(p->apart, bytes, BUFFER_ALIGN, &p->scratch) == ASSAY_OK;
    if (!p->has_scratch ||
        assay__backend_fill(p->apart, p->scratch, 0, bytes, ASSAY__CANARY) != ASSAY_OK ||
        assay__backend_synchronize(p->apart) != ASSAY_OK)
        return 0;
    return (double)sets * ((double)w->in.total + (double)w->out.total);
}

assay_status assay__apart_pool_refill(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at)
{
    return put(p->apart, p->far_inputs, at * w->in.total, w->inputs, w->in.total);
}

assay_status assay__apart_pool_poison(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at)
{
    return assay__backend_copy(p->apart, p->far_outputs, at * w->out.total, p->far_outputs,
                               p->sets * w->out.total, w->out.total);
}

assay_status assay__apart_pool_output(const assay__worker_problem *w, assay__worker_pool *p,
                                      size_t at, char **out)
{
    *out = p->near_output;
    return get(p->apart, p->far_outputs, at * w->out.total, p->near_output, w->out.total);
}

assay_status assay__apart_pool_intact(assay__worker_problem *w, const assay__worker_pool *p,
                                      size_t at, size_t used)
{
    return inputs_intact(w, p->apart, p->far_inputs, at, used);
}

assay_status assay__apart_pool_digests(const assay__worker_problem *w, const assay__worker_pool *p,
                                       size_t used, uint64_t *out)
{
    return digests_of(p->apart, p->far_outputs, w->out.total, used, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_products.c -- a product of square matrices of a device, of zeros and of N(0,1) in
 * turns: how much the data decide what is timed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/tunables.h"
#include "support/json.h"
#include "support/rng.h"
#include "tuner/worker.h"

#define BLOCK  (1 << 18) /* numbers that are drawn; matrices repeat them */
#define ALIGN  256u
#define ROUNDS 32

typedef struct product {
    const assay__backend *backend;
    const assay_kernel_desc *desc;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    assay_problem problem;
    assay_buffer matrices[5]; /* of zeros: two; N(0,1): two; the result */
    size_t held;
    uint64_t bytes; /* of each */
    assay_tensor operands[2][ASSAY_MAX_OPERANDS];
} product;

/* ---- which kernel ---- */

static bool fits(const assay_kernel_desc *k, const assay_problem *p)
{
    return k->op == ASSAY_OP_matmul && k->dtype_count == p->dtype_count &&
           memcmp(k->dtypes, p->dtypes, p->dtype_count) == 0;
}

/* The one of the lowest rank, with its tunables at their defaults. */
static assay_status find_kernel(const assay_manifest *m, product *p)
{
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = assay__manifest_kernel(m, i);
        if (fits(k, &p->problem) && (p->desc == NULL || k->default_rank < p->desc->default_rank))
            p->desc = k;
    }
    if (p->desc == NULL)
        return assay__fail(ASSAY_UNSUPPORTED, "%s has no matmul in %s", m->name,
                           assay_dtype_name((assay_dtype)p->problem.dtypes[0]));
    assay__tunables_default(p->desc, 0, p->tunables);
    if (p->desc->can_run_fn != NULL && !p->desc->can_run_fn(&p->problem, p->tunables))
        return assay__fail(ASSAY_UNSUPPORTED, "%s does not do this product", p->desc->name);
    return ASSAY_OK;
}

/* ---- data ---- */

static void give_back(product *p)
{
    while (p->held > 0)
        (void)assay__backend_free(p->backend, p->matrices[--p->held]);
}

static assay_status take(product *p)
{
    for (; p->held < 5; p->held++)
        ASSAY_TRY(assay__backend_alloc(p->backend, p->bytes, ALIGN, &p->matrices[p->held]));
    for (size_t i = 0; i < 2; i++)
        ASSAY_TRY(assay__backend_fill(p->backend, p->matrices[i], 0, p->bytes, 0));
    return ASSAY_OK;
}

/* The first `have` bytes over and over, twice as many with each copy. */
static assay_status spread(const product *p, assay_buffer to, uint64_t have)
{
    while (have < p->bytes) {
        const uint64_t more = have < p->bytes - have ? have : p->bytes - have;
        ASSAY_TRY(assay__backend_copy(p->backend, to, have, to, 0, more));
        have += more;
    }
    return ASSAY_OK;
}

static assay_status put_block(const product *p, assay_buffer to, const void *block)
{
    const uint64_t each = assay_dtype_bytes((assay_dtype)p->problem.dtypes[0]) * BLOCK;
    const uint64_t first = each < p->bytes ? each : p->bytes;
    void *bytes = malloc((size_t)each);
    assay_status status = bytes != NULL ? assay_convert((assay_dtype)p->problem.dtypes[0], bytes,
                                                        ASSAY_F64, block, BLOCK)
                                        : assay__fail(ASSAY_NOMEM, "numbers of a matrix");
    const assay_transfer piece = {.buffer = to, .host = bytes, .bytes = first};

    if (status == ASSAY_OK)
        status = assay__backend_upload(p->backend, &piece, 1);
    free(bytes);
    return status == ASSAY_OK ? spread(p, to, first) : status;
}

static assay_status draw(product *p, uint64_t seed)
{
    double *block = malloc(BLOCK * sizeof *block);
    assay_status status = ASSAY_OK;
    assay__rng rng;

    if (block == NULL)
        return assay__fail(ASSAY_NOMEM, "numbers of a matrix");
    assay__rng_seed_named(&rng, seed, "products");
    for (size_t m = 2; m < 4 && status == ASSAY_OK; m++) {
        for (size_t i = 0; i < BLOCK; i++)
            block[i] = assay__rng_normal(&rng);
        status = put_block(p, p->matrices[m], block);
    }
    free(block);
    return status;
}

static assay_status place(product *p)
{
    void *none[ASSAY_MAX_OPERANDS] = {NULL};

    for (size_t data = 0; data < 2; data++) {
        ASSAY_TRY(assay__tensors_make(&p->problem, none, p->operands[data]));
        p->operands[data][0].buffer = p->matrices[2 * data];
        p->operands[data][1].buffer = p->matrices[2 * data + 1];
        p->operands[data][2].buffer = p->matrices[4];
    }
    return ASSAY_OK;
}

/* ---- times ---- */

static void on_span(void *cookie, double span_ns, size_t inner)
{
    *(double *)cookie = span_ns / (double)inner;
}

static assay_status time_one(const product *p, size_t data, double *ns)
{
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = p->problem.dtype_count,
                                 .problem = &p->problem,
                                 .operands = p->operands[data],
                                 .tunables = p->tunables,
                                 .instance = p->backend->instance,
                                 .tunable_count = (uint32_t)p->desc->tunable_count};
    const assay_measure what = {.struct_size = sizeof what,
                                .run = p->desc->run,
                                .launches = &launch,
                                .launch_count = 1,
                                .inner = 4,
                                .spans = 1,
                                .cache = ASSAY_CACHE_HOT,
                                .sink = on_span,
                                .cookie = ns};
    assay_clock_info clock;

    *ns = (double)NAN;
    ASSAY_TRY(assay__backend_measure(p->backend, &what, &clock));
    return *ns > 0 ? ASSAY_OK
                   : assay__fail(ASSAY_NUMERIC, "its timer says that a product took %g ns", *ns);
}

/* The first round is nobody's: clocks rise, libraries choose. */
static assay_status time_all(const product *p, size_t rounds, json_t *reply)
{
    json_t *lists[2] = {json_array(), json_array()};
    double ns;

    ASSAY_TRY(assay__json_put_take(reply, "zeros", lists[0]));
    ASSAY_TRY(assay__json_put_take(reply, "random", lists[1]));
    for (size_t i = 0; i <= rounds; i++)
        for (size_t data = 0; data < 2; data++) {
            ASSAY_TRY(time_one(p, data, &ns));
            if (i > 0)
                json_array_append_new(lists[data], json_real(ns));
        }
    return assay__json_put_string(reply, "kernel", p->desc->name);
}

static assay_status make_problem(const json_t *request, product *p)
{
    const json_int_t n = json_integer_value(json_object_get(request, "n"));
    const json_int_t dtype = json_integer_value(json_object_get(request, "dtype"));

    if (dtype < 0 || dtype >= ASSAY_DTYPE_COUNT)
        return assay__fail(ASSAY_INTERNAL, "a product has no dtype");
    ASSAY_TRY(assay_problem_init(ASSAY_OP_matmul, (assay_dtype)dtype, &p->problem));
    ASSAY_TRY(assay_problem_set_int(&p->problem, "m", n));
    ASSAY_TRY(assay_problem_set_int(&p->problem, "n", n));
    ASSAY_TRY(assay_problem_set_int(&p->problem, "k", n));
    p->bytes = (uint64_t)n * (uint64_t)n * assay_dtype_bytes((assay_dtype)dtype);
    return ASSAY_OK;
}

static assay_status run_all(product *p, const json_t *request, json_t *reply)
{
    const size_t rounds = (size_t)json_integer_value(json_object_get(request, "rounds"));

    ASSAY_TRY(take(p));
    ASSAY_TRY(draw(p, (uint64_t)json_integer_value(json_object_get(request, "seed"))));
    ASSAY_TRY(place(p));
    return time_all(p, rounds < ROUNDS ? rounds : ROUNDS, reply);
}

assay_status assay__worker_products(assay__worker_state *s, json_t *request, json_t *reply)
{
    const char *name = json_string_value(json_object_get(request, "backend"));
    assay__plugin *plugin = name != NULL ? assay__plugins_find(s->plugins, name) : NULL;
    product *p = calloc(1, sizeof *p);
    assay_status status = ASSAY_OK;

    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "products");
    if (plugin == NULL)
        status =
            assay__fail(ASSAY_UNAVAILABLE, "backend '%s' is not loaded", name != NULL ? name : "");
    if (status == ASSAY_OK)
        status = assay__plugin_open(plugin);
    if (status == ASSAY_OK)
        status = make_problem(request, p);
    if (status == ASSAY_OK)
        status = find_kernel(plugin->manifest, p);
    if (status == ASSAY_OK) {
        p->backend = &plugin->backend;
        status = run_all(p, request, reply);
        give_back(p);
    }
    free(p);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_ops.c -- typed calls by element, along an axis and by rows. */
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"

/* ---- by element ---- */

typedef struct by_element {
    assay_op_id op;
    size_t n; /* place of the parameter */
} by_element;

#define BY_ELEMENT(op)                           \
    {                                            \
        ASSAY_OP_##op, ASSAY__PARAM_INDEX(op, n) \
    }
static const by_element unary_ops[] = {
    [ASSAY_UNARY_RELU] = BY_ELEMENT(relu), [ASSAY_UNARY_SIGMOID] = BY_ELEMENT(sigmoid),
    [ASSAY_UNARY_TANH] = BY_ELEMENT(tanh), [ASSAY_UNARY_EXP] = BY_ELEMENT(exp),
    [ASSAY_UNARY_LOG] = BY_ELEMENT(log),   [ASSAY_UNARY_SQRT] = BY_ELEMENT(sqrt),
    [ASSAY_UNARY_ABS] = BY_ELEMENT(abs),   [ASSAY_UNARY_NEG] = BY_ELEMENT(neg)};
static const by_element binary_ops[] = {
    [ASSAY_BINARY_ADD] = BY_ELEMENT(add),     [ASSAY_BINARY_SUB] = BY_ELEMENT(sub),
    [ASSAY_BINARY_MUL] = BY_ELEMENT(mul),     [ASSAY_BINARY_DIV] = BY_ELEMENT(div),
    [ASSAY_BINARY_MAX] = BY_ELEMENT(maximum), [ASSAY_BINARY_MIN] = BY_ELEMENT(minimum)};

static assay_status run_elements(assay__typed *t, const by_element *op, assay_dtype dtype,
                                 const assay_place *places, size_t count, int64_t n)
{
    const int64_t said[3] = {(int64_t)op->op, (int64_t)dtype, n};
    assay_tensor operands[3];
    assay__typed_key key;
    assay_problem p;
    assay_status status;

    assay__typed_key_init(&key, t, said, sizeof said);
    if (assay__typed_again(t, &key, places, count, &status))
        return status;
    if (n < 0)
        return assay__fail(ASSAY_INVALID, "%s: n is %lld; it may not be negative", t->entered.what,
                           (long long)n);
    ASSAY_TRY(assay_problem_init(op->op, dtype, &p));
    assay__typed_set(&p, op->n, (assay_value){.i = n});
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(assay__typed_tensor(places[i], dtype, 1, &n, &operands[i]));
    ASSAY_TRY(assay__typed_run(t, &p, operands, count, 0));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

assay_status assay_unary(assay_engine *engine, assay_unary_op op, assay_dtype dtype,
                         assay_place input, assay_place output, int64_t n, assay_call *call)
{
    const assay_place places[2] = {input, output};
    assay__typed t;

    if ((int)op < 0 || (size_t)op >= sizeof unary_ops / sizeof unary_ops[0])
        return assay__fail(ASSAY_INVALID, "unary: no op has number %d", (int)op);
    ASSAY_TRY(assay__typed_begin(&t, engine, "unary", call));
    return assay__typed_end(&t, run_elements(&t, &unary_ops[op], dtype, places, 2, n));
}

assay_status assay_binary(assay_engine *engine, assay_binary_op op, assay_dtype dtype,
                          assay_place a, assay_place b, assay_place output, int64_t n,
                          assay_call *call)
{
    const assay_place places[3] = {a, b, output};
    assay__typed t;

    if ((int)op < 0 || (size_t)op >= sizeof binary_ops / sizeof binary_ops[0])
        return assay__fail(ASSAY_INVALID, "binary: no op has number %d", (int)op);
    ASSAY_TRY(assay__typed_begin(&t, engine, "binary", call));
    return assay__typed_end(&t, run_elements(&t, &binary_ops[op], dtype, places, 3, n));
}

/* ---- along an axis ---- */

static assay_status split_axis(const char *what, const assay_axis_args *a, int64_t out[3])
{
    if (a->shape == NULL || a->rank < 1 || a->rank > ASSAY_MAX_RANK)
        return assay__fail(ASSAY_INVALID, "%s: rank %u with %s shape; it is 1 to %d", what, a->rank,
                           a->shape != NULL ? "a" : "no", ASSAY_MAX_RANK);
    assay_status status = assay_axis_split(a->rank, a->shape, a->axis, out);
    return status == ASSAY_OK ? status : assay__fail_context(status, "%s", what);
}

typedef struct along {
    assay_op_id op;
    size_t outer, axis, inner; /* places of the parameters */
} along;

#define ALONG(op)                                                                   \
    {                                                                               \
        ASSAY_OP_##op, ASSAY__PARAM_INDEX(op, outer), ASSAY__PARAM_INDEX(op, axis), \
            ASSAY__PARAM_INDEX(op, inner)                                           \
    }
static const along reduce_ops[] = {[ASSAY_REDUCE_SUM] = ALONG(sum_reduce),
                                   [ASSAY_REDUCE_MAX] = ALONG(max_reduce),
                                   [ASSAY_REDUCE_MIN] = ALONG(min_reduce),
                                   [ASSAY_REDUCE_MEAN] = ALONG(mean_reduce)};
static const along softmax_op = ALONG(softmax);

static assay_status run_along(assay__typed *t, const along *op, const assay_axis_args *a,
                              const int64_t e[3], bool keeps)
{
    const int64_t reduced[2] = {e[0], e[2]};
    const int64_t said[5] = {(int64_t)op->op, (int64_t)a->dtype, e[0], e[1], e[2]};
    const assay_place places[2] = {a->input, a->output};
    assay_tensor operands[2];
    assay__typed_key key;
    assay_problem p;
    assay_status status;

    assay__typed_key_init(&key, t, said, sizeof said);
    if (assay__typed_again(t, &key, places, 2, &status))
        return status;

    ASSAY_TRY(assay_problem_init(op->op, a->dtype, &p));
    assay__typed_set(&p, op->outer, (assay_value){.i = e[0]});
    assay__typed_set(&p, op->axis, (assay_value){.i = e[1]});
    assay__typed_set(&p, op->inner, (assay_value){.i = e[2]});
    ASSAY_TRY(assay__typed_tensor(a->input, a->dtype, 3, e, &operands[0]));
    ASSAY_TRY(
        assay__typed_tensor(a->output, a->dtype, keeps ? 3 : 2, keeps ? e : reduced, &operands[1]));
    ASSAY_TRY(assay__typed_run(t, &p, operands, 2, 0));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

static assay_status run_reduce(assay__typed *t, assay_reduce_op op, const assay_axis_args *a)
{
    int64_t extents[3];

    ASSAY_TRY(split_axis("reduce", a, extents));
    return run_along(t, &reduce_ops[op], a, extents, false);
}

assay_status assay_reduce(assay_engine *engine, assay_reduce_op op, const assay_axis_args *args,
                          assay_call *call)
{
    assay_axis_args a;
    assay__typed t;

    if ((int)op < 0 || (size_t)op >= sizeof reduce_ops / sizeof reduce_ops[0])
        return assay__fail(ASSAY_INVALID, "reduce: no op has number %d", (int)op);
    ASSAY_TRY(assay__typed_args("reduce", args, sizeof a, &a));
    ASSAY_TRY(assay__typed_begin(&t, engine, "reduce", call));
    return assay__typed_end(&t, run_reduce(&t, op, &a));
}

/* The last axis has kernels of its own. */
static assay_status run_last(assay__typed *t, const assay_axis_args *a, const int64_t *e)
{
    const int64_t said[4] = {(int64_t)ASSAY_OP_softmax_last_dim, (int64_t)a->dtype, e[0], e[1]};
    const assay_place places[2] = {a->input, a->output};
    assay_tensor operands[2];
    assay__typed_key key;
    assay_problem p;
    assay_status status;

    assay__typed_key_init(&key, t, said, sizeof said);
    if (assay__typed_again(t, &key, places, 2, &status))
        return status;
    ASSAY_TRY(assay_problem_init(ASSAY_OP_softmax_last_dim, a->dtype, &p));
    ASSAY__SET_INT(&p, softmax_last_dim, rows, e[0]);
    ASSAY__SET_INT(&p, softmax_last_dim, cols, e[1]);
    ASSAY_TRY(assay__typed_tensor(a->input, a->dtype, 2, e, &operands[0]));
    ASSAY_TRY(assay__typed_tensor(a->output, a->dtype, 2, e, &operands[1]));
    ASSAY_TRY(assay__typed_run(t, &p, operands, 2, 0));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

static assay_status run_softmax(assay__typed *t, const assay_axis_args *a)
{
    int64_t extents[3];

    ASSAY_TRY(split_axis("softmax", a, extents));
    return extents[2] != 1 ? run_along(t, &softmax_op, a, extents, true) : run_last(t, a, extents);
}

assay_status assay_softmax(assay_engine *engine, const assay_axis_args *args, assay_call *call)
{
    assay_axis_args a;
    assay__typed t;

    ASSAY_TRY(assay__typed_args("softmax", args, sizeof a, &a));
    ASSAY_TRY(assay__typed_begin(&t, engine, "softmax", call));
    return assay__typed_end(&t, run_softmax(&t, &a));
}

/* ---- by rows ---- */

/* All of them before anything is written. */
static assay_status check_indices(const char *what, const assay_rows_args *a)
{
    if (a->count < 0 || a->rows < 0 || a->cols < 0)
        return assay__fail(ASSAY_INVALID,
                           "%s: count %lld, rows %lld, cols %lld: none may be "
                           "negative",
                           what, (long long)a->count, (long long)a->rows, (long long)a->cols);
    if (a->indices == NULL && a->count > 0)
        return assay__fail(ASSAY_INVALID, "%s: no indices, but a count of %lld", what,
                           (long long)a->count);
    for (int64_t i = 0; i < a->count; i++)
        if (a->indices[i] < 0 || a->indices[i] >= a->rows)
            return assay__fail(ASSAY_INVALID, "%s: index %lld is row %lld of %lld", what,
                               (long long)i, (long long)a->indices[i], (long long)a->rows);
    return ASSAY_OK;
}

typedef struct by_rows {
    assay_op_id op;
    size_t rows, cols, n;
    bool table_first; /* the input is the table, else the output is */
} by_rows;

static const by_rows gather_op = {ASSAY_OP_gather, ASSAY__PARAM_INDEX(gather, rows),
                                  ASSAY__PARAM_INDEX(gather, cols), ASSAY__PARAM_INDEX(gather, n),
                                  true};
static const by_rows scatter_op = {ASSAY_OP_scatter, ASSAY__PARAM_INDEX(scatter, rows),
                                   ASSAY__PARAM_INDEX(scatter, cols),
                                   ASSAY__PARAM_INDEX(scatter, n), false};

/* The list belongs to the caller, and a kernel only reads it. */
static void *unconst(const int64_t *indices)
{
    static int64_t none;
    union {
        const int64_t *read;
        void *write;
    } p = {indices != NULL ? indices : &none};

    return p.write;
}

/* Onto a device that does not reach the list. */
static assay_status bring_indices(assay__typed *t, const assay_rows_args *a, assay_tensor *out)
{
    const assay__backend *backend = &t->engine->backend;
    const uint64_t bytes = (uint64_t)a->count * sizeof *a->indices;
    assay_buffer buffer;

    ASSAY_TRY(assay__backend_alloc(backend, bytes, 64, &buffer));
    const assay_transfer piece = {.buffer = buffer, .host = unconst(a->indices), .bytes = bytes};
    assay_status status = assay__backend_upload(backend, &piece, 1);
    if (status != ASSAY_OK) {
        (void)assay__backend_free(backend, buffer);
        return status;
    }
    out->buffer = buffer;
    assay__typed_note_transfer(t, a->indices, 1, bytes, true);
    return ASSAY_OK;
}

static assay_status run_indexed(assay__typed *t, const assay_problem *p, const assay_rows_args *a,
                                assay_tensor operands[3])
{
    if (assay__engine_needs(t->engine, ASSAY_FEATURE_UNIFIED_MEMORY) == ASSAY_OK)
        return assay__typed_run(t, p, operands, 3, 0);
    ASSAY_TRY(bring_indices(t, a, &operands[1]));
    assay_status status = assay__typed_run(t, p, operands, 3, 0);
    (void)assay__backend_free(&t->engine->backend, operands[1].buffer);
    return status;
}

static assay_status run_rows(assay__typed *t, const by_rows *op, const assay_rows_args *a)
{
    const assay_dtype tuple[3] = {a->dtype, ASSAY_I64, a->dtype};
    const int64_t table[2] = {a->rows, a->cols}, some[2] = {a->count, a->cols};
    assay_tensor operands[3];
    assay_problem p;

    ASSAY_TRY(check_indices(t->entered.what, a));
    if (t->call.queue != NULL)
        return assay__fail(ASSAY_UNSUPPORTED, "%s: not in a queue: the indices are the caller's",
                           t->entered.what);
    if (a->count == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay_problem_init_tuple(op->op, tuple, 3, &p));
    assay__typed_set(&p, op->rows, (assay_value){.i = a->rows});
    assay__typed_set(&p, op->cols, (assay_value){.i = a->cols});
    assay__typed_set(&p, op->n, (assay_value){.i = a->count});
    ASSAY_TRY(
        assay__typed_tensor(a->input, a->dtype, 2, op->table_first ? table : some, &operands[0]));
    ASSAY_TRY(assay_tensor_host(unconst(a->indices), ASSAY_I64, 1, &a->count, NULL, &operands[1]));
    ASSAY_TRY(
        assay__typed_tensor(a->output, a->dtype, 2, op->table_first ? some : table, &operands[2]));
    return run_indexed(t, &p, a, operands);
}

static assay_status call_rows(assay_engine *engine, const char *what, const by_rows *op,
                              const assay_rows_args *args, assay_call *call)
{
    assay_rows_args a;
    assay__typed t;

    ASSAY_TRY(assay__typed_args(what, args, sizeof a, &a));
    ASSAY_TRY(assay__typed_begin(&t, engine, what, call));
    return assay__typed_end(&t, run_rows(&t, op, &a));
}

assay_status assay_gather(assay_engine *engine, const assay_rows_args *args, assay_call *call)
{
    return call_rows(engine, "gather", &gather_op, args, call);
}

assay_status assay_scatter(assay_engine *engine, const assay_rows_args *args, assay_call *call)
{
    return call_rows(engine, "scatter", &scatter_op, args, call);
}

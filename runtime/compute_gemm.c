/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_gemm.c -- typed products: gemm, batched, of mixed precision.
 *
 * The catalogue's matmul is row-major.  A column-major matrix is the row-major one of its
 * transpose, and C^T = op(B)^T op(A)^T: so A and B change places, and their transposes stay as
 * they are. */
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"

/* One operand as it lies in memory: lines one after the other, `ld` elements apart. */
typedef struct matrix {
    const char *name; /* "a", for texts */
    assay_place place;
    int64_t lines, line; /* how many, and elements each */
    int64_t ld, stride;
} matrix;

/* In row-major terms. */
typedef struct product {
    assay_problem problem;
    assay_tensor operands[3];
    assay_batched_gemm_args args;
} product;

static assay_status check_enums(const char *what, const assay_gemm_args *g)
{
    if (g->order != ASSAY_COLUMN_MAJOR && g->order != ASSAY_ROW_MAJOR)
        return assay__fail(ASSAY_INVALID, "%s: order %d is neither column- nor row-major", what,
                           (int)g->order);
    if ((int)g->trans_a < 0 || (int)g->trans_a > ASSAY_CONJ_TRANS || (int)g->trans_b < 0 ||
        (int)g->trans_b > ASSAY_CONJ_TRANS)
        return assay__fail(ASSAY_INVALID, "%s: trans_a %d, trans_b %d: a transpose is 0, 1 or 2",
                           what, (int)g->trans_a, (int)g->trans_b);
    if (g->m < 0 || g->n < 0 || g->k < 0)
        return assay__fail(ASSAY_INVALID, "%s: m=%lld n=%lld k=%lld: none may be negative", what,
                           (long long)g->m, (long long)g->n, (long long)g->k);
    return ASSAY_OK;
}

static assay_status check_matrix(const char *what, const matrix *x)
{
    const int64_t least = x->line > 1 ? x->line : 1;

    if (x->ld < least)
        return assay__fail(
            ASSAY_INVALID, "%s: ld%s is %lld; a line of %s has %lld elements, give at least %lld",
            what, x->name, (long long)x->ld, x->name, (long long)x->line, (long long)least);
    return ASSAY_OK;
}

static assay_status place_matrix(const matrix *x, assay_dtype dtype, int64_t batch,
                                 assay_tensor *out)
{
    const int64_t dims[3] = {batch, x->lines, x->line}, strides[3] = {x->stride, x->ld, 1};

    ASSAY_TRY(assay_tensor_host(NULL, dtype, 3, dims, strides, out));
    out->buffer = x->place.buffer;
    out->byte_offset = x->place.byte_offset;
    return ASSAY_OK;
}

/* A and B change places for column-major; C is named by what it is then. */
static void as_rows(const assay_batched_gemm_args *b, assay_batched_gemm_args *out)
{
    const assay_gemm_args *g = &b->one;

    *out = *b;
    if (g->order == ASSAY_ROW_MAJOR)
        return;
    out->one.m = g->n;
    out->one.n = g->m;
    out->one.a = g->b;
    out->one.b = g->a;
    out->one.lda = g->ldb;
    out->one.ldb = g->lda;
    out->one.trans_a = g->trans_b;
    out->one.trans_b = g->trans_a;
    out->stride_a = b->stride_b;
    out->stride_b = b->stride_a;
}

/* The three as they lie; `rows` is in row-major terms, names are the caller's. */
static void lay_out(const assay_batched_gemm_args *rows, bool swapped, matrix out[3])
{
    const assay_gemm_args *g = &rows->one;
    const bool ta = g->trans_a != ASSAY_NO_TRANS, tb = g->trans_b != ASSAY_NO_TRANS;

    out[0] = (matrix){swapped ? "b" : "a", g->a,   ta ? g->k : g->m,
                      ta ? g->m : g->k,    g->lda, rows->stride_a};
    out[1] = (matrix){swapped ? "a" : "b", g->b,   tb ? g->n : g->k,
                      tb ? g->k : g->n,    g->ldb, rows->stride_b};
    out[2] = (matrix){"c", g->c, g->m, g->n, g->ldc, rows->stride_c};
}

static assay_status check_batch(const char *what, const assay_batched_gemm_args *b)
{
    if (b->batch_count < 0)
        return assay__fail(ASSAY_INVALID, "%s: batch_count is %lld; it may not be negative", what,
                           (long long)b->batch_count);
    if (b->batch_count > 1 && b->stride_c == 0 && b->one.m > 0 && b->one.n > 0)
        return assay__fail(ASSAY_INVALID,
                           "%s: stride_c is 0: all products would write one C; give each its own",
                           what);
    return ASSAY_OK;
}

static assay_status init_problem(const assay_gemm_args *g, assay_dtype of_inputs, int64_t batch,
                                 assay_problem *p)
{
    const assay_dtype tuple[3] = {of_inputs, of_inputs, g->dtype};

    ASSAY_TRY(assay_problem_init_tuple(ASSAY_OP_matmul, tuple, 3, p));
    ASSAY__SET_INT(p, matmul, batch, batch);
    ASSAY__SET_INT(p, matmul, m, g->m);
    ASSAY__SET_INT(p, matmul, n, g->n);
    ASSAY__SET_INT(p, matmul, k, g->k);
    ASSAY__SET_INT(p, matmul, trans_a, (int64_t)g->trans_a);
    ASSAY__SET_INT(p, matmul, trans_b, (int64_t)g->trans_b);
    ASSAY__SET_REAL(p, matmul, alpha, g->alpha);
    ASSAY__SET_REAL(p, matmul, beta, g->beta);
    return ASSAY_OK;
}

/* of_inputs: what A and B are stored as when the kernel sees them. */
static assay_status make_product(const char *what, const assay_batched_gemm_args *b,
                                 assay_dtype of_inputs, product *out)
{
    matrix x[3];

    ASSAY_TRY(check_enums(what, &b->one));
    ASSAY_TRY(check_batch(what, b));
    as_rows(b, &out->args);
    lay_out(&out->args, b->one.order == ASSAY_COLUMN_MAJOR, x);
    for (int i = 0; i < 3; i++) {
        ASSAY_TRY(check_matrix(what, &x[i]));
        ASSAY_TRY(place_matrix(&x[i], i < 2 ? of_inputs : b->one.dtype, b->batch_count,
                               &out->operands[i]));
    }
    return init_problem(&out->args.one, of_inputs, b->batch_count, &out->problem);
}

/* ---- gemm ---- */

static void make_key(const assay__typed *t, const assay_batched_gemm_args *b, assay__typed_key *key)
{
    assay_batched_gemm_args said;

    memcpy(&said, b, sizeof said); /* with what lies between its fields */
    memset(&said.one.a, 0, sizeof said.one.a);
    memset(&said.one.b, 0, sizeof said.one.b);
    memset(&said.one.c, 0, sizeof said.one.c);
    assay__typed_key_init(key, t, &said, sizeof said);
}

static assay_status run_gemm(assay__typed *t, const char *what, const assay_batched_gemm_args *b)
{
    const bool swapped = b->one.order == ASSAY_COLUMN_MAJOR;
    const assay_place places[3] = {swapped ? b->one.b : b->one.a, swapped ? b->one.a : b->one.b,
                                   b->one.c};
    assay__typed_key key;
    assay_status status;
    product p;

    make_key(t, b, &key);
    if (assay__typed_again(t, &key, places, 3, &status))
        return status;
    ASSAY_TRY(make_product(what, b, b->one.dtype, &p));
    ASSAY_TRY(assay__typed_run(t, &p.problem, p.operands, 3, 0));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

assay_status assay_gemm(assay_engine *engine, const assay_gemm_args *args, assay_call *call)
{
    assay_batched_gemm_args b = {.batch_count = 1};
    assay__typed t;

    ASSAY_TRY(assay__typed_args("gemm", args, sizeof b.one, &b.one));
    ASSAY_TRY(assay__typed_begin(&t, engine, "gemm", call));
    return assay__typed_end(&t, run_gemm(&t, "gemm", &b));
}

/* ---- batched ---- */

static bool no_kernel(assay_status status)
{
    return status == ASSAY_UNSUPPORTED || status == ASSAY_NO_ROUTE;
}

/* One after the other, in order; the first that fails ends it, those before are written. */
static assay_status run_one_by_one(assay__typed *t, const assay_batched_gemm_args *b)
{
    const uint64_t bytes = assay_dtype_bytes(b->one.dtype);

    for (int64_t i = 0; i < b->batch_count; i++) {
        assay_batched_gemm_args one = *b;
        one.batch_count = 1;
        one.one.a.byte_offset += (uint64_t)(i * b->stride_a) * bytes;
        one.one.b.byte_offset += (uint64_t)(i * b->stride_b) * bytes;
        one.one.c.byte_offset += (uint64_t)(i * b->stride_c) * bytes;
        assay_status status = run_gemm(t, "batched_gemm", &one);
        if (status != ASSAY_OK) {
            t->record.failed_item = i;
            return assay__fail_context(status, "batched_gemm: product %lld", (long long)i);
        }
    }
    t->record.ran_on = ASSAY_RAN_EMULATED;
    return ASSAY_OK;
}

static assay_status run_batched(assay__typed *t, const assay_batched_gemm_args *b)
{
    assay_status status = run_gemm(t, "batched_gemm", b);

    return no_kernel(status) && b->batch_count > 1 ? run_one_by_one(t, b) : status;
}

assay_status assay_batched_gemm(assay_engine *engine, const assay_batched_gemm_args *args,
                                assay_call *call)
{
    assay_batched_gemm_args b;
    assay__typed t;

    ASSAY_TRY(assay__typed_args("batched_gemm", args, sizeof b, &b));
    ASSAY_TRY(assay__typed_begin(&t, engine, "batched_gemm", call));
    return assay__typed_end(&t, run_batched(&t, &b));
}

/* ---- mixed precision ---- */

/* Dense, in workspace. */
static assay_status place_dense(assay_buffer space, uint64_t at, assay_dtype dtype, uint32_t rank,
                                const int64_t *dims, assay_tensor *out)
{
    ASSAY_TRY(assay_tensor_host(NULL, dtype, rank, dims, NULL, out));
    out->buffer = space;
    out->byte_offset = at;
    return ASSAY_OK;
}

/* Rounds an input into workspace, dense; `lines` of `line` elements `ld` apart. */
static assay_status round_input(assay__typed *t, const assay_tensor *from, assay_dtype to,
                                assay_buffer space, uint64_t to_at, assay_tensor *out)
{
    const assay_dtype tuple[2] = {ASSAY_F32, to};
    const int64_t n = assay_tensor_elements(from);
    assay_tensor pair[2];
    assay_problem p;

    ASSAY_TRY(place_dense(space, to_at, to, from->rank, from->dims, out));
    ASSAY_TRY(assay_problem_init_tuple(ASSAY_OP_cast, tuple, 2, &p));
    ASSAY__SET_INT(&p, cast, n, n);
    if (assay_tensor_layout(from) == 'c') {
        pair[0] = *from;
        pair[0].rank = 1;
        pair[0].dims[0] = n;
        pair[0].strides[0] = 1;
        ASSAY_TRY(place_dense(space, to_at, to, 1, &n, &pair[1]));
        return assay__typed_run(t, &p, pair, 2, 1);
    }
    for (int64_t line = 0; line < from->dims[1]; line++) {
        const uint64_t at = (uint64_t)(line * from->strides[1]) * sizeof(float);
        const int64_t each = from->dims[2];
        pair[0] = *from;
        pair[0].byte_offset += at;
        pair[0].rank = 1;
        pair[0].dims[0] = each;
        pair[0].strides[0] = 1;
        ASSAY__SET_INT(&p, cast, n, each);
        ASSAY_TRY(place_dense(space, to_at + (uint64_t)(line * each) * assay_dtype_bytes(to), to, 1,
                              &each, &pair[1]));
        ASSAY_TRY(assay__typed_run(t, &p, pair, 2, 1));
    }
    return ASSAY_OK;
}

static size_t rounded_bytes(const assay_tensor *t)
{
    return ((size_t)assay_tensor_elements(t) * 2 + 63) / 64 * 64;
}

/* The inputs rounded, then a product of 16-bit operands into f32. */
static assay_status run_rounded(assay__typed *t, assay_dtype precision, assay_buffer space,
                                product *p)
{
    const bool reads = p->args.one.k > 0 && p->args.one.alpha != 0.0;
    const uint64_t at[2] = {0, rounded_bytes(&p->operands[0])};

    for (int i = 0; i < 2; i++) {
        const assay_tensor from = p->operands[i];
        if (reads)
            ASSAY_TRY(round_input(t, &from, precision, space, at[i], &p->operands[i]));
        else
            ASSAY_TRY(place_dense(space, at[i], precision, 3, from.dims, &p->operands[i]));
        t->record.copied_bytes += reads ? 2 * (uint64_t)assay_tensor_elements(&from) : 0;
    }
    ASSAY_TRY(init_problem(&p->args.one, precision, 1, &p->problem));
    return assay__typed_run(t, &p->problem, p->operands, 3, 0);
}

/* Where the host does not reach the device's memory, workspace is a buffer of the device's. */
static assay_status run_rounded_apart(assay__typed *t, assay_dtype precision, uint64_t bytes,
                                      product *p)
{
    const assay__backend *backend = &t->engine->backend;
    assay_buffer space;

    ASSAY_TRY(assay__backend_alloc(backend, bytes, 64, &space));
    assay_status status = run_rounded(t, precision, space, p);
    const assay_status freed = assay__backend_free(backend, space);
    return status != ASSAY_OK ? status : freed;
}

static assay_status run_mixed(assay__typed *t, assay_dtype precision,
                              const assay_batched_gemm_args *b)
{
    void *memory = NULL;
    product p;

    ASSAY_TRY(make_product("gemm_mixed_precision", b, ASSAY_F32, &p));
    /* All of it before anything is made: the workspace grows with what is asked for. */
    ASSAY_TRY(assay__typed_check(t, &p.problem, p.operands, 3));
    const size_t bytes = rounded_bytes(&p.operands[0]) + rounded_bytes(&p.operands[1]) + 64;
    if (assay__profile_is_apart(&t->engine->profile))
        return run_rounded_apart(t, precision, bytes, &p);
    ASSAY_TRY(assay__typed_workspace(t, bytes, &memory));
    return run_rounded(t, precision, (assay_buffer){.at.host = memory, .size_bytes = bytes}, &p);
}

static assay_status check_mixed(assay_dtype precision, const assay_gemm_args *g,
                                const assay_call *call)
{
    if (precision != ASSAY_F16 && precision != ASSAY_BF16)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "gemm_mixed_precision: operands of %s; there is f16 "
                           "and bf16",
                           assay_dtype_name(precision) != NULL ? assay_dtype_name(precision) : "?");
    if (g->dtype != ASSAY_F32)
        return assay__fail(ASSAY_INVALID, "gemm_mixed_precision: dtype is %s; A, B and C are f32",
                           assay_dtype_name(g->dtype) != NULL ? assay_dtype_name(g->dtype) : "?");
    if (call != NULL && call->queue != NULL)
        return assay__fail(ASSAY_UNSUPPORTED,
                           "gemm_mixed_precision: not in a queue: its workspace is the call's");
    return ASSAY_OK;
}

assay_status assay_gemm_mixed_precision(assay_engine *engine, assay_dtype precision,
                                        const assay_gemm_args *args, assay_call *call)
{
    assay_batched_gemm_args b = {.batch_count = 1};
    assay_call_site own;
    assay__typed t;

    memset(&own, 0, sizeof own);
    ASSAY_TRY(assay__typed_args("gemm_mixed_precision", args, sizeof b.one, &b.one));
    ASSAY_TRY(assay__typed_begin(&t, engine, "gemm_mixed_precision", call));
    const bool has_site = t.call.site != NULL;
    if (!has_site)
        t.call.site = &own;
    assay_status status = check_mixed(precision, &b.one, &t.call);
    if (status == ASSAY_OK)
        status = run_mixed(&t, precision, &b);
    status = assay__typed_end(&t, status);
    if (!has_site)
        assay_call_site_clear(&own);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_calls.c -- rules on typed calls: each agrees with the oracle, or is refused with
 * nothing written. */
#include "conform/conform_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/plugin_set.h"

/* ---- what ran ---- */

const assay_kernel_desc *assay__call_kernel(const assay__conform *c, const assay_execution *record,
                                            const assay_problem *problem)
{
    for (size_t i = 0; i < c->manifest->kernel_count; i++) {
        const assay_kernel_desc *desc = assay__manifest_kernel(c->manifest, i);
        if (desc->op == (assay_op_id)problem->op && desc->dtype_count == problem->dtype_count &&
            memcmp(desc->dtypes, problem->dtypes, desc->dtype_count) == 0 &&
            strcmp(desc->name, record->kernel) == 0)
            return desc;
    }
    return NULL;
}

static bool names_a_kernel(const assay__conform *c, const char *name)
{
    for (size_t i = 0; i < c->manifest->kernel_count; i++)
        if (strcmp(assay__manifest_kernel(c->manifest, i)->name, name) == 0)
            return true;
    return false;
}

static assay__conform_verdict check_record(assay__conform *c, const char *what,
                                           const assay__case *k, const assay_execution *r)
{
    ASSAY__HOLDS(r->struct_size == sizeof *r, "%s: the record's struct_size was changed", what);
    if (k->elements == 0 || r->kernel[0] == '\0') {
        ASSAY__HOLDS(k->elements == 0 || r->launches == 0, "%s: the record names no kernel", what);
        return ASSAY__CONFORM_PASS;
    }
    ASSAY__HOLDS(strcmp(r->backend, c->backend) == 0, "%s: the record says that '%s' ran it", what,
                 r->backend);
    ASSAY__HOLDS(names_a_kernel(c, r->kernel), "%s: the record names '%s', no kernel of its own",
                 what, r->kernel);
    ASSAY__HOLDS(r->launches >= 1, "%s: the record counts no launch", what);
    ASSAY__HOLDS((int)r->ran_on >= 0 && r->ran_on <= ASSAY_RAN_EMULATED,
                 "%s: it ran on %d, not on the device", what, (int)r->ran_on);
    ASSAY__HOLDS(r->failed_item == -1, "%s: the record has a failed item", what);
    return ASSAY__CONFORM_PASS;
}

/* ---- one call ---- */

/* Or none for a device apart, whose workspace the host would have to reach. */
static bool is_no_kernel(assay_status status)
{
    return status == ASSAY_UNSUPPORTED || status == ASSAY_NO_ROUTE;
}

/* Why the first of them did not run. */
static void keep_refusal(assay__conform *c)
{
    if (c->refusal[0] == '\0')
        (void)snprintf(c->refusal, sizeof c->refusal, "%s", assay_last_error());
}

assay__conform_verdict assay__call_end(assay__conform *c)
{
    if (c->calls_ran > 0)
        return ASSAY__CONFORM_PASS;
    return assay__conform_skip(c, "every call was refused, with nothing written: %.400s",
                               c->refusal);
}

static assay__conform_verdict judge_call(assay__conform *c, const assay__call_row *row,
                                         const assay__case *k, const assay_buffer *buffers)
{
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};
    const bool has = assay_engine_supports_op(c->engine, row->op, k->problem.dtypes, k->count);
    const assay_status status = row->run(c->engine, k, buffers, &call);

    if (is_no_kernel(status)) {
        keep_refusal(c);
        ASSAY__HOLDS(!has || status != ASSAY_UNSUPPORTED,
                     "%s: there is a kernel, and the call gave UNSUPPORTED: %.200s", row->name,
                     assay_last_error());
        return assay__case_untouched(c, k, buffers, row->name);
    }
    if (status != ASSAY_OK)
        return assay__conform_wrong_status(c, row->name, status, ASSAY_OK);
    ASSAY__PART(check_record(c, row->name, k, &record));
    c->calls_ran += k->elements > 0 && record.kernel[0] != '\0';
    return assay__case_judge_buffers(c, k, assay__call_kernel(c, &record, &k->problem), buffers,
                                     row->name);
}

static assay__conform_verdict one_case(assay__conform *c, const assay__call_row *row,
                                       const assay_problem *problem, unsigned seed)
{
    assay_buffer buffers[ASSAY_MAX_OPERANDS];
    assay__case k;

    ASSAY__FINE(assay__case_init(c->ref, problem, NULL, ASSAY__CASE_DENSE, seed, &k));
    ASSAY__FINE(assay__case_upload(&k, c->engine, buffers));
    ASSAY__PART(judge_call(c, row, &k, buffers));
    ASSAY__FINE(assay__case_free(&k, c->engine, buffers));
    assay__case_clear(&k);
    return ASSAY__CONFORM_PASS;
}

/* Tuples whose types a typed call can say: floats alike, indices of 64 bits. */
static bool is_callable(assay_op_id op, const assay_dtype *tuple, size_t count)
{
    const bool by_rows = op == ASSAY_OP_gather || op == ASSAY_OP_scatter;

    for (size_t i = 0; i < count; i++) {
        if (by_rows && i == 1 ? tuple[i] != ASSAY_I64 : tuple[i] != tuple[0])
            return false;
    }
    return tuple[0] == ASSAY_F64 || tuple[0] == ASSAY_F32 || tuple[0] == ASSAY_F16 ||
           tuple[0] == ASSAY_BF16;
}

void assay__call_unbatch(assay_problem *p)
{
    if (p->op == ASSAY_OP_matmul)
        (void)assay_problem_set_int(p, "batch", 1);
}

typedef bool (*wanted_fn)(const assay_problem *problem);

static assay__conform_verdict every_case(assay__conform *c, const assay__call_row *row,
                                         wanted_fn wanted)
{
    const assay_op_info *info = assay_op_get(row->op);
    const size_t count = info->inputs + info->outputs;
    assay_dtype tuple[ASSAY_MAX_OPERANDS];
    assay_problem p;

    for (size_t t = 0; assay_op_tuple(row->op, t, tuple); t++) {
        uint8_t dtypes[ASSAY_MAX_OPERANDS] = {0};
        if (!is_callable(row->op, tuple, count))
            continue;
        for (size_t i = 0; i < count; i++)
            dtypes[i] = (uint8_t)tuple[i];
        for (unsigned i = 0; assay__case_problem(row->op, dtypes, count, i, &p); i++) {
            assay__call_unbatch(&p);
            if (wanted == NULL || wanted(&p))
                ASSAY__PART(one_case(c, row, &p, i));
        }
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict every_row(assay__conform *c, const assay__call_row *rows,
                                        size_t count, wanted_fn wanted)
{
    if (c->ref == NULL)
        return assay__conform_skip(c, "the plug-in 'ref', which knows the right results, is not "
                                      "here");
    for (size_t i = 0; i < count; i++)
        ASSAY__PART(every_case(c, &rows[i], wanted));
    return assay__call_end(c);
}

#define EVERY(rows, wanted) every_row(c, (rows), sizeof(rows) / sizeof(rows)[0], (wanted))

/* ---- products ---- */

assay__conform_verdict assay__conform_call_gemm(assay__conform *c)
{
    static const assay__call_row rows[] = {
        {"gemm, row-major", ASSAY_OP_matmul, assay__call_gemm_rows},
        {"gemm, column-major", ASSAY_OP_matmul, assay__call_gemm_columns}};

    return EVERY(rows, NULL);
}

/* Cases of one product, three times over. */
static assay__conform_verdict batched_cases(assay__conform *c, const assay__call_row *row,
                                            assay_dtype dtype, int64_t batch)
{
    const uint8_t dtypes[3] = {(uint8_t)dtype, (uint8_t)dtype, (uint8_t)dtype};
    assay_problem p;

    for (unsigned i = 0; assay__case_problem(ASSAY_OP_matmul, dtypes, 3, i, &p); i++) {
        ASSAY__FINE(assay_problem_set_int(&p, "batch", batch));
        ASSAY__FINE(assay_problem_check(&p));
        ASSAY__PART(one_case(c, row, &p, i));
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_call_batched_gemm(assay__conform *c)
{
    static const assay__call_row row = {"batched_gemm", ASSAY_OP_matmul, assay__call_batched};
    static const assay_dtype dtypes[] = {ASSAY_F32, ASSAY_F64, ASSAY_F16, ASSAY_BF16};
    static const int64_t batches[] = {3, 1, 0};

    if (c->ref == NULL)
        return every_row(c, NULL, 0, NULL);
    for (size_t d = 0; d < 4; d++)
        for (size_t b = 0; b < 3; b++)
            ASSAY__PART(batched_cases(c, &row, dtypes[d], batches[b]));
    return assay__call_end(c);
}

/* A and B of 16 bits as f32: what rounding them gives back is what they were. */
static assay_status widen(const assay__case *k, assay_engine *engine, assay_buffer *buffers)
{
    for (uint32_t i = 0; i < 2; i++) {
        const size_t n = (size_t)assay_tensor_elements(&k->operands[i]);
        float *wide = calloc(n + 1, sizeof *wide);
        if (wide == NULL)
            return ASSAY_NOMEM;
        assay_status status = assay_convert(ASSAY_F32, wide, k->operands[i].dtype,
                                            assay_tensor_data(&k->operands[i]), n);
        if (status == ASSAY_OK)
            status = assay_engine_free(engine, buffers[i]);
        if (status == ASSAY_OK)
            status = assay_engine_alloc(engine, (n + 1) * sizeof *wide, 0, &buffers[i]);
        if (status == ASSAY_OK)
            status = assay_engine_upload(engine, buffers[i], wide, (n + 1) * sizeof *wide);
        free(wide);
        ASSAY_TRY(status);
    }
    return ASSAY_OK;
}

/* The case's own 16-bit inputs again, so that its images can be compared. */
static assay_status narrow(const assay__case *k, assay_engine *engine, assay_buffer *buffers)
{
    for (uint32_t i = 0; i < 2; i++) {
        ASSAY_TRY(assay_engine_free(engine, buffers[i]));
        ASSAY_TRY(assay_engine_alloc(engine, k->bytes[i], 0, &buffers[i]));
        ASSAY_TRY(assay_engine_upload(engine, buffers[i], k->images[i], k->bytes[i]));
    }
    return ASSAY_OK;
}

static assay__conform_verdict mixed_case(assay__conform *c, const assay_problem *p, unsigned seed)
{
    static const assay__call_row row = {"gemm_mixed_precision", ASSAY_OP_matmul, assay__call_mixed};
    assay_execution record = {.struct_size = sizeof record};
    assay_call call = {.struct_size = sizeof call, .record = &record};
    assay_buffer buffers[ASSAY_MAX_OPERANDS];
    assay__case k;

    ASSAY__FINE(assay__case_init(c->ref, p, NULL, ASSAY__CASE_DENSE, 2 * seed, &k));
    ASSAY__FINE(assay__case_upload(&k, c->engine, buffers));
    ASSAY__FINE(widen(&k, c->engine, buffers));
    const assay_status status = row.run(c->engine, &k, buffers, &call);
    ASSAY__HOLDS(status == ASSAY_OK || is_no_kernel(status), "%s gave %s: %.200s", row.name,
                 assay_status_name(status), assay_last_error());
    if (status != ASSAY_OK)
        keep_refusal(c); /* before other calls clear its text */
    ASSAY__FINE(narrow(&k, c->engine, buffers));
    if (status == ASSAY_OK) {
        ASSAY__PART(check_record(c, row.name, &k, &record));
        c->calls_ran += k.elements > 0 && record.kernel[0] != '\0';
        ASSAY__PART(
            assay__case_judge_buffers(c, &k, assay__call_kernel(c, &record, p), buffers, row.name));
    } else {
        ASSAY__PART(assay__case_untouched(c, &k, buffers, row.name));
    }
    ASSAY__FINE(assay__case_free(&k, c->engine, buffers));
    assay__case_clear(&k);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_call_gemm_mixed_precision(assay__conform *c)
{
    static const uint8_t tuples[2][3] = {{ASSAY_F16, ASSAY_F16, ASSAY_F32},
                                         {ASSAY_BF16, ASSAY_BF16, ASSAY_F32}};
    assay_problem p;

    if (c->ref == NULL)
        return every_row(c, NULL, 0, NULL);
    for (size_t t = 0; t < 2; t++)
        for (unsigned i = 0; assay__case_problem(ASSAY_OP_matmul, tuples[t], 3, i, &p); i++) {
            assay__call_unbatch(&p);
            ASSAY__PART(mixed_case(c, &p, i));
        }
    return assay__call_end(c);
}

/* ---- the others ---- */

assay__conform_verdict assay__conform_call_conv2d_forward(assay__conform *c)
{
    static const assay__call_row rows[] = {{"conv2d_forward", ASSAY_OP_conv2d, assay__call_conv}};

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_conv2d_backward_data(assay__conform *c)
{
    static const assay__call_row rows[] = {
        {"conv2d_backward_data", ASSAY_OP_conv2d_backward_data, assay__call_conv}};

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_conv2d_backward_filter(assay__conform *c)
{
    static const assay__call_row rows[] = {
        {"conv2d_backward_filter", ASSAY_OP_conv2d_backward_filter, assay__call_conv}};

    return EVERY(rows, NULL);
}

/* Zero stands for another number of heads in the call's arguments. */
static bool has_heads(const assay_problem *p)
{
    return assay_problem_int(p, "hkv") > 0;
}

assay__conform_verdict assay__conform_call_attention(assay__conform *c)
{
    static const assay__call_row rows[] = {
        {"attention", ASSAY_OP_attention, assay__call_attention}};

    return EVERY(rows, has_heads);
}

assay__conform_verdict assay__conform_call_unary(assay__conform *c)
{
    static const assay__call_row rows[] = {
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_unary},
        ASSAY__CALL_UNARY_OPS(X)
#undef X
    };

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_binary(assay__conform *c)
{
    static const assay__call_row rows[] = {
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_binary},
        ASSAY__CALL_BINARY_OPS(X)
#undef X
    };

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_reduce(assay__conform *c)
{
    static const assay__call_row rows[] = {
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_reduce},
        ASSAY__CALL_REDUCE_OPS(X)
#undef X
    };

    return EVERY(rows, NULL);
}

/* Along the last axis it is another op. */
static bool has_inner(const assay_problem *p)
{
    return p->op != ASSAY_OP_softmax || assay_problem_int(p, "inner") != 1;
}

assay__conform_verdict assay__conform_call_softmax(assay__conform *c)
{
    static const assay__call_row rows[] = {
        {"softmax", ASSAY_OP_softmax, assay__call_softmax},
        {"softmax, last axis", ASSAY_OP_softmax_last_dim, assay__call_softmax}};

    return EVERY(rows, has_inner);
}

assay__conform_verdict assay__conform_call_gather(assay__conform *c)
{
    static const assay__call_row rows[] = {{"gather", ASSAY_OP_gather, assay__call_rows}};

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_scatter(assay__conform *c)
{
    static const assay__call_row rows[] = {{"scatter", ASSAY_OP_scatter, assay__call_rows}};

    return EVERY(rows, NULL);
}

assay__conform_verdict assay__conform_call_recommended_tile(assay__conform *c)
{
    static const int64_t extents[] = {1, 16, 64, 65, 512, 513, 4096};
    assay_tile tile = {.m = -7};

    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        int64_t outputs = 0;
        ASSAY__FINE(assay_recommended_tile(c->engine, extents[i], 900, 900, &tile));
        ASSAY__HOLDS(tile.m > 0 && tile.n > 0 && tile.k > 0, "a tile of %lld x %lld x %lld",
                     (long long)tile.m, (long long)tile.n, (long long)tile.k);
        ASSAY__FINE(assay_tile_outputs(&tile, &outputs));
        ASSAY__HOLDS(outputs == tile.m * tile.n, "%lld outputs of a tile", (long long)outputs);
    }
    tile.m = -7;
    ASSAY__GIVES(assay_recommended_tile(c->engine, 0, 1, 1, &tile), ASSAY_INVALID);
    ASSAY__GIVES(assay_recommended_tile(c->engine, 1, -1, 1, &tile), ASSAY_INVALID);
    ASSAY__HOLDS(tile.m == -7, "a refused question wrote a tile");
    return ASSAY__CONFORM_PASS;
}

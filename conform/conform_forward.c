/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_forward.c -- the same calls by way of a backend that passes every slot on give
 * the same bits: no slot is lost on the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/conform_calls.h"
#include "runtime/engine_internal.h"

static const assay__call_row calls[] = {
    {"gemm", ASSAY_OP_matmul, assay__call_gemm_columns},
    {"conv2d_forward", ASSAY_OP_conv2d, assay__call_conv},
    {"conv2d_backward_data", ASSAY_OP_conv2d_backward_data, assay__call_conv},
    {"conv2d_backward_filter", ASSAY_OP_conv2d_backward_filter, assay__call_conv},
    {"attention", ASSAY_OP_attention, assay__call_attention},
    {"softmax", ASSAY_OP_softmax, assay__call_softmax},
    {"gather", ASSAY_OP_gather, assay__call_rows},
    {"scatter", ASSAY_OP_scatter, assay__call_rows},
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_unary},
    ASSAY__CALL_UNARY_OPS(X)
#undef X
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_binary},
        ASSAY__CALL_BINARY_OPS(X)
#undef X
#define X(op, name) {#op, ASSAY_OP_##op, assay__call_reduce},
            ASSAY__CALL_REDUCE_OPS(X)
#undef X
};

/* A call, and all of the output's buffer after it; the caller frees *out. */
static assay_status run(const assay__conform *c, const assay__call_row *row, const assay__case *k,
                        assay_execution *record, char **out)
{
    assay_call call = {.struct_size = sizeof call, .record = record};
    const uint32_t y = k->count - 1;
    assay_buffer buffers[ASSAY_MAX_OPERANDS];

    record->struct_size = sizeof *record;
    record->kernel[0] = '\0';
    *out = malloc(k->bytes[y]);
    if (*out == NULL)
        return ASSAY_NOMEM;
    ASSAY_TRY(assay__case_upload(k, c->engine, buffers));
    const assay_status status = row->run(c->engine, k, buffers, &call);
    ASSAY_TRY(assay_engine_download(c->engine, *out, buffers[y], k->bytes[y]));
    ASSAY_TRY(assay__case_free(k, c->engine, buffers));
    return status;
}

/* Where a kernel says that its runs differ, there is nothing to compare. */
static bool is_repeatable(const assay__conform *c, const assay_execution *record,
                          const assay_problem *p)
{
    const assay_kernel_desc *desc = assay__call_kernel(c, record, p);

    return desc == NULL || desc->claims.stability != ASSAY_STABILITY_NONE;
}

/* While `backend` stands in for the engine's own. */
static assay_status run_by(const assay__conform *c, const assay__backend *backend,
                           const assay__call_row *row, const assay__case *k,
                           assay_execution *record, char **out)
{
    const assay__backend own = c->engine->backend;

    c->engine->backend = *backend;
    const assay_status status = run(c, row, k, record, out);
    c->engine->backend = own;
    return status;
}

static assay__conform_verdict compare(assay__conform *c, const assay__call_row *row,
                                      const assay_problem *p, unsigned seed)
{
    const assay__backend inner = c->engine->backend;
    assay_execution direct, passed_on;
    assay__backend outer;
    char *a = NULL, *b = NULL;
    assay__case k;

    assay__backend_forward(&inner, &outer);
    ASSAY__FINE(assay__case_init(c->ref, p, NULL, ASSAY__CASE_DENSE, seed, &k));
    const assay_status first = run(c, row, &k, &direct, &a);
    const assay_status second = run_by(c, &outer, row, &k, &passed_on, &b);
    ASSAY__HOLDS(first == second, "%s: %s directly, %s by a backend that passes it on", row->name,
                 assay_status_name(first), assay_status_name(second));
    if (first != ASSAY_OK && c->refusal[0] == '\0')
        (void)snprintf(c->refusal, sizeof c->refusal, "%s", assay_last_error());
    c->calls_ran += first == ASSAY_OK && k.elements > 0 && direct.kernel[0] != '\0';
    if (first == ASSAY_OK) {
        ASSAY__HOLDS(strcmp(direct.kernel, passed_on.kernel) == 0,
                     "%s: '%s' ran directly, '%s' by a backend that passes it on", row->name,
                     direct.kernel, passed_on.kernel);
        ASSAY__HOLDS(!is_repeatable(c, &direct, p) || memcmp(a, b, k.bytes[k.count - 1]) == 0,
                     "%s by '%s': other bits by a backend that passes it on", row->name,
                     direct.kernel);
    }
    free(a);
    free(b);
    assay__case_clear(&k);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_call_by_forwarder(assay__conform *c)
{
    if (c->ref == NULL)
        return assay__conform_skip(c, "the plug-in 'ref', which makes the cases, is not here");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const assay_op_info *info = assay_op_get(calls[i].op);
        uint8_t dtypes[ASSAY_MAX_OPERANDS] = {0};
        assay_problem p;
        memset(dtypes, ASSAY_F32, info->inputs + info->outputs);
        if (calls[i].run == assay__call_rows)
            dtypes[1] = ASSAY_I64;
        for (unsigned k = 4;
             assay__case_problem(calls[i].op, dtypes, info->inputs + info->outputs, k, &p); k++) {
            assay__call_unbatch(&p);
            ASSAY__PART(compare(c, &calls[i], &p, k));
        }
    }
    return assay__call_end(c);
}

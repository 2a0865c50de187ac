/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_nn.c -- typed convolutions and attention. */
#include <string.h>

#include "runtime/compute_internal.h"
#include "runtime/error.h"

/* ---- convolutions ---- */

/* What the three share: parameters have the same places in each. */
#define SAME(name)                                                                                \
    _Static_assert(                                                                               \
        ASSAY__PARAM_INDEX(conv2d, name) == ASSAY__PARAM_INDEX(conv2d_backward_data, name) &&     \
            ASSAY__PARAM_INDEX(conv2d, name) == ASSAY__PARAM_INDEX(conv2d_backward_filter, name), \
        "convolutions have other parameters than one another")
SAME(n);
SAME(c);
SAME(h);
SAME(w);
SAME(k);
SAME(r);
SAME(s);
SAME(stride_h);
SAME(stride_w);
SAME(pad_h);
SAME(pad_w);
SAME(dil_h);
SAME(dil_w);
SAME(groups);

typedef enum which { FORWARD, BACKWARD_DATA, BACKWARD_FILTER } which;

/* Which tensor is operand i: inputs, then the one that is written. */
static const struct {
    const char *what;
    assay_op_id op;
    char operands[4]; /* x, f, y */
} convolutions[] = {
    [FORWARD] = {"conv2d_forward", ASSAY_OP_conv2d, "xfy"},
    [BACKWARD_DATA] = {"conv2d_backward_data", ASSAY_OP_conv2d_backward_data, "yfx"},
    [BACKWARD_FILTER] = {"conv2d_backward_filter", ASSAY_OP_conv2d_backward_filter, "xyf"}};

static void set_shapes(assay_problem *p, const assay_conv2d_args *a)
{
    ASSAY__SET_INT(p, conv2d, n, a->x_shape[0]);
    ASSAY__SET_INT(p, conv2d, c, a->x_shape[1]);
    ASSAY__SET_INT(p, conv2d, h, a->x_shape[2]);
    ASSAY__SET_INT(p, conv2d, w, a->x_shape[3]);
    ASSAY__SET_INT(p, conv2d, k, a->filter_shape[0]);
    ASSAY__SET_INT(p, conv2d, r, a->filter_shape[2]);
    ASSAY__SET_INT(p, conv2d, s, a->filter_shape[3]);
    ASSAY__SET_INT(p, conv2d, stride_h, a->stride[0]);
    ASSAY__SET_INT(p, conv2d, stride_w, a->stride[1]);
    ASSAY__SET_INT(p, conv2d, pad_h, a->padding[0]);
    ASSAY__SET_INT(p, conv2d, pad_w, a->padding[1]);
    ASSAY__SET_INT(p, conv2d, dil_h, a->dilation[0] != 0 ? a->dilation[0] : 1);
    ASSAY__SET_INT(p, conv2d, dil_w, a->dilation[1] != 0 ? a->dilation[1] : 1);
    ASSAY__SET_INT(p, conv2d, groups, a->groups != 0 ? a->groups : 1);
}

static assay_status check_shape(const char *what, const char *name, const int64_t *given,
                                const int64_t *wanted)
{
    for (int d = 0; d < 4; d++)
        if (given[d] != wanted[d])
            return assay__fail(ASSAY_INVALID,
                               "%s: %s is %lldx%lldx%lldx%lld; the others make it "
                               "%lldx%lldx%lldx%lld",
                               what, name, (long long)given[0], (long long)given[1],
                               (long long)given[2], (long long)given[3], (long long)wanted[0],
                               (long long)wanted[1], (long long)wanted[2], (long long)wanted[3]);
    return ASSAY_OK;
}

static assay_place place_of(const assay_conv2d_args *a, char which_one)
{
    return which_one == 'x' ? a->x : which_one == 'f' ? a->filter : a->y;
}

static assay_status run_conv_anew(assay__typed *t, which w, const assay_conv2d_args *a)
{
    const char *what = convolutions[w].what;
    assay_tensor operands[3];
    assay_problem p;

    ASSAY_TRY(assay_problem_init(convolutions[w].op, a->dtype, &p));
    set_shapes(&p, a);
    assay_status status = assay_problem_check(&p);
    if (status != ASSAY_OK)
        return assay__fail_context(status, "%s", what);
    for (size_t i = 0; i < 3; i++) {
        const char o = convolutions[w].operands[i];
        const int64_t *given = o == 'x' ? a->x_shape : o == 'f' ? a->filter_shape : a->y_shape;
        int64_t wanted[ASSAY_MAX_RANK];
        uint32_t rank;
        ASSAY_TRY(assay_problem_operand(&p, i, &rank, wanted));
        ASSAY_TRY(check_shape(what,
                              o == 'x'   ? "x_shape"
                              : o == 'f' ? "filter_shape"
                                         : "y_shape",
                              given, wanted));
        ASSAY_TRY(assay__typed_tensor(place_of(a, o), a->dtype, 4, given, &operands[i]));
    }
    return assay__typed_run(t, &p, operands, 3, 0);
}

static assay_status run_conv(assay__typed *t, which w, const assay_conv2d_args *a)
{
    assay_place places[3];
    assay_conv2d_args said;
    assay__typed_key key;
    assay_status status;

    for (size_t i = 0; i < 3; i++)
        places[i] = place_of(a, convolutions[w].operands[i]);
    memcpy(&said, a, sizeof said);
    memset(&said.x, 0, sizeof said.x);
    memset(&said.filter, 0, sizeof said.filter);
    memset(&said.y, 0, sizeof said.y);
    assay__typed_key_init(&key, t, &said, sizeof said);
    if (assay__typed_again(t, &key, places, 3, &status))
        return status;
    ASSAY_TRY(run_conv_anew(t, w, a));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

static assay_status call_conv(assay_engine *engine, which w, const assay_conv2d_args *args,
                              assay_call *call)
{
    assay_conv2d_args a;
    assay__typed t;

    ASSAY_TRY(assay__typed_args(convolutions[w].what, args, sizeof a, &a));
    ASSAY_TRY(assay__typed_begin(&t, engine, convolutions[w].what, call));
    return assay__typed_end(&t, run_conv(&t, w, &a));
}

assay_status assay_conv2d_forward(assay_engine *engine, const assay_conv2d_args *args,
                                  assay_call *call)
{
    return call_conv(engine, FORWARD, args, call);
}

assay_status assay_conv2d_backward_data(assay_engine *engine, const assay_conv2d_args *args,
                                        assay_call *call)
{
    return call_conv(engine, BACKWARD_DATA, args, call);
}

assay_status assay_conv2d_backward_filter(assay_engine *engine, const assay_conv2d_args *args,
                                          assay_call *call)
{
    return call_conv(engine, BACKWARD_FILTER, args, call);
}

/* ---- attention ---- */

static assay_status run_attention_anew(assay__typed *t, const assay_attention_args *a)
{
    const int64_t heads_kv = a->heads_kv != 0 ? a->heads_kv : a->heads;
    const int64_t of_q[4] = {a->batch, a->heads, a->seq_q, a->head_dim},
                  of_k[4] = {a->batch, heads_kv, a->seq_kv, a->head_dim};
    assay_tensor operands[4];
    assay_problem p;

    if ((int)a->causal < 0 || (int)a->causal > ASSAY_CAUSAL_TOP_LEFT)
        return assay__fail(ASSAY_INVALID, "attention: no causal mask has number %d",
                           (int)a->causal);
    ASSAY_TRY(assay_problem_init(ASSAY_OP_attention, a->dtype, &p));
    ASSAY__SET_INT(&p, attention, b, a->batch);
    ASSAY__SET_INT(&p, attention, hq, a->heads);
    ASSAY__SET_INT(&p, attention, hkv, heads_kv);
    ASSAY__SET_INT(&p, attention, sq, a->seq_q);
    ASSAY__SET_INT(&p, attention, sk, a->seq_kv);
    ASSAY__SET_INT(&p, attention, d, a->head_dim);
    ASSAY__SET_INT(&p, attention, causal, (int64_t)a->causal);
    ASSAY__SET_REAL(&p, attention, scale, a->scale);
    ASSAY_TRY(assay_problem_check(&p)); /* before shapes of it are made */
    ASSAY_TRY(assay__typed_tensor(a->q, a->dtype, 4, of_q, &operands[0]));
    ASSAY_TRY(assay__typed_tensor(a->k, a->dtype, 4, of_k, &operands[1]));
    ASSAY_TRY(assay__typed_tensor(a->v, a->dtype, 4, of_k, &operands[2]));
    ASSAY_TRY(assay__typed_tensor(a->o, a->dtype, 4, of_q, &operands[3]));
    return assay__typed_run(t, &p, operands, 4, 0);
}

static assay_status run_attention(assay__typed *t, const assay_attention_args *a)
{
    const assay_place places[4] = {a->q, a->k, a->v, a->o};
    assay_attention_args said;
    assay__typed_key key;
    assay_status status;

    memcpy(&said, a, sizeof said);
    memset(&said.q, 0, sizeof said.q);
    memset(&said.k, 0, sizeof said.k);
    memset(&said.v, 0, sizeof said.v);
    memset(&said.o, 0, sizeof said.o);
    assay__typed_key_init(&key, t, &said, sizeof said);
    if (assay__typed_again(t, &key, places, 4, &status))
        return status;
    ASSAY_TRY(run_attention_anew(t, a));
    assay__typed_remember(t, &key);
    return ASSAY_OK;
}

assay_status assay_attention(assay_engine *engine, const assay_attention_args *args,
                             assay_call *call)
{
    assay_attention_args a;
    assay__typed t;

    ASSAY_TRY(assay__typed_args("attention", args, sizeof a, &a));
    ASSAY_TRY(assay__typed_begin(&t, engine, "attention", call));
    return assay__typed_end(&t, run_attention(&t, &a));
}

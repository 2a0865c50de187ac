/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_key.c -- questions: defaults, checks, binary keys. */
#include "runtime/pick_key.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "runtime/error.h"

/* The hash runs over memory: no byte of the struct may be padding. */
_Static_assert(offsetof(assay__question_key, params) == 88, "padding in assay__question_key");
_Static_assert(sizeof(assay__question_key) == 88 + ASSAY_MAX_PARAMS * sizeof(assay_value),
               "padding in assay__question_key");

/* ---- questions ---- */

void assay_question_init(const assay_problem *problem, assay_question *out)
{
    static const assay_tolerance none = ASSAY_NO_TOLERANCE;

    memset(out, 0, sizeof *out);
    out->problem = *problem;
    out->align = 16;
    out->tolerance = none;
    out->workspace_bytes = UINT64_MAX;
}

static assay_status check_limit(const char *name, double value)
{
    if (isnan(value))
        return assay__fail(ASSAY_INVALID, "question: %s is NaN; use a number, or -1 for no limit",
                           name);
    return ASSAY_OK;
}

static assay_status check_layout(const assay_question *q)
{
    for (size_t i = 0; i < q->problem.dtype_count; i++)
        if (q->layout[i] != '\0' && strchr("clsbn", q->layout[i]) == NULL)
            return assay__fail(ASSAY_INVALID,
                               "question: layout '%c' of operand %zu is none of c, l, s, b, n",
                               q->layout[i], i);
    return ASSAY_OK;
}

assay_status assay__question_check(const assay_question *q)
{
    ASSAY_TRY(assay_problem_check(&q->problem));
    if (q->problem.param_count > ASSAY_MAX_PARAMS || q->problem.dtype_count > ASSAY_MAX_OPERANDS)
        return assay__fail(ASSAY_INVALID, "question: the problem was not made by "
                                          "assay_problem_init");
    ASSAY_TRY(check_layout(q));
    if (q->align != 64 && q->align != 16 && q->align != 0)
        return assay__fail(ASSAY_INVALID, "question: align %u is none of 64, 16, 0 (element)",
                           q->align);
    if (q->policy.cache > 1 || q->policy.load > 1 || q->policy.span > 1)
        return assay__fail(ASSAY_INVALID, "question: policy %u/%u/%u; each part is 0 or 1",
                           q->policy.cache, q->policy.load, q->policy.span);
    ASSAY_TRY(check_limit("max_ulp", q->tolerance.max_ulp));
    ASSAY_TRY(check_limit("max_rho", q->tolerance.max_rho));
    ASSAY_TRY(check_limit("max_rel", q->tolerance.max_rel));
    ASSAY_TRY(check_limit("max_abs", q->tolerance.max_abs));
    if (q->tolerance.stability > ASSAY_STABILITY_ANYWHERE ||
        q->tolerance.proof > ASSAY_PROOF_EXHAUSTIVE)
        return assay__fail(ASSAY_INVALID, "question: stability %u or proof %u is out of range",
                           q->tolerance.stability, q->tolerance.proof);
    return ASSAY_OK;
}

/* ---- keys ---- */

void assay__key_masks_init(assay__key_masks *out)
{
    memset(out, 0, sizeof *out);
    for (size_t op = 0; op < ASSAY_OP_COUNT; op++) {
        const assay_op_info *info = assay_op_get((assay_op_id)op);
        for (size_t i = 0; i < info->param_count; i++) {
            if (info->params[i].klass == ASSAY_CLASS && info->params[i].kind == ASSAY_KIND_REAL)
                out->class_params[op] |= 1u << i;
            if (!info->params[i].has_default)
                out->required[op] |= 1u << i;
        }
    }
}

static double class_of(double value)
{
    return value == 0.0 || value == 1.0 ? value : ASSAY__CLASS_OTHER;
}

static double limit_of(double limit)
{
    return limit < 0.0 ? -1.0 : limit + 0.0; /* -0 becomes 0 */
}

/* The eight letters as one word: absent ones become 'c', those past the operands 0. */
static void copy_layout(const assay_question *q, char *out)
{
    uint64_t word, ones = 0x0101010101010101u, absent;

    memcpy(&word, q->layout, sizeof word);
    /* Letters are ASCII, so adding 0x7f to a byte carries into its top bit unless it is 0. */
    absent = ~(word + 0x7f * ones) & 0x80 * ones;
    word |= (absent >> 7) * 'c';
    if (q->problem.dtype_count < ASSAY_MAX_OPERANDS)
        word &= ((uint64_t)1 << (8 * q->problem.dtype_count)) - 1;
    memcpy(out, &word, sizeof word);
}

static uint64_t list_hash(const char *backends)
{
    return backends == NULL ? 0 : assay__xxh64(backends, strlen(backends)) | 1;
}

static bool plausible(const assay_question *q)
{
    return q->problem.op < ASSAY_OP_COUNT && q->problem.param_count <= ASSAY_MAX_PARAMS &&
           q->problem.dtype_count <= ASSAY_MAX_OPERANDS;
}

bool assay__question_key_make(const assay__key_masks *masks, const assay_question *q,
                              assay__question_key *out, assay__key128 *hash)
{
    const assay_problem *p = &q->problem;
    uint32_t given;

    if (!plausible(q))
        return false;
    out->op = p->op;
    out->dtype_count = p->dtype_count;
    out->param_count = p->param_count;
    out->max_threads = q->max_threads;
    memcpy(out->dtypes, p->dtypes, sizeof out->dtypes);
    copy_layout(q, out->layout);
    out->align = q->align;
    out->cache = q->policy.cache;
    out->load = q->policy.load;
    out->span = q->policy.span;
    out->stability = q->tolerance.stability;
    out->proof = q->tolerance.proof;
    out->allow_claims = q->tolerance.allow_claims != 0;
    out->reserved = 0;
    memcpy(&given, p->given, sizeof given);
    out->given = given & masks->required[p->op];
    out->reserved_too = 0;
    out->workspace_bytes = q->workspace_bytes;
    out->backends = list_hash(q->backends);
    out->limits[0] = limit_of(q->tolerance.max_ulp);
    out->limits[1] = limit_of(q->tolerance.max_rho);
    out->limits[2] = limit_of(q->tolerance.max_rel);
    out->limits[3] = limit_of(q->tolerance.max_abs);
    for (size_t i = 0; i < p->param_count; i++)
        out->params[i] = p->params[i];
    for (uint32_t rest = masks->class_params[p->op]; rest != 0; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        out->params[i].r = class_of(out->params[i].r);
    }
    if (isnan(out->limits[0] + out->limits[1] + out->limits[2] + out->limits[3]))
        return false;
    *hash = assay__xxh(out, offsetof(assay__question_key, params) +
                                p->param_count * sizeof out->params[0]);
    return true;
}

size_t assay__route_text(const assay_problem *p, char *buf, size_t cap)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    assay_problem classed = *p;

    for (size_t i = 0; i < info->param_count; i++)
        if (info->params[i].klass == ASSAY_CLASS && info->params[i].kind == ASSAY_KIND_REAL)
            classed.params[i].r = class_of(classed.params[i].r);
    return assay_problem_format(&classed, ASSAY_TEXT_ACCURACY, buf, cap);
}

/* ---- equality at a call site ---- */

typedef uint64_t wide __attribute__((vector_size(16)));

static inline wide differ(const void *a, const void *b)
{
    wide x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

_Static_assert(offsetof(assay_problem, params) == 16, "the header of a problem is 16 bytes");
_Static_assert(offsetof(assay_question, align) == offsetof(assay_question, layout) + 8 &&
                   offsetof(assay_question, policy) == offsetof(assay_question, layout) + 9,
               "layout, align and policy lie together");
_Static_assert(ASSAY_MAX_PARAMS % 2 == 0, "parameters are compared by twos");

bool assay__question_same(const assay_question *a, const assay_question *b)
{
    const assay_tolerance *s = &a->tolerance, *t = &b->tolerance;
    wide sum = differ(a, b) | differ(&s->max_ulp, &t->max_ulp) | differ(&s->max_rel, &t->max_rel);
    uint32_t tail_a, tail_b;
    uint64_t rest;

    /* Two parameters a step; one past an odd count is zero in both. */
    for (size_t i = 0; i < a->problem.param_count; i += 2)
        sum |= differ(&a->problem.params[i], &b->problem.params[i]);
    memcpy(&tail_a, &a->align, sizeof tail_a); /* align and the three parts of the policy */
    memcpy(&tail_b, &b->align, sizeof tail_b);
    rest = (tail_a ^ tail_b) | (a->max_threads ^ b->max_threads) |
           (a->workspace_bytes ^ b->workspace_bytes) |
           (uint64_t)((s->stability ^ t->stability) | (s->proof ^ t->proof) |
                      (s->allow_claims ^ t->allow_claims));
    for (size_t i = 0; i < ASSAY_MAX_OPERANDS; i += 8) {
        uint64_t x, y;
        memcpy(&x, a->layout + i, sizeof x);
        memcpy(&y, b->layout + i, sizeof y);
        rest |= x ^ y;
    }
    return (sum[0] | sum[1] | rest) == 0 && a->backends == NULL && b->backends == NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_key.c -- questions: defaults, checks, binary keys. */
#include "runtime/pick_key.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "runtime/error.h"

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

static double class_of(double value)
{
    return value == 0.0 || value == 1.0 ? value + 0.0 : ASSAY__CLASS_OTHER; /* -0 becomes 0 */
}

static bool is_class(const assay_param_info *param)
{
    return param->klass == ASSAY_CLASS && param->kind == ASSAY_KIND_REAL;
}

static void init_rule(const assay_op_info *info, assay__key_rule *rule)
{
    const size_t operands = info->inputs + info->outputs;
    const assay_problem head = {.op = (uint16_t)info->id,
                                .dtype_count = (uint8_t)operands,
                                .param_count = (uint8_t)info->param_count};

    for (size_t i = 0; i < info->param_count; i++) {
        if (!info->params[i].has_default)
            rule->required |= 1u << i;
        if (!is_class(&info->params[i]) || i >= 8)
            continue;
        rule->one[i / 4][i % 4] = 0x3ff00000u;
        rule->class[i / 4][i % 4] = UINT32_MAX;
    }
    memset(&rule->contiguous, 'c', operands);
    if (info->param_count <= 8)
        memcpy(&rule->head, &head, sizeof rule->head);
}

void assay__key_rules_init(assay__key_rules *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < ASSAY__KEY_RULES; i++)
        out->ops[i].head = UINT32_MAX;
    for (size_t op = 0; op < ASSAY_OP_COUNT; op++)
        init_rule(assay_op_get((assay_op_id)op), &out->ops[op]);
}

/* Contiguous ones and those past the operands become 0. */
static uint64_t layout_word(const assay_question *q)
{
    char letters[ASSAY_MAX_OPERANDS] = {0};

    for (size_t i = 0; i < q->problem.dtype_count; i++)
        letters[i] = q->layout[i] != 'c' ? q->layout[i] : '\0';
    return assay__load_u64(letters);
}

static double limit_of(double limit)
{
    return limit < 0.0 ? -1.0 : limit + 0.0; /* -0 becomes 0 */
}

/* false for a limit that is NaN. */
static bool put_limits(const assay_question *q, uint64_t *words)
{
    const assay_tolerance *t = &q->tolerance;
    const double limits[] = {limit_of(t->max_ulp), limit_of(t->max_rho), limit_of(t->max_rel),
                             limit_of(t->max_abs)};

    if (isnan(limits[0] + limits[1] + limits[2] + limits[3]))
        return false;
    words[0] = t->stability | (uint64_t)t->proof << 8 | (uint64_t)(t->allow_claims != 0) << 16;
    words[1] = q->workspace_bytes;
    words[2] = q->backends == NULL ? 0 : assay__xxh64(q->backends, strlen(q->backends)) | 1;
    memcpy(words + 3, limits, sizeof limits);
    return true;
}

bool assay__question_hash_wide(const assay__key_rules *rules, const assay_question *q,
                               assay__key128 *hash)
{
    const assay_problem *p = &q->problem;
    const assay_op_info *info = p->op < ASSAY_OP_COUNT ? assay_op_get((assay_op_id)p->op) : NULL;
    uint64_t w[ASSAY__KEY_HEAD + ASSAY_MAX_PARAMS + ASSAY__KEY_LIMITS];
    size_t count = ASSAY__KEY_HEAD;

    if (info == NULL || p->param_count != info->param_count ||
        p->dtype_count != info->inputs + info->outputs ||
        (rules->ops[p->op].required & ~assay__load_u32(p->given)) != 0)
        return false;
    w[0] = assay__load_u64(p);
    w[1] = assay__load_u32(p->dtypes + 4) | (uint64_t)q->max_threads << 32;
    w[2] = layout_word(q);
    w[3] = assay__load_u32(&q->align) | ASSAY__KEY_WIDE;
    for (size_t i = 0; i < info->param_count; i++) {
        assay_value value = p->params[i];
        if (is_class(&info->params[i]))
            value.r = class_of(value.r);
        memcpy(&w[count++], &value, sizeof value);
    }
    if (!put_limits(q, w + count))
        return false;
    *hash = assay__xxh(w, (count + ASSAY__KEY_LIMITS) * sizeof *w);
    return true;
}

/* ---- texts of routes ---- */

static char *put_text(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

static char *put_int(char *at, int64_t value)
{
    char digits[20];
    size_t n = 0;

    if (value < 0)
        *at++ = '-';
    for (uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value; n == 0 || rest > 0;
         rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* Integers alone, which is what most problems have beside their defaults: as
 * assay_problem_format() writes them, without printf.  NULL: not so simple. */
static char *put_params(const assay_problem *p, const assay_op_info *info, char *at)
{
    char separator = ' ';

    for (size_t i = 0; i < info->param_count; i++) {
        const assay_param_info *param = &info->params[i];
        bool at_default = param->kind == ASSAY_KIND_REAL
                              ? p->params[i].r == param->default_value
                              : (double)p->params[i].i == param->default_value;
        if (param->has_default && at_default)
            continue;
        if (param->kind != ASSAY_KIND_INT)
            return NULL;
        *at++ = separator;
        separator = ',';
        at = put_text(at, param->name, strlen(param->name));
        *at++ = '=';
        at = put_int(at, p->params[i].i);
    }
    return at;
}

static size_t format_simple(const assay_problem *p, const assay_op_info *info, char *buf)
{
    char *at = put_text(buf, info->name, strlen(info->name));

    for (size_t i = 0; i < p->dtype_count; i++) {
        const char *name = assay_dtype_name((assay_dtype)p->dtypes[i]);
        *at++ = i == 0 ? ' ' : ',';
        at = put_text(at, name, strlen(name));
    }
    at = put_params(p, info, at);
    if (at == NULL)
        return 0;
    *at = '\0';
    return (size_t)(at - buf);
}

size_t assay__route_text(const assay_problem *p, char *buf, size_t cap)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    assay_problem classed = *p;
    size_t length;

    for (size_t i = 0; i < info->param_count; i++)
        if (is_class(&info->params[i]))
            classed.params[i].r = class_of(classed.params[i].r);
    /* Names and numbers of the largest problem stay below this. */
    length = cap >= ASSAY_PROBLEM_TEXT_MAX ? format_simple(&classed, info, buf) : 0;
    return length > 0 ? length : assay_problem_format(&classed, ASSAY_TEXT_ACCURACY, buf, cap);
}

void assay__dtypes_text(const assay_problem *p, char *buf, size_t cap)
{
    assay_problem plain;
    size_t used = 0, count = p->dtype_count;

    if (assay_problem_init((assay_op_id)p->op, (assay_dtype)p->dtypes[0], &plain) == ASSAY_OK &&
        memcmp(plain.dtypes, p->dtypes, sizeof plain.dtypes) == 0)
        count = 1;
    for (size_t i = 0; i < count && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i == 0 ? "" : ",",
                                 assay_dtype_name((assay_dtype)p->dtypes[i]));
}

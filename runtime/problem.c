/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem.c -- problems: setting, checking, extents, Layer-1 counts. */
#include <assert.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/problem_text.h"

static bool is_given(const assay_problem *p, size_t i)
{
    return (p->given[i / 8] >> (i % 8)) & 1;
}

static assay_status make(const assay_op_info *info, const assay__rule_types *types,
                         assay_problem *out)
{
    assay_problem p;

    memset(&p, 0, sizeof p);
    p.op = (uint16_t)info->id;
    p.dtype_count = (uint8_t)(info->inputs + info->outputs);
    p.param_count = (uint8_t)info->param_count;
    for (size_t i = 0; i < p.dtype_count; i++) {
        assay_dtype d;
        ASSAY_TRY(assay__rule_dtype(info->dtype_rule, i, types, &d));
        p.dtypes[i] = (uint8_t)d;
    }
    for (size_t i = 0; i < info->param_count; i++) {
        if (info->params[i].kind == ASSAY_KIND_REAL)
            p.params[i].r = info->params[i].default_value;
        else if (info->params[i].has_default)
            p.params[i].i = (int64_t)info->params[i].default_value;
    }
    *out = p;
    return ASSAY_OK;
}

assay_status assay_problem_init(assay_op_id op, assay_dtype t, assay_problem *out)
{
    const assay_op_info *info = assay_op_get(op);
    assay__rule_types types;

    if (info == NULL)
        return assay__fail(ASSAY_INVALID, "op number %d is not in the catalogue", (int)op);
    ASSAY_TRY(assay__op_types_of(info, t, &types));
    return make(info, &types, out);
}

assay_status assay_problem_init_tuple(assay_op_id op, const assay_dtype *dtypes, size_t count,
                                      assay_problem *out)
{
    const assay_op_info *info = assay_op_get(op);
    assay__rule_types types;
    assay_problem p;

    if (info == NULL)
        return assay__fail(ASSAY_INVALID, "op number %d is not in the catalogue", (int)op);
    if (count != info->inputs + info->outputs)
        return assay__fail(ASSAY_INVALID, "%s: %zu dtypes given, its operands are %u: %s",
                           info->name, count, info->inputs + info->outputs, info->dtype_rule);
    types = assay__rule_types_of(info, dtypes);
    ASSAY_TRY(make(info, &types, &p));
    for (size_t i = 0; i < count; i++)
        if (p.dtypes[i] != (uint8_t)dtypes[i])
            return assay__fail(ASSAY_UNSUPPORTED, "%s: dtype %zu is %s; the rule is %s", info->name,
                               i, assay_dtype_name(dtypes[i]), info->dtype_rule);
    if (!assay__op_takes(info, &types))
        return assay__op_types_fail(info, &types);
    *out = p;
    return ASSAY_OK;
}

static assay_status check_range(const assay_op_info *info, size_t i, double value)
{
    const assay_param_info *param = &info->params[i];

    if (!(value >= param->min && value <= param->max))
        return assay__fail(ASSAY_INVALID, "%s: %s=%.17g is outside [%.17g, %.17g]", info->name,
                           param->name, value, param->min, param->max);
    return ASSAY_OK;
}

static assay_status store_param(assay_problem *p, size_t i, double check, assay_value value)
{
    ASSAY_TRY(check_range(assay_op_get((assay_op_id)p->op), i, check));
    p->params[i] = value;
    p->given[i / 8] = (uint8_t)(p->given[i / 8] | 1u << (i % 8));
    return ASSAY_OK;
}

static assay_status find_param(const assay_problem *p, const char *name, size_t *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    int i = assay_op_param_index((assay_op_id)p->op, name);
    char all[256] = "";

    if (i >= 0) {
        *out = (size_t)i;
        return ASSAY_OK;
    }
    for (size_t j = 0; j < info->param_count; j++) {
        strncat(all, j ? ", " : "", sizeof all - strlen(all) - 1);
        strncat(all, info->params[j].name, sizeof all - strlen(all) - 1);
    }
    return assay__fail(ASSAY_INVALID, "%s: unknown parameter '%s'; it has: %s", info->name, name,
                       all);
}

assay_status assay_problem_set_int(assay_problem *p, const char *name, int64_t value)
{
    size_t i;

    ASSAY_TRY(find_param(p, name, &i));
    if (assay_op_get((assay_op_id)p->op)->params[i].kind == ASSAY_KIND_REAL)
        return assay_problem_set_real(p, name, (double)value);
    return store_param(p, i, (double)value, (assay_value){.i = value});
}

assay_status assay_problem_set_real(assay_problem *p, const char *name, double value)
{
    size_t i;

    ASSAY_TRY(find_param(p, name, &i));
    if (assay_op_get((assay_op_id)p->op)->params[i].kind != ASSAY_KIND_REAL)
        return assay__fail(ASSAY_INVALID, "parameter '%s' takes an integer", name);
    /* -0 and +0 are one value, so that keys and texts agree. */
    return store_param(p, i, value, (assay_value){.r = value == 0.0 ? 0.0 : value});
}

static assay_status check_sizes(const assay_problem *p, const assay_op_info *info)
{
    int64_t total = 0;

    for (size_t i = 0; i < p->dtype_count; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        int64_t bytes = (int64_t)assay_dtype_bytes((assay_dtype)p->dtypes[i]);
        uint32_t rank;
        bool empty = false, over = false;

        ASSAY_TRY(assay_problem_operand(p, i, &rank, dims));
        for (uint32_t d = 0; d < rank; d++) {
            empty = empty || dims[d] == 0;
            over = over || __builtin_mul_overflow(bytes, dims[d], &bytes);
        }
        if (empty)
            continue;
        if (over || __builtin_add_overflow(total, bytes, &total) || total > INT64_MAX / 2)
            return assay__fail(ASSAY_OVERFLOW,
                               "%s: the operands do not fit 2^62 bytes; use smaller extents",
                               info->name);
    }
    return ASSAY_OK;
}

assay_status assay_problem_check(const assay_problem *p)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    if (info == NULL)
        return assay__fail(ASSAY_INVALID, "op number %u is not in the catalogue", p->op);
    if (p->dtype_count != info->inputs + info->outputs)
        return assay__fail(ASSAY_INVALID, "%s: %u dtypes, its operands are %u: %s", info->name,
                           p->dtype_count, info->inputs + info->outputs, info->dtype_rule);
    for (size_t i = 0; i < info->param_count; i++) {
        if (!info->params[i].has_default && !is_given(p, i))
            return assay__fail(ASSAY_INVALID, "%s: parameter '%s' (%s) must be given", info->name,
                               info->params[i].name, info->params[i].doc);
        /* Problems are plain data, which a caller may have written by himself. */
        ASSAY_TRY(check_range(info, i, assay_problem_value(p, i)));
    }
    return check_sizes(p, info); /* and what the op requires, on which its extents rely */
}

double assay_problem_value(const assay_problem *p, size_t index)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    assert(info != NULL && index < info->param_count);
    return info->params[index].kind == ASSAY_KIND_REAL ? p->params[index].r
                                                       : (double)p->params[index].i;
}

int64_t assay_problem_int(const assay_problem *p, const char *name)
{
    int i = assay_op_param_index((assay_op_id)p->op, name);

    assert(i >= 0);
    return p->params[i].i;
}

double assay_problem_real(const assay_problem *p, const char *name)
{
    int i = assay_op_param_index((assay_op_id)p->op, name);

    assert(i >= 0);
    return p->params[i].r;
}

int64_t assay_problem_operand_elements(const assay_problem *p, size_t i)
{
    int64_t dims[ASSAY_MAX_RANK], n = 1;
    uint32_t rank = 0;

    if (assay_problem_operand(p, i, &rank, dims) != ASSAY_OK)
        return 0;
    for (uint32_t d = 0; d < rank; d++)
        if (dims[d] == 0) /* the product of the others may be beyond 63 bits */
            return 0;
    for (uint32_t d = 0; d < rank; d++)
        n *= dims[d];
    return n;
}

int64_t assay_problem_operand_bytes(const assay_problem *p, size_t i)
{
    return assay_problem_operand_elements(p, i) *
           (int64_t)assay_dtype_bytes((assay_dtype)p->dtypes[i]);
}

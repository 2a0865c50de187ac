/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/op.c -- the op catalogue of assay/op.def as tables, and lookups in it. */
#include <stdio.h>
#include <string.h>

#include "assay/op.h"
#include "runtime/error.h"

#define ASSAY_NO_DEFAULT (-0x1p1023)

/* Parameters of all ops, one after another. */
static const assay_param_info param_infos[] = {
#define ASSAY_PARAM(op, name, kind, klass, dflt, min, max, values, doc) \
    {#name,                                                             \
     ASSAY_KIND_##kind,                                                 \
     ASSAY_##klass,                                                     \
     (double)(dflt) > ASSAY_NO_DEFAULT,                                 \
     (double)(dflt),                                                    \
     (double)(min),                                                     \
     (double)(max),                                                     \
     values,                                                            \
     doc},
#include "assay/op.def"
};

/* Where each op's parameters begin and end in param_infos; the *_at_ names step back by one so
 * that opening and closing an op does not count as a parameter. */
enum param_span {
#define ASSAY_OP(name, ...)        param_begin_##name, param_open_##name = param_begin_##name - 1,
#define ASSAY_PARAM(op, name, ...) param_at_##op##_##name,
#define ASSAY_OP_END(name)         param_end_##name, param_close_##name = param_end_##name - 1,
#include "assay/op.def"
    param_total
};

#define ASSAY_OP(name, ...) \
    _Static_assert((int)param_end_##name - (int)param_begin_##name <= ASSAY_MAX_PARAMS, #name);
#include "assay/op.def"

/* Operands of all ops, one after another, and where each op's begin. */
static const assay_operand_info operand_infos[] = {
#define ASSAY_OPERAND(op, name, ...) {#name, #__VA_ARGS__},
#include "assay/op.def"
};

enum operand_span {
#define ASSAY_OP(name, ...)          operand_begin_##name, operand_open_##name = operand_begin_##name - 1,
#define ASSAY_OPERAND(op, name, ...) operand_at_##op##_##name,
#include "assay/op.def"
    operand_total
};

_Static_assert(sizeof operand_infos / sizeof *operand_infos == (size_t)operand_total, "operands");

static const assay_op_info op_infos[ASSAY_OP_COUNT] = {
#define ASSAY_OP(op, family_, inputs_, outputs_, rule, dtypes_, flops_, bytes_, doc_) \
    [ASSAY_OP_##op] = {.id = ASSAY_OP_##op,                                           \
                       .name = #op,                                                   \
                       .family = ASSAY_FAMILY_##family_,                              \
                       .inputs = inputs_,                                             \
                       .outputs = outputs_,                                           \
                       .dtype_rule = rule,                                            \
                       .dtypes = dtypes_,                                             \
                       .flops = flops_,                                               \
                       .bytes = bytes_,                                               \
                       .doc = doc_,                                                   \
                       .params = param_infos + param_begin_##op,                      \
                       .operands = operand_infos + operand_begin_##op,                \
                       .param_count = (size_t)((int)param_end_##op - (int)param_begin_##op),
#define ASSAY_BOUND(op, rule, fixed, terms) \
    .bound_rule = ASSAY_BOUND_##rule, .bound_fixed = fixed, .bound_terms = terms,
#define ASSAY_OP_END(op) \
    }                    \
    ,
#include "assay/op.def"
};

const assay_op_info *assay_op_get(assay_op_id id)
{
    return (unsigned)id < ASSAY_OP_COUNT ? &op_infos[id] : NULL;
}

static void list_ops(char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < ASSAY_OP_COUNT; i++) {
        int n = snprintf(buf + used, cap - used, "%s%s", i ? ", " : "", op_infos[i].name);
        if (n < 0 || (size_t)n >= cap - used)
            return;
        used += (size_t)n;
    }
}

assay_status assay_op_find(const char *name, assay_op_id *out)
{
    char all[512];

    for (size_t i = 0; name != NULL && i < ASSAY_OP_COUNT; i++) {
        if (strcmp(op_infos[i].name, name) == 0) {
            *out = (assay_op_id)i;
            return ASSAY_OK;
        }
    }
    list_ops(all, sizeof all);
    return assay__fail(ASSAY_INVALID, "unknown op '%s'; ops are: %s", name != NULL ? name : "",
                       all);
}

int assay_op_param_index(assay_op_id op, const char *name)
{
    const assay_op_info *info = assay_op_get(op);

    for (size_t i = 0; info != NULL && i < info->param_count; i++)
        if (strcmp(info->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

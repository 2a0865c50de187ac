/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/op_cases.c -- see op_cases.h. */
#include "tests/support/op_cases.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "runtime/problem_text.h"

/* Extents of the required parameters, in catalogue order. */
#define WIDTH 7
static const int64_t one[][1] = {{0}, {1}, {7}, {8}, {31}, {97}, {4099}, {9001}};
static const int64_t many[][WIDTH] = {
    {0, 5, 3, 2, 4, 2, 1},     {5, 0, 3, 2, 7, 1, 2},    {3, 5, 0, 2, 4, 1, 1},
    {3, 2, 5, 0, 4, 1, 1},     {1, 1, 1, 1, 1, 1, 1},    {3, 7, 2, 5, 0, 2, 3},
    {5, 33, 1, 3, 7, 1, 2},    {13, 131, 4, 7, 9, 3, 1}, {3, 1009, 5, 2, 5, 3, 2},
    {1, 17001, 1, 1, 3, 1, 1}, {2, 3, 257, 40, 5, 3, 3}};
#define ONE  (sizeof one / sizeof *one)
#define MANY (sizeof many / sizeof *many)

static bool is_extent(const assay_param_info *p)
{
    return !p->has_default && p->kind == ASSAY_KIND_INT;
}

static size_t extents(const assay_op_info *info)
{
    size_t n = 0;

    for (size_t i = 0; i < info->param_count; i++)
        n += is_extent(&info->params[i]);
    return n;
}

static size_t values(const assay_param_info *p)
{
    size_t len, n = 0;

    while (p->kind == ASSAY_KIND_ENUM && assay__list_item(p->values, n, &len) != NULL)
        n++;
    return n > 0 ? n : 1;
}

static void text_of(assay_op_id op, size_t index, char text[OP_CASE_TEXT]);

/* Of T and the first dtype beside it that the op takes. */
static assay_problem empty_of(assay_op_id op, assay_dtype t)
{
    const assay_op_info *info = assay_op_get(op);
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    assay__rule_types types;
    assay_problem p;

    if (assay_problem_init(op, t, &p) == ASSAY_OK)
        return p;
    for (size_t i = 0; assay__op_types(info, i, &types); i++)
        if (types.t == t) {
            ck_assert(assay_op_tuple(op, i, dtypes));
            ck_assert_int_eq(assay_problem_init_tuple(op, dtypes, info->inputs + info->outputs, &p),
                             ASSAY_OK);
            return p;
        }
    ck_abort_msg("%s takes no %s", info->name, assay_dtype_name(t));
}

/* What the catalogue's requirements refuse is no case. */
static bool is_valid(assay_op_id op, size_t index)
{
    char text[OP_CASE_TEXT], *rest = text;
    assay_problem p = empty_of(op, ASSAY_F32);

    text_of(op, index, text);
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(item, '=');
        *value++ = '\0';
        ck_assert_int_eq(assay_problem_set(&p, item, value), ASSAY_OK);
    }
    return assay_problem_check(&p) == ASSAY_OK;
}

static size_t raw_count(assay_op_id op)
{
    return extents(assay_op_get(op)) == 1 ? ONE : MANY;
}

size_t op_case_count(assay_op_id op)
{
    size_t n = 0;

    for (size_t i = 0; i < raw_count(op); i++)
        n += is_valid(op, i);
    return n;
}

void op_case_text(assay_op_id op, size_t index, char text[OP_CASE_TEXT])
{
    for (size_t i = 0; i < raw_count(op); i++)
        if (is_valid(op, i) && index-- == 0) {
            text_of(op, i, text);
            return;
        }
    ck_abort_msg("no such case");
}

static void text_of(assay_op_id op, size_t index, char text[OP_CASE_TEXT])
{
    const assay_op_info *info = assay_op_get(op);
    bool single = extents(info) == 1;
    size_t used = 0, at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < info->param_count; i++) {
        const assay_param_info *p = &info->params[i];
        const char *comma = used > 0 ? "," : "";
        size_t len;
        if (is_extent(p)) {
            ck_assert_uint_lt(at, WIDTH);
            used += (size_t)snprintf(text + used, OP_CASE_TEXT - used, "%s%s=%ld", comma, p->name,
                                     (long)(single ? one[index][0] : many[index][at]));
            at++;
        } else if (p->kind == ASSAY_KIND_ENUM) {
            const char *name = assay__list_item(p->values, index % values(p), &len);
            used += (size_t)snprintf(text + used, OP_CASE_TEXT - used, "%s%s=%.*s", comma, p->name,
                                     (int)len, name);
        }
        ck_assert_uint_lt(used, OP_CASE_TEXT);
    }
}

static assay_problem with_extents(const assay_problem *empty)
{
    /* The second where a requirement refuses the first. */
    static const int64_t extent[][WIDTH] = {{48, 100, 17, 5, 12, 3, 2}, {2, 8, 4, 19, 17, 24, 2}};
    const assay_op_info *info = assay_op_get((assay_op_id)empty->op);
    assay_status status = ASSAY_INVALID;
    assay_problem p = *empty;

    for (size_t row = 0; row < 2 && status != ASSAY_OK; row++) {
        size_t at = 0;
        p = *empty;
        for (size_t i = 0; i < info->param_count; i++)
            if (is_extent(&info->params[i]))
                ck_assert_int_eq(
                    assay_problem_set_int(&p, info->params[i].name,
                                          extents(info) == 1 ? 10000 : extent[row][at++]),
                    ASSAY_OK);
        status = assay_problem_check(&p);
    }
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
    return p;
}

assay_problem op_case_example(assay_op_id op, assay_dtype dtype)
{
    const assay_problem empty = empty_of(op, dtype);

    return with_extents(&empty);
}

assay_problem op_case_example_of(assay_op_id op, const uint8_t *dtypes, size_t count)
{
    assay_dtype tuple[ASSAY_MAX_OPERANDS];
    assay_problem empty;

    for (size_t i = 0; i < count; i++)
        tuple[i] = (assay_dtype)dtypes[i];
    ck_assert_int_eq(assay_problem_init_tuple(op, tuple, count, &empty), ASSAY_OK);
    return with_extents(&empty);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_problem.c -- small problems of any op, made from its catalogue row. */
#include <stdio.h>
#include <string.h>

#include "conform/conform_case.h"

/* Extents of the required parameters, in catalogue order. */
enum { WIDTH = 7 };
static const int64_t one[][1] = {{0}, {1}, {7}, {8}, {31}, {97}, {1003}};
static const int64_t many[][WIDTH] = {
    {0, 5, 3, 2, 4, 2, 1},   {5, 0, 3, 2, 7, 1, 2},   {3, 5, 0, 2, 4, 1, 1},
    {3, 2, 5, 0, 4, 1, 1},   {1, 1, 1, 1, 1, 1, 1},   {3, 7, 2, 5, 6, 2, 3},
    {5, 33, 1, 3, 7, 1, 2},  {13, 31, 4, 7, 9, 3, 1}, {2, 6, 3, 9, 7, 3, 2},
    {1, 401, 1, 1, 3, 1, 1}, {2, 3, 65, 20, 5, 3, 3}, {1, 4, 2, 5, 9, 8, 1}};
/* Many lines to sum or to look along; the second for what wants the one extent in the other.  Of a
 * single extent: more than there are pairs of special values. */
enum { WIDE_ONE = 2200 };
static const int64_t wide[][WIDTH] = {{50, 33, 5, 9, 7, 2, 1}, {12, 6, 3, 9, 7, 3, 2}};
enum { ONE = sizeof one / sizeof one[0], MANY = sizeof many / sizeof many[0] };

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

/* Of row `row` of the tables above, and those of `wide` behind them. */
static int64_t extent_of(bool is_single, size_t row, size_t extent)
{
    if (row >= MANY)
        return is_single ? WIDE_ONE : wide[row - MANY][extent];
    return is_single ? one[row][0] : many[row][extent];
}

static size_t names(const char *values)
{
    size_t count = 1;

    for (; *values != '\0'; values++)
        count += *values == '|';
    return count;
}

/* Name number `index` of an enumeration, from the begin again past the last. */
static void enum_name(const char *values, size_t index, char *buf, size_t cap)
{
    for (index %= names(values); index > 0; index--)
        values = strchr(values, '|') + 1;
    (void)snprintf(buf, cap, "%.*s", (int)strcspn(values, "|"), values);
}

static assay_status set_params(const assay_op_info *info, size_t row, assay_problem *p)
{
    const bool is_single = extents(info) == 1;
    size_t extent = 0, rest = row < MANY ? row : 0; /* of which enumerations take turns */

    for (size_t i = 0; i < info->param_count; i++) {
        const assay_param_info *param = &info->params[i];
        char name[64];
        if (is_extent(param)) {
            if (extent >= WIDTH)
                return ASSAY_INVALID;
            ASSAY_TRY(assay_problem_set_int(p, param->name, extent_of(is_single, row, extent)));
            extent++;
        } else if (param->kind == ASSAY_KIND_ENUM) {
            enum_name(param->values, rest, name, sizeof name);
            rest /= names(param->values);
            ASSAY_TRY(assay_problem_set(p, param->name, name));
        } else if (row % 2 == 1 && strncmp(param->name, "pad_", 4) == 0) {
            ASSAY_TRY(assay_problem_set_int(p, param->name, 1));
        } else if (row % 3 == 2 && strncmp(param->name, "stride_", 7) == 0) {
            ASSAY_TRY(assay_problem_set_int(p, param->name, 2));
        } else if (row % 2 == 1 && strcmp(param->name, "batch") == 0) {
            ASSAY_TRY(assay_problem_set_int(p, param->name, 3));
        } else if (row % 3 == 1 && strcmp(param->name, "alpha") == 0) {
            ASSAY_TRY(assay_problem_set_real(p, param->name, 1.5));
        } else if (row % 3 == 1 && strcmp(param->name, "beta") == 0) {
            ASSAY_TRY(assay_problem_set_real(p, param->name, -0.5));
        }
    }
    return assay_problem_check(p); /* what the catalogue's requirements refuse is no case */
}

static bool make_row(assay_op_id op, const uint8_t *dtypes, size_t dtype_count, size_t row,
                     assay_problem *out)
{
    assay_dtype tuple[ASSAY_MAX_OPERANDS];

    for (size_t i = 0; i < dtype_count; i++)
        tuple[i] = (assay_dtype)dtypes[i];
    return assay_problem_init_tuple(op, tuple, dtype_count, out) == ASSAY_OK &&
           set_params(assay_op_get(op), row, out) == ASSAY_OK;
}

bool assay__case_problem(assay_op_id op, const uint8_t *dtypes, size_t dtype_count, size_t index,
                         assay_problem *out)
{
    const size_t rows = extents(assay_op_get(op)) == 1 ? ONE : MANY;

    for (size_t row = 0; row < rows; row++)
        if (make_row(op, dtypes, dtype_count, row, out) && index-- == 0)
            return true;
    return false;
}

bool assay__case_wide_problem(assay_op_id op, const uint8_t *dtypes, size_t dtype_count,
                              assay_problem *out)
{
    for (size_t row = MANY; row < MANY + sizeof wide / sizeof wide[0]; row++)
        if (make_row(op, dtypes, dtype_count, row, out))
            return true;
    return false;
}

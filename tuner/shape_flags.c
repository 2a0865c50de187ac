/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shape_flags.c -- --op, --dtype and --shape with lists and ranges. */
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/number.h"
#include "support/str.h"
#include "tuner/shape_dtypes.h"

#define MAX_VALUES 100000

assay_status assay__shape_dtypes(assay_op_id op, const char *text, assay_problem *out)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    assay__strlist list = {0};
    assay_status status = assay__strlist_split(&list, text, ',');

    if (status == ASSAY_OK && list.count > ASSAY_MAX_OPERANDS)
        status = assay__fail(ASSAY_INVALID, "'%s': more than %d dtypes", text, ASSAY_MAX_OPERANDS);
    for (size_t i = 0; status == ASSAY_OK && i < list.count; i++)
        status = assay_dtype_parse(list.items[i], &dtypes[i]);
    if (status == ASSAY_OK)
        status = list.count == 1 ? assay_problem_init(op, dtypes[0], out)
                                 : assay_problem_init_tuple(op, dtypes, list.count, out);
    assay__strlist_clear(&list);
    return status;
}

static assay_status add_number(assay__strlist *values, int64_t v)
{
    assay__str s = {0};
    assay_status status;

    if (values->count >= MAX_VALUES)
        return assay__fail(ASSAY_OVERFLOW, "a range gives more than %d values", MAX_VALUES);
    assay__str_addf(&s, "%lld", (long long)v);
    status = assay__strlist_add(values, assay__str_text(&s));
    assay__str_clear(&s);
    return status;
}

/* "64..4096*2" or "1..9+2" or "1..4". */
static assay_status expand_range(const char *item, const char *dots, assay__strlist *values)
{
    char first[32], last[32];
    size_t step_at = strcspn(dots + 2, "*+");
    char kind = dots[2 + step_at];
    int64_t from, to, step = 1;

    if ((size_t)(dots - item) >= sizeof first || step_at >= sizeof last)
        return assay__fail(ASSAY_INVALID, "range '%s' is too long", item);
    memcpy(first, item, (size_t)(dots - item));
    first[dots - item] = '\0';
    memcpy(last, dots + 2, step_at);
    last[step_at] = '\0';
    ASSAY_TRY(assay__parse_int(first, 0, ASSAY_EXTENT_MAX, &from));
    ASSAY_TRY(assay__parse_int(last, 0, ASSAY_EXTENT_MAX, &to));
    if (kind != '\0')
        ASSAY_TRY(assay__parse_int(dots + 3 + step_at, 1, ASSAY_EXTENT_MAX, &step));
    if (from > to || (kind == '*' && (step < 2 || from < 1)))
        return assay__fail(ASSAY_INVALID, "range '%s' does not grow; write a..b*2 or a..b+1", item);
    for (int64_t v = from; v <= to; v = kind == '*' ? v * step : v + step)
        ASSAY_TRY(add_number(values, v));
    return ASSAY_OK;
}

static assay_status expand_values(const char *text, assay__strlist *values)
{
    assay__strlist items = {0};
    assay_status status = assay__strlist_split(&items, text, '|');

    for (size_t i = 0; status == ASSAY_OK && i < items.count; i++) {
        const char *dots = strstr(items.items[i], "..");
        status = dots != NULL ? expand_range(items.items[i], dots, values)
                              : assay__strlist_add(values, items.items[i]);
    }
    assay__strlist_clear(&items);
    return status;
}

/* Walks the product of the terms from `term` on. */
static assay_status walk(assay__shape_set *set, const assay__strlist *terms, size_t term,
                         const assay_problem *so_far)
{
    static const assay__shape_use once = {.count = 1};
    assay__strlist values = {0};
    assay_problem problem = *so_far;
    assay_status status;
    char name[64];
    const char *eq;

    if (term == terms->count) {
        ASSAY_TRY(assay_problem_check(&problem));
        return assay__shapes_push(set, &problem, &once);
    }
    eq = strchr(terms->items[term], '=');
    if (eq == NULL || (size_t)(eq - terms->items[term]) >= sizeof name)
        return assay__fail(ASSAY_INVALID, "--shape: '%s' is no name=value", terms->items[term]);
    memcpy(name, terms->items[term], (size_t)(eq - terms->items[term]));
    name[eq - terms->items[term]] = '\0';
    status = expand_values(eq + 1, &values);
    for (size_t i = 0; status == ASSAY_OK && i < values.count; i++) {
        status = assay_problem_set(&problem, name, values.items[i]);
        if (status == ASSAY_OK)
            status = walk(set, terms, term + 1, &problem);
    }
    assay__strlist_clear(&values);
    return status;
}

static assay_status check_repeats(const assay__strlist *terms)
{
    for (size_t i = 0; i < terms->count; i++) {
        const size_t length = strcspn(terms->items[i], "=");
        for (size_t j = 0; j < i; j++)
            if (strcspn(terms->items[j], "=") == length &&
                strncmp(terms->items[i], terms->items[j], length) == 0)
                return assay__fail(ASSAY_INVALID, "--shape: %.*s is given twice", (int)length,
                                   terms->items[i]);
    }
    return ASSAY_OK;
}

assay_status assay__shapes_add_flags(assay__shape_set *set, const char *op, const char *dtype,
                                     const char *shape)
{
    assay__strlist dtypes = {0}, terms = {0};
    assay_op_id id;
    assay_status status;

    if (op == NULL || dtype == NULL || shape == NULL)
        return assay__fail(ASSAY_INVALID, "--op, --dtype and --shape go together; or use --shapes");
    ASSAY_TRY(assay_op_find(op, &id));
    status = assay__strlist_split(&dtypes, dtype, '|');
    if (status == ASSAY_OK)
        status = assay__strlist_split(&terms, shape, ',');
    if (status == ASSAY_OK)
        status = check_repeats(&terms);
    for (size_t i = 0; status == ASSAY_OK && i < dtypes.count; i++) {
        assay_problem first;
        status = assay__shape_dtypes(id, dtypes.items[i], &first);
        if (status == ASSAY_OK)
            status = walk(set, &terms, 0, &first);
    }
    assay__strlist_clear(&dtypes);
    assay__strlist_clear(&terms);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shape_set.c -- growing a set, and reading CSV rows into it. */
#include "tuner/shape_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/csv_reader.h"
#include "support/str.h"
#include "tuner/shape_dtypes.h"

#define MAX_COLUMNS 64
#define MAX_SHAPES  2000000u

void assay__shapes_clear(assay__shape_set *set)
{
    free(set->items);
    free(set->uses);
    free(set->skipped);
    memset(set, 0, sizeof *set);
}

static assay_status grow(void **items, size_t count, size_t *cap, size_t size)
{
    size_t bigger = *cap > 0 ? *cap * 2 : 64;
    void *p;

    if (count < *cap)
        return ASSAY_OK;
    if (bigger > MAX_SHAPES * 2)
        return assay__fail(ASSAY_OVERFLOW, "more than %u problems; split the set", MAX_SHAPES);
    p = realloc(*items, bigger * size);
    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "shape set of %zu problems", bigger);
    *items = p;
    *cap = bigger;
    return ASSAY_OK;
}

/* The problem's index; added when it is not there. */
static assay_status find_or_add(assay__shape_set *set, const assay_problem *problem, size_t *out)
{
    for (size_t i = 0; i < set->count; i++) {
        if (assay_problem_equal(&set->items[i].problem, problem)) {
            set->duplicates++;
            *out = i;
            return ASSAY_OK;
        }
    }
    void *items = set->items;
    ASSAY_TRY(grow(&items, set->count, &set->cap, sizeof *set->items));
    set->items = items;
    set->items[set->count] = (assay__shape){.problem = *problem};
    *out = set->count++;
    return ASSAY_OK;
}

static assay__shape_use *find_use(const assay__shape_set *set, const assay__shape_use *like)
{
    for (size_t i = 0; i < set->use_count; i++)
        if (set->uses[i].shape == like->shape && strcmp(set->uses[i].set, like->set) == 0 &&
            strcmp(set->uses[i].name, like->name) == 0)
            return &set->uses[i];
    return NULL;
}

assay_status assay__shapes_push(assay__shape_set *set, const assay_problem *problem,
                                const assay__shape_use *use)
{
    const size_t distinct = set->count;
    assay__shape_use one = *use;

    ASSAY_TRY(find_or_add(set, problem, &one.shape));
    assay__shape_use *same = one.shape < distinct ? find_use(set, &one) : NULL;
    set->items[one.shape].count += one.count;
    if (same != NULL) {
        same->count += one.count;
        return ASSAY_OK;
    }
    void *uses = set->uses;
    ASSAY_TRY(grow(&uses, set->use_count, &set->use_cap, sizeof *set->uses));
    set->uses = uses;
    set->uses[set->use_count++] = one;
    return ASSAY_OK;
}

assay_status assay__shapes_skip(assay__shape_set *set, size_t line, const char *reason)
{
    void *items = set->skipped;

    ASSAY_TRY(grow(&items, set->skipped_count, &set->skipped_cap, sizeof *set->skipped));
    set->skipped = items;
    set->skipped[set->skipped_count].line = line;
    (void)snprintf(set->skipped[set->skipped_count].reason, sizeof set->skipped[0].reason, "%s",
                   reason);
    set->skipped_count++;
    return ASSAY_OK;
}

/* ---- CSV ---- */

static const char *const alias_rows[] = {"nrows", "row_count", NULL};
static const char *const alias_trans_a[] = {"a_t", "transa", NULL};
static const char *const alias_trans_b[] = {"b_t", "transb", NULL};
static const char *const alias_batch[] = {"batch_count", NULL};
static const char *const alias_dtype[] = {"dtypes", NULL};

static const struct alias {
    const char *name;
    const char *const *aliases;
} aliases[] = {
    {"rows", alias_rows},
    {"trans_a", alias_trans_a},
    {"trans_b", alias_trans_b},
    {"batch", alias_batch},
};

static const char *const *aliases_of(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return aliases[i].aliases;
    return NULL;
}

static bool has_column(const assay__csv_column *columns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0)
            return true;
    return false;
}

/* Every parameter of every op is a known column. */
static size_t known_columns(assay__csv_column *columns, bool needs_op, bool needs_dtype)
{
    size_t n = 0;

    columns[n++] = (assay__csv_column){"op", NULL, needs_op};
    columns[n++] = (assay__csv_column){"dtype", alias_dtype, needs_dtype};
    columns[n++] = (assay__csv_column){"set", NULL, false};
    columns[n++] = (assay__csv_column){"name", NULL, false};
    columns[n++] = (assay__csv_column){"count", NULL, false};
    columns[n++] = (assay__csv_column){"source", NULL, false};
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const assay_op_info *info = assay_op_get((assay_op_id)op);
        for (size_t i = 0; i < info->param_count && n < MAX_COLUMNS; i++)
            if (!has_column(columns, n, info->params[i].name))
                columns[n++] = (assay__csv_column){info->params[i].name,
                                                   aliases_of(info->params[i].name), false};
    }
    return n;
}

static const char *cell(const assay__csv *csv, size_t row, const char *column)
{
    ptrdiff_t col = assay__csv_find(csv, column);

    return col >= 0 ? assay__csv_cell(csv, row, (size_t)col) : "";
}

static bool is_label(const char *column)
{
    static const char *const labels[] = {"op", "dtype", "set", "name", "count", "source"};

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (strcmp(labels[i], column) == 0)
            return true;
    return false;
}

/* "b" is the batch of ops that have no parameter b of their own. */
static const char *param_of(const assay_problem *p, const char *column)
{
    bool is_batch = strcmp(column, "b") == 0 && assay_op_param_index((assay_op_id)p->op, "b") < 0 &&
                    assay_op_param_index((assay_op_id)p->op, "batch") >= 0;

    return is_batch ? "batch" : column;
}

static assay_status set_params(const assay__csv *csv, size_t row, assay_problem *p)
{
    for (size_t col = 0; col < csv->ncols; col++) {
        const char *text = assay__csv_cell(csv, row, col);
        if (is_label(csv->header[col]) || text[0] == '\0')
            continue;
        if (assay_problem_set(p, param_of(p, csv->header[col]), text) != ASSAY_OK)
            return assay__csv_fail(csv, row, col, "%s", assay_last_error());
    }
    if (assay_problem_check(p) != ASSAY_OK)
        return assay__csv_fail(csv, row, 0, "%s", assay_last_error());
    return ASSAY_OK;
}

/* A cut name would make one row of two. */
static assay_status copy_label(const assay__csv *csv, size_t row, const char *column, char *out,
                               size_t cap)
{
    const char *text = cell(csv, row, column);

    if (strlen(text) >= cap)
        return assay__csv_fail(csv, row, (size_t)assay__csv_find(csv, column),
                               "longer than %zu bytes; shorten it", cap - 1);
    memcpy(out, text, strlen(text) + 1);
    return ASSAY_OK;
}

static assay_status row_labels(const assay__csv *csv, size_t row, assay__shape_use *use)
{
    ptrdiff_t count = assay__csv_find(csv, "count");

    *use = (assay__shape_use){.count = 1, .line = csv->lines[row]};
    if (count >= 0 && assay__csv_cell(csv, row, (size_t)count)[0] != '\0')
        ASSAY_TRY(assay__csv_real(csv, row, (size_t)count, 0, 1e18, &use->count));
    ASSAY_TRY(copy_label(csv, row, "set", use->set, sizeof use->set));
    ASSAY_TRY(copy_label(csv, row, "name", use->name, sizeof use->name));
    return copy_label(csv, row, "source", use->source, sizeof use->source);
}

/* Blames the cell that holds the dtype; with --dtype there may be none. */
static assay_status fail_dtype(const assay__csv *csv, size_t row)
{
    const ptrdiff_t at = assay__csv_find(csv, "dtype");

    return assay__csv_fail(csv, row, at < 0 ? 0 : (size_t)at, "dtype: %s", assay_last_error());
}

/* One problem a dtype alternative.  A dtype that the op does not take is a skip, not an error. */
static assay_status add_row(assay__shape_set *set, const assay__csv *csv, size_t row,
                            assay_op_id op, const char *dtype)
{
    assay_problem problem;
    assay__shape_use use;
    assay__strlist list = {0};
    assay_status status = assay__strlist_split(&list, dtype, '|');

    if (status != ASSAY_OK)
        return fail_dtype(csv, row);
    for (size_t i = 0; status == ASSAY_OK && i < list.count; i++) {
        status = assay__shape_dtypes(op, list.items[i], &problem);
        if (status == ASSAY_UNSUPPORTED) {
            status = assay__shapes_skip(set, csv->lines[row], assay_last_error());
            continue;
        }
        if (status != ASSAY_OK)
            status = fail_dtype(csv, row);
        if (status == ASSAY_OK)
            status = set_params(csv, row, &problem);
        if (status == ASSAY_OK)
            status = row_labels(csv, row, &use);
        if (status == ASSAY_OK)
            status = assay__shapes_push(set, &problem, &use);
    }
    assay__strlist_clear(&list);
    return status;
}

static assay_status add_rows(assay__shape_set *set, const assay__csv *csv, const char *op,
                             const char *dtype)
{
    for (size_t row = 0; row < csv->nrows; row++) {
        const char *row_op = cell(csv, row, "op"), *row_dtype = cell(csv, row, "dtype");
        assay_op_id id;

        if (row_op[0] == '\0' && op != NULL)
            row_op = op;
        if (assay_op_find(row_op, &id) != ASSAY_OK)
            return assay__csv_fail(csv, row, 0, "%s", assay_last_error());
        if (op != NULL && strcmp(row_op, op) != 0)
            continue;
        if (dtype != NULL)
            row_dtype = dtype;
        if (row_dtype[0] == '\0')
            return assay__csv_fail(csv, row, 0, "no dtype; fill the column or pass --dtype");
        ASSAY_TRY(add_row(set, csv, row, id, row_dtype));
    }
    return ASSAY_OK;
}

assay_status assay__shapes_add_csv(assay__shape_set *set, const char *path, const char *op,
                                   const char *dtype)
{
    assay__csv_column columns[MAX_COLUMNS];
    const assay__csv_spec spec = {columns, known_columns(columns, op == NULL, dtype == NULL), false,
                                  false};
    assay__csv csv;
    assay_status status;

    ASSAY_TRY(assay__csv_read(path, &spec, &csv));
    status = add_rows(set, &csv, op, dtype);
    assay__csv_clear(&csv);
    return status;
}

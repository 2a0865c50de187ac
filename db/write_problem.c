/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_problem.c -- table problem. */
#include <math.h>
#include <stdio.h>

#include "db/write.h"
#include "runtime/error.h"

enum { PROBLEM_FIND, PROBLEM_PUT };

const assay__sql assay__sql_problem[] = {
    [PROBLEM_FIND] = {"problem find", "SELECT id FROM problem WHERE text = ?1", 0},
    [PROBLEM_PUT] = {"problem put",
                     "INSERT INTO problem (text, op, dtypes, cost_text, flops, moved_bytes)"
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
                     0},
    {NULL, NULL, 0},
};

/* "op dtype,dtype ..." -> "dtype,dtype". */
static void cut_dtypes(const char *text, char *out, size_t cap)
{
    const char *from = text;

    while (*from != ' ' && *from != '\0')
        from++;
    if (*from == ' ')
        from++;
    size_t used = 0;
    while (from[used] != ' ' && from[used] != '\0' && used + 1 < cap) {
        out[used] = from[used];
        used++;
    }
    out[used] = '\0';
}

static assay_status insert_problem(assay__db *db, const assay_problem *p, const char *text,
                                   int64_t *out)
{
    assay__query q;
    char cost[ASSAY_PROBLEM_TEXT_MAX], dtypes[128];
    double flops = 0.0, bytes = 0.0;

    if (assay_problem_format(p, ASSAY_TEXT_COST, cost, sizeof cost) == 0)
        return assay__fail(ASSAY_INTERNAL, "problem: its text is too long for the store");
    cut_dtypes(text, dtypes, sizeof dtypes);
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_problem[PROBLEM_PUT], &q));
    assay__bind_text(&q, text);
    assay__bind_text(&q, assay_op_get((assay_op_id)p->op)->name);
    assay__bind_text(&q, dtypes);
    assay__bind_text(&q, cost);
    assay__bind_real(&q, assay_problem_flops(p, &flops) ? flops : (double)NAN);
    assay__bind_real(&q, assay_problem_bytes(p, &bytes) ? bytes : (double)NAN);
    return assay__query_id(&q, out);
}

static assay_status put_problem(assay__db *db, const assay_problem *p, int64_t *out)
{
    assay__query q;
    char text[ASSAY_PROBLEM_TEXT_MAX];
    int64_t id = 0;

    if (assay_op_get((assay_op_id)p->op) == NULL)
        return assay__fail(ASSAY_INVALID, "problem: op %u is not in the catalogue", p->op);
    if (assay_problem_format(p, ASSAY_TEXT_ACCURACY, text, sizeof text) == 0)
        return assay__fail(ASSAY_INTERNAL, "problem: its text is too long for the store");
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_problem[PROBLEM_FIND], &q));
    assay__bind_text(&q, text);
    if (assay__query_step(&q))
        id = assay__column_int(&q);
    ASSAY_TRY(assay__query_done(&q));
    if (id == 0)
        ASSAY_TRY(insert_problem(db, p, text, &id));
    *out = id;
    return ASSAY_OK;
}

assay_status assay__db_put_problem(assay__db *db, const assay_problem *p, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_problem(db, p, out));
}

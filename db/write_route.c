/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_route.c -- table route. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/write.h"
#include "runtime/error.h"

enum { ROUTE_RETIRE, ROUTE_PUT, ROUTE_FIND, ROUTE_CANDIDATES, ROUTE_ALIKE };

const assay__sql assay__sql_route[] = {
    [ROUTE_RETIRE] = {"route retire",
                      "UPDATE route SET superseded_utc = ?6 WHERE deployment = ?1"
                      " AND problem = ?2 AND layout = ?3 AND align = ?4 AND policy = ?5"
                      " AND superseded_utc IS NULL",
                      0},
    [ROUTE_PUT] = {"route put",
                   "INSERT INTO route (deployment, problem, layout, align, policy, decided_utc,"
                   " sweep, winner_revision, searched, total, stop_reason, candidate_count,"
                   " candidates) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                   0},
    [ROUTE_FIND] = {"route find",
                    "SELECT ifnull(t.winner_revision, 0), s.profile, CASE WHEN"
                    " json_valid(s.settings_json) THEN s.settings_json ->> 'problem_s' END,"
                    " t.stop_reason"
                    " FROM route AS t CROSS JOIN sweep AS s ON s.id = t.sweep"
                    " WHERE t.deployment = ?1 AND t.problem = ?2 AND t.layout = ?3"
                    " AND t.align = ?4 AND t.policy = ?5 AND t.superseded_utc IS NULL",
                    0},
    [ROUTE_CANDIDATES] = {"route candidates",
                          "SELECT candidates FROM route WHERE deployment = ?1 AND problem = ?2"
                          " AND layout = ?3 AND align = ?4 AND policy = ?5"
                          " AND superseded_utc IS NULL",
                          0},
    [ROUTE_ALIKE] = {"route alike",
                     "SELECT p.text, t.candidates FROM route AS t CROSS JOIN problem AS p"
                     " ON p.id = t.problem WHERE t.deployment = ?1 AND t.layout = ?2"
                     " AND t.align = ?3 AND t.policy = ?4 AND t.superseded_utc IS NULL"
                     " AND p.op = ?5 AND p.dtypes = ?6 LIMIT 5000",
                     0},
    {NULL, NULL, 0},
};

static void bind_key(assay__query *q, const assay__db_route *r)
{
    assay__bind_int(q, r->deployment);
    assay__bind_int(q, r->problem);
    assay__bind_text(q, r->layout);
    assay__bind_int(q, r->align);
    assay__bind_text(q, r->policy);
}

static assay_status put_route(assay__db *db, const assay__db_route *r)
{
    assay__query q;
    const char *now = assay__db_now(db);

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_route[ROUTE_RETIRE], &q));
    bind_key(&q, r);
    assay__bind_text(&q, now);
    ASSAY_TRY(assay__query_id(&q, NULL));
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_route[ROUTE_PUT], &q));
    bind_key(&q, r);
    assay__bind_text(&q, now);
    assay__bind_int(&q, r->sweep);
    assay__bind_id(&q, r->winner_revision);
    assay__bind_int(&q, r->searched);
    assay__bind_int(&q, r->total);
    assay__bind_word(&q, r->stop_reason);
    assay__bind_int(&q, (int64_t)r->candidate_count);
    assay__bind_blob(&q, r->candidates, r->candidate_count * sizeof *r->candidates);
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_route(assay__db *db, const assay__db_route *r)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_route(db, r));
}

assay_status assay__db_find_route(assay__db *db, const assay__db_route *key,
                                  assay__db_known_route *out)
{
    assay__db_known_route route = {.problem_s = (double)NAN};
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_route[ROUTE_FIND], &q));
    bind_key(&q, key);
    if (assay__query_step(&q)) {
        route.found = 1;
        route.winner_revision = assay__column_int(&q);
        (void)snprintf(route.profile, sizeof route.profile, "%s", assay__column_text(&q));
        route.problem_s = assay__column_real(&q);
        (void)snprintf(route.stop_reason, sizeof route.stop_reason, "%s", assay__column_text(&q));
    }
    ASSAY_TRY(assay__query_done(&q));
    *out = route;
    return ASSAY_OK;
}

assay_status assay__db_route_candidates(assay__db *db, const assay__db_route *key,
                                        assay__route_candidate **out, size_t *count)
{
    assay__query q;
    assay__route_candidate *copy = NULL;
    size_t size = 0;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_route[ROUTE_CANDIDATES], &q));
    bind_key(&q, key);
    if (assay__query_step(&q)) {
        const void *bytes = assay__column_blob(&q, &size);
        copy = malloc(size > 0 ? size : 1);
        if (copy != NULL && size > 0)
            memcpy(copy, bytes, size);
    }
    assay_status status = assay__query_done(&q);
    if (status == ASSAY_OK && size > 0 && copy == NULL)
        status = assay__fail(ASSAY_NOMEM, "candidates of a route");
    if (status != ASSAY_OK) {
        free(copy);
        return status;
    }
    *out = copy;
    *count = size / sizeof *copy;
    return ASSAY_OK;
}

/* Calls `row` for the one at which the query stands. */
static assay_status tell_alike(assay__query *q, assay__db_alike_fn row, void *cookie)
{
    size_t size = 0;
    const char *text = assay__column_text(q);
    const void *bytes = assay__column_blob(q, &size);
    assay__route_candidate *copy = malloc(size > 0 ? size : 1); /* blobs lie at any address */
    assay_status status;

    if (copy == NULL)
        return assay__fail(ASSAY_NOMEM, "candidates of a route");
    if (size > 0)
        memcpy(copy, bytes, size);
    status = row(cookie, text, copy, size / sizeof *copy);
    free(copy);
    return status;
}

assay_status assay__db_each_route_alike(assay__db *db, const assay__db_route *key, const char *op,
                                        const char *dtypes, assay__db_alike_fn row, void *cookie)
{
    assay_status status = ASSAY_OK;
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_route[ROUTE_ALIKE], &q));
    assay__bind_int(&q, key->deployment);
    assay__bind_text(&q, key->layout);
    assay__bind_int(&q, key->align);
    assay__bind_text(&q, key->policy);
    assay__bind_text(&q, op);
    assay__bind_text(&q, dtypes);
    while (status == ASSAY_OK && assay__query_step(&q))
        status = tell_alike(&q, row, cookie);
    const assay_status done = assay__query_done(&q);
    return status != ASSAY_OK ? status : done;
}

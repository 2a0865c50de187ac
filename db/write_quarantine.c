/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_quarantine.c -- table quarantine. */
#include <stdio.h>

#include "db/write.h"
#include "runtime/error.h"

enum {
    QUARANTINE_PUT,
    QUARANTINE_FIND,
    QUARANTINE_LIFT,
    QUARANTINE_ANY,
    QUARANTINE_ASKED,
    QUARANTINE_FAILURES
};

const assay__sql assay__sql_quarantine[] = {
    [QUARANTINE_PUT] = {"quarantine put",
                        "INSERT INTO quarantine (deployment, revision, problem, reason, since_utc)"
                        " VALUES (?1, ?2, ?3, ?4, ?5)"
                        " ON CONFLICT (deployment, revision, ifnull(problem, 0)) DO UPDATE SET"
                        " reason = excluded.reason",
                        0},
    [QUARANTINE_FIND] = {"quarantine find",
                         "SELECT reason FROM quarantine WHERE deployment = ?1 AND revision = ?2"
                         " AND ifnull(problem, 0) IN (0, ?3)"
                         " ORDER BY problem IS NOT NULL LIMIT 1",
                         0},
    [QUARANTINE_LIFT] = {"quarantine lift",
                         "DELETE FROM quarantine WHERE deployment = ?1 AND revision = ?2"
                         " AND ifnull(problem, 0) = ?3",
                         0},
    [QUARANTINE_ANY] = {"quarantine any",
                        "SELECT 1 FROM quarantine WHERE deployment = ?1"
                        " AND reason LIKE '%can_run_fn%' LIMIT 1",
                        0},
    [QUARANTINE_ASKED] = {"quarantine asked",
                          "SELECT 1 FROM problem AS p"
                          " CROSS JOIN revision AS r ON r.variant_revision = ?2"
                          " CROSS JOIN quarantine AS q ON q.deployment = ?1 AND q.revision = r.id"
                          "  AND ifnull(q.problem, 0) = p.id"
                          " WHERE p.text = ?3 AND q.reason LIKE '%can_run_fn%' LIMIT 1",
                          0},
    [QUARANTINE_FAILURES] =
        {"quarantine failures",
         "SELECT count(*), EXISTS (SELECT 1 FROM measurement AS m"
         "  WHERE m.deployment = ?1 AND m.revision = ?2"
         "    AND m.verdict IN ('ok', 'noisy', 'throttled'))"
         " FROM quarantine AS q WHERE q.deployment = ?1 AND q.revision = ?2"
         " AND EXISTS (SELECT 1 FROM measurement AS m"
         "  WHERE m.deployment = q.deployment AND m.revision = q.revision"
         "    AND m.problem = q.problem AND m.verdict IN ('crashed', 'timeout'))",
         0},
    {NULL, NULL, 0},
};

static assay_status put_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                   int64_t problem, const char *reason)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_PUT], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_id(&q, problem);
    assay__bind_word(&q, reason);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t problem, const char *reason)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_quarantine(db, revision, deployment, problem, reason));
}

static assay_status lift_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                    int64_t problem)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_LIFT], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_int(&q, problem);
    return assay__query_id(&q, NULL);
}

assay_status assay__db_lift_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                       int64_t problem)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, lift_quarantine(db, revision, deployment, problem));
}

assay_status assay__db_find_quarantine(assay__db *db, int64_t revision, int64_t deployment,
                                       int64_t problem, int *found, char *reason, size_t cap)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_FIND], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_int(&q, problem);
    bool any = assay__query_step(&q);
    if (any && cap > 0)
        snprintf(reason, cap, "%s", assay__column_text(&q));
    ASSAY_TRY(assay__query_done(&q));
    *found = any;
    return ASSAY_OK;
}

static assay_status answer(assay__query *q, int *found)
{
    const bool any = assay__query_step(q);

    ASSAY_TRY(assay__query_done(q));
    *found = any;
    return ASSAY_OK;
}

assay_status assay__db_count_failures(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t *failed, int *succeeded)
{
    assay__query q;
    int64_t count = 0;
    bool any = false;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_FAILURES], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    if (assay__query_step(&q)) {
        count = assay__column_int(&q);
        any = assay__column_int(&q) != 0;
    }
    ASSAY_TRY(assay__query_done(&q));
    *failed = count;
    *succeeded = any;
    return ASSAY_OK;
}

assay_status assay__db_any_asked_to_an_end(assay__db *db, int64_t deployment, int *found)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_ANY], &q));
    assay__bind_int(&q, deployment);
    return answer(&q, found);
}

assay_status assay__db_asked_to_an_end(assay__db *db, const assay_digest *variant,
                                       int64_t deployment, const char *problem, int *found)
{
    char hex[ASSAY_DIGEST_HEX];
    assay__query q;

    assay_digest_format(variant, hex);
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine[QUARANTINE_ASKED], &q));
    assay__bind_int(&q, deployment);
    assay__bind_text(&q, hex);
    assay__bind_text(&q, problem);
    return answer(&q, found);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_stability.c -- table stability. */
#include "db/write.h"
#include "runtime/error.h"

enum { STABILITY_PUT, STABILITY_FIND };

const assay__sql assay__sql_stability[] = {
    [STABILITY_PUT] = {"stability put",
                       "INSERT INTO stability (deployment, revision, problem, level,"
                       " evidence_json, measured_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                       " ON CONFLICT (deployment, revision, problem) DO UPDATE SET"
                       " level = excluded.level, evidence_json = excluded.evidence_json,"
                       " measured_utc = excluded.measured_utc",
                       0},
    [STABILITY_FIND] = {"stability find",
                        "SELECT level FROM stability"
                        " WHERE deployment = ?1 AND revision = ?2 AND problem = ?3",
                        0},
    {NULL, NULL, 0},
};

static assay_status put_stability(assay__db *db, int64_t revision, int64_t deployment,
                                  int64_t problem, assay_stability level, const char *evidence_json)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_stability[STABILITY_PUT], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_int(&q, problem);
    assay__bind_text(&q, assay__db_stability_name(level));
    assay__bind_word(&q, evidence_json);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_stability(assay__db *db, int64_t revision, int64_t deployment,
                                     int64_t problem, assay_stability level,
                                     const char *evidence_json)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db,
                           put_stability(db, revision, deployment, problem, level, evidence_json));
}

assay_status assay__db_find_stability(assay__db *db, int64_t revision, int64_t deployment,
                                      int64_t problem, int *found, assay_stability *out)
{
    assay__query q;
    assay_stability level = ASSAY_STABILITY_ABSENT;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_stability[STABILITY_FIND], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_int(&q, problem);
    bool any = assay__query_step(&q);
    if (any)
        level = assay__db_stability_parse(assay__column_text(&q));
    ASSAY_TRY(assay__query_done(&q));
    *found = any;
    *out = level;
    return ASSAY_OK;
}

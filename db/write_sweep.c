/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_sweep.c -- tables sweep and sweep_problem. */
#include "db/write.h"
#include "runtime/error.h"

enum { SWEEP_BEGIN, SWEEP_END, SWEEP_USE };

const assay__sql assay__sql_sweep[] = {
    [SWEEP_BEGIN] = {"sweep begin",
                     "INSERT INTO sweep (profile, seed, settings_json, argv_json, started_utc)"
                     " VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id",
                     0},
    [SWEEP_END] = {"sweep end",
                   "UPDATE sweep SET ended_utc = ?2, stop_reason = ?3, aa_floor = ?4 WHERE id = ?1 "
                   "RETURNING id",
                   0},
    [SWEEP_USE] =
        {"sweep problem put",
         "INSERT INTO sweep_problem (sweep, problem, shape_set, row_name, run_count, source)"
         " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
         " ON CONFLICT (sweep, problem, shape_set, row_name) DO UPDATE SET"
         " run_count = excluded.run_count, source = excluded.source",
         0},
    {NULL, NULL, 0},
};

static assay_status begin_sweep(assay__db *db, const assay__db_sweep *s, int64_t *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_sweep[SWEEP_BEGIN], &q));
    assay__bind_word(&q, s->profile);
    assay__bind_int(&q, (int64_t)s->seed);
    assay__bind_word(&q, s->settings_json);
    assay__bind_word(&q, s->argv_json);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, out);
}

assay_status assay__db_begin_sweep(assay__db *db, const assay__db_sweep *s, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, begin_sweep(db, s, out));
}

static assay_status end_sweep(assay__db *db, int64_t sweep, const char *stop_reason,
                              double aa_floor)
{
    assay__query q;
    int64_t id = 0;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_sweep[SWEEP_END], &q));
    assay__bind_int(&q, sweep);
    assay__bind_text(&q, assay__db_now(db));
    assay__bind_word(&q, stop_reason);
    assay__bind_real(&q, aa_floor);
    if (assay__query_step(&q))
        id = assay__column_int(&q);
    ASSAY_TRY(assay__query_done(&q));
    if (id != sweep)
        return assay__fail(ASSAY_NOTFOUND, "%s: no sweep %lld", db->handle.path, (long long)sweep);
    return ASSAY_OK;
}

assay_status assay__db_end_sweep(assay__db *db, int64_t sweep, const char *stop_reason,
                                 double aa_floor)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, end_sweep(db, sweep, stop_reason, aa_floor));
}

static assay_status put_use(assay__db *db, const assay__db_use *u)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_sweep[SWEEP_USE], &q));
    assay__bind_int(&q, u->sweep);
    assay__bind_int(&q, u->problem);
    assay__bind_word(&q, u->shape_set);
    assay__bind_word(&q, u->row_name);
    assay__bind_real(&q, u->run_count);
    assay__bind_word(&q, u->source);
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_use(assay__db *db, const assay__db_use *u)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_use(db, u));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_counter.c -- tables counter_source and counter. */
#include "db/write.h"

enum { SOURCE_PUT, COUNTER_PUT };

const assay__sql assay__sql_counter[] = {
    [SOURCE_PUT] = {"counter source put",
                    "INSERT INTO counter_source (sweep, name, unit, source, event, reason)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (sweep, name) DO UPDATE SET"
                    " unit = excluded.unit, source = excluded.source, event = excluded.event,"
                    " reason = excluded.reason",
                    0},
    [COUNTER_PUT] = {"counter put",
                     "INSERT INTO counter (measurement, name, value, lo, hi, passes, calls,"
                     " counted_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                     " ON CONFLICT (measurement, name) DO UPDATE SET value = excluded.value,"
                     " lo = excluded.lo, hi = excluded.hi, passes = excluded.passes,"
                     " calls = excluded.calls, counted_utc = excluded.counted_utc",
                     0},
    {NULL, NULL, 0},
};

static assay_status put_source(assay__db *db, int64_t sweep, const assay__db_counter_source *c)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_counter[SOURCE_PUT], &q));
    assay__bind_int(&q, sweep);
    assay__bind_word(&q, c->name);
    assay__bind_word(&q, c->unit);
    assay__bind_word(&q, c->source);
    assay__bind_word(&q, c->event);
    assay__bind_word(&q, c->reason);
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_counter_source(assay__db *db, int64_t sweep,
                                          const assay__db_counter_source *c)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_source(db, sweep, c));
}

static assay_status put_counter(assay__db *db, int64_t measurement, const assay__db_counter *c)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_counter[COUNTER_PUT], &q));
    assay__bind_int(&q, measurement);
    assay__bind_word(&q, c->name);
    assay__bind_real(&q, c->value);
    assay__bind_real(&q, c->lo);
    assay__bind_real(&q, c->hi);
    assay__bind_int(&q, c->passes);
    assay__bind_int(&q, c->calls);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_counter(assay__db *db, int64_t measurement, const assay__db_counter *c)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_counter(db, measurement, c));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_transfer.c -- table transfer. */
#include "db/write.h"

enum { TRANSFER_DROP, TRANSFER_PUT, TRANSFER_EACH };

const assay__sql assay__sql_transfer[] = {
    [TRANSFER_DROP] = {"transfer drop",
                       "DELETE FROM transfer WHERE deployment = ?1 AND source = ?2 AND target = ?3",
                       0},
    [TRANSFER_PUT] = {"transfer put",
                      "INSERT INTO transfer (deployment, source, target, size_bytes, median_ns,"
                      " lo_ns, hi_ns, samples, measured_utc)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                      0},
    /* Which sweep measured them, as of peaks. */
    [TRANSFER_EACH] = {"transfer each",
                       "SELECT t.source, t.target, t.size_bytes, t.median_ns, t.lo_ns, t.hi_ns,"
                       " t.samples, (julianday('now') - julianday(t.measured_utc)) * 86400.0,"
                       " ifnull((SELECT s.settings_json ->> '$.affinity' FROM sweep s"
                       "  WHERE s.id > 0 AND s.started_utc <= t.measured_utc"
                       "   AND ifnull(s.settings_json ->> '$.deployment', d.digest) = d.digest"
                       "  ORDER BY s.id DESC LIMIT 1), '')"
                       " FROM deployment d CROSS JOIN transfer t ON t.deployment = d.id"
                       " WHERE d.id = ?1 ORDER BY t.source, t.target, t.size_bytes",
                       0},
    {NULL, NULL, 0},
};

static assay_status drop(assay__db *db, int64_t deployment, const char *source, const char *target)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_transfer[TRANSFER_DROP], &q));
    assay__bind_int(&q, deployment);
    assay__bind_text(&q, source);
    assay__bind_text(&q, target);
    return assay__query_id(&q, NULL);
}

static assay_status put_size(assay__db *db, int64_t deployment, const char *source,
                             const char *target, const assay__db_transfer *t)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_transfer[TRANSFER_PUT], &q));
    assay__bind_int(&q, deployment);
    assay__bind_text(&q, source);
    assay__bind_text(&q, target);
    assay__bind_int(&q, t->size_bytes);
    assay__bind_real(&q, t->median_ns);
    assay__bind_real(&q, t->lo_ns);
    assay__bind_real(&q, t->hi_ns);
    assay__bind_int(&q, t->samples);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

static assay_status put_all(assay__db *db, int64_t deployment, const char *source,
                            const char *target, const assay__db_transfer *sizes, size_t count)
{
    ASSAY_TRY(drop(db, deployment, source, target));
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(put_size(db, deployment, source, target, &sizes[i]));
    return ASSAY_OK;
}

assay_status assay__db_put_transfers(assay__db *db, int64_t deployment, const char *source,
                                     const char *target, const assay__db_transfer *sizes,
                                     size_t count)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_all(db, deployment, source, target, sizes, count));
}

assay_status assay__db_each_transfer(assay__db *db, int64_t deployment,
                                     assay_status (*row)(void *cookie, const assay__db_transfer *t),
                                     void *cookie)
{
    assay_status status = ASSAY_OK, done;
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_transfer[TRANSFER_EACH], &q));
    assay__bind_int(&q, deployment);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__db_transfer t;
        t.source = assay__column_text(&q);
        t.target = assay__column_text(&q);
        t.size_bytes = assay__column_int(&q);
        t.median_ns = assay__column_real(&q);
        t.lo_ns = assay__column_real(&q);
        t.hi_ns = assay__column_real(&q);
        t.samples = assay__column_int(&q);
        t.age_s = assay__column_real(&q);
        t.affinity = assay__column_text(&q);
        status = row(cookie, &t);
    }
    done = assay__query_done(&q);
    return status != ASSAY_OK ? status : done;
}

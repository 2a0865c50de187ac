/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_peak.c -- table peak. */
#include "db/write.h"
#include "runtime/error.h"

enum { PEAK_PUT, PEAK_EACH };

const assay__sql assay__sql_peak[] = {
    [PEAK_PUT] = {"peak put",
                  "INSERT INTO peak (deployment, name, unit, value, lo, hi, samples, measured_utc)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                  " ON CONFLICT (deployment, name) DO UPDATE SET unit = excluded.unit,"
                  " value = excluded.value, lo = excluded.lo, hi = excluded.hi,"
                  " samples = excluded.samples, measured_utc = excluded.measured_utc",
                  0},
    /* The sweep that measured them is the last of this machine that had begun by then: backwards
     * along the key, so that few rows are read.  A store that was joined has sweeps of others;
     * those of before their settings told the deployment are taken for this one's. */
    [PEAK_EACH] = {"peak each",
                   "SELECT p.name, p.unit, p.value, ifnull(p.lo, p.value), ifnull(p.hi, p.value),"
                   " p.samples, (julianday('now') - julianday(p.measured_utc)) * 86400.0,"
                   " ifnull((SELECT s.settings_json ->> '$.affinity' FROM sweep s"
                   "  WHERE s.id > 0 AND s.started_utc <= p.measured_utc"
                   "   AND ifnull(s.settings_json ->> '$.deployment', d.digest) = d.digest"
                   "  ORDER BY s.id DESC LIMIT 1), '')"
                   " FROM deployment d CROSS JOIN peak p ON p.deployment = d.id WHERE d.id = ?1"
                   " ORDER BY p.name",
                   0},
    {NULL, NULL, 0},
};

static assay_status put_peak(assay__db *db, int64_t deployment, const char *name, const char *unit,
                             double value, double lo, double hi, int64_t samples)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_peak[PEAK_PUT], &q));
    assay__bind_int(&q, deployment);
    assay__bind_text(&q, name);
    assay__bind_text(&q, unit);
    assay__bind_real(&q, value);
    assay__bind_real(&q, lo);
    assay__bind_real(&q, hi);
    assay__bind_int(&q, samples);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

assay_status assay__db_put_peak(assay__db *db, int64_t deployment, const char *name,
                                const char *unit, double value, double lo, double hi,
                                int64_t samples)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_peak(db, deployment, name, unit, value, lo, hi, samples));
}

assay_status assay__db_each_peak(assay__db *db, int64_t deployment,
                                 assay_status (*row)(void *cookie, const assay__db_peak *p),
                                 void *cookie)
{
    assay_status status = ASSAY_OK, done;
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_peak[PEAK_EACH], &q));
    assay__bind_int(&q, deployment);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__db_peak p;
        p.name = assay__column_text(&q);
        p.unit = assay__column_text(&q);
        p.value = assay__column_real(&q);
        p.lo = assay__column_real(&q);
        p.hi = assay__column_real(&q);
        p.samples = assay__column_int(&q);
        p.age_s = assay__column_real(&q);
        p.affinity = assay__column_text(&q);
        status = row(cookie, &p);
    }
    done = assay__query_done(&q);
    return status != ASSAY_OK ? status : done;
}

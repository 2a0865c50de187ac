/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_peak.c -- table peak. */
#include "db/write.h"
#include "runtime/error.h"

enum { PEAK_PUT };

const assay__sql assay__sql_peak[] = {
    [PEAK_PUT] = {"peak put",
                  "INSERT INTO peak (deployment, name, unit, value, lo, hi, samples, measured_utc)"
                  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
                  " ON CONFLICT (deployment, name) DO UPDATE SET unit = excluded.unit,"
                  " value = excluded.value, lo = excluded.lo, hi = excluded.hi,"
                  " samples = excluded.samples, measured_utc = excluded.measured_utc",
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

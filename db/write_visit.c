/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_visit.c -- table visit: raw samples, only ever added. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/write.h"
#include "runtime/error.h"

enum { VISIT_PUT, VISIT_EACH, VISIT_NEWEST };

const assay__sql assay__sql_visit[] = {
    [VISIT_PUT] = {"visit put",
                   "INSERT INTO visit (measurement, sweep, ordinal, kind, sample_count, samples,"
                   " inner_count, baseline_visit, ratio, clock_name, clock_resolution_ns,"
                   " clock_overhead_ns, clock_quality, taken_utc, context_json, is_twin, flags,"
                   " rejected_json, stop_reason)"
                   " VALUES (?1, (SELECT sweep FROM measurement WHERE id = ?1), ?2, ?3, ?4, ?5,"
                   " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
                   0},
    [VISIT_EACH] =
        {"visit each",
         "SELECT v.sweep, v.ordinal, v.kind, v.is_twin, v.rejected_json, v.flags, v.stop_reason,"
         " v.samples"
         " FROM visit v JOIN sweep s ON s.id = v.sweep"
         " WHERE v.measurement = ?1 AND s.profile = ?2 AND (v.kind <> 'confirm'"
         " OR v.sweep > ifnull((SELECT t.sweep FROM measurement m JOIN route t"
         "  ON t.deployment = m.deployment AND t.problem = m.problem"
         "  AND t.layout = m.layout AND t.align = m.align AND t.policy = m.policy"
         "  AND t.superseded_utc IS NULL WHERE m.id = ?1), 0)) ORDER BY v.id",
         0},
    [VISIT_NEWEST] = {"visit newest",
                      "SELECT v.sweep, v.kind, (julianday(v.taken_utc) - 2440587.5) * 86400.0,"
                      " v.samples FROM visit v CROSS JOIN measurement m ON m.id = v.measurement"
                      " CROSS JOIN sweep s ON s.id = v.sweep"
                      " WHERE v.id > (SELECT ifnull(max(id), 0) FROM visit) - ?3"
                      " AND m.deployment = ?1 AND s.profile = ?2 ORDER BY v.id",
                      0},
    {NULL, NULL, 0},
};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the blobs of a store are little-endian and written from memory as they lie"
#endif

static assay_status put_visit(assay__db *db, const assay__db_visit *v, int64_t *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_visit[VISIT_PUT], &q));
    assay__bind_int(&q, v->measurement);
    assay__bind_int(&q, v->ordinal);
    assay__bind_text(&q, v->kind);
    assay__bind_int(&q, (int64_t)v->sample_count);
    assay__bind_blob(&q, v->samples, v->sample_count * sizeof(double));
    assay__bind_int(&q, v->inner);
    assay__bind_id(&q, v->baseline_visit);
    assay__bind_real(&q, v->ratio);
    assay__bind_text(&q, v->clock.name);
    assay__bind_real(&q, v->clock.resolution_ns);
    assay__bind_real(&q, v->clock.overhead_ns);
    assay__bind_text(&q, assay__db_timing_quality_name(v->clock.quality));
    assay__bind_text(&q, assay__db_now(db));
    assay__bind_word(&q, v->context_json);
    assay__bind_int(&q, v->is_twin ? 1 : 0);
    assay__bind_word(&q, v->flags);
    assay__bind_word(&q, v->rejected_json);
    assay__bind_word(&q, v->stop_reason);
    return assay__query_insert(&q, out);
}

assay_status assay__db_put_visit(assay__db *db, const assay__db_visit *v, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_visit(db, v, out));
}

/* The row under the cursor; samples are copied, since a blob may lie at any address. */
static assay_status
one_stay(assay__query *q, assay_status (*row)(void *cookie, const assay__db_stay *v), void *cookie)
{
    assay__db_stay v;
    size_t bytes = 0;

    v.sweep = assay__column_int(q);
    v.ordinal = assay__column_int(q);
    v.kind = assay__column_text(q);
    v.is_twin = assay__column_int(q) != 0;
    v.rejected_json = assay__column_text(q);
    v.flags = assay__column_text(q);
    v.stop_reason = assay__column_text(q);
    const void *blob = assay__column_blob(q, &bytes);
    double *samples = malloc(bytes > 0 ? bytes : 1);
    if (samples == NULL)
        return assay__fail(ASSAY_NOMEM, "visit of %zu bytes", bytes);
    v.count = bytes / sizeof(double);
    if (v.count > 0)
        memcpy(samples, blob, v.count * sizeof(double));
    v.samples = samples;
    assay_status status = row(cookie, &v);
    free(samples);
    return status;
}

assay_status assay__db_each_visit(assay__db *db, int64_t measurement, const char *profile,
                                  assay_status (*row)(void *cookie, const assay__db_stay *v),
                                  void *cookie)
{
    assay_status status = ASSAY_OK, done;
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_visit[VISIT_EACH], &q));
    assay__bind_int(&q, measurement);
    assay__bind_text(&q, profile);
    while (status == ASSAY_OK && assay__query_step(&q))
        status = one_stay(&q, row, cookie);
    done = assay__query_done(&q);
    return status != ASSAY_OK ? status : done;
}

static assay_status one_of_newest(assay__query *q, assay__db_newest_fn row, void *cookie)
{
    const int64_t sweep = assay__column_int(q);
    char kind[16];
    double utc_s;
    size_t bytes = 0;

    (void)snprintf(kind, sizeof kind, "%s", assay__column_text(q));
    utc_s = assay__column_real(q);
    const void *blob = assay__column_blob(q, &bytes);
    double *samples = malloc(bytes > 0 ? bytes : 1); /* a blob lies anywhere */
    if (samples == NULL)
        return assay__fail(ASSAY_NOMEM, "samples of a visit");
    if (bytes > 0)
        memcpy(samples, blob, bytes);
    assay_status status = row(cookie, sweep, kind, utc_s, samples, bytes / sizeof(double));
    free(samples);
    return status;
}

assay_status assay__db_newest_visits(assay__db *db, int64_t deployment, const char *profile,
                                     size_t most, assay__db_newest_fn row, void *cookie)
{
    assay_status status = ASSAY_OK, done;
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_visit[VISIT_NEWEST], &q));
    assay__bind_int(&q, deployment);
    assay__bind_text(&q, profile);
    assay__bind_int(&q, (int64_t)most);
    while (status == ASSAY_OK && assay__query_step(&q))
        status = one_of_newest(&q, row, cookie);
    done = assay__query_done(&q);
    return status != ASSAY_OK ? status : done;
}

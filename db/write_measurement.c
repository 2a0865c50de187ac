/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_measurement.c -- table measurement. */
#include <math.h>

#include "db/write.h"
#include "runtime/error.h"

enum { MEASUREMENT_PUT, MEASUREMENT_ID, MEASUREMENT_FIND };

const assay__sql assay__sql_measurement[] = {
    [MEASUREMENT_PUT] =
        {"measurement put",
         "INSERT INTO measurement (deployment, revision, problem, layout, align, policy, sweep,"
         " verdict, reason, median_ns, lo_ns, hi_ns, min_ns, mad_ns, ratio, ratio_lo, ratio_hi,"
         " samples, visits, rejected_samples, stop_reason, flags, workspace_bytes, output_digest,"
         " measured_utc, ratio_level)"
         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
         " ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)"
         " ON CONFLICT (deployment, revision, problem, layout, align, policy) DO UPDATE SET"
         " sweep = excluded.sweep, verdict = excluded.verdict, reason = excluded.reason,"
         " median_ns = excluded.median_ns, lo_ns = excluded.lo_ns, hi_ns = excluded.hi_ns,"
         " min_ns = excluded.min_ns, mad_ns = excluded.mad_ns, ratio = excluded.ratio,"
         " ratio_lo = excluded.ratio_lo, ratio_hi = excluded.ratio_hi,"
         " samples = excluded.samples, visits = excluded.visits,"
         " rejected_samples = excluded.rejected_samples, stop_reason = excluded.stop_reason,"
         " flags = excluded.flags, workspace_bytes = excluded.workspace_bytes,"
         " output_digest = excluded.output_digest, measured_utc = excluded.measured_utc,"
         " ratio_level = excluded.ratio_level",
         0},
    [MEASUREMENT_ID] =
        {"measurement id",
         "SELECT id FROM measurement WHERE deployment = ?1 AND revision = ?2 AND problem = ?3"
         " AND layout = ?4 AND align = ?5 AND policy = ?6",
         0},
    [MEASUREMENT_FIND] =
        {"measurement find",
         "SELECT id, sweep, layout, policy, verdict, reason, median_ns, lo_ns, hi_ns, min_ns,"
         " mad_ns, ratio, ratio_lo, ratio_hi, samples, visits, rejected_samples, stop_reason,"
         " flags, workspace_bytes, output_digest, ratio_level"
         " FROM measurement WHERE deployment = ?1 AND revision = ?2 AND problem = ?3"
         " AND layout = ?4 AND align = ?5 AND policy = ?6",
         0},
    {NULL, NULL, 0},
};

static void bind_summary(assay__query *q, const assay__db_measurement *m)
{
    assay__bind_real(q, m->median_ns);
    assay__bind_real(q, m->lo_ns);
    assay__bind_real(q, m->hi_ns);
    assay__bind_real(q, m->min_ns);
    assay__bind_real(q, m->mad_ns);
    assay__bind_real(q, m->ratio);
    assay__bind_real(q, m->ratio_lo);
    assay__bind_real(q, m->ratio_hi);
    assay__bind_int(q, m->samples);
    assay__bind_int(q, m->visits);
    assay__bind_int(q, m->rejected_samples);
}

static void bind_key(assay__query *q, const assay__db_measurement *m)
{
    assay__bind_int(q, m->deployment);
    assay__bind_int(q, m->revision);
    assay__bind_int(q, m->problem);
    assay__bind_text(q, m->layout);
    assay__bind_int(q, m->align);
    assay__bind_text(q, m->policy);
}

static assay_status find_id(assay__db *db, const assay__db_measurement *m, int64_t *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_measurement[MEASUREMENT_ID], &q));
    bind_key(&q, m);
    return assay__query_id(&q, out);
}

static assay_status put_measurement(assay__db *db, const assay__db_measurement *m, int64_t *out)
{
    assay__query q;
    char digest[17];
    int64_t id = 0;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_measurement[MEASUREMENT_PUT], &q));
    bind_key(&q, m);
    assay__bind_int(&q, m->sweep);
    assay__bind_text(&q, assay__db_verdict_name(m->verdict));
    assay__bind_word(&q, m->reason);
    bind_summary(&q, m);
    assay__bind_word(&q, m->stop_reason);
    assay__bind_word(&q, m->flags);
    assay__bind_int(&q, (int64_t)m->workspace_bytes);
    assay__bind_text(&q, assay__db_hash_text(m->output_digest, digest));
    assay__bind_text(&q, assay__db_now(db));
    assay__bind_real(&q, m->ratio_level > 0 ? m->ratio_level : (double)NAN);
    ASSAY_TRY(assay__query_insert(&q, &id));
    if (id == 0)
        return find_id(db, m, out);
    if (out != NULL)
        *out = id;
    return ASSAY_OK;
}

assay_status assay__db_put_measurement(assay__db *db, const assay__db_measurement *m, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_measurement(db, m, out));
}

/* Columns from `verdict` on. */
static void read_summary(assay__db *db, assay__query *q, assay__db_measurement *m)
{
    m->verdict = assay__db_verdict_parse(assay__column_text(q));
    m->reason = assay__db_keep(db, assay__column_text(q));
    m->median_ns = assay__column_real(q);
    m->lo_ns = assay__column_real(q);
    m->hi_ns = assay__column_real(q);
    m->min_ns = assay__column_real(q);
    m->mad_ns = assay__column_real(q);
    m->ratio = assay__column_real(q);
    m->ratio_lo = assay__column_real(q);
    m->ratio_hi = assay__column_real(q);
    m->samples = assay__column_int(q);
    m->visits = assay__column_int(q);
    m->rejected_samples = assay__column_int(q);
    m->stop_reason = assay__db_keep(db, assay__column_text(q));
    m->flags = assay__db_keep(db, assay__column_text(q));
    m->workspace_bytes = (uint64_t)assay__column_int(q);
    m->output_digest = assay__db_hash_parse(assay__column_text(q));
    m->ratio_level = assay__column_real(q);
}

assay_status assay__db_find_measurement(assay__db *db, int64_t revision, int64_t deployment,
                                        int64_t problem, const char *layout, uint32_t align,
                                        const char *policy, int *found, assay__db_measurement *out,
                                        int64_t *id)
{
    assay__query q;
    assay__db_measurement m = {.revision = revision,
                               .deployment = deployment,
                               .problem = problem,
                               .layout = layout,
                               .align = align,
                               .policy = policy};
    int64_t row = 0;

    assay__db_forget(db);
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_measurement[MEASUREMENT_FIND], &q));
    bind_key(&q, &m);
    bool any = assay__query_step(&q);
    if (any) {
        row = assay__column_int(&q);
        m.sweep = assay__column_int(&q);
        m.layout = assay__db_keep(db, assay__column_text(&q));
        m.policy = assay__db_keep(db, assay__column_text(&q));
        read_summary(db, &q, &m);
    }
    ASSAY_TRY(assay__query_done(&q));
    *found = any;
    if (any && out != NULL)
        *out = m;
    if (any && id != NULL)
        *id = row;
    return ASSAY_OK;
}

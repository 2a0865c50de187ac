/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/report_rows.c -- walks over the large tables of a store. */
#include <stdlib.h>
#include <string.h>

#include "db/db_names.h"
#include "db/report_load.h"
#include "runtime/error.h"

assay_status assay__report_each_deployment(
    assay__report *r, assay_status (*row)(void *, const assay__report_deployment *), void *cookie)
{
    for (size_t i = 0; i < r->deployment_count; i++)
        ASSAY_TRY(row(cookie, &r->deployments[i]));
    return ASSAY_OK;
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* false: not selected. */
static bool read_key(assay__report *r, assay__query *q, assay__report_measurement *m,
                     assay__report_key *key)
{
    m->id = assay__column_int(q);
    key->deployment = assay__column_int(q);
    key->revision = assay__column_int(q);
    key->problem = assay__column_int(q);
    m->deployment = assay__report_find_deployment(r, key->deployment);
    m->revision = assay__report_find_revision(r, key->revision);
    m->problem = assay__report_find_problem(r, key->problem);
    return m->deployment != NULL && m->revision != NULL && m->problem != NULL;
}

static void read_measurement(assay__query *q, assay__report_measurement *m)
{
    m->layout = assay__column_text(q);
    m->align = (uint32_t)assay__column_int(q);
    m->policy = assay__column_text(q);
    m->sweep = assay__column_int(q);
    m->verdict = assay__db_verdict_parse(assay__column_text(q));
    m->reason = assay__column_text(q);
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
    m->stop_reason = assay__column_text(q);
    m->flags = assay__column_text(q);
    m->workspace_bytes = (uint64_t)assay__column_int(q);
    m->measured_utc = assay__column_text(q);
    m->ratio_level = assay__column_real(q);
}

assay_status assay__report_each_measurement(
    assay__report *r, assay_status (*row)(void *, const assay__report_measurement *), void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_load_errors(r));
    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_MEASUREMENTS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_measurement m;
        assay__report_key key;
        if (!read_key(r, &q, &m, &key))
            continue;
        read_measurement(&q, &m);
        m.error = assay__report_find_error(r, &key);
        status = row(cookie, &m);
    }
    return assay__query_finish(&q, status);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static void read_accuracy(assay__query *q, assay__report_accuracy *a)
{
    a->stratum = assay__column_text(q);
    a->seed = (uint64_t)assay__column_int(q);
    a->passed = assay__column_int(q) != 0;
    a->proof = assay__db_proof_parse(assay__column_text(q));
    a->elements = assay__column_int(q);
    double *const figures[] = {&a->max_ulp,     &a->max_err_ulp, &a->mean_err_ulp, &a->p50_err_ulp,
                               &a->p99_err_ulp, &a->max_rel,     &a->max_abs,      &a->max_rho,
                               &a->rms_rho,     &a->kappa,       &a->bound};
    int64_t *const counts[] = {&a->misrounded, &a->nan_mismatch, &a->inf_mismatch,
                               &a->zero_sign_mismatch, &a->flushed};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] = assay__column_real(q);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = assay__column_int(q);
    a->histogram_json = assay__column_text(q);
    a->worst_index = assay__column_int(q);
    a->worst_json = assay__column_text(q);
    a->reference = assay__column_text(q);
    a->measured_utc = assay__column_text(q);
}

assay_status assay__report_each_accuracy(
    assay__report *r, assay_status (*row)(void *, const assay__report_accuracy *), void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_ACCURACIES, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_accuracy a = {.id = assay__column_int(&q)};
        a.deployment = assay__report_find_deployment(r, assay__column_int(&q));
        a.revision = assay__report_find_revision(r, assay__column_int(&q));
        a.problem = assay__report_find_problem(r, assay__column_int(&q));
        if (a.deployment == NULL || a.revision == NULL || a.problem == NULL)
            continue;
        read_accuracy(&q, &a);
        status = row(cookie, &a);
    }
    return assay__query_finish(&q, status);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* A copy that is aligned for doubles, until the next one into the same blob. */
static assay_status align_blob(assay__query *q, assay__report_blob *blob, size_t *size)
{
    const void *bytes = assay__column_blob(q, size);

    if (*size > blob->cap) {
        double *bigger = realloc(blob->at, 2 * *size);
        if (bigger == NULL)
            return assay__fail(ASSAY_NOMEM, "report: out of memory");
        blob->at = bigger;
        blob->cap = 2 * *size;
    }
    if (*size > 0)
        memcpy(blob->at, bytes, *size);
    return ASSAY_OK;
}

static assay_status read_route(assay__report *r, assay__query *q, assay__report_route *t)
{
    size_t size = 0;

    t->layout = assay__column_text(q);
    t->align = (uint32_t)assay__column_int(q);
    t->policy = assay__column_text(q);
    t->sweep = assay__column_int(q);
    t->profile = assay__column_text(q);
    t->searched = assay__column_int(q);
    t->total = assay__column_int(q);
    t->stop_reason = assay__column_text(q);
    t->decided_utc = assay__column_text(q);
    ASSAY_TRY(align_blob(q, &r->candidates, &size));
    t->candidates = (const void *)r->candidates.at;
    t->candidate_count = size / sizeof *t->candidates;
    return ASSAY_OK;
}

static bool wants_all_revisions(const assay__report *r)
{
    return r->filter.backend == NULL && r->filter.kernel == NULL;
}

assay_status assay__report_each_route(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_route *),
                                      void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_ROUTES, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_route t = {.id = assay__column_int(&q)};
        t.deployment = assay__report_find_deployment(r, assay__column_int(&q));
        t.problem = assay__report_find_problem(r, assay__column_int(&q));
        t.winner = assay__report_find_revision(r, assay__column_int(&q));
        if (t.deployment == NULL || t.problem == NULL ||
            (t.winner == NULL && !wants_all_revisions(r)))
            continue;
        status = read_route(r, &q, &t);
        if (status == ASSAY_OK)
            status = row(cookie, &t);
    }
    return assay__query_finish(&q, status);
}

/* ---- sweeps, peaks, transfers, visits -------------------------------------------------------- */

assay_status assay__report_each_sweep(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_sweep *),
                                      void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_SWEEPS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_sweep s = {.id = assay__column_int(&q)};
        s.profile = assay__column_text(&q);
        s.settings_json = assay__column_text(&q);
        s.argv_json = assay__column_text(&q);
        s.started_utc = assay__column_text(&q);
        s.ended_utc = assay__column_text(&q);
        s.stop_reason = assay__column_text(&q);
        s.seed = (uint64_t)assay__column_int(&q);
        s.aa_floor = assay__column_real(&q);
        status = row(cookie, &s);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__report_each_peak(assay__report *r,
                                     assay_status (*row)(void *, const assay__report_peak *),
                                     void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_PEAKS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_peak p = {.deployment =
                                    assay__report_find_deployment(r, assay__column_int(&q))};
        p.name = assay__column_text(&q);
        p.unit = assay__column_text(&q);
        p.value = assay__column_real(&q);
        p.lo = assay__column_real(&q);
        p.hi = assay__column_real(&q);
        p.samples = assay__column_int(&q);
        if (p.deployment != NULL)
            status = row(cookie, &p);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__report_each_transfer(
    assay__report *r, assay_status (*row)(void *, const assay__report_transfer *), void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_TRANSFERS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_transfer t = {.deployment =
                                        assay__report_find_deployment(r, assay__column_int(&q))};
        t.source = assay__column_text(&q);
        t.target = assay__column_text(&q);
        t.size_bytes = assay__column_int(&q);
        t.median_ns = assay__column_real(&q);
        t.lo_ns = assay__column_real(&q);
        t.hi_ns = assay__column_real(&q);
        t.samples = assay__column_int(&q);
        if (t.deployment != NULL)
            status = row(cookie, &t);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__report_each_use(assay__report *r,
                                    assay_status (*row)(void *, const assay__report_use *),
                                    void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_USES, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_use u = {.problem = assay__report_find_problem(r, assay__column_int(&q))};
        u.shape_set = assay__column_text(&q);
        u.row_name = assay__column_text(&q);
        u.source = assay__column_text(&q);
        u.run_count = assay__column_real(&q);
        u.sweep = assay__column_int(&q);
        if (u.problem != NULL)
            status = row(cookie, &u);
    }
    return assay__query_finish(&q, status);
}

static assay_status read_visit(assay__report *r, assay__query *q, assay__report_visit *v)
{
    size_t size = 0;

    v->id = assay__column_int(q);
    v->sweep = assay__column_int(q);
    v->ordinal = assay__column_int(q);
    v->kind = assay__column_text(q);
    v->inner = assay__column_int(q);
    v->baseline_visit = assay__column_int(q);
    v->ratio = assay__column_real(q);
    v->clock_name = assay__column_text(q);
    v->clock_quality = assay__column_text(q);
    v->context_json = assay__column_text(q);
    v->taken_utc = assay__column_text(q);
    v->sample_count = (size_t)assay__column_int(q);
    ASSAY_TRY(align_blob(q, &r->samples, &size));
    v->samples = r->samples.at;
    if (size != v->sample_count * sizeof *v->samples)
        return assay__fail(ASSAY_DB_DAMAGED,
                           "%s: store is damaged: samples of visit %lld have the wrong size; "
                           "restore a copy",
                           q->handle->path, (long long)v->id);
    return ASSAY_OK;
}

assay_status assay__report_each_visit(assay__report *r, int64_t measurement,
                                      assay_status (*row)(void *, const assay__report_visit *),
                                      void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_VISITS, &q));
    assay__bind_int(&q, measurement);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_visit v = {0};
        status = read_visit(r, &q, &v);
        if (status == ASSAY_OK)
            status = row(cookie, &v);
    }
    return assay__query_finish(&q, status);
}

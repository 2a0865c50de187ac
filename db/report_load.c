/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/report_load.c -- opens a report: deployments, revisions, problems in memory. */
#include "db/report_load.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "db/statements.h"
#include "runtime/error.h"

/* Few joins: what hangs on ids is found in memory, which halves the time of a pass. */
const assay__sql assay__sql_report[] = {
    [ASSAY__REPORT_DEPLOYMENTS] = {"report deployments",
                                   "SELECT d.id, d.digest, v.backend, v.name, v.architecture,"
                                   " d.driver, d.cpu_model, d.isa, d.os_class, d.label,"
                                   " d.first_seen_utc, ifnull(d.fingerprint, ''), d.usable_cpus"
                                   " FROM deployment AS d JOIN device AS v ON v.id = d.device"
                                   " ORDER BY d.id",
                                   ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_REVISIONS] = {"report revisions",
                                 "SELECT r.id, k.backend, k.name, k.op, k.dtypes, r.tunables,"
                                 " r.kernel_revision, r.variant_revision, r.libraries, r.compiler,"
                                 " k.default_rank"
                                 " FROM revision AS r JOIN kernel AS k ON k.id = r.kernel"
                                 " ORDER BY r.id",
                                 ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_PROBLEMS] = {"report problems",
                                "SELECT id, op, dtypes, text, flops, moved_bytes FROM problem"
                                " ORDER BY id",
                                ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_ERRORS] = {"report errors",
                              "SELECT id, deployment, revision, problem,"
                              " CASE stratum WHEN 'all' THEN 1 WHEN 'exhaustive' THEN 1 ELSE 0 END,"
                              " passed, proof, elements, max_ulp, max_err_ulp, max_rel, max_abs,"
                              " max_rho, bound, nan_mismatch + inf_mismatch + zero_sign_mismatch"
                              " FROM accuracy ORDER BY id",
                              ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_MEASUREMENTS] = {"report measurements",
                                    "SELECT id, deployment, revision, problem, layout, align,"
                                    " policy, sweep, verdict, reason, median_ns, lo_ns, hi_ns,"
                                    " min_ns, mad_ns, ratio, ratio_lo, ratio_hi, samples, visits,"
                                    " rejected_samples, stop_reason, flags, workspace_bytes,"
                                    " measured_utc, ratio_level FROM measurement ORDER BY id",
                                    ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_ACCURACIES] = {"report accuracies",
                                  "SELECT id, deployment, revision, problem, stratum, seed, passed,"
                                  " proof, elements, max_ulp, max_err_ulp, mean_err_ulp,"
                                  " p50_err_ulp, p99_err_ulp, max_rel, max_abs, max_rho, rms_rho,"
                                  " kappa, bound, misrounded, nan_mismatch, inf_mismatch,"
                                  " zero_sign_mismatch, flushed, histogram_json,"
                                  " ifnull(worst_index, -1), worst_json, reference, measured_utc"
                                  " FROM accuracy ORDER BY id",
                                  ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_ROUTES] = {"report routes",
                              "SELECT t.id, t.deployment, t.problem, ifnull(t.winner_revision, 0),"
                              " t.layout, t.align, t.policy, t.sweep, s.profile, t.searched,"
                              " t.total, t.stop_reason, t.decided_utc, t.candidates"
                              " FROM route AS t JOIN sweep AS s ON s.id = t.sweep"
                              " WHERE t.superseded_utc IS NULL ORDER BY t.id",
                              ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_SWEEPS] = {"report sweeps",
                              "SELECT id, profile, settings_json, argv_json, started_utc,"
                              " ended_utc, stop_reason, seed, aa_floor FROM sweep ORDER BY id",
                              ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_PEAKS] = {"report peaks",
                             "SELECT deployment, name, unit, value, lo, hi, samples FROM peak"
                             " ORDER BY deployment, name",
                             ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_TRANSFERS] = {"report transfers",
                                 "SELECT deployment, source, target, size_bytes, median_ns, lo_ns,"
                                 " hi_ns, samples FROM transfer"
                                 " ORDER BY deployment, source, target, size_bytes",
                                 ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_USES] = {"report uses",
                            "SELECT problem, shape_set, row_name, source, run_count, sweep FROM"
                            " (SELECT u.*, rank() OVER (PARTITION BY u.shape_set, u.problem"
                            " ORDER BY s.started_utc DESC, u.sweep DESC) AS age"
                            " FROM sweep_problem AS u JOIN sweep AS s ON s.id = u.sweep)"
                            " WHERE age = 1 ORDER BY shape_set, problem, row_name",
                            ASSAY__SQL_WHOLE},
    [ASSAY__REPORT_VISITS] = {"report visits",
                              "SELECT id, sweep, ordinal,"
                              " CASE is_twin WHEN 1 THEN 'twin' ELSE kind END, inner_count,"
                              " ifnull(baseline_visit, 0), ratio, clock_name, clock_quality,"
                              " context_json, taken_utc, sample_count, samples"
                              " FROM visit WHERE measurement = ?1 ORDER BY id",
                              0},
    {NULL, NULL, 0},
};

#define TEXT_BLOCK 65536

/* NULL when out of memory. */
static const char *keep(assay__report *r, const char *text)
{
    size_t size = strlen(text) + 1;

    if (r->text == NULL || r->text->cap - r->text->used < size) {
        size_t cap = size > TEXT_BLOCK ? size : TEXT_BLOCK;
        assay__report_text *block = malloc(sizeof *block + cap);
        if (block == NULL)
            return NULL;
        *block = (assay__report_text){.next = r->text, .cap = cap};
        r->text = block;
    }
    char *at = r->text->bytes + r->text->used;
    memcpy(at, text, size);
    r->text->used += size;
    return at;
}

static assay_status keep_texts(assay__report *r, assay__query *q, const char **const *fields,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *fields[i] = keep(r, assay__column_text(q));
        if (*fields[i] == NULL)
            return assay__fail(ASSAY_NOMEM, "report: out of memory");
    }
    return ASSAY_OK;
}

assay_status assay__report_query(assay__report *r, int which, assay__query *out)
{
    return assay__query_open(&r->store->handle, &assay__sql_report[which], out);
}

static bool matches(const char *wanted, const char *have)
{
    return wanted == NULL || strcmp(wanted, have) == 0;
}

/* Room for one more element; NULL when out of memory. */
static void *grow(void *array, size_t count, size_t size)
{
    /* Powers of two from 64 on. */
    if (count >= 64 && (count & (count - 1)) != 0)
        return array;
    if (count > 0 && count < 64)
        return array;
    return realloc(array, (count < 64 ? 64 : 2 * count) * size);
}

static assay_status load_deployments(assay__report *r)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_DEPLOYMENTS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_deployment d = {.id = assay__column_int(&q)};
        const char **const fields[] = {&d.digest, &d.backend,        &d.device,     &d.architecture,
                                       &d.driver, &d.cpu_model,      &d.isa,        &d.os_class,
                                       &d.label,  &d.first_seen_utc, &d.fingerprint};
        status = keep_texts(r, &q, fields, sizeof fields / sizeof *fields);
        d.usable_cpus = assay__column_int(&q);
        if (status != ASSAY_OK || !matches(r->filter.deployment_hex, d.digest))
            continue;
        void *bigger = grow(r->deployments, r->deployment_count, sizeof d);
        if (bigger == NULL) {
            status = assay__fail(ASSAY_NOMEM, "report: out of memory");
            break;
        }
        r->deployments = bigger;
        r->deployments[r->deployment_count++] = d;
    }
    return assay__query_finish(&q, status);
}

static bool revision_selected(const assay__report_filter *f, const assay__report_revision *v)
{
    return matches(f->backend, v->backend) && matches(f->op, v->op) &&
           matches(f->dtypes, v->dtypes) &&
           (f->kernel == NULL || fnmatch(f->kernel, v->kernel, 0) == 0);
}

static assay_status load_revisions(assay__report *r)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_REVISIONS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_revision v = {.id = assay__column_int(&q)};
        const char **const fields[] = {&v.backend,          &v.kernel,    &v.op,
                                       &v.dtypes,           &v.tunables,  &v.kernel_revision,
                                       &v.variant_revision, &v.libraries, &v.compiler};
        status = keep_texts(r, &q, fields, sizeof fields / sizeof *fields);
        v.default_rank = assay__column_int(&q);
        if (status != ASSAY_OK || !revision_selected(&r->filter, &v))
            continue;
        void *bigger = grow(r->revisions, r->revision_count, sizeof v);
        if (bigger == NULL) {
            status = assay__fail(ASSAY_NOMEM, "report: out of memory");
            break;
        }
        r->revisions = bigger;
        r->revisions[r->revision_count++] = v;
    }
    return assay__query_finish(&q, status);
}

static assay_status load_problems(assay__report *r)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__report_query(r, ASSAY__REPORT_PROBLEMS, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_problem p = {.id = assay__column_int(&q)};
        const char **const fields[] = {&p.op, &p.dtypes, &p.text};
        status = keep_texts(r, &q, fields, sizeof fields / sizeof *fields);
        p.flops = assay__column_real(&q);
        p.moved_bytes = assay__column_real(&q);
        if (status != ASSAY_OK || !matches(r->filter.op, p.op) ||
            !matches(r->filter.dtypes, p.dtypes))
            continue;
        void *bigger = grow(r->problems, r->problem_count, sizeof p);
        if (bigger == NULL) {
            status = assay__fail(ASSAY_NOMEM, "report: out of memory");
            break;
        }
        r->problems = bigger;
        r->problems[r->problem_count++] = p;
    }
    return assay__query_finish(&q, status);
}

/* Every element of the three arrays begins with its id. */
static const void *find_by_id(const void *array, size_t count, size_t size, int64_t id)
{
    const char *base = array;
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t here;
        memcpy(&here, base + middle * size, sizeof here);
        if (here == id)
            return base + middle * size;
        if (here < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const assay__report_deployment *assay__report_find_deployment(const assay__report *r, int64_t id)
{
    return find_by_id(r->deployments, r->deployment_count, sizeof *r->deployments, id);
}

const assay__report_revision *assay__report_find_revision(const assay__report *r, int64_t id)
{
    return find_by_id(r->revisions, r->revision_count, sizeof *r->revisions, id);
}

const assay__report_problem *assay__report_find_problem(const assay__report *r, int64_t id)
{
    return find_by_id(r->problems, r->problem_count, sizeof *r->problems, id);
}

static assay_status load(assay__report *r)
{
    ASSAY_TRY(assay__store_sqlite()->begin_snapshot(r->store));
    ASSAY_TRY(load_deployments(r));
    ASSAY_TRY(load_revisions(r));
    return load_problems(r);
}

assay_status assay__report_open(assay__store *store, const assay__report_filter *filter,
                                assay__report **out)
{
    assay__report *r = calloc(1, sizeof *r);

    if (r == NULL)
        return assay__fail(ASSAY_NOMEM, "report: out of memory");
    r->store = store;
    if (filter != NULL)
        r->filter = *filter;
    assay_status status = load(r);
    if (status != ASSAY_OK)
        assay__report_close(&r);
    else
        *out = r;
    return status;
}

void assay__report_close(assay__report **report)
{
    assay__report *r = report == NULL ? NULL : *report;

    if (r == NULL)
        return;
    assay__store_sqlite()->end_snapshot(r->store);
    while (r->text != NULL) {
        assay__report_text *gone = r->text;
        r->text = gone->next;
        free(gone);
    }
    free(r->deployments);
    free(r->revisions);
    free(r->problems);
    free(r->error_keys);
    free(r->errors);
    free(r->samples.at);
    free(r->candidates.at);
    free(r);
    *report = NULL;
}

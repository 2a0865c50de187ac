/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/report_facts.c -- claims, bit stability and counts of visits for reports. */
#include <math.h>
#include <string.h>

#include "db/db_names.h"
#include "db/report_load.h"
#include "db/statements.h"

enum { FACTS_CLAIMS, FACTS_STABILITIES, FACTS_VISITS };

const assay__sql assay__sql_facts[] = {
    [FACTS_CLAIMS] = {"report claims",
                      "SELECT k.backend, k.op, k.dtypes, k.name, c.max_ulp, c.max_rho, c.max_rel,"
                      " c.max_abs, c.stability, max(c.last_seen_utc)"
                      " FROM claim AS c JOIN kernel AS k ON k.id = c.kernel"
                      " GROUP BY c.kernel ORDER BY c.kernel",
                      ASSAY__SQL_WHOLE},
    [FACTS_STABILITIES] = {"report stabilities",
                           "SELECT deployment, revision, problem, level,"
                           " iif(json_valid(evidence_json), ifnull(json_extract(evidence_json,"
                           " '$.digest'), ''), ''),"
                           " iif(json_valid(evidence_json), ifnull(json_extract(evidence_json,"
                           " '$.other_digest'), ''), '')"
                           " FROM stability ORDER BY deployment, revision, problem",
                           ASSAY__SQL_WHOLE},
    [FACTS_VISITS] = {"report visit counts",
                      "SELECT sum(kind = 'screen'), sum(kind = 'measure' AND is_twin = 0 AND"
                      " stop_reason <> 'throttled'),"
                      " sum(kind = 'confirm' AND sweep = ?2 AND stop_reason <> 'throttled') FROM "
                      "visit WHERE measurement = ?1",
                      0},
    {NULL, NULL, 0},
};

assay_status assay__report_each_claim(assay__report *r,
                                      assay_status (*row)(void *, const assay__report_claim *),
                                      void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&r->store->handle, &assay__sql_facts[FACTS_CLAIMS], &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_claim c = {.backend = assay__column_text(&q)};
        c.op = assay__column_text(&q);
        c.dtypes = assay__column_text(&q);
        c.kernel = assay__column_text(&q);
        c.max_ulp = assay__column_real(&q);
        c.max_rho = assay__column_real(&q);
        c.max_rel = assay__column_real(&q);
        c.max_abs = assay__column_real(&q);
        c.stability = assay__db_stability_parse(assay__column_text(&q));
        status = row(cookie, &c);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__report_each_stability(
    assay__report *r, assay_status (*row)(void *, const assay__report_stability *), void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&r->store->handle, &assay__sql_facts[FACTS_STABILITIES], &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__report_stability s = {.deployment =
                                         assay__report_find_deployment(r, assay__column_int(&q))};
        s.revision = assay__report_find_revision(r, assay__column_int(&q));
        s.problem = assay__report_find_problem(r, assay__column_int(&q));
        s.level = assay__db_stability_parse(assay__column_text(&q));
        s.digest = assay__column_text(&q);
        s.other_digest = assay__column_text(&q);
        if (s.deployment != NULL && s.revision != NULL && s.problem != NULL)
            status = row(cookie, &s);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__report_count_visits(assay__report *r, int64_t measurement, int64_t sweep,
                                        assay__report_visit_counts *out)
{
    assay__report_visit_counts counts = {0, 0, 0};
    assay__query q;

    ASSAY_TRY(assay__query_open(&r->store->handle, &assay__sql_facts[FACTS_VISITS], &q));
    assay__bind_int(&q, measurement);
    assay__bind_int(&q, sweep);
    if (assay__query_step(&q)) {
        counts.screen = assay__column_int(&q);
        counts.measure = assay__column_int(&q);
        counts.confirm = assay__column_int(&q);
    }
    ASSAY_TRY(assay__query_done(&q));
    *out = counts;
    return ASSAY_OK;
}

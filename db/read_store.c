/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/read_store.c -- what the picker reads: routes, revisions, quarantine, peaks, transfers. */
#include "db/read_store.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

_Static_assert(sizeof(assay__route_candidate) == 120, "route.candidates holds packed records");
_Static_assert(ASSAY__VERDICT_WRONG == 2 && ASSAY__VERDICT_CRASHED == 6, "in READ_QUARANTINE");

enum {
    READ_COUNT_ROUTES,
    READ_REVISIONS,
    READ_ROUTES,
    READ_QUARANTINE,
    READ_PEAK,
    READ_PROOFS,
    READ_TRANSFERS
};

/* READ_REVISIONS walks the distinct revisions of a deployment through the measurement index by
 * jumps, so its cost follows the number of revisions, not of measurements. */
const assay__sql assay__sql_read[] = {
    [READ_COUNT_ROUTES] = {"count routes",
                           "SELECT d.digest = ?1, (SELECT count(*) FROM route AS t"
                           " WHERE t.deployment = d.id AND t.superseded_utc IS NULL)"
                           " FROM deployment AS d",
                           0},
    [READ_REVISIONS] = {"read revisions",
                        "WITH RECURSIVE here(id) AS (SELECT id FROM deployment WHERE digest = ?1),"
                        " seen(id) AS ("
                        "  SELECT min(m.revision) FROM measurement AS m"
                        "   WHERE m.deployment = (SELECT id FROM here)"
                        "  UNION ALL"
                        "  SELECT (SELECT min(m.revision) FROM measurement AS m"
                        "           WHERE m.deployment = (SELECT id FROM here)"
                        "             AND m.revision > seen.id)"
                        "   FROM seen WHERE seen.id IS NOT NULL),"
                        " wanted(id) AS ("
                        "  SELECT id FROM seen WHERE id IS NOT NULL"
                        "  UNION"
                        "  SELECT q.revision FROM quarantine AS q"
                        "   WHERE q.deployment = (SELECT id FROM here)"
                        "  UNION"
                        "  SELECT a.revision FROM accuracy AS a INDEXED BY accuracy_all_inputs"
                        "   WHERE a.deployment = (SELECT id FROM here)"
                        "     AND a.stratum = 'exhaustive' AND a.proof = 'exhaustive')"
                        "SELECT r.id, k.name, k.backend, k.op, k.dtypes, r.tunables,"
                        " r.kernel_revision, r.variant_revision"
                        " FROM wanted CROSS JOIN revision AS r ON r.id = wanted.id"
                        " CROSS JOIN kernel AS k ON k.id = r.kernel",
                        0},
    [READ_ROUTES] = {"read routes",
                     "SELECT t.id, p.text, t.layout, t.policy, t.align,"
                     " ifnull(t.winner_revision, 0), t.candidates, t.candidate_count, t.searched,"
                     " t.total, t.stop_reason"
                     " FROM route AS t CROSS JOIN problem AS p ON p.id = t.problem"
                     " WHERE t.deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                     " AND t.superseded_utc IS NULL",
                     0},
    [READ_QUARANTINE] = {"read quarantine",
                         "SELECT r.variant_revision, ifnull(p.text, ''), q.reason,"
                         " CASE WHEN EXISTS (SELECT 1 FROM measurement AS m"
                         "   WHERE m.deployment = q.deployment AND m.revision = q.revision"
                         "     AND m.problem = q.problem AND m.verdict = 'wrong') THEN 2"
                         "  WHEN EXISTS (SELECT 1 FROM measurement AS m"
                         "   WHERE m.deployment = q.deployment AND m.revision = q.revision"
                         "     AND m.problem = q.problem AND m.verdict = 'crashed')"
                         "  THEN 6 ELSE 0 END"
                         " FROM quarantine AS q CROSS JOIN revision AS r ON r.id = q.revision"
                         " LEFT JOIN problem AS p ON p.id = q.problem"
                         " WHERE q.deployment = (SELECT id FROM deployment WHERE digest = ?1)",
                         0},
    [READ_PEAK] = {"read peak",
                   "SELECT value FROM peak"
                   " WHERE deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                   " AND name = ?2",
                   0},
    [READ_PROOFS] = {"read proofs",
                     "SELECT a.id, a.revision, p.text, a.max_ulp, a.max_rel, a.max_abs, a.passed,"
                     " EXISTS (SELECT 1 FROM accuracy AS f INDEXED BY accuracy_failed"
                     "          WHERE f.passed = 0 AND f.deployment = a.deployment"
                     "            AND f.revision = a.revision)"
                     " FROM accuracy AS a INDEXED BY accuracy_all_inputs"
                     " CROSS JOIN problem AS p ON p.id = a.problem"
                     " WHERE a.deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                     " AND a.stratum = 'exhaustive' AND a.proof = 'exhaustive'",
                     0},
    [READ_TRANSFERS] = {"read transfers",
                        "SELECT source, target, size_bytes, median_ns, lo_ns, hi_ns FROM transfer"
                        " WHERE deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                        " ORDER BY source, target, size_bytes",
                        0},
    {NULL, NULL, 0},
};

static assay_status open_query(assay__store *store, int which, const char *deployment_hex,
                               assay__query *out)
{
    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_read[which], out));
    assay__bind_text(out, deployment_hex);
    return ASSAY_OK;
}

assay_status assay__read_count_routes(assay__store *store, const char *deployment_hex, size_t *here,
                                      size_t *elsewhere)
{
    assay__query q;
    size_t counts[2] = {0, 0};

    ASSAY_TRY(open_query(store, READ_COUNT_ROUTES, deployment_hex, &q));
    while (assay__query_step(&q)) {
        bool is_here = assay__column_int(&q) != 0;
        counts[is_here] += (size_t)assay__column_int(&q);
    }
    ASSAY_TRY(assay__query_finish(&q, ASSAY_OK));
    *here = counts[1];
    *elsewhere = counts[0];
    return ASSAY_OK;
}

static assay_status read_digest(assay__query *q, assay_digest *out)
{
    assay_status status = assay_digest_parse(assay__column_text(q), out);

    if (status == ASSAY_OK)
        return status;
    return assay__fail(ASSAY_DB_DAMAGED, "%s: store is damaged: %s holds no digest; restore a copy",
                       q->handle->path, q->sql->name);
}

assay_status assay__read_each_revision(assay__store *store, const char *deployment_hex,
                                       assay_status (*row)(void *cookie,
                                                           const assay__store_revision *r),
                                       void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(open_query(store, READ_REVISIONS, deployment_hex, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__store_revision r = {.row = (uint64_t)assay__column_int(&q)};
        r.kernel = assay__column_text(&q);
        r.backend = assay__column_text(&q);
        r.op = assay__column_text(&q);
        r.dtypes = assay__column_text(&q);
        r.tunables = assay__column_text(&q);
        status = read_digest(&q, &r.kernel_revision);
        if (status == ASSAY_OK)
            status = read_digest(&q, &r.variant_revision);
        if (status == ASSAY_OK)
            status = row(cookie, &r);
    }
    return assay__query_finish(&q, status);
}

static assay_status align_candidates(assay__store *store, assay__store_route *route, size_t size)
{
    if (size > store->candidates_cap) {
        void *bigger = realloc(store->candidates, 2 * size);
        if (bigger == NULL)
            return assay__fail(ASSAY_NOMEM, "%s: out of memory", store->handle.path);
        store->candidates = bigger;
        store->candidates_cap = 2 * size;
    }
    if (size > 0)
        memcpy(store->candidates, route->candidates, size);
    route->candidates = store->candidates;
    return ASSAY_OK;
}

static assay_status read_route(assay__store *store, assay__query *q, assay__store_route *out)
{
    size_t size = 0;

    out->row = (uint64_t)assay__column_int(q);
    out->problem = assay__column_text(q);
    out->layout = assay__column_text(q);
    out->policy = assay__column_text(q);
    out->align = (uint32_t)assay__column_int(q);
    out->winner_revision_row = (uint64_t)assay__column_int(q);
    out->candidates = assay__column_blob(q, &size);
    out->candidate_count = (size_t)assay__column_int(q);
    out->searched = assay__column_int(q);
    out->total = assay__column_int(q);
    out->stop_reason = assay__column_text(q);
    if (size != out->candidate_count * sizeof(assay__route_candidate))
        return assay__fail(ASSAY_DB_DAMAGED,
                           "%s: store is damaged: candidates of route %lld have the wrong size; "
                           "restore a copy",
                           q->handle->path, (long long)out->row);
    return align_candidates(store, out, size);
}

assay_status assay__read_each_route(assay__store *store, const char *deployment_hex,
                                    assay_status (*row)(void *cookie, const assay__store_route *r),
                                    void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(open_query(store, READ_ROUTES, deployment_hex, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__store_route route;
        status = read_route(store, &q, &route);
        if (status == ASSAY_OK)
            status = row(cookie, &route);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__read_each_quarantine(assay__store *store, const char *deployment_hex,
                                         assay_status (*row)(void *cookie,
                                                             const assay__store_quarantine *q),
                                         void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(open_query(store, READ_QUARANTINE, deployment_hex, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__store_quarantine found;
        status = read_digest(&q, &found.variant);
        found.problem = assay__column_text(&q);
        found.reason = assay__column_text(&q);
        found.verdict = (assay__verdict)assay__column_int(&q);
        if (status == ASSAY_OK)
            status = row(cookie, &found);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__read_peak(assay__store *store, const char *deployment_hex, const char *name,
                              double *value)
{
    assay__query q;
    double found = 0.0;

    ASSAY_TRY(open_query(store, READ_PEAK, deployment_hex, &q));
    assay__bind_text(&q, name);
    bool any = assay__query_step(&q);
    if (any)
        found = assay__column_real(&q);
    ASSAY_TRY(assay__query_finish(&q, ASSAY_OK));
    if (!any)
        return assay__fail(ASSAY_NOTFOUND, "peak %s: not measured on this deployment; run a sweep",
                           name);
    *value = found;
    return ASSAY_OK;
}

assay_status assay__read_each_proof(assay__store *store, const char *deployment_hex,
                                    assay_status (*row)(void *cookie, const assay__store_proof *p),
                                    void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(open_query(store, READ_PROOFS, deployment_hex, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__store_proof p = {.accuracy = (uint64_t)assay__column_int(&q)};
        p.revision_row = (uint64_t)assay__column_int(&q);
        p.problem = assay__column_text(&q);
        p.max_ulp = assay__column_real(&q);
        p.max_rel = assay__column_real(&q);
        p.max_abs = assay__column_real(&q);
        p.passed = assay__column_int(&q) != 0;
        p.is_contradicted = assay__column_int(&q) != 0;
        status = row(cookie, &p);
    }
    return assay__query_finish(&q, status);
}

assay_status assay__read_each_transfer(assay__store *store, const char *deployment_hex,
                                       assay_status (*row)(void *cookie,
                                                           const assay__store_transfer *t),
                                       void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(open_query(store, READ_TRANSFERS, deployment_hex, &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__store_transfer t;
        t.source = assay__column_text(&q);
        t.target = assay__column_text(&q);
        t.bytes = (double)assay__column_int(&q);
        t.median_ns = assay__column_real(&q);
        t.lo_ns = assay__column_real(&q);
        t.hi_ns = assay__column_real(&q);
        status = row(cookie, &t);
    }
    return assay__query_finish(&q, status);
}

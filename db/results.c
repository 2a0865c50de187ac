/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/results.c -- what the winners of a deployment gave when they were checked. */
#include <stdlib.h>

#include "db/check.h"
#include "db/read_store.h"
#include "db/statements.h"
#include "runtime/error.h"

enum { WINNERS };

/* By indexes alone: routes of the deployment, then one row of each other table. */
const assay__sql assay__sql_results[] = {
    [WINNERS] = {"results of winners",
                 "SELECT t.id, p.text, t.layout, t.align, t.policy, k.backend, k.op, k.dtypes,"
                 " k.name, r.tunables, r.kernel_revision, r.variant_revision, s.seed,"
                 " ifnull(m.output_digest, ''), m.median_ns, ifnull(b.level, 'absent')"
                 " FROM route AS t"
                 " CROSS JOIN measurement AS m ON m.deployment = t.deployment"
                 "  AND m.revision = t.winner_revision AND m.problem = t.problem"
                 "  AND m.layout = t.layout AND m.align = t.align AND m.policy = t.policy"
                 " CROSS JOIN sweep AS s ON s.id = m.sweep"
                 " CROSS JOIN problem AS p ON p.id = t.problem"
                 " CROSS JOIN revision AS r ON r.id = t.winner_revision"
                 " CROSS JOIN kernel AS k ON k.id = r.kernel"
                 " LEFT JOIN stability AS b ON b.deployment = t.deployment"
                 "  AND b.revision = t.winner_revision AND b.problem = t.problem"
                 " WHERE t.deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                 " AND t.superseded_utc IS NULL",
                 0},
    {NULL, NULL, 0},
};

static assay_status take_row(assay__query *q, assay__check_result *r)
{
    const char *level;

    r->route = assay__column_int(q);
    r->problem = assay__column_text(q);
    r->layout = assay__column_text(q);
    r->align = (unsigned)assay__column_int(q);
    r->policy = assay__column_text(q);
    r->backend = assay__column_text(q);
    r->op = assay__column_text(q);
    r->dtypes = assay__column_text(q);
    r->kernel = assay__column_text(q);
    r->tunables = assay__column_text(q);
    ASSAY_TRY(assay_digest_parse(assay__column_text(q), &r->kernel_revision));
    ASSAY_TRY(assay_digest_parse(assay__column_text(q), &r->variant_revision));
    r->seed = (uint64_t)assay__column_int(q);
    r->output_digest = strtoull(assay__column_text(q), NULL, 16);
    r->median_ns = assay__column_real(q);
    level = assay__column_text(q);
    /* "absent": too few processes ran it to say. */
    r->is_repeatable = level[0] != 'n' && level[0] != 'a';
    return ASSAY_OK;
}

assay_status assay__check_each_result(assay__store *store, const char *deployment_hex,
                                      assay_status (*row)(void *cookie,
                                                          const assay__check_result *r),
                                      void *cookie)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_results[WINNERS], &q));
    assay__bind_text(&q, deployment_hex);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__check_result r;
        status = take_row(&q, &r);
        if (status != ASSAY_OK)
            status = assay__fail(ASSAY_DB_DAMAGED,
                                 "%s: store is damaged: the winner of route %lld has no digest; "
                                 "restore a copy",
                                 q.handle->path, (long long)r.route);
        else
            status = row(cookie, &r);
    }
    return assay__query_finish(&q, status);
}

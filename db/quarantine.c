/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/quarantine.c -- see quarantine.h. */
#include "db/quarantine.h"

#include "db/read_store.h"
#include "db/statements.h"
#include "db/write.h"
#include "runtime/error.h"

enum { LIST, HAS_ENTRY, LIFT_ENTRY };

/* Of an entry for all problems the verdict is that of any at which it failed. */
const assay__sql assay__sql_quarantine_list[] = {
    [LIST] = {"report quarantine",
              "SELECT q.id, d.digest, v.name, k.backend, k.name, k.op, k.dtypes, r.tunables,"
              " r.kernel_revision, r.variant_revision, ifnull(p.text, ''),"
              " ifnull((SELECT m.verdict FROM measurement AS m WHERE m.deployment = q.deployment"
              "   AND m.revision = q.revision AND m.problem = ifnull(q.problem, m.problem)"
              "   AND m.verdict IN ('wrong', 'crashed', 'timeout')"
              "   ORDER BY m.verdict = 'wrong' DESC, m.measured_utc DESC LIMIT 1), 'none'), "
              "q.reason, q.since_utc"
              " FROM quarantine AS q JOIN deployment AS d ON d.id = q.deployment"
              " JOIN device AS v ON v.id = d.device"
              " JOIN revision AS r ON r.id = q.revision JOIN kernel AS k ON k.id = r.kernel"
              " LEFT JOIN problem AS p ON p.id = q.problem ORDER BY q.id",
              ASSAY__SQL_WHOLE},
    [HAS_ENTRY] = {"find quarantine", "SELECT 1 FROM quarantine WHERE id = ?1", 0},
    [LIFT_ENTRY] = {"lift quarantine", "DELETE FROM quarantine WHERE id = ?1", 0},
    {NULL, NULL, 0},
};

static assay_status read_digest(assay__query *q, assay_digest *out)
{
    assay_status status = assay_digest_parse(assay__column_text(q), out);

    return status == ASSAY_OK
               ? status
               : assay__fail(ASSAY_DB_DAMAGED,
                             "%s: store is damaged: a revision in quarantine holds no digest; "
                             "restore a copy",
                             q->handle->path);
}

static assay_status read_entry(assay__query *q, assay__quarantine_entry *e)
{
    e->id = assay__column_int(q);
    e->deployment = assay__column_text(q);
    e->device = assay__column_text(q);
    e->backend = assay__column_text(q);
    e->kernel = assay__column_text(q);
    e->op = assay__column_text(q);
    e->dtypes = assay__column_text(q);
    e->tunables = assay__column_text(q);
    ASSAY_TRY(read_digest(q, &e->kernel_revision));
    ASSAY_TRY(read_digest(q, &e->variant_revision));
    e->problem = assay__column_text(q);
    e->verdict = assay__db_verdict_parse(assay__column_text(q));
    e->reason = assay__column_text(q);
    e->since_utc = assay__column_text(q);
    return ASSAY_OK;
}

assay_status assay__quarantine_each(assay__store *store,
                                    assay_status (*row)(void *cookie,
                                                        const assay__quarantine_entry *e),
                                    void *cookie)
{
    assay__quarantine_entry e;
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_quarantine_list[LIST], &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        status = read_entry(&q, &e);
        if (status == ASSAY_OK)
            status = row(cookie, &e);
    }
    return assay__query_finish(&q, status);
}

static assay_status lift(assay__db *db, int64_t id, int *found)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine_list[HAS_ENTRY], &q));
    assay__bind_int(&q, id);
    *found = assay__query_step(&q);
    ASSAY_TRY(assay__query_done(&q));
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_quarantine_list[LIFT_ENTRY], &q));
    assay__bind_int(&q, id);
    return assay__query_id(&q, NULL);
}

assay_status assay__quarantine_lift(assay__db *db, int64_t id, int *found)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, lift(db, id, found));
}

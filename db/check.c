/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/check.c -- is a store sound, and what is in it. */
#include "db/check.h"

#include <stdio.h>
#include <string.h>

#include "db/read_store.h"
#include "db/statements.h"
#include "runtime/error.h"

/* Measurements that the winners of current routes rest on. */
#define WINNERS                                                                          \
    " FROM route t JOIN measurement m ON m.deployment = t.deployment AND m.revision = "  \
    "t.winner_revision AND m.problem = t.problem AND m.layout = t.layout AND m.align = " \
    "t.align AND m.policy = t.policy WHERE t.superseded_utc IS NULL AND "

enum { QUICK_CHECK, FOREIGN_KEYS, COUNTS, ROUTES, HAS_REVISION, HAS_MEASUREMENT };

const assay__sql assay__sql_check[] = {
    [QUICK_CHECK] = {"quick check", "PRAGMA quick_check(100)", ASSAY__SQL_WHOLE},
    [FOREIGN_KEYS] = {"foreign key check",
                      "SELECT \"table\", ifnull(rowid, 0), parent FROM pragma_foreign_key_check",
                      ASSAY__SQL_WHOLE},
    [COUNTS] = {"count rows",
                "SELECT (SELECT count(*) FROM deployment), (SELECT count(*) FROM kernel),"
                " (SELECT count(*) FROM revision), (SELECT count(*) FROM problem),"
                " (SELECT count(*) FROM sweep), (SELECT count(*) FROM measurement),"
                " (SELECT count(*) FROM visit), (SELECT count(*) FROM accuracy),"
                " (SELECT count(*) FROM stability), (SELECT count(*) FROM quarantine),"
                " (SELECT count(*) FROM peak), (SELECT count(*) FROM model),"
                " (SELECT count(*) FROM route WHERE superseded_utc IS NULL),"
                " (SELECT count(*) FROM route WHERE superseded_utc IS NOT NULL),"
                " (SELECT count(*) FROM certificate), (SELECT count(*) FROM observation),"
                " (SELECT count(*) FROM sweep_problem),"
                " (SELECT count(*)" WINNERS "m.verdict = 'noisy'),"
                " (SELECT count(*)" WINNERS "(m.verdict = 'noisy' OR m.flags <> ''))",
                ASSAY__SQL_WHOLE},
    [ROUTES] = {"check routes", "SELECT id, candidates FROM route WHERE superseded_utc IS NULL",
                ASSAY__SQL_WHOLE},
    [HAS_REVISION] = {"has revision", "SELECT 1 FROM revision WHERE id = ?1", 0},
    [HAS_MEASUREMENT] = {"has measurement", "SELECT 1 FROM measurement WHERE id = ?1", 0},
    {NULL, NULL, 0},
};

typedef struct findings {
    size_t limit, found;
    void (*tell)(void *cookie, const char *text);
    void *cookie;
} findings;

static void add_finding(findings *f, const char *text)
{
    if (f->found < f->limit && f->tell != NULL)
        f->tell(f->cookie, text);
    f->found++;
}

static assay_status check_pages(assay__store *store, findings *f)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_check[QUICK_CHECK], &q));
    while (assay__query_step(&q)) {
        const char *text = assay__column_text(&q);
        if (strcmp(text, "ok") != 0)
            add_finding(f, text);
    }
    return assay__query_done(&q);
}

static assay_status check_keys(assay__store *store, findings *f)
{
    assay__query q;
    char text[256];

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_check[FOREIGN_KEYS], &q));
    while (assay__query_step(&q)) {
        const char *table = assay__column_text(&q);
        int64_t row = assay__column_int(&q);
        snprintf(text, sizeof text, "row %lld of %s points at a missing row of %s", (long long)row,
                 table, assay__column_text(&q));
        add_finding(f, text);
    }
    return assay__query_done(&q);
}

static assay_status has_row(assay__store *store, int which, uint64_t id, bool *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_check[which], &q));
    assay__bind_int(&q, (int64_t)id);
    bool any = assay__query_step(&q);
    ASSAY_TRY(assay__query_done(&q));
    *out = any;
    return ASSAY_OK;
}

/* Candidates are packed, so foreign keys do not guard them. */
static assay_status check_candidate(assay__store *store, int64_t route,
                                    const assay__route_candidate *c, findings *f)
{
    bool revision = false, measurement = true;
    char text[160];

    ASSAY_TRY(has_row(store, HAS_REVISION, c->revision_row, &revision));
    if (c->measurement != 0)
        ASSAY_TRY(has_row(store, HAS_MEASUREMENT, c->measurement, &measurement));
    if (revision && measurement && assay__candidate_is_sound(c))
        return ASSAY_OK;
    if (revision && measurement) {
        snprintf(text, sizeof text,
                 "row %lld of route has a candidate (revision %llu) whose figures cannot be",
                 (long long)route, (unsigned long long)c->revision_row);
        add_finding(f, text);
        return ASSAY_OK;
    }
    snprintf(text, sizeof text,
             "row %lld of route has a candidate that points at a missing row of %s",
             (long long)route, revision ? "measurement" : "revision");
    add_finding(f, text);
    return ASSAY_OK;
}

static assay_status check_routes(assay__store *store, findings *f)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_check[ROUTES], &q));
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__route_candidate c;
        size_t size = 0;
        int64_t route = assay__column_int(&q);
        const char *bytes = assay__column_blob(&q, &size);
        for (size_t at = 0; at + sizeof c <= size && status == ASSAY_OK; at += sizeof c) {
            memcpy(&c, bytes + at, sizeof c);
            status = check_candidate(store, route, &c, f);
        }
    }
    return assay__query_finish(&q, status);
}

assay_status assay__check_integrity(assay__store *store, size_t limit,
                                    void (*finding)(void *cookie, const char *text), void *cookie,
                                    size_t *found)
{
    findings f = {.limit = limit, .tell = finding, .cookie = cookie};

    ASSAY_TRY(check_pages(store, &f));
    /* On broken pages a second pass would only say the same thing less well. */
    if (f.found == 0)
        ASSAY_TRY(check_keys(store, &f));
    if (f.found == 0)
        ASSAY_TRY(check_routes(store, &f));
    *found = f.found;
    return ASSAY_OK;
}

assay_status assay__check_count(assay__store *store, assay__check_counts *out)
{
    assay__query q;
    assay__check_counts c = {0};
    int64_t *const fields[] = {
        &c.deployments,  &c.kernels,        &c.revisions,    &c.problems,          &c.sweeps,
        &c.measurements, &c.visits,         &c.accuracies,   &c.stabilities,       &c.quarantined,
        &c.peaks,        &c.models,         &c.routes,       &c.routes_superseded, &c.certificates,
        &c.observations, &c.sweep_problems, &c.routes_noisy, &c.routes_disturbed,
    };

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_check[COUNTS], &q));
    if (assay__query_step(&q))
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            *fields[i] = assay__column_int(&q);
    ASSAY_TRY(assay__query_done(&q));
    *out = c;
    return ASSAY_OK;
}

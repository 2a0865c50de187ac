/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/stale.c -- which rows of a store hold for the kernels of this program, and why others not. */
#include <stdlib.h>
#include <string.h>

#include "db/check.h"
#include "db/read_store.h"
#include "db/statements.h"
#include "runtime/error.h"

enum { WINNERS, REVISIONS, ELSEWHERE };

/* REVISIONS jumps through the measurement index from one revision to the next. */
const assay__sql assay__sql_stale[] = {
    [WINNERS] = {"stale winners",
                 "SELECT ifnull(winner_revision, 0), count(*) FROM route"
                 " WHERE deployment = (SELECT id FROM deployment WHERE digest = ?1)"
                 " AND superseded_utc IS NULL GROUP BY 1 ORDER BY 1",
                 0},
    [REVISIONS] = {"stale revisions",
                   "WITH RECURSIVE here(id) AS (SELECT id FROM deployment WHERE digest = ?1),"
                   " seen(id) AS ("
                   "  SELECT min(m.revision) FROM measurement AS m"
                   "   WHERE m.deployment = (SELECT id FROM here)"
                   "  UNION ALL"
                   "  SELECT (SELECT min(m.revision) FROM measurement AS m"
                   "           WHERE m.deployment = (SELECT id FROM here)"
                   "             AND m.revision > seen.id)"
                   "   FROM seen WHERE seen.id IS NOT NULL)"
                   "SELECT r.id, k.backend, k.op, k.dtypes, k.name, r.tunables,"
                   " r.variant_revision,"
                   " (SELECT count(*) FROM measurement AS m"
                   "   WHERE m.deployment = (SELECT id FROM here) AND m.revision = r.id)"
                   " FROM seen CROSS JOIN revision AS r ON r.id = seen.id"
                   " CROSS JOIN kernel AS k ON k.id = r.kernel",
                   0},
    [ELSEWHERE] = {"stale elsewhere",
                   "SELECT (SELECT count(*) FROM measurement AS m WHERE m.deployment = d.id),"
                   " (SELECT count(*) FROM route AS t WHERE t.deployment = d.id"
                   "   AND t.superseded_utc IS NULL)"
                   " FROM deployment AS d WHERE d.digest <> ?1",
                   0},
    {NULL, NULL, 0},
};

const char *assay__check_state_text(assay__check_state state)
{
    static const char *const texts[ASSAY__CHECK_STATES] = {
        [ASSAY__CHECK_USABLE] = "usable",
        [ASSAY__CHECK_STALE] = "stale: its code, compiler or libraries changed",
        [ASSAY__CHECK_NO_VARIANT] = "the kernel no longer has these tunables",
        [ASSAY__CHECK_NO_KERNEL] = "no such kernel in this program",
        [ASSAY__CHECK_UNAVAILABLE] = "its library or instruction set is absent",
        [ASSAY__CHECK_ELSEWHERE] = "measured on another deployment",
    };
    return (size_t)state < ASSAY__CHECK_STATES ? texts[state] : "unknown";
}

typedef struct winner {
    int64_t revision, routes;
} winner;
typedef struct judge {
    const assay__check_variant **sorted; /* owned; by kernel, then tunables */
    size_t variant_count;
    winner *winners; /* owned; by revision */
    size_t winner_count;
} judge;

static int compare_kernels(const assay__check_variant *a, const assay__check_variant *b)
{
    int order = strcmp(a->backend, b->backend);

    if (order == 0)
        order = strcmp(a->op, b->op);
    if (order == 0)
        order = strcmp(a->dtypes, b->dtypes);
    return order == 0 ? strcmp(a->kernel, b->kernel) : order;
}

static int compare_variants(const void *x, const void *y)
{
    const assay__check_variant *a = *(const assay__check_variant *const *)x;
    const assay__check_variant *b = *(const assay__check_variant *const *)y;
    int order = compare_kernels(a, b);

    return order == 0 ? strcmp(a->tunables, b->tunables) : order;
}

static int compare_pointed_kernels(const void *x, const void *y)
{
    return compare_kernels(*(const assay__check_variant *const *)x,
                           *(const assay__check_variant *const *)y);
}

static assay__check_state judge_revision(const judge *j, const assay__check_revision *r)
{
    const assay__check_variant wanted = {.backend = r->backend,
                                         .op = r->op,
                                         .dtypes = r->dtypes,
                                         .kernel = r->kernel,
                                         .tunables = r->tunables};
    const assay__check_variant *key = &wanted;
    const assay__check_variant *const *found = NULL;

    if (j->variant_count == 0)
        return ASSAY__CHECK_NO_KERNEL;
    found = bsearch(&key, j->sorted, j->variant_count, sizeof *j->sorted, compare_variants);
    if (found == NULL) {
        found =
            bsearch(&key, j->sorted, j->variant_count, sizeof *j->sorted, compare_pointed_kernels);
        return found == NULL ? ASSAY__CHECK_NO_KERNEL : ASSAY__CHECK_NO_VARIANT;
    }
    if (!(*found)->available)
        return ASSAY__CHECK_UNAVAILABLE;
    return assay_digest_equal(&(*found)->variant_revision, &r->variant_revision)
               ? ASSAY__CHECK_USABLE
               : ASSAY__CHECK_STALE;
}

static assay_status sort_variants(judge *j, const assay__check_variant *variants, size_t count)
{
    j->sorted = malloc((count + 1) * sizeof *j->sorted);
    if (j->sorted == NULL)
        return assay__fail(ASSAY_NOMEM, "check: out of memory");
    for (size_t i = 0; i < count; i++)
        j->sorted[i] = &variants[i];
    j->variant_count = count;
    qsort(j->sorted, count, sizeof *j->sorted, compare_variants);
    return ASSAY_OK;
}

static assay_status keep_winner(judge *j, size_t *cap, const winner *w)
{
    if (j->winner_count == *cap) {
        size_t bigger = *cap * 2 + 64;
        winner *moved = realloc(j->winners, bigger * sizeof *moved);
        if (moved == NULL)
            return assay__fail(ASSAY_NOMEM, "check: out of memory");
        j->winners = moved;
        *cap = bigger;
    }
    j->winners[j->winner_count++] = *w;
    return ASSAY_OK;
}

static assay_status read_winners(assay__store *store, const char *deployment_hex, judge *j,
                                 assay__check_staleness *out)
{
    assay__query q;
    assay_status status = ASSAY_OK;
    size_t cap = 0;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_stale[WINNERS], &q));
    assay__bind_text(&q, deployment_hex);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        winner w = {.revision = assay__column_int(&q)};
        w.routes = assay__column_int(&q);
        if (w.revision == 0)
            out->routes_without_winner = w.routes;
        else
            status = keep_winner(j, &cap, &w);
    }
    return assay__query_finish(&q, status);
}

static int compare_winners(const void *x, const void *y)
{
    const winner *a = x, *b = y;

    return (a->revision > b->revision) - (a->revision < b->revision);
}

static assay_status judge_row(assay__query *q, const judge *j, assay__check_revision *r)
{
    r->id = assay__column_int(q);
    r->backend = assay__column_text(q);
    r->op = assay__column_text(q);
    r->dtypes = assay__column_text(q);
    r->kernel = assay__column_text(q);
    r->tunables = assay__column_text(q);
    if (assay_digest_parse(assay__column_text(q), &r->variant_revision) != ASSAY_OK)
        return assay__fail(ASSAY_DB_DAMAGED,
                           "%s: store is damaged: revision %lld holds no digest; restore a copy",
                           q->handle->path, (long long)r->id);
    r->measurements = assay__column_int(q);
    const winner key = {.revision = r->id};
    const winner *won = j->winner_count == 0 ? NULL
                                             : bsearch(&key, j->winners, j->winner_count,
                                                       sizeof key, compare_winners);
    r->routes = won == NULL ? 0 : won->routes;
    r->state = judge_revision(j, r);
    return ASSAY_OK;
}

static assay_status judge_revisions(assay__store *store, const char *deployment_hex, const judge *j,
                                    void (*row)(void *cookie, const assay__check_revision *r),
                                    void *cookie, assay__check_staleness *out)
{
    assay__query q;
    assay_status status = ASSAY_OK;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_stale[REVISIONS], &q));
    assay__bind_text(&q, deployment_hex);
    while (status == ASSAY_OK && assay__query_step(&q)) {
        assay__check_revision r;
        status = judge_row(&q, j, &r);
        if (status != ASSAY_OK)
            break;
        out->measurements[r.state] += r.measurements;
        out->routes[r.state] += r.routes;
        if (row != NULL)
            row(cookie, &r);
    }
    return assay__query_finish(&q, status);
}

static assay_status count_elsewhere(assay__store *store, const char *deployment_hex,
                                    assay__check_staleness *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&store->handle, &assay__sql_stale[ELSEWHERE], &q));
    assay__bind_text(&q, deployment_hex);
    while (assay__query_step(&q)) {
        out->measurements[ASSAY__CHECK_ELSEWHERE] += assay__column_int(&q);
        out->routes[ASSAY__CHECK_ELSEWHERE] += assay__column_int(&q);
    }
    return assay__query_finish(&q, ASSAY_OK);
}

assay_status assay__check_stale(assay__store *store, const char *deployment_hex,
                                const assay__check_variant *variants, size_t variant_count,
                                void (*row)(void *cookie, const assay__check_revision *r),
                                void *cookie, assay__check_staleness *out)
{
    judge j = {0};
    assay__check_staleness totals = {0};
    assay_status status = sort_variants(&j, variants, variant_count);

    if (status == ASSAY_OK)
        status = read_winners(store, deployment_hex, &j, &totals);
    if (status == ASSAY_OK)
        status = judge_revisions(store, deployment_hex, &j, row, cookie, &totals);
    if (status == ASSAY_OK)
        status = count_elsewhere(store, deployment_hex, &totals);
    free(j.sorted);
    free(j.winners);
    if (status == ASSAY_OK)
        *out = totals;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_kernel.c -- tables kernel, claim and revision. */
#include <stdio.h>

#include "db/write.h"
#include "runtime/error.h"

enum {
    KERNEL_FIND,
    KERNEL_PUT,
    CLAIM_LATEST,
    CLAIM_PUT,
    REVISION_FIND,
    REVISION_PUT,
    VARIANT_FIND
};

const assay__sql assay__sql_kernel[] = {
    [KERNEL_FIND] = {"kernel find",
                     "SELECT id FROM kernel WHERE backend = ?1 AND op = ?2 AND dtypes = ?3"
                     " AND name = ?4 AND entry_point = ?5 AND default_rank = ?6",
                     0},
    [KERNEL_PUT] = {"kernel put",
                    "INSERT INTO kernel (backend, op, dtypes, name, entry_point, default_rank)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
                    " ON CONFLICT (backend, op, dtypes, name) DO UPDATE SET"
                    " entry_point = excluded.entry_point, default_rank = excluded.default_rank"
                    " RETURNING id",
                    0},
    [CLAIM_LATEST] = {"claim latest",
                      "SELECT digest FROM claim WHERE kernel = ?1"
                      " ORDER BY last_seen_utc DESC, id DESC LIMIT 1",
                      0},
    [CLAIM_PUT] = {"claim put",
                   "INSERT INTO claim (kernel, digest, max_ulp, max_rho, max_rel, max_abs,"
                   " stability, first_seen_utc, last_seen_utc)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)"
                   " ON CONFLICT (kernel, digest) DO UPDATE SET"
                   " last_seen_utc = excluded.last_seen_utc",
                   0},
    [REVISION_FIND] = {"revision find",
                       "SELECT id FROM revision WHERE variant_revision = ?1 AND kernel = ?2", 0},
    [REVISION_PUT] = {"revision put",
                      "INSERT INTO revision (variant_revision, kernel, kernel_revision, tunables,"
                      " libraries, compiler, first_seen_utc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
                      " RETURNING id",
                      0},
    [VARIANT_FIND] = {"variant find",
                      "SELECT k.name, k.backend, k.op, k.dtypes, r.kernel_revision,"
                      " r.variant_revision FROM revision AS r CROSS JOIN kernel AS k"
                      " ON k.id = r.kernel WHERE r.id = ?1",
                      0},
    {NULL, NULL, 0},
};

static assay_status find_or_put_kernel(assay__db *db, const assay__db_kernel *k, int64_t *out)
{
    int64_t id = 0;

    for (int which = KERNEL_FIND; which <= KERNEL_PUT && id == 0; which++) {
        assay__query q;
        ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[which], &q));
        assay__bind_text(&q, k->backend);
        assay__bind_text(&q, k->op);
        assay__bind_text(&q, k->dtypes);
        assay__bind_text(&q, k->kernel);
        assay__bind_word(&q, k->entry_point);
        assay__bind_int(&q, k->default_rank);
        while (assay__query_step(&q))
            id = assay__column_int(&q);
        ASSAY_TRY(assay__query_done(&q));
    }
    *out = id;
    return ASSAY_OK;
}

static void bind_limit(assay__query *q, double limit)
{
    /* Negative means no claim; NaN does too, and bind_real writes NULL for it. */
    assay__bind_real(q, limit >= 0.0 ? limit : (double)__builtin_nan(""));
}

static assay_status put_claim(assay__db *db, const assay__db_kernel *k, int64_t kernel)
{
    assay__query q;
    char hex[ASSAY_DIGEST_HEX];
    assay_digest latest;
    bool same = false;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[CLAIM_LATEST], &q));
    assay__bind_int(&q, kernel);
    if (assay__query_step(&q))
        same = assay_digest_parse(assay__column_text(&q), &latest) == ASSAY_OK &&
               assay_digest_equal(&latest, &k->claims_digest);
    ASSAY_TRY(assay__query_done(&q));
    if (same)
        return ASSAY_OK;
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[CLAIM_PUT], &q));
    assay__bind_int(&q, kernel);
    assay_digest_format(&k->claims_digest, hex);
    assay__bind_text(&q, hex);
    bind_limit(&q, k->claims.max_ulp);
    bind_limit(&q, k->claims.max_rho);
    bind_limit(&q, k->claims.max_rel);
    bind_limit(&q, k->claims.max_abs);
    assay__bind_text(&q, assay__db_stability_name(k->claims.stability));
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, NULL);
}

static assay_status find_revision(assay__db *db, const char *variant, int64_t kernel, int64_t *out)
{
    assay__query q;
    int64_t id = 0;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[REVISION_FIND], &q));
    assay__bind_text(&q, variant);
    assay__bind_int(&q, kernel);
    if (assay__query_step(&q))
        id = assay__column_int(&q);
    ASSAY_TRY(assay__query_done(&q));
    *out = id;
    return ASSAY_OK;
}

static assay_status put_revision(assay__db *db, const assay__db_kernel *k, int64_t *out)
{
    assay__query q;
    char variant[ASSAY_DIGEST_HEX], whole[ASSAY_DIGEST_HEX];
    int64_t kernel = 0, id = 0;

    ASSAY_TRY(find_or_put_kernel(db, k, &kernel));
    ASSAY_TRY(put_claim(db, k, kernel));
    assay_digest_format(&k->variant_revision, variant);
    assay_digest_format(&k->kernel_revision, whole);
    ASSAY_TRY(find_revision(db, variant, kernel, &id));
    if (id == 0) {
        ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[REVISION_PUT], &q));
        assay__bind_text(&q, variant);
        assay__bind_int(&q, kernel);
        assay__bind_text(&q, whole);
        assay__bind_word(&q, k->tunables);
        assay__bind_word(&q, k->libraries);
        assay__bind_word(&q, k->compiler);
        assay__bind_text(&q, assay__db_now(db));
        ASSAY_TRY(assay__query_id(&q, &id));
    }
    *out = id;
    return ASSAY_OK;
}

assay_status assay__db_put_revision(assay__db *db, const assay__db_kernel *k, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_revision(db, k, out));
}

assay_status assay__db_find_variant(assay__db *db, int64_t revision, int *found,
                                    assay__db_variant *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_kernel[VARIANT_FIND], &q));
    assay__bind_int(&q, revision);
    bool any = assay__query_step(&q);
    if (any) {
        snprintf(out->kernel, sizeof out->kernel, "%s", assay__column_text(&q));
        snprintf(out->backend, sizeof out->backend, "%s", assay__column_text(&q));
        snprintf(out->op, sizeof out->op, "%s", assay__column_text(&q));
        snprintf(out->dtypes, sizeof out->dtypes, "%s", assay__column_text(&q));
        any = assay_digest_parse(assay__column_text(&q), &out->kernel_revision) == ASSAY_OK &&
              assay_digest_parse(assay__column_text(&q), &out->variant_revision) == ASSAY_OK;
    }
    ASSAY_TRY(assay__query_done(&q));
    *found = any;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_deployment.c -- tables device and deployment. */
#include "db/write.h"
#include "runtime/error.h"

enum { DEVICE_FIND, DEVICE_PUT, DEPLOYMENT_FIND, DEPLOYMENT_PUT, DEPLOYMENT_LABEL };

const assay__sql assay__sql_deployment[] = {
    [DEVICE_FIND] = {"device find",
                     "SELECT id FROM device WHERE backend = ?1 AND name = ?2 AND architecture = ?3",
                     0},
    [DEVICE_PUT] = {"device put",
                    "INSERT INTO device (backend, name, architecture) VALUES (?1, ?2, ?3)"
                    " RETURNING id",
                    0},
    [DEPLOYMENT_FIND] = {"deployment find", "SELECT id FROM deployment WHERE digest = ?1", 0},
    [DEPLOYMENT_PUT] = {"deployment put",
                        "INSERT INTO deployment (digest, device, driver, cpu_model, cpu_stepping,"
                        " microcode, isa, os_class, usable_cpus, numa_nodes, fingerprint,"
                        " first_seen_utc)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) RETURNING id",
                        0},
    [DEPLOYMENT_LABEL] = {"deployment label",
                          "UPDATE deployment SET label = ?1 WHERE id = ?2 AND label IS NOT ?1", 0},
    {NULL, NULL, 0},
};

static assay_status find_or_put_device(assay__db *db, const assay_deployment *d, int64_t *out)
{
    int64_t id = 0;

    for (int which = DEVICE_FIND; which <= DEVICE_PUT && id == 0; which++) {
        assay__query q;
        ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_deployment[which], &q));
        assay__bind_text(&q, d->backend);
        assay__bind_text(&q, d->device);
        assay__bind_text(&q, d->architecture);
        if (assay__query_step(&q))
            id = assay__column_int(&q);
        ASSAY_TRY(assay__query_done(&q));
    }
    *out = id;
    return ASSAY_OK;
}

static assay_status put_row(assay__db *db, const assay_deployment *d, const char *hex, int64_t *out)
{
    assay__query q;
    char fingerprint[ASSAY_DIGEST_HEX];
    int64_t device = 0;

    ASSAY_TRY(find_or_put_device(db, d, &device));
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_deployment[DEPLOYMENT_PUT], &q));
    assay__bind_text(&q, hex);
    assay__bind_int(&q, device);
    assay__bind_text(&q, d->driver);
    assay__bind_text(&q, d->cpu_model);
    assay__bind_text(&q, d->cpu_stepping);
    assay__bind_text(&q, d->microcode);
    assay__bind_text(&q, d->isa);
    assay__bind_text(&q, d->os_class);
    assay__bind_int(&q, d->usable_cpus);
    assay__bind_int(&q, d->numa_nodes);
    assay_digest_format(&d->fingerprint, fingerprint);
    assay__bind_text(&q, d->has_fingerprint ? fingerprint : NULL);
    assay__bind_text(&q, assay__db_now(db));
    return assay__query_id(&q, out);
}

static assay_status set_label(assay__db *db, int64_t id, const char *label)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_deployment[DEPLOYMENT_LABEL], &q));
    assay__bind_text(&q, label);
    assay__bind_int(&q, id);
    return assay__query_id(&q, NULL);
}

static assay_status put_deployment(assay__db *db, const assay_deployment *d, const char *label,
                                   int64_t *out)
{
    assay__query q;
    assay_digest digest;
    char hex[ASSAY_DIGEST_HEX];
    int64_t id = 0;

    assay_deployment_digest(d, &digest);
    assay_digest_format(&digest, hex);
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_deployment[DEPLOYMENT_FIND], &q));
    assay__bind_text(&q, hex);
    if (assay__query_step(&q))
        id = assay__column_int(&q);
    ASSAY_TRY(assay__query_done(&q));
    if (id == 0)
        ASSAY_TRY(put_row(db, d, hex, &id));
    if (label != NULL && label[0] != '\0')
        ASSAY_TRY(set_label(db, id, label));
    *out = id;
    return ASSAY_OK;
}

assay_status assay__db_put_deployment(assay__db *db, const assay_deployment *d, const char *label,
                                      int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_deployment(db, d, label, out));
}

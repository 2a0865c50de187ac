/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* db/write_accuracy.c -- table accuracy. */
#include "db/write.h"
#include "runtime/error.h"

enum { ACCURACY_PUT, ACCURACY_ID, ACCURACY_FIND };

/* ACCURACY_FIND: a failure of a revision outweighs what passed, the union its strata, the stronger
 * proof the weaker, the later the earlier. */
const assay__sql assay__sql_accuracy[] = {
    [ACCURACY_PUT] =
        {"accuracy put",
         "INSERT INTO accuracy (deployment, revision, problem, stratum, seed, sweep, passed,"
         " proof, elements, max_ulp, max_err_ulp, mean_err_ulp, p50_err_ulp, p99_err_ulp, max_rel,"
         " max_abs, max_rho, rms_rho, kappa, bound, misrounded, nan_mismatch, inf_mismatch,"
         " zero_sign_mismatch, flushed, histogram_json, worst_index, worst_json, reference,"
         " output_digest, measured_utc)"
         " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
         " ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)"
         " ON CONFLICT (deployment, revision, problem, stratum, seed) DO UPDATE SET"
         " sweep = excluded.sweep, passed = excluded.passed, proof = excluded.proof,"
         " elements = excluded.elements, max_ulp = excluded.max_ulp,"
         " max_err_ulp = excluded.max_err_ulp, mean_err_ulp = excluded.mean_err_ulp,"
         " p50_err_ulp = excluded.p50_err_ulp, p99_err_ulp = excluded.p99_err_ulp,"
         " max_rel = excluded.max_rel, max_abs = excluded.max_abs, max_rho = excluded.max_rho,"
         " rms_rho = excluded.rms_rho, kappa = excluded.kappa, bound = excluded.bound,"
         " misrounded = excluded.misrounded, nan_mismatch = excluded.nan_mismatch,"
         " inf_mismatch = excluded.inf_mismatch,"
         " zero_sign_mismatch = excluded.zero_sign_mismatch, flushed = excluded.flushed,"
         " histogram_json = excluded.histogram_json, worst_index = excluded.worst_index,"
         " worst_json = excluded.worst_json, reference = excluded.reference,"
         " output_digest = excluded.output_digest, measured_utc = excluded.measured_utc",
         0},
    [ACCURACY_ID] = {"accuracy id",
                     "SELECT id FROM accuracy WHERE deployment = ?1 AND revision = ?2"
                     " AND problem = ?3 AND stratum = ?4 AND seed = ?5",
                     0},
    [ACCURACY_FIND] =
        {"accuracy find",
         "SELECT id, sweep, stratum, seed, passed, proof, elements, max_ulp, max_err_ulp,"
         " mean_err_ulp, p50_err_ulp, p99_err_ulp, max_rel, max_abs, max_rho, rms_rho, kappa,"
         " bound, misrounded, nan_mismatch, inf_mismatch, zero_sign_mismatch, flushed,"
         " histogram_json, ifnull(worst_index, -1), worst_json, reference, output_digest"
         " FROM accuracy WHERE deployment = ?1 AND revision = ?2 AND problem = ?3"
         " ORDER BY passed, stratum IN ('all', 'exhaustive') DESC,"
         " CASE proof WHEN 'exhaustive' THEN 3 WHEN 'bounded' THEN 2 WHEN 'sampled' THEN 1"
         " ELSE 0 END DESC, id DESC LIMIT 1",
         0},
    {NULL, NULL, 0},
};

static void bind_figures(assay__query *q, const assay__db_accuracy *a)
{
    const double figures[] = {a->max_ulp,     a->max_err_ulp, a->mean_err_ulp, a->p50_err_ulp,
                              a->p99_err_ulp, a->max_rel,     a->max_abs,      a->max_rho,
                              a->rms_rho,     a->kappa,       a->bound};
    const int64_t counts[] = {a->misrounded, a->nan_mismatch, a->inf_mismatch,
                              a->zero_sign_mismatch, a->flushed};

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assay__bind_real(q, figures[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        assay__bind_int(q, counts[i]);
}

static void bind_worst(assay__query *q, const assay__db_accuracy *a, char digest[17])
{
    assay__bind_word(q, a->histogram_json);
    if (a->worst_index < 0)
        assay__bind_id(q, 0);
    else
        assay__bind_int(q, a->worst_index);
    assay__bind_word(q, a->worst_json);
    assay__bind_word(q, a->reference);
    assay__bind_text(q, assay__db_hash_text(a->output_digest, digest));
}

static void bind_key(assay__query *q, const assay__db_accuracy *a)
{
    assay__bind_int(q, a->deployment);
    assay__bind_int(q, a->revision);
    assay__bind_int(q, a->problem);
    assay__bind_text(q, a->stratum);
    assay__bind_int(q, (int64_t)a->seed);
}

static assay_status find_id(assay__db *db, const assay__db_accuracy *a, int64_t *out)
{
    assay__query q;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_accuracy[ACCURACY_ID], &q));
    bind_key(&q, a);
    return assay__query_id(&q, out);
}

static assay_status put_accuracy(assay__db *db, const assay__db_accuracy *a, int64_t *out)
{
    assay__query q;
    char digest[17];
    int64_t id = 0;

    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_accuracy[ACCURACY_PUT], &q));
    bind_key(&q, a);
    assay__bind_int(&q, a->sweep);
    assay__bind_int(&q, a->passed != 0);
    assay__bind_text(&q, assay__db_proof_name(a->proof));
    assay__bind_int(&q, a->elements);
    bind_figures(&q, a);
    bind_worst(&q, a, digest);
    assay__bind_text(&q, assay__db_now(db));
    ASSAY_TRY(assay__query_insert(&q, &id));
    if (id == 0)
        return find_id(db, a, out);
    if (out != NULL)
        *out = id;
    return ASSAY_OK;
}

assay_status assay__db_put_accuracy(assay__db *db, const assay__db_accuracy *a, int64_t *out)
{
    ASSAY_TRY(assay__db_enter(db));
    return assay__db_leave(db, put_accuracy(db, a, out));
}

static void read_figures(assay__query *q, assay__db_accuracy *a)
{
    double *const figures[] = {&a->max_ulp,     &a->max_err_ulp, &a->mean_err_ulp, &a->p50_err_ulp,
                               &a->p99_err_ulp, &a->max_rel,     &a->max_abs,      &a->max_rho,
                               &a->rms_rho,     &a->kappa,       &a->bound};
    int64_t *const counts[] = {&a->misrounded, &a->nan_mismatch, &a->inf_mismatch,
                               &a->zero_sign_mismatch, &a->flushed};

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] = assay__column_real(q);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = assay__column_int(q);
}

static int64_t read_accuracy(assay__db *db, assay__query *q, assay__db_accuracy *a)
{
    int64_t id = assay__column_int(q);

    a->sweep = assay__column_int(q);
    a->stratum = assay__db_keep(db, assay__column_text(q));
    a->seed = (uint64_t)assay__column_int(q);
    a->passed = assay__column_int(q) != 0;
    a->proof = assay__db_proof_parse(assay__column_text(q));
    a->elements = assay__column_int(q);
    read_figures(q, a);
    a->histogram_json = assay__db_keep(db, assay__column_text(q));
    a->worst_index = assay__column_int(q);
    a->worst_json = assay__db_keep(db, assay__column_text(q));
    a->reference = assay__db_keep(db, assay__column_text(q));
    a->output_digest = assay__db_hash_parse(assay__column_text(q));
    return id;
}

assay_status assay__db_find_accuracy(assay__db *db, int64_t revision, int64_t deployment,
                                     int64_t problem, int *found, assay__db_accuracy *out,
                                     int64_t *id)
{
    assay__query q;
    assay__db_accuracy a = {.revision = revision, .deployment = deployment, .problem = problem};
    int64_t row = 0;

    assay__db_forget(db);
    ASSAY_TRY(assay__query_open(&db->handle, &assay__sql_accuracy[ACCURACY_FIND], &q));
    assay__bind_int(&q, deployment);
    assay__bind_int(&q, revision);
    assay__bind_int(&q, problem);
    bool any = assay__query_step(&q);
    if (any)
        row = read_accuracy(db, &q, &a);
    ASSAY_TRY(assay__query_done(&q));
    *found = any;
    if (any && out != NULL)
        *out = a;
    if (any && id != NULL)
        *id = row;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_precision_data.c -- the precision report for machines: CSV and JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_parts.h"
#include "reports/report_precision.h"
#include "runtime/error.h"
#include "support/csv_writer.h"

/* Figures with their names, in the order of the columns. */
typedef struct figure {
    const char *name;
    double value;
} figure;
#define FIGURES 18

static void figures_of(const assay__precision_row *row, figure out[FIGURES])
{
    const assay__precision_claim *c = row->claim;
    const figure all[FIGURES] = {{"max_ulp", row->max_ulp},
                                 {"max_err_ulp", row->max_err_ulp},
                                 {"mean_err_ulp", row->mean_err_ulp},
                                 {"p50_err_ulp", row->p50_err_ulp},
                                 {"p99_err_ulp", row->p99_err_ulp},
                                 {"max_rel", row->max_rel},
                                 {"max_abs", row->max_abs},
                                 {"max_rho", row->max_rho},
                                 {"rms_rho", row->rms_rho},
                                 {"kappa", row->kappa},
                                 {"bound", row->bound},
                                 {"rho_probable", row->rho_probable},
                                 {"rho_certain", row->rho_certain},
                                 {"share_beyond", assay__precision_share(row)},
                                 {"claim_max_ulp", c != NULL ? c->max_ulp : (double)NAN},
                                 {"claim_max_rho", c != NULL ? c->max_rho : (double)NAN},
                                 {"claim_max_rel", c != NULL ? c->max_rel : (double)NAN},
                                 {"claim_max_abs", c != NULL ? c->max_abs : (double)NAN}};

    memcpy(out, all, sizeof all);
}

typedef struct count {
    const char *name;
    int64_t value;
} count;
#define COUNTS 6

static void counts_of(const assay__precision_row *row, count out[COUNTS])
{
    const count all[COUNTS] = {{"elements", row->elements},
                               {"misrounded", row->misrounded},
                               {"nan_mismatch", row->nan_mismatch},
                               {"inf_mismatch", row->inf_mismatch},
                               {"zero_sign_mismatch", row->zero_sign_mismatch},
                               {"flushed", row->flushed}};

    memcpy(out, all, sizeof all);
}

static const char *maximum_of(const assay__precision_row *row)
{
    return row->is_exact ? "exact" : "lower_bound";
}

static const char *claimed_stability(const assay__precision_row *row)
{
    return row->claim != NULL ? assay__part_stability(row->claim->stability) : "";
}

static const char *const contradictions[] = {"max_ulp", "max_rho", "max_rel", "max_abs",
                                             "stability"};
#define CONTRADICTIONS (sizeof contradictions / sizeof *contradictions)

/* ---- CSV ---- */

static const char *const head[] = {"deployment", "state",    "op",       "dtypes",   "problem",
                                   "backend",    "kernel",   "tunables", "revision", "stratum",
                                   "seed",       "is_union", "passed",   "proof",    "maximum"};
static const char *const tail[] = {
    "stability",   "claim_stability", "thread_digests", "contradicted", "histogram",
    "worst_index", "worst",           "reference",      "measured_utc", "accuracy"};

static void csv_titles(assay__csv_writer *w)
{
    const assay__precision_row none = {.elements = 0};
    figure figures[FIGURES];
    count counts[COUNTS];

    figures_of(&none, figures);
    counts_of(&none, counts);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        assay__csv_put(w, head[i]);
    for (size_t i = 0; i < COUNTS; i++)
        assay__csv_put(w, counts[i].name);
    for (size_t i = 0; i < FIGURES; i++)
        assay__csv_put(w, figures[i].name);
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++)
        assay__csv_put(w, tail[i]);
    assay__csv_end_row(w);
}

static void csv_head(assay__csv_writer *w, const assay__precision_row *row)
{
    char seed[24];

    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)row->seed);
    assay__csv_put(w, row->place->deployment->digest);
    assay__csv_put(w, assay__row_state_name(row->state));
    assay__csv_put(w, row->problem->op);
    assay__csv_put(w, row->problem->dtypes);
    assay__csv_put(w, row->problem->text);
    assay__csv_put(w, row->revision->backend);
    assay__csv_put(w, row->revision->kernel);
    assay__csv_put(w, row->revision->tunables);
    assay__csv_put(w, row->revision->variant_revision);
    assay__csv_put(w, row->stratum);
    assay__csv_put(w, seed);
    assay__csv_put_int(w, row->is_union);
    assay__csv_put_int(w, row->passed);
    assay__csv_put(w, assay__part_proof(row->proof));
    assay__csv_put(w, maximum_of(row));
}

static void csv_tail(assay__csv_writer *w, const assay__precision_row *row)
{
    assay__str words = {0};

    assay__csv_put(w, assay__part_stability(row->stability));
    assay__csv_put(w, claimed_stability(row));
    if (row->thread_digests[0] != NULL)
        assay__str_addf(&words, "%s %s", row->thread_digests[0], row->thread_digests[1]);
    assay__csv_put(w, assay__str_text(&words));
    assay__str_reset(&words);
    for (size_t i = 0; i < CONTRADICTIONS; i++)
        if ((row->contradicted >> i & 1) != 0)
            assay__str_addf(&words, "%s%s", words.len > 0 ? " " : "", contradictions[i]);
    assay__csv_put(w, assay__str_text(&words));
    assay__str_clear(&words);
    assay__csv_put(w, row->histogram);
    if (row->worst_index < 0)
        assay__csv_put(w, NULL);
    else
        assay__csv_put_int(w, row->worst_index);
    assay__csv_put(w, row->worst);
    assay__csv_put(w, row->reference);
    assay__csv_put(w, row->measured_utc);
    assay__csv_put_int(w, row->id);
}

assay_status assay__precision_csv(const assay__precision *p, FILE *file)
{
    assay__csv_writer w;

    assay__csv_begin(&w, file);
    csv_titles(&w);
    for (size_t k = 0; k < p->count; k++) {
        figure figures[FIGURES];
        count counts[COUNTS];
        figures_of(&p->rows[k], figures);
        counts_of(&p->rows[k], counts);
        csv_head(&w, &p->rows[k]);
        for (size_t i = 0; i < COUNTS; i++)
            assay__csv_put_int(&w, counts[i].value);
        for (size_t i = 0; i < FIGURES; i++)
            assay__csv_put_real(&w, figures[i].value);
        csv_tail(&w, &p->rows[k]);
        assay__csv_end_row(&w);
    }
    return assay__csv_finish(&w);
}

/* ---- JSON ---- */

static int put_known(json_t *object, const char *key, const char *text)
{
    return text == NULL || text[0] == '\0' ? 0 : (int)assay__json_put_string(object, key, text);
}

/* JSON in the store goes in as it is; what is none, as text. */
static int put_nested(json_t *object, const char *key, const char *text)
{
    json_t *value = NULL;

    if (text[0] == '\0')
        return 0;
    if (assay__json_parse(key, text, strlen(text), &value) != ASSAY_OK)
        return (int)assay__json_put_string(object, key, text);
    return (int)assay__json_put_take(object, key, value);
}

static int put_key(json_t *out, const assay__precision_row *row)
{
    int bad = (int)assay__json_put_string(out, "deployment", row->place->deployment->digest);
    char seed[24];

    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)row->seed);
    bad |= (int)assay__json_put_string(out, "state", assay__row_state_name(row->state));
    bad |= (int)assay__json_put_string(out, "op", row->problem->op);
    bad |= (int)assay__json_put_string(out, "dtypes", row->problem->dtypes);
    bad |= (int)assay__json_put_string(out, "problem", row->problem->text);
    bad |= (int)assay__json_put_string(out, "backend", row->revision->backend);
    bad |= (int)assay__json_put_string(out, "kernel", row->revision->kernel);
    bad |= put_known(out, "tunables", row->revision->tunables);
    bad |= (int)assay__json_put_string(out, "revision", row->revision->variant_revision);
    bad |= (int)assay__json_put_string(out, "stratum", row->stratum);
    bad |= (int)assay__json_put_string(out, "seed", seed);
    bad |= (int)assay__json_put_bool(out, "is_union", row->is_union);
    bad |= (int)assay__json_put_bool(out, "passed", row->passed);
    bad |= put_known(out, "proof", assay__part_proof(row->proof));
    return bad | (int)assay__json_put_string(out, "maximum", maximum_of(row));
}

static int put_digests(json_t *out, const assay__precision_row *row)
{
    json_t *digests = json_array();
    int bad = 0;

    for (size_t i = 0; i < 2; i++)
        bad |= (int)assay__json_append_take(digests, assay__json_text(row->thread_digests[i]));
    return bad | (int)assay__json_put_take(out, "thread_digests", digests);
}

static int put_rest(json_t *out, const assay__precision_row *row)
{
    json_t *words = json_array();
    int bad = put_known(out, "stability", assay__part_stability(row->stability));

    bad |= put_known(out, "claim_stability", claimed_stability(row));
    if (row->thread_digests[0] != NULL)
        bad |= put_digests(out, row);
    for (size_t i = 0; i < CONTRADICTIONS; i++)
        if ((row->contradicted >> i & 1) != 0)
            bad |= (int)assay__json_append_take(words, assay__json_text(contradictions[i]));
    bad |= (int)assay__json_put_take(out, "contradicted", words);
    bad |= put_nested(out, "histogram", row->histogram);
    if (row->worst_index >= 0)
        bad |= (int)assay__json_put_int(out, "worst_index", row->worst_index);
    bad |= put_nested(out, "worst", row->worst);
    bad |= put_known(out, "reference", row->reference);
    bad |= put_known(out, "measured_utc", row->measured_utc);
    return bad | (int)assay__json_put_int(out, "accuracy", row->id);
}

static json_t *row_json(const assay__precision_row *row)
{
    json_t *out = json_object();
    figure figures[FIGURES];
    count counts[COUNTS];
    int bad = put_key(out, row);

    figures_of(row, figures);
    counts_of(row, counts);
    for (size_t i = 0; i < COUNTS; i++)
        bad |= (int)assay__json_put_int(out, counts[i].name, counts[i].value);
    for (size_t i = 0; i < FIGURES; i++)
        bad |= (int)assay__json_put_real(out, figures[i].name, figures[i].value);
    bad |= put_rest(out, row);
    if (bad == 0)
        return out;
    json_decref(out);
    return NULL;
}

assay_status assay__precision_json(const assay__precision *p, FILE *file)
{
    ASSAY_TRY(assay__part_json_begin(&p->set, "assay.report.precision/1", "rows", file));
    for (size_t i = 0; i < p->count; i++)
        ASSAY_TRY(assay__part_json_piece(file, row_json(&p->rows[i]), i == 0));
    (void)fputs("]}\n", file);
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_precision.c -- the precision report for people: HTML and Markdown. */
#include "reports/report_precision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/report_parts.h"
#include "support/format.h"

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define OPEN_ROWS 40 /* longer tables are folded */

typedef bool (*row_filter)(const assay__precision_row *row);
typedef void (*row_put)(assay__page *page, const assay__precision_row *row);

static bool is_apart(const assay__precision_row *row)
{
    return !assay__row_counts(row->state);
}

/* ---- cells ---- */

static void cells_key(assay__page *page, const assay__precision_row *row)
{
    assay__str text = {0};

    assay__part_variant(row->revision, &text);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_clear(&text);
    assay__page_cell(page, row->problem->text);
}

/* A sampled maximum bounds the true one from below only. */
static void cell_maximum(assay__page *page, const assay__precision_row *row, double value,
                         int digits)
{
    if (isnan(value))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s %s",
                          row->is_exact ? "=" : ">=", assay__format_real(value, digits).text);
}

/* dist is a whole number. */
static void cell_dist(assay__page *page, const assay__precision_row *row)
{
    if (isnan(row->max_ulp))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s %.0f", row->is_exact ? "=" : ">=", row->max_ulp);
}

static void cell_evidence(assay__page *page, const assay__precision_row *row)
{
    if (!row->passed)
        assay__page_cell(page, "failed");
    else if (row->is_exact)
        assay__page_cell(page, "exhaustive");
    else if (row->proof != ASSAY_PROOF_ABSENT)
        assay__page_cell(page, assay__part_proof(row->proof));
    else
        assay__page_cell(page, "too few samples for a proof");
}

static void cell_share(assay__page *page, const assay__precision_row *row)
{
    double share = assay__precision_share(row);

    if (isnan(share))
        assay__page_cell(page, NULL);
    else if (row->is_exact)
        assay__page_cell(page, "none (all inputs)");
    else
        assay__page_cellf(page, "< %s", assay__format_real(share, 2).text);
}

static void cell_bound(assay__page *page, const assay__precision_row *row)
{
    if (isnan(row->bound))
        assay__page_cell(page, NULL);
    else if (row->is_elementwise)
        assay__page_cellf(page, "dist <= %.0f", row->bound);
    else
        assay__page_cellf(page, "%.0f roundings", row->bound);
}

/* ---- tables of rows ---- */

static size_t each_row(assay__page *page, const assay__precision *p, row_filter wanted, row_put put)
{
    size_t count = 0, skipped = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (!wanted(&p->rows[i]))
            continue;
        count++;
        if (put == NULL)
            continue;
        if (skipped > 0 || assay__page_is_full(page))
            skipped++;
        else
            put(page, &p->rows[i]);
    }
    if (skipped > 0)
        assay__page_skip_rows(page, skipped);
    return count;
}

static void row_table(assay__page *page, const assay__precision *p, const char *caption,
                      const assay__html_column *columns, size_t count, bool is_folded,
                      row_filter wanted, row_put put)
{
    assay__page_table(page, caption, columns, count, is_folded);
    (void)each_row(page, p, wanted, put);
    assay__page_table_end(page);
}

static const assay__html_column error_columns[] = {{"variant", NULL, false},
                                                   {"problem", NULL, false},
                                                   {"evidence", NULL, false},
                                                   {"n", "elements", true},
                                                   {"max dist", "ULP", true},
                                                   {"allowed", NULL, true},
                                                   {"beyond it, 95 %", "share", true},
                                                   {"max error", "ULP, real", true},
                                                   {"p99", "ULP", true},
                                                   {"p50", "ULP", true},
                                                   {"mean", "ULP", true},
                                                   {"max relative", "ratio", true},
                                                   {"max absolute", "output", true},
                                                   {"misrounded", "elements", true},
                                                   {"bit-stable", "measured", false}};

static bool is_result(const assay__precision_row *row)
{
    return row->is_union && !is_apart(row);
}

static void cells_errors(assay__page *page, const assay__precision_row *row)
{
    assay__page_cell_count(page, (uint64_t)row->elements);
    cell_dist(page, row);
    cell_bound(page, row);
    cell_share(page, row);
    cell_maximum(page, row, row->max_err_ulp, 4);
    assay__page_cell_real(page, row->p99_err_ulp, 4);
    assay__page_cell_real(page, row->p50_err_ulp, 4);
    assay__page_cell_real(page, row->mean_err_ulp, 4);
    cell_maximum(page, row, row->max_rel, 3);
    cell_maximum(page, row, row->max_abs, 3);
    assay__page_cell_count(page, (uint64_t)row->misrounded);
    assay__page_cell(page, assay__part_stability(row->stability));
}

static void put_result(assay__page *page, const assay__precision_row *row)
{
    cells_key(page, row);
    cell_evidence(page, row);
    cells_errors(page, row);
}

static const assay__html_column rho_columns[] = {{"variant", NULL, false},
                                                 {"problem", NULL, false},
                                                 {"n", "elements", true},
                                                 {"max rho", NULL, true},
                                                 {"rms rho", NULL, true},
                                                 {"6 sqrt(K) bound", NULL, true},
                                                 {"certain bound", "gamma(K)", true},
                                                 {"of certain", NULL, true},
                                                 {"condition", "at the worst", true}};

static bool has_rho(const assay__precision_row *row)
{
    return is_result(row) && !isnan(row->max_rho);
}

static void put_rho(assay__page *page, const assay__precision_row *row)
{
    cells_key(page, row);
    assay__page_cell_count(page, (uint64_t)row->elements);
    cell_maximum(page, row, row->max_rho, 4);
    assay__page_cell_real(page, row->rms_rho, 4);
    assay__page_cell_real(page, row->rho_probable, 4);
    assay__page_cell_real(page, row->rho_certain, 4);
    assay__page_cell(page, isnan(row->rho_certain)
                               ? NULL
                               : assay__format_percent(row->max_rho / row->rho_certain).text);
    assay__page_cell_real(page, row->kappa, 3);
}

static const assay__html_column class_columns[] = {{"variant", NULL, false},
                                                   {"problem", NULL, false},
                                                   {"stratum", NULL, false},
                                                   {"n", "elements", true},
                                                   {"NaN", "mismatches", true},
                                                   {"infinity", "mismatches", true},
                                                   {"sign of zero", "mismatches", true},
                                                   {"flushed", "to zero", true}};

static bool has_classes(const assay__precision_row *row)
{
    return !is_apart(row) &&
           (row->nan_mismatch | row->inf_mismatch | row->zero_sign_mismatch | row->flushed) != 0;
}

static void put_classes(assay__page *page, const assay__precision_row *row)
{
    cells_key(page, row);
    assay__page_cell(page, row->stratum);
    assay__page_cell_count(page, (uint64_t)row->elements);
    assay__page_cell_count(page, (uint64_t)row->nan_mismatch);
    assay__page_cell_count(page, (uint64_t)row->inf_mismatch);
    assay__page_cell_count(page, (uint64_t)row->zero_sign_mismatch);
    assay__page_cell_count(page, (uint64_t)row->flushed);
}

static const assay__html_column worst_columns[] = {{"variant", NULL, false},
                                                   {"problem", NULL, false},
                                                   {"index", "row-major", true},
                                                   {"worst element", "bits as hex", false},
                                                   {"reference", NULL, false}};

static bool has_worst(const assay__precision_row *row)
{
    return is_result(row) && row->worst_index >= 0;
}

static void put_worst(assay__page *page, const assay__precision_row *row)
{
    assay__str text = {0};

    cells_key(page, row);
    assay__page_cell_count(page, (uint64_t)row->worst_index);
    assay__precision_worst_text(row->worst, &text);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_clear(&text);
    assay__page_cell(page, row->reference);
}

static bool is_stratum(const assay__precision_row *row)
{
    return !row->is_union && !is_apart(row);
}

/* The columns of results with the stratum in place of the evidence. */
static void put_stratum(assay__page *page, const assay__precision_row *row)
{
    cells_key(page, row);
    assay__page_cellf(page, "%s%s", row->stratum, row->passed ? "" : " (failed)");
    cells_errors(page, row);
}

/* ---- claims ---- */

static void claim_text(const assay__precision_claim *c, assay__str *out)
{
    const struct {
        const char *name;
        double value;
    } limits[] = {
        {"dist", c->max_ulp}, {"rho", c->max_rho}, {"rel", c->max_rel}, {"abs", c->max_abs}};

    for (size_t i = 0; i < COUNT(limits); i++)
        if (limits[i].value >= 0)
            assay__str_addf(out, "%s%s <= %.6g", out->len > 0 ? ", " : "", limits[i].name,
                            limits[i].value);
    if (c->stability != ASSAY_STABILITY_ABSENT)
        assay__str_addf(out, "%sbit-stable: %s", out->len > 0 ? ", " : "",
                        assay__part_stability(c->stability));
}

static void measured_text(const assay__precision_row *row, assay__str *out)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {{"dist", row->max_ulp},
                   {"rho", row->max_rho},
                   {"rel", row->max_rel},
                   {"abs", row->max_abs}};

    for (size_t i = 0; i < COUNT(figures); i++)
        if (!isnan(figures[i].value))
            assay__str_addf(
                out, "%s%s %s %s", out->len > 0 ? ", " : "", figures[i].name,
                row->is_exact ? "=" : ">=", assay__format_real(figures[i].value, 4).text);
    if (row->stability != ASSAY_STABILITY_ABSENT)
        assay__str_addf(out, "%sbit-stable: %s", out->len > 0 ? ", " : "",
                        assay__part_stability(row->stability));
    if (row->thread_digests[0] != NULL)
        assay__str_addf(out, "%sbits by number of threads: %s, %s", out->len > 0 ? ", " : "",
                        row->thread_digests[0], row->thread_digests[1]);
}

static void contradiction_text(unsigned bits, assay__str *out)
{
    static const char *const names[] = {"dist", "rho", "rel", "abs", "stability"};

    assay__str_add(out, "contradicted:");
    for (size_t i = 0; i < COUNT(names); i++)
        if ((bits >> i & 1) != 0)
            assay__str_addf(out, " %s", names[i]);
}

static const assay__html_column claim_columns[] = {{"variant", NULL, false},
                                                   {"problem", NULL, false},
                                                   {"claim", "of its contract", false},
                                                   {"evidence", "measured", false},
                                                   {"state", NULL, false}};

static bool has_claim(const assay__precision_row *row)
{
    assay__str text = {0};
    bool has;

    if (!is_result(row) || row->claim == NULL)
        return false;
    claim_text(row->claim, &text);
    has = text.len > 0;
    assay__str_clear(&text);
    return has;
}

static void put_claim(assay__page *page, const assay__precision_row *row)
{
    assay__str text = {0};

    cells_key(page, row);
    claim_text(row->claim, &text);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_reset(&text);
    measured_text(row, &text);
    assay__page_cell(page, assay__str_text(&text));
    assay__str_reset(&text);
    if (row->contradicted != 0)
        contradiction_text(row->contradicted, &text);
    else
        assay__str_add(&text, "not contradicted");
    assay__page_cell(page, assay__str_text(&text));
    assay__str_clear(&text);
}

static size_t count_contradicted(const assay__precision *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        count += is_result(&p->rows[i]) && p->rows[i].contradicted != 0;
    return count;
}

/* ---- rows apart ---- */

static bool is_apart_union(const assay__precision_row *row)
{
    return row->is_union && is_apart(row);
}

static void put_apart(assay__page *page, const assay__precision_row *row)
{
    cells_key(page, row);
    assay__page_cellf(page, "%s, %.8s", assay__row_state_name(row->state),
                      row->place->deployment->digest);
    cells_errors(page, row);
}

/* ---- the page ---- */

static void explain(assay__page *page)
{
    assay__page_text(
        page,
        "Max dist: distance of the result to the correctly rounded one in units in the last place, "
        "0 is correctly rounded. \"=\" stands for all inputs there are; \">=\" for a sampled "
        "maximum: a lower bound of the true one, found among n elements. Allowed: the bound the "
        "check used. Beyond it: when none of n independent elements is beyond the bound, then with "
        "95 %% confidence less than 3/n of elements drawn as these were is; that bounds how often, "
        "not how far. NaN, infinity, sign of zero and flushing are counted apart and are in no "
        "other figure. A dash is not known.");
}

static void warnings(assay__page *page, const assay__precision *p)
{
    size_t failed = 0, apart = each_row(page, p, is_apart_union, NULL);
    size_t contradicted = count_contradicted(p);

    for (size_t i = 0; i < p->count; i++)
        failed += is_result(&p->rows[i]) && !p->rows[i].passed;
    if (contradicted > 0)
        assay__page_warn(page, "Claims are contradicted by measurement in %zu rows.", contradicted);
    if (failed > 0)
        assay__page_warn(page,
                         "%zu variants failed their check. That is expected of a sweep: they are "
                         "listed, and none of them can be picked.",
                         failed);
    if (apart > 0)
        assay__page_warn(page,
                         "%zu rows belong to changed kernels or other deployments. They are shown "
                         "apart and prove nothing here.",
                         apart);
    assay__part_unjudged(page, &p->set);
}

static void results(assay__page *page, const assay__precision *p)
{
    assay__page_section(page, "Errors");
    if (each_row(page, p, is_result, NULL) == 0) {
        assay__page_text(page, "No row holds for the kernels of this machine as they are now.");
        return;
    }
    assay__precision_summary(page, p);
    explain(page);
    row_table(page, p, "One row a variant and problem, over all strata", error_columns,
              COUNT(error_columns), each_row(page, p, is_result, NULL) > OPEN_ROWS, is_result,
              put_result);
    assay__precision_charts(page, p);
    if (each_row(page, p, has_rho, NULL) > 0) {
        assay__page_section(page, "Contractions");
        assay__page_text(page,
                         "rho is the error over u times the sum of absolute products. The certain "
                         "bound is gamma(n)/u + 1 for n roundings on a path and one of the result; "
                         "6 sqrt(n) in its place holds with a probability near one.");
        row_table(page, p, "rho beside its bounds", rho_columns, COUNT(rho_columns),
                  each_row(page, p, has_rho, NULL) > OPEN_ROWS, has_rho, put_rho);
    }
    assay__page_section(page, "Classes counted apart");
    if (each_row(page, p, has_classes, NULL) > 0)
        row_table(page, p, "Results of another class than expected", class_columns,
                  COUNT(class_columns), false, has_classes, put_classes);
    else
        assay__page_text(page, "No result was of another class than expected: no NaN, infinity, "
                               "sign of zero or flushed value differs.");
}

static void evidence(assay__page *page, const assay__precision *p)
{
    assay__page_section(page, "Claims beside evidence");
    assay__page_text(page, "A claim is what a kernel's author says; evidence is what was measured "
                           "here. \"Not contradicted\" is no proof of a claim.");
    if (each_row(page, p, has_claim, NULL) > 0)
        row_table(page, p, "Claims", claim_columns, COUNT(claim_columns), true, has_claim,
                  put_claim);
    else
        assay__page_text(page, "No kernel measured here makes a claim.");
    assay__page_section(page, "Worst elements");
    row_table(page, p, "The element that errs most", worst_columns, COUNT(worst_columns), true,
              has_worst, put_worst);
    if (each_row(page, p, is_stratum, NULL) > 0) {
        assay__html_column columns[COUNT(error_columns)];
        memcpy(columns, error_columns, sizeof columns);
        columns[2].title = "stratum";
        assay__page_section(page, "Strata");
        row_table(page, p, "One row a set of inputs", columns, COUNT(columns), true, is_stratum,
                  put_stratum);
    }
}

static void apart(assay__page *page, const assay__precision *p)
{
    assay__html_column columns[COUNT(error_columns)];

    if (each_row(page, p, is_apart_union, NULL) == 0)
        return;
    memcpy(columns, error_columns, sizeof columns);
    columns[2].title = "state, deployment";
    assay__page_section(page, "Stale and foreign rows");
    row_table(page, p, "Measured with other code, or elsewhere", columns, COUNT(columns), true,
              is_apart_union, put_apart);
}

void assay__precision_page(assay__page *page, const assay__precision *p)
{
    const assay__report_set *set = &p->set;

    warnings(page, p);
    results(page, p);
    evidence(page, p);
    apart(page, p);
    for (size_t i = 0; i < set->place_count; i++) {
        char title[64];
        (void)snprintf(title, sizeof title, "Deployment %.8s", set->places[i].deployment->digest);
        assay__page_section(page, title);
        assay__part_deployment(page, set, &set->places[i]);
    }
    assay__part_sources(page, set);
}

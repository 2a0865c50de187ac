/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_coverage.c -- the coverage report: page, CSV, JSON. */
#include "reports/report_coverage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/report_parts.h"
#include "support/csv_writer.h"
#include "support/format.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The reason of the first kernel that cannot run; NULL: all can. */
static const char *first_reason(const assay__coverage *c, const assay__coverage_row *row)
{
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (c->kernels[i].now->reason != NULL)
            return c->kernels[i].now->reason;
    return NULL;
}

static double known(double claim)
{
    return claim >= 0 ? claim : (double)NAN;
}

/* ---- page ---- */

static void put_claim(assay__str *out, const char *name, double claim)
{
    if (claim >= 0)
        assay__str_addf(out, "%s%s %s", out->len > 0 ? ", " : "", name,
                        assay__format_real(claim, 3).text);
}

static void cell_claim(assay__page *page, const assay__coverage_row *row)
{
    const char *stability = assay__part_stability((unsigned)row->claims.stability);
    assay__str text = {0};

    put_claim(&text, "ulp", row->claims.max_ulp);
    put_claim(&text, "rho", row->claims.max_rho);
    put_claim(&text, "rel", row->claims.max_rel);
    put_claim(&text, "abs", row->claims.max_abs);
    if (stability[0] != '\0')
        assay__str_addf(&text, "%sbits %s", text.len > 0 ? ", " : "", stability);
    assay__page_cell(page, text.len > 0 ? assay__str_text(&text) : NULL);
    assay__str_clear(&text);
}

static void cell_remark(assay__page *page, const assay__coverage *c, const assay__coverage_row *row)
{
    const char *reason = first_reason(c, row);
    assay__str text = {0};

    if (row->contradicted > 0)
        assay__str_addf(&text, "claims of %zu contradicted", row->contradicted);
    if (row->wrong > 0)
        assay__str_addf(&text, "%s%zu gave wrong results", text.len > 0 ? "; " : "", row->wrong);
    if (reason != NULL)
        assay__str_addf(&text, "%s%s", text.len > 0 ? "; " : "", reason);
    assay__page_cell(page, text.len > 0 ? assay__str_text(&text) : NULL);
    assay__str_clear(&text);
}

static void page_row(assay__page *page, const assay__coverage *c, const assay__coverage_row *row)
{
    assay__page_cell(page, row->op->name);
    assay__page_cell(page, row->dtypes);
    assay__page_cell(page, row->backend);
    assay__page_cell_count(page, row->rivals);
    assay__page_cellf(page, "%zu of %zu", row->available, row->count);
    assay__page_cell(page, assay__coverage_state_name(row->state));
    assay__page_cell_count(page, row->problems);
    cell_claim(page, row);
    assay__page_cell(page, assay__part_proof(row->proof));
    cell_remark(page, c, row);
}

static const assay__html_column columns[] = {{"op", NULL, false},
                                             {"dtypes", NULL, false},
                                             {"backend", NULL, false},
                                             {"rivals", "kernels", true},
                                             {"can run", "kernels", true},
                                             {"measured", NULL, false},
                                             {"problems", "measured here", true},
                                             {"claim", "weakest", false},
                                             {"proof", "weakest", false},
                                             {"remark", NULL, false}};

/* Pairs of op and dtypes: rows of a pair lie together. */
static void facts(assay__page *page, const assay__coverage *c)
{
    size_t pairs = 0, without = 0, alone = 0, states[ASSAY__COVERAGE_ALL + 1] = {0};
    char text[96];

    for (size_t i = 0; i < c->row_count; i++) {
        const assay__coverage_row *row = &c->rows[i];
        states[row->state]++;
        if (i > 0 && row[-1].op == row->op && strcmp(row[-1].dtypes, row->dtypes) == 0)
            continue;
        pairs++;
        without += row->rivals == 0;
        alone += row->rivals == 1;
    }
    (void)snprintf(text, sizeof text,
                   "%zu; %zu that no kernel here runs, %zu with one and no rival", pairs, without,
                   alone);
    assay__page_fact(page, "Ops by dtypes", text);
    (void)snprintf(text, sizeof text, "%zu whole, %zu in part, %zu stale, %zu not",
                   states[ASSAY__COVERAGE_ALL], states[ASSAY__COVERAGE_SOME],
                   states[ASSAY__COVERAGE_STALE], states[ASSAY__COVERAGE_NONE]);
    assay__page_fact(page, "Measured rows", text);
}

void assay__coverage_page(assay__page *page, const assay__coverage *c)
{
    if (c->gone > 0)
        assay__page_warn(page,
                         "%zu measured rows are of kernels that are no more: they cover nothing.",
                         c->gone);
    assay__page_section(page, "Coverage");
    facts(page, c);
    assay__page_table(page, "One row an op, its dtypes and a backend", columns, COUNT(columns),
                      false);
    for (size_t i = 0; i < c->row_count; i++) {
        if (assay__page_is_full(page))
            assay__page_skip_rows(page, 1);
        else
            page_row(page, c, &c->rows[i]);
    }
    assay__page_table_end(page);
    assay__page_text(
        page,
        "Rivals: kernels of all backends that can run here, but those of backends that are only "
        "used when named, which have rows with --backend only. Measured: which of the backend's "
        "kernels that can run here were measured on this machine as they are now, with the right "
        "result; stale: only before they changed. Problems: of the kernel that was measured on "
        "most. Claim: what the authors say, the weakest of the kernels; proof: what was measured "
        "here, the weakest of the kernels' strongest. A dash is none.");
    assay__part_sources(page, &c->set);
}

/* ---- CSV ---- */

static const char *const titles[] = {"op",
                                     "dtypes",
                                     "backend",
                                     "rivals",
                                     "kernels",
                                     "available",
                                     "measured_kernels",
                                     "measured",
                                     "problems",
                                     "claiming",
                                     "claim_max_ulp",
                                     "claim_max_rho",
                                     "claim_max_rel",
                                     "claim_max_abs",
                                     "claim_stability",
                                     "proof",
                                     "contradicted_kernels",
                                     "wrong_kernels",
                                     "reason"};

static void csv_row(assay__csv_writer *w, const assay__coverage *c, const assay__coverage_row *row)
{
    const double claims[] = {row->claims.max_ulp, row->claims.max_rho, row->claims.max_rel,
                             row->claims.max_abs};

    assay__csv_put(w, row->op->name);
    assay__csv_put(w, row->dtypes);
    assay__csv_put(w, row->backend);
    assay__csv_put_int(w, (int64_t)row->rivals);
    assay__csv_put_int(w, (int64_t)row->count);
    assay__csv_put_int(w, (int64_t)row->available);
    assay__csv_put_int(w, (int64_t)row->measured);
    assay__csv_put(w, assay__coverage_state_name(row->state));
    assay__csv_put_int(w, (int64_t)row->problems);
    assay__csv_put_int(w, (int64_t)row->claiming);
    for (size_t i = 0; i < COUNT(claims); i++)
        assay__csv_put_real(w, known(claims[i]));
    assay__csv_put(w, assay__part_stability((unsigned)row->claims.stability));
    assay__csv_put(w, assay__part_proof(row->proof));
    assay__csv_put_int(w, (int64_t)row->contradicted);
    assay__csv_put_int(w, (int64_t)row->wrong);
    assay__csv_put(w, first_reason(c, row));
    assay__csv_end_row(w);
}

assay_status assay__coverage_csv(const assay__coverage *c, FILE *file)
{
    assay__csv_writer w;

    assay__csv_begin(&w, file);
    for (size_t i = 0; i < COUNT(titles); i++)
        assay__csv_put(&w, titles[i]);
    assay__csv_end_row(&w);
    for (size_t i = 0; i < c->row_count; i++)
        csv_row(&w, c, &c->rows[i]);
    return assay__csv_finish(&w);
}

/* ---- JSON ---- */

static int put_known(json_t *object, const char *key, const char *text)
{
    return text == NULL || text[0] == '\0' ? 0 : (int)assay__json_put_string(object, key, text);
}

static json_t *claims_json(const assay_claims *c)
{
    json_t *object = json_object();
    int bad = (int)assay__json_put_real(object, "max_ulp", known(c->max_ulp));

    bad |= (int)assay__json_put_real(object, "max_rho", known(c->max_rho));
    bad |= (int)assay__json_put_real(object, "max_rel", known(c->max_rel));
    bad |= (int)assay__json_put_real(object, "max_abs", known(c->max_abs));
    bad |= put_known(object, "stability", assay__part_stability((unsigned)c->stability));
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *contradicted_json(unsigned bits)
{
    static const char *const names[] = {"max_ulp", "max_rho", "max_rel", "max_abs", "stability"};
    json_t *list = json_array();
    int bad = 0;

    for (size_t i = 0; i < COUNT(names); i++)
        if (bits >> i & 1)
            bad |= (int)assay__json_append_take(list, assay__json_text(names[i]));
    if (bad == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *kernel_json(const assay__coverage_kernel *k)
{
    json_t *row = json_object();
    int bad = (int)assay__json_put_string(row, "kernel", k->now->kernel);

    bad |= (int)assay__json_put_bool(row, "available", k->now->reason == NULL);
    bad |= put_known(row, "reason", k->now->reason);
    bad |= (int)assay__json_put_int(row, "problems", (int64_t)k->problems);
    bad |= (int)assay__json_put_int(row, "stale_problems", (int64_t)k->stale_problems);
    bad |= (int)assay__json_put_int(row, "elsewhere_problems", (int64_t)k->elsewhere_problems);
    bad |= (int)assay__json_put_take(row, "claims", claims_json(&k->now->claims));
    bad |= put_known(row, "proof", assay__part_proof(k->proof));
    bad |= (int)assay__json_put_take(row, "contradicted", contradicted_json(k->contradicted));
    bad |= (int)assay__json_put_bool(row, "is_wrong", k->is_wrong);
    if (bad == 0)
        return row;
    json_decref(row);
    return NULL;
}

static json_t *row_json(const assay__coverage *c, const assay__coverage_row *row)
{
    json_t *object = json_object(), *kernels = json_array();
    int bad = (int)assay__json_put_string(object, "op", row->op->name);

    bad |= (int)assay__json_put_string(object, "dtypes", row->dtypes);
    bad |= put_known(object, "backend", row->backend);
    bad |= (int)assay__json_put_int(object, "rivals", (int64_t)row->rivals);
    bad |= (int)assay__json_put_int(object, "available", (int64_t)row->available);
    bad |= (int)assay__json_put_int(object, "measured_kernels", (int64_t)row->measured);
    bad |= (int)assay__json_put_string(object, "measured", assay__coverage_state_name(row->state));
    bad |= (int)assay__json_put_int(object, "problems", (int64_t)row->problems);
    bad |= (int)assay__json_put_int(object, "claiming", (int64_t)row->claiming);
    bad |= (int)assay__json_put_take(object, "claims", claims_json(&row->claims));
    bad |= put_known(object, "proof", assay__part_proof(row->proof));
    for (size_t i = row->first; i < row->first + row->count; i++)
        bad |= (int)assay__json_append_take(kernels, kernel_json(&c->kernels[i]));
    bad |= (int)assay__json_put_take(object, "kernels", kernels);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

assay_status assay__coverage_json(const assay__coverage *c, FILE *file)
{
    ASSAY_TRY(assay__part_json_begin(&c->set, "assay.report.coverage/1", "rows", file));
    for (size_t i = 0; i < c->row_count; i++)
        ASSAY_TRY(assay__part_json_piece(file, row_json(c, &c->rows[i]), i == 0));
    (void)fputs("]}\n", file);
    return ASSAY_OK;
}

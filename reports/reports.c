/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/reports.c -- the table of reports, and making one. */
#include "reports/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_cost.h"
#include "reports/report_coverage.h"
#include "reports/report_page.h"
#include "reports/report_precision.h"
#include "runtime/error.h"

const char *const assay__report_format_names[] = {"html", "csv", "json", "md", NULL};

assay__report_format assay__report_format_of(const char *name, const char *path)
{
    const char *dot = path != NULL ? strrchr(path, '.') : NULL;
    const char *word = name != NULL ? name : dot != NULL ? dot + 1 : "";

    for (size_t i = 0; assay__report_format_names[i] != NULL; i++)
        if (strcmp(word, assay__report_format_names[i]) == 0)
            return (assay__report_format)i;
    return ASSAY__REPORT_MD;
}

/* Runs `write` into memory. */
static assay_status write_data(const void *rows, assay_status (*write)(const void *, FILE *),
                               char **text, size_t *size)
{
    char *data = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&data, &bytes);
    assay_status status;

    if (file == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a report");
    status = write(rows, file);
    bool is_cut = ferror(file) != 0;
    if ((fclose(file) != 0 || is_cut) && status == ASSAY_OK)
        status = assay__fail(ASSAY_NOMEM, "out of memory for a report");
    if (status != ASSAY_OK) {
        free(data);
        return status;
    }
    *text = data;
    *size = bytes;
    return ASSAY_OK;
}

static assay_status write_page(const void *rows, void (*put)(assay__page *, const void *),
                               bool is_html, const char *title, const char *subtitle, char **text,
                               size_t *size)
{
    assay__page page;
    assay_status status = assay__page_begin(&page, is_html, title, subtitle);

    if (status != ASSAY_OK) {
        assay__page_clear(&page);
        return status;
    }
    put(&page, rows);
    return assay__page_take(&page, text, size);
}

/* ---- cost ---- */

typedef struct cost_report {
    assay__cost cost;
    assay__cost_totals totals;
} cost_report;

static assay_status cost_csv(const void *rows, FILE *file)
{
    const cost_report *r = rows;

    if (r->cost.set.options->by_rival)
        return assay__cost_rivals_csv(&r->totals.ops, &r->totals.sets, file);
    return r->cost.set.options->by_set ? assay__cost_sets_csv(&r->totals.sets, file)
                                       : assay__cost_csv(&r->cost, file);
}

static assay_status cost_json(const void *rows, FILE *file)
{
    const cost_report *r = rows;

    return assay__cost_json(&r->cost, &r->totals, file);
}

static void cost_page(assay__page *page, const void *rows)
{
    const cost_report *r = rows;

    assay__cost_page(page, &r->cost, &r->totals);
}

/* They read visits, which the rows of candidates can do without. */
static assay_status load_totals(cost_report *r, assay__report_format format)
{
    const assay__report_options *o = r->cost.set.options;
    assay__rival_pairs pairs;
    assay_status status;

    if (format == ASSAY__REPORT_CSV && !o->by_set && !o->by_rival)
        return ASSAY_OK;
    ASSAY_TRY(assay__rival_pairs_load(&r->cost, &pairs));
    status = assay__op_totals_load(&r->cost, &pairs, &r->totals.ops);
    if (status == ASSAY_OK)
        status = assay__set_totals_load(&r->cost, &pairs, &r->totals.sets);
    assay__rival_pairs_clear(&pairs);
    return status;
}

static assay_status make_cost(const assay__report_options *options, assay__report_format format,
                              char **text, size_t *size)
{
    cost_report r = {.totals = {{NULL, 0}, {NULL, 0}}};
    assay_status status;

    ASSAY_TRY(assay__cost_load(options, &r.cost));
    status = load_totals(&r, format);
    if (status == ASSAY_OK && format == ASSAY__REPORT_CSV)
        status = write_data(&r, cost_csv, text, size);
    else if (status == ASSAY_OK && format == ASSAY__REPORT_JSON)
        status = write_data(&r, cost_json, text, size);
    else if (status == ASSAY_OK)
        status = write_page(&r, cost_page, format == ASSAY__REPORT_HTML, "Assay: cost",
                            "Measured times of kernels, and which one is picked", text, size);
    assay__set_totals_clear(&r.totals.ops);
    assay__set_totals_clear(&r.totals.sets);
    assay__cost_clear(&r.cost);
    return status;
}

/* ---- precision ---- */

static assay_status precision_csv(const void *rows, FILE *file)
{
    return assay__precision_csv(rows, file);
}

static assay_status precision_json(const void *rows, FILE *file)
{
    return assay__precision_json(rows, file);
}

static void precision_page(assay__page *page, const void *rows)
{
    assay__precision_page(page, rows);
}

static assay_status make_precision(const assay__report_options *options,
                                   assay__report_format format, char **text, size_t *size)
{
    assay__precision precision;
    assay_status status;

    ASSAY_TRY(assay__precision_load(options, &precision));
    if (format == ASSAY__REPORT_CSV)
        status = write_data(&precision, precision_csv, text, size);
    else if (format == ASSAY__REPORT_JSON)
        status = write_data(&precision, precision_json, text, size);
    else
        status =
            write_page(&precision, precision_page, format == ASSAY__REPORT_HTML, "Assay: precision",
                       "Measured errors of kernels, and what they prove", text, size);
    assay__precision_clear(&precision);
    return status;
}

/* ---- coverage ---- */

static assay_status coverage_csv(const void *rows, FILE *file)
{
    return assay__coverage_csv(rows, file);
}

static assay_status coverage_json(const void *rows, FILE *file)
{
    return assay__coverage_json(rows, file);
}

static void coverage_page(assay__page *page, const void *rows)
{
    assay__coverage_page(page, rows);
}

static assay_status make_coverage(const assay__report_options *options, assay__report_format format,
                                  char **text, size_t *size)
{
    assay__coverage coverage;
    assay_status status;

    ASSAY_TRY(assay__coverage_load(options, &coverage));
    if (format == ASSAY__REPORT_CSV)
        status = write_data(&coverage, coverage_csv, text, size);
    else if (format == ASSAY__REPORT_JSON)
        status = write_data(&coverage, coverage_json, text, size);
    else
        status =
            write_page(&coverage, coverage_page, format == ASSAY__REPORT_HTML, "Assay: coverage",
                       "What was measured of all that there is", text, size);
    assay__coverage_clear(&coverage);
    return status;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    assay_status (*make)(const assay__report_options *, assay__report_format, char **, size_t *);
} reports[] = {
    {"cost", make_cost},
    {"precision", make_precision},
    {"coverage", make_coverage},
};

const char *const assay__report_names[] = {"cost", "precision", "coverage", NULL};

assay_status assay__report_make(const char *name, const assay__report_options *options,
                                assay__report_format format, char **text, size_t *size)
{
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (strcmp(reports[i].name, name) == 0)
            return reports[i].make(options, format, text, size);
    return assay__fail(ASSAY_INVALID, "there is no report '%s'", name);
}

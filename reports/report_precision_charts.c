/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_precision_charts.c -- histograms and worst elements out of stored JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_parts.h"
#include "reports/report_precision.h"

#define CHARTS 12 /* on a page */
#define BINS   40
/* Of those that the check counts: all that lies beyond. */
#define LAST_BIN 22

/* ---- worst elements ---- */

static void add_inputs(const json_t *root, assay__str *out)
{
    json_t *inputs = NULL;

    if (assay__json_get_array(root, "input_bits", &inputs) != ASSAY_OK)
        return;
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const char *bits = json_string_value(json_array_get(inputs, i));
        if (bits != NULL)
            assay__str_addf(out, "%s%s", i == 0 ? "input " : ", ", bits);
    }
    if (json_array_size(inputs) > 0)
        assay__str_add(out, "; ");
}

void assay__precision_worst_text(const char *json, assay__str *out)
{
    const char *bits = NULL;
    json_t *root = NULL;
    double got, expected;

    if (json[0] == '\0')
        return;
    if (assay__json_parse("worst element", json, strlen(json), &root) != ASSAY_OK ||
        assay__json_get_string(root, "got_bits", &bits) != ASSAY_OK) {
        assay__str_add(out, json);
        json_decref(root);
        return;
    }
    add_inputs(root, out);
    assay__str_addf(out, "got %s", bits);
    if (assay__json_get_real(root, "got", &got) == ASSAY_OK)
        assay__str_addf(out, " (%.9g)", got);
    if (assay__json_get_real(root, "expected", &expected) == ASSAY_OK)
        assay__str_addf(out, ", expected %.17g", expected);
    json_decref(root);
}

/* ---- histograms ---- */

void assay__precision_bin_name(size_t bin, char *buf, size_t cap)
{
    if (bin == 0)
        (void)snprintf(buf, cap, "<= 0.5");
    else if (bin >= LAST_BIN)
        (void)snprintf(buf, cap, "> 1048576");
    else
        (void)snprintf(buf, cap, "(%.9g, %.9g]", ldexp(0.5, (int)bin - 1), ldexp(0.5, (int)bin));
}

/* Counts of the bins up to the last that is not empty; 0: no histogram. */
static size_t read_bins(const char *text, double counts[BINS])
{
    json_t *root = NULL;
    size_t used = 0;

    if (text[0] == '\0' || assay__json_parse("histogram", text, strlen(text), &root) != ASSAY_OK)
        return 0;
    for (size_t i = 0; json_is_array(root) && i < json_array_size(root) && i < BINS; i++) {
        const json_t *one = json_array_get(root, i);
        counts[i] = json_is_number(one) ? json_number_value(one) : (double)NAN;
        if (counts[i] > 0)
            used = i + 1;
    }
    json_decref(root);
    return used;
}

static bool draw(assay__page *page, const assay__precision_row *row)
{
    char names[BINS][48], title[400];
    const char *labels[BINS];
    double counts[BINS];
    size_t n = read_bins(row->histogram, counts);
    assay__str variant = {0};

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        assay__precision_bin_name(i, names[i], sizeof names[i]);
        labels[i] = names[i];
    }
    assay__part_variant(row->revision, &variant);
    (void)snprintf(title, sizeof title, "%.200s on %.150s", assay__str_text(&variant),
                   row->problem->text);
    assay__str_clear(&variant);
    const assay__chart_series series = {.name = "elements", .y = counts, .count = n};
    const assay__chart chart = {.kind = ASSAY__CHART_HISTOGRAM,
                                .title = title,
                                .x_title = "error",
                                .x_unit = "ULP, real-valued",
                                .y_title = "elements",
                                .labels = labels,
                                .label_count = n,
                                .series = &series,
                                .series_count = 1};
    assay__page_chart(page, &chart);
    return true;
}

static double error_of(const assay__precision_row *row)
{
    double error = row->is_contraction ? row->max_rho : row->max_err_ulp;

    return isnan(error) ? -1.0 : error;
}

static int by_kernel_and_error(const void *a, const void *b)
{
    const assay__precision_row *x = *(const assay__precision_row *const *)a;
    const assay__precision_row *y = *(const assay__precision_row *const *)b;
    int order = strcmp(x->revision->op, y->revision->op);

    if (order == 0)
        order = strcmp(x->revision->kernel, y->revision->kernel);
    if (order == 0)
        order = strcmp(x->revision->dtypes, y->revision->dtypes);
    if (order == 0 && error_of(x) > error_of(y))
        return -1;
    if (order == 0 && error_of(x) < error_of(y))
        return 1;
    if (order == 0)
        order = (x->id > y->id) - (x->id < y->id);
    return order;
}

static bool same_kernel(const assay__precision_row *x, const assay__precision_row *y)
{
    return strcmp(x->revision->kernel, y->revision->kernel) == 0 &&
           strcmp(x->revision->dtypes, y->revision->dtypes) == 0 &&
           strcmp(x->revision->op, y->revision->op) == 0;
}

void assay__precision_charts(assay__page *page, const assay__precision *p)
{
    const assay__precision_row **rows;
    size_t count = 0, drawn = 0;

    if (!page->is_html || (rows = calloc(p->count + 1, sizeof *rows)) == NULL)
        return; /* the tables still say all */
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i].is_union && assay__row_counts(p->rows[i].state))
            rows[count++] = &p->rows[i];
    qsort(rows, count, sizeof *rows, by_kernel_and_error);
    for (size_t i = 0; i < count && drawn < CHARTS; i++)
        if (i == 0 || !same_kernel(rows[i - 1], rows[i]))
            drawn += draw(page, rows[i]);
    free(rows);
}

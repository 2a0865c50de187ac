/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* reports/report_precision_summary.c -- one row a kernel: the worst over its variants and problems.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report_precision.h"
#include "support/format.h"

/* What the rows of one kernel say together. */
typedef struct summary {
    const assay__report_revision *kernel; /* any revision of it */
    size_t rows, failed, contradicted;
    uint64_t elements;
    double max_ulp, max_err_ulp, max_rel, rho_share; /* NaN: none */
    bool is_exact;                                   /* all rows are */
} summary;

static void raise_to(double *worst, double value)
{
    if (!isnan(value) && !(*worst >= value))
        *worst = value;
}

static summary *find(summary *all, size_t *count, const assay__report_revision *r)
{
    for (size_t i = *count; i > 0; i--) { /* rows of a kernel come close together */
        const assay__report_revision *k = all[i - 1].kernel;
        if (k == r || (strcmp(k->kernel, r->kernel) == 0 && strcmp(k->backend, r->backend) == 0 &&
                       strcmp(k->dtypes, r->dtypes) == 0 && strcmp(k->op, r->op) == 0))
            return &all[i - 1];
    }
    all[*count] = (summary){.kernel = r,
                            .max_ulp = (double)NAN,
                            .max_err_ulp = (double)NAN,
                            .max_rel = (double)NAN,
                            .rho_share = (double)NAN,
                            .is_exact = true};
    return &all[(*count)++];
}

static void add(summary *s, const assay__precision_row *row)
{
    s->rows++;
    s->failed += !row->passed;
    s->contradicted += row->contradicted != 0;
    s->elements += (uint64_t)row->elements;
    s->is_exact = s->is_exact && row->is_exact;
    if (!row->passed)
        return; /* a failed variant is never picked: it says nothing of the others */
    raise_to(&s->max_ulp, row->max_ulp);
    raise_to(&s->max_err_ulp, row->max_err_ulp);
    raise_to(&s->max_rel, row->max_rel);
    raise_to(&s->rho_share, row->max_rho / row->rho_certain);
}

static void put(assay__page *page, const summary *s)
{
    const char *mark = s->is_exact ? "=" : ">=";

    assay__page_cellf(page, "%s/%s", s->kernel->backend, s->kernel->kernel);
    assay__page_cell(page, s->kernel->op);
    assay__page_cell(page, s->kernel->dtypes);
    assay__page_cell_count(page, s->rows);
    assay__page_cell_count(page, s->elements);
    if (isnan(s->max_ulp))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s %.0f", mark, s->max_ulp);
    if (isnan(s->max_err_ulp))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s %.4g", mark, s->max_err_ulp);
    if (isnan(s->max_rel))
        assay__page_cell(page, NULL);
    else
        assay__page_cellf(page, "%s %.3g", mark, s->max_rel);
    assay__page_cell(page, isnan(s->rho_share) ? NULL : assay__format_percent(s->rho_share).text);
    assay__page_cell_count(page, s->failed);
    assay__page_cell_count(page, s->contradicted);
}

void assay__precision_summary(assay__page *page, const assay__precision *p)
{
    static const assay__html_column columns[] = {{"kernel", NULL, false},
                                                 {"op", NULL, false},
                                                 {"dtypes", NULL, false},
                                                 {"checked", "variants x problems", true},
                                                 {"n", "elements", true},
                                                 {"max dist", "ULP", true},
                                                 {"max error", "ULP, real", true},
                                                 {"max relative", "ratio", true},
                                                 {"max rho", "of certain", true},
                                                 {"failed", "rows", true},
                                                 {"contradict claims", "rows", true}};
    summary *all = calloc(p->count + 1, sizeof *all);
    size_t count = 0;

    for (size_t i = 0; all != NULL && i < p->count; i++)
        if (p->rows[i].is_union && assay__row_counts(p->rows[i].state))
            add(find(all, &count, p->rows[i].revision), &p->rows[i]);
    if (count > 0) {
        assay__page_table(page, "One row a kernel: the worst of what passed", columns,
                          sizeof columns / sizeof *columns, false);
        for (size_t i = 0; i < count; i++)
            put(page, &all[i]);
        assay__page_table_end(page);
    }
    free(all);
}

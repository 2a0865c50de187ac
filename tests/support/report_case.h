/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/report_case.h -- a planted store and reports made of it. */
#ifndef ASSAY_TESTS_REPORT_CASE_H
#define ASSAY_TESTS_REPORT_CASE_H

#include "reports/reports.h"
#include "tests/support/store_fixture.h"

typedef struct report_case {
    char folder[256], path[1024];
    assay__db *db; /* closed by report_case_make */
    store_rows rows;
    int64_t elsewhere; /* deployment of another machine */
    char kernel_revision[ASSAY_DIGEST_HEX];
    assay__report_kernel current[8];
    assay__strlist ops, backends, kernels;
    assay__report_options options; /* here and current are set: change what the test is about */
    char *text;
    size_t size;
} report_case;

void report_case_setup(report_case *c);
void report_case_teardown(report_case *c);

/* A kernel of backend "cpu" with everything chosen; in `current` with `is_current`. */
int64_t report_put_kernel(report_case *c, const char *name, const char *op, const char *dtypes,
                          int variant, const assay_claims *claims, bool is_current);
/* The same of another backend. */
int64_t report_put_rival(report_case *c, const char *backend, const char *name, const char *op,
                         const char *dtypes, int variant);
int64_t report_put_problem(report_case *c, assay_op_id op, assay_dtype t, const char *params);
int64_t report_put_measurement(report_case *c, const assay__db_measurement *m);
int64_t report_put_accuracy(report_case *c, const assay__db_accuracy *a);
void report_put_route(report_case *c, const assay__db_route *r);

/* Closes the writer and makes a report; the text is of the case. */
const char *report_case_make(report_case *c, const char *name, assay__report_format format);
assay_status report_case_try(report_case *c, const char *name, assay__report_format format);

/* Field of a CSV line by its column's title, in a static buffer; rows count from 1. */
const char *report_csv_field(const char *csv, size_t row, const char *title);
size_t report_csv_rows(const char *csv);
/* How often `word` occurs. */
size_t report_count(const char *text, const char *word);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/report_case.c -- a planted store and reports made of it. */
#include "tests/support/report_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX_OF_CURRENT "c0"

static void put_elsewhere(report_case *c)
{
    assay_deployment d;

    memset(&d, 0, sizeof d);
    strcpy(d.backend, "cpu");
    strcpy(d.device, "Far CPU");
    strcpy(d.cpu_model, "Far CPU");
    strcpy(d.isa, "sse2");
    strcpy(d.os_class, "linux 6");
    ck_assert_int_eq(assay__db_put_deployment(c->db, &d, NULL, &c->elsewhere), ASSAY_OK);
}

void report_case_setup(report_case *c)
{
    *c = (report_case){.options = {.db_path = c->path}};
    store_folder_make(c->folder);
    snprintf(c->path, sizeof c->path, "%s/s.db", c->folder);
    ck_assert_int_eq(assay__db_open(c->path, &c->db), ASSAY_OK);
    store_rows_put(c->db, &c->rows);
    put_elsewhere(c);
    memset(c->kernel_revision, '0', 64);
    memcpy(c->kernel_revision, HEX_OF_CURRENT, 2);
    c->options.here = c->rows.deployment_hex;
    c->options.current = c->current;
    c->options.ops = &c->ops;
    c->options.backends = &c->backends;
    c->options.kernels = &c->kernels;
}

void report_case_teardown(report_case *c)
{
    assay__db_close(&c->db);
    assay__strlist_clear(&c->ops);
    assay__strlist_clear(&c->backends);
    assay__strlist_clear(&c->kernels);
    free(c->text);
    store_folder_remove(c->folder);
}

static int64_t put_kernel(report_case *c, const char *backend, const char *name, const char *op,
                          const char *dtypes, int variant, const assay_claims *claims,
                          bool is_current)
{
    static const assay_claims none = ASSAY_NO_CLAIMS;
    char tunables[32];
    int64_t id = 0;
    assay__db_kernel k = {.kernel = name,
                          .backend = backend,
                          .op = op,
                          .dtypes = dtypes,
                          .entry_point = "run",
                          .default_rank = 10,
                          .claims = claims != NULL ? *claims : none,
                          .tunables = tunables,
                          .libraries = "",
                          .compiler = "gcc"};

    snprintf(tunables, sizeof tunables, "threads=%d", variant);
    ck_assert_int_eq(assay_digest_parse(c->kernel_revision, &k.kernel_revision), ASSAY_OK);
    store_variant_digest((int)strlen(name), variant, &k.variant_revision);
    memcpy(&k.variant_revision.bytes[8], name, strlen(name) < 16 ? strlen(name) : 16);
    memcpy(&k.claims_digest, &k.variant_revision, sizeof k.claims_digest);
    ck_assert_msg(assay__db_put_revision(c->db, &k, &id) == ASSAY_OK, "%s", assay_last_error());
    if (is_current)
        c->current[c->options.current_count++] =
            (assay__report_kernel){.backend = backend,
                                   .op = op,
                                   .dtypes = dtypes,
                                   .kernel = name,
                                   .revision = c->kernel_revision,
                                   .claims = k.claims};
    return id;
}

int64_t report_put_kernel(report_case *c, const char *name, const char *op, const char *dtypes,
                          int variant, const assay_claims *claims, bool is_current)
{
    return put_kernel(c, "cpu", name, op, dtypes, variant, claims, is_current);
}

int64_t report_put_rival(report_case *c, const char *backend, const char *name, const char *op,
                         const char *dtypes, int variant)
{
    return put_kernel(c, backend, name, op, dtypes, variant, NULL, true);
}

int64_t report_put_problem(report_case *c, assay_op_id op, assay_dtype t, const char *params)
{
    assay__strlist list = {0};
    assay_problem p;
    int64_t id = 0;

    ck_assert_int_eq(assay_problem_init(op, t, &p), ASSAY_OK);
    ck_assert_int_eq(assay__strlist_split(&list, params, ','), ASSAY_OK);
    for (size_t i = 0; i < list.count; i++) {
        char *equals = strchr(list.items[i], '=');
        *equals = '\0';
        ck_assert_int_eq(assay_problem_set(&p, list.items[i], equals + 1), ASSAY_OK);
    }
    assay__strlist_clear(&list);
    ck_assert_int_eq(assay__db_put_problem(c->db, &p, &id), ASSAY_OK);
    return id;
}

int64_t report_put_measurement(report_case *c, const assay__db_measurement *m)
{
    int64_t id = 0;

    ck_assert_msg(assay__db_put_measurement(c->db, m, &id) == ASSAY_OK, "%s", assay_last_error());
    return id;
}

int64_t report_put_accuracy(report_case *c, const assay__db_accuracy *a)
{
    int64_t id = 0;

    ck_assert_msg(assay__db_put_accuracy(c->db, a, &id) == ASSAY_OK, "%s", assay_last_error());
    return id;
}

void report_put_route(report_case *c, const assay__db_route *r)
{
    ck_assert_msg(assay__db_put_route(c->db, r) == ASSAY_OK, "%s", assay_last_error());
}

assay_status report_case_try(report_case *c, const char *name, assay__report_format format)
{
    assay__db_close(&c->db);
    free(c->text);
    c->text = NULL;
    return assay__report_make(name, &c->options, format, &c->text, &c->size);
}

const char *report_case_make(report_case *c, const char *name, assay__report_format format)
{
    ck_assert_msg(report_case_try(c, name, format) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_uint_eq(strlen(c->text), c->size);
    return c->text;
}

/* ---- reading ---- */

/* The next field into `out`; quotes taken off. */
static const char *next_field(const char *at, char *out, size_t cap)
{
    bool quoted = *at == '"';
    size_t n = 0;

    for (at += quoted; *at != '\0'; at++) {
        if (quoted && at[0] == '"' && at[1] != '"')
            break;
        if (quoted && at[0] == '"')
            at++;
        else if (!quoted && (*at == ',' || *at == '\n'))
            break;
        if (n + 1 < cap)
            out[n++] = *at;
    }
    out[n] = '\0';
    at += quoted && *at == '"';
    return at;
}

const char *report_csv_field(const char *csv, size_t row, const char *title)
{
    static char field[4096];
    size_t column = 0, line = 0, at_column = 0;
    bool found = false;

    for (const char *at = csv; *at != '\0'; at++) {
        at = next_field(at, field, sizeof field);
        if (line == 0 && !found && strcmp(field, title) == 0) {
            found = true;
            column = at_column;
        }
        if (line == row && at_column == column && line > 0)
            return field;
        at_column++;
        if (*at == '\n') {
            line++;
            at_column = 0;
            ck_assert_msg(found, "no column %s", title);
        }
    }
    ck_abort_msg("no row %zu", row);
    return NULL;
}

size_t report_csv_rows(const char *csv)
{
    char field[4096];
    size_t rows = 0;

    for (const char *at = csv; *at != '\0'; at++) {
        at = next_field(at, field, sizeof field);
        rows += *at == '\n';
    }
    return rows - 1;
}

size_t report_count(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

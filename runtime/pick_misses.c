/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_misses.c -- keeping misses, and writing them as a shape set. */
#include "runtime/pick_misses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/pick.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

#define INDEX_SLOTS (2 * ASSAY_MISSES_MAX) /* a power of two */
_Static_assert((INDEX_SLOTS & (INDEX_SLOTS - 1)) == 0, "slots are masked");

/* ---- keeping ---- */

static bool make_room(assay__misses *m)
{
    if (m->items != NULL)
        return true;
    m->items = malloc(ASSAY_MISSES_MAX * sizeof *m->items);
    m->index = calloc(INDEX_SLOTS, sizeof *m->index);
    if (m->items != NULL && m->index != NULL)
        return true;
    assay__misses_clear(m);
    return false;
}

/* Without padding that differs: all of it is written. */
static void make_miss(const assay_question *q, assay__miss *out)
{
    memset(out, 0, sizeof *out);
    out->problem = q->problem;
    assay__copies_layout(q, 0, out->layout);
    out->align = q->align;
    out->policy = q->policy;
}

void assay__misses_keep(assay__misses *m, const assay_question *q)
{
    assay__miss miss;
    uint64_t at;
    uint32_t *slot;

    if (!make_room(m)) {
        m->dropped++;
        return;
    }
    make_miss(q, &miss);
    at = assay__xxh64(&miss, sizeof miss);
    while (*(slot = &m->index[at & (INDEX_SLOTS - 1)]) != 0) {
        if (memcmp(&m->items[*slot - 1], &miss, sizeof miss) == 0)
            return;
        at++;
    }
    if (m->count == ASSAY_MISSES_MAX) {
        m->dropped++;
        return;
    }
    m->items[m->count] = miss;
    *slot = (uint32_t)++m->count;
}

void assay__misses_clear(assay__misses *m)
{
    free(m->items);
    free(m->index);
    m->items = NULL;
    m->index = NULL;
    m->count = 0;
}

/* ---- writing ---- */

static bool answers(const assay__generation *g, const char *text, const assay__miss *m,
                    unsigned align)
{
    const assay__stored_route *route =
        assay__pick_store_find(g->store, text, m->layout, align, m->policy);

    return route != NULL && assay__generation_serves(g, route);
}

/* The store may have learned of it since; a row measured at 16 answers at 64 too.  One of which all
 * is stale answers nothing. */
static bool is_open(const assay__generation *g, const assay__miss *m)
{
    char text[ASSAY_PROBLEM_TEXT_MAX];

    return assay__route_text(&m->problem, text, sizeof text) > 0 &&
           !answers(g, text, m, m->align) && (m->align != 64 || !answers(g, text, m, 16));
}

static bool has_problem(const assay__open_misses *list, const assay_problem *problem)
{
    for (size_t i = 0; i < list->count; i++)
        if (assay_problem_equal(&list->problems[i], problem))
            return true;
    return false;
}

/* The same problem under another layout or policy, or on another device, is one row. */
assay_status assay__misses_open(const assay__misses *m, const assay__generation *g,
                                assay__open_misses *out)
{
    assay_problem *grown;

    if (m->count == 0)
        return ASSAY_OK;
    grown = realloc(out->problems, (out->count + m->count) * sizeof *grown);
    if (grown == NULL)
        return assay__fail(ASSAY_NOMEM, "misses: no memory for %zu problems", m->count);
    out->problems = grown;
    for (size_t i = 0; i < m->count; i++)
        if (is_open(g, &m->items[i]) && !has_problem(out, &m->items[i].problem))
            out->problems[out->count++] = m->items[i].problem;
    return ASSAY_OK;
}

typedef struct columns {
    const char *names[ASSAY_OP_COUNT * ASSAY_MAX_PARAMS];
    size_t count;
} columns;

static void add_column(columns *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return;
    c->names[c->count++] = name;
}

static void find_columns(const assay__open_misses *list, columns *c)
{
    bool seen[ASSAY_OP_COUNT] = {false};

    c->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const assay_op_info *info = assay_op_get((assay_op_id)list->problems[i].op);
        for (size_t p = 0; !seen[info->id] && p < info->param_count; p++)
            add_column(c, info->params[p].name);
        seen[info->id] = true;
    }
}

/* What follows "name=" in canonical parameters "a=1,b=2"; empty: at its default, or not of this op.
 */
static void write_value(FILE *f, const char *params, const char *name)
{
    const size_t length = strlen(name);

    while (params != NULL && *params != '\0') {
        const size_t end = strcspn(params, ",");
        if (strncmp(params, name, length) == 0 && params[length] == '=')
            (void)fprintf(f, "%.*s", (int)(end - length - 1), params + length + 1);
        params += end + (params[end] == ',');
    }
}

static void write_row(FILE *f, const columns *c, const assay_problem *p)
{
    char text[ASSAY_PROBLEM_TEXT_MAX] = "", dtypes[96] = "";
    const char *params, *quote;

    assay__dtypes_text(p, dtypes, sizeof dtypes);
    quote = strchr(dtypes, ',') != NULL ? "\"" : "";
    (void)assay_problem_format(p, ASSAY_TEXT_ACCURACY, text, sizeof text);
    params = strchr(text, ' ');
    params = params != NULL ? strchr(params + 1, ' ') : NULL;
    (void)fprintf(f, "%s,%s%s%s", assay_op_get((assay_op_id)p->op)->name, quote, dtypes, quote);
    for (size_t i = 0; i < c->count; i++) {
        (void)fputc(',', f);
        write_value(f, params != NULL ? params + 1 : NULL, c->names[i]);
    }
    (void)fputc('\n', f);
}

static bool write_all(FILE *f, const assay__open_misses *list)
{
    static const char head[] = "# Asked of the route picker without evidence; measure with "
                               "assay sweep --shapes FILE\nop,dtype";
    columns c;

    find_columns(list, &c);
    (void)fputs(head, f);
    for (size_t i = 0; i < c.count; i++)
        (void)fprintf(f, ",%s", c.names[i]);
    (void)fputc('\n', f);
    for (size_t i = 0; i < list->count; i++)
        write_row(f, &c, &list->problems[i]);
    return fflush(f) == 0 && ferror(f) == 0;
}

/* A reader must not find half a file, nor a failure leave one. */
assay_status assay__misses_write(const assay__open_misses *list, const char *path)
{
    char temporary[4096];
    FILE *f;
    bool ok;
    int error;

    if (list->count == 0)
        return assay__fail(ASSAY_NOTFOUND, "misses: nothing was asked for that is not measured");
    if (snprintf(temporary, sizeof temporary, "%s.part", path) >= (int)sizeof temporary)
        return assay__fail(ASSAY_INVALID, "misses: the path is too long");
    f = fopen(temporary, "we");
    if (f == NULL)
        return assay__fail(ASSAY_IO, "misses: %s: %s", temporary, strerror(errno));
    ok = write_all(f, list);
    error = errno;
    if (fclose(f) != 0 && ok) {
        ok = false;
        error = errno;
    }
    if (ok && rename(temporary, path) == 0)
        return ASSAY_OK;
    if (ok)
        error = errno;
    (void)remove(temporary);
    return assay__fail(ASSAY_IO, "misses: %s: %s", path, strerror(error));
}

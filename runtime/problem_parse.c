/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/problem_parse.c -- canonical text of problems, both ways. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/problem_text.h"

const char *assay__list_item(const char *list, size_t index, size_t *len)
{
    for (; index > 0; index--) {
        list = strchr(list, '|');
        if (list == NULL)
            return NULL;
        list++;
    }
    *len = strcspn(list, "|");
    return list;
}

int assay__list_find(const char *list, const char *name, size_t len)
{
    size_t item_len;
    const char *item;

    for (size_t i = 0; (item = assay__list_item(list, i, &item_len)) != NULL; i++)
        if (item_len == len && memcmp(item, name, len) == 0)
            return (int)i;
    return -1;
}

static assay_status parse_enum(const assay_param_info *param, const char *text, int64_t *out)
{
    int index = assay__list_find(param->values, text, strlen(text));

    /* 0 and 1 as shape files of others write flags. */
    if (index < 0 && (strcmp(text, "0") == 0 || strcmp(text, "1") == 0))
        index = text[0] - '0';
    if (index < 0)
        return assay__fail(ASSAY_INVALID, "parameter '%s': '%s' is not one of %s", param->name,
                           text, param->values);
    *out = index;
    return ASSAY_OK;
}

static assay_status parse_int(const assay_param_info *param, const char *text, int64_t *out)
{
    char *end = NULL;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]))
        return assay__fail(ASSAY_INVALID, "parameter '%s': '%s' is no decimal integer", param->name,
                           text);
    if (errno == ERANGE)
        return assay__fail(ASSAY_INVALID, "parameter '%s': %s does not fit 64 bits", param->name,
                           text);
    *out = v;
    return ASSAY_OK;
}

static assay_status parse_real(const assay_param_info *param, const char *text, double *out)
{
    char *end = NULL;
    /* The program's locale may write 1,5: keys must not depend on it. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v = c_locale != (locale_t)0 ? strtod_l(text, &end, c_locale) : strtod(text, &end);

    if (c_locale != (locale_t)0)
        freelocale(c_locale);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]) || !isfinite(v))
        return assay__fail(ASSAY_INVALID, "parameter '%s': '%s' is no finite number", param->name,
                           text);
    *out = v;
    return ASSAY_OK;
}

assay_status assay_problem_set(assay_problem *p, const char *name, const char *value)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    int i = assay_op_param_index((assay_op_id)p->op, name);
    int64_t number = 0;
    double real = 0;

    if (i < 0)
        return assay_problem_set_int(p, name, 0); /* fails with the list of parameters */
    switch (info->params[i].kind) {
    case ASSAY_KIND_REAL:
        ASSAY_TRY(parse_real(&info->params[i], value, &real));
        return assay_problem_set_real(p, name, real);
    case ASSAY_KIND_ENUM:
        ASSAY_TRY(parse_enum(&info->params[i], value, &number));
        break;
    case ASSAY_KIND_INT:
        ASSAY_TRY(parse_int(&info->params[i], value, &number));
        break;
    }
    return assay_problem_set_int(p, name, number);
}

/* ---- writing ---- */

typedef struct writer {
    char *buf;
    size_t cap, used;
    bool over;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    int n;

    if (w->over)
        return;
    va_start(args, format);
    n = vsnprintf(w->buf + w->used, w->cap - w->used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= w->cap - w->used)
        w->over = true;
    else
        w->used += (size_t)n;
}

/* C hex float with one leading digit for subnormals too; %a would follow the locale. */
static void put_hex_real(writer *w, double v)
{
    int exponent = 0;
    double m = frexp(fabs(v), &exponent);
    uint64_t fraction = (uint64_t)ldexp(m * 2 - 1, 52);
    char digits[14];
    size_t n = 13;

    if (v == 0.0) {
        put(w, "0x0p+0");
        return;
    }
    (void)snprintf(digits, sizeof digits, "%013llx", (unsigned long long)fraction);
    while (n > 0 && digits[n - 1] == '0')
        digits[--n] = '\0';
    put(w, "%s0x1%s%sp%+d", v < 0 ? "-" : "", n > 0 ? "." : "", digits, exponent - 1);
}

static void put_value(writer *w, const assay_param_info *param, assay_value v, assay_text_form form)
{
    size_t len = 0;

    switch (param->kind) {
    case ASSAY_KIND_INT:
        put(w, "%lld", (long long)v.i);
        return;
    case ASSAY_KIND_ENUM: {
        const char *item = assay__list_item(param->values, (size_t)v.i, &len);
        put(w, "%.*s", (int)len, item != NULL ? item : "");
        return;
    }
    case ASSAY_KIND_REAL:
        if (form == ASSAY_TEXT_COST && param->klass == ASSAY_CLASS && v.r != 0.0 && v.r != 1.0)
            put(w, "other");
        else
            put_hex_real(w, v.r);
        return;
    }
}

static bool at_default(const assay_param_info *param, assay_value v)
{
    if (!param->has_default)
        return false;
    if (param->kind == ASSAY_KIND_REAL)
        return v.r == param->default_value;
    return (double)v.i == param->default_value;
}

size_t assay_problem_format(const assay_problem *p, assay_text_form form, char *buf, size_t cap)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    writer w = {buf, cap, 0, cap == 0 || info == NULL};
    const char *sep = " ";

    if (w.over)
        return 0;
    put(&w, "%s ", info->name);
    for (size_t i = 0; i < p->dtype_count; i++)
        put(&w, "%s%s", i ? "," : "", assay_dtype_name((assay_dtype)p->dtypes[i]));
    for (size_t i = 0; i < info->param_count; i++) {
        if (at_default(&info->params[i], p->params[i]) ||
            (form == ASSAY_TEXT_COST && info->params[i].klass == ASSAY_INERT))
            continue;
        put(&w, "%s%s=", sep, info->params[i].name);
        put_value(&w, &info->params[i], p->params[i], form);
        sep = ",";
    }
    return w.over ? 0 : w.used;
}

/* ---- reading ---- */

static assay_status parse_dtypes(assay_op_id op, char *list, assay_problem *out)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    size_t count = 0;
    char *save = NULL;

    for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        if (count == ASSAY_MAX_OPERANDS)
            return assay__fail(ASSAY_PARSE, "problem: more than %d dtypes", ASSAY_MAX_OPERANDS);
        ASSAY_TRY(assay_dtype_parse(item, &dtypes[count]));
        count++;
    }
    return assay_problem_init_tuple(op, dtypes, count, out);
}

static assay_status parse_params(char *list, assay_problem *p)
{
    char *save = NULL;

    for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        char *eq = strchr(item, '=');
        int index;

        if (eq == NULL)
            return assay__fail(ASSAY_PARSE, "problem: '%s' is no name=value", item);
        *eq = '\0';
        index = assay_op_param_index((assay_op_id)p->op, item);
        if (index >= 0 && (p->given[index / 8] >> (index % 8) & 1))
            return assay__fail(ASSAY_PARSE, "problem: parameter '%s' is given twice", item);
        ASSAY_TRY(assay_problem_set(p, item, eq + 1));
    }
    return ASSAY_OK;
}

assay_status assay_problem_parse(const char *text, assay_problem *out)
{
    char copy[ASSAY_PROBLEM_TEXT_MAX];
    char *save = NULL, *name, *dtypes, *params;
    assay_op_id op;
    assay_problem p;

    if (strlen(text) >= sizeof copy)
        return assay__fail(ASSAY_PARSE, "problem: text over %zu bytes", sizeof copy - 1);
    memcpy(copy, text, strlen(text) + 1);
    name = strtok_r(copy, " ", &save);
    dtypes = strtok_r(NULL, " ", &save);
    params = strtok_r(NULL, " ", &save);
    if (name == NULL || dtypes == NULL || strtok_r(NULL, " ", &save) != NULL)
        return assay__fail(ASSAY_PARSE,
                           "problem: '%s' is not of the form 'op dtype,... name=value,...'", text);
    ASSAY_TRY(assay_op_find(name, &op));
    ASSAY_TRY(parse_dtypes(op, dtypes, &p));
    if (params != NULL)
        ASSAY_TRY(parse_params(params, &p));
    ASSAY_TRY(assay_problem_check(&p));
    *out = p;
    return ASSAY_OK;
}

bool assay_problem_equal(const assay_problem *a, const assay_problem *b)
{
    if (a->op != b->op || a->dtype_count != b->dtype_count ||
        memcmp(a->dtypes, b->dtypes, a->dtype_count) != 0)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (a->params[i].i != b->params[i].i) /* the bits: reals here are never -0 or NaN */
            return false;
    return true;
}

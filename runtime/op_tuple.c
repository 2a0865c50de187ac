/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/op_tuple.c -- the dtype tuples of an op: its rule, and what T and U may be. */
#include <string.h>

#include "runtime/error.h"
#include "runtime/problem_text.h"

assay_status assay__rule_dtype(const char *rule, size_t index, const assay__rule_types *types,
                               assay_dtype *out)
{
    char name[16];
    size_t len;

    for (; index > 0 && rule != NULL; index--) {
        rule = strchr(rule, ',');
        rule = rule != NULL ? rule + 1 : NULL;
    }
    if (rule == NULL)
        return assay__fail(ASSAY_INTERNAL, "dtype rule is too short");
    len = strcspn(rule, ",");
    if (len == 1 && (rule[0] == 'T' || rule[0] == 'U')) {
        *out = rule[0] == 'T' ? types->t : types->u;
        return ASSAY_OK;
    }
    if (len >= sizeof name)
        return assay__fail(ASSAY_INTERNAL, "dtype rule '%s' is broken", rule);
    memcpy(name, rule, len);
    name[len] = '\0';
    return assay_dtype_parse(name, out);
}

/* ---- what T and U may be: items "f32" (U is T), "f16:f32/f64" (U is one of these) and
 * "f16=i64/u32" (the same, the first of them unless said) ---- */

/* Where the list of U begins in an item; NULL: U is T. */
static const char *mark_of(const char *item, size_t len)
{
    size_t own = strcspn(item, ":=|");

    return own < len ? item + own : NULL;
}

static bool parse_name(const char *text, size_t len, assay_dtype *out)
{
    for (int i = 0; i < ASSAY_DTYPE_COUNT; i++) {
        const char *name = assay_dtype_name((assay_dtype)i);
        if (strlen(name) == len && memcmp(name, text, len) == 0) {
            *out = (assay_dtype)i;
            return true;
        }
    }
    return false;
}

/* Number `index` of the pairs that an item stands for; false past the last. */
static bool pair_of(const char *item, size_t len, size_t index, assay__rule_types *out)
{
    const char *colon = mark_of(item, len), *end = item + len, *u;

    if (!parse_name(item, colon != NULL ? (size_t)(colon - item) : len, &out->t))
        return false;
    if (colon == NULL) {
        out->u = out->t;
        return index == 0;
    }
    for (u = colon + 1; index > 0; index--) {
        u = memchr(u, '/', (size_t)(end - u));
        if (u == NULL)
            return false;
        u++;
    }
    const char *slash = memchr(u, '/', (size_t)(end - u));
    return parse_name(u, (size_t)((slash != NULL ? slash : end) - u), &out->u);
}

bool assay__op_types(const assay_op_info *info, size_t index, assay__rule_types *out)
{
    size_t len;
    const char *item;

    for (size_t i = 0; (item = assay__list_item(info->dtypes, i, &len)) != NULL; i++)
        for (size_t j = 0; pair_of(item, len, j, out); j++)
            if (index-- == 0)
                return true;
    return false;
}

bool assay__op_takes(const assay_op_info *info, const assay__rule_types *types)
{
    assay__rule_types one;
    size_t len;
    const char *item;

    for (size_t i = 0; (item = assay__list_item(info->dtypes, i, &len)) != NULL; i++)
        for (size_t j = 0; pair_of(item, len, j, &one) && one.t == types->t; j++)
            if (one.u == types->u)
                return true;
    return false;
}

bool assay_op_tuple(assay_op_id op, size_t index, assay_dtype out[ASSAY_MAX_OPERANDS])
{
    const assay_op_info *info = assay_op_get(op);
    assay__rule_types types;

    if (info == NULL || !assay__op_types(info, index, &types))
        return false;
    for (size_t i = 0; i < info->inputs + info->outputs; i++)
        if (assay__rule_dtype(info->dtype_rule, i, &types, &out[i]) != ASSAY_OK)
            return false;
    return true;
}

/* ---- from dtypes to T and U ---- */

/* Where a letter stands in the rule; -1: nowhere. */
static int place_of(const char *rule, char letter)
{
    int place = 0;

    for (const char *at = rule; at != NULL; place++) {
        if (at[0] == letter && (at[1] == ',' || at[1] == '\0'))
            return place;
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return -1;
}

assay__rule_types assay__rule_types_of(const assay_op_info *info, const assay_dtype *dtypes)
{
    int t = place_of(info->dtype_rule, 'T'), u = place_of(info->dtype_rule, 'U');
    assay__rule_types types = {.t = dtypes[t >= 0 ? t : 0]};

    types.u = u >= 0 ? dtypes[u] : types.t;
    return types;
}

/* A tuple with T = t, as an example: "i8,i8,i32". */
static void example_of(const assay_op_info *info, const assay__rule_types *types, char *buf,
                       size_t cap)
{
    assay_dtype dtype = ASSAY_F32;

    buf[0] = '\0';
    for (size_t i = 0; i < info->inputs + info->outputs; i++) {
        (void)assay__rule_dtype(info->dtype_rule, i, types, &dtype);
        strncat(buf, i > 0 ? "," : "", cap - strlen(buf) - 1);
        strncat(buf, assay_dtype_name(dtype), cap - strlen(buf) - 1);
    }
}

/* What T may be, each once. */
static void list_t(const assay_op_info *info, char *buf, size_t cap)
{
    size_t len;
    const char *item;

    buf[0] = '\0';
    for (size_t i = 0; (item = assay__list_item(info->dtypes, i, &len)) != NULL; i++) {
        const char *colon = mark_of(item, len);
        size_t own = colon != NULL ? (size_t)(colon - item) : len;
        if (assay__list_find(buf, item, own) >= 0)
            continue;
        strncat(buf, i > 0 ? "|" : "", cap - strlen(buf) - 1);
        strncat(buf, item, own < cap - strlen(buf) - 1 ? own : 0);
    }
}

static assay_status fail_t(const assay_op_info *info, assay_dtype t)
{
    const char *name = assay_dtype_name(t);
    char all[256];

    list_t(info, all, sizeof all);
    return assay__fail(ASSAY_UNSUPPORTED, "%s: dtype %s is not one of %s", info->name,
                       name != NULL ? name : "?", all);
}

assay_status assay__op_types_fail(const assay_op_info *info, const assay__rule_types *types)
{
    const char *t = assay_dtype_name(types->t), *u = assay_dtype_name(types->u), *item;
    size_t len;

    for (size_t i = 0; t != NULL && (item = assay__list_item(info->dtypes, i, &len)) != NULL; i++)
        if (mark_of(item, len) == item + strlen(t) && memcmp(item, t, strlen(t)) == 0)
            return assay__fail(ASSAY_UNSUPPORTED, "%s: beside T = %s, U is one of %.*s, not %s",
                               info->name, t, (int)(len - strlen(t) - 1), item + strlen(t) + 1,
                               u != NULL ? u : "?");
    if (t != NULL && types->t != types->u && assay__list_find(info->dtypes, t, strlen(t)) >= 0)
        return assay__fail(ASSAY_UNSUPPORTED, "%s: beside T = %s, U is %s too, not %s", info->name,
                           t, t, u != NULL ? u : "?");
    return fail_t(info, types->t);
}

static bool has_default(const assay_op_info *info, const char *t)
{
    size_t len;
    const char *item;

    for (size_t i = 0; (item = assay__list_item(info->dtypes, i, &len)) != NULL; i++) {
        const char *mark = mark_of(item, len);
        if (mark == item + strlen(t) && memcmp(item, t, strlen(t)) == 0)
            return mark[0] == '=';
    }
    return false;
}

assay_status assay__op_types_of(const assay_op_info *info, assay_dtype t, assay__rule_types *out)
{
    const assay__rule_types plain = {t, t};
    const char *name = assay_dtype_name(t);
    assay__rule_types one;
    char example[128];

    if (name != NULL && assay__list_find(info->dtypes, name, strlen(name)) >= 0) {
        *out = plain;
        return ASSAY_OK;
    }
    for (size_t i = 0; name != NULL && assay__op_types(info, i, &one); i++) {
        if (one.t != t)
            continue;
        if (has_default(info, name)) {
            *out = one; /* the first of its item */
            return ASSAY_OK;
        }
        example_of(info, &one, example, sizeof example);
        return assay__fail(ASSAY_INVALID,
                           "%s: %s alone leaves a dtype of %s open; give all of them, such as %s",
                           info->name, name, info->dtype_rule, example);
    }
    return fail_t(info, t);
}

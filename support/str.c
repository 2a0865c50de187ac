/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/str.c -- string builder, string lists, nearest match and glob. */
#include "support/str.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

#define STR_FIRST_CAP 64
#define WORD_CAP      64

void assay__str_clear(assay__str *str)
{
    free(str->data);
    *str = (assay__str){0};
}

void assay__str_reset(assay__str *str)
{
    str->len = 0;
    if (str->data != NULL)
        str->data[0] = '\0';
}

/* Makes room for `extra` more bytes and the NUL. */
static bool str_reserve(assay__str *str, size_t extra)
{
    size_t cap = str->cap == 0 ? STR_FIRST_CAP : str->cap;

    if (str->failed || extra >= SIZE_MAX / 2 - str->len) {
        str->failed = true;
        return false;
    }
    while (cap < str->len + extra + 1)
        cap *= 2;
    if (cap == str->cap)
        return true;
    char *data = realloc(str->data, cap);
    if (data == NULL) {
        str->failed = true;
        return false;
    }
    str->data = data;
    str->cap = cap;
    return true;
}

void assay__str_addn(assay__str *str, const char *bytes, size_t count)
{
    if (!str_reserve(str, count))
        return;
    if (count > 0)
        memcpy(str->data + str->len, bytes, count);
    str->len += count;
    str->data[str->len] = '\0';
}

void assay__str_add(assay__str *str, const char *text)
{
    if (text != NULL)
        assay__str_addn(str, text, strlen(text));
}

void assay__str_addc(assay__str *str, char byte)
{
    assay__str_addn(str, &byte, 1);
}

void assay__str_addv(assay__str *str, const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (need < 0) {
        str->failed = true;
        return;
    }
    if (!str_reserve(str, (size_t)need))
        return;
    (void)vsnprintf(str->data + str->len, (size_t)need + 1, format, args);
    str->len += (size_t)need;
}

void assay__str_addf(assay__str *str, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    assay__str_addv(str, format, args);
    va_end(args);
}

const char *assay__str_text(const assay__str *str)
{
    return str->data == NULL ? "" : str->data;
}

assay_status assay__str_status(const assay__str *str)
{
    return str->failed ? assay__fail(ASSAY_NOMEM, "out of memory while building a text") : ASSAY_OK;
}

assay_status assay__str_take(assay__str *str, char **out)
{
    if (!str->failed && str->data == NULL)
        assay__str_addn(str, "", 0);
    if (str->failed) {
        assay__str_clear(str);
        return assay__fail(ASSAY_NOMEM, "out of memory while building a text");
    }
    *out = str->data;
    *str = (assay__str){0};
    return ASSAY_OK;
}

void assay__strlist_clear(assay__strlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (assay__strlist){0};
}

assay_status assay__strlist_addn(assay__strlist *list, const char *bytes, size_t count)
{
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 8 : list->cap * 2;
        char **items = realloc(list->items, cap * sizeof *items);
        if (items == NULL)
            return assay__fail(ASSAY_NOMEM, "out of memory for a list of %zu texts", cap);
        list->items = items;
        list->cap = cap;
    }
    char *copy = malloc(count + 1);
    if (copy == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory for a text of %zu bytes", count);
    if (count > 0)
        memcpy(copy, bytes, count);
    copy[count] = '\0';
    list->items[list->count++] = copy;
    return ASSAY_OK;
}

assay_status assay__strlist_add(assay__strlist *list, const char *text)
{
    return assay__strlist_addn(list, text, strlen(text));
}

static assay_status add_trimmed(assay__strlist *list, const char *text, const char *from,
                                const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (from == end)
        return assay__fail(ASSAY_INVALID, "empty item in list '%s'", text);
    return assay__strlist_addn(list, from, (size_t)(end - from));
}

assay_status assay__strlist_split(assay__strlist *list, const char *text, char separator)
{
    const size_t before = list->count;

    for (const char *from = text;; from++) {
        const char *end = strchr(from, separator);
        if (end == NULL)
            end = from + strlen(from);
        assay_status status = add_trimmed(list, text, from, end);
        if (status != ASSAY_OK) {
            while (list->count > before)
                free(list->items[--list->count]);
            return status;
        }
        if (*end == '\0')
            return ASSAY_OK;
        from = end;
    }
}

bool assay__strlist_has(const assay__strlist *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

assay_status assay__strlist_join(const assay__strlist *list, const char *separator, char **out)
{
    assay__str joined = {0};

    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            assay__str_add(&joined, separator);
        assay__str_add(&joined, list->items[i]);
    }
    return assay__str_take(&joined, out);
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t low = a < b ? a : b;
    return low < c ? low : c;
}

size_t assay__edit_distance(const char *left, const char *right)
{
    const size_t rows = strnlen(left, WORD_CAP);
    const size_t cols = strnlen(right, WORD_CAP);
    size_t table[3][WORD_CAP + 1]; /* the row before the last, the last, this one */

    for (size_t j = 0; j <= cols; j++)
        table[1][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *two = table[(i + 2) % 3], *one = table[i % 3], *now = table[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= cols; j++) {
            const size_t differs = left[i - 1] != right[j - 1];
            now[j] = min3(one[j] + 1, now[j - 1] + 1, one[j - 1] + differs);
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                now[j] = min3(now[j], two[j - 2] + 1, SIZE_MAX);
        }
    }
    return table[(rows + 1) % 3][cols];
}

const char *assay__nearest(const char *word, const char *const *names, size_t count)
{
    const size_t len = strnlen(word, WORD_CAP);
    const size_t limit = 1 + len / 4;
    const char *best = NULL;
    size_t best_distance = limit + 1;

    for (size_t i = 0; i < count; i++) {
        size_t distance = assay__edit_distance(word, names[i]);
        if (distance < best_distance && distance < len) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}

bool assay__glob_match(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

bool assay__glob_any(const assay__strlist *patterns, const char *text)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (assay__glob_match(patterns->items[i], text))
            return true;
    return patterns->count == 0;
}

static bool matches_one(const char *pattern, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (assay__glob_match(pattern, names[i]))
            return true;
    return false;
}

const char *assay__glob_idle(const char *const *patterns, size_t pattern_count,
                             const char *const *names, size_t count, const char **near)
{
    for (size_t i = 0; i < pattern_count; i++)
        if (!matches_one(patterns[i], names, count)) {
            *near = assay__nearest(patterns[i], names, count);
            return patterns[i];
        }
    return NULL;
}

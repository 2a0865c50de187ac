/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/noise_words.c -- see noise_words.h. */
#include "runtime/noise_words.h"

#include <stdio.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *word, *text;
} rows[] = {
#define X(name, bit, word, text) {1u << (bit), word, text},
    ASSAY__NOISE_MAP(X)
#undef X
};
#define ROWS (sizeof rows / sizeof rows[0])

size_t assay__noise_words(unsigned flags, char *buf, size_t cap)
{
    size_t used = 0;

    if (cap > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < ROWS; i++)
        if ((flags & rows[i].bit) != 0) {
            const size_t at = used < cap ? used : cap;
            used += (size_t)snprintf(buf + at, cap - at, "%s%s", used > 0 ? " " : "", rows[i].word);
        }
    return used;
}

unsigned assay__noise_parse(const char *words)
{
    unsigned flags = 0;

    while (*words != '\0') {
        const size_t length = strcspn(words, " ");
        for (size_t i = 0; i < ROWS; i++)
            if (strlen(rows[i].word) == length && memcmp(rows[i].word, words, length) == 0)
                flags |= rows[i].bit;
        words += length;
        words += strspn(words, " ");
    }
    return flags;
}

const char *assay__noise_text(unsigned bit)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].bit == bit)
            return rows[i].text;
    return NULL;
}

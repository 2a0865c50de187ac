/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/str.h -- growable strings, string lists, nearest match, glob, UTF-8 steps.
 *
 * The builder is sticky: after a failed allocation every further add does nothing and
 * assay__str_status() says ASSAY_NOMEM, so that long texts need one check at the end.
 * Nothing here is shared between threads. */
#ifndef ASSAY_SUPPORT_STR_H
#define ASSAY_SUPPORT_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

typedef struct assay__str {
    char *data; /* owned; NULL until the first add; NUL-terminated afterwards */
    size_t len; /* bytes without the final NUL */
    size_t cap;
    bool failed; /* an allocation failed: the text is cut */
} assay__str;

/* Zeroed memory is an empty string too: `assay__str s = {0};`. */
void assay__str_clear(assay__str *str);
void assay__str_add(assay__str *str, const char *text); /* NULL adds nothing */
void assay__str_addn(assay__str *str, const char *bytes, size_t count);
void assay__str_addc(assay__str *str, char byte);
__attribute__((format(printf, 2, 3))) void assay__str_addf(assay__str *str, const char *format,
                                                           ...);
__attribute__((format(printf, 2, 0))) void assay__str_addv(assay__str *str, const char *format,
                                                           va_list args);
/* Forgets the text, keeps the memory. */
void assay__str_reset(assay__str *str);
/* The text so far; "" when empty. Borrowed until the next add. */
const char *assay__str_text(const assay__str *str);
/* ASSAY_OK, or ASSAY_NOMEM when any add failed. */
assay_status assay__str_status(const assay__str *str);
/* Hands the text over (caller frees) and empties the builder; on ASSAY_NOMEM nothing is
 * handed over and the builder is cleared. */
assay_status assay__str_take(assay__str *str, char **out);

typedef struct assay__strlist {
    char **items; /* owned, each owned */
    size_t count;
    size_t cap;
} assay__strlist;

void assay__strlist_clear(assay__strlist *list);
/* Appends a copy. ASSAY_NOMEM leaves the list as it was. */
assay_status assay__strlist_add(assay__strlist *list, const char *text);
assay_status assay__strlist_addn(assay__strlist *list, const char *bytes, size_t count);
/* Appends the parts of `text` between `separator`s, blanks around them trimmed.
 * An empty part is ASSAY_INVALID ("a,,b", "a,"); then nothing was added. */
assay_status assay__strlist_split(assay__strlist *list, const char *text, char separator);
bool assay__strlist_has(const assay__strlist *list, const char *text);
/* "a, b, c"; caller frees. */
assay_status assay__strlist_join(const assay__strlist *list, const char *separator, char **out);

/* Edit distance with insertions, deletions, substitutions and swaps of neighbours (optimal
 * string alignment). Only the first 64 bytes of each word count. */
size_t assay__edit_distance(const char *left, const char *right);

/* The name closest to `word`, or NULL when none is close enough to be a likely typing error
 * (distance at most 1 + length/4, and below the length). Ties: the first. Borrowed. */
const char *assay__nearest(const char *word, const char *const *names, size_t count);

/* fnmatch with `*`, `?`, `[...]`; the whole text must match. */
bool assay__glob_match(const char *pattern, const char *text);
/* True when any pattern of the list matches; an empty list matches everything. */
bool assay__glob_any(const assay__strlist *patterns, const char *text);
/* The first pattern that matches none of the names, NULL when each matches one. *near: what it may
 * have meant, or NULL. Borrowed. */
const char *assay__glob_idle(const char *const *patterns, size_t pattern_count,
                             const char *const *names, size_t count, const char **near);

/* Decodes one character at `text` (at most `size` bytes are read). Returns its length in
 * bytes, or 0 when the bytes are no valid UTF-8 (overlong forms and surrogates are invalid). */
size_t assay__utf8_decode(const char *text, size_t size, uint32_t *code);
/* Offset of the first invalid byte, or `size` when all is valid UTF-8. */
size_t assay__utf8_check(const char *text, size_t size);
/* Is the character one that a terminal shows, none that it obeys? */
bool assay__is_shown(uint32_t code);
/* Text of unknown origin (files, plug-ins, stores, errors about them) for a terminal or a log, in
 * one line: control characters, signs that turn the direction of writing and bytes that are no
 * UTF-8 become "\\x1b" and the like. */
void assay__str_add_shown(assay__str *str, const char *text);
/* The same into a file; needs no memory. */
void assay__put_shown(FILE *file, const char *text);
/* Columns a terminal needs; an invalid byte counts as one. */
size_t assay__utf8_width(const char *text);

#endif

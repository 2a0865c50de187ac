/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/json.h -- jansson with our rules; the home of <jansson.h>.
 *
 * An unknown is absent: a non-finite number and a NULL text leave their key out (or give null where
 * the caller asks for it). Reals carry 17 significant digits, keys keep the order of insertion,
 * text that is no UTF-8 has the bad bytes replaced by U+FFFD.
 *
 * The put functions return ASSAY_OK or ASSAY_NOMEM and may be or-ed together:
 *     int bad = assay__json_put_int(obj, "n", n) | assay__json_put_real(obj, "lo_ns", lo);
 *
 * The getters take a path: "chosen.kernel", "rejected[2].reason". A missing or wrongly typed
 * value is ASSAY_PARSE with the whole path in the text. */
#ifndef ASSAY_SUPPORT_JSON_H
#define ASSAY_SUPPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/status.h"

assay_status assay__json_put_string(json_t *object, const char *key, const char *text);
assay_status assay__json_put_int(json_t *object, const char *key, int64_t value);
assay_status assay__json_put_real(json_t *object, const char *key, double value);
assay_status assay__json_put_bool(json_t *object, const char *key, bool value);
/* null instead of absent. */
assay_status assay__json_put_real_or_null(json_t *object, const char *key, double value);
assay_status assay__json_put_string_or_null(json_t *object, const char *key, const char *text);
/* Takes `value` over in every case; NULL is ASSAY_NOMEM (what a failed json_object() gives). */
assay_status assay__json_put_take(json_t *object, const char *key, json_t *value);
assay_status assay__json_append_take(json_t *array, json_t *value);
/* A text value, repaired to UTF-8; NULL when out of memory. Caller owns the reference. */
json_t *assay__json_text(const char *text);

/* Whole text; repeated keys, trailing text and NUL bytes are refused: ASSAY_PARSE with
 * "name:line:column: reason". `name` stands for the source. Caller owns `out` (json_decref). */
assay_status assay__json_parse(const char *name, const char *text, size_t size, json_t **out);
/* The same from a file ("-": standard input), at most 256 MiB. */
assay_status assay__json_load(const char *path, json_t **out);

/* Results are borrowed from `root` and written on ASSAY_OK only. A real also takes an integer. */
assay_status assay__json_get_string(const json_t *root, const char *path, const char **out);
assay_status assay__json_get_int(const json_t *root, const char *path, int64_t *out);
assay_status assay__json_get_real(const json_t *root, const char *path, double *out);
assay_status assay__json_get_bool(const json_t *root, const char *path, bool *out);
assay_status assay__json_get_object(const json_t *root, const char *path, json_t **out);
assay_status assay__json_get_array(const json_t *root, const char *path, json_t **out);
/* False for absent, true for anything, null included. */
bool assay__json_has(const json_t *root, const char *path);

/* One line, or indented by two blanks; a line feed is added to a file, none to a text. */
assay_status assay__json_write(const json_t *value, bool is_pretty, FILE *file);
assay_status assay__json_dump(const json_t *value, bool is_pretty, char **out); /* free() it */

#endif

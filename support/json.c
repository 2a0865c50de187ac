/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/json.c -- building, loading and writing JSON through jansson. */
#include "support/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/file.h"
#include "support/str.h"

#define JSON_FILE_CAP ((size_t)256 << 20)

assay_status assay__json_put_take(json_t *object, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(object, key, value) != 0)
        return assay__fail(ASSAY_NOMEM, "out of memory for the JSON field '%s'", key);
    return ASSAY_OK;
}

assay_status assay__json_append_take(json_t *array, json_t *value)
{
    if (value == NULL || json_array_append_new(array, value) != 0)
        return assay__fail(ASSAY_NOMEM, "out of memory for a JSON array");
    return ASSAY_OK;
}

static json_t *repaired_text(const char *text, size_t size)
{
    assay__str fixed = {0};
    json_t *value = NULL;

    for (size_t at = 0; at < size;) {
        const size_t valid = assay__utf8_check(text + at, size - at);
        assay__str_addn(&fixed, text + at, valid);
        at += valid;
        if (at < size) {
            assay__str_add(&fixed, "\xEF\xBF\xBD");
            at++;
        }
    }
    if (!fixed.failed)
        value = json_string(assay__str_text(&fixed));
    assay__str_clear(&fixed);
    return value;
}

json_t *assay__json_text(const char *text)
{
    const size_t size = strlen(text);

    return assay__utf8_check(text, size) == size ? json_string(text) : repaired_text(text, size);
}

assay_status assay__json_put_string(json_t *object, const char *key, const char *text)
{
    return text == NULL ? ASSAY_OK : assay__json_put_take(object, key, assay__json_text(text));
}

assay_status assay__json_put_string_or_null(json_t *object, const char *key, const char *text)
{
    return assay__json_put_take(object, key, text == NULL ? json_null() : assay__json_text(text));
}

assay_status assay__json_put_int(json_t *object, const char *key, int64_t value)
{
    return assay__json_put_take(object, key, json_integer(value));
}

assay_status assay__json_put_real(json_t *object, const char *key, double value)
{
    return isfinite(value) ? assay__json_put_take(object, key, json_real(value)) : ASSAY_OK;
}

assay_status assay__json_put_real_or_null(json_t *object, const char *key, double value)
{
    return assay__json_put_take(object, key, isfinite(value) ? json_real(value) : json_null());
}

assay_status assay__json_put_bool(json_t *object, const char *key, bool value)
{
    return assay__json_put_take(object, key, json_boolean(value));
}

assay_status assay__json_parse(const char *name, const char *text, size_t size, json_t **out)
{
    json_error_t error;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (value == NULL)
        return assay__fail(ASSAY_PARSE, "%s:%d:%d: %s", name, error.line, error.column, error.text);
    *out = value;
    return ASSAY_OK;
}

assay_status assay__json_load(const char *path, json_t **out)
{
    char *data;
    size_t size;

    ASSAY_TRY(assay__file_read(path, JSON_FILE_CAP, &data, &size));
    assay_status status =
        assay__json_parse(strcmp(path, "-") == 0 ? "<stdin>" : path, data, size, out);
    free(data);
    return status;
}

assay_status assay__json_write(const json_t *value, bool is_pretty, FILE *file)
{
    char *text;

    ASSAY_TRY(assay__json_dump(value, is_pretty, &text));
    errno = 0;
    const bool is_written = fputs(text, file) >= 0 && putc('\n', file) != EOF && fflush(file) == 0;
    const int error = errno;
    free(text);
    if (!is_written)
        return assay__fail(ASSAY_IO, "cannot write JSON: %s",
                           error != 0 ? strerror(error) : "write error");
    return ASSAY_OK;
}

/* Beyond ASCII JSON leaves control characters as they are, and a terminal obeys them. */
static assay_status escape_rest(char **text)
{
    const size_t size = strlen(*text);
    assay__str out = {0};
    uint32_t code = 0;

    for (size_t at = 0, len; at < size; at += len) {
        len = assay__utf8_decode(*text + at, size - at, &code);
        if (len > 0 && code != '\n' && !assay__is_shown(code))
            assay__str_addf(&out, "\\u%04x", (unsigned)code);
        else
            assay__str_addn(&out, *text + at, len > 0 ? len : 1);
        len = len > 0 ? len : 1;
    }
    free(*text);
    *text = NULL;
    return assay__str_take(&out, text);
}

static bool has_rest(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x7F)
            return true;
    return false;
}

assay_status assay__json_dump(const json_t *value, bool is_pretty, char **out)
{
    const size_t layout = is_pretty ? JSON_INDENT(2) : JSON_COMPACT;
    char *text = json_dumps(value, layout | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);

    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory while writing JSON");
    if (has_rest(text))
        ASSAY_TRY(escape_rest(&text));
    *out = text;
    return ASSAY_OK;
}

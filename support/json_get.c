/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/json_get.c -- typed JSON getters by path, with the path in every error. */
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/json.h"

#define KEY_CAP 128

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a text",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real",    [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null"};

    return value == NULL ? "absent" : names[json_typeof(value)];
}

/* One step of a path: ".key", "key" or "[3]". Moves `path` behind it; NULL when there is none. */
static json_t *step(const json_t *value, const char **path)
{
    const char *at = *path;
    char key[KEY_CAP];

    if (*at == '[') {
        char *end;
        const size_t index = strtoul(at + 1, &end, 10);
        *path = end + (*end == ']');
        return json_array_get(value, index);
    }
    at += *at == '.';
    const size_t len = strcspn(at, ".[");
    *path = at + len;
    if (len >= sizeof key)
        return NULL;
    memcpy(key, at, len);
    key[len] = '\0';
    return json_object_get(value, key);
}

/* NULL when absent. Never changes what it walks over; jansson's getters only lack const results. */
static json_t *find(const json_t *root, const char *path)
{
    json_t *found = NULL;
    const json_t *at = root;

    while (*path != '\0' && at != NULL) {
        found = step(at, &path);
        at = found;
    }
    return found;
}

static assay_status fail_type(const char *path, const char *wanted, const json_t *found)
{
    if (found == NULL)
        return assay__fail(ASSAY_PARSE, "JSON: '%s' is missing (%s is needed)", path, wanted);
    return assay__fail(ASSAY_PARSE, "JSON: '%s' is %s, not %s", path, type_name(found), wanted);
}

bool assay__json_has(const json_t *root, const char *path)
{
    return find(root, path) != NULL;
}

assay_status assay__json_get_string(const json_t *root, const char *path, const char **out)
{
    json_t *found = find(root, path);

    if (!json_is_string(found))
        return fail_type(path, "a text", found);
    *out = json_string_value(found);
    return ASSAY_OK;
}

assay_status assay__json_get_int(const json_t *root, const char *path, int64_t *out)
{
    json_t *found = find(root, path);

    if (!json_is_integer(found))
        return fail_type(path, "an integer", found);
    *out = json_integer_value(found);
    return ASSAY_OK;
}

assay_status assay__json_get_real(const json_t *root, const char *path, double *out)
{
    json_t *found = find(root, path);

    if (!json_is_number(found))
        return fail_type(path, "a number", found);
    *out = json_number_value(found);
    return ASSAY_OK;
}

assay_status assay__json_get_bool(const json_t *root, const char *path, bool *out)
{
    json_t *found = find(root, path);

    if (!json_is_boolean(found))
        return fail_type(path, "true or false", found);
    *out = json_is_true(found);
    return ASSAY_OK;
}

assay_status assay__json_get_object(const json_t *root, const char *path, json_t **out)
{
    json_t *found = find(root, path);

    if (!json_is_object(found))
        return fail_type(path, "an object", found);
    *out = found;
    return ASSAY_OK;
}

assay_status assay__json_get_array(const json_t *root, const char *path, json_t **out)
{
    json_t *found = find(root, path);

    if (!json_is_array(found))
        return fail_type(path, "an array", found);
    *out = found;
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/revision.c -- revisions of kernels and variants, and the digest of claims. */
#include "runtime/revision.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/digest.h"
#include "runtime/error.h"

#define MAX_LINES 64

enum {
    TAG_CODE = 1,
    TAG_BUILD_ID,
    TAG_LIBRARY,
    TAG_SONAME,
    TAG_VERSION,
    TAG_LIBRARY_BUILD_ID,
    TAG_CONFIG,
    TAG_FILE_VERSION,
    TAG_COMPILER,
    TAG_OP,
    TAG_DTYPES,
    TAG_BACKEND,
    TAG_ENTRY_POINT,
    TAG_ABI,
    TAG_KERNEL,
    TAG_TUNABLE,
    TAG_VALUE,
    TAG_CLAIM,
    TAG_NAME,
    TAG_ERROR_TILE,
    TAG_ERROR_FACTOR
};

typedef struct span {
    const char *text;
    size_t length;
} span;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static span trim(const char *text, size_t length)
{
    while (length > 0 && is_space(text[length - 1]))
        length--;
    while (length > 0 && is_space(*text)) {
        text++;
        length--;
    }
    return (span){text, length};
}

static span trimmed(const char *text)
{
    return text == NULL ? (span){"", 0} : trim(text, strlen(text));
}

static int span_compare(span a, span b)
{
    int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);

    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int span_order(const void *a, const void *b)
{
    return span_compare(*(const span *)a, *(const span *)b);
}

static void hash_trimmed(assay__hasher *hasher, uint8_t tag, const char *text)
{
    span s = trimmed(text);

    assay__hash_field(hasher, tag, s.text, s.length);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int digest_order(const void *a, const void *b)
{
    return assay_digest_compare(a, b);
}

static void library_digest(const assay__revision_library *library, assay_digest *out)
{
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-library-1");
    hash_trimmed(&hasher, TAG_SONAME, library->soname);
    hash_trimmed(&hasher, TAG_VERSION, library->version);
    hash_trimmed(&hasher, TAG_LIBRARY_BUILD_ID, library->build_id);
    hash_trimmed(&hasher, TAG_CONFIG, library->config);
    if (library->build_id == NULL || strcmp(library->build_id, "unknown") == 0)
        hash_trimmed(&hasher, TAG_FILE_VERSION, library->file_version);
    assay__hash_final(&hasher, out);
}

/* Sorts in place: sets of digests have one order whatever order they came in. */
static void hash_set(assay__hasher *hasher, uint8_t tag, assay_digest *set, size_t count)
{
    qsort(set, count, sizeof *set, digest_order);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !assay_digest_equal(&set[i], &set[i - 1]))
            assay__hash_digest(hasher, tag, &set[i]);
}

static assay_status check_input(const assay__revision_input *in)
{
    const struct {
        const char *name, *text;
    } needed[] = {{"op", in->op},
                  {"dtypes", in->dtypes},
                  {"backend", in->backend},
                  {"kernel name", in->kernel},
                  {"entry point", in->entry_point}};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (trimmed(needed[i].text).length == 0)
            return assay__fail(ASSAY_INVALID, "revision: %s is absent", needed[i].name);
    if (in->code_count == 0 && trimmed(in->build_id).length == 0)
        return assay__fail(
            ASSAY_INVALID,
            "revision of %s: neither source hashes nor a build-id; list the kernel's "
            "sources or link the plug-in with --build-id",
            in->entry_point);
    for (size_t i = 0; i < in->library_count; i++)
        if (trimmed(in->libraries[i].soname).length == 0)
            return assay__fail(ASSAY_INVALID, "revision of %s: library %zu has no SONAME",
                               in->entry_point, i);
    return ASSAY_OK;
}

assay_status assay__revision_compute(const assay__revision_input *in, assay_digest *out)
{
    assay__hasher hasher;

    ASSAY_TRY(check_input(in));
    size_t larger = in->code_count > in->library_count ? in->code_count : in->library_count;
    assay_digest *set = calloc(larger + 1, sizeof *set);
    if (set == NULL)
        return assay__fail(ASSAY_NOMEM, "revision of %s: out of memory", in->entry_point);
    assay__hash_init(&hasher, "assay-revision-2");
    for (size_t i = 0; i < in->code_count; i++)
        set[i] = in->code[i];
    hash_set(&hasher, TAG_CODE, set, in->code_count);
    hash_trimmed(&hasher, TAG_BUILD_ID, in->build_id);
    for (size_t i = 0; i < in->library_count; i++)
        library_digest(&in->libraries[i], &set[i]);
    hash_set(&hasher, TAG_LIBRARY, set, in->library_count);
    hash_trimmed(&hasher, TAG_COMPILER, in->compiler);
    hash_trimmed(&hasher, TAG_OP, in->op);
    hash_trimmed(&hasher, TAG_DTYPES, in->dtypes);
    hash_trimmed(&hasher, TAG_BACKEND, in->backend);
    hash_trimmed(&hasher, TAG_NAME, in->kernel);
    hash_trimmed(&hasher, TAG_ENTRY_POINT, in->entry_point);
    assay__hash_u64(&hasher, TAG_ABI, in->abi_version);
    if (in->error_tile > 0) {
        uint64_t bits;
        memcpy(&bits, &in->error_factor, sizeof bits);
        assay__hash_u64(&hasher, TAG_ERROR_TILE, in->error_tile);
        assay__hash_u64(&hasher, TAG_ERROR_FACTOR, bits);
    }
    assay__hash_final(&hasher, out);
    free(set);
    return ASSAY_OK;
}

/* ---- libraries ------------------------------------------------------------------------------- */

/* Appends text and a NUL at *used; NULL: no room. */
static char *store(char *buf, size_t cap, size_t *used, span s, char end)
{
    char *at = buf + *used;

    if (s.length >= cap - *used)
        return NULL;
    memcpy(at, s.text, s.length);
    at[s.length] = end;
    *used += s.length + 1;
    return at;
}

/* The field of *out that a key=value line fills; NULL: it is configuration. */
static const char **known_key(assay__revision_library *out, span key)
{
    const struct {
        const char *name;
        const char **field;
    } keys[] = {{"soname", &out->soname},
                {"version", &out->version},
                {"build_id", &out->build_id},
                {"file_version", &out->file_version}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (span_compare(key, trimmed(keys[i].name)) == 0)
            return keys[i].field;
    return NULL;
}

/* Sorted trimmed lines that are not empty.  Returns their number, MAX_LINES + 1 for too many. */
static size_t split_lines(const char *text, span lines[MAX_LINES])
{
    size_t count = 0;

    for (const char *next; *text != '\0'; text = next) {
        size_t length = strcspn(text, "\n");
        next = text + length + (text[length] == '\n');
        span line = trim(text, length);
        if (line.length == 0)
            continue;
        if (count == MAX_LINES)
            return MAX_LINES + 1;
        lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, span_order);
    return count;
}

static assay_status library_line(span line, char *buf, size_t cap, size_t *used,
                                 assay__revision_library *library)
{
    const char *equals = memchr(line.text, '=', line.length);

    if (equals == NULL || equals == line.text)
        return assay__fail(ASSAY_PARSE, "library identity: '%.*s' is not key=value",
                           (int)line.length, line.text);
    size_t key_length = (size_t)(equals - line.text);
    const char **field = known_key(library, trim(line.text, key_length));
    if (field == NULL)
        return ASSAY_OK;
    if (*field != NULL)
        return assay__fail(ASSAY_PARSE, "library identity: '%.*s' repeats its key",
                           (int)line.length, line.text);
    *field = store(buf, cap, used, trim(equals + 1, line.length - key_length - 1), '\0');
    return *field != NULL ? ASSAY_OK
                          : assay__fail(ASSAY_OVERFLOW, "library identity: longer than %zu", cap);
}

assay_status assay__revision_library_parse(const char *text, char *buf, size_t cap,
                                           assay__revision_library *out)
{
    span lines[MAX_LINES];
    assay__revision_library library = {0};
    size_t used = 0, config = 0;
    size_t count = split_lines(text, lines);

    if (count > MAX_LINES || cap == 0)
        return assay__fail(ASSAY_OVERFLOW, "library identity: more than %d lines", MAX_LINES);
    for (size_t i = 0; i < count; i++)
        ASSAY_TRY(library_line(lines[i], buf, cap, &used, &library));
    config = used;
    for (size_t i = 0; i < count; i++) {
        size_t key_length = strcspn(lines[i].text, "=");
        if (known_key(&library, trim(lines[i].text, key_length)) == NULL &&
            store(buf, cap, &used, lines[i], '\n') == NULL)
            return assay__fail(ASSAY_OVERFLOW, "library identity: longer than %zu", cap);
    }
    if (store(buf, cap, &used, (span){"", 0}, '\0') == NULL)
        return assay__fail(ASSAY_OVERFLOW, "library identity: longer than %zu", cap);
    library.config = buf + config;
    *out = library;
    return ASSAY_OK;
}

/* ---- variants and claims --------------------------------------------------------------------- */

assay_status assay__variant_revision(const assay_digest *kernel, const assay_tunable *tunables,
                                     const int64_t *values, size_t count, assay_digest *out)
{
    size_t order[ASSAY_MAX_TUNABLES];
    assay__hasher hasher;

    if (count > ASSAY_MAX_TUNABLES)
        return assay__fail(ASSAY_INVALID, "variant: %zu tunables, at most %d", count,
                           ASSAY_MAX_TUNABLES);
    for (size_t i = 0; i < count; i++) { /* insertion sort of at most 8 */
        size_t at = i;
        for (; at > 0 && strcmp(tunables[order[at - 1]].name, tunables[i].name) > 0; at--)
            order[at] = order[at - 1];
        if (at > 0 && strcmp(tunables[order[at - 1]].name, tunables[i].name) == 0)
            return assay__fail(ASSAY_INVALID, "variant: tunable '%s' twice", tunables[i].name);
        order[at] = i;
    }
    assay__hash_init(&hasher, "assay-variant-1");
    assay__hash_digest(&hasher, TAG_KERNEL, kernel);
    for (size_t i = 0; i < count; i++) {
        assay__hash_string(&hasher, TAG_TUNABLE, tunables[order[i]].name);
        assay__hash_u64(&hasher, TAG_VALUE, (uint64_t)values[order[i]]);
    }
    assay__hash_final(&hasher, out);
    return ASSAY_OK;
}

void assay__claims_digest(const assay_claims *claims, assay_digest *out)
{
    const double numbers[] = {claims->max_ulp, claims->max_rho, claims->max_rel, claims->max_abs};
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-claims-1");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bool claimed = numbers[i] >= 0.0;                /* false for NaN */
        double value = claimed ? numbers[i] + 0.0 : 0.0; /* -0 becomes 0 */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        assay__hash_field(&hasher, TAG_CLAIM, NULL, 0);
        if (claimed)
            assay__hash_u64(&hasher, TAG_VALUE, bits);
    }
    assay__hash_u64(&hasher, TAG_CLAIM, (uint64_t)claims->stability);
    assay__hash_final(&hasher, out);
}

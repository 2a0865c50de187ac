/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peaks_script.c -- see peaks_script.h. */
#include "tuner/peaks_script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

static const char *unit_of(const char *name)
{
    static const struct {
        const char *begins, *unit;
    } units[] = {
        {"copy_", "byte/ns"}, {"load_", "byte/ns"}, {"store_", "byte/ns"}, {"launch_", "call/ns"}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(name, units[i].begins, strlen(units[i].begins)) == 0)
            return units[i].unit;
    return "flop/ns";
}

static assay_status take_word(char *word, json_t *list, json_t *reply)
{
    char *value = strchr(word, '='), *end;
    double real;

    if (value == NULL)
        return assay__fail(ASSAY_PARSE, "scripted peaks: '%s' is not name=value", word);
    *value++ = '\0';
    real = strtod(value, &end);
    if (end == value || *end != '\0' || !(real > 0))
        return assay__fail(ASSAY_PARSE, "scripted peaks: '%s' of '%s' is no number above zero",
                           value, word);
    if (strcmp(word, "cache_bytes") == 0)
        return assay__json_put_real(reply, word, real);
    json_t *row =
        json_pack("{s:s, s:s, s:[f]}", "name", word, "unit", unit_of(word), "samples", real);
    return assay__json_append_take(list, row);
}

/* The first line goes out of the file while others follow it. */
static assay_status next_line(const char *path, bool keep, char *line, size_t cap)
{
    char rest[4096];
    FILE *f = fopen(path, "r");
    size_t n;

    if (f == NULL || fgets(line, (int)cap, f) == NULL) {
        if (f != NULL)
            (void)fclose(f);
        return assay__fail(ASSAY_PARSE, "scripted peaks: cannot read %s", path);
    }
    n = fread(rest, 1, sizeof rest, f);
    (void)fclose(f);
    line[strcspn(line, "\n")] = '\0';
    if (n == 0 || keep)
        return ASSAY_OK;
    f = fopen(path, "w");
    if (f == NULL || fwrite(rest, 1, n, f) != n || fclose(f) != 0)
        return assay__fail(ASSAY_PARSE, "scripted peaks: cannot write %s: %s", path,
                           strerror(errno));
    return ASSAY_OK;
}

assay_status assay__peaks_scripted(const char *path, bool spot, json_t *reply)
{
    json_t *list = json_array();
    char line[2048];
    char *rest = line;

    ASSAY_TRY(assay__json_put_take(reply, "peaks", list));
    ASSAY_TRY(next_line(path, spot, line, sizeof line));
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        if (word[0] != '\0')
            ASSAY_TRY(take_word(word, list, reply));
    return ASSAY_OK;
}

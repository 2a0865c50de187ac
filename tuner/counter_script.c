/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/counter_script.c -- counts of a scripted machine, for tests; see counters.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/counters.h"

static char counting[256]; /* "1/2/3" of the event at hand */
static size_t ends;        /* of all counting so far */

/* The text behind "event=" in the script; false: it is not there. */
static bool find(const char *event, char *out, size_t cap)
{
    const char *at = getenv("ASSAY_FAKE_COUNTERS");
    const size_t length = strlen(event);

    for (; at != NULL && *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, event, length) == 0 && at[length] == '=') {
            const char *value = at + length + 1;
            (void)snprintf(out, cap, "%.*s", (int)strcspn(value, " "), value);
            return true;
        }
    return false;
}

static bool begin(const char *event, char *why, size_t cap)
{
    if (!find(event, counting, sizeof counting)) {
        (void)snprintf(why, cap, "not in the script");
        return false;
    }
    if (counting[0] == '!') {
        (void)snprintf(why, cap, "%s", counting + 1);
        return false;
    }
    return true;
}

static bool end(double *count, char *why, size_t cap)
{
    size_t values = 1;
    const char *at = counting;
    char *stop;

    for (const char *c = counting; *c != '\0'; c++)
        values += *c == '/';
    for (size_t skip = ends++ % values; skip > 0; skip--)
        at = strchr(at, '/') + 1;
    *count = strtod(at, &stop);
    if (stop != at && (*stop == '\0' || *stop == '/'))
        return true;
    (void)snprintf(why, cap, "'%s' in the script is no number", at);
    return false;
}

const assay__counter_source assay__counter_script = {"script", begin, end};

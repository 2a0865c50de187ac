/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/switches.c -- see switches.h. */
#include "tuner/switches.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/error.h"

static long count_now(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

assay_status assay__switches_get(assay__switches *out)
{
    const char *script = getenv("ASSAY_FAKE_SWITCHES");

    if (script != NULL && (script[0] == '\0' || script[strspn(script, "0123456789")] != '\0'))
        return assay__fail(ASSAY_PARSE, "scripted switches: '%s' is not digits alone", script);
    *out = (assay__switches){.script = script};
    return ASSAY_OK;
}

void assay__switches_begin(assay__switches *s)
{
    if (s->script == NULL)
        s->before = count_now();
}

long assay__switches_more(assay__switches *s)
{
    const long before = s->before;

    if (s->script == NULL) {
        s->before = count_now();
        return s->before - before;
    }
    const long digit = s->script[0] - '0';
    if (s->script[1] != '\0')
        s->script++;
    return digit;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/policy.c -- the text of a measurement policy, both ways. */
#include <stdio.h>
#include <string.h>

#include "assay/pick.h"
#include "runtime/error.h"

static const char *const cache_names[] = {"rotate", "hot"};
static const char *const load_names[] = {"alone", "busy"};
static const char *const span_names[] = {"kernel", "call"};

/* Reads one of two names up to '/' or the end. */
static bool take_name(const char **text, const char *const names[2], uint8_t *out)
{
    size_t length = strcspn(*text, "/");

    for (uint8_t i = 0; i < 2; i++)
        if (strlen(names[i]) == length && memcmp(names[i], *text, length) == 0) {
            *text += length;
            *out = i;
            return true;
        }
    return false;
}

assay_status assay_policy_parse(const char *text, assay_policy *out)
{
    const char *at = text != NULL ? text : "";
    assay_policy p;

    if (!take_name(&at, cache_names, &p.cache) || *at++ != '/' ||
        !take_name(&at, load_names, &p.load) || *at++ != '/' ||
        !take_name(&at, span_names, &p.span) || *at != '\0')
        return assay__fail(ASSAY_PARSE,
                           "policy '%s' is not cache/load/span with rotate or hot, alone or busy, "
                           "kernel or call",
                           text != NULL ? text : "");
    *out = p;
    return ASSAY_OK;
}

size_t assay_policy_format(assay_policy policy, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/%s/%s", cache_names[policy.cache & 1],
                     load_names[policy.load & 1], span_names[policy.span & 1]);

    return n > 0 && (size_t)n < cap ? (size_t)n : 0;
}

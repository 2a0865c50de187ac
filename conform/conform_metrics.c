/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_metrics.c -- rules on counters. */
#include <stdlib.h>
#include <string.h>

#include "conform/conform.h"

enum { MOST = 512 };

static bool is_named(const char *name)
{
    return name != NULL && name[0] >= 'a' && name[0] <= 'z' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static bool grows(const char *name)
{
    const size_t length = strlen(name), tail = sizeof "_total" - 1;

    return length > tail && strcmp(name + length - tail, "_total") == 0;
}

assay__conform_verdict assay__conform_metrics_are_named(assay__conform *c)
{
    assay_metric list[MOST], again[MOST];
    size_t count = 0, fewer = 0, same = 0;

    ASSAY__FINE(assay_engine_metrics(c->engine, NULL, 0, &count));
    ASSAY__HOLDS(count > 0 && count <= MOST, "it counts %zu things", count);
    ASSAY__FINE(assay_engine_metrics(c->engine, list, MOST, &same));
    ASSAY__HOLDS(same == count, "it counts %zu things, and then %zu", count, same);
    for (size_t i = 0; i < count; i++) {
        ASSAY__HOLDS(is_named(list[i].name), "name %zu, '%.60s', is not of [a-z][a-z0-9_]*", i,
                     list[i].name != NULL ? list[i].name : "");
        ASSAY__HOLDS(i == 0 || strcmp(list[i - 1].name, list[i].name) < 0,
                     "'%s' and '%s' are not sorted, or one name twice", list[i - 1].name,
                     list[i].name);
    }
    memset(again, 0, sizeof again);
    ASSAY__FINE(assay_engine_metrics(c->engine, again, 1, &fewer));
    ASSAY__HOLDS(fewer == count && again[1].name == NULL,
                 "asked for one counter it says %zu, or wrote more than one", fewer);
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict use_everything(assay__conform *c)
{
    unsigned char bytes[64] = {0};
    assay_buffer a = {.owner = 0}, b = {.owner = 0};

    ASSAY__FINE(assay_engine_alloc(c->engine, sizeof bytes, 0, &a));
    ASSAY__FINE(assay_engine_alloc(c->engine, sizeof bytes, 0, &b));
    ASSAY__FINE(assay_engine_upload(c->engine, a, bytes, sizeof bytes));
    ASSAY__FINE(assay_engine_copy(c->engine, b, 0, a, 0, sizeof bytes));
    ASSAY__FINE(assay_engine_fill(c->engine, b, 0, sizeof bytes, 1));
    ASSAY__FINE(assay_engine_download(c->engine, bytes, b, sizeof bytes));
    ASSAY__FINE(assay_engine_free(c->engine, a));
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_metrics_never_fall(assay__conform *c)
{
    assay_metric before[MOST], after[MOST];
    size_t count = 0, same = 0;

    for (int round = 0; round < 3; round++) {
        ASSAY__FINE(assay_engine_metrics(c->engine, before, MOST, &count));
        ASSAY__PART(use_everything(c));
        ASSAY__FINE(assay_engine_metrics(c->engine, after, MOST, &same));
        ASSAY__HOLDS(same == count, "it counts %zu things, and later %zu", count, same);
        for (size_t i = 0; i < count && i < MOST; i++) {
            ASSAY__HOLDS(strcmp(before[i].name, after[i].name) == 0, "'%s' is called '%s' later",
                         before[i].name, after[i].name);
            ASSAY__HOLDS(!grows(before[i].name) || before[i].value <= after[i].value,
                         "%s falls from %llu to %llu", before[i].name,
                         (unsigned long long)before[i].value, (unsigned long long)after[i].value);
        }
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_metrics_text(assay__conform *c)
{
    const size_t length = assay_engine_metrics_text(c->engine, NULL, 0);
    char *text = calloc(1, length + 64);

    ASSAY__HOLDS(text != NULL, "no memory");
    const size_t again = assay_engine_metrics_text(c->engine, text, length + 64);
    const size_t written = strlen(text);
    const bool ends = written >= 6 && strcmp(text + written - 6, "# EOF\n") == 0;
    free(text);
    ASSAY__HOLDS(again == length && written == length, "a text of %zu bytes has lengths %zu, %zu",
                 written, length, again);
    ASSAY__HOLDS(ends, "its text does not end in '# EOF'");
    return ASSAY__CONFORM_PASS;
}

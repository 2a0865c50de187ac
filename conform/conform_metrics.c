/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_metrics.c -- rules on counters. */
#include <stdlib.h>
#include <string.h>

#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"
#include "tuner/worker_sense.h"

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

/* A launch, and one in a queue, where there are any. */
static assay__conform_verdict launch_some(assay__conform *c)
{
    assay_queue *queue = NULL;
    assay__conform_work w;

    const assay__conform_verdict works = assay__conform_work_make(c, 16, &w);
    if (works != ASSAY__CONFORM_PASS)
        return works == ASSAY__CONFORM_SKIP ? ASSAY__CONFORM_PASS : works;
    ASSAY__FINE(assay__conform_work_run(c->engine, &w, NULL));
    if (assay_engine_supports(c->engine, ASSAY_FEATURE_ASYNC_COMPUTE)) {
        ASSAY__FINE(assay_engine_queue_create(c->engine, &queue));
        ASSAY__FINE(assay__conform_work_run(c->engine, &w, queue));
        ASSAY__FINE(assay_engine_queue_wait(c->engine, queue));
        ASSAY__FINE(assay_engine_queue_destroy(c->engine, &queue));
    }
    ASSAY__FINE(assay_engine_free(c->engine, w.a));
    ASSAY__FINE(assay_engine_free(c->engine, w.y));
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
    return launch_some(c);
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

/* Rounds that leave all as it was: a state comes back to what it was, a sum does not.  A reading of
 * a sensor does as it likes: a device that is at work grows warm all the while. */
assay__conform_verdict assay__conform_metrics_that_grow_are_totals(assay__conform *c)
{
    enum { ROUNDS = 6 };
    assay_metric before[MOST], after[MOST];
    bool has_grown[MOST];
    size_t count = 0, same = 0;

    ASSAY__PART(use_everything(c)); /* what is made once is there */
    memset(has_grown, true, sizeof has_grown);
    for (int round = 0; round < ROUNDS; round++) {
        ASSAY__FINE(assay_engine_metrics(c->engine, before, MOST, &count));
        ASSAY__PART(use_everything(c));
        ASSAY__FINE(assay_engine_metrics(c->engine, after, MOST, &same));
        ASSAY__HOLDS(same == count, "it counts %zu things, and later %zu", count, same);
        for (size_t i = 0; i < count && i < MOST; i++)
            has_grown[i] = has_grown[i] && after[i].value > before[i].value;
    }
    for (size_t i = 0; i < count && i < MOST; i++)
        ASSAY__HOLDS(!has_grown[i] || grows(after[i].name) || assay__sense_is_sensor(after[i].name),
                     "'%s' only grows; its name is to end in _total", after[i].name);
    return ASSAY__CONFORM_PASS;
}

/* Of the slot itself, whose list an engine sorts with its own. */
static assay__conform_verdict try_cap(assay__conform *c, const assay_metric *all, size_t count,
                                      size_t cap)
{
    static const char mark[] = "mark";
    assay_metric list[MOST + 2];
    size_t told = 0;

    for (size_t i = 0; i < MOST + 2; i++)
        list[i] = (assay_metric){mark, 77};
    ASSAY__FINE(assay__backend_metrics(&c->engine->backend, list, cap, &told));
    ASSAY__HOLDS(told == count, "metrics says that there are %zu; with room for %zu it says %zu",
                 count, cap, told);
    for (size_t i = 0; i < cap && i < count; i++)
        ASSAY__HOLDS(list[i].name != NULL && strcmp(list[i].name, all[i].name) == 0,
                     "with room for %zu metrics number %zu is '%.60s', else '%.60s'", cap, i,
                     list[i].name != NULL ? list[i].name : "", all[i].name);
    for (size_t i = cap < count ? cap : count; i < MOST + 2; i++)
        ASSAY__HOLDS(list[i].name == mark && list[i].value == 77,
                     "with room for %zu metrics it wrote number %zu", cap, i);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_metrics_keep_to_cap(assay__conform *c)
{
    assay_metric all[MOST];
    size_t count = 0, told = 0;

    if (!ASSAY__HAS_SLOT(c, metrics))
        return assay__conform_skip(c, "the backend has no metrics");
    ASSAY__FINE(assay__backend_metrics(&c->engine->backend, NULL, 0, &count));
    ASSAY__HOLDS(count <= MOST, "it counts %zu things", count);
    ASSAY__FINE(assay__backend_metrics(&c->engine->backend, all, MOST, &told));
    ASSAY__HOLDS(told == count, "metrics says that there are %zu, and then %zu", count, told);
    for (size_t i = 0; i < count; i++)
        ASSAY__HOLDS(is_named(all[i].name), "name %zu, '%.60s', is not of [a-z][a-z0-9_]*", i,
                     all[i].name != NULL ? all[i].name : "");
    for (size_t cap = 0; cap <= count + 2 && cap <= MOST; cap++)
        ASSAY__PART(try_cap(c, all, count, cap));
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

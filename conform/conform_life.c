/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_life.c -- rules on the life of an engine. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "conform/conform.h"

/* Backend null counts as initialised always. */
static bool lives_always(const assay__conform *c)
{
    return strcmp(c->backend, "null") == 0;
}
#define NOT_OF_NULL                                                                    \
    do {                                                                               \
        if (lives_always(c))                                                           \
            return assay__conform_skip(c, "the backend counts as initialised always"); \
    } while (0)

assay__conform_verdict assay__conform_life_identity(assay__conform *c)
{
    char text[512], cut[8];

    ASSAY__HOLDS(strcmp(assay_engine_name(c->engine), c->backend) == 0, "its name is '%s'",
                 assay_engine_name(c->engine));
    ASSAY__HOLDS(assay_engine_version(c->engine)[0] != '\0', "its version is empty");
    const size_t length = assay_engine_describe(c->engine, text, sizeof text);
    ASSAY__HOLDS(length < sizeof text && strlen(text) == length,
                 "a description of %zu bytes has a length of %zu", strlen(text), length);
    ASSAY__HOLDS(strchr(text, '\n') == NULL, "its description has several lines");
    ASSAY__HOLDS(strstr(text, c->backend) != NULL, "its description '%s' lacks its name", text);
    ASSAY__HOLDS(assay_engine_describe(c->engine, cut, sizeof cut) == length &&
                     strlen(cut) == sizeof cut - 1,
                 "a description that is cut has another length");
    return ASSAY__CONFORM_PASS;
}

#define CLOSED(call) ASSAY__GIVES(call, ASSAY_NOT_INITIALIZED)

static assay__conform_verdict closed_to_memory(assay__conform *c, assay_engine *e)
{
    const assay_buffer b = {.owner = 1, .size_bytes = 1};
    const assay_transfer piece = {.buffer = b};
    assay_buffer out = b;
    char byte = 0;
    void *host = NULL;

    CLOSED(assay_engine_alloc(e, 1, 0, &out));
    CLOSED(assay_engine_wrap(e, &byte, 1, &out));
    CLOSED(assay_engine_free(e, b));
    CLOSED(assay_engine_upload(e, b, &byte, 1));
    CLOSED(assay_engine_download(e, &byte, b, 1));
    CLOSED(assay_engine_upload_at(e, b, 0, &byte, 1));
    CLOSED(assay_engine_download_at(e, &byte, b, 0, 1));
    CLOSED(assay_engine_upload_many(e, &piece, 1));
    CLOSED(assay_engine_download_many(e, &piece, 1));
    CLOSED(assay_engine_copy(e, b, 0, b, 0, 1));
    CLOSED(assay_engine_fill(e, b, 0, 1, 0));
    CLOSED(assay_engine_map(e, b, &host));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict closed_to_queues(assay__conform *c, assay_engine *e)
{
    assay_queue *queue = NULL;
    assay_event *event = NULL;
    double ns = 0.0;
    bool yes = false;

    CLOSED(assay_engine_queue_create(e, &queue));
    CLOSED(assay_engine_queue_destroy(e, &queue));
    CLOSED(assay_engine_queue_wait(e, queue));
    CLOSED(assay_engine_event_create(e, &event));
    CLOSED(assay_engine_event_destroy(e, &event));
    CLOSED(assay_engine_event_record(e, event, queue));
    CLOSED(assay_engine_event_wait(e, event));
    CLOSED(assay_engine_event_ready(e, event, &yes));
    CLOSED(assay_engine_event_elapsed(e, event, event, &ns));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict closed_to_all(assay__conform *c, assay_engine *e)
{
    const assay_fault fault = {.struct_size = sizeof fault};
    const assay_place p = {.buffer = {.owner = 1, .size_bytes = 4}};
    assay_device_profile profile;
    assay_instance_state state;
    assay_tile tile;
    size_t count = 0;
    bool yes = false;

    CLOSED(assay_engine_prepare(e));
    CLOSED(assay_engine_flush(e));
    CLOSED(assay_engine_synchronize(e));
    CLOSED(assay_engine_recover(e));
    CLOSED(assay_engine_state(e, &state));
    CLOSED(assay_engine_profile(e, &profile));
    CLOSED(assay_engine_require(e, ASSAY_FEATURE_RESIDENT));
    CLOSED(assay_engine_grid_fits(e, 1, 1, &yes));
    CLOSED(assay_engine_inject(e, &fault));
    CLOSED(assay_engine_metrics(e, NULL, 0, &count));
    CLOSED(assay_recommended_tile(e, 1, 1, 1, &tile));
    CLOSED(assay_unary(e, ASSAY_UNARY_EXP, ASSAY_F32, p, p, 1, NULL));
    ASSAY__HOLDS(!assay_engine_is_initialized(e), "it says that it is initialised");
    ASSAY__HOLDS(!assay_engine_is_lost(e), "it says that its device is lost");
    ASSAY__HOLDS(!assay_engine_supports(e, ASSAY_FEATURE_RESIDENT), "it says what it supports");
    ASSAY__PART(closed_to_memory(c, e));
    return closed_to_queues(c, e);
}

assay__conform_verdict assay__conform_life_before_init(assay__conform *c)
{
    NOT_OF_NULL;
    ASSAY__PART(closed_to_all(c, c->engine));
    ASSAY__FINE(assay_engine_shutdown(c->engine));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_after_shutdown(assay__conform *c)
{
    NOT_OF_NULL;
    ASSAY__FINE(assay_engine_shutdown(c->engine));
    ASSAY__FINE(assay_engine_shutdown(c->engine));
    ASSAY__PART(closed_to_all(c, c->engine));
    ASSAY__HOLDS(assay_engine_is_initialized(c->other), "another engine was shut down with it");
    return ASSAY__CONFORM_PASS;
}

/* Changes nothing: buffers stay. */
assay__conform_verdict assay__conform_life_init_twice(assay__conform *c)
{
    const bool keeps = assay_engine_supports(c->engine, ASSAY_FEATURE_RESIDENT);
    assay_buffer b = {.owner = 0};

    if (keeps) {
        ASSAY__FINE(assay_engine_alloc(c->engine, 16, 0, &b));
        ASSAY__FINE(assay_engine_upload(c->engine, b, "0123456789abcdef", 16));
    }
    ASSAY__FINE(assay_engine_init(c->engine, 0));
    ASSAY__HOLDS(assay_engine_is_initialized(c->engine), "it is not initialised any more");
    if (!keeps)
        return ASSAY__CONFORM_PASS;
    ASSAY__PART(
        assay__conform_holds_bytes(c, c->engine, b, "0123456789abcdef", 16, "after a second init"));
    ASSAY__FINE(assay_engine_free(c->engine, b));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_bad_device(assay__conform *c)
{
    size_t count = 0;

    NOT_OF_NULL;
    ASSAY__FINE(assay_engine_devices(c->engine, NULL, 0, &count));
    ASSAY__GIVES(assay_engine_init(c->engine, count), ASSAY_INVALID);
    ASSAY__HOLDS(!assay_engine_is_initialized(c->engine), "a refused init left it initialised");
    ASSAY__FINE(assay_engine_init(c->engine, count - 1));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_devices(assay__conform *c)
{
    assay_device_info info[16];
    size_t count = 0, again = 0;

    ASSAY__FINE(assay_engine_devices(c->engine, NULL, 0, &count));
    ASSAY__HOLDS(count > 0, "it has no device");
    memset(info, 0, sizeof info);
    ASSAY__FINE(assay_engine_devices(c->engine, info, 16, &again));
    ASSAY__HOLDS(again == count, "it has %zu devices, and then %zu", count, again);
    for (size_t i = 0; i < count && i < 16; i++) {
        ASSAY__HOLDS(info[i].name[0] != '\0', "device %zu has no name", i);
        ASSAY__HOLDS(memchr(info[i].name, 0, sizeof info[i].name) != NULL,
                     "the name of device %zu does not end", i);
        ASSAY__HOLDS(info[i].is_cpu <= 1, "device %zu: is_cpu is %u", i, info[i].is_cpu);
    }
    return ASSAY__CONFORM_PASS;
}

static void *init_one(void *cookie)
{
    assay_engine *engine = cookie;

    return assay_engine_init(engine, 0) == ASSAY_OK ? NULL : cookie;
}

assay__conform_verdict assay__conform_life_concurrent_inits(assay__conform *c)
{
    enum { THREADS = 8, ROUNDS = 10 };
    pthread_t threads[THREADS];

    for (int round = 0; round < ROUNDS; round++) {
        assay_engine *e = NULL;
        int started = 0, bad = 0;
        ASSAY__FINE(assay_engine_create(c->context, c->backend, NULL, &e));
        while (started < THREADS && pthread_create(&threads[started], NULL, init_one, e) == 0)
            started++;
        for (int i = 0; i < started; i++) {
            void *failed = NULL;
            pthread_join(threads[i], &failed);
            bad += failed != NULL;
        }
        ASSAY__HOLDS(started > 1, "no threads can be started");
        ASSAY__HOLDS(bad == 0, "%d of %d first inits at once failed", bad, started);
        ASSAY__HOLDS(assay_engine_is_initialized(e), "none of several inits initialised it");
        assay_engine_destroy(&e);
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_prepare(assay__conform *c)
{
    ASSAY__FINE(assay_engine_prepare(c->engine));
    ASSAY__FINE(assay_engine_prepare(c->engine));
    ASSAY__FINE(assay_engine_flush(c->engine));
    ASSAY__FINE(assay_engine_synchronize(c->engine));
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_init_again(assay__conform *c)
{
    for (int round = 0; round < 3; round++) {
        assay_buffer b = {.owner = 0};
        ASSAY__FINE(assay_engine_shutdown(c->engine));
        ASSAY__FINE(assay_engine_init(c->engine, 0));
        if (!assay_engine_supports(c->engine, ASSAY_FEATURE_RESIDENT))
            continue;
        ASSAY__FINE(assay_engine_alloc(c->engine, 8, 0, &b));
        ASSAY__FINE(assay_engine_upload(c->engine, b, "12345678", 8));
        ASSAY__PART(
            assay__conform_holds_bytes(c, c->engine, b, "12345678", 8, "after shutdown and init"));
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_life_state(assay__conform *c)
{
    assay_instance_state state;

    memset(&state, 0, sizeof state);
    ASSAY__FINE(assay_engine_state(c->engine, &state));
    ASSAY__HOLDS(state.generation == 1, "generation %llu after init, not 1",
                 (unsigned long long)state.generation);
    ASSAY__HOLDS(state.is_lost == 0 && !assay_engine_is_lost(c->engine),
                 "the device is lost after init");
    ASSAY__HOLDS(state.live_buffers == 0 && state.live_bytes == 0,
                 "%llu buffers of %llu bytes live after init",
                 (unsigned long long)state.live_buffers, (unsigned long long)state.live_bytes);
    return ASSAY__CONFORM_PASS;
}

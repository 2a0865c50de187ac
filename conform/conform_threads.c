/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_threads.c -- several threads in one engine, each with buffers of its own. */
#include <pthread.h>
#include <string.h>

#include "conform/conform.h"

typedef struct worker {
    assay_engine *engine;
    int value;
    assay_status status; /* the first that is not OK */
    bool is_wrong;       /* other bytes than its own came back */
} worker;

static assay_status one_round(worker *w)
{
    unsigned char up[256], down[256];
    assay_buffer a, b;

    memset(up, w->value, sizeof up);
    ASSAY_TRY(assay_engine_alloc(w->engine, sizeof up, 0, &a));
    ASSAY_TRY(assay_engine_alloc(w->engine, sizeof up, 0, &b));
    ASSAY_TRY(assay_engine_upload(w->engine, a, up, sizeof up));
    ASSAY_TRY(assay_engine_copy(w->engine, b, 0, a, 0, sizeof up));
    ASSAY_TRY(assay_engine_download(w->engine, down, b, sizeof down));
    w->is_wrong = w->is_wrong || memcmp(up, down, sizeof up) != 0;
    ASSAY_TRY(assay_engine_free(w->engine, a));
    return assay_engine_free(w->engine, b);
}

static void *work(void *cookie)
{
    worker *w = cookie;

    for (int round = 0; round < 300 && w->status == ASSAY_OK && !w->is_wrong; round++)
        w->status = one_round(w);
    return NULL;
}

assay__conform_verdict assay__conform_memory_threads(assay__conform *c)
{
    enum { THREADS = 6 };
    worker workers[THREADS];
    pthread_t threads[THREADS];
    int started = 0;

    for (int i = 0; i < THREADS; i++)
        workers[i] = (worker){c->engine, i + 1, ASSAY_OK, false};
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, work, &workers[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < started; i++) {
        ASSAY__HOLDS(workers[i].status == ASSAY_OK, "in one of %d threads a call gave %s", started,
                     assay_status_name(workers[i].status));
        ASSAY__HOLDS(!workers[i].is_wrong, "one of %d threads got the bytes of another", started);
    }
    ASSAY__HOLDS(started > 1, "no threads can be started");
    return ASSAY__CONFORM_PASS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/load.c -- threads that copy memory while they are told to; see load.h. */
#include "tuner/load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

struct assay__load {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t *threads;
    unsigned wanted, started, copying;
    bool on, over;
    atomic_bool pause; /* read between two copies, without the lock */
    _Atomic uint64_t bytes;
};

static void copy_until_paused(assay__load *l, char *from, char *to)
{
    while (!atomic_load_explicit(&l->pause, memory_order_relaxed)) {
        memcpy(to, from, ASSAY__LOAD_BYTES);
        /* Nobody reads the copy: without this a compiler may leave it out. */
        __asm__ volatile("" ::"r"(to) : "memory");
        atomic_fetch_add_explicit(&l->bytes, ASSAY__LOAD_BYTES, memory_order_relaxed);
    }
}

static void *neighbour(void *arg)
{
    assay__load *l = arg;
    char *blocks = malloc(2 * ASSAY__LOAD_BYTES);

    pthread_mutex_lock(&l->lock);
    if (blocks == NULL)
        l->over = true;
    else
        memset(blocks, 1, 2 * ASSAY__LOAD_BYTES);
    l->started++;
    pthread_cond_broadcast(&l->changed);
    while (!l->over) {
        if (!l->on) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        l->copying++;
        pthread_cond_broadcast(&l->changed);
        pthread_mutex_unlock(&l->lock);
        copy_until_paused(l, blocks, blocks + ASSAY__LOAD_BYTES);
        pthread_mutex_lock(&l->lock);
        l->copying--;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    free(blocks);
    return NULL;
}

static assay_status start_threads(assay__load *l)
{
    unsigned made = 0;
    bool over;

    while (made < l->wanted && pthread_create(&l->threads[made], NULL, neighbour, l) == 0)
        made++;
    pthread_mutex_lock(&l->lock);
    while (l->started < made)
        pthread_cond_wait(&l->changed, &l->lock);
    over = l->over;
    pthread_mutex_unlock(&l->lock);
    if (made == l->wanted && !over)
        return ASSAY_OK;
    l->wanted = made;
    return over ? assay__fail(ASSAY_NOMEM, "no memory for a load of %u threads", made)
                : assay__fail(ASSAY_UNAVAILABLE, "thread %u of a load cannot be started", made + 1);
}

assay_status assay__load_start(unsigned threads, assay__load **out)
{
    assay__load *l = calloc(1, sizeof *l);
    assay_status status;

    *out = NULL;
    if (l == NULL)
        return assay__fail(ASSAY_NOMEM, "load");
    l->wanted = threads > 0 ? threads : 1;
    atomic_init(&l->pause, true);
    l->threads = calloc(l->wanted, sizeof *l->threads);
    if (l->threads == NULL) {
        free(l);
        return assay__fail(ASSAY_NOMEM, "load of %u threads", threads);
    }
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    status = start_threads(l);
    if (status != ASSAY_OK)
        assay__load_stop(&l);
    *out = l;
    return status;
}

void assay__load_switch(assay__load *l, bool on)
{
    const unsigned settled = on ? l->wanted : 0;

    pthread_mutex_lock(&l->lock);
    l->on = on;
    atomic_store(&l->pause, !on);
    pthread_cond_broadcast(&l->changed);
    while (l->copying != settled)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

uint64_t assay__load_bytes(const assay__load *l)
{
    return atomic_load(&l->bytes);
}

void assay__load_stop(assay__load **load)
{
    assay__load *l = *load;

    if (l == NULL)
        return;
    pthread_mutex_lock(&l->lock);
    l->over = true;
    l->on = false;
    atomic_store(&l->pause, true);
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->wanted; i++)
        pthread_join(l->threads[i], NULL);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l->threads);
    free(l);
    *load = NULL;
}

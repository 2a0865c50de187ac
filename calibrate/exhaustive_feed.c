/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/exhaustive_feed.c -- see exhaustive_feed.h. */
#include "calibrate/exhaustive_feed.h"

#include "runtime/error.h"

#include <stdio.h>
#include <string.h>

assay_status assay__feed_init(assay__feed *feed, const assay__unary *unary, size_t batch,
                              uint64_t first, uint64_t end)
{
    memset(feed, 0, sizeof *feed);
    feed->unary = unary;
    feed->batch = batch;
    feed->first = first;
    feed->end = end;
    feed->each = unary->piece / batch;
    if (feed->each == 0)
        return assay__fail(ASSAY_INVALID, "exhaustive run: a piece of %zu, batches of %zu",
                           unary->piece, batch);
    if (pthread_mutex_init(&feed->lock, NULL) != 0)
        return assay__fail(ASSAY_NOMEM, "exhaustive run: a lock");
    if (pthread_cond_init(&feed->changed, NULL) != 0) {
        pthread_mutex_destroy(&feed->lock);
        return assay__fail(ASSAY_NOMEM, "exhaustive run: a lock");
    }
    return ASSAY_OK;
}

void assay__feed_clear(assay__feed *feed)
{
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->lock);
}

static uint64_t piece_of(const assay__feed *feed, uint64_t batch)
{
    return (batch - feed->first) / feed->each;
}

/* The lock is held, but not while the device works. */
static void fetch_next(assay__feed *feed)
{
    const assay__unary *u = feed->unary;
    const uint64_t begin = feed->first + feed->fetched * feed->each;
    const uint64_t count = feed->end - begin < feed->each ? feed->end - begin : feed->each;
    const size_t room = (size_t)(feed->fetched % 2);

    feed->is_fetching = true;
    pthread_mutex_unlock(&feed->lock);
    const assay_status status = u->fetch(u->kernel_cookie, begin * feed->batch,
                                         (size_t)count * feed->batch, u->rooms[room]);
    pthread_mutex_lock(&feed->lock);
    feed->is_fetching = false;
    if (status != ASSAY_OK) {
        feed->failed = status;
        (void)snprintf(feed->text, sizeof feed->text, "%s", assay_last_error());
    } else {
        feed->left[room] = count;
        feed->fetched++;
    }
    pthread_cond_broadcast(&feed->changed);
}

/* The next piece, while `piece` is judged: its room is free and there is one. */
static bool can_fetch(const assay__feed *feed, uint64_t piece)
{
    return !feed->is_fetching && feed->fetched <= piece + 1 &&
           feed->first + feed->fetched * feed->each < feed->end &&
           feed->left[feed->fetched % 2] == 0;
}

assay_status assay__feed_take(assay__feed *feed, uint64_t batch, const void **out)
{
    const uint64_t piece = piece_of(feed, batch);
    const size_t bytes = assay_dtype_bytes(feed->unary->output);
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&feed->lock);
    while (feed->failed == ASSAY_OK && (can_fetch(feed, piece) || feed->fetched <= piece))
        if (can_fetch(feed, piece))
            fetch_next(feed);
        else
            pthread_cond_wait(&feed->changed, &feed->lock);
    if (feed->failed != ASSAY_OK)
        status = assay__fail(feed->failed, "%s", feed->text);
    pthread_mutex_unlock(&feed->lock);
    *out = (const char *)feed->unary->rooms[piece % 2] +
           (size_t)((batch - feed->first) % feed->each) * feed->batch * bytes;
    return status;
}

void assay__feed_give(assay__feed *feed, uint64_t batch)
{
    uint64_t *left = &feed->left[piece_of(feed, batch) % 2];

    pthread_mutex_lock(&feed->lock);
    if (--*left == 0)
        pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
}

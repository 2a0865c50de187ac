/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/exhaustive_feed.h -- outputs of a device elsewhere, fetched in large pieces ahead of
 * the threads that judge them batch by batch.
 *
 * Two pieces are there at a time: one is judged, the next on its way.  Whichever thread comes first
 * fetches, one at a time and in order. */
#ifndef ASSAY_CALIBRATE_EXHAUSTIVE_FEED_H
#define ASSAY_CALIBRATE_EXHAUSTIVE_FEED_H

#include "calibrate/exhaustive.h"

#include <pthread.h>

typedef struct assay__feed {
    const assay__unary *unary;
    size_t batch;        /* patterns */
    uint64_t first, end; /* batches */
    uint64_t each;       /* batches of a piece */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t fetched; /* pieces that came so far */
    uint64_t left[2]; /* batches of each room that nobody has given back */
    bool is_fetching;
    assay_status failed; /* of a fetch: nobody gets anything any more */
    char text[512];      /* why, since texts are each thread's own */
} assay__feed;

/* Batches first .. end - 1 of `batch` patterns; `unary`, which has a fetch, is borrowed. */
assay_status assay__feed_init(assay__feed *feed, const assay__unary *unary, size_t batch,
                              uint64_t first, uint64_t end);
void assay__feed_clear(assay__feed *feed);

/* Outputs of a batch, valid until it is given back; waits until they are there.  Batches are taken
 * once each and in order, by any thread; what was taken is given back whatever comes of it. */
assay_status assay__feed_take(assay__feed *feed, uint64_t batch, const void **out);
void assay__feed_give(assay__feed *feed, uint64_t batch);

#endif

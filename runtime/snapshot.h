/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/snapshot.h -- immutable objects published by one writer and read without a lock.
 *
 * A reader writes what it reads into its thread's slot (one cache line), so that the writer can see
 * it; the writer frees a replaced object once no slot has it and every counted hold is gone.
 * Everything between threads goes through C11 atomics, which the thread sanitizer follows.
 * Readers never wait; a reader that stays inside delays freeing, not publishing. */
#ifndef ASSAY_RUNTIME_SNAPSHOT_H
#define ASSAY_RUNTIME_SNAPSHOT_H

#include <stddef.h>

#include "assay/status.h"

typedef struct assay__snap_domain assay__snap_domain; /* one published object at a time */
typedef struct assay__snap_hold assay__snap_hold;     /* a counted reference */

/* What a reader has between acquire and release, on its stack. */
typedef struct assay__snap_ref {
    const void *object; /* NULL: nothing is published */
    void *place;        /* internal */
    assay__snap_hold *counted;
} assay__snap_ref;

assay_status assay__snap_create(assay__snap_domain **out);

/* No thread may be inside; objects that are still held live until their last unhold. */
void assay__snap_destroy(assay__snap_domain **domain);

/* Replaces the published object and frees replaced ones that nobody has.  Takes `object`, also on
 * failure (free_object is then called at once); free_object may be NULL, and may run in any thread
 * that publishes, collects, destroys or drops a hold.  Any thread; writers queue on a mutex.
 * ASSAY_INVALID: no object.  ASSAY_NOMEM. */
assay_status assay__snap_publish(assay__snap_domain *domain, void *object,
                                 void (*free_object)(void *object));

/* Frees replaced objects that nobody has any more; publish does the same. */
void assay__snap_collect(assay__snap_domain *domain);

/* Any thread, nested as deep as wanted (the first four of a thread cost no atomic count).
 * ref->object stays valid until release, by the same thread, in any order. */
void assay__snap_acquire(assay__snap_domain *domain, assay__snap_ref *ref);
void assay__snap_release(assay__snap_ref *ref);

/* A counted reference to the object published now, for a plan to keep for its life; NULL when
 * nothing is published.  unhold accepts NULL and sets it; any thread may call it. */
assay__snap_hold *assay__snap_hold_current(assay__snap_domain *domain);
const void *assay__snap_held(const assay__snap_hold *hold);
void assay__snap_unhold(assay__snap_hold **hold);

/* For tests: places for reader threads made so far.  They are used again after a thread's end. */
size_t assay__snap_slot_count(void);

#endif

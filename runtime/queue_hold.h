/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/queue_hold.h -- keeps a queue from being destroyed while somebody is at it.
 *
 * For files that have defined struct assay_instance (lock, queues, generation, let_go) and struct
 * assay_queue (next, generation, holders, going): those of the host's runtime and those of a
 * device's are different ones. */
#ifndef ASSAY_RUNTIME_QUEUE_HOLD_H
#define ASSAY_RUNTIME_QUEUE_HOLD_H

#include "assay/plugin.h"

/* any_age: one of another generation, too.  FOREIGN: no queue of this instance, or one that is
 * being destroyed; GENERATION: from before a recover.  The texts are the caller's. */
static inline assay_status assay__queue_hold(assay_instance *instance, assay_queue *queue,
                                             bool any_age)
{
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&instance->lock);
    const assay_queue *q = instance->queues;
    while (q != NULL && q != queue)
        q = q->next;
    if (q == NULL || queue->going)
        status = ASSAY_FOREIGN;
    else if (queue->generation != instance->generation && !any_age)
        status = ASSAY_GENERATION;
    else
        queue->holders++;
    pthread_mutex_unlock(&instance->lock);
    return status;
}

/* Lock held. */
static inline void assay__queue_let_go(assay_instance *instance, assay_queue *queue)
{
    if (--queue->holders <= 1) /* he who destroys it holds it, too */
        pthread_cond_broadcast(&instance->let_go);
}

#endif

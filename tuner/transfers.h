/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/transfers.h -- what it costs to move bytes between the host and a backend's memory.
 *
 * Each device with memory of its own, and the host's own memory once, by backend "cpu": upload from
 * pageable memory, download to it, copy within, and the first two again with pinned memory where
 * the backend gives any, each as a program calls it: one call, and a wait until the bytes are
 * there.  Sizes from 4 KiB to 64 MiB, as far as time and memory suffice; all memory was written and
 * one call made before.  Short ones are repeated within a sample, whose value is that of one call.
 * Names are in transfer_price.h. */
#ifndef ASSAY_TUNER_TRANSFERS_H
#define ASSAY_TUNER_TRANSFERS_H

#include "runtime/plugin_set.h"
#include "support/json.h"

/* Bytes of size number `index`, rising; 0: no more. */
uint64_t assay__transfer_size(size_t index);

/* One path between two memories. */
typedef struct assay__transfer_run {
    double (*now_ns)(void *cookie);
    assay_status (*move)(void *cookie, uint64_t bytes); /* returns when they are there */
    void *cookie;
} assay__transfer_run;

/* Appends {bytes, samples: [ns a call]} for each size up to `most`, 7 or 11 samples each: the first
 * in any case, the others while there is time until `end_ns` for all samples of one. */
assay_status assay__transfer_measure(const assay__transfer_run *run, double end_ns, uint64_t most,
                                     json_t *sizes);

/* Takes about `seconds`, shared out over all paths of these backends.  Adds to reply "transfers":
 * [{backend, source, target, owner, from, sizes}]: the deployments of the device that it is of and
 * of its source, {device, architecture, driver}, null of the host's; memories are named as each in
 * rows of its own.  Adds "absent": [{memory, reason}] of those that could not be measured.
 *
 * For tests the machine may be scripted: where $ASSAY_FAKE_PEAKS is set, bytes move, but the time
 * is $ASSAY_FAKE_TRANSFERS="NS NS_PER_BYTE", and without it nothing is measured. */
assay_status assay__transfers_measure(assay__plugins *plugins, double seconds, json_t *reply);
/* false: the script has none. */
bool assay__transfers_wanted(void);

#endif

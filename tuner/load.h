/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/load.h -- a stated load: neighbours that want the CPUs, caches and memory a kernel wants.
 *
 * What the policy's load "busy" means: as many threads as CPUs may be used, each copying
 * ASSAY__LOAD_BYTES from one block to another as often as it gets to.  Functions of one object are
 * not thread-safe among themselves. */
#ifndef ASSAY_TUNER_LOAD_H
#define ASSAY_TUNER_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/status.h"

#define ASSAY__LOAD_BYTES ((size_t)4 << 20)

typedef struct assay__load assay__load;

/* Threads that wait.  ASSAY_NOMEM or ASSAY_UNAVAILABLE leave none behind. */
assay_status assay__load_start(unsigned threads, assay__load **out);
/* Lets them copy, or ends that: returns when each has begun, or will copy no more. */
void assay__load_switch(assay__load *load, bool on);
/* Copied so far by all of them. */
uint64_t assay__load_bytes(const assay__load *load);
void assay__load_stop(assay__load **load);

#endif

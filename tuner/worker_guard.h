/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_guard.h -- keeps what a kernel does to its process from its neighbours: limits of
 * memory, notes of faults, leaks, and the floating-point environment. */
#ifndef ASSAY_TUNER_WORKER_GUARD_H
#define ASSAY_TUNER_WORKER_GUARD_H

#include "support/json.h"

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"
#include "runtime/doing.h"

/* Once, before anything of others is loaded: no core files, dies with its parent, is the first to
 * go when the machine is out of memory. */
void assay__guard_begin(void);

/* Faults are noted there from now on. */
void assay__guard_notes(assay__doing *where);

/* Memory that may be taken beyond what was held when this was called first; a lower limit of the
 * user stays. */
void assay__guard_limit(double bytes);
/* Is little left of it, or of descriptors? */
bool assay__guard_is_spent(void);

/* What a kernel leaves behind from its second call on: hold, then report after so many calls more.
 * The reply gets leaked_bytes and leaked_fds where that is more than what caches and pools of a
 * library take, or something of each of two calls or more. */
typedef struct assay__guard_held {
    double bytes; /* private, writable; NaN not known */
    int fds;      /* open descriptors */
} assay__guard_held;
void assay__guard_hold(assay__guard_held *out);
void assay__guard_report(const assay__guard_held *before, size_t calls, json_t *reply);

/* After a kernel ran, whatever its status: puts the floating-point environment back as it was at
 * the begin.  ASSAY_DEVICE when it was another, so that nobody's results after it would be the
 * same; the reply gets is_spent when little is left of memory or, of calls that were timed, of
 * descriptors: just before timed calls nobody opens and closes any. */
assay_status assay__guard_end(assay_status status, bool was_timed, json_t *reply);
/* The first half alone. */
void assay__guard_restore(void);

#endif

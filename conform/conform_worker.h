/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_worker.h -- the worker's request to try one rule, and the parent's side of it.
 *
 *   conform  rule, backend, plugin_path?     -> verdict [assay__conform_verdict], reason */
#ifndef ASSAY_CONFORM_CONFORM_WORKER_H
#define ASSAY_CONFORM_CONFORM_WORKER_H

#include "conform/conform.h"
#include "tuner/worker.h"

#define ASSAY__CONFORM_LIMIT_MS 60000 /* for a rule; $ASSAY_CHECK_LIMIT_S sets another */

extern const assay__worker_command assay__conform_commands[]; /* ends with a NULL name */

/* In a process of its own, which ends then.  One that crashes or hangs is a rule that FAILs, with
 * how it ended as the reason.  ASSAY_UNAVAILABLE: the backend is not here; ASSAY_INTERRUPTED. */
assay_status assay__conform_try(const char *rule, const char *backend, const char *plugin_path,
                                const volatile int *stop, assay__conform_result *out);

#endif

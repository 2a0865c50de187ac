/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_client.h -- the parent's side of a worker process.
 *
 * A worker is the same program started anew by posix_spawn with the hidden command `__worker`,
 * never a bare fork.  A call that ends in ASSAY_CRASH or ASSAY_TIMEOUT has killed the worker; the
 * text says how it ended ("signal 11 (Segmentation fault)", "exit 0 without a reply", ...) and, as
 * far as that was noted, inside of which code of a plug-in. */
#ifndef ASSAY_TUNER_WORKER_CLIENT_H
#define ASSAY_TUNER_WORKER_CLIENT_H

#include "support/json.h"
#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"
#include "runtime/doing.h"
#include "runtime/plugin_set.h"

typedef struct assay__worker assay__worker;

typedef struct assay__worker_options {
    const char *program;     /* NULL: /proc/self/exe */
    const char *plugin_path; /* NULL: the usual search */
    const char *backends;    /* comma list, NULL: all */
    const volatile int *stop;
    const assay__plugin_refusal *refused; /* plug-ins that it is not to load */
    size_t refused_count;
    int load_ms;        /* limit for loading them; 0: 30 s */
    assay__doing *fate; /* NULL, or set by each call: what a worker that died was inside of */
} assay__worker_options;

assay_status assay__worker_start(const assay__worker_options *options, assay__worker **out);
void assay__worker_stop(assay__worker **worker);

/* Sends `request` (taken) with descriptors (borrowed) and waits for the reply (caller owns).  A
 * reply with "status" other than 0 becomes that status and its "error" text; *reply stays NULL. */
assay_status assay__worker_call(assay__worker *worker, json_t *request, const int *fds,
                                size_t fd_count, int timeout_ms, json_t **reply);
bool assay__worker_alive(const assay__worker *worker);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/environment.h -- the host's state around a stay: what is recorded, and what it means. */
#ifndef ASSAY_TUNER_ENVIRONMENT_H
#define ASSAY_TUNER_ENVIRONMENT_H

#include <stdbool.h>

#include "assay/status.h"
#include "runtime/context_record.h"

typedef struct assay__environment {
    bool is_open; /* false: the rest means nothing */
    assay__context_source source;
    assay__context_record before;
} assay__environment;

void assay__environment_open(assay__environment *e);
void assay__environment_close(assay__environment *e);
/* A stay begins. */
void assay__environment_begin(assay__environment *e);

/* It has ended: {"before":{...},"after":{what changed},"worker":{...},"device":{...}} for the
 * record, which the caller frees, and the words (runtime/noise_words.h) for what the machine did
 * meanwhile.  worker, device: what the worker says of itself and of the device, JSON objects; NULL:
 * nothing.  busy_ns: spent inside calls. */
assay_status assay__environment_end(const assay__environment *e, const char *worker,
                                    const char *device, double busy_ns, char **record,
                                    unsigned *noise);

/* The words for two states; apart, for they are all there is to test. */
unsigned assay__environment_noise(const assay__context_record *before,
                                  const assay__context_record *after, double busy_ns);

#endif

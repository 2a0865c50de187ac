/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/switches.h -- how often the system took a CPU from this process while it had more to do. */
#ifndef ASSAY_TUNER_SWITCHES_H
#define ASSAY_TUNER_SWITCHES_H

#include "assay/status.h"

typedef struct assay__switches {
    const char *script; /* the next digit of it; NULL: the system counts */
    long before;
} assay__switches;

/* With $ASSAY_FAKE_SWITCHES, for tests, a script: a digit for each count, the last for ever;
 * ASSAY_PARSE when it has something else. */
assay_status assay__switches_get(assay__switches *out);
/* Counts from now on. */
void assay__switches_begin(assay__switches *s);
/* Involuntary ones of all threads since the begin, or since the last time. */
long assay__switches_more(assay__switches *s);

#endif

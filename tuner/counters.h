/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/counters.h -- counting cycles, cache misses, page faults while something runs.
 *
 * A counter is there when it was started, had work to count, and counted it; asking whether it
 * exists says nothing (PAPI calls counters available that no processor of a virtual machine has).
 * One at a time: what shares a counter by turns is an estimate, so events are counted in passes of
 * their own, and never while something is timed.  Of all threads of the process that are there when
 * counting begins.  One thread at a time may use this. */
#ifndef ASSAY_TUNER_COUNTERS_H
#define ASSAY_TUNER_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* Who counts.  Texts of `why` are whole: "PAPI_add_event: -7 Event does not exist". */
typedef struct assay__counter_source {
    const char *name;
    /* Starts to count the event in all threads; false: it cannot. */
    bool (*begin)(const char *event, char *why, size_t cap);
    /* Stops, in any case; false: what was counted is not known. */
    bool (*end)(double *count, char *why, size_t cap);
} assay__counter_source;

extern const assay__counter_source assay__counter_papi, assay__counter_usage, assay__counter_script;

typedef struct assay__counter {
    const char *name, *unit;
    const assay__counter_source *source; /* NULL: it cannot be counted */
    char event[40];                      /* as the source calls it; "" none */
    char reason[200];                    /* why not; "" it can */
} assay__counter;

/* All counters of counters.def, each tried once, when somebody first asks.  With
 * $ASSAY_FAKE_COUNTERS, for tests, a script counts in place of all others: "cycles=3000 flops=!why"
 * gives 3,000 at every end, "a=1/2/3" one after the other and again, and what is not named is not
 * there. */
const assay__counter *assay__counters(size_t *count);
/* NULL: no such counter, or it cannot be counted. */
const assay__counter *assay__counter_find(const char *name);

/* Between the two nothing else may be counted.  ASSAY_UNAVAILABLE with the reason. */
assay_status assay__counter_begin(const assay__counter *c);
assay_status assay__counter_end(const assay__counter *c, double *count);

#endif

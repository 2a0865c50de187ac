/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/context_record.h -- the state a machine was in while something was measured.
 *
 * Recorded beside measurements and compared by check, never hashed.  NaN and "": not known. */
#ifndef ASSAY_RUNTIME_CONTEXT_RECORD_H
#define ASSAY_RUNTIME_CONTEXT_RECORD_H

#include "runtime/machine.h"

typedef struct assay__context_record {
    char governor[32]; /* cpufreq governor of CPU 0 */
    char policy[16];   /* scheduling policy of this thread: "other", "fifo", ... */
    double nice;
    double turbo;         /* 1 allowed, 0 not */
    double frequency_mhz; /* CPU 0 now */
    double temperature_c; /* hottest thermal zone */
    double load_1, load_5, load_15;
    double steal_ticks;    /* since boot, all CPUs; meaningful as a difference */
    double throttle_count; /* of CPU 0's package since boot */
} assay__context_record;

void assay__context_read(const assay__machine *machine, assay__context_record *out);

/* One JSON object, numbers that are not known left out.  Length without the NUL, as snprintf. */
size_t assay__context_format(const assay__context_record *record, char *buf, size_t cap);

#endif

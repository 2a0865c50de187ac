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
    double quota_cpus;    /* that the cgroup may use; NaN: no limit */
    double frequency_mhz; /* CPU 0 now */
    double temperature_c; /* hottest thermal zone */
    double load_1, load_5, load_15;
    /* Since boot: meaningful as differences. */
    double steal_ticks;        /* of all CPUs, 10 ms each */
    double throttle_count;     /* by heat, of CPU 0's package */
    double quota_throttled;    /* periods in which the cgroup had used up its quota */
    double quota_throttled_ms; /* and how long it stood still */
    double energy_j;           /* of CPU package 0; the counter goes round */
} assay__context_record;

#define ASSAY__CONTEXT_ZONES 64

/* The files that tell, opened once: a sweep reads them twice a stay, and to find and open sixty
 * thermal zones takes longer than many a kernel.  -1: the machine has no such file. */
typedef struct assay__context_source {
    int governor, frequency, cpuinfo, no_turbo, boost, load, stat, throttle, energy, quota;
    int zones[ASSAY__CONTEXT_ZONES];
    size_t zone_count;
    double quota_cpus;
} assay__context_source;

void assay__context_source_open(const assay__machine *machine, assay__context_source *out);
/* Closes what assay__context_source_open opened; once more it does nothing. */
void assay__context_source_close(assay__context_source *source);
void assay__context_source_take(const assay__context_source *source, assay__context_record *out);

/* Opens, takes and closes. */
void assay__context_read(const assay__machine *machine, assay__context_record *out);

/* One JSON object, numbers that are not known left out.  Length without the NUL, as snprintf. */
size_t assay__context_format(const assay__context_record *record, char *buf, size_t cap);
/* The same of what is not as it was before. */
size_t assay__context_format_changes(const assay__context_record *before,
                                     const assay__context_record *after, char *buf, size_t cap);

/* How much a counter that only grows has grown; NaN: not known, or it began anew. */
double assay__context_grown(double before, double after);

#endif

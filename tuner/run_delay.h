/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/run_delay.h -- how long another process stood ready to run and got no CPU.
 *
 * A time limit on a kernel is meant for a kernel that hangs.  On a machine with more runnable
 * threads than CPUs a good one passes it too, and would be quarantined for its neighbours' load.
 * Linux counts that wait for every thread (second number of /proc/PID/task/TID/schedstat, ns);
 * where it does not, nothing is excused.  A thread that sleeps or spins waits for no CPU. */
#ifndef ASSAY_TUNER_RUN_DELAY_H
#define ASSAY_TUNER_RUN_DELAY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ASSAY__RUN_DELAY_THREADS 256

/* Threads of a process at one time; those past the table count from zero. */
typedef struct assay__run_delay {
    pid_t pid;
    size_t count;
    struct {
        pid_t thread;
        uint64_t waited_ns;
    } threads[ASSAY__RUN_DELAY_THREADS];
} assay__run_delay;

void assay__run_delay_begin(assay__run_delay *d, pid_t pid);
/* ns that the thread which waited longest has waited since; 0 where the system does not tell. */
uint64_t assay__run_delay_ns(const assay__run_delay *d);

#endif

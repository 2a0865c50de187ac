/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/core_clock.h -- how fast the core runs just now, and what to do when it does not.
 *
 * Virtual machines have no counters of cycles, and cpufreq says what was asked for.  A chain of
 * dependent multiplications says what is: each waits for the one before, so that its length in
 * cycles is known (3 a link on x86: A. Fog, Instruction tables, and most Arm cores), whatever else
 * runs on the core's other thread.  Speeds are only ever compared with speeds of the same machine.
 */
#ifndef ASSAY_TUNER_CORE_CLOCK_H
#define ASSAY_TUNER_CORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

typedef enum assay__chain { ASSAY__CHAIN_ADD, ASSAY__CHAIN_MULTIPLY } assay__chain;
#define ASSAY__CHAIN_STEP 16u /* links are run in multiples of it */

/* ns that one run of a chain took by CLOCK_MONOTONIC_RAW; links >= ASSAY__CHAIN_STEP. */
uint64_t assay__chain_ns(assay__chain chain, size_t links);

/* Where speeds come from, and how to wait. */
typedef struct assay__core_clock {
    double (*speed)(void *cookie); /* links a ns; 0: not known */
    void (*pause)(void *cookie, double ns);
    void *cookie;
    bool is_scripted;
} assay__core_clock;

/* This machine's: about a microsecond a speed.  With $ASSAY_FAKE_CLOCK, for tests, a script in its
 * place that waits for nothing: speeds in the order they are asked for, "3*40 1*5 3", the last for
 * ever; ASSAY_PARSE names what is no speed. */
assay_status assay__core_clock_get(assay__core_clock *out);

/* ---- the guard ---- */

#define ASSAY__CLOCK_LEAST   0.75 /* of the fastest: samples below it are left out */
#define ASSAY__CLOCK_WAIT_NS 5e9  /* of waiting and leaving out, before a variant is given up */

/* Of one variant: code that uses the widest vectors runs at a lower clock wherever it runs, and
 * that is part of its time.  So a variant's clock is compared with its own alone. */
typedef struct assay__clock_guard {
    double fastest; /* of its calls so far; 0: not known */
    double pause_ns;
    size_t waits;
    double lost_ns; /* waited, and in samples that were left out */
} assay__clock_guard;

void assay__clock_guard_init(assay__clock_guard *g, double fastest);
void assay__clock_guard_saw(assay__clock_guard *g, double speed);
/* Not when either is unknown. */
bool assay__clock_guard_is_slow(const assay__clock_guard *g, double speed);
/* Samples of lost_ns were left out: how long to wait before the next try (50 ms, after two in a row
 * half as long again each time, up to 500 ms).  False: enough was lost. */
bool assay__clock_guard_wait(assay__clock_guard *g, double lost_ns, double *pause_ns);

#endif

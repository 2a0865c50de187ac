/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/lead_in.h -- how many launches go before a timed span, untimed, so that the device is
 * busy when it begins.
 *
 * A device that was idle is slow at first: on an H200 a kernel of 25 us takes 51 behind a
 * millisecond of nothing and 69 behind five, though its clock never falls. */
#ifndef BACKENDS_LEAD_IN_H
#define BACKENDS_LEAD_IN_H

#include "assay/plugin.h"

/* So long in all, at most so many, and none where the span takes so long that what it begins with
 * is nothing beside it. */
#define LEAD_NS   300e3
#define LEAD_MOST 64.0
#define LONG_NS   30e6

/* call_ns: of one call; 0: not known, and nothing goes before. */
static inline size_t lead_count(double call_ns, size_t inner)
{
    if (!(call_ns > 0.0) || call_ns * (double)inner > LONG_NS)
        return 0;
    return (size_t)(call_ns * LEAD_MOST < LEAD_NS ? LEAD_MOST : LEAD_NS / call_ns) + 1;
}

/* How long a call took when it was measured last: the lead of its next measurement is as long as
 * that says, whatever the problem there may be by then. */
typedef struct lead_pace {
    assay_kernel_fn run;
    const assay_problem *problem; /* compared, never followed */
    double call_ns;
} lead_pace;

static inline double lead_recall(const lead_pace *pace, const assay_measure *what)
{
    return pace->run == what->run && pace->problem == what->launches[0].problem ? pace->call_ns
                                                                                : 0.0;
}

static inline void lead_note(lead_pace *pace, const assay_measure *what, double call_ns)
{
    *pace = (lead_pace){what->run, what->launches[0].problem, call_ns};
}

#endif

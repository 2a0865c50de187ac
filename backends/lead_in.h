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
 * is nothing beside it.  Not too few either: what a call took while the device was slow makes it
 * seem long, and one launch for a lead would keep it so. */
#define LEAD_NS    300e3
#define LEAD_MOST  64.0
#define LEAD_LEAST 4.0
#define LONG_NS    30e6

/* call_ns: of one call; 0: not known, and nothing goes before. */
static inline size_t lead_count(double call_ns, size_t inner)
{
    if (!(call_ns > 0.0) || call_ns * (double)inner > LONG_NS)
        return 0;
    if (call_ns * LEAD_MOST < LEAD_NS)
        return (size_t)LEAD_MOST + 1;
    const double by_time = LEAD_NS / call_ns + 1;
    return (size_t)(by_time < LEAD_LEAST && call_ns * LEAD_LEAST < LONG_NS ? LEAD_LEAST : by_time);
}

/* How long a call took when it was measured last: the lead of its next measurement is as long as
 * that says.  Of the same kernel with the same problem, tunables and operands by their extents: 65
 * launches of another one may take minutes. */
typedef struct lead_pace {
    assay_kernel_fn run;
    uint64_t mark;
    double call_ns;
} lead_pace;

static inline uint64_t lead_mix(uint64_t mark, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++) /* FNV-1a */
        mark = (mark ^ at[i]) * UINT64_C(0x100000001b3);
    return mark;
}

static inline uint64_t lead_mark(const assay_launch *launch)
{
    uint64_t mark = UINT64_C(0xcbf29ce484222325);

    if (launch->problem != NULL) {
        mark = lead_mix(mark, &launch->problem->op, sizeof launch->problem->op);
        mark = lead_mix(mark, launch->problem->params, sizeof launch->problem->params);
    }
    if (launch->tunables != NULL)
        mark = lead_mix(mark, launch->tunables, launch->tunable_count * sizeof launch->tunables[0]);
    for (uint32_t i = 0; i < launch->operand_count; i++) {
        const assay_tensor *t = &launch->operands[i];
        mark = lead_mix(mark, &t->dtype, sizeof t->dtype);
        mark = lead_mix(mark, t->dims, t->rank * sizeof t->dims[0]);
    }
    return mark;
}

static inline double lead_recall(const lead_pace *pace, const assay_measure *what)
{
    return pace->run == what->run && pace->mark == lead_mark(&what->launches[0]) ? pace->call_ns
                                                                                 : 0.0;
}

static inline void lead_note(lead_pace *pace, const assay_measure *what, double call_ns)
{
    *pace = (lead_pace){what->run, lead_mark(&what->launches[0]), call_ns};
}

#endif

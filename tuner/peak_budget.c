/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_budget.c -- see peak_budget.h. */
#include "tuner/peak_budget.h"

#include <math.h>

double assay__peak_elapsed(const double *begin_ns, const double *end_ns, size_t threads)
{
    double first = begin_ns[0], last = end_ns[0];

    for (size_t i = 1; i < threads; i++) {
        first = fmin(first, begin_ns[i]);
        last = fmax(last, end_ns[i]);
    }
    return last - first;
}

/* Work for a run of about `wanted` ns: from the least on, up to 16 times more each time. */
static double sized(const assay__peak_unit *u, double wanted, double end_ns)
{
    double work = u->least, ns = u->run(u->cookie, work);

    while (ns < wanted / 2 && work < u->most && u->now_ns(u->cookie) < end_ns) {
        work *= fmin(fmax(wanted / (ns + 1), 1.5), 16.0);
        ns = u->run(u->cookie, work);
    }
    return work;
}

void assay__peak_spend(assay__peak_budget *budget, const assay__peak_unit *u)
{
    double now = u->now_ns(u->cookie), left = fmax(budget->end_ns - now, 0.0);
    double share = left / (double)(budget->units > 0 ? budget->units : 1);
    double each = share / (double)(u->runs + (u->per_ns > 0 ? 0 : 2)); /* two to size the work */
    double end_ns = now + share, work, ns;

    each = fmin(fmax(each, u->shortest_ns), u->longest_ns);
    work = u->per_ns > 0 ? fmax(each * u->per_ns, u->least) : sized(u, each, end_ns);
    work = fmin(work, u->most);
    for (size_t i = 0; i < u->runs; i++) {
        ns = u->run(u->cookie, work);
        u->take(u->cookie, work, ns);
        if (u->now_ns(u->cookie) + ns / 2 > end_ns)
            break;
    }
    budget->units -= budget->units > 0;
}

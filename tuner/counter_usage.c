/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/counter_usage.c -- what the operating system counts for every process by itself: less, and
 * less finely, but nobody may forbid it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "tuner/counters.h"

static double cpu_ns(const struct rusage *u)
{
    const struct timeval *a = &u->ru_utime, *b = &u->ru_stime;

    return 1e9 * (double)(a->tv_sec + b->tv_sec) + 1e3 * (double)(a->tv_usec + b->tv_usec);
}

static double switches(const struct rusage *u)
{
    return (double)(u->ru_nvcsw + u->ru_nivcsw);
}

static double faults(const struct rusage *u)
{
    return (double)(u->ru_minflt + u->ru_majflt);
}

static const struct {
    const char *name;
    double (*of)(const struct rusage *u);
} events[] = {{"cpu_ns", cpu_ns}, {"switches", switches}, {"faults", faults}};

static double (*counting)(const struct rusage *u);
static double before;

static bool begin(const char *event, char *why, size_t cap)
{
    struct rusage now;

    counting = NULL;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (strcmp(events[i].name, event) == 0)
            counting = events[i].of;
    if (counting == NULL || getrusage(RUSAGE_SELF, &now) != 0) {
        (void)snprintf(why, cap, "getrusage has no such count");
        return false;
    }
    before = counting(&now);
    return true;
}

static bool end(double *count, char *why, size_t cap)
{
    struct rusage now;

    if (counting == NULL || getrusage(RUSAGE_SELF, &now) != 0) {
        (void)snprintf(why, cap, "getrusage does not answer");
        return false;
    }
    *count = counting(&now) - before;
    return true;
}

const assay__counter_source assay__counter_usage = {"rusage", begin, end};

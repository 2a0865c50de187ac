/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/environment.c -- see environment.h. */
#include "tuner/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/noise_words.h"

#define CAP 1024
/* USER_HZ, by which /proc/stat counts, is 100 on every Linux that Debian has. */
#define TICK_NS 10e6
/* Of the time in calls: what a hypervisor that is merely there takes is less. */
#define STOLEN_SHARE 0.2

void assay__environment_open(assay__environment *e)
{
    const assay__machine here = ASSAY__MACHINE_HERE;

    memset(e, 0, sizeof *e);
    assay__context_source_open(&here, &e->source);
    e->is_open = true;
}

void assay__environment_close(assay__environment *e)
{
    if (e->is_open)
        assay__context_source_close(&e->source);
    e->is_open = false;
}

void assay__environment_begin(assay__environment *e)
{
    assay__context_source_take(&e->source, &e->before);
}

/* What is not known compares false. */
unsigned assay__environment_noise(const assay__context_record *before,
                                  const assay__context_record *after, double busy_ns)
{
    unsigned noise = 0;

    if (assay__context_grown(before->throttle_count, after->throttle_count) > 0)
        noise |= ASSAY__NOISE_HEAT;
    if (assay__context_grown(before->quota_throttled, after->quota_throttled) > 0)
        noise |= ASSAY__NOISE_QUOTA;
    if (assay__context_grown(before->steal_ticks, after->steal_ticks) * TICK_NS >
        STOLEN_SHARE * busy_ns)
        noise |= ASSAY__NOISE_STEAL;
    return noise;
}

assay_status assay__environment_end(const assay__environment *e, const char *worker,
                                    const char *device, double busy_ns, char **record,
                                    unsigned *noise)
{
    assay__context_record after;
    char first[CAP], then[CAP];
    char *text;

    assay__context_source_take(&e->source, &after);
    if (assay__context_format(&e->before, first, CAP) >= CAP ||
        assay__context_format_changes(&e->before, &after, then, CAP) >= CAP)
        return assay__fail(ASSAY_INTERNAL, "the environment record is too long");
    if (asprintf(&text, "{\"before\":%s,\"after\":%s%s%s%s%s}", first, then,
                 worker != NULL ? ",\"worker\":" : "", worker != NULL ? worker : "",
                 device != NULL ? ",\"device\":" : "", device != NULL ? device : "") < 0)
        return assay__fail(ASSAY_NOMEM, "environment record");
    *noise = assay__environment_noise(&e->before, &after, busy_ns);
    *record = text;
    return ASSAY_OK;
}

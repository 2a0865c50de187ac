/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_load.c -- the load of a policy: neighbours on all CPUs while a stay is timed. */
#include <math.h>
#include <stdio.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"
#include "tuner/load.h"

/* To make them copy, or stop, takes no longer than one copy. */
#define SWITCH_MS 10000

bool assay__sweep_is_busy(const sweep *s)
{
    return s->o->policy.load != 0;
}

void assay__sweep_load_text(const sweep *s, char *buf, size_t cap)
{
    if (!assay__sweep_is_busy(s))
        (void)snprintf(buf, cap, "none");
    else
        (void)snprintf(buf, cap, "%u threads, each copying %zu MiB over and over", s->cpus,
                       ASSAY__LOAD_BYTES >> 20);
}

/* Neighbours that want the same CPUs get them by turns of some milliseconds: a span must hold
 * several of these turns, and a stay several spans. */
#define BUSY_SPAN_NS   10e6
#define BUSY_BUDGET_NS 150e6

assay__profile assay__sweep_effort(const sweep *s)
{
    assay__profile f = *s->o->profile;

    if (assay__sweep_is_busy(s)) {
        f.span_ns = fmax(f.span_ns, BUSY_SPAN_NS);
        f.budget_ns = fmax(f.budget_ns, BUSY_BUDGET_NS);
    }
    return f;
}

/* A process of its own: a kernel's libraries must not find its threads among theirs, and a kernel
 * that ends its worker must not end the load. */
static assay_status switch_load(sweep *s, bool on, uint64_t *bytes)
{
    const assay__worker_options options = assay__sweep_worker_options(s, "ref");
    json_t *reply = NULL;
    int64_t copied = 0;
    assay_status status = ASSAY_OK;

    if (s->loader != NULL && !assay__worker_alive(s->loader))
        assay__worker_stop(&s->loader);
    if (s->loader == NULL)
        status = assay__worker_start(&options, &s->loader);
    if (status == ASSAY_OK)
        status = assay__worker_call(
            s->loader,
            json_pack("{s:s, s:b, s:i}", "cmd", "load", "on", on ? 1 : 0, "threads", (int)s->cpus),
            NULL, 0, SWITCH_MS, &reply);
    if (status == ASSAY_OK)
        status = assay__json_get_int(reply, "bytes", &copied);
    json_decref(reply);
    *bytes = (uint64_t)copied;
    return status;
}

/* What ends a load is no fault of the kernel that is timed under it. */
static assay_status not_its_fault(assay_status status)
{
    if (status == ASSAY_OK || status == ASSAY_INTERRUPTED)
        return status;
    return assay__fail(ASSAY_INTERNAL, "the load of policy 'busy' cannot be had: %s",
                       assay_last_error());
}

assay_status assay__sweep_load_on(sweep *s)
{
    if (!assay__sweep_is_busy(s))
        return ASSAY_OK;
    return not_its_fault(switch_load(s, true, &s->load_bytes));
}

assay_status assay__sweep_load_off(sweep *s)
{
    const uint64_t before = s->load_bytes;

    if (!assay__sweep_is_busy(s))
        return ASSAY_OK;
    ASSAY_TRY(not_its_fault(switch_load(s, false, &s->load_bytes)));
    if (s->load_bytes > before)
        return ASSAY_OK;
    return assay__fail(ASSAY_INTERNAL, "the load of policy 'busy' did not run beside a kernel");
}

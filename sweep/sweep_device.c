/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_device.c -- where a sweep measures: on the host, or on the device of one backend.
 *
 * What is measured on different devices is valid in different deployments and never paired, so that
 * each place is a sweep of its own: its lock, its rows, its routes. */
#include <stdio.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"
#include "tuner/device_lock.h"

#define DEVICE_MS 60000

static bool is_wanted(const sweep *s, const assay_manifest *m)
{
    if (s->o->backends != NULL)
        return assay__name_in_list(s->o->backends, m->name);
    return m->explicit_only == 0;
}

bool assay__sweep_takes_part(const sweep *s, const assay_manifest *m)
{
    return is_wanted(s, m) &&
           (s->place != NULL ? m == s->place : m->location == ASSAY_LOCATION_CPU);
}

static const assay_manifest *manifest_at(const sweep *s, size_t i)
{
    return assay__plugins_at(s->plugins, i)->manifest;
}

static bool has_host(const sweep *s)
{
    for (size_t i = 0; i < assay__plugins_count(s->plugins); i++) {
        const assay_manifest *m = manifest_at(s, i);
        if (m != NULL && m->location == ASSAY_LOCATION_CPU && is_wanted(s, m))
            return true;
    }
    return false;
}

static assay_status ask(sweep *s, const assay_manifest *m, json_t **reply)
{
    return assay__worker_call(s->asker,
                              json_pack("{s:s, s:s}", "cmd", "device", "backend", m->name), NULL, 0,
                              DEVICE_MS, reply);
}

/* Whoever asked for it by name is told when it is not; of the others each machine has its own, and
 * those that it has not take no part of the budget. */
static bool is_here(sweep *s, const assay_manifest *m)
{
    json_t *reply = NULL;
    const bool here = s->o->backends != NULL || ask(s, m, &reply) != ASSAY_UNAVAILABLE;

    json_decref(reply);
    return here;
}

/* The host first, then the others as their plug-ins were found. */
assay_status assay__sweep_find_place(sweep *s)
{
    size_t count = has_host(s) ? 1 : 0;

    for (size_t i = 0; i < assay__plugins_count(s->plugins); i++) {
        const assay_manifest *m = manifest_at(s, i);
        if (m == NULL || m->location == ASSAY_LOCATION_CPU || !is_wanted(s, m) || !is_here(s, m))
            continue;
        if (count++ == s->o->place)
            s->place = m;
    }
    s->summary->places = count > 0 ? count : 1;
    /* One that was here when the places before it were measured may be gone by now. */
    s->summary->is_absent = s->o->place > 0 && s->o->place >= s->summary->places;
    if (!s->summary->is_absent)
        s->own.budget_s /= (double)(s->summary->places - s->o->place);
    return ASSAY_OK;
}

/* Who else uses the device decides how much of its memory is left: what does not fit today is no
 * fault of a kernel's. */
assay_status assay__sweep_leave_problem(sweep *s, sweep_problem *p)
{
    assay__sweep_warn(s, "skipped: %s: %s", p->text, assay_last_error());
    p->skip = true;
    s->summary->skipped_problems++;
    /* As those that were left before anything was counted. */
    s->summary->problems--;
    s->progress.problems_total--;
    assay__sweep_plan_nothing(s, p);
    return ASSAY_OK;
}

static assay_status take_device(sweep *s, const json_t *reply)
{
    const char *device, *architecture, *driver, *uuid;

    s->device_bytes = json_number_value(json_object_get(reply, "memory_bytes"));
    ASSAY_TRY(assay__json_get_string(reply, "device", &device));
    ASSAY_TRY(assay__json_get_string(reply, "architecture", &architecture));
    ASSAY_TRY(assay__json_get_string(reply, "driver", &driver));
    ASSAY_TRY(assay__json_get_string(reply, "uuid", &uuid));
    assay__device_lock_name(device, uuid, s->lock_name, sizeof s->lock_name);
    (void)snprintf(s->summary->device, sizeof s->summary->device, "%s", device);
    return assay_deployment_read(s->place->name, device, architecture, driver, &s->deployment);
}

static assay_status ask_device(sweep *s)
{
    json_t *reply = NULL;
    assay_status status = ask(s, s->place, &reply);

    if (status == ASSAY_OK)
        status = take_device(s, reply);
    json_decref(reply);
    return status == ASSAY_OK ? ASSAY_OK
                              : assay__fail_context(status, "backend %s", s->place->name);
}

assay_status assay__sweep_read_place(sweep *s)
{
    if (s->place != NULL)
        return ask_device(s);
    ASSAY_TRY(assay__deployment_host(&s->deployment));
    (void)snprintf(s->lock_name, sizeof s->lock_name, "%s", s->deployment.device);
    (void)snprintf(s->summary->device, sizeof s->summary->device, "%s", s->deployment.device);
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_transfers.c -- what moving bytes costs: measured, or known to the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/error.h"
#include "runtime/transfer_price.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"
#include "tuner/stats.h"
#include "tuner/transfers.h"

#define TRANSFERS_S 0.5 /* of the two seconds of peaks */
#define MAX_SIZES   16
#define MAX_SAMPLES 64
#define LIMIT_MS    120000

typedef struct sweep_transfers {
    sweep *s;
    char known[1024];    /* comma list: backends whose costs are young and of these CPUs */
    char backends[1024]; /* the others of the sweep, and cpu unless it is known */
} sweep_transfers;

static void add_name(char *list, size_t cap, const char *name)
{
    const size_t used = strlen(list);

    if (used + strlen(name) + 2 <= cap)
        (void)snprintf(list + used, cap - used, "%s%s", used > 0 ? "," : "", name);
}

/* ---- what the store knows ---- */

/* Each memory is the source of some path. */
static assay_status recall_row(void *cookie, const assay__db_transfer *t)
{
    sweep_transfers *all = cookie;
    char backend[ASSAY__MEMORY_MAX];

    (void)snprintf(backend, sizeof backend, "%.*s", (int)strcspn(t->source, ":"), t->source);
    if (assay__sweep_is_fresh(all->s, t->age_s, t->affinity) &&
        !assay__name_in_list(all->known, backend))
        add_name(all->known, sizeof all->known, backend);
    return ASSAY_OK;
}

/* The host's own memory is priced where the host is measured. */
static bool takes_part(const sweep *s, const assay_manifest *m)
{
    return (s->place == NULL && strcmp(m->name, "cpu") == 0) || assay__sweep_takes_part(s, m);
}

/* The devices of a backend are measured together. */
static void list_backends(sweep_transfers *all)
{
    sweep *s = all->s;

    for (size_t i = 0; i < assay__plugins_count(s->plugins); i++) {
        const assay_manifest *m = assay__plugins_at(s->plugins, i)->manifest;
        if (m != NULL && takes_part(s, m) && !assay__name_in_list(all->known, m->name))
            add_name(all->backends, sizeof all->backends, m->name);
    }
}

/* ---- what a worker measured ---- */

static assay_status read_size(const json_t *row, assay__db_transfer *out)
{
    double values[MAX_SAMPLES];
    assay_sample_summary summary;
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_get_array(row, "samples", &list));
    n = json_array_size(list);
    n = n < MAX_SAMPLES ? n : MAX_SAMPLES;
    for (size_t i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    ASSAY_TRY(assay__stats_summarise(values, n, 0, &summary));
    *out = (assay__db_transfer){.size_bytes = json_integer_value(json_object_get(row, "bytes")),
                                .samples = (int64_t)n,
                                .median_ns = summary.median,
                                .lo_ns = summary.ci95.lo,
                                .hi_ns = summary.ci95.hi};
    return ASSAY_OK;
}

static assay_status read_deployment(const json_t *path, const char *member, assay_deployment *out,
                                    char hex[ASSAY_DIGEST_HEX])
{
    const json_t *given = json_object_get(path, member);
    const char *backend, *device, *architecture, *driver;
    assay_digest digest;

    if (json_is_null(given)) {
        ASSAY_TRY(assay__deployment_host(out));
    } else {
        ASSAY_TRY(assay__json_get_string(path, "backend", &backend));
        ASSAY_TRY(assay__json_get_string(given, "device", &device));
        ASSAY_TRY(assay__json_get_string(given, "architecture", &architecture));
        ASSAY_TRY(assay__json_get_string(given, "driver", &driver));
        ASSAY_TRY(assay_deployment_read(backend, device, architecture, driver, out));
    }
    assay_deployment_digest(out, &digest);
    assay_digest_format(&digest, hex);
    return ASSAY_OK;
}

/* Devices of one backend are measured together and may be of several models: each path is stored
 * with the device that it is of, where that one alone looks. */
static assay_status put_owned(sweep *s, const json_t *path, const assay__db_transfer *sizes,
                              size_t count)
{
    char hex[ASSAY_DIGEST_HEX], hex_from[ASSAY_DIGEST_HEX], seen[ASSAY__MEMORY_MAX];
    const char *source, *target;
    assay_deployment owner, from;
    int64_t row = s->deployment_row;

    ASSAY_TRY(assay__json_get_string(path, "source", &source));
    ASSAY_TRY(assay__json_get_string(path, "target", &target));
    ASSAY_TRY(read_deployment(path, "owner", &owner, hex));
    ASSAY_TRY(read_deployment(path, "from", &from, hex_from));
    assay__memory_seen_from(source, hex_from, hex, seen);
    if (strcmp(hex, s->deployment_hex) != 0)
        ASSAY_TRY(assay__db_put_deployment(s->db, &owner, NULL, &row));
    return assay__db_put_transfers(s->db, row, seen, target, sizes, count);
}

static assay_status put_path(sweep *s, const json_t *path)
{
    assay__db_transfer sizes[MAX_SIZES];
    json_t *list;
    size_t n;

    ASSAY_TRY(assay__json_get_array(path, "sizes", &list));
    n = json_array_size(list);
    n = n < MAX_SIZES ? n : MAX_SIZES;
    for (size_t i = 0; i < n; i++)
        ASSAY_TRY(read_size(json_array_get(list, i), &sizes[i]));
    return put_owned(s, path, sizes, n);
}

static assay_status put_reply(sweep *s, const json_t *reply)
{
    json_t *list, *absent;

    ASSAY_TRY(assay__json_get_array(reply, "transfers", &list));
    ASSAY_TRY(assay__json_get_array(reply, "absent", &absent));
    for (size_t i = 0; i < json_array_size(list); i++)
        ASSAY_TRY(put_path(s, json_array_get(list, i)));
    for (size_t i = 0; i < json_array_size(absent); i++) {
        const char *memory, *reason;
        ASSAY_TRY(assay__json_get_string(json_array_get(absent, i), "memory", &memory));
        ASSAY_TRY(assay__json_get_string(json_array_get(absent, i), "reason", &reason));
        assay__sweep_warn(s, "what it costs to move bytes to %s could not be measured: %s", memory,
                          reason);
    }
    return ASSAY_OK;
}

static assay_status measure(const sweep_transfers *all)
{
    sweep *s = all->s;
    const assay__worker_options options = assay__sweep_worker_options(s, all->backends);
    assay__worker *w = NULL;
    json_t *reply = NULL;
    assay_status status = assay__worker_start(&options, &w);

    if (status == ASSAY_OK)
        status = assay__worker_call(
            w, json_pack("{s:s, s:f}", "cmd", "transfers", "seconds", TRANSFERS_S), NULL, 0,
            LIMIT_MS, &reply);
    if (status == ASSAY_OK)
        status = put_reply(s, reply);
    json_decref(reply);
    assay__worker_stop(&w);
    if (status != ASSAY_CRASH && status != ASSAY_TIMEOUT && status != ASSAY_NOMEM)
        return status;
    assay__sweep_warn(s, "what it costs to move bytes could not be measured: %s",
                      assay_last_error());
    return ASSAY_OK;
}

assay_status assay__sweep_transfers(sweep *s)
{
    sweep_transfers all = {.s = s};
    const double begin = assay__sweep_now_s(s);
    assay_status status = ASSAY_OK;

    if (!assay__transfers_wanted())
        return ASSAY_OK;
    if (!s->o->probe_peaks)
        ASSAY_TRY(assay__db_each_transfer(s->db, s->deployment_row, recall_row, &all));
    list_backends(&all);
    if (all.backends[0] != '\0')
        status = measure(&all);
    s->summary->peaks_s += assay__sweep_now_s(s) - begin;
    return status;
}

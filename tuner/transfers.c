/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/transfers.c -- the transfers probe; see transfers.h. */
#include "tuner/transfers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/deployment_host.h"
#include "runtime/doing.h"
#include "runtime/error.h"
#include "runtime/machine.h"
#include "runtime/transfer_price.h"
#include "tuner/free_memory.h"

#define SHORTEST_NS   2e4 /* of a sample */
#define FEW           7   /* samples: their range holds the median at 98 % */
#define MANY          11  /* and here all but the two outermost */
#define MANY_NS       2e7 /* where so many take no longer */
#define PATHS         5   /* of a memory, at most */
#define MEMORIES_MOST 32

uint64_t assay__transfer_size(size_t index)
{
    const uint64_t bytes = UINT64_C(4096) << 2 * (index < 16 ? index : 16);

    return bytes <= UINT64_C(1) << 26 ? bytes : 0;
}

/* ---- one path ---- */

static assay_status sample(const assay__transfer_run *run, uint64_t bytes, double calls, double *ns)
{
    const double begin = run->now_ns(run->cookie);

    for (double i = 0; i < calls; i++)
        ASSAY_TRY(run->move(run->cookie, bytes));
    *ns = (run->now_ns(run->cookie) - begin) / calls;
    return ASSAY_OK;
}

static assay_status take_samples(const assay__transfer_run *run, uint64_t bytes, double calls,
                                 double count, json_t *samples)
{
    double ns;

    for (double i = 0; i < count; i++) {
        ASSAY_TRY(sample(run, bytes, calls, &ns));
        ASSAY_TRY(assay__json_append_take(samples, json_real(ns)));
    }
    return ASSAY_OK;
}

/* *left_ns: until all must have been taken; *call_ns: what a call took.  No samples: there is not
 * the time for all. */
static assay_status measure_size(const assay__transfer_run *run, uint64_t bytes, double left_ns,
                                 double *call_ns, json_t *samples)
{
    double calls, count;

    ASSAY_TRY(sample(run, bytes, 1, call_ns)); /* whatever is set up once is set up here */
    ASSAY_TRY(sample(run, bytes, 1, call_ns));
    calls = ceil(fmin(fmax(SHORTEST_NS / fmax(*call_ns, 1), 1), 1e4));
    count = calls * *call_ns * MANY <= MANY_NS ? MANY : FEW;
    return calls * *call_ns * count <= left_ns ? take_samples(run, bytes, calls, count, samples)
                                               : ASSAY_OK;
}

/* Four times the bytes take four times as long at most. */
assay_status assay__transfer_measure(const assay__transfer_run *run, double end_ns, uint64_t most,
                                     json_t *sizes)
{
    double call_ns = 0, left_ns = INFINITY;

    for (size_t i = 0; assay__transfer_size(i) != 0 && assay__transfer_size(i) <= most; i++) {
        json_t *samples = json_array();
        assay_status status = ASSAY_OK;
        if (i > 0)
            left_ns = end_ns - run->now_ns(run->cookie);
        if (4 * call_ns * (FEW + 2) <= left_ns)
            status = measure_size(run, assay__transfer_size(i), left_ns, &call_ns, samples);
        if (status != ASSAY_OK || json_array_size(samples) == 0) {
            json_decref(samples);
            return status;
        }
        ASSAY_TRY(assay__json_append_take(sizes, json_pack("{s:I, s:o}", "bytes",
                                                           (json_int_t)assay__transfer_size(i),
                                                           "samples", samples)));
    }
    return ASSAY_OK;
}

/* ---- clocks ---- */

typedef struct timer {
    bool is_scripted;
    double now_ns, per_call_ns, per_byte_ns; /* of a scripted one */
} timer;

bool assay__transfers_wanted(void)
{
    return getenv("ASSAY_FAKE_PEAKS") == NULL || getenv("ASSAY_FAKE_TRANSFERS") != NULL;
}

static assay_status make_timer(timer *t)
{
    const char *script = getenv("ASSAY_FAKE_TRANSFERS");
    char *middle, *end;

    *t = (timer){.is_scripted = getenv("ASSAY_FAKE_PEAKS") != NULL && script != NULL};
    if (!t->is_scripted)
        return ASSAY_OK;
    t->per_call_ns = strtod(script, &middle);
    t->per_byte_ns = strtod(middle, &end);
    if (middle == script || end == middle || *end != '\0' || !(t->per_call_ns > 0) ||
        !(t->per_byte_ns >= 0))
        return assay__fail(ASSAY_PARSE, "scripted transfers: '%s' is not NS NS_PER_BYTE", script);
    return ASSAY_OK;
}

static double read_timer(const timer *t)
{
    struct timespec now;

    if (t->is_scripted)
        return t->now_ns;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- one memory ---- */

typedef struct memory memory;
struct memory {
    char name[ASSAY__MEMORY_MAX]; /* by the device's number */
    char own[ASSAY__MEMORY_MAX];  /* in rows of its deployment */
    assay_deployment owner;
    const char *path;     /* to and from the host */
    assay__backend slots; /* open, its device selected */
    assay_buffer buffers[2];
    char *hosts[2]; /* owned: pageable; pinned by the backend, NULL: it pins none */
    char *host;     /* the one in use */
    uint64_t bytes; /* of each */
    timer *timer;
    const assay__plugin *plugin; /* borrowed */
    memory *peer;                /* borrowed; its buffers are there, too */
    char no_pinned[200];         /* why the backend, which pins memory, gave none; "" else */
};

static double now_of(void *cookie)
{
    const memory *m = cookie;

    return read_timer(m->timer);
}

static assay_status finish(memory *m, uint64_t bytes, assay_status status)
{
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(&m->slots);
    m->timer->now_ns += m->timer->per_call_ns + m->timer->per_byte_ns * (double)bytes;
    return status;
}

static assay_status upload(void *cookie, uint64_t bytes)
{
    memory *m = cookie;
    const assay_transfer piece = {.buffer = m->buffers[0], .host = m->host, .bytes = bytes};

    return finish(m, bytes, assay__backend_upload(&m->slots, &piece, 1));
}

static assay_status download(void *cookie, uint64_t bytes)
{
    memory *m = cookie;
    const assay_transfer piece = {.buffer = m->buffers[0], .host = m->host, .bytes = bytes};

    return finish(m, bytes, assay__backend_download(&m->slots, &piece, 1));
}

/* From the other device of the pair. */
static assay_status cross(void *cookie, uint64_t bytes)
{
    memory *m = cookie;

    return finish(m, bytes,
                  assay__backend_peer_copy(&m->slots, m->buffers[0], 0, m->peer->slots.instance,
                                           m->peer->buffers[0], 0, bytes));
}

static assay_status copy(void *cookie, uint64_t bytes)
{
    memory *m = cookie;

    return finish(m, bytes,
                  assay__backend_copy(&m->slots, m->buffers[1], 0, m->buffers[0], 0, bytes));
}

static void release(memory *m)
{
    for (size_t i = 0; i < 2; i++)
        if (m->buffers[i].size_bytes > 0)
            (void)assay__backend_free(&m->slots, m->buffers[i]);
    memset(m->buffers, 0, sizeof m->buffers);
    free(m->hosts[0]);
    if (m->hosts[1] != NULL)
        (void)assay__backend_host_free(&m->slots, m->hosts[1]);
    m->hosts[0] = m->hosts[1] = m->host = NULL;
}

/* Pinned memory is no more than pageable memory with a price of its own: without it that stays. */
static assay_status take_host(memory *m, uint64_t bytes)
{
    void *pinned = NULL;

    m->no_pinned[0] = '\0';
    m->hosts[0] = aligned_alloc(4096, (size_t)bytes);
    if (m->hosts[0] == NULL)
        return assay__fail(ASSAY_NOMEM, "transfers: %zu bytes of the host", (size_t)bytes);
    const assay_status status = assay__backend_host_alloc(&m->slots, bytes, &pinned);
    if (status == ASSAY_DEVICE_LOST)
        return status;
    if (status != ASSAY_OK && status != ASSAY_UNSUPPORTED)
        (void)snprintf(m->no_pinned, sizeof m->no_pinned, "%s", assay_last_error());
    m->hosts[1] = status == ASSAY_OK ? pinned : NULL;
    for (int i = 0; i < 2; i++)
        if (m->hosts[i] != NULL)
            memset(m->hosts[i], 5, (size_t)bytes);
    return ASSAY_OK;
}

/* Its own, written whole, so that every page is there. */
static assay_status take_own(memory *m, uint64_t bytes)
{
    m->bytes = bytes;
    for (size_t i = 0; i < 2; i++) {
        assay_buffer got;
        ASSAY_TRY(assay__backend_alloc(&m->slots, bytes, 64, &got));
        m->buffers[i] = got;
        ASSAY_TRY(assay__backend_fill(&m->slots, got, 0, bytes, 3));
    }
    return assay__backend_synchronize(&m->slots);
}

static assay_status take_both(memory *m, uint64_t bytes)
{
    ASSAY_TRY(take_host(m, bytes));
    return take_own(m, bytes);
}

/* As much as there is; no more than a quarter of what is free. */
static assay_status take_memory(memory *m, assay_status (*take)(memory *m, uint64_t bytes))
{
    const assay__machine host = ASSAY__MACHINE_HERE;
    const double free_bytes = assay__free_memory(&host);
    const double most = isnan(free_bytes) ? INFINITY : free_bytes / 4;
    assay_status status = ASSAY_NOMEM;
    size_t count = 1;

    while (assay__transfer_size(count) != 0 && 4 * (double)assay__transfer_size(count) <= most)
        count++;
    for (; count > 0 && status == ASSAY_NOMEM; count--) {
        status = take(m, assay__transfer_size(count - 1));
        if (status == ASSAY_NOMEM)
            release(m);
    }
    return status;
}

typedef struct way {
    assay_status (*move)(void *cookie, uint64_t bytes);
    char *host; /* borrowed */
    const char *source, *target;
    const memory *from; /* of source; NULL: as the target, or the host */
} way;

/* Of the deployment; null: the host's. */
static json_t *owner_json(const memory *m)
{
    const assay_deployment *d = &m->owner;

    return strcmp(d->backend, "cpu") == 0
               ? json_null()
               : json_pack("{s:s, s:s, s:s}", "device", d->device, "architecture", d->architecture,
                           "driver", d->driver);
}

static assay_status measure_way(memory *m, const way *w, double end_ns, json_t *list)
{
    const assay__transfer_run run = {now_of, w->move, m};
    json_t *sizes = json_array();

    m->host = w->host;
    const assay_status status = assay__transfer_measure(&run, end_ns, m->bytes, sizes);
    if (status != ASSAY_OK) {
        json_decref(sizes);
        return status;
    }
    return assay__json_append_take(
        list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "backend", m->plugin->manifest->name,
                        "source", w->source, "target", w->target, "owner", owner_json(m), "from",
                        owner_json(w->from != NULL ? w->from : m), "sizes", sizes));
}

/* From pinned memory the copy engine takes the bytes itself, where there is one. */
static assay_status measure_paths(memory *m, double end_ns, json_t *list)
{
    char to[ASSAY__MEMORY_MAX + 16], from[ASSAY__MEMORY_MAX + 16], within[ASSAY__MEMORY_MAX + 16];
    char direct[ASSAY__MEMORY_MAX + 16];
    const way all[PATHS] = {{upload, m->hosts[0], ASSAY__HOST_PAGEABLE, to, NULL},
                            {download, m->hosts[0], m->own, from, NULL},
                            {copy, NULL, m->own, within, NULL},
                            {upload, m->hosts[1], ASSAY__HOST_PINNED, direct, NULL},
                            {download, m->hosts[1], m->own, ASSAY__HOST_PINNED "/copy", NULL}};
    const size_t count = m->hosts[1] != NULL ? PATHS : PATHS - 2;

    (void)snprintf(to, sizeof to, "%s/%s", m->own, m->path);
    (void)snprintf(from, sizeof from, "%s/%s", ASSAY__HOST_PAGEABLE, m->path);
    (void)snprintf(within, sizeof within, "%s/copy", m->own);
    (void)snprintf(direct, sizeof direct, "%s/copy", m->own);
    for (size_t i = 0; i < count; i++) {
        const double now = read_timer(m->timer);
        ASSAY_TRY(measure_way(m, &all[i], now + (end_ns - now) / (double)(count - i), list));
    }
    return ASSAY_OK;
}

/* ---- all memories ---- */

typedef struct probe {
    json_t *list, *absent; /* borrowed */
    timer timer;
    memory memories[MEMORIES_MOST]; /* to measure; slots are owned */
    size_t count;
} probe;

/* The fastest that moves anything; "copy" where nothing is reported. */
static const char *path_of(const assay_device_profile *profile)
{
    const unsigned mask = profile->paths[ASSAY_LOCATION_CPU];

    return (mask >> ASSAY_PATH_COPY & 1) == 0 && (mask >> ASSAY_PATH_STAGING & 1) != 0 ? "staging"
                                                                                       : "copy";
}

/* *wanted false: the host's memory, which "cpu" speaks for. */
static assay_status look_at(memory *m, const char *backend, size_t device, bool *wanted)
{
    assay_device_profile profile;
    size_t place = 0;

    memset(&profile, 0, sizeof profile);
    ASSAY_TRY(assay__backend_select_device(&m->slots, device));
    ASSAY_TRY(assay__backend_device_profile(&m->slots, device, &profile));
    ASSAY_TRY(assay__deployment_place(backend, &m->slots, device, &m->owner, &place));
    (void)snprintf(m->own, sizeof m->own, "%s:%zu", backend, place);
    m->path = path_of(&profile);
    *wanted = assay__profile_is_apart(&profile) || (strcmp(backend, "cpu") == 0 && device == 0);
    return ASSAY_OK;
}

static assay_status open_slots(const assay__plugin *plugin, assay__backend *out)
{
    ASSAY_TRY(assay__backend_init(plugin->manifest->backend, out));
    assay__doing_begin(ASSAY__DOING_OPEN, plugin->path, "");
    const assay_status status = assay__backend_open(out);
    assay__doing_end();
    return status;
}

/* What one cannot do leaves its memory unpriced, and is no failure of the others. */
static assay_status note_absent(const probe *p, const memory *m, assay_status status)
{
    if (status == ASSAY_OK || status == ASSAY_UNSUPPORTED || status == ASSAY_UNAVAILABLE)
        return ASSAY_OK;
    return assay__json_append_take(
        p->absent, json_pack("{s:s, s:s}", "memory", m->name, "reason", assay_last_error()));
}

/* An instance a device: none can be selected once there is memory of another. */
static assay_status add_memories(probe *p, const assay__plugin *plugin)
{
    size_t devices = 1;

    for (size_t i = 0; i < devices && p->count < MEMORIES_MOST; i++) {
        memory *m = &p->memories[p->count];
        bool wanted = false;
        *m = (memory){.timer = &p->timer, .plugin = plugin};
        (void)snprintf(m->name, sizeof m->name, "%s:%zu", plugin->manifest->name, i);
        assay_status status = open_slots(plugin, &m->slots);
        if (status == ASSAY_OK && i == 0)
            status = assay__backend_device_count(&m->slots, &devices);
        if (status == ASSAY_OK && i < devices)
            status = look_at(m, plugin->manifest->name, i, &wanted);
        if (wanted)
            p->count++;
        else
            assay__backend_close(&m->slots);
        ASSAY_TRY(note_absent(p, m, status));
    }
    return ASSAY_OK;
}

static assay_status tell_pinned(const probe *p, const memory *m)
{
    if (m->no_pinned[0] == '\0')
        return ASSAY_OK;
    return assay__json_append_take(
        p->absent, json_pack("{s:s, s:s}", "memory", ASSAY__HOST_PINNED, "reason", m->no_pinned));
}

/* Each with an even share of the time that is left. */
static assay_status measure_all(probe *p, double end_ns)
{
    for (size_t i = 0; i < p->count; i++) {
        memory *m = &p->memories[i];
        const double now = read_timer(&p->timer);
        assay_status status = take_memory(m, take_both);
        if (status == ASSAY_OK)
            status = tell_pinned(p, m);
        if (status == ASSAY_OK)
            status = measure_paths(m, now + (end_ns - now) / (double)(p->count - i), p->list);
        release(m);
        ASSAY_TRY(note_absent(p, m, status));
    }
    return ASSAY_OK;
}

/* ---- pairs of devices ---- */

/* A pair that cannot is no failure: it goes by way of the host. */
static assay_status measure_pair(memory *to, memory *from, double end_ns, json_t *list)
{
    char target[ASSAY__MEMORY_MAX + 16];
    const way w = {cross, NULL, from->own, target, from};

    to->peer = from;
    if (cross(to, 1) == ASSAY_UNSUPPORTED)
        return ASSAY_OK;
    (void)snprintf(target, sizeof target, "%s/peer", to->own);
    return measure_way(to, &w, end_ns, list);
}

static bool is_pair(const memory *a, const memory *b)
{
    return a != b && a->plugin == b->plugin;
}

static size_t count_peers(const probe *p, const memory *m)
{
    size_t peers = 0;

    for (size_t i = 0; i < p->count; i++)
        peers += is_pair(m, &p->memories[i]);
    return peers;
}

/* From each to each other of one backend, in even shares of the time; both hold the same number of
 * bytes then, and the host has no part in it. */
static assay_status measure_pairs_of(probe *p, memory *to, double end_ns)
{
    size_t left = count_peers(p, to);

    for (size_t i = 0; i < p->count; i++) {
        memory *from = &p->memories[i];
        if (!is_pair(to, from))
            continue;
        const double now = read_timer(&p->timer);
        assay_status status = take_own(from, to->bytes);
        if (status == ASSAY_OK)
            status = measure_pair(to, from, now + (end_ns - now) / (double)left, p->list);
        left--;
        release(from);
        ASSAY_TRY(note_absent(p, from, status));
    }
    return ASSAY_OK;
}

static size_t count_pairs(const probe *p)
{
    size_t pairs = 0;

    for (size_t i = 0; i < p->count; i++)
        pairs += count_peers(p, &p->memories[i]);
    return pairs;
}

/* A small size at least of each, as of all paths; larger ones while there is time. */
static assay_status measure_pairs(probe *p, double end_ns)
{
    for (size_t i = 0; i < p->count && count_pairs(p) > 0; i++) {
        memory *to = &p->memories[i];
        const double now = read_timer(&p->timer);
        assay_status status = take_memory(to, take_own);
        if (status == ASSAY_OK)
            status = measure_pairs_of(p, to, now + (end_ns - now) / (double)(p->count - i));
        release(to);
        ASSAY_TRY(note_absent(p, to, status));
    }
    return ASSAY_OK;
}

static assay_status measure(probe *p, assay__plugins *plugins, double seconds)
{
    ASSAY_TRY(make_timer(&p->timer));
    for (size_t i = 0; i < assay__plugins_count(plugins); i++) {
        const assay__plugin *plugin = assay__plugins_at(plugins, i);
        if (plugin->manifest != NULL)
            ASSAY_TRY(add_memories(p, plugin));
    }
    const double begin = read_timer(&p->timer), all_ns = seconds * 1e9;
    /* With devices to pair a third of the time is theirs. */
    const double first_ns = count_pairs(p) > 0 ? all_ns * 2 / 3 : all_ns;
    ASSAY_TRY(measure_all(p, begin + first_ns));
    return measure_pairs(p, begin + all_ns);
}

assay_status assay__transfers_measure(assay__plugins *plugins, double seconds, json_t *reply)
{
    probe *p = calloc(1, sizeof *p);
    assay_status status;

    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "transfers");
    p->list = json_array();
    p->absent = json_array();
    status = assay__json_put_take(reply, "transfers", p->list);
    if (assay__json_put_take(reply, "absent", p->absent) != ASSAY_OK)
        status = ASSAY_NOMEM;
    if (status == ASSAY_OK && assay__transfers_wanted())
        status = measure(p, plugins, seconds);
    for (size_t i = 0; i < p->count; i++)
        assay__backend_close(&p->memories[i].slots);
    free(p);
    return status;
}

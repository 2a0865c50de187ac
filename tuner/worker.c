/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker.c -- the worker's request loop and its table of commands. */
#include "tuner/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/backend_slots.h"
#include "runtime/doing.h"
#include "runtime/error.h"
#include "tuner/peaks.h"
#include "tuner/transfers.h"
#include "tuner/worker_guard.h"

/* Where the parent reads what this process was inside of when it died. */
static void keep_notes(const assay__message *m)
{
    void *map;

    if (m->fd_count != 1)
        return;
    map = mmap(NULL, sizeof(assay__doing), PROT_READ | PROT_WRITE, MAP_SHARED, m->fds[0], 0);
    if (map == MAP_FAILED)
        return;
    assay__doing_at(map);
    assay__guard_notes(map);
}

static assay_status load_plugins(assay__worker_state *s, json_t *request)
{
    json_t *list = json_object_get(request, "refused");
    size_t count = json_array_size(list);
    assay__plugin_refusal *refused = calloc(count + 1, sizeof *refused);
    assay_status status;

    if (refused == NULL)
        return assay__fail(ASSAY_NOMEM, "refused plug-ins");
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_array_get(list, i);
        refused[i].path = json_string_value(json_object_get(row, "path"));
        refused[i].reason = json_string_value(json_object_get(row, "reason"));
        if (refused[i].path == NULL || refused[i].reason == NULL) {
            free(refused);
            return assay__fail(ASSAY_INTERNAL, "a refused plug-in has no path or no reason");
        }
    }
    status = assay__plugins_load_but(json_string_value(json_object_get(request, "plugin_path")),
                                     json_string_value(json_object_get(request, "backends")),
                                     refused, count, &s->plugins);
    free(refused);
    return status;
}

static assay_status do_hello(assay__worker_state *s, json_t *request, assay__message *m,
                             json_t *reply)
{
    json_object_set_new(reply, "pid", json_integer(getpid()));
    if (s->plugins != NULL)
        return assay__fail(ASSAY_INTERNAL, "hello twice");
    keep_notes(m);
    return load_plugins(s, request);
}

static assay_status do_can_run(assay__worker_state *s, json_t *request, assay__message *m,
                               json_t *reply)
{
    (void)m;
    return assay__worker_can_run(s, request, reply);
}

static assay_status do_bindings(assay__worker_state *s, json_t *request, assay__message *m,
                                json_t *reply)
{
    (void)request;
    (void)m;
    return assay__worker_bindings(s, reply);
}

static assay_status do_prepare(assay__worker_state *s, json_t *request, assay__message *m,
                               json_t *reply)
{
    ASSAY_TRY(assay__worker_prepare(s, request, m));
    return assay__guard_is_spent() ? assay__json_put_bool(reply, "is_spent", true) : ASSAY_OK;
}

static assay_status do_run(assay__worker_state *s, json_t *request, assay__message *m,
                           json_t *reply)
{
    (void)m;
    (void)reply;
    return assay__worker_run(s, request);
}

static assay_status do_time(assay__worker_state *s, json_t *request, assay__message *m,
                            json_t *reply)
{
    (void)m;
    return assay__worker_time(s, request, reply);
}

static assay_status do_wide(assay__worker_state *s, json_t *request, assay__message *m,
                            json_t *reply)
{
    (void)reply;
    return assay__worker_wide(s, request, m);
}

static assay_status do_peaks(assay__worker_state *s, json_t *request, assay__message *m,
                             json_t *reply)
{
    (void)s;
    (void)m;
    return assay__peaks_measure(json_number_value(json_object_get(request, "seconds")),
                                json_is_true(json_object_get(request, "spot")), reply);
}

static assay_status do_transfers(assay__worker_state *s, json_t *request, assay__message *m,
                                 json_t *reply)
{
    (void)m;
    return assay__transfers_measure(s->plugins,
                                    json_number_value(json_object_get(request, "seconds")), reply);
}

static assay_status do_load(assay__worker_state *s, json_t *request, assay__message *m,
                            json_t *reply)
{
    json_int_t threads = json_integer_value(json_object_get(request, "threads"));

    (void)m;
    if (s->load == NULL)
        ASSAY_TRY(assay__load_start((unsigned)threads, &s->load));
    assay__load_switch(s->load, json_is_true(json_object_get(request, "on")));
    json_object_set_new(reply, "bytes", json_integer((json_int_t)assay__load_bytes(s->load)));
    return ASSAY_OK;
}

static assay_status do_counters(assay__worker_state *s, json_t *request, assay__message *m,
                                json_t *reply)
{
    (void)s;
    (void)request;
    (void)m;
    return assay__worker_counters(reply);
}

static assay_status do_count(assay__worker_state *s, json_t *request, assay__message *m,
                             json_t *reply)
{
    (void)m;
    return assay__worker_count(s, request, reply);
}

static assay_status do_device(assay__worker_state *s, json_t *request, assay__message *m,
                              json_t *reply)
{
    (void)m;
    return assay__worker_device(s, request, reply);
}

static assay_status do_device_peaks(assay__worker_state *s, json_t *request, assay__message *m,
                                    json_t *reply)
{
    (void)m;
    return assay__worker_device_peaks(s, request, reply);
}

static assay_status do_probe(assay__worker_state *s, json_t *request, assay__message *m,
                             json_t *reply)
{
    (void)m;
    return assay__worker_probe(s, request, reply);
}

static assay_status do_products(assay__worker_state *s, json_t *request, assay__message *m,
                                json_t *reply)
{
    (void)m;
    return assay__worker_products(s, request, reply);
}

static const assay__worker_command commands[] = {
    {"hello", do_hello},
    {"device", do_device},
    {"bindings", do_bindings},
    {"can_run", do_can_run},
    {"prepare", do_prepare},
    {"run", do_run},
    {"time", do_time},
    {"wide", do_wide},
    {"peaks", do_peaks},
    {"load", do_load},
    {"counters", do_counters},
    {"count", do_count},
    {"transfers", do_transfers},
    {"device_peaks", do_device_peaks},
    {"probe", do_probe},
    {"products", do_products},
    {NULL, NULL},
};

static const assay__worker_command *find_command(const assay__worker_command *list,
                                                 const char *name)
{
    for (; list != NULL && name != NULL && list->name != NULL; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

/* Whatever call finds a device lost, kernels ran on it before: to the parent that is a failure of
 * one of them, as another that a device reports. */
static assay_status run_command(const assay__worker_command *command, assay__worker_state *s,
                                assay__message *m, json_t *reply)
{
    const assay_status status = command->run(s, m->body, m, reply);

    return status == ASSAY_DEVICE_LOST ? assay__backend_blame(status) : status;
}

static assay_status dispatch(assay__worker_state *s, assay__message *m, json_t *reply)
{
    const char *name = json_string_value(json_object_get(m->body, "cmd"));
    const assay__worker_command *command = find_command(commands, name);
    assay_status status;

    if (command == NULL)
        command = find_command(s->more, name);
    if (command == NULL)
        return assay__fail(ASSAY_INTERNAL, "unknown request '%s'", name != NULL ? name : "");
    if (s->plugins == NULL && command->run != do_hello)
        return assay__fail(ASSAY_NOT_INITIALIZED, "the first request must be hello");
    if (command->run == do_run || command->run == do_time || command->run == do_count)
        return assay__guard_end(run_command(command, s, m, reply), command->run != do_run, reply);
    status = run_command(command, s, m, reply);
    assay__guard_restore(); /* libraries built with -ffast-math change it when they load */
    return status;
}

static assay_status serve_one(assay__worker_state *s, int socket)
{
    assay__message m = {0};
    json_t *reply = json_object();
    assay_status status, result;

    if (reply == NULL)
        return ASSAY_NOMEM;
    status = assay__message_receive(socket, NULL, &m);
    if (status == ASSAY_OK) {
        assay__error_clear();
        result = dispatch(s, &m, reply);
        json_object_set_new(reply, "status", json_integer(result));
        /* A driver's text may be in any encoding: json_string refuses what is not UTF-8. */
        json_t *text = json_string(result == ASSAY_OK ? "" : assay_last_error());
        json_object_set_new(reply, "error", text != NULL ? text : json_string("(text not UTF-8)"));
        status = assay__message_send(socket, m.token, reply, NULL, 0);
        assay__message_clear(&m);
    }
    json_decref(reply);
    return status;
}

int assay__worker_main(int socket, const assay__worker_command *more)
{
    assay__worker_state s;

    memset(&s, 0, sizeof s);
    s.more = more;
    assay__guard_begin();
    while (serve_one(&s, socket) == ASSAY_OK)
        ;
    assay__load_stop(&s.load);
    assay__worker_release(&s);
    assay__plugins_destroy(&s.plugins);
    free(s.revisions);
    return 0;
}

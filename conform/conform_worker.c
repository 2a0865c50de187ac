/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_worker.c -- see conform_worker.h. */
#include "conform/conform_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "tuner/worker_client.h"

/* ---- the worker's side ---- */

static assay_status do_conform(assay__worker_state *s, json_t *request, assay__message *m,
                               json_t *reply)
{
    const char *rule = json_string_value(json_object_get(request, "rule"));
    const char *backend = json_string_value(json_object_get(request, "backend"));
    const char *path = json_string_value(json_object_get(request, "plugin_path"));
    assay__conform_result r;

    (void)s;
    (void)m;
    memset(&r, 0, sizeof r);
    if (rule == NULL || backend == NULL)
        return assay__fail(ASSAY_INTERNAL, "conform needs a rule and a backend");
    ASSAY_TRY(assay__conform_run(rule, backend, path, &r));
    ASSAY_TRY(assay__json_put_int(reply, "verdict", (int64_t)r.verdict));
    return assay__json_put_string(reply, "reason", r.reason);
}

const assay__worker_command assay__conform_commands[] = {{"conform", do_conform}, {NULL, NULL}};

/* ---- the parent's side ---- */

static assay_status read_reply(const json_t *reply, assay__conform_result *out)
{
    const char *reason = NULL;
    int64_t verdict = 0;

    ASSAY_TRY(assay__json_get_int(reply, "verdict", &verdict));
    ASSAY_TRY(assay__json_get_string(reply, "reason", &reason));
    if (verdict < ASSAY__CONFORM_PASS || verdict > ASSAY__CONFORM_SKIP)
        return assay__fail(ASSAY_INTERNAL, "verdict %lld", (long long)verdict);
    out->verdict = (assay__conform_verdict)verdict;
    (void)snprintf(out->reason, sizeof out->reason, "%s", reason);
    return ASSAY_OK;
}

/* A device whose first launch compiles may need longer; who looks for a hang, less. */
static int limit_ms(void)
{
    const char *text = getenv("ASSAY_CHECK_LIMIT_S");
    const long seconds = text != NULL ? strtol(text, NULL, 10) : 0;

    return seconds >= 1 && seconds <= 3600 ? (int)seconds * 1000 : ASSAY__CONFORM_LIMIT_MS;
}

static assay_status ask(assay__worker *worker, const char *rule, const char *backend,
                        const char *plugin_path, assay__conform_result *out)
{
    json_t *reply = NULL;
    json_t *request = json_pack("{s:s, s:s, s:s, s:s*}", "cmd", "conform", "rule", rule, "backend",
                                backend, "plugin_path", plugin_path);

    if (request == NULL)
        return assay__fail(ASSAY_NOMEM, "conform: out of memory");
    assay_status status = assay__worker_call(worker, request, NULL, 0, limit_ms(), &reply);
    if (status == ASSAY_OK)
        status = read_reply(reply, out);
    json_decref(reply);
    return status;
}

/* Who reads it knows of rules, and of no workers. */
static void say_end(const char *text, char *buf, size_t cap)
{
    static const char ended[] = "the worker ended: ";
    const bool is_end = strncmp(text, ended, sizeof ended - 1) == 0;

    (void)snprintf(buf, cap, "%s%s", is_end ? "the rule's process ended: " : "",
                   is_end ? text + sizeof ended - 1 : text);
}

assay_status assay__conform_try(const char *rule, const char *backend, const char *plugin_path,
                                const volatile int *stop, assay__conform_result *out)
{
    const assay__worker_options options = {
        .plugin_path = plugin_path, .backends = backend, .stop = stop};
    assay__worker *worker = NULL;

    memset(out, 0, sizeof *out);
    assay_status status = assay__worker_start(&options, &worker);
    if (status == ASSAY_OK)
        status = ask(worker, rule, backend, plugin_path, out);
    assay__worker_stop(&worker);
    if (status == ASSAY_OK || status == ASSAY_UNAVAILABLE || status == ASSAY_INTERRUPTED ||
        status == ASSAY_NOMEM)
        return status;
    out->verdict = ASSAY__CONFORM_FAIL;
    say_end(assay_last_error(), out->reason, sizeof out->reason);
    return ASSAY_OK;
}

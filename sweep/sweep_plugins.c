/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_plugins.c -- which plug-ins can be loaded and opened at all, tried out in workers.
 *
 * A plug-in whose constructor, open or library_identity ends or hangs the worker is left out from
 * then on: of this process, which reads manifests, and of all workers. */
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"

#define BINDINGS_MS 60000

assay__worker_options assay__sweep_worker_options(const sweep *s, const char *backends)
{
    return (assay__worker_options){.plugin_path = s->o->plugin_path,
                                   .backends = backends,
                                   .stop = s->o->stop,
                                   .refused = s->refused,
                                   .refused_count = s->refused_count};
}

/* Takes the plug-in of the note out, with assay_last_error() for a reason; false: it names none. */
static bool refuse(sweep *s, const assay__doing *fate)
{
    assay__plugin_refusal *item = &s->refused[s->refused_count];
    char path[sizeof fate->path];

    if (s->refused_count == SWEEP_MAX_REFUSED ||
        (fate->what != ASSAY__DOING_LOAD && fate->what != ASSAY__DOING_OPEN &&
         fate->what != ASSAY__DOING_IDENTIFY))
        return false;
    memcpy(path, fate->path, sizeof path);
    path[sizeof path - 1] = '\0';
    for (size_t i = 0; i < s->refused_count; i++)
        if (strcmp(s->refused[i].path, path) == 0)
            return false;
    item->path = strdup(path);
    item->reason = strdup(assay_last_error());
    s->refused_count++;
    if (item->path == NULL || item->reason == NULL) {
        assay__sweep_forget_refused(s);
        return false;
    }
    assay__sweep_warn(s, "left out: %s: %s", item->path, item->reason);
    return true;
}

void assay__sweep_forget_refused(sweep *s)
{
    for (size_t i = 0; i < s->refused_count; i++) {
        free((void *)(uintptr_t)s->refused[i].path);
        free((void *)(uintptr_t)s->refused[i].reason);
    }
    s->refused_count = 0;
}

static assay_status try_all(sweep *s, assay__doing *fate, json_t **bindings)
{
    assay__worker_options options = assay__sweep_worker_options(s, NULL);
    assay_status status;

    options.fate = fate;
    ASSAY_TRY(assay__worker_start(&options, &s->asker));
    status = assay__worker_call(s->asker, json_pack("{s:s}", "cmd", "bindings"), NULL, 0,
                                BINDINGS_MS, bindings);
    if (status != ASSAY_OK)
        assay__worker_stop(&s->asker);
    return status;
}

assay_status assay__sweep_try_plugins(sweep *s, json_t **bindings)
{
    assay_status status;

    do {
        memset(&s->fate, 0, sizeof s->fate);
        status = try_all(s, &s->fate, bindings);
    } while ((status == ASSAY_CRASH || status == ASSAY_TIMEOUT) && refuse(s, &s->fate));
    if (status == ASSAY_CRASH || status == ASSAY_TIMEOUT)
        return assay__fail_context(ASSAY_UNAVAILABLE, "plug-ins cannot be tried out");
    return status;
}

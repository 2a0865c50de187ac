/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/engine.c -- the life of an engine, and what it says of its device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/doing.h"
#include "runtime/engine_internal.h"
#include "runtime/error.h"
#include "runtime/pick_internal.h"

#define GATE_READY UINT64_C(1)
#define GATE_CALL  UINT64_C(2)

/* ---- in and out ---- */

static void leave_gate(assay_engine *engine)
{
    /* The one that shuts down waits for the last to leave. */
    if (atomic_fetch_sub(&engine->gate, GATE_CALL) == GATE_CALL) {
        pthread_mutex_lock(&engine->life);
        pthread_cond_broadcast(&engine->idle);
        pthread_mutex_unlock(&engine->life);
    }
}

/* Whoever comes while the device is taken anew waits for it. */
static bool wait_for_recovery(assay_engine *engine)
{
    pthread_mutex_lock(&engine->life);
    while (engine->is_recovering)
        pthread_cond_wait(&engine->idle, &engine->life);
    const bool is_ready = assay_engine_is_initialized(engine);
    pthread_mutex_unlock(&engine->life);
    return is_ready;
}

assay_status assay__engine_enter(assay_engine *engine, const char *what, assay__engine_call *call)
{
    while ((atomic_fetch_add(&engine->gate, GATE_CALL) & GATE_READY) == 0) {
        leave_gate(engine);
        if (!wait_for_recovery(engine))
            return assay__fail(ASSAY_NOT_INITIALIZED,
                               "%s: engine '%s' is not initialized; call assay_engine_init first",
                               what, assay_engine_name(engine));
    }
    call->engine = engine;
    call->what = what;
    call->begin_ns =
        atomic_load_explicit(&engine->trace.on, memory_order_relaxed) ? assay__trace_now_ns() : 0;
    return ASSAY_OK;
}

assay_status assay__engine_leave(const assay__engine_call *call, assay_status status,
                                 const char *detail)
{
    if (call->begin_ns != 0)
        assay__trace_add(&call->engine->trace, call, assay__trace_now_ns(), status, detail);
    leave_gate(call->engine);
    return status;
}

/* ---- creating ---- */

/* Names of all plug-ins whose kernels take this engine's memory and that are not left to those who
 * name them. */
static assay_status list_kernels(assay_context *context, const assay_manifest *own, char **out)
{
    assay__plugins *set = assay__context_plugins(context);
    size_t cap = 1;

    for (size_t i = 0; i < assay__plugins_count(set); i++)
        cap += ASSAY__BACKEND_NAME_MAX + 1;
    char *list = calloc(1, cap + ASSAY__BACKEND_NAME_MAX + 1);
    if (list == NULL)
        return assay__fail(ASSAY_NOMEM, "engine: no memory");
    strcat(list, own->name);
    for (size_t i = 0; i < assay__plugins_count(set); i++) {
        const assay_manifest *m = assay__plugins_at(set, i)->manifest;
        if (m == NULL || m == own || m->explicit_only || m->location != own->location ||
            own->location != ASSAY_LOCATION_CPU)
            continue;
        strcat(list, ",");
        strcat(list, m->name);
    }
    *out = list;
    return ASSAY_OK;
}

static assay_status check_kernels(assay_context *context, const char *list)
{
    char name[64];

    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < 63 ? length : 63), list);
        if (length > 0 && assay__plugins_find(assay__context_plugins(context), name) == NULL)
            return assay__fail(ASSAY_UNAVAILABLE,
                               "engine, option kernels: backend '%s' is not here", name);
        list += length + (list[length] == ',');
    }
    return ASSAY_OK;
}

static assay_status choose_kernels(assay_engine *engine, const char *asked)
{
    const assay_manifest *own = engine->plugin->manifest;

    if (asked != NULL && asked[0] == '\0')
        return list_kernels(engine->context, own, &engine->kernels);
    if (asked != NULL)
        ASSAY_TRY(check_kernels(engine->context, asked));
    engine->kernels = strdup(asked != NULL ? asked : own->name);
    return engine->kernels != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "engine: no memory");
}

static assay_status find_plugin(assay_context *context, const char *backend, assay__plugin **out)
{
    assay__plugins *set = assay__context_plugins(context);

    *out = set != NULL ? assay__plugins_find(set, backend) : NULL;
    if (*out != NULL)
        return ASSAY_OK;
    for (size_t i = 0; set != NULL && i < assay__plugins_count(set); i++) {
        const assay__plugin *p = assay__plugins_at(set, i);
        char file[64];
        (void)snprintf(file, sizeof file, "/assay_%.40s.so", backend);
        if (p->status != ASSAY_OK && strstr(p->path, file) != NULL)
            return assay__fail(ASSAY_UNAVAILABLE, "backend '%s': %s %s", backend, p->path,
                               p->reason);
    }
    return assay__fail(ASSAY_UNAVAILABLE,
                       "backend '%s' is not in this context; `assay devices` lists what there is",
                       backend);
}

static bool init_locks(assay_engine *engine)
{
    if (pthread_mutex_init(&engine->life, NULL) != 0)
        return false;
    (void)pthread_cond_init(&engine->idle, NULL);
    assay__trace_init(&engine->trace);
    assay__pinned_init(&engine->pinned);
    return true;
}

assay_status assay_engine_create(assay_context *context, const char *backend,
                                 const assay_engine_options *options, assay_engine **out)
{
    assay_engine_options o = {.struct_size = sizeof o};
    assay__plugin *plugin;

    if (context == NULL || backend == NULL)
        return assay__fail(ASSAY_INVALID,
                           "engine: %s; give a context and the name of one of its backends",
                           context == NULL ? "no context" : "no backend is named");
    if (options != NULL)
        memcpy(&o, options, options->struct_size < sizeof o ? options->struct_size : sizeof o);
    ASSAY_TRY(find_plugin(context, backend, &plugin));
    assay_engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL || !init_locks(engine)) {
        free(engine);
        return assay__fail(ASSAY_NOMEM, "engine: no memory");
    }
    static _Atomic uint64_t serials;
    engine->serial = atomic_fetch_add(&serials, 1) + 1;
    engine->context = engine->routes = context;
    engine->plugin = plugin;
    engine->backend = plugin->backend;
    engine->backend.instance = NULL;
    engine->backend.is_open = false;
    engine->allow_host_fallback = o.allow_host_fallback != 0;
    assay_status status = choose_kernels(engine, o.kernels);
    if (status == ASSAY_OK && strcmp(backend, "null") == 0) {
        status = assay_engine_init(engine, 0);
        engine->lives_always = true;
    }
    if (status != ASSAY_OK) {
        assay_engine_destroy(&engine);
        return status;
    }
    *out = engine;
    return ASSAY_OK;
}

void assay_engine_destroy(assay_engine **engine)
{
    if (engine == NULL || *engine == NULL)
        return;
    assay_engine *e = *engine;
    e->lives_always = false;
    (void)assay_engine_shutdown(e);
    assay__backend_close(&e->backend); /* opened to list devices, never initialised */
    assay__trace_clear(&e->trace);
    assay__pinned_clear(&e->pinned);
    pthread_cond_destroy(&e->idle);
    pthread_mutex_destroy(&e->life);
    free(e->kernels);
    free(e);
    *engine = NULL;
}

const char *assay_engine_name(const assay_engine *engine)
{
    return engine->plugin->manifest->name;
}

const char *assay_engine_version(const assay_engine *engine)
{
    const char *version = engine->plugin->manifest->version;

    return version != NULL && version[0] != '\0' ? version : "unspecified";
}

/* ---- life ---- */

/* With `life` held. */
static assay_status open_backend(assay_engine *engine)
{
    if (engine->backend.is_open)
        return ASSAY_OK;
    assay__doing_begin(ASSAY__DOING_OPEN, engine->plugin->path, "");
    assay_status status = assay__backend_open(&engine->backend);
    assay__doing_end();
    return status;
}

void assay__add_rates(assay_context *context, assay_device_profile *profile)
{
    profile->flops_per_ns = profile->bytes_per_ns = (double)NAN;
    if (profile->location != ASSAY_LOCATION_CPU)
        return;
    pthread_mutex_lock(&context->answering);
    profile->flops_per_ns = context->store_data->of_f32.flops_per_ns;
    profile->bytes_per_ns = context->store_data->of_f32.bytes_per_ns;
    pthread_mutex_unlock(&context->answering);
}

/* What was measured on a device elsewhere is valid in a deployment of its own. */
static assay_status find_routes(assay_engine *engine)
{
    const char *const name = assay_engine_name(engine);
    char hex[ASSAY_DIGEST_HEX];
    assay_deployment there;
    assay_digest digest;
    size_t place = engine->device;

    engine->routes = engine->context;
    if (engine->profile.location != ASSAY_LOCATION_CPU)
        ASSAY_TRY(assay__deployment_place(name, &engine->backend, engine->device, &there, &place));
    (void)snprintf(engine->memory, sizeof engine->memory, "%s:%zu", name, place);
    if (engine->profile.location == ASSAY_LOCATION_CPU)
        return ASSAY_OK;
    assay_deployment_digest(&there, &digest);
    assay_digest_format(&digest, hex);
    return assay__context_branch(engine->context, hex, &engine->routes);
}

static assay_status init(assay_engine *engine, size_t device)
{
    size_t count = 0;

    ASSAY_TRY(open_backend(engine));
    ASSAY_TRY(assay__backend_device_count(&engine->backend, &count));
    if (device >= count)
        return assay__fail(ASSAY_INVALID, "engine '%s': device %zu is not here, it has %zu",
                           assay_engine_name(engine), device, count);
    ASSAY_TRY(assay__backend_select_device(&engine->backend, device));
    memset(&engine->profile, 0, sizeof engine->profile);
    ASSAY_TRY(assay__backend_device_profile(&engine->backend, device, &engine->profile));
    engine->device = device;
    return find_routes(engine);
}

bool assay_engine_is_initialized(const assay_engine *engine)
{
    return (atomic_load(&engine->gate) & GATE_READY) != 0;
}

assay_status assay_engine_init(assay_engine *engine, size_t device)
{
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&engine->life);
    while (engine->is_recovering)
        pthread_cond_wait(&engine->idle, &engine->life);
    if (!assay_engine_is_initialized(engine)) {
        status = init(engine, device);
        if (status == ASSAY_OK)
            atomic_fetch_or(&engine->gate, GATE_READY);
        else
            assay__backend_close(&engine->backend);
    } else if (device != engine->device) {
        status = assay__fail(ASSAY_INVALID,
                             "engine '%s' is initialized on device %zu; shut it down before it "
                             "takes device %zu",
                             assay_engine_name(engine), engine->device, device);
    }
    pthread_mutex_unlock(&engine->life);
    return status;
}

/* Nobody comes in any more; those inside go on. With `life` held, which it lets go meanwhile. */
static void close_gate(assay_engine *engine)
{
    atomic_fetch_and(&engine->gate, ~GATE_READY);
    while (atomic_load(&engine->gate) != 0)
        pthread_cond_wait(&engine->idle, &engine->life);
}

assay_status assay_engine_shutdown(assay_engine *engine)
{
    assay_status status = ASSAY_OK;

    if (engine->lives_always)
        return ASSAY_OK;
    pthread_mutex_lock(&engine->life);
    while (engine->is_recovering)
        pthread_cond_wait(&engine->idle, &engine->life);
    if (assay_engine_is_initialized(engine)) {
        close_gate(engine);
        status = assay__backend_flush(&engine->backend);
        assay__backend_close(&engine->backend);
        assay__pinned_clear(&engine->pinned); /* it went with the instance */
        assay__pinned_init(&engine->pinned);
    }
    pthread_mutex_unlock(&engine->life);
    return status;
}

assay_status assay_engine_prepare(assay_engine *engine)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "prepare", &call));
    return assay__engine_leave(&call, assay__backend_prepare(&engine->backend), NULL);
}

assay_status assay_engine_flush(assay_engine *engine)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "flush", &call));
    return assay__engine_leave(&call, assay__backend_flush(&engine->backend), NULL);
}

assay_status assay_engine_synchronize(assay_engine *engine)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "synchronize", &call));
    return assay__engine_leave(&call, assay__backend_synchronize(&engine->backend), NULL);
}

assay_status assay_engine_state(assay_engine *engine, assay_instance_state *out)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "state", &call));
    return assay__engine_leave(&call, assay__backend_state(&engine->backend, out), NULL);
}

bool assay_engine_is_lost(assay_engine *engine)
{
    assay_instance_state state;

    return assay_engine_state(engine, &state) == ASSAY_OK && state.is_lost != 0;
}

static bool is_lost(const assay_engine *engine)
{
    assay_instance_state state;

    return assay__backend_state(&engine->backend, &state) == ASSAY_OK && state.is_lost != 0;
}

/* With `life` held and the engine initialised: nobody is inside while buffers go. */
static assay_status recover(assay_engine *engine)
{
    ASSAY_TRY(assay__engine_needs(engine, ASSAY_FEATURE_RECOVERY));
    engine->is_recovering = true;
    close_gate(engine);
    const bool was_lost = is_lost(engine);
    assay_status status = assay__backend_recover(&engine->backend);
    if (was_lost)
        assay__pinned_loosen(&engine->pinned, NULL, NULL);
    atomic_fetch_or(&engine->gate, GATE_READY);
    engine->is_recovering = false;
    pthread_cond_broadcast(&engine->idle);
    return status;
}

assay_status assay_engine_recover(assay_engine *engine)
{
    pthread_mutex_lock(&engine->life);
    while (engine->is_recovering)
        pthread_cond_wait(&engine->idle, &engine->life);
    assay_status status =
        assay_engine_is_initialized(engine)
            ? recover(engine)
            : assay__fail(ASSAY_NOT_INITIALIZED, "recover: engine '%s' is not initialized",
                          assay_engine_name(engine));
    pthread_mutex_unlock(&engine->life);
    return status;
}

/* ---- what it is ---- */

static assay_status list_devices(assay_engine *engine, assay_device_info *out, size_t cap,
                                 size_t *count)
{
    ASSAY_TRY(open_backend(engine));
    ASSAY_TRY(assay__backend_device_count(&engine->backend, count));
    for (size_t i = 0; i < *count && i < cap; i++)
        ASSAY_TRY(assay__backend_device_info(&engine->backend, i, &out[i]));
    return ASSAY_OK;
}

assay_status assay_engine_devices(assay_engine *engine, assay_device_info *out, size_t cap,
                                  size_t *count)
{
    pthread_mutex_lock(&engine->life);
    assay_status status = list_devices(engine, out, cap, count);
    pthread_mutex_unlock(&engine->life);
    return status;
}

assay_status assay_engine_profile(assay_engine *engine, assay_device_profile *out)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "profile", &call));
    *out = engine->profile;
    assay__add_rates(engine->context, out);
    return assay__engine_leave(&call, ASSAY_OK, NULL);
}

const char *assay_feature_name(assay_feature feature)
{
    switch (feature) {
#define X(name, bit, text, meaning) \
    case ASSAY_FEATURE_##name:      \
        return text;
        ASSAY_FEATURE_MAP(X)
#undef X
    }
    return "?";
}

assay_status assay__engine_needs(const assay_engine *engine, assay_feature feature)
{
    if ((int)feature >= 0 && (int)feature < (int)ASSAY_FEATURE_COUNT &&
        (engine->profile.features >> feature & 1) != 0)
        return ASSAY_OK;
    return assay__fail(ASSAY_UNSUPPORTED,
                       "backend '%s' has no %s; assay_engine_profile says what "
                       "it has",
                       assay_engine_name(engine), assay_feature_name(feature));
}

bool assay_engine_supports(assay_engine *engine, assay_feature feature)
{
    assay__engine_call call;

    if (assay__engine_enter(engine, "supports", &call) != ASSAY_OK)
        return false;
    return assay__engine_leave(&call, assay__engine_needs(engine, feature), NULL) == ASSAY_OK;
}

assay_status assay_engine_require(assay_engine *engine, assay_feature feature)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "require", &call));
    return assay__engine_leave(&call, assay__engine_needs(engine, feature), NULL);
}

assay_status assay_engine_grid_fits(assay_engine *engine, uint64_t workgroups, uint32_t invocations,
                                    bool *out)
{
    assay__engine_call call;

    ASSAY_TRY(assay__engine_enter(engine, "grid_fits", &call));
    assay_status status = assay__engine_needs(engine, ASSAY_FEATURE_GRID_SYNC);
    if (status == ASSAY_OK)
        status = assay__backend_grid_fits(&engine->backend, workgroups, invocations, out);
    return assay__engine_leave(&call, status, NULL);
}

bool assay_engine_supports_op(assay_engine *engine, assay_op_id op, const uint8_t *dtypes,
                              size_t dtype_count)
{
    const assay_snapshot *snapshot;
    const assay_binding *rows;
    bool found = false;

    if (assay_table_hold(assay_context_table(engine->context), &snapshot) != ASSAY_OK)
        return false;
    size_t count = assay_snapshot_alternatives(snapshot, op, dtypes, dtype_count, NULL, &rows);
    for (size_t i = 0; i < count && !found; i++)
        found = rows[i].available && assay__name_in_list(engine->kernels, rows[i].manifest->name);
    assay_snapshot_release(&snapshot);
    return found;
}

size_t assay_engine_describe(const assay_engine *engine, char *buf, size_t cap)
{
    const bool is_ready = assay_engine_is_initialized(engine);
    assay_instance_state state = {.struct_size = sizeof state};
    union {
        const assay_engine *read_only;
        assay_engine *calling;
    } e = {engine}; /* a call is counted while it is under way */

    if (is_ready)
        (void)assay_engine_state(e.calling, &state);
    int length = snprintf(
        buf, cap,
        "%s %s: %s, device %zu, generation %llu%s, %llu live buffers of %llu bytes, %llu calls",
        assay_engine_name(engine), assay_engine_version(engine),
        is_ready ? "initialized" : "not initialized", engine->device,
        (unsigned long long)state.generation, state.is_lost ? " (lost)" : "",
        (unsigned long long)state.live_buffers, (unsigned long long)state.live_bytes,
        (unsigned long long)atomic_load(&engine->counts[ASSAY__ENGINE_COUNT_calls]));
    return length > 0 ? (size_t)length : 0;
}

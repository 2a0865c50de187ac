/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_kernels.c -- kernels by name, and the list of bindings with their revisions. */
#include <stdlib.h>
#include <string.h>

#include "runtime/deployment_host.h"
#include "runtime/doing.h"
#include "runtime/error.h"
#include "support/json.h"
#include "tuner/worker.h"

#define IDENTITY_CAP 4096

static bool fits(const assay_kernel_desc *desc, const assay_problem *problem)
{
    return desc->op == (assay_op_id)problem->op && desc->dtype_count == problem->dtype_count &&
           memcmp(desc->dtypes, problem->dtypes, desc->dtype_count) == 0;
}

const assay_kernel_desc *assay__manifest_find(const assay_manifest *manifest, const char *name,
                                              const assay_problem *problem)
{
    for (size_t i = 0; i < manifest->kernel_count; i++) {
        const assay_kernel_desc *desc = assay__manifest_kernel(manifest, i);
        if (fits(desc, problem) && strcmp(desc->name, name) == 0)
            return desc;
    }
    return NULL;
}

static assay_status read_tunables(json_t *request, assay__worker_kernel *k)
{
    json_t *list = json_object_get(request, "tunables");

    if (json_array_size(list) != k->desc->tunable_count ||
        k->desc->tunable_count > ASSAY_MAX_TUNABLES)
        return assay__fail(ASSAY_INTERNAL, "%s takes %zu tunables", k->desc->name,
                           k->desc->tunable_count);
    for (size_t i = 0; i < k->desc->tunable_count; i++)
        k->tunables[i] = json_integer_value(json_array_get(list, i));
    return ASSAY_OK;
}

static assay_status find_revision(assay__worker_state *s, assay__plugin *plugin,
                                  const assay_kernel_desc *desc, assay_digest *out)
{
    assay__worker_revision *grown;
    assay_deployment here;
    assay_binding binding;

    for (size_t i = 0; i < s->revision_count; i++)
        if (s->revisions[i].desc == desc) {
            *out = s->revisions[i].revision;
            return ASSAY_OK;
        }
    ASSAY_TRY(assay__deployment_host(&here));
    ASSAY_TRY(assay__plugin_binding(plugin, desc, here.isa, &binding));
    grown = realloc(s->revisions, (s->revision_count + 1) * sizeof *grown);
    if (grown == NULL)
        return assay__fail(ASSAY_NOMEM, "revision of %s", desc->name);
    s->revisions = grown;
    grown[s->revision_count++] = (assay__worker_revision){desc, binding.revision};
    *out = binding.revision;
    return ASSAY_OK;
}

/* A plug-in or library may be built or installed anew while a sweep runs: what the new one does
 * must not be booked as done by the old. */
static assay_status check_revision(assay__worker_state *s, json_t *request, assay__plugin *plugin,
                                   const assay_kernel_desc *desc)
{
    const char *wanted = json_string_value(json_object_get(request, "revision"));
    char hex[ASSAY_DIGEST_HEX];
    assay_digest revision;

    if (wanted == NULL)
        return ASSAY_OK;
    ASSAY_TRY(find_revision(s, plugin, desc, &revision));
    assay_digest_format(&revision, hex);
    if (strcmp(hex, wanted) == 0)
        return ASSAY_OK;
    return assay__fail(ASSAY_STALE,
                       "%s/%s is another than when the sweep began: its plug-in or a library was "
                       "replaced; what is stored holds for the old one; start the sweep again",
                       plugin->manifest->name, desc->name);
}

assay_status assay__worker_kernel_find(assay__worker_state *s, json_t *request,
                                       assay__worker_kernel *out)
{
    if (s->prepared == NULL)
        return assay__fail(ASSAY_INTERNAL, "request without a prepared problem");
    return assay__worker_kernel_for(s, request, &s->prepared->problem, out);
}

/* A device that cannot be taken into use is no fault of the kernel's, whatever its driver calls it.
 */
static assay_status open_for_kernel(assay__plugin *plugin)
{
    const assay_status status = assay__plugin_open(plugin);

    return status == ASSAY_DEVICE || status == ASSAY_DEVICE_LOST || status == ASSAY_NUMERIC ||
                   status == ASSAY_UNSUPPORTED
               ? assay__fail_context(ASSAY_UNAVAILABLE, "backend %s cannot be opened",
                                     plugin->manifest->name)
               : status;
}

assay_status assay__worker_kernel_for(assay__worker_state *s, json_t *request,
                                      const assay_problem *problem, assay__worker_kernel *out)
{
    const char *backend = json_string_value(json_object_get(request, "backend"));
    const char *kernel = json_string_value(json_object_get(request, "kernel"));
    assay__plugin *plugin;

    if (backend == NULL || kernel == NULL)
        return assay__fail(ASSAY_INTERNAL, "request without a kernel");
    plugin = assay__plugins_find(s->plugins, backend);
    if (plugin == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "backend '%s' is not loaded", backend);
    memset(out, 0, sizeof *out);
    out->desc = assay__manifest_find(plugin->manifest, kernel, problem);
    if (out->desc == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "backend '%s' has no kernel '%s' for this problem",
                           backend, kernel);
    ASSAY_TRY(open_for_kernel(plugin));
    ASSAY_TRY(check_revision(s, request, plugin, out->desc));
    out->backend = &plugin->backend;
    return read_tunables(request, out);
}

assay_status assay__worker_oracle(assay__worker_state *s, const assay_problem *problem,
                                  const assay_oracle_desc **out)
{
    assay__plugin *ref = assay__plugins_find(s->plugins, "ref");

    for (size_t i = 0; ref != NULL && i < ref->manifest->oracle_count; i++) {
        if (ref->manifest->oracles[i].op == (assay_op_id)problem->op) {
            *out = &ref->manifest->oracles[i];
            return ASSAY_OK;
        }
    }
    return assay__fail(ASSAY_UNAVAILABLE,
                       "no oracle for op '%s': the plug-in 'ref' is missing or too old",
                       assay_op_get((assay_op_id)problem->op)->name);
}

/* Identity texts of all libraries that the kernel names, one after another. */
static assay_status library_text(assay__plugin *plugin, const assay_kernel_desc *desc, json_t *row)
{
    char *text = calloc(1, IDENTITY_CAP * 2);
    size_t used = 0;
    int bad;

    if (text == NULL)
        return assay__fail(ASSAY_NOMEM, "library identity");
    for (const char *const *lib = desc->libraries; lib != NULL && *lib != NULL; lib++) {
        if (assay__plugin_identify(plugin, *lib, text + used, IDENTITY_CAP * 2 - used) == ASSAY_OK)
            used += strlen(text + used);
    }
    bad = (int)assay__json_put_string(row, "libraries", text);
    free(text);
    return (assay_status)bad;
}

static json_t *tuple_json(const assay_kernel_desc *desc)
{
    json_t *list = json_array();

    for (size_t i = 0; i < desc->dtype_count; i++)
        (void)json_array_append_new(list, json_integer(desc->dtypes[i]));
    return list;
}

static assay_status binding_row(assay__plugin *plugin, const assay_kernel_desc *desc,
                                const char *isa, json_t *list)
{
    json_t *row = json_object();
    char hex[ASSAY_DIGEST_HEX];
    assay_binding binding;
    int bad;

    ASSAY_TRY(assay__json_append_take(list, row));
    ASSAY_TRY(assay__plugin_binding(plugin, desc, isa, &binding));
    assay_digest_format(&binding.revision, hex);
    bad = (int)assay__json_put_string(row, "backend", plugin->manifest->name);
    bad |= (int)assay__json_put_string(row, "kernel", desc->name);
    bad |= (int)assay__json_put_int(row, "op", desc->op);
    bad |= (int)assay__json_put_take(row, "dtypes", tuple_json(desc));
    bad |= (int)assay__json_put_string(row, "revision", hex);
    bad |= (int)assay__json_put_bool(row, "available", binding.available != 0);
    bad |= (int)assay__json_put_string(row, "reason", binding.reason);
    if (bad == 0 && binding.available)
        bad = (int)library_text(plugin, desc, row);
    return (assay_status)bad;
}

assay_status assay__worker_bindings(assay__worker_state *s, json_t *reply)
{
    json_t *list = json_array();
    assay_deployment here;

    ASSAY_TRY(assay__json_put_take(reply, "bindings", list));
    ASSAY_TRY(assay__deployment_host(&here));
    for (size_t i = 0; i < assay__plugins_count(s->plugins); i++) {
        assay__plugin *plugin = assay__plugins_at(s->plugins, i);
        if (plugin->status != ASSAY_OK)
            continue;
        for (size_t k = 0; k < plugin->manifest->kernel_count; k++)
            ASSAY_TRY(
                binding_row(plugin, assay__manifest_kernel(plugin->manifest, k), here.isa, list));
    }
    return ASSAY_OK;
}

/* ---- may they run? ---- */

static assay_status read_problem(json_t *request, assay_problem *out)
{
    const char *text = json_string_value(json_object_get(request, "problem"));

    if (text == NULL)
        return assay__fail(ASSAY_INTERNAL, "request has no problem");
    return assay_problem_parse(text, out);
}

/* Drivers that can_run_fn may rely on are open where a pick asks it, too. */
static assay_status find_row(assay__worker_state *s, json_t *question, const assay_problem *problem,
                             assay__plugin **plugin, const assay_kernel_desc **desc)
{
    const char *backend = json_string_value(json_object_get(question, "backend"));
    const char *kernel = json_string_value(json_object_get(question, "kernel"));

    *plugin = backend != NULL ? assay__plugins_find(s->plugins, backend) : NULL;
    *desc = *plugin != NULL && kernel != NULL
                ? assay__manifest_find((*plugin)->manifest, kernel, problem)
                : NULL;
    if (*desc == NULL || (*desc)->can_run_fn == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "no kernel '%s' on backend '%s' to ask",
                           kernel != NULL ? kernel : "", backend != NULL ? backend : "");
    return (*desc)->libraries != NULL ? assay__plugin_open(*plugin) : ASSAY_OK;
}

/* Question number `item`: one sign a variant. */
static assay_status answer(assay__worker_state *s, json_t *question, uint32_t item,
                           const assay_problem *problem, json_t *answers)
{
    json_t *list = json_object_get(question, "tunables");
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    const assay_kernel_desc *desc;
    assay__plugin *plugin;
    char *signs;

    ASSAY_TRY(find_row(s, question, problem, &plugin, &desc));
    const size_t each = desc->tunable_count;
    const size_t count = each > 0 ? json_array_size(list) / each : 1;
    if (each > ASSAY_MAX_TUNABLES || json_array_size(list) != (each > 0 ? count * each : 0))
        return assay__fail(ASSAY_INTERNAL, "%s takes %zu tunables", desc->name, each);
    signs = calloc(1, count + 1);
    if (signs == NULL)
        return assay__fail(ASSAY_NOMEM, "answers");
    for (size_t v = 0; v < count; v++) {
        for (size_t i = 0; i < each; i++)
            tunables[i] = json_integer_value(json_array_get(list, v * each + i));
        assay__doing_ask(plugin->manifest->name, desc->name, item, (uint32_t)v);
        signs[v] = desc->can_run_fn(problem, tunables) ? '1' : '0';
        assay__doing_end();
    }
    assay_status status = assay__json_append_take(answers, assay__json_text(signs));
    free(signs);
    return status;
}

assay_status assay__worker_can_run(assay__worker_state *s, json_t *request, json_t *reply)
{
    json_t *answers = json_array(), *questions = json_object_get(request, "questions");
    assay_problem problem;

    ASSAY_TRY(assay__json_put_take(reply, "answers", answers));
    ASSAY_TRY(read_problem(request, &problem));
    for (size_t i = 0; i < json_array_size(questions); i++)
        ASSAY_TRY(answer(s, json_array_get(questions, i), (uint32_t)i, &problem, answers));
    return ASSAY_OK;
}

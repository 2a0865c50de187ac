/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_devices.c -- `assay devices`: what is here, and why something is not. */
#include <string.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "cli/kernel_set.h"
#include "gen/config.h"
#include "runtime/doing.h"
#include "runtime/error.h"
#include "runtime/revision.h"
#include "support/format.h"
#include "tuner/counters.h"

typedef struct devices_args {
    assay__common common;
    const char *plugin_path;
} devices_args;

static const assay__arg rows[] = {
    {.name = "plugins",
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(devices_args, plugin_path),
     .metavar = "PATH",
     .help = "colon list of folders or files to load plug-ins from"},
};

static const assay__args_spec spec = {
    .command = "assay devices",
    .summary = "Lists plug-ins, devices and libraries, and says why one is not here",
    .example = "assay devices\nassay devices --backend openblas --json",
};

typedef struct device {
    const assay__plugin *plugin; /* borrowed */
    size_t index;
    assay_status status; /* of opening the driver and asking it */
    char reason[256];
    assay_device_info info;
} device;

typedef struct library {
    const assay__plugin *plugin;
    const char *name; /* as kernels name it */
    assay_status status;
    char reason[256];
    char texts[2048]; /* what `id` points into */
    assay__revision_library id;
} library;

#define DEVICES_MAX   64
#define LIBRARIES_MAX 64

typedef struct found {
    assay__kernel_set set;
    device devices[DEVICES_MAX];
    size_t device_count;
    library libraries[LIBRARIES_MAX];
    size_t library_count;
} found;

static const struct probe {
    const char *name;
    int present;
    const char *reason;
} probes[] = {
#define X(name, present, reason) {name, present, reason},
    ASSAY_PROBE_MAP(X)
#undef X
};
#define PROBE_COUNT (sizeof probes / sizeof probes[0])

/* ---- asking ---- */

static void keep_reason(assay_status status, char *reason, size_t cap)
{
    reason[0] = '\0';
    if (status != ASSAY_OK)
        assay__text_fit(assay_last_error()[0] != '\0' ? assay_last_error() : assay_strerror(status),
                        reason, cap);
}

static assay_status count_devices(const assay__plugin *p, size_t *out)
{
    assay__doing_begin(ASSAY__DOING_OPEN, p->path, "");
    const assay_status status = assay__backend_device_count(&p->backend, out);
    assay__doing_end();
    return status;
}

static assay_status describe_device(const assay__plugin *p, size_t index, assay_device_info *out)
{
    assay__doing_begin(ASSAY__DOING_OPEN, p->path, "");
    const assay_status status = assay__backend_device_info(&p->backend, index, out);
    assay__doing_end();
    return status;
}

static void ask_devices(assay__plugin *p, const char *wanted, found *f)
{
    size_t count = 0;
    assay_status status = assay__plugin_open(p);

    if (status == ASSAY_OK)
        status = count_devices(p, &count);
    if (status != ASSAY_OK)
        count = 1; /* one line that says why */
    for (size_t i = 0; i < count && f->device_count < DEVICES_MAX; i++) {
        device *d = &f->devices[f->device_count];
        memset(d, 0, sizeof *d);
        d->plugin = p;
        d->index = i;
        d->info.struct_size = sizeof d->info;
        d->status = status != ASSAY_OK ? status : describe_device(p, i, &d->info);
        keep_reason(d->status, d->reason, sizeof d->reason);
        if (wanted == NULL || strcmp(wanted, d->info.name) == 0)
            f->device_count++;
    }
}

static bool library_seen(const found *f, const assay__plugin *p, const char *name)
{
    for (size_t i = 0; i < f->library_count; i++)
        if (f->libraries[i].plugin == p && strcmp(f->libraries[i].name, name) == 0)
            return true;
    return false;
}

static void ask_library(assay__plugin *p, const char *name, found *f)
{
    library *l = &f->libraries[f->library_count];
    char identity[2048];

    if (f->library_count == LIBRARIES_MAX || library_seen(f, p, name))
        return;
    memset(l, 0, sizeof *l);
    l->plugin = p;
    l->name = name;
    l->status = assay__plugin_identify(p, name, identity, sizeof identity);
    if (l->status == ASSAY_OK)
        l->status = assay__revision_library_parse(identity, l->texts, sizeof l->texts, &l->id);
    keep_reason(l->status, l->reason, sizeof l->reason);
    f->library_count++;
}

static assay_status ask(const devices_args *a, found *f)
{
    memset(f, 0, sizeof *f);
    ASSAY_TRY(assay__kernel_set_open(a->plugin_path, &a->common.backends, &f->set));
    for (size_t i = 0; i < assay__plugins_count(f->set.plugins); i++) {
        assay__plugin *p = assay__plugins_at(f->set.plugins, i);
        if (p->manifest == NULL)
            continue;
        ask_devices(p, a->common.device, f);
        for (size_t k = 0; k < p->manifest->kernel_count; k++) {
            const char *const *name = assay__manifest_kernel(p->manifest, k)->libraries;
            for (; name != NULL && *name != NULL; name++)
                ask_library(p, *name, f);
        }
    }
    if (a->common.device == NULL || f->device_count > 0)
        return ASSAY_OK;
    assay__kernel_set_close(&f->set);
    return assay__fail(ASSAY_UNAVAILABLE, "no device is called '%s'; 'assay devices' lists names",
                       a->common.device);
}

/* ---- JSON ---- */

static int put_state(json_t *object, assay_status status, const char *reason)
{
    int bad = (int)assay__json_put_string(object, "status", assay_status_name(status));

    if (status != ASSAY_OK)
        bad |= (int)assay__json_put_string(object, "reason", reason);
    return bad;
}

static int put_known(json_t *object, const char *key, const char *text)
{
    return text == NULL || text[0] == '\0' ? 0 : (int)assay__json_put_string(object, key, text);
}

static int put_count(json_t *object, const char *key, uint64_t value)
{
    return value == 0 ? 0 : (int)assay__json_put_int(object, key, (int64_t)value);
}

static json_t *plugin_json(const assay__plugin *p)
{
    json_t *object = json_object();
    int bad = 0;

    if (p->manifest != NULL) {
        bad |= (int)assay__json_put_string(object, "backend", p->manifest->name);
        bad |= put_known(object, "version", p->manifest->version);
        bad |= put_known(object, "compiler", p->manifest->compiler);
        bad |= (int)assay__json_put_int(object, "kernels", (int64_t)p->manifest->kernel_count);
        bad |= (int)assay__json_put_bool(object, "explicit_only", p->manifest->explicit_only != 0);
    }
    bad |= (int)assay__json_put_string(object, "path", p->path);
    bad |= put_state(object, p->status, p->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *device_json(const device *d)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(object, "backend", d->plugin->manifest->name);
    bad |= (int)assay__json_put_int(object, "index", (int64_t)d->index);
    bad |= put_known(object, "name", d->info.name);
    bad |= put_known(object, "architecture", d->info.architecture);
    bad |= put_known(object, "driver", d->info.driver);
    bad |= put_known(object, "uuid", d->info.uuid);
    bad |= put_count(object, "memory_bytes", d->info.memory_bytes);
    bad |= put_count(object, "last_cache_bytes", d->info.last_cache_bytes);
    bad |= put_count(object, "compute_units", d->info.compute_units);
    if (d->status == ASSAY_OK)
        bad |= (int)assay__json_put_bool(object, "is_cpu", d->info.is_cpu != 0);
    bad |= put_state(object, d->status, d->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static const char *version_of(const library *l)
{
    return l->id.version != NULL ? l->id.version : l->id.file_version;
}

static json_t *library_json(const library *l)
{
    json_t *object = json_object();
    int bad = 0;

    bad |= (int)assay__json_put_string(object, "name", l->name);
    bad |= (int)assay__json_put_string(object, "backend", l->plugin->manifest->name);
    bad |= put_known(object, "soname", l->id.soname);
    bad |= put_known(object, "version", version_of(l));
    bad |= put_known(object, "build_id", l->id.build_id);
    bad |= put_known(object, "config", l->id.config);
    bad |= put_state(object, l->status, l->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *probe_json(const struct probe *p)
{
    json_t *object = json_object();
    int bad = (int)assay__json_put_string(object, "name", p->name);

    bad |= (int)assay__json_put_bool(object, "present", p->present != 0);
    if (!p->present)
        bad |= (int)assay__json_put_string(object, "reason", p->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *counter_json(const assay__counter *c)
{
    json_t *object = json_object();
    int bad = (int)assay__json_put_string(object, "name", c->name);

    bad |= (int)assay__json_put_string(object, "unit", c->unit);
    bad |= (int)assay__json_put_bool(object, "available", c->source != NULL);
    if (c->source != NULL)
        bad |= (int)assay__json_put_string(object, "source", c->source->name) |
               (int)assay__json_put_string(object, "event", c->event);
    else
        bad |= (int)assay__json_put_string(object, "reason", c->reason);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int put_counters(json_t *root)
{
    json_t *list = json_array();
    size_t count;
    const assay__counter *all = assay__counters(&count);
    int bad = 0;

    for (size_t i = 0; i < count; i++)
        bad |= (int)assay__json_append_take(list, counter_json(&all[i]));
    return bad | (int)assay__json_put_take(root, "counters", list);
}

static json_t *host_json(const assay__kernel_set *set)
{
    json_t *object = json_object();
    int bad = (int)assay__json_put_string(object, "deployment", set->deployment);

    bad |= put_known(object, "cpu_model", set->host.cpu_model);
    bad |= put_known(object, "cpu_stepping", set->host.cpu_stepping);
    bad |= put_known(object, "microcode", set->host.microcode);
    bad |= put_known(object, "architecture", set->host.architecture);
    bad |= (int)assay__cmd_json_words(object, "isa", set->host.isa, ' ');
    bad |= put_known(object, "os_class", set->host.os_class);
    bad |= put_count(object, "usable_cpus", set->host.usable_cpus);
    bad |= put_count(object, "numa_nodes", set->host.numa_nodes);
    if (bad == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *all_json(const found *f)
{
    json_t *root = assay__cmd_json_object("assay.devices/1"), *plugins = json_array();
    json_t *devices = json_array(), *libraries = json_array(), *build = json_array();
    int bad = 0;

    for (size_t i = 0; i < assay__plugins_count(f->set.plugins); i++)
        bad |= (int)assay__json_append_take(plugins,
                                            plugin_json(assay__plugins_at(f->set.plugins, i)));
    for (size_t i = 0; i < f->device_count; i++)
        bad |= (int)assay__json_append_take(devices, device_json(&f->devices[i]));
    for (size_t i = 0; i < f->library_count; i++)
        bad |= (int)assay__json_append_take(libraries, library_json(&f->libraries[i]));
    for (size_t i = 0; i < PROBE_COUNT; i++)
        bad |= (int)assay__json_append_take(build, probe_json(&probes[i]));
    bad |= (int)assay__json_put_take(root, "host", host_json(&f->set));
    bad |= (int)assay__json_put_take(root, "plugins", plugins);
    bad |= (int)assay__json_put_take(root, "devices", devices);
    bad |= (int)assay__json_put_take(root, "libraries", libraries);
    bad |= put_counters(root);
    bad |= (int)assay__json_put_take(root, "build", build);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- text ---- */

static void titles(assay__table *table, const char *const *names)
{
    for (; *names != NULL; names++)
        assay__table_column(table, *names, ASSAY__LEFT);
}

static void put_status(assay__table *table, assay_status status, const char *reason)
{
    assay__table_cell(table, status == ASSAY_OK ? "ok" : reason);
    assay__table_paint(table, status == ASSAY_OK ? ASSAY__GREEN : ASSAY__YELLOW);
}

static assay_status finish(assay__table *table)
{
    assay_status status = assay__listing_print(table, ASSAY__LISTING_TEXT);

    assay__table_clear(table);
    putchar('\n');
    return status;
}

static assay_status print_plugins(const found *f)
{
    assay__table table = {0};

    titles(&table, (const char *const[]){"plug-in", "version", "kernels", "status", "path", NULL});
    for (size_t i = 0; i < assay__plugins_count(f->set.plugins); i++) {
        const assay__plugin *p = assay__plugins_at(f->set.plugins, i);
        assay__table_cell(&table, p->manifest != NULL ? p->manifest->name : NULL);
        assay__table_cell(&table, p->manifest != NULL ? p->manifest->version : NULL);
        if (p->manifest != NULL)
            assay__table_cellf(&table, "%zu%s", p->manifest->kernel_count,
                               p->manifest->explicit_only ? " (only when named)" : "");
        else
            assay__table_cell(&table, NULL);
        put_status(&table, p->status, p->reason);
        assay__table_cell(&table, p->path);
    }
    return finish(&table);
}

static assay_status print_devices(const found *f)
{
    assay__table table = {0};

    titles(&table, (const char *const[]){"device", "backend", "architecture", "driver", "memory",
                                         "units", "status", NULL});
    for (size_t i = 0; i < f->device_count; i++) {
        const device *d = &f->devices[i];
        assay__table_cell(&table, d->info.name);
        assay__table_cell(&table, d->plugin->manifest->name);
        assay__table_cell(&table, d->info.architecture);
        assay__table_cell(&table, d->info.driver);
        assay__table_cell(&table, d->info.memory_bytes > 0
                                      ? assay__format_bytes((double)d->info.memory_bytes).text
                                      : NULL);
        if (d->info.compute_units > 0)
            assay__table_cellf(&table, "%u", d->info.compute_units);
        else
            assay__table_cell(&table, NULL);
        put_status(&table, d->status, d->reason);
    }
    return finish(&table);
}

/* A backend without its driver says so once, with its device. */
static const char *reason_of(const found *f, const library *l)
{
    for (size_t i = 0; i < f->device_count; i++)
        if (f->devices[i].plugin == l->plugin && f->devices[i].status != ASSAY_OK &&
            strcmp(f->devices[i].reason, l->reason) == 0)
            return "as its device";
    return l->reason;
}

static assay_status print_libraries(const found *f)
{
    assay__table table = {0};

    titles(&table,
           (const char *const[]){"library", "backend", "version", "build-id", "status", NULL});
    for (size_t i = 0; i < f->library_count; i++) {
        const library *l = &f->libraries[i];
        assay__table_cell(&table, l->id.soname != NULL ? l->id.soname : l->name);
        assay__table_cell(&table, l->plugin->manifest->name);
        assay__table_cell(&table, version_of(l));
        assay__table_cellf(&table, "%.12s", l->id.build_id != NULL ? l->id.build_id : "");
        put_status(&table, l->status, reason_of(f, l));
    }
    return finish(&table);
}

static assay_status print_counters(void)
{
    assay__table table = {0};
    size_t count;
    const assay__counter *all = assay__counters(&count);

    titles(&table, (const char *const[]){"counter", "unit", "counted by", "status", NULL});
    for (size_t i = 0; i < count; i++) {
        const assay__counter *c = &all[i];
        assay__table_cell(&table, c->name);
        assay__table_cell(&table, c->unit);
        if (c->source != NULL)
            assay__table_cellf(&table, "%s %s", c->source->name, c->event);
        else
            assay__table_cell(&table, NULL);
        put_status(&table, c->source != NULL ? ASSAY_OK : ASSAY_UNAVAILABLE, c->reason);
    }
    return finish(&table);
}

static assay_status print_build(void)
{
    assay__table table = {0};
    assay_status status;

    titles(&table, (const char *const[]){"built with", "found", NULL});
    for (size_t i = 0; i < PROBE_COUNT; i++) {
        assay__table_cell(&table, probes[i].name);
        assay__table_cellf(&table, "%s%s", probes[i].present ? "yes" : "no: ",
                           probes[i].present ? "" : probes[i].reason);
        assay__table_paint(&table, probes[i].present ? ASSAY__PLAIN : ASSAY__YELLOW);
    }
    status = assay__listing_print(&table, ASSAY__LISTING_TEXT);
    assay__table_clear(&table);
    return status;
}

static assay_status print_text(const found *f)
{
    const assay_deployment *host = &f->set.host;

    assay__put_shown(stdout, host->cpu_model[0] != '\0' ? host->cpu_model : "CPU");
    printf(", %u usable CPUs, %s\n", host->usable_cpus, host->os_class);
    printf("instruction sets: %s\n", host->isa[0] != '\0' ? host->isa : "-");
    printf("deployment: %s\n\n", f->set.deployment);
    ASSAY_TRY(print_plugins(f));
    if (f->device_count > 0)
        ASSAY_TRY(print_devices(f));
    if (f->library_count > 0)
        ASSAY_TRY(print_libraries(f));
    ASSAY_TRY(print_counters());
    return print_build();
}

static int run(const devices_args *a)
{
    static found f; /* too large for a stack */
    assay_status status = ask(a, &f);
    int code = 0;

    if (status != ASSAY_OK)
        return assay__cmd_fail("devices", status);
    if (assay__plugins_count(f.set.plugins) == 0)
        assay__kernel_set_warn("devices", a->common.is_quiet, &f.set);
    if (a->common.is_json)
        code = assay__cmd_print_json("devices", all_json(&f));
    else
        status = print_text(&f);
    /* The list says most about what is missing, so it comes first. */
    if (status == ASSAY_OK && code == 0) {
        status = assay__plugins_check(f.set.plugins, a->plugin_path);
        if (status != ASSAY_OK)
            status = assay__fail_context(status, "--plugins");
    }
    if (status != ASSAY_OK)
        code = assay__cmd_fail("devices", status);
    assay__kernel_set_close(&f.set);
    return code;
}

int cmd_devices(int argc, char **argv)
{
    devices_args a = {.common = ASSAY__COMMON_DEFAULTS};
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(JSON) | ASSAY__COMMON(QUIET) |
                                           ASSAY__COMMON(DEVICE) | ASSAY__COMMON(BACKEND)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 2, argc, argv, &code))
        code = run(&a);
    assay__args_clear(tables, 2);
    return code;
}

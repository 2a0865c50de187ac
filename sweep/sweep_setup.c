/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_setup.c -- what a sweep needs to know before it measures: store, kernels, host. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/machine.h"
#include "support/json.h"
#include "support/str.h"
#include "sweep/sweep_internal.h"
#include "tuner/cold.h"
#include "tuner/free_memory.h"
#include "tuner/worker.h"

double assay__sweep_now_s(const sweep *s)
{
    struct timespec t;

    if (s->o->scripted_clock)
        return 1e-9 * s->timed_ns;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Twice the last cache, so that a rotation finds nothing of its last round there. */
static double rotate_bytes(void)
{
    long llc = sysconf(_SC_LEVEL3_CACHE_SIZE);

    if (llc <= 0)
        llc = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (llc <= 0)
        llc = 32 << 20;
    return 2.0 * (double)llc;
}

/* Larger than any operands; only what is touched is there. */
#define ARENA_BYTES ((off_t)1 << 40)

/* Memory for the operands of all visits.  Where the kernel gives large pages to any process by
 * itself a kernel in production has them too: there each worker takes memory of its own. */
static int make_arena(void)
{
    char text[64];
    int fd = -1;

    if (!assay__machine_file("/sys", "kernel/mm/transparent_hugepage/enabled", text, sizeof text) ||
        strstr(text, "[always]") == NULL)
        fd = memfd_create("assay-arena", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, ARENA_BYTES) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void assay__sweep_empty_arena(const sweep *s)
{
    if (s->arena_fd >= 0)
        (void)fallocate(s->arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, ARENA_BYTES);
}

static bool has_tuple(const assay_kernel_desc *desc, const json_t *dtypes)
{
    if (json_array_size(dtypes) != desc->dtype_count)
        return false;
    for (size_t i = 0; i < desc->dtype_count; i++)
        if (json_integer_value(json_array_get(dtypes, i)) != desc->dtypes[i])
            return false;
    return true;
}

/* Rows of one name differ in their dtypes, and not always in the first. */
static const assay_kernel_desc *find_row(const assay_manifest *m, const char *kernel, int64_t op,
                                         const json_t *dtypes)
{
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *desc = assay__manifest_kernel(m, i);
        if (desc->op == (assay_op_id)op && has_tuple(desc, dtypes) &&
            strcmp(desc->name, kernel) == 0)
            return desc;
    }
    return NULL;
}

/* The worker opened drivers and libraries to know the revisions; here only manifests are read. */
static assay_status take_binding(sweep *s, const json_t *row, sweep_kernel *k)
{
    const char *backend, *kernel, *hex, *libraries = "";
    json_t *dtypes;
    int64_t op;
    bool available;
    assay__plugin *plugin;

    ASSAY_TRY(assay__json_get_string(row, "backend", &backend));
    ASSAY_TRY(assay__json_get_string(row, "kernel", &kernel));
    ASSAY_TRY(assay__json_get_string(row, "revision", &hex));
    ASSAY_TRY(assay__json_get_int(row, "op", &op));
    ASSAY_TRY(assay__json_get_array(row, "dtypes", &dtypes));
    ASSAY_TRY(assay__json_get_bool(row, "available", &available));
    plugin = assay__plugins_find(s->plugins, backend);
    if (plugin == NULL)
        return assay__fail(ASSAY_INTERNAL, "the worker has a backend '%s' that is not here",
                           backend);
    k->manifest = plugin->manifest;
    k->desc = find_row(plugin->manifest, kernel, op, dtypes);
    if (k->desc == NULL)
        return assay__fail(ASSAY_INTERNAL, "the worker has a kernel '%s' that is not here", kernel);
    k->available = available;
    if (available)
        ASSAY_TRY(assay__json_get_string(row, "libraries", &libraries));
    k->libraries = strdup(libraries);
    if (k->libraries == NULL)
        return assay__fail(ASSAY_NOMEM, "kernel list");
    return assay_digest_parse(hex, &k->revision);
}

static assay_status take_bindings(sweep *s, json_t *reply)
{
    json_t *list;
    size_t count;

    ASSAY_TRY(assay__json_get_array(reply, "bindings", &list));
    count = json_array_size(list);
    s->kernels = calloc(count > 0 ? count : 1, sizeof *s->kernels);
    if (s->kernels == NULL)
        return assay__fail(ASSAY_NOMEM, "kernel list");
    for (size_t i = 0; i < count; i++) {
        s->kernel_count++;
        ASSAY_TRY(take_binding(s, json_array_get(list, i), &s->kernels[i]));
    }
    return ASSAY_OK;
}

/* A misspelt backend would leave a sweep of the others, and a store that lacks what was asked. */
static assay_status check_backends(const sweep *s)
{
    assay__strlist names = {0};
    assay_status status = ASSAY_OK;

    if (s->o->backends != NULL)
        status = assay__strlist_split(&names, s->o->backends, ',');
    for (size_t i = 0; status == ASSAY_OK && i < names.count; i++)
        if (assay__plugins_find(s->plugins, names.items[i]) == NULL)
            status = assay__fail(ASSAY_UNAVAILABLE,
                                 "--backend: no usable plug-in '%s'; 'assay devices' says why",
                                 names.items[i]);
    assay__strlist_clear(&names);
    return status;
}

static size_t list_names(const sweep *s, const char **names)
{
    size_t count = 0;

    for (size_t i = 0; i < assay__plugins_count(s->plugins); i++) {
        const assay_manifest *m = assay__plugins_at(s->plugins, i)->manifest;
        if (m == NULL || (s->o->backends != NULL && !assay__name_in_list(s->o->backends, m->name)))
            continue;
        for (size_t k = 0; k < m->kernel_count; k++, count++)
            if (names != NULL)
                names[count] = assay__manifest_kernel(m, k)->name;
    }
    return count;
}

/* A name that no kernel has would leave nothing to measure, and not say why. */
static assay_status check_globs(const sweep *s)
{
    const size_t count = list_names(s, NULL);
    const char **names = calloc(count + 1, sizeof *names), *near = NULL, *idle;

    if (names == NULL)
        return assay__fail(ASSAY_NOMEM, "list of kernels");
    (void)list_names(s, names);
    idle = assay__glob_idle((const char *const *)s->o->kernel_globs, s->o->kernel_glob_count, names,
                            count, &near);
    free(names);
    if (idle == NULL)
        return ASSAY_OK;
    return assay__fail(
        ASSAY_INVALID, "--kernel: no kernel%s%s is called '%s'%s%s%s; 'assay kernels' lists them",
        s->o->backends != NULL ? " of " : "", s->o->backends != NULL ? s->o->backends : "", idle,
        near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

/* Before the store, which a command that cannot start shall not make. */
static assay_status load_plugins(sweep *s)
{
    assay_status status;

    ASSAY_TRY(assay__plugins_load_but(s->o->plugin_path, NULL, s->refused, s->refused_count,
                                      &s->plugins));
    ASSAY_TRY(check_backends(s));
    status = assay__plugins_check(s->plugins, s->o->plugin_path);
    if (status != ASSAY_OK)
        return assay__fail_context(status, "--plugins");
    return check_globs(s);
}

static assay_status take_kernels(sweep *s, json_t *bindings)
{
    ASSAY_TRY(load_plugins(s));
    ASSAY_TRY(assay__sweep_find_place(s));
    if (s->summary->is_absent)
        return ASSAY_OK;
    ASSAY_TRY(assay__sweep_read_place(s));
    ASSAY_TRY(s->o->dry_run ? assay__db_open_copy(s->o->db_path, &s->db)
                            : assay__db_open(s->o->db_path, &s->db));
    return take_bindings(s, bindings);
}

static assay_status load_kernels(sweep *s)
{
    json_t *bindings = NULL;
    assay_status status = assay__sweep_try_plugins(s, &bindings);

    if (status == ASSAY_OK)
        status = take_kernels(s, bindings);
    json_decref(bindings);
    return status;
}

static assay_status open_rows(sweep *s)
{
    char hex[ASSAY_DIGEST_HEX];
    assay_digest digest;
    assay__db_sweep row = {s->o->profile->name, "{}", s->o->argv_json, s->o->seed};
    char *settings = NULL, load[80];

    assay__sweep_load_text(s, load, sizeof load);
    json_t *json =
        json_pack("{s:s, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:s}", "profile",
                  s->o->profile->name, "visits", (int)s->o->profile->visits, "confirms",
                  (int)s->o->profile->confirms, "spans", (int)s->o->profile->spans, "span_ns",
                  s->o->profile->span_ns, "warm_ns", s->o->profile->warm_ns, "visit_budget_ns",
                  s->o->profile->budget_ns, "problem_s", assay__sweep_problem_s(s), "prune",
                  s->o->profile->prune, "rotate_bytes", s->rotate_bytes, "cold",
                  assay__cold_method(), "load", load, "affinity", s->affinity);
    assay_status status;

    if (s->o->evaluations > 0)
        (void)assay__json_put_int(json, "evaluations", (int64_t)s->o->evaluations);
    if (s->o->strict)
        (void)assay__json_put_bool(json, "strict", true);
    if (s->o->run_timeout_ms > 0)
        (void)assay__json_put_real(json, "run_timeout_ms", s->o->run_timeout_ms);
    if (s->o->sample_above_flops > 0)
        (void)assay__json_put_real(json, "sample_above_flops", s->o->sample_above_flops);
    assay_deployment_digest(&s->deployment, &digest);
    assay_digest_format(&digest, hex);
    (void)snprintf(s->deployment_hex, sizeof s->deployment_hex, "%s", hex);
    (void)assay__json_put_string(json, "deployment", hex);
    status = assay__json_dump(json, false, &settings);
    json_decref(json);
    ASSAY_TRY(status);
    row.settings_json = settings;
    status = assay__db_put_deployment(s->db, &s->deployment, s->o->label, &s->deployment_row);
    if (status == ASSAY_OK)
        status = assay__db_begin_sweep(s->db, &row, &s->sweep_row);
    free(settings);
    return status;
}

static char operand_letter(const char *layout, size_t i)
{
    return layout != NULL && i < strlen(layout) ? layout[i] : 'c';
}

/* Descriptors that are none, so that whatever fails later closes nobody's. */
static void init_problem(sweep_problem *p)
{
    p->output_fd = -1;
    for (size_t i = 0; i < SWEEP_SETS; i++)
        p->input_fd[i] = p->wide_fd[i] = -1;
}

static assay_status fill_problem(const sweep *s, const assay__shape *shape, sweep_problem *p)
{
    p->problem = shape->problem;
    p->weight = shape->count;
    if (assay_problem_format(&p->problem, ASSAY_TEXT_ACCURACY, p->text, sizeof p->text) == 0)
        return assay__fail(ASSAY_INTERNAL, "a problem's text is too long");
    for (size_t i = 0; i < p->problem.dtype_count; i++)
        p->layout[i] = operand_letter(s->o->layout, i);
    return ASSAY_OK;
}

/* So that reports can weigh what was measured, and know what was not.  A dry run has a copy of the
 * store, which it leaves behind. */
static assay_status put_uses(sweep *s)
{
    const assay__shape_set *set = s->o->shapes;

    for (size_t i = 0; i < set->use_count; i++) {
        const assay__shape_use *use = &set->uses[i];
        const assay__db_use row = {.sweep = s->sweep_row,
                                   .problem = s->problems[use->shape].row,
                                   .shape_set = use->set,
                                   .row_name = use->name,
                                   .source = use->source,
                                   .run_count = use->count};
        ASSAY_TRY(assay__db_put_use(s->db, &row));
    }
    return ASSAY_OK;
}

/* The store is not locked while kernels are asked: one that hangs would keep all others waiting. */
static assay_status ask_all(sweep *s)
{
    const assay__shape_set *set = s->o->shapes;

    for (size_t i = 0; i < set->count; i++) {
        ASSAY_TRY(fill_problem(s, &set->items[i], &s->problems[i]));
        ASSAY_TRY(assay__sweep_ask(s, &s->problems[i]));
    }
    return ASSAY_OK;
}

static assay_status put_problems(sweep *s, sweep_problem *unused)
{
    (void)unused;
    for (size_t i = 0; i < s->problem_count; i++)
        ASSAY_TRY(assay__db_put_problem(s->db, &s->problems[i].problem, &s->problems[i].row));
    return put_uses(s);
}

static assay_status in_batch(sweep *s, assay_status (*put)(sweep *s, sweep_problem *p),
                             sweep_problem *p)
{
    assay_status status;

    ASSAY_TRY(assay__db_begin(s->db));
    status = put(s, p);
    if (status == ASSAY_OK)
        return assay__db_commit(s->db);
    assay__db_rollback(s->db);
    return status;
}

assay_status assay__sweep_gather(sweep *s, sweep_problem *p)
{
    ASSAY_TRY(in_batch(s, assay__sweep_candidates, p));
    return assay__sweep_incumbent(s, p);
}

static assay_status make_problems(sweep *s)
{
    const assay__shape_set *set = s->o->shapes;

    s->problems = calloc(set->count > 0 ? set->count : 1, sizeof *s->problems);
    if (s->problems == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu problems", set->count);
    s->problem_count = set->count;
    for (size_t i = 0; i < set->count; i++)
        init_problem(&s->problems[i]);
    ASSAY_TRY(assay__db_any_asked_to_an_end(s->db, s->deployment_row, &s->any_asked_to_an_end));
    ASSAY_TRY(ask_all(s));
    return in_batch(s, put_problems, NULL);
}

assay_status assay__sweep_setup(sweep *s)
{
    const assay__machine machine = ASSAY__MACHINE_HERE;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    s->rotate_bytes = rotate_bytes();
    s->arena_fd = make_arena();
    assay__environment_open(&s->environment);
    assay__sweep_affinity(s->affinity, sizeof s->affinity);
    s->memory_bytes = s->o->memory_bytes > 0 ? s->o->memory_bytes : assay__free_memory(&machine);
    s->cpus = cpus > 0 ? (unsigned)cpus : 1;
    ASSAY_TRY(load_kernels(s));
    if (s->summary->is_absent)
        return ASSAY_OK;
    if (s->deployment.usable_cpus > 0)
        s->cpus = s->deployment.usable_cpus;
    ASSAY_TRY(open_rows(s));
    assay__sweep_roof_init(s);
    return make_problems(s);
}

void assay__sweep_teardown(sweep *s)
{
    for (size_t i = 0; s->problems != NULL && i < s->problem_count; i++) {
        assay__sweep_release(&s->problems[i]);
        assay__sweep_forget_answers(&s->problems[i]);
        free(s->problems[i].candidates);
        free(s->problems[i].briefs);
    }
    free(s->problems);
    assay__sweep_exhaust_clear(s);
    assay__sweep_variants_clear(s);
    for (size_t i = 0; i < s->kernel_count; i++)
        free(s->kernels[i].libraries);
    free(s->kernels);
    free(s->peaks);
    free(s->equals);
    if (s->arena_fd >= 0)
        close(s->arena_fd);
    assay__worker_stop(&s->asker);
    assay__worker_stop(&s->loader);
    assay__sweep_end_round(s);
    assay__environment_close(&s->environment);
    json_decref(s->counters);
    assay__sweep_forget_refused(s);
    assay__plugins_destroy(&s->plugins);
    assay__db_close(&s->db);
}

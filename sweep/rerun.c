/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/rerun.c -- runs checked variants once more; see rerun.h. */
#include "sweep/rerun.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"
#include "sweep/sweep_internal.h"

/* For a call whose time nobody knows; others get this and many times what they took. */
#define LEAST_MS 30000
#define TIMES    50.0

struct assay__rerun {
    char *plugin_path; /* NULL: the default places */
    unsigned threads;
    const volatile int *stop;
    char *backend; /* of the worker */
    assay__worker *worker;
    bool is_used; /* it has run an item */
};

typedef struct files {
    assay__input_plan in;
    assay__output_plan out;
    int input, output;
    char *mapped; /* the output */
} files;

assay_status assay__rerun_open(const char *plugin_path, unsigned threads, const volatile int *stop,
                               assay__rerun **out)
{
    assay__rerun *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r != NULL && plugin_path != NULL)
        r->plugin_path = strdup(plugin_path);
    if (r == NULL || (plugin_path != NULL && r->plugin_path == NULL)) {
        free(r);
        return assay__fail(ASSAY_NOMEM, "runs of winners");
    }
    r->threads = threads > 0 ? threads : 1;
    r->stop = stop;
    *out = r;
    return ASSAY_OK;
}

void assay__rerun_close(assay__rerun **rerun)
{
    assay__rerun *r = *rerun;

    if (r == NULL)
        return;
    assay__worker_stop(&r->worker);
    free(r->backend);
    free(r->plugin_path);
    free(r);
    *rerun = NULL;
}

/* One worker serves the items of a backend, one after the other. */
static assay_status have_worker(assay__rerun *r, const char *backend)
{
    const assay__worker_options options = {
        .plugin_path = r->plugin_path, .backends = backend, .stop = r->stop};

    if (r->worker != NULL && (!assay__worker_alive(r->worker) || strcmp(r->backend, backend) != 0))
        assay__worker_stop(&r->worker);
    if (r->worker != NULL)
        return ASSAY_OK;
    free(r->backend);
    r->backend = strdup(backend);
    if (r->backend == NULL)
        return assay__fail(ASSAY_NOMEM, "name of a backend");
    r->is_used = false;
    return assay__worker_start(&options, &r->worker);
}

static assay_status fill_inputs(const assay__rerun *r, const assay_problem *p, uint64_t seed,
                                const files *f)
{
    assay_status status = ASSAY_OK;
    assay_stratum first;
    char *base = mmap(NULL, f->in.total, PROT_READ | PROT_WRITE, MAP_SHARED, f->input, 0);

    if (base == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map the inputs");
    if (assay__strata_preferred((assay_op_id)p->op, 1, &first) != 1)
        status = assay__fail(ASSAY_INTERNAL, "the op has no input set");
    for (unsigned i = 0; status == ASSAY_OK && i < f->in.count; i++)
        status = assay__inputs_fill_all(p, first, seed, i, r->threads, base + f->in.offset[i]);
    munmap(base, f->in.total);
    return status;
}

static assay_status make_files(const assay__rerun *r, const assay_problem *p,
                               const assay__rerun_item *item, files *f)
{
    void *map;

    ASSAY_TRY(assay__input_plan_make(p, item->align, &f->in));
    ASSAY_TRY(assay__output_plan_make(p, item->align, &f->out));
    ASSAY_TRY(assay__sweep_file("assay-inputs", f->in.total, &f->input));
    ASSAY_TRY(assay__sweep_file("assay-output", f->out.total, &f->output));
    ASSAY_TRY(fill_inputs(r, p, item->seed, f));
    map = mmap(NULL, f->out.total, PROT_READ | PROT_WRITE, MAP_SHARED, f->output, 0);
    if (map == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map the output");
    f->mapped = map;
    return ASSAY_OK;
}

static void drop_files(files *f)
{
    if (f->mapped != NULL)
        munmap(f->mapped, f->out.total);
    if (f->input >= 0)
        close(f->input);
    if (f->output >= 0)
        close(f->output);
}

static assay_status make_request(const assay__rerun_item *item, json_t **out)
{
    char hex[ASSAY_DIGEST_HEX];
    json_t *values = json_array();

    for (size_t i = 0; i < item->tunable_count; i++)
        json_array_append_new(values, json_integer(item->tunables[i]));
    assay_digest_format(&item->kernel_revision, hex);
    *out = json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "cmd", "run", "backend", item->backend,
                     "kernel", item->kernel, "revision", hex, "tunables", values, "set", 0);
    return *out != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "request");
}

static int limit_ms(double expected_ns)
{
    const double known = isfinite(expected_ns) ? expected_ns * 1e-6 * TIMES : 0;

    return LEAST_MS + (int)fmin(known, 3.6e6);
}

static assay_status run_on(assay__rerun *r, const assay__rerun_item *item, const files *f)
{
    const int fds[] = {f->input, f->output};
    json_t *request = NULL, *reply = NULL;
    assay_status status;

    ASSAY_TRY(make_request(item, &request));
    status = assay__worker_call(r->worker,
                                json_pack("{s:s, s:s, s:i}", "cmd", "prepare", "problem",
                                          item->problem, "align", (int)item->align),
                                fds, 2, LEAST_MS, &reply);
    json_decref(reply);
    reply = NULL;
    if (status != ASSAY_OK) {
        json_decref(request);
        return status;
    }
    status = assay__worker_call(r->worker, request, NULL, 0, limit_ms(item->expected_ns), &reply);
    json_decref(reply);
    return status;
}

static assay_status try_once(assay__rerun *r, const assay_problem *p, const assay__rerun_item *item,
                             const files *f)
{
    assay__output_poison(f->mapped, &f->out, (assay_dtype)p->dtypes[p->dtype_count - 1]);
    ASSAY_TRY(have_worker(r, item->backend));
    return run_on(r, item, f);
}

/* What a process or a device has come to by the items before is no fault of this one: who fails
 * behind others is tried again alone, and nobody is run behind a failure. */
static assay_status run_item(assay__rerun *r, const assay_problem *p, const assay__rerun_item *item,
                             const files *f)
{
    assay_status status = try_once(r, p, item, f);

    if (status != ASSAY_OK && status != ASSAY_INTERRUPTED && r->is_used) {
        assay__worker_stop(&r->worker);
        status = try_once(r, p, item, f);
    }
    r->is_used = true;
    if (status != ASSAY_OK)
        assay__worker_stop(&r->worker);
    return status;
}

assay_status assay__rerun_digest(assay__rerun *r, const assay__rerun_item *item, uint64_t *digest)
{
    files f = {.input = -1, .output = -1};
    assay_problem problem;
    uint64_t first = 0;
    assay_status status;

    ASSAY_TRY(assay_problem_parse(item->problem, &problem));
    status = make_files(r, &problem, item, &f);
    if (status == ASSAY_OK)
        status = run_item(r, &problem, item, &f);
    if (status == ASSAY_OK && assay__output_overrun(f.mapped, &f.out, &first) > 0)
        status = assay__fail(ASSAY_NUMERIC, "it writes outside of its output");
    if (status == ASSAY_OK)
        *digest = assay__output_digest(f.mapped + f.out.offset, (size_t)f.out.bytes);
    drop_files(&f);
    return status;
}

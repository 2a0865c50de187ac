/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_stay.c -- see bench_stay.h. */
#include "cli/bench_stay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assay/pick.h"
#include "calibrate/inputs.h"
#include "runtime/error.h"
#include "support/file.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"
#include "tuner/arena.h"
#include "tuner/stats.h"

#define ALIGN    16
#define LIMIT_MS 30000

static void take_kernel(const assay_route *route, assay__bench_stay *s)
{
    const assay_kernel_desc *desc = route->binding->desc;

    (void)snprintf(s->backend, sizeof s->backend, "%s", route->binding->manifest->name);
    (void)snprintf(s->kernel, sizeof s->kernel, "%s", desc->name);
    s->tunable_count = desc->tunable_count;
    memcpy(s->tunables, route->tunables, s->tunable_count * sizeof s->tunables[0]);
    s->threads_at = s->tunable_count;
    for (size_t i = 0; i < s->tunable_count; i++)
        if (strcmp(desc->tunables[i].name, "threads") == 0)
            s->threads_at = i;
}

/* The kernel that a machine without measurements would run. */
static assay_status choose_kernel(const assay__bench_options *o, const assay_problem *problem,
                                  assay__bench_stay *s)
{
    const assay_open_options options = {.struct_size = sizeof options,
                                        .plugin_path = o->plugin_path};
    assay_context *context = NULL;
    assay_question question;
    assay_route route;
    assay_status status;

    assay_question_init(problem, &question);
    question.backends = o->backends;
    question.max_threads = 1;
    ASSAY_TRY(assay_open(NULL, &options, &context));
    status = assay_pick(context, &question, &route);
    if (status == ASSAY_OK)
        take_kernel(&route, s);
    assay_close(&context);
    return status;
}

static assay_status make_files(const assay__bench_options *o, const assay_problem *problem,
                               assay__bench_stay *s)
{
    assay__input_plan in;
    assay__output_plan out;
    assay_status status = ASSAY_OK;
    char *base;

    ASSAY_TRY(assay__input_plan_make(problem, ALIGN, &in));
    ASSAY_TRY(assay__output_plan_make(problem, ALIGN, &out));
    base = calloc(1, in.total);
    if (base == NULL)
        return assay__fail(ASSAY_NOMEM, "no memory for inputs");
    for (unsigned i = 0; status == ASSAY_OK && i < in.count; i++)
        status = assay__inputs_fill(problem, ASSAY_STRATUM_NORMAL, o->seed, i, 0,
                                    (uint64_t)assay_problem_operand_elements(problem, i),
                                    base + in.offset[i]);
    if (status == ASSAY_OK)
        status = assay__memfd_sealed("assay-inputs", base, in.total, &s->fds[0]);
    free(base);
    if (status != ASSAY_OK)
        return status;
    s->fds[1] = memfd_create("assay-output", MFD_CLOEXEC);
    if (s->fds[1] < 0 || ftruncate(s->fds[1], (off_t)out.total) != 0)
        return assay__fail(ASSAY_NOMEM, "no memory for the output");
    return ASSAY_OK;
}

assay_status assay__bench_stay_make(const assay__bench_options *o, const assay_problem *problem,
                                    assay__bench_stay *out)
{
    *out = (assay__bench_stay){.plugin_path = o->plugin_path, .fds = {-1, -1}};
    (void)assay_problem_format(problem, ASSAY_TEXT_ACCURACY, out->text, sizeof out->text);
    assay__rng_seed_named(&out->rng, o->seed, out->text);
    ASSAY_TRY(choose_kernel(o, problem, out));
    return make_files(o, problem, out);
}

void assay__bench_stay_clear(assay__bench_stay *s)
{
    for (size_t i = 0; i < 2; i++) {
        if (s->fds[i] >= 0)
            close(s->fds[i]);
        s->fds[i] = -1;
    }
}

assay_status assay__bench_stay_worker(const assay__bench_stay *s, assay__worker **worker)
{
    const assay__worker_options options = {.plugin_path = s->plugin_path};
    json_t *reply = NULL;
    assay_status status;

    ASSAY_TRY(assay__worker_start(&options, worker));
    status = assay__worker_call(
        *worker, json_pack("{s:s, s:s, s:i}", "cmd", "prepare", "problem", s->text, "align", ALIGN),
        s->fds, 2, LIMIT_MS, &reply);
    json_decref(reply);
    return status;
}

/* Samples as they came, and behind them those that are part of the time. */
static assay_status keep_samples(const json_t *reply, const json_t *list, double *samples,
                                 size_t *kept)
{
    const json_t *rejected = json_object_get(reply, "rejected");
    const size_t n = json_array_size(list);
    char *places = NULL;
    assay_status status;

    for (size_t i = 0; i < n; i++)
        samples[i] = json_number_value(json_array_get(list, i));
    if (rejected != NULL)
        ASSAY_TRY(assay__json_dump(rejected, false, &places));
    status = assay__sweep_keep(samples, n, places, samples + n, kept);
    free(places);
    return status;
}

/* As a sweep does: spans that were taken again come behind those that are left out. */
static assay_status median_of(const json_t *reply, double *median_ns)
{
    json_t *list;
    double *samples;
    size_t n, kept = 0;
    assay_status status;

    ASSAY_TRY(assay__json_get_array(reply, "samples", &list));
    n = json_array_size(list);
    samples = calloc(2 * n + 1, sizeof *samples);
    if (samples == NULL)
        return assay__fail(ASSAY_NOMEM, "%zu samples", n);
    status = keep_samples(reply, list, samples, &kept);
    if (status == ASSAY_OK)
        status = kept > 0 ? assay__stats_median(samples + n, kept, median_ns)
                          : assay__fail(ASSAY_DEVICE, "all of %zu spans were disturbed", n);
    free(samples);
    return status;
}

assay_status assay__bench_stay_time(assay__bench_stay *s, assay__worker *worker,
                                    const assay__bench_effort *effort, double *median_ns)
{
    json_t *tunables = json_array(), *request, *reply = NULL;
    assay_status status;

    for (size_t i = 0; i < s->tunable_count; i++)
        json_array_append_new(tunables, json_integer(s->tunables[i]));
    request = json_pack("{s:s, s:s, s:s, s:o, s:i, s:f, s:i, s:f, s:f, s:f, s:I}", "cmd", "time",
                        "backend", s->backend, "kernel", s->kernel, "tunables", tunables, "cache",
                        effort->cache, "span_ns", effort->span_ns, "spans", (int)effort->spans,
                        "warm_ns", effort->warm_ns, "budget_ns", effort->budget_ns, "rotate_bytes",
                        effort->rotate_bytes, "seed", (json_int_t)(assay__rng_bits(&s->rng) >> 40));
    status = assay__worker_call(worker, request, NULL, 0, LIMIT_MS, &reply);
    if (status == ASSAY_OK)
        status = median_of(reply, median_ns);
    json_decref(reply);
    return status;
}

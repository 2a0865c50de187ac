/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/exhaust_worker.c -- see exhaust_worker.h. */
#include "sweep/exhaust_worker.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "calibrate/unary_judge.h"
#include "runtime/error.h"
#include "runtime/host_backend.h"

static assay_status read_launch(assay__worker_state *s, json_t *request, assay_unary_launch *out)
{
    const char *text = json_string_value(json_object_get(request, "problem"));
    assay__worker_kernel k;

    if (text == NULL)
        return assay__fail(ASSAY_INTERNAL, "request has no problem");
    ASSAY_TRY(assay_problem_parse(text, &out->problem));
    ASSAY_TRY(assay__worker_kernel_for(s, request, &out->problem, &k));
    ASSAY_TRY(assay__worker_oracle(s, &out->problem, &out->oracle));
    out->backend = k.backend;
    out->kernel = k.desc;
    for (size_t i = 0; i < ASSAY_MAX_TUNABLES; i++)
        out->tunables[i] = k.tunables[i];
    return ASSAY_OK;
}

static assay_status write_part(int fd, const assay_exhaustive_result *r)
{
    struct stat st;
    assay__exhaust_part *part = MAP_FAILED;

    if (fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof *part)
        part = mmap(NULL, sizeof *part, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (part == MAP_FAILED)
        return assay__fail(ASSAY_INTERNAL, "the result file is too small");
    part->inputs = r->inputs;
    part->nan_inputs = r->nan_inputs;
    part->digest = r->digest;
    assay__error_stats_pack(&r->stats, part->stats);
    munmap(part, sizeof *part);
    return ASSAY_OK;
}

/* By the host: one thread launches, since that launches may come from several at once is no rule
 * for kernels; of a device apart all threads judge. */
static assay_status run_here(assay_unary_launch *launch, const assay_exhaustive_plan *plan,
                             assay_exhaustive_result *out)
{
    assay_exhaustive_plan p = *plan;

    ASSAY_TRY(assay__unary_bring(launch, ASSAY_UNARY_PIECE));
    if (!launch->is_apart)
        p.threads = 1;
    const assay__unary unary = assay__unary_of(launch);
    const assay_status status = assay__exhaustive_run(&unary, &p, out);
    assay__unary_leave(launch);
    return status;
}

/* On the device where it has a judge; one that is not believed is told of. */
static assay_status run(assay_unary_launch *launch, const assay_exhaustive_plan *plan,
                        assay_exhaustive_result *out, json_t *reply)
{
    const assay_status status = assay__unary_judged(launch, plan, out);

    json_object_set_new(reply, "by_device", json_boolean(status == ASSAY_OK));
    if (status == ASSAY_NUMERIC)
        json_object_set_new(reply, "doubt", json_string(assay_last_error()));
    if (status != ASSAY_UNSUPPORTED && status != ASSAY_NUMERIC && status != ASSAY_NOMEM)
        return status;
    return run_here(launch, plan, out);
}

static assay_status do_exhaust(assay__worker_state *s, json_t *request, assay__message *m,
                               json_t *reply)
{
    const assay_exhaustive_plan plan = {
        .threads = (unsigned)json_integer_value(json_object_get(request, "threads")),
        .first_batch = (uint64_t)json_integer_value(json_object_get(request, "first_batch")),
        .batch_count = (uint64_t)json_integer_value(json_object_get(request, "batch_count")),
        .digest_only = json_is_true(json_object_get(request, "digest_only"))};
    assay_unary_launch launch = {.backend = NULL};
    assay_exhaustive_result r;

    if (m->fd_count != 1)
        return assay__fail(ASSAY_INTERNAL, "exhaust needs a result file");
    ASSAY_TRY(read_launch(s, request, &launch));
    ASSAY_TRY(assay__backend_prepare(launch.backend)); /* or the first launch would wait for it */
    const uint64_t begin_ns = assay__host_now_ns();
    ASSAY_TRY(run(&launch, &plan, &r, reply));
    const double seconds = (double)(assay__host_now_ns() - begin_ns) * 1e-9;
    assay_status status = write_part(m->fds[0], &r);
    assay__exhaustive_clear(&r);
    json_object_set_new(reply, "seconds", json_real(seconds));
    return status;
}

const assay__worker_command assay__exhaust_commands[] = {{"exhaust", do_exhaust}, {NULL, NULL}};

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_run.c -- preparing a problem, single runs, and the oracle's wide results. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"
#include "tuner/worker_apart.h"
#include "tuner/worker_guard.h"

void assay__worker_addresses(const assay__worker_problem *p, char *inputs, char *output,
                             void *out[ASSAY_MAX_OPERANDS])
{
    for (size_t i = 0; i < p->in.count; i++)
        out[i] = inputs + p->in.offset[i];
    out[p->problem.dtype_count - 1] = output + p->out.offset;
}

void assay__worker_release(assay__worker_state *s)
{
    assay__worker_problem *p = s->prepared;

    if (p == NULL)
        return;
    for (size_t i = 0; i < p->sets; i++)
        if (p->input_fd[i] >= 0)
            close(p->input_fd[i]);
    assay__unmap_guarded(p->inputs, p->in.total);
    assay__unmap_guarded(p->output, p->out.total);
    assay__worker_pools_clear(p);
    if (p->arena >= 0)
        close(p->arena);
    free(p);
    s->prepared = NULL;
}

static assay_status check_file(int fd, uint64_t total, const char *what)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < total)
        return assay__fail(ASSAY_INTERNAL, "%s file is too small", what);
    return ASSAY_OK;
}

static assay_status read_problem(json_t *request, assay_problem *p, unsigned *align)
{
    const char *text = json_string_value(json_object_get(request, "problem"));

    if (text == NULL)
        return assay__fail(ASSAY_INTERNAL, "request has no problem");
    *align = (unsigned)json_integer_value(json_object_get(request, "align"));
    return assay_problem_parse(text, p);
}

static assay_status map_sets(assay__worker_problem *p, assay__message *m)
{
    for (size_t i = 0; i < p->sets; i++) {
        ASSAY_TRY(check_file(m->fds[i], p->in.total, "input"));
        p->input_fd[i] = fcntl(m->fds[i], F_DUPFD_CLOEXEC, 3);
        if (p->input_fd[i] < 0)
            return assay__fail(ASSAY_NOMEM, "no descriptor for the inputs");
    }
    p->inputs = assay__map_guarded(m->fds[0], p->in.total, false);
    if (p->inputs == NULL)
        return assay__fail(ASSAY_NOMEM, "cannot map the inputs");
    p->placed = 0;
    ASSAY_TRY(check_file(m->fds[p->sets], p->out.total, "output"));
    p->output = assay__map_guarded(m->fds[p->sets], p->out.total, true);
    if (p->output == NULL)
        return assay__fail(ASSAY_NOMEM, "cannot map the output");
    assay__populate(p->output, (size_t)p->out.total, true);
    return ASSAY_OK;
}

assay_status assay__worker_place(assay__worker_problem *p, size_t set)
{
    if (set >= p->sets)
        return assay__fail(ASSAY_INTERNAL, "input set %zu does not exist", set);
    if (set == p->placed)
        return ASSAY_OK;
    p->placed = p->sets;
    if (mmap(p->inputs, (size_t)p->in.total, PROT_READ, MAP_SHARED | MAP_FIXED, p->input_fd[set],
             0) == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map input set %zu", set);
    assay__populate(p->inputs, (size_t)p->in.total, true);
    p->placed = set;
    return ASSAY_OK;
}

/* The last descriptor, when the request says so, is kept: what it is for is not known yet. */
static void take_arena(assay__worker_problem *p, json_t *request, assay__message *m)
{
    json_t *begin = json_object_get(request, "arena");

    p->arena = -1;
    if (!json_is_integer(begin) || m->fd_count < 3)
        return;
    p->arena_begin = json_integer_value(begin);
    p->arena = m->fds[--m->fd_count];
}

assay_status assay__worker_prepare(assay__worker_state *s, json_t *request, assay__message *m)
{
    assay__worker_problem *p;
    assay_status status;

    /* Before the old one is released: never at its address, by which a backend may know it. */
    p = calloc(1, sizeof *p);
    assay__worker_release(s);
    if (p == NULL)
        return assay__fail(ASSAY_NOMEM, "problem");
    if (m->fd_count < 2) {
        free(p);
        return assay__fail(ASSAY_INTERNAL, "prepare needs input and output files");
    }
    take_arena(p, request, m);
    p->sets = m->fd_count - 1;
    for (size_t i = 0; i < p->sets; i++)
        p->input_fd[i] = -1;
    s->prepared = p;
    status = read_problem(request, &p->problem, &p->align);
    if (status == ASSAY_OK)
        status = assay__input_plan_make(&p->problem, p->align, &p->in);
    if (status == ASSAY_OK)
        status = assay__output_plan_make(&p->problem, p->align, &p->out);
    if (status == ASSAY_OK)
        status = map_sets(p, m);
    if (status != ASSAY_OK)
        assay__worker_release(s);
    else
        assay__guard_limit(json_number_value(json_object_get(request, "memory_bytes")));
    return status;
}

assay_status assay__worker_run(assay__worker_state *s, json_t *request)
{
    size_t set = (size_t)json_integer_value(json_object_get(request, "set"));
    void *addresses[ASSAY_MAX_OPERANDS] = {NULL};
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay__worker_kernel k;
    bool is_apart = false;

    ASSAY_TRY(assay__worker_kernel_find(s, request, &k));
    ASSAY_TRY(assay__worker_place(s->prepared, set));
    assay__worker_addresses(s->prepared, s->prepared->inputs, s->prepared->output, addresses);
    if (assay__reads_output(&s->prepared->problem)) {
        size_t last = s->prepared->in.count - 1;
        memcpy(addresses[s->prepared->problem.dtype_count - 1],
               (char *)s->prepared->inputs + s->prepared->in.offset[last],
               s->prepared->in.bytes[last]);
    }
    ASSAY_TRY(assay__worker_is_apart(k.backend, &is_apart));
    if (is_apart)
        return assay__worker_apart_run(s->prepared, &k);
    ASSAY_TRY(assay__tensors_make(&s->prepared->problem, addresses, operands));
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = s->prepared->problem.dtype_count,
                                 .problem = &s->prepared->problem,
                                 .operands = operands,
                                 .tunables = k.tunables,
                                 .instance = k.backend->instance,
                                 .tunable_count = (uint32_t)k.desc->tunable_count};
    assay_status status = assay__backend_launch(k.backend, k.desc->run, &launch);
    if (status == ASSAY_OK)
        status = assay__backend_synchronize(k.backend);
    return assay__backend_blame(status);
}

/* The result file: hi, lo, bound and, where the op has one, magnitude: count doubles each. */
static assay_status compute_wide(assay__worker_state *s, const assay_problem *p, char *inputs,
                                 const assay__input_plan *in, double *result, unsigned threads)
{
    size_t out_index = (size_t)p->dtype_count - 1;
    int64_t count = assay_problem_operand_elements(p, out_index);
    bool has_magnitude = assay_op_get((assay_op_id)p->op)->bound_rule == ASSAY_BOUND_SUM;
    void *addresses[ASSAY_MAX_OPERANDS] = {NULL};
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    const assay_oracle_desc *oracle;

    for (size_t i = 0; i < in->count; i++)
        addresses[i] = inputs + in->offset[i];
    ASSAY_TRY(assay__tensors_make(p, addresses, operands));
    ASSAY_TRY(assay__worker_oracle(s, p, &oracle));
    const assay_launch launch = {.struct_size = sizeof launch,
                                 .operand_count = p->dtype_count,
                                 .problem = p,
                                 .operands = operands};
    const assay_wide out = {
        result, result + count, result + 2 * count, has_magnitude ? result + 3 * count : NULL,
        0,      count};
    return oracle->wide(&launch, threads, &out);
}

assay_status assay__worker_wide(assay__worker_state *s, json_t *request, assay__message *m)
{
    unsigned threads = (unsigned)json_integer_value(json_object_get(request, "threads"));
    assay__input_plan in;
    assay_problem p;
    unsigned align;
    struct stat st;
    assay_status status;

    if (m->fd_count != 2 || fstat(m->fds[1], &st) != 0)
        return assay__fail(ASSAY_INTERNAL, "wide needs an input and a result file");
    ASSAY_TRY(read_problem(request, &p, &align));
    ASSAY_TRY(assay__input_plan_make(&p, align, &in));
    ASSAY_TRY(check_file(m->fds[0], in.total, "input"));
    if (st.st_size < assay_problem_operand_elements(&p, (size_t)p.dtype_count - 1) * 32)
        return assay__fail(ASSAY_INTERNAL, "the result file is too small");
    char *inputs = mmap(NULL, in.total, PROT_READ, MAP_SHARED, m->fds[0], 0);
    double *result =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fds[1], 0);
    if (inputs == MAP_FAILED || result == MAP_FAILED)
        status = assay__fail(ASSAY_NOMEM, "cannot map %lld bytes", (long long)st.st_size);
    else
        status = compute_wide(s, &p, inputs, &in, result, threads > 0 ? threads : 1);
    if (inputs != MAP_FAILED)
        munmap(inputs, in.total);
    if (result != MAP_FAILED)
        munmap(result, (size_t)st.st_size);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_inputs.c -- input files of a problem and the oracle's results for them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"
#include "support/json.h"
#include "sweep/sweep_internal.h"

#define ALL_16_BIT 65536
#define EXHAUSTIVE SWEEP_ALL_INPUTS

assay_status assay__sweep_file(const char *name, uint64_t bytes, int *fd)
{
    *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, (off_t)bytes) != 0)
        return assay__fail(ASSAY_NOMEM, "cannot make a memory file of %llu bytes: %s",
                           (unsigned long long)bytes, strerror(errno));
    return ASSAY_OK;
}

/* Every bit pattern, over and over: what makes a 16-bit unary check exhaustive. */
static void fill_patterns(void *to, int64_t count)
{
    uint16_t *out = to;

    for (int64_t i = 0; i < count; i++)
        out[i] = (uint16_t)i;
}

static assay_status fill(const sweep *s, const sweep_problem *p, const char *name, char *base)
{
    assay_stratum stratum = ASSAY_STRATUM_NORMAL;

    if (strcmp(name, EXHAUSTIVE) != 0)
        ASSAY_TRY(assay__stratum_find((assay_op_id)p->problem.op, name, &stratum));
    for (unsigned i = 0; i < p->in.count; i++) {
        int64_t n = assay_problem_operand_elements(&p->problem, i);
        char *to = base + p->in.offset[i];
        if (strcmp(name, EXHAUSTIVE) == 0)
            fill_patterns(to, n);
        else
            ASSAY_TRY(assay__inputs_fill_all(&p->problem, stratum, s->o->seed, i, s->cpus, to));
    }
    return ASSAY_OK;
}

static assay_status make_inputs(const sweep *s, sweep_problem *p, size_t set)
{
    assay_status status;
    char *base;

    ASSAY_TRY(assay__sweep_file("assay-inputs", p->in.total, &p->input_fd[set]));
    base = mmap(NULL, p->in.total, PROT_READ | PROT_WRITE, MAP_SHARED, p->input_fd[set], 0);
    if (base == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map the inputs");
    status = fill(s, p, p->stratum[set], base);
    munmap(base, p->in.total);
    if (status == ASSAY_OK && fcntl(p->input_fd[set], F_ADD_SEALS,
                                    F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        status = assay__fail(ASSAY_INTERNAL, "cannot seal the inputs: %s", strerror(errno));
    return status;
}

static assay_status make_wide(sweep *s, sweep_problem *p, size_t set, assay__worker *oracle)
{
    int64_t n = assay_problem_operand_elements(&p->problem, p->problem.dtype_count - 1u);
    json_t *request, *reply = NULL;
    int fds[2];
    bool is_sampled;
    assay_status status;

    ASSAY_TRY(assay__sweep_sample(s, p, set, oracle, &is_sampled));
    if (is_sampled)
        return ASSAY_OK;
    ASSAY_TRY(assay__sweep_file("assay-wide", n > 0 ? (uint64_t)n * 32 : 32, &p->wide_fd[set]));
    request = json_pack("{s:s, s:s, s:i, s:i}", "cmd", "wide", "problem", p->text, "align",
                        (int)s->o->align, "threads", (int)s->cpus);
    fds[0] = p->input_fd[set];
    fds[1] = p->wide_fd[set];
    status = assay__worker_call(oracle, request, fds, 2, SWEEP_ORACLE_MS, &reply);
    json_decref(reply);
    return status;
}

static void choose_strata(const sweep *s, sweep_problem *p)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->problem.op);
    bool exhaustive = info->family == ASSAY_FAMILY_ELEMENTWISE_UNARY &&
                      assay_dtype_bytes((assay_dtype)p->problem.dtypes[0]) == 2 &&
                      assay_problem_operand_elements(&p->problem, 0) >= ALL_16_BIT;

    assay_stratum preferred[SWEEP_SETS];

    p->sets =
        assay__strata_preferred((assay_op_id)p->problem.op, assay__sweep_sets(s, p), preferred);
    for (size_t i = 0; i < p->sets; i++)
        p->stratum[i] = assay__stratum_name(preferred[i]);
    if (exhaustive && p->sets > 1)
        p->stratum[1] = EXHAUSTIVE;
}

static assay_status make_sets(sweep *s, sweep_problem *p)
{
    const assay__worker_options options = assay__sweep_worker_options(s, "ref");
    assay__worker *oracle = NULL;
    assay_status status = ASSAY_OK;

    for (size_t i = 0; status == ASSAY_OK && i < p->sets; i++)
        status = make_inputs(s, p, i);
    if (status == ASSAY_OK)
        status = assay__worker_start(&options, &oracle);
    for (size_t i = 0; status == ASSAY_OK && i < p->sets; i++)
        status = make_wide(s, p, i, oracle);
    if (status == ASSAY_CRASH || status == ASSAY_TIMEOUT)
        status = assay__fail_context(ASSAY_INTERNAL, "the oracle failed on %s", p->text);
    assay__worker_stop(&oracle);
    return status;
}

assay_status assay__sweep_inputs(sweep *s, sweep_problem *p)
{
    ASSAY_TRY(assay__input_plan_make(&p->problem, s->o->align, &p->in));
    ASSAY_TRY(assay__output_plan_make(&p->problem, s->o->align, &p->out));
    choose_strata(s, p);
    p->threads = s->cpus;
    ASSAY_TRY(make_sets(s, p));
    ASSAY_TRY(assay__sweep_file("assay-output", p->out.total, &p->output_fd));
    p->output = assay__map_guarded(p->output_fd, p->out.total, true);
    if (p->output == NULL)
        return assay__fail(ASSAY_NOMEM, "cannot map the output");
    return ASSAY_OK;
}

void assay__sweep_release(sweep_problem *p)
{
    assay__sweep_forget(p);
    assay__sweep_sample_clear(p);
    for (size_t i = 0; i < SWEEP_SETS; i++) {
        if (p->input_fd[i] >= 0)
            close(p->input_fd[i]);
        if (p->wide_fd[i] >= 0)
            close(p->wide_fd[i]);
        p->input_fd[i] = p->wide_fd[i] = -1;
    }
    if (p->output != NULL)
        assay__unmap_guarded(p->output, p->out.total);
    if (p->output_fd >= 0)
        close(p->output_fd);
    p->output = NULL;
    p->output_fd = -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_limits.c -- problems that this machine cannot check: too large for its memory, or for
 * the time that the oracle is given.  They are skipped with the reason; the others go on. */
#include <math.h>
#include <stdio.h>

#include "support/format.h"
#include "sweep/sweep_internal.h"

#define MEMORY_SHARE 0.75
#define GROUP_SHARE  0.5
/* Two kilobytes each while their problem is under way. */
#define GROUP_CANDIDATES 8192
/* Half of what the reference does on a core, so that a loaded machine gets through as well. */
static double oracle_flops_per_ns(const assay_problem *p)
{
    if (p->op == ASSAY_OP_attention) /* f64 in double-double throughout */
        return p->dtypes[0] == ASSAY_F64 ? 0.15 : 1.5;
    if (p->op == ASSAY_OP_conv2d_backward_data || p->op == ASSAY_OP_conv2d_backward_filter)
        return 1.0; /* half of it gathers */
    return 4.0;
}

static double input_bytes(const sweep_problem *p)
{
    double bytes = 0;

    for (size_t i = 0; i + 1 < p->problem.dtype_count; i++)
        bytes += (double)assay_problem_operand_bytes(&p->problem, i);
    return bytes;
}

size_t assay__sweep_sets(const sweep *s, const sweep_problem *p)
{
    const size_t sets = s->o->profile->strata < SWEEP_SETS ? s->o->profile->strata : SWEEP_SETS;

    return p->is_lean ? 1 : sets;
}

/* Inputs and expected results of every set; the outputs. */
double assay__sweep_bytes_held(const sweep *s, const sweep_problem *p)
{
    double out = (double)assay_problem_operand_elements(&p->problem, p->problem.dtype_count - 1u);

    return (double)assay__sweep_sets(s, p) * (input_bytes(p) + assay__sweep_expected_bytes(s, p)) +
           out * 8.0;
}

/* A worker has two rounds of operands, or as many as go beyond the caches. */
static double bytes_needed(const sweep *s, const sweep_problem *p)
{
    double out = (double)assay_problem_operand_bytes(&p->problem, p->problem.dtype_count - 1u);

    return assay__sweep_bytes_held(s, p) + fmax(2.0 * (input_bytes(p) + out), s->rotate_bytes);
}

/* Room for pools and stacks of a thread on each CPU, for what a kernel lays out anew of its
 * operands (a convolution as a product: filter width times height), and for operands to rotate
 * over. */
#define WORKER_BYTES     4e9
#define WORKER_CPU_BYTES 256e6
#define WORKER_COPIES    16.0

double assay__sweep_worker_bytes(const sweep *s, const sweep_problem *p)
{
    const double out =
        (double)assay_problem_operand_bytes(&p->problem, p->problem.dtype_count - 1u);
    const double wanted = WORKER_BYTES + WORKER_CPU_BYTES * s->cpus +
                          WORKER_COPIES * (input_bytes(p) + out) + 2 * s->rotate_bytes;

    return fmin(wanted, MEMORY_SHARE * s->memory_bytes); /* NaN: not known */
}

double assay__sweep_group_bytes(const sweep *s)
{
    return fmin(s->o->profile->group_bytes, GROUP_SHARE * s->memory_bytes); /* NaN: not known */
}

/* By the calls that the profile makes, and by what they took so far: a loaded machine takes longer,
 * and of visits that were not seen yet those of the screening tell how loaded it is. */
static double expected_s(const sweep *s, const sweep_problem *p)
{
    double sum = 0;

    for (int kind = 0; kind < ASSAY__STAY_KINDS; kind++)
        sum += fmax(p->planned[kind].model_s,
                    assay__pace_expect_s(&s->pace, (assay__stay)kind, p->planned[kind]));
    return sum;
}

/* Routes come at the end of a group, and what ends before then has measured for nothing until it is
 * resumed: a group takes a quarter of the budget at most, or half an hour. */
size_t assay__sweep_group_end(const sweep *s, size_t begin)
{
    const double bytes = assay__sweep_group_bytes(s);
    const double seconds =
        s->o->budget_s > 0 ? fmin(s->o->budget_s / 4, SWEEP_GROUP_S) : SWEEP_GROUP_S;
    double held = 0, takes = 0;
    size_t end = begin, candidates = 0;

    for (; end < s->problem_count; end++) {
        const sweep_problem *p = &s->problems[end];
        if (p->skip)
            continue;
        held += assay__sweep_bytes_held(s, p);
        takes += expected_s(s, p);
        candidates += p->count;
        if (end > begin && (held > bytes || takes > seconds || candidates > GROUP_CANDIDATES))
            break;
    }
    return end;
}

/* A set of operands, and an output to copy poison from: the least.  To rotate over several is tried
 * as far as the same share of the memory goes, tuner/worker_apart.c. */
static double bytes_there(const sweep_problem *p)
{
    return input_bytes(p) +
           2.0 * (double)assay_problem_operand_bytes(&p->problem, p->problem.dtype_count - 1u);
}

bool assay__sweep_too_large(const sweep *s, const sweep_problem *p, char *reason, size_t cap)
{
    const double need = bytes_needed(s, p), have = MEMORY_SHARE * s->memory_bytes;
    const double limit_s = 1e-3 * SWEEP_ORACLE_MS, there = bytes_there(p);

    if (s->device_bytes > 0 && there > MEMORY_SHARE * s->device_bytes) {
        (void)snprintf(reason, cap, "its operands take %s of the device's memory, which has %s",
                       assay__format_bytes(there).text, assay__format_bytes(s->device_bytes).text);
        return true;
    }

    if (need > have) {
        (void)snprintf(reason, cap, "checking it takes %s of memory, and %s may be used here",
                       assay__format_bytes(need).text, assay__format_bytes(have).text);
        return true;
    }
    const assay_op_family family = assay_op_get((assay_op_id)p->problem.op)->family;
    if (family != ASSAY_FAMILY_CONTRACTION && family != ASSAY_FAMILY_ATTENTION)
        return false;
    const double flops = assay__sweep_expected_flops(s, p);
    const double seconds = flops / (oracle_flops_per_ns(&p->problem) * s->cpus) * 1e-9;
    if (!(seconds > limit_s))
        return false;
    (void)snprintf(reason, cap, "its reference takes %s on %u CPUs, more than the limit of %s",
                   assay__format_duration(seconds).text, s->cpus,
                   assay__format_duration(limit_s).text);
    return true;
}

size_t assay__sweep_doubted_stays(const sweep *s, size_t begin, size_t end, size_t from)
{
    size_t stays = 0;

    for (size_t i = begin; i < end; i++) {
        const sweep_problem *p = &s->problems[i];
        if (!p->skip && p->wanted > from)
            stays += p->planned[ASSAY__STAY_VISIT].count;
    }
    return stays;
}

/* Of what is left of a budget the part that problems in doubt may take. */
#define DOUBT_PART 0.5

bool assay__sweep_affords(const sweep *s, size_t stays)
{
    const double left = s->o->budget_s - (assay__sweep_now_s(s) - s->begin_s);

    return !(s->o->budget_s > 0) ||
           assay__pace_mean_s(&s->pace, ASSAY__STAY_VISIT) * (double)stays <= DOUBT_PART * left;
}

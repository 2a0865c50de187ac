/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_judge.c -- the judge on the device and the host's see the same in every kernel
 * that it has a reference for: all inputs of 16 bits, and of 32 bits some where something happens.
 */
#include <stdio.h>
#include <string.h>

#include "calibrate/unary_judge.h"
#include "conform/conform_slots.h"
#include "runtime/engine_internal.h"
#include "runtime/table_internal.h"
#include "runtime/tunables.h"

/* Zeros and subnormals, results next to 1, ordinary ones, where e^x overflows and vanishes, NaN. */
static const uint32_t starts[] = {0x00000000, 0x33800000, 0x3f7fe000, 0x40490000,
                                  0x42b00000, 0x7f7fe000, 0x7f800000, 0x80000000,
                                  0xbf7fe000, 0xc0d00000, 0xc2ae0000, 0xc2cf0000};

static const assay_oracle_desc *oracle_of(const assay_manifest *ref, uint16_t op)
{
    for (size_t i = 0; i < ref->oracle_count; i++)
        if (ref->oracles[i].op == (assay_op_id)op)
            return &ref->oracles[i];
    return NULL;
}

/* The launch of a row at its defaults; false: its op does not qualify. */
static bool make_launch(const assay__conform *c, const assay_binding *row, assay_unary_launch *out)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    assay_problem p;

    for (size_t i = 0; i < row->dtype_count; i++)
        dtypes[i] = (assay_dtype)row->dtypes[i];
    *out = (assay_unary_launch){
        .backend = &c->engine->backend, .kernel = row->desc, .oracle = oracle_of(c->ref, row->op)};
    assay__tunables_default(row->desc, 2, out->tunables);
    return out->oracle != NULL &&
           assay_problem_init_tuple((assay_op_id)row->op, dtypes, row->dtype_count, &p) ==
               ASSAY_OK &&
           assay__unary_problem(&p, &out->problem) == ASSAY_OK;
}

/* A kernel whose second piece cannot begin inside a buffer is judged by the host. */
static assay__conform_verdict compare(assay__conform *c, const assay_unary_launch *launch,
                                      const assay_exhaustive_plan *plan, bool *judged)
{
    assay_unary_launch l = *launch;
    assay_exhaustive_result device, host;
    char what[200], why[200] = "";

    (void)snprintf(what, sizeof what, "%s %s, batch %llu", launch->kernel->name,
                   assay_dtype_name((assay_dtype)launch->problem.dtypes[0]),
                   (unsigned long long)plan->first_batch);
    const assay_status status = assay__unary_judged_alone(launch, plan, NULL, &device);
    *judged = status != ASSAY_UNSUPPORTED;
    if (!*judged)
        return ASSAY__CONFORM_PASS;
    ASSAY__PART(assay__conform_check_status(c, what, status, ASSAY_OK));
    ASSAY__FINE(assay__unary_bring(&l, ASSAY_EXHAUSTIVE_BATCH));
    const assay__unary unary = assay__unary_of(&l);
    ASSAY__FINE(assay__exhaustive_run(&unary, plan, &host));
    assay__unary_leave(&l);
    ASSAY__HOLDS(assay__unary_agree(&device, &host, &launch->problem, why, sizeof why), "%s: %s",
                 what, why);
    assay__exhaustive_clear(&device);
    assay__exhaustive_clear(&host);
    return ASSAY__CONFORM_PASS;
}

/* A whole space of 16 bits; of a larger one batch at each place. */
static assay__conform_verdict try_kernel(assay__conform *c, const assay_unary_launch *launch,
                                         bool *judged)
{
    const assay_exhaustive_plan whole = {.threads = 1};

    assay__conform_about(launch->kernel->name);
    if (assay_dtype_bytes((assay_dtype)launch->problem.dtypes[0]) <= 2)
        return compare(c, launch, &whole, judged);
    *judged = true;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0] && *judged; i++) {
        const assay_exhaustive_plan plan = {
            .threads = 1, .first_batch = starts[i] / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 1};
        ASSAY__PART(compare(c, launch, &plan, judged));
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict try_row(assay__conform *c, const assay_binding *row, size_t *tried)
{
    assay_unary_launch launch;

    if (!make_launch(c, row, &launch))
        return ASSAY__CONFORM_PASS;
    assay_judge judge = {.struct_size = sizeof judge, .problem = &launch.problem};
    assay__conform_forget_text();
    const assay_status status = assay__backend_judge(launch.backend, &judge);
    if (status != ASSAY_OK)
        return assay__conform_check_status(c, "judge", status, ASSAY_UNSUPPORTED);
    ASSAY__HOLDS(judge.patterns != NULL && judge.judge != NULL,
                 "a judge of %s is offered without a function to run",
                 assay_op_get((assay_op_id)row->op)->name);
    bool judged;
    ASSAY__PART(try_kernel(c, &launch, &judged));
    *tried += judged;
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict try_rows(assay__conform *c, const assay_snapshot *rows)
{
    size_t tried = 0;

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (row->available && strcmp(row->manifest->name, c->backend) == 0)
            ASSAY__PART(try_row(c, row, &tried));
    }
    return tried > 0
               ? ASSAY__CONFORM_PASS
               : assay__conform_skip(c, "the judge has no reference for a kernel that can run "
                                        "here");
}

assay__conform_verdict assay__conform_judge_agrees(assay__conform *c)
{
    const assay_snapshot *rows = NULL;

    if (!ASSAY__HAS_SLOT(c, judge))
        return assay__conform_skip(c, "the backend has no judge");
    if (c->ref == NULL)
        return assay__conform_skip(c, "the plug-in 'ref', which knows the right results, is not "
                                      "here");
    ASSAY__FINE(assay_table_hold(assay_context_table(c->context), &rows));
    const assay__conform_verdict verdict = try_rows(c, rows);
    assay__conform_about(NULL);
    assay_snapshot_release(&rows);
    return verdict;
}

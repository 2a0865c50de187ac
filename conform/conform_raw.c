/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_raw.c -- see conform_raw.h. */
#include "conform/conform_raw.h"

#include <string.h>

#include "runtime/pick_internal.h"
#include "runtime/tunables.h"

static const assay_binding *row_of(const assay__conform *c, const assay_snapshot *rows,
                                   const assay__conform_work *w)
{
    const assay_op_id op = w->op == ASSAY_BINARY_ADD ? ASSAY_OP_add : ASSAY_OP_mul;

    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (strcmp(row->manifest->name, c->backend) == 0 && row->op == (uint16_t)op &&
            row->dtypes[0] == ASSAY_F32 && row->available)
            return row;
    }
    return NULL;
}

static assay__conform_verdict make(assay__conform *c, const assay_binding *row,
                                   const assay__conform_work *w, assay__raw *out)
{
    const assay_buffer buffers[3] = {w->a, w->y, w->y};

    ASSAY__HOLDS(row != NULL, "it has a kernel, which its table lacks");
    memset(out, 0, sizeof *out);
    ASSAY__FINE(assay_problem_init((assay_op_id)row->op, ASSAY_F32, &out->problem));
    ASSAY__FINE(assay_problem_set_int(&out->problem, "n", w->n));
    for (int i = 0; i < 3; i++) {
        ASSAY__FINE(assay_tensor_host(NULL, ASSAY_F32, 1, &w->n, NULL, &out->operands[i]));
        out->operands[i].buffer = buffers[i];
    }
    assay__tunables_default(row->desc, 2, out->tunables);
    out->run = row->run;
    out->launch = (assay_launch){.struct_size = sizeof out->launch,
                                 .operand_count = 3,
                                 .problem = &out->problem,
                                 .operands = out->operands,
                                 .tunables = out->tunables,
                                 .instance = c->engine->backend.instance,
                                 .tunable_count = (uint32_t)row->desc->tunable_count};
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__raw_make(assay__conform *c, const assay__conform_work *w,
                                       assay__raw *out)
{
    const assay_snapshot *rows = NULL;

    ASSAY__FINE(assay_table_hold(assay_context_table(c->context), &rows));
    const assay__conform_verdict verdict = make(c, row_of(c, rows, w), w, out);
    assay_snapshot_release(&rows);
    return verdict;
}

assay_status assay__raw_launch(assay_engine *engine, assay__raw *raw, assay_queue *queue)
{
    raw->launch.queue = queue;
    return assay__backend_launch(&engine->backend, raw->run, &raw->launch);
}

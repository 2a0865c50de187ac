/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_copy.c -- what it costs to make inputs contiguous, and what a kernel declares. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/pick_internal.h"

/* ---- copies ---- */

void assay__copies_layout(const assay_question *q, unsigned copies, char out[ASSAY_MAX_OPERANDS])
{
    memset(out, 0, ASSAY_MAX_OPERANDS);
    for (size_t i = 0; i < q->problem.dtype_count; i++)
        out[i] = (copies >> i & 1) != 0 || q->layout[i] == '\0' ? 'c' : q->layout[i];
}

void assay__copies_text(unsigned copies, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned i = 0; copies >> i != 0 && used < cap; i++)
        if ((copies >> i & 1) != 0)
            used += (size_t)snprintf(buf + used, cap - used, "%s%u",
                                     used > 0                       ? ", "
                                     : (copies & (copies - 1)) != 0 ? "operands "
                                                                    : "operand ",
                                     i);
}

/* Bytes that reading an input moves: at least, likely, at most.  Whoever steps over elements
 * fetches a line for each at worst; a repeated dimension may come from one line. */
static void bytes_read(char letter, double elements, double bytes, double out[3])
{
    const double packed = elements * bytes, lines = elements * 64;

    out[0] = letter == 'b' ? 0 : packed;
    out[1] = letter == 's' || letter == 'n' ? sqrt(packed * lines) : packed;
    out[2] = letter == 's' || letter == 'n' ? lines : packed;
}

/* The measured rate is that of a long copy in memory.  Caches may be 8 times as fast; new memory,
 * loops over elements and a busy machine may make it 4 times as slow, and a call takes up to 1 us
 * beside that. */
bool assay__copies_price(const assay_question *q, unsigned copies, double bytes_per_ns,
                         double out[3])
{
    double sum[3] = {0, 0, 0};

    if (!(bytes_per_ns > 0))
        return false;
    for (size_t i = 0; copies >> i != 0; i++) {
        double read[3], elements, bytes;
        if ((copies >> i & 1) == 0)
            continue;
        elements = (double)assay_problem_operand_elements(&q->problem, i);
        bytes = (double)assay_dtype_bytes((assay_dtype)q->problem.dtypes[i]);
        bytes_read(q->layout[i], elements, bytes, read);
        sum[0] += (read[1] + elements * bytes) / bytes_per_ns;
        sum[1] += (read[0] + elements * bytes) / (8 * bytes_per_ns);
        sum[2] += 4 * (read[2] + elements * bytes) / bytes_per_ns + 1000;
    }
    memcpy(out, sum, sizeof sum);
    return true;
}

/* ---- declared costs ---- */

static bool is_known(const assay__expr *e, const assay__row_values *values)
{
    double value;

    return e != NULL && assay__expr_eval(e, values->slots, values->bytes, &value);
}

static bool function_knows(const assay__pick_store *store, const assay_kernel_desc *desc,
                           const assay_problem *problem)
{
    const assay_capabilities *caps =
        problem->dtypes[0] == ASSAY_F64 ? &store->of_f64 : &store->of_f32;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank;

    if (desc->cost_fn == NULL)
        return false;
    for (size_t i = 0; i < problem->dtype_count; i++)
        if (assay_problem_operand(problem, i, &rank, dims) != ASSAY_OK ||
            assay_tensor_host(NULL, (assay_dtype)problem->dtypes[i], rank, dims, NULL,
                              &operands[i]) != ASSAY_OK)
            return false;
    return desc->cost_fn(problem, operands, problem->dtype_count, caps).tier < ASSAY_TIER_UNKNOWN;
}

bool assay__declares_cost(const assay__pick_store *store, const assay__row_code *code,
                          const assay_kernel_desc *desc, const assay_problem *problem,
                          assay__row_values *values)
{
    return is_known(code->cost_flops, values) || is_known(code->cost_bytes, values) ||
           function_knows(store, desc, problem);
}

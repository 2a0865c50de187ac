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
static bool price_by_rate(const assay__copy_costs *costs, const double read[3], double written,
                          double out[3])
{
    if (!(costs->bytes_per_ns > 0))
        return false;
    out[0] = (read[1] + written) / costs->bytes_per_ns;
    out[1] = (read[0] + written) / (8 * costs->bytes_per_ns);
    out[2] = 4 * (read[2] + written) / costs->bytes_per_ns + 1000;
    return true;
}

/* By what copies of about so many bytes took, which were in whatever cache holds them, as operands
 * of policy "hot" are: half of what is read and written is moved.  No cache is faster then, a quiet
 * machine may be by a factor of 2.  Operands that rotate come from memory: there such a price is 5
 * times too low at 64 KiB, and 20 times at 4 KiB, where the rate is 1.4 too high and 1.8 too low.
 */
static bool price_by_size(const assay__copy_costs *costs, const double read[3], double written,
                          double out[3])
{
    static const int of[3] = {1, 0, 2}; /* what the median, the least and the most read */
    double price[3];

    for (int i = 0; i < 3; i++) {
        if (!assay__transfer_price(costs->points, costs->count, (read[of[i]] + written) / 2, price))
            return false;
        out[i] = price[i];
    }
    out[1] /= 2;
    out[2] = 4 * out[2] + 1000;
    return true;
}

bool assay__copies_price(const assay_question *q, unsigned copies, const assay__copy_costs *costs,
                         double out[3])
{
    const bool is_hot = q->policy.cache == ASSAY_CACHE_HOT;
    double sum[3] = {0, 0, 0};

    for (size_t i = 0; copies >> i != 0; i++) {
        double read[3], price[3], elements, bytes;
        if ((copies >> i & 1) == 0)
            continue;
        elements = (double)assay_problem_operand_elements(&q->problem, i);
        bytes = (double)assay_dtype_bytes((assay_dtype)q->problem.dtypes[i]);
        bytes_read(q->layout[i], elements, bytes, read);
        if (!(is_hot && price_by_size(costs, read, elements * bytes, price)) &&
            !price_by_rate(costs, read, elements * bytes, price))
            return false;
        for (int k = 0; k < 3; k++)
            sum[k] += price[k];
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

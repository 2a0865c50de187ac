/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_laws.c -- laws of docs/ops.md that a kernel breaks unseen on ordinary numbers. */
#include <stdint.h>
#include <string.h>

#include "calibrate/inputs.h"
#include "conform/conform_kernels.h"
#include "runtime/operands.h"

static assay__conform_verdict judge(const assay__kernel_run *of, const char *what,
                                    const assay_problem *p, const assay__case_data *data, int same)
{
    assay__conform *c = of->c;
    assay__kernel_run r = *of;
    assay__case k;

    ASSAY__FINE(assay__case_make(c->ref, p, r.row->desc, data, &k));
    k.same = same;
    r.k = &k;
    assay__kernel_name(&r, what);
    ASSAY__PART(assay__kernel_judge(&r));
    assay__case_clear(&k);
    return ASSAY__CONFORM_PASS;
}

static bool make_wide(const assay__kernel_run *of, assay_problem *out)
{
    return assay__case_wide_problem((assay_op_id)of->row->op, of->row->dtypes, of->row->dtype_count,
                                    out);
}

/* ---- values ---- */

static assay__conform_verdict special_values(const assay__kernel_run *of, const assay_problem *p)
{
    static const struct {
        assay_stratum stratum;
        const char *what;
    } sets[] = {{ASSAY_STRATUM_SPECIALS, "NaN, infinities, zeros of both signs, subnormals"},
                {ASSAY_STRATUM_MASKED, "lines of -inf"},
                {ASSAY_STRATUM_INFINITE, "one +inf a line"}};

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const assay__case_data data = {.seed = 5, .stratum = (int)sets[i].stratum};
        if (assay__stratum_fits(sets[i].stratum, (assay_op_id)p->op))
            ASSAY__PART(judge(of, sets[i].what, p, &data, -1));
    }
    return ASSAY__CONFORM_PASS;
}

/* Lines of zeros: of both signs, and of one alone. */
static void zeros(const assay_problem *problem, uint32_t operand, void *dense, size_t elements)
{
    const assay_dtype dtype = (assay_dtype)problem->dtypes[operand];

    for (size_t i = 0; i < elements; i++)
        assay_store_f64(dtype, dense, i, i % 3 == 0 || i / 700 % 2 == 1 ? -0.0 : 0.0);
}

/* All bits set: a NaN of every type.  Inputs alone: C is read. */
static void no_numbers(const assay_problem *problem, uint32_t operand, void *dense, size_t elements)
{
    if (operand + 1 < problem->dtype_count)
        memset(dense, 0xff, elements * assay_dtype_bytes((assay_dtype)problem->dtypes[operand]));
}

static assay__conform_verdict scales(const assay__kernel_run *of, const char *trans)
{
    static const struct {
        int64_t k;
        double alpha, beta;
        void (*change)(const assay_problem *, uint32_t, void *, size_t);
        const char *what;
    } rows[] = {{4, 0.0, -0.5, no_numbers, "alpha 0 over NaN in A and B"},
                {4, 0.0, 0.0, no_numbers, "alpha 0 and beta 0 over NaN"},
                {4, 1.5, 0.0, NULL, "beta 0 over NaN in C"},
                {0, 1.0, -0.5, NULL, "k 0, which still scales C"},
                {0, 1.0, 0.0, NULL, "k 0 and beta 0"}};
    assay__conform *c = of->c;
    assay_problem p;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const assay__case_data data = {
            .seed = 2, .stratum = ASSAY__CASE_USUAL, .change = rows[i].change};
        if (!make_wide(of, &p))
            return ASSAY__CONFORM_PASS;
        ASSAY__FINE(assay_problem_set(&p, "trans_a", trans));
        ASSAY__FINE(assay_problem_set(&p, "trans_b", trans));
        ASSAY__FINE(assay_problem_set_int(&p, "k", rows[i].k));
        ASSAY__FINE(assay_problem_set_int(&p, "batch", 2));
        ASSAY__FINE(assay_problem_set_real(&p, "alpha", rows[i].alpha));
        ASSAY__FINE(assay_problem_set_real(&p, "beta", rows[i].beta));
        ASSAY__FINE(assay_problem_check(&p));
        ASSAY__PART(judge(of, rows[i].what, &p, &data, -1));
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict values(const assay__kernel_run *of)
{
    const assay__case_data signs = {.stratum = ASSAY__CASE_USUAL, .change = zeros};
    const assay_op_id op = (assay_op_id)of->row->op;
    assay_problem p;

    if (!make_wide(of, &p))
        return ASSAY__CONFORM_PASS;
    ASSAY__PART(special_values(of, &p));
    if (op == ASSAY_OP_max_reduce || op == ASSAY_OP_min_reduce)
        ASSAY__PART(judge(of, "zeros of both signs", &p, &signs, -1));
    if (op != ASSAY_OP_matmul)
        return ASSAY__CONFORM_PASS;
    ASSAY__PART(scales(of, "n"));
    return scales(of, "t");
}

/* ---- in place ---- */

static bool may_be_output(const assay_problem *p, uint32_t input)
{
    const uint32_t y = p->dtype_count - 1u;

    return p->dtypes[input] == p->dtypes[y] &&
           assay_problem_operand_elements(p, input) == assay_problem_operand_elements(p, y);
}

static assay__conform_verdict in_place(const assay__kernel_run *of)
{
    const assay__case_data data = {.seed = 4, .stratum = ASSAY__CASE_USUAL};
    assay_problem p;

    if (!assay__op_in_place(assay_op_get((assay_op_id)of->row->op)) || !make_wide(of, &p))
        return ASSAY__CONFORM_PASS;
    for (uint32_t i = 0; i + 1 < p.dtype_count; i++)
        if (may_be_output(&p, i))
            ASSAY__PART(judge(of, i == 0 ? "in place of its first input" : "in place of its second",
                              &p, &data, (int)i));
    return ASSAY__CONFORM_PASS;
}

/* ---- indices ---- */

/* The last index, so that rows before it would have been written. */
static void spoil(const assay__case *k, int64_t index)
{
    const size_t last = (size_t)assay_tensor_elements(&k->operands[1]) - 1;

    if (k->operands[1].dtype == ASSAY_I64) {
        memcpy(k->images[1] + last * sizeof index, &index, sizeof index);
    } else {
        const uint32_t narrow = (uint32_t)index;
        memcpy(k->images[1] + last * sizeof narrow, &narrow, sizeof narrow);
    }
}

/* Nobody looks at them before the kernel, which alone reads them. */
static assay__conform_verdict bad_indices(const assay__kernel_run *of)
{
    static const int64_t bad[] = {5, -1, INT32_MAX};
    assay__conform *c = of->c;
    assay__kernel_run r = *of;
    assay_problem p;
    assay__case k;

    if (!make_wide(of, &p))
        return ASSAY__CONFORM_PASS;
    ASSAY__FINE(assay_problem_set_int(&p, "rows", 5));
    ASSAY__FINE(assay_problem_check(&p));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ASSAY__FINE(assay__case_init(c->ref, &p, r.row->desc, ASSAY__CASE_DENSE, (unsigned)i, &k));
        spoil(&k, bad[i]);
        r.k = &k;
        r.wanted = ASSAY_INVALID;
        assay__kernel_name(&r, bad[i] < 0 ? "an index of -1" : "an index beyond the last row");
        ASSAY__PART(assay__kernel_judge(&r));
        assay__case_clear(&k);
    }
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__kernel_laws(const assay__kernel_run *of)
{
    const assay_op_id op = (assay_op_id)of->row->op;

    ASSAY__PART(values(of));
    ASSAY__PART(in_place(of));
    return op == ASSAY_OP_gather || op == ASSAY_OP_scatter ? bad_indices(of) : ASSAY__CONFORM_PASS;
}

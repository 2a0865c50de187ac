/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_views.c -- strided, offset, broadcast and negative-stride views give the bits
 * that contiguous copies give: for every kernel of every plug-in, made from the catalogue.
 *
 * Views that a kernel does not take are copied first, as assay_run does. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "calibrate/inputs.h"
#include "runtime/caps.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/op_cases.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"
#include "tuner/arena.h"

typedef enum view { OFFSET, LEADING, STRIDED, BROADCAST, NEGATIVE, VIEWS } view;

static const char *const names[] = {"offset", "leading", "strided", "broadcast", "negative"};

static const assay_manifest *ref;

static void setup(void)
{
    ref = plugin_load("ref");
}

/* Strides of a view of these extents, and elements it spans; *first: where its element 0 lies. */
static int64_t lay_out(view v, uint32_t rank, const int64_t *dims, int64_t *strides, int64_t *first)
{
    int64_t span = v == STRIDED ? 2 : 1, gap = v == LEADING ? 3 : 0;

    *first = v == OFFSET ? 1 : 0;
    for (uint32_t d = rank; d-- > 0;) {
        strides[d] = span;
        span = span * (dims[d] > 0 ? dims[d] : 1) + (d + 1 == rank ? gap : 0);
    }
    if (v == BROADCAST)
        strides[0] = 0;
    for (uint32_t d = 0; v == NEGATIVE && d < rank; d++) {
        *first += dims[d] > 0 ? strides[d] * (dims[d] - 1) : 0;
        strides[d] = -strides[d];
    }
    return span + 1;
}

/* The view in memory of its own, a tensor whose elements are `values`: a broadcast one takes those
 * of index 0. */
static void *make_view(view v, const assay_tensor *values, assay_tensor *out)
{
    size_t bytes = assay_dtype_bytes(values->dtype);
    int64_t strides[ASSAY_MAX_RANK], first;
    int64_t span = lay_out(v, values->rank, values->dims, strides, &first);
    char *memory = aligned_alloc(64, ((size_t)span * bytes / 64 + 1) * 64);

    ck_assert_ptr_nonnull(memory);
    memset(memory, 0x5a, (size_t)span * bytes);
    ck_assert_int_eq(assay_tensor_host(memory + (size_t)first * bytes, values->dtype, values->rank,
                                       values->dims, strides, out),
                     ASSAY_OK);
    ck_assert_int_eq(assay_tensor_copy(values, out), ASSAY_OK);
    return memory;
}

typedef struct views_job {
    const assay_kernel_desc *kernel;
    plugin_case c;
    int64_t tunables[ASSAY_MAX_TUNABLES];
    void *old, *want; /* bytes of the output before the run, and of the contiguous run */
    size_t bytes;
    int taken; /* views that the kernel took as they lie */
} views_job;

static void *output_of(const views_job *j)
{
    return assay_tensor_data(&j->c.operands[j->c.count - 1]);
}

static bool runs(const views_job *j)
{
    return j->kernel->can_run_fn == NULL ||
           j->kernel->can_run_fn(&j->c.problem, j->kernel->tunable_count > 0 ? j->tunables : NULL);
}

static void launch(views_job *j, const assay_tensor *operands)
{
    const assay_launch l = {.struct_size = sizeof l,
                            .operand_count = j->c.count,
                            .problem = &j->c.problem,
                            .operands = operands,
                            .tunables = j->tunables};

    ck_assert_int_eq(j->kernel->run(&l), ASSAY_OK);
}

/* Operand i as a view; false: it has none of this kind. */
static void check_operand(views_job *j, view v, uint32_t i)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS], flat = j->c.operands[i], given;
    bool is_output = i + 1 == j->c.count;
    char why[128];

    memcpy(operands, j->c.operands, sizeof operands);
    if ((is_output && v == BROADCAST) || assay_tensor_elements(&flat) == 0)
        return;
    memcpy(output_of(j), j->old, j->bytes);
    void *memory = make_view(v, &flat, &given);
    ck_assert_int_eq(assay_tensor_copy(&given, &flat), ASSAY_OK); /* what a broadcast repeats */
    launch(j, operands);
    memcpy(j->want, output_of(j), j->bytes);
    memcpy(output_of(j), j->old, j->bytes);
    bool takes = assay__caps_fit_tensor(j->kernel, &given, i, why, sizeof why);
    if (takes)
        operands[i] = given;
    if (takes || !is_output) {
        launch(j, operands);
        if (takes && is_output)
            ck_assert_int_eq(assay_tensor_copy(&given, &flat), ASSAY_OK);
        ck_assert_msg(memcmp(output_of(j), j->want, j->bytes) == 0, "%s %s: operand %u %s",
                      j->kernel->name, assay_dtype_name((assay_dtype)j->kernel->dtypes[0]), i,
                      names[v]);
        j->taken += takes;
    }
    free(memory);
}

static void fill(views_job *j)
{
    assay_stratum strata[ASSAY_STRATUM_COUNT];
    size_t count = assay__strata_preferred((assay_op_id)j->c.problem.op, 1, strata);

    ck_assert_uint_eq(count, 1);
    for (uint32_t i = 0; i < j->c.count; i++)
        ck_assert_int_eq(
            assay__inputs_fill(&j->c.problem, strata[0], 5, i, 0,
                               (uint64_t)assay_problem_operand_elements(&j->c.problem, i),
                               assay_tensor_data(&j->c.operands[i])),
            ASSAY_OK);
    memcpy(j->old, output_of(j), j->bytes);
}

static int check_problem(const assay_kernel_desc *k, const char *params)
{
    views_job j = {.kernel = k};

    plugin_case_of(&j.c, k, params, 0);
    for (size_t i = 0; i < k->tunable_count; i++)
        j.tunables[i] = k->tunables[i].default_value;
    j.bytes = (size_t)assay_problem_operand_bytes(&j.c.problem, j.c.count - 1);
    j.old = malloc(j.bytes + 1);
    j.want = malloc(j.bytes + 1);
    ck_assert(j.old != NULL && j.want != NULL);
    for (int v = 0; v < VIEWS && runs(&j); v++)
        for (uint32_t i = 0; i < j.c.count; i++) {
            fill(&j);
            check_operand(&j, (view)v, i);
        }
    free(j.old);
    free(j.want);
    plugin_case_clear(&j.c);
    return j.taken;
}

/* Of the cases made from the catalogue those of some hundred elements. */
static int check_kernel(const assay_kernel_desc *k)
{
    int taken = 0;

    for (size_t i = 0; i < op_case_count(k->op); i++) {
        char text[OP_CASE_TEXT];
        plugin_case c;
        op_case_text(k->op, i, text);
        plugin_case_of(&c, k, text, 0);
        int64_t elements = c.elements;
        plugin_case_clear(&c);
        if (elements > 0 && elements < 3000)
            taken += check_problem(k, text);
    }
    return taken;
}

START_TEST(views_give_the_bits_of_copies)
{
    const assay_manifest *m = plugin_all_at(_i / ASSAY_OP_COUNT);
    assay_op_id op = (assay_op_id)(_i % ASSAY_OP_COUNT);
    assay_instance *instance = NULL;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].op == op && plugin_all_runs(m, instance, &m->kernels[i]))
            check_kernel(&m->kernels[i]);
    plugin_all_close(m, &instance);
}
END_TEST

/* The reference takes every view of every op. */
START_TEST(reference_takes_views_as_they_lie)
{
    int count = 0;

    for (size_t i = 0; i < ref->kernel_count; i++)
        if (ref->kernels[i].op == (assay_op_id)_i) {
            ck_assert_int_gt(check_kernel(&ref->kernels[i]), 0);
            count++;
        }
    ck_assert_int_gt(count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("views");
    TCase *tcase = tcase_create("views");
    int count = plugin_all_find();

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, views_give_the_bits_of_copies, 0, count * ASSAY_OP_COUNT);
    tcase_add_loop_test(tcase, reference_takes_views_as_they_lie, 0, ASSAY_OP_COUNT);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

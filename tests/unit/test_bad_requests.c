/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_bad_requests.c -- what the catalogue forbids beyond the range of one parameter:
 * requirements between parameters, sizes that overflow, indices that name no row. Made from the
 * catalogue for every op, asked of every kernel through assay_run; nothing is touched.
 *
 * test_bad_input.c has the forms of single operands. A new op or kernel needs no edit here. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/problem_text.h"
#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/op_cases.h"

#define SEED UINT64_C(0xbad)
#define ROOM (UINT64_C(1) << 20)

/* Every ASSAY_REQUIRE row. */
static const struct requirement {
    assay_op_id op;
    const char *text; /* "": none */
} requirements[] = {
#define ASSAY_REQUIRE(op, condition, text) {ASSAY_OP_##op, text},
#include "assay/op.def"
};
#define REQUIREMENTS ((int)(sizeof requirements / sizeof *requirements))

static uint64_t seed = SEED;

static int64_t below(int64_t n)
{
    return (int64_t)(plugin_random(&seed) % (uint64_t)n);
}

/* Small values, at times the largest, of every parameter; with `wild`, also below its range. */
static void shuffle(assay_problem *p, bool wild)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    for (size_t i = 0; i < info->param_count; i++) {
        const assay_param_info *param = &info->params[i];
        int64_t value = below(4) == 0 ? below(40) : below(5);
        if (param->kind == ASSAY_KIND_REAL)
            continue;
        if (below(40) == 0)
            value = (int64_t)param->max;
        if (wild && below(20) == 0)
            value = (int64_t)param->min - 1 - below(2);
        else if (value < (int64_t)param->min)
            value = (int64_t)param->min;
        p->params[i].i = value > (int64_t)param->max ? (int64_t)param->max : value;
    }
}

/* Operands of the problem that may be asked for nothing: pages that nobody may touch. */
static void unreachable(plugin_case *c, const assay_problem *shape)
{
    memset(c, 0, sizeof *c);
    c->problem = *shape;
    c->count = shape->dtype_count;
    for (uint32_t i = 0; i < c->count; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank = 0;
        c->memory[i] = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert(c->memory[i] != MAP_FAILED);
        ck_assert_int_eq(assay_problem_operand(shape, i, &rank, dims), ASSAY_OK);
        ck_assert_int_eq(assay_tensor_host(c->memory[i], (assay_dtype)shape->dtypes[i], rank, dims,
                                           NULL, &c->operands[i]),
                         ASSAY_OK);
    }
}

static void unmap(plugin_case *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        munmap(c->memory[i], ROOM);
}

static assay_problem example(assay_op_id op, size_t tuple)
{
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    uint8_t bytes[ASSAY_MAX_OPERANDS];
    const assay_op_info *info = assay_op_get(op);

    ck_assert(assay_op_tuple(op, tuple, dtypes));
    for (size_t i = 0; i < info->inputs + info->outputs; i++)
        bytes[i] = (uint8_t)dtypes[i];
    return op_case_example_of(op, bytes, info->inputs + info->outputs);
}

/* Problems against a requirement, most of them of parameters that are each in range: the check and
 * every kernel refuse them, and shapes, which may divide by what it keeps from 0, are not computed.
 */
START_TEST(requirements_between_parameters_are_held)
{
    const struct requirement *r = &requirements[_i];
    const assay_problem good = example(r->op, 0);
    int against = 0;
    plugin_case c;

    if (r->text[0] == '\0')
        return;
    unreachable(&c, &good);
    for (int turn = 0; turn < 3000; turn++) {
        assay_problem p = good;
        uint32_t rank = 0;
        int64_t dims[ASSAY_MAX_RANK];
        shuffle(&p, turn % 4 == 0);
        if (assay_problem_operand(&p, 0, &rank, dims) == ASSAY_OK ||
            strstr(assay_last_error(), r->text) == NULL)
            continue;
        ck_assert_int_eq(assay_problem_check(&p), ASSAY_INVALID);
        /* A value out of its range is told first. */
        ck_assert_msg(strstr(assay_last_error(), r->text) != NULL ||
                          strstr(assay_last_error(), "is outside [") != NULL,
                      "%s", assay_last_error());
        if (against++ % 50 > 0)
            continue;
        c.problem = p;
        ck_assert_int_ge(every_kernel_refuses_untouched(&c, ASSAY_INVALID), 3);
    }
    ck_assert_msg(against > 5, "%s: '%s' was broken %d times", assay_op_get(r->op)->name, r->text,
                  against);
    unmap(&c);
}
END_TEST

/* Operands that would take more than 2^62 bytes together, each with extents in range: refused for
 * every tuple of dtypes, also when no single operand is too large, and before any is looked at. */
START_TEST(sizes_that_overflow_reach_no_kernel)
{
    const assay_op_id op = (assay_op_id)_i;
    const assay_op_info *info = assay_op_get(op);
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];
    int overflows = 0;

    for (size_t tuple = 0; assay_op_tuple(op, tuple, dtypes); tuple++) {
        const assay_problem good = example(op, tuple);
        plugin_case c;
        unreachable(&c, &good);
        for (int turn = 0; turn < 200; turn++) {
            assay_problem p = good;
            for (size_t i = 0; i < info->param_count; i++)
                if (info->params[i].kind == ASSAY_KIND_INT && !info->params[i].has_default &&
                    below(2) == 0)
                    p.params[i].i = (int64_t)info->params[i].max >> below(24);
            if (assay_problem_check(&p) != ASSAY_OVERFLOW)
                continue;
            ck_assert_ptr_nonnull(strstr(assay_last_error(), "2^62"));
            if (overflows++ % 40 > 0)
                continue;
            c.problem = p;
            ck_assert_int_ge(every_kernel_refuses_untouched(&c, ASSAY_OVERFLOW), 1);
        }
        unmap(&c);
    }
    /* One extent alone cannot. */
    ck_assert_msg(overflows > 0 || info->operands[0].extents[1] == '\0', "%s", info->name);
}
END_TEST

/* An operand of whole numbers beside one of the op's type holds rows' numbers. */
static int index_of(const assay_problem *p)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    for (size_t i = 0; info->family == ASSAY_FAMILY_INDEX && i < info->inputs; i++)
        if (!assay_dtype_describe((assay_dtype)p->dtypes[i])->is_float && i > 0)
            return (int)i;
    return -1;
}

/* Of many indices one names no row, at any place: no row is read or written, whose pages are gone.
 */
START_TEST(indices_outside_are_refused)
{
    const assay_op_id op = (assay_op_id)_i;
    assay_dtype dtypes[ASSAY_MAX_OPERANDS];

    for (size_t tuple = 0; assay_op_tuple(op, tuple, dtypes); tuple++) {
        const assay_problem good = example(op, tuple);
        const int at = index_of(&good);
        plugin_case c;
        if (at < 0)
            return;
        const int64_t rows = assay_problem_int(&good, "rows");
        const assay_dtype_info *type = assay_dtype_describe((assay_dtype)good.dtypes[at]);
        const int64_t bad[] = {-1, rows, rows + 1, type->min_int, type->max_int};
        unreachable(&c, &good);
        assay_tensor *index = &c.operands[at];
        const int64_t n = assay_tensor_elements(index);
        ck_assert_int_eq(mprotect(c.memory[at], ROOM, PROT_READ | PROT_WRITE), 0);
        for (int turn = 0; turn < 60; turn++) {
            for (int64_t i = 0; i < n; i++)
                assay_store_f64(index->dtype, c.memory[at], (size_t)i, (double)below(rows));
            const int64_t place = turn == 0 ? 0 : turn == 1 ? n - 1 : below(n);
            if (bad[turn % 5] >= 0 && bad[turn % 5] < rows)
                continue;
            ck_assert_int_eq(assay_convert(index->dtype,
                                           (char *)c.memory[at] +
                                               (size_t)place * assay_dtype_bytes(index->dtype),
                                           ASSAY_I64, &bad[turn % 5], 1),
                             ASSAY_OK);
            ck_assert_int_ge(every_kernel_refuses_untouched(&c, ASSAY_INVALID), 2);
            ck_assert_msg(strstr(assay_last_error(), "outside the") != NULL, "%s",
                          assay_last_error());
        }
        unmap(&c);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bad_requests");
    TCase *tcase = tcase_create("bad_requests");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, every_kernel_open, every_kernel_close);
    tcase_add_loop_test(tcase, requirements_between_parameters_are_held, 0, REQUIREMENTS);
    tcase_add_loop_test(tcase, sizes_that_overflow_reach_no_kernel, 0, ASSAY_OP_COUNT);
    tcase_add_loop_test(tcase, indices_outside_are_refused, 0, ASSAY_OP_COUNT);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_index.c -- gather and scatter of rows: the reference and every kernel against the
 * definition, bit for bit; equal indices; indices that name no row. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "assay/status.h"
#include "calibrate/inputs.h"
#include "tests/support/every_kernel.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"
#include "tuner/arena.h"

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

static const assay_manifest *ref;

static void setup(void)
{
    every_kernel_open();
    ref = plugin_load("ref");
}

static bool is_index(assay_op_id op)
{
    return op == ASSAY_OP_gather || op == ASSAY_OP_scatter;
}

static int64_t index_at(const plugin_case *c, int64_t i)
{
    const void *index = assay_tensor_data(&c->operands[1]);

    return c->operands[1].dtype == ASSAY_U32 ? (int64_t)((const uint32_t *)index)[i]
                                             : ((const int64_t *)index)[i];
}

static void set_index(const plugin_case *c, int64_t i, int64_t row)
{
    void *index = assay_tensor_data(&c->operands[1]);

    if (c->operands[1].dtype == ASSAY_U32)
        ((uint32_t *)index)[i] = (uint32_t)row;
    else
        ((int64_t *)index)[i] = row;
}

static char *row_of(const plugin_case *c, uint32_t operand, int64_t row)
{
    const assay_tensor *t = &c->operands[operand];

    return (char *)assay_tensor_data(t) + (size_t)(row * t->dims[1]) * assay_dtype_bytes(t->dtype);
}

static size_t row_bytes(const plugin_case *c)
{
    return (size_t)c->operands[2].dims[1] * assay_dtype_bytes(c->operands[2].dtype);
}

/* What y must be, from its bytes before the run. */
static void by_definition(const plugin_case *c, char *y)
{
    int64_t n = c->operands[1].dims[0];
    size_t bytes = row_bytes(c);

    for (int64_t i = 0; i < n; i++) {
        bool gathers = c->problem.op == ASSAY_OP_gather;
        int64_t to = gathers ? i : index_at(c, i), from = gathers ? index_at(c, i) : i;
        memcpy(y + (size_t)to * bytes, row_of(c, 0, from), bytes);
    }
}

/* All bit patterns, NaN with payloads among them: nothing may be rounded, quieted or normalized. */
static void fill(plugin_case *c, uint64_t seed)
{
    for (uint32_t o = 0; o < 3; o += 2) {
        unsigned char *at = assay_tensor_data(&c->operands[o]);
        for (int64_t i = 0; i < assay_problem_operand_bytes(&c->problem, o); i++)
            at[i] = (unsigned char)plugin_random(&seed);
    }
    for (int64_t i = 0; i < c->operands[1].dims[0]; i++) {
        int64_t rows = c->operands[c->problem.op == ASSAY_OP_gather ? 0 : 2].dims[0];
        set_index(c, i, (int64_t)(plugin_random(&seed) % (uint64_t)rows));
    }
}

static const char *const shapes[] = {
    "rows=1,cols=1,n=1",    "rows=5,cols=3,n=17",     "rows=40,cols=33,n=9",
    "rows=7,cols=300,n=90", "rows=64,cols=16,n=64",   "rows=9,cols=0,n=4",
    "rows=9,cols=4,n=0",    "rows=300,cols=1,n=1000", "rows=3,cols=5000,n=6"};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

static void run_each(plugin_case *c, const assay_kernel_desc *k)
{
    size_t bytes = (size_t)assay_problem_operand_bytes(&c->problem, 2);
    char *old = malloc(bytes + 1), *want = malloc(bytes + 1);

    ck_assert(old != NULL && want != NULL);
    memcpy(old, assay_tensor_data(&c->operands[2]), bytes);
    memcpy(want, old, bytes);
    by_definition(c, want);
    for (int64_t threads = 1; threads <= 4; threads *= 2)
        for (int64_t direct = 0; direct < (k->tunable_count > 1 ? 2 : 1); direct++) {
            int64_t tunables[ASSAY_MAX_TUNABLES] = {threads, direct};
            memcpy(assay_tensor_data(&c->operands[2]), old, bytes);
            ck_assert_int_eq(plugin_case_run(c, k, tunables), ASSAY_OK);
            ck_assert_msg(memcmp(assay_tensor_data(&c->operands[2]), want, bytes) == 0,
                          "%s %s threads=%ld nontemporal=%ld", k->name,
                          assay_dtype_name((assay_dtype)k->dtypes[0]), (long)threads, (long)direct);
        }
    memcpy(assay_tensor_data(&c->operands[2]), old, bytes);
    free(old);
    free(want);
}

START_TEST(kernels_move_rows_bit_for_bit)
{
    const assay_manifest *m = plugin_all_at(_i / SHAPES);
    assay_instance *instance = NULL;
    int ran = 0;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++)
        for (size_t skew = 0; skew < 48; skew += 8) {
            const assay_kernel_desc *k = &m->kernels[i];
            plugin_case c;
            if (!is_index(k->op) || !plugin_all_runs(m, instance, k))
                continue;
            plugin_case_of(&c, k, shapes[_i % SHAPES], skew);
            fill(&c, 7 + i);
            run_each(&c, k);
            plugin_case_clear(&c);
            ran++;
        }
    /* two ops, two kernels, eleven types, two of indices */
    ck_assert_int_ge(ran, strcmp(m->name, "cpu") == 0 ? 88 * 6 : 0);
    plugin_all_close(m, &instance);
}
END_TEST

/* Values, not bits: a signaling NaN may come back quiet. */
START_TEST(reference_follows_the_definition)
{
    for (size_t o = 0; o < 2; o++)
        for (size_t t = 0; t < FLOATS; t++) {
            assay_op_id op = o == 0 ? ASSAY_OP_gather : ASSAY_OP_scatter;
            plugin_case c;
            assay_wide w;
            plugin_case_init(&c, op, floats[t], shapes[_i], 0);
            fill(&c, 3);
            size_t bytes = (size_t)assay_problem_operand_bytes(&c.problem, 2);
            char *want = malloc(bytes + 1);
            ck_assert_ptr_nonnull(want);
            memcpy(want, assay_tensor_data(&c.operands[2]), bytes);
            by_definition(&c, want);
            plugin_case_wide(&c, plugin_oracle(ref, op), 2, &w);
            ck_assert_int_eq(plugin_case_run(&c, plugin_kernel(ref, op, floats[t], NULL), NULL),
                             ASSAY_OK);
            for (int64_t i = 0; i < c.elements; i++) {
                double v = assay_load_f64(floats[t], want, (size_t)i);
                double y = plugin_case_get(&c, 2, i);
                ck_assert(isnan(v) ? isnan(y) && isnan(w.hi[i])
                                   : memcmp(&v, &y, 8) == 0 && memcmp(&v, &w.hi[i], 8) == 0);
                ck_assert(w.bound[i] <= 0.0 && w.lo[i] <= 0.0 && w.lo[i] >= 0.0);
            }
            plugin_wide_clear(&w);
            free(want);
            plugin_case_clear(&c);
        }
}
END_TEST

static const struct hand {
    assay_op_id op;
    const char *params;
    double x[6], y[6];
    int64_t index[4];
} hand[] = {
    {ASSAY_OP_gather, "rows=3,cols=2,n=3", {1, 2, 3, 4, 5, 6}, {5, 6, 1, 2, 5, 6}, {2, 0, 2}},
    {ASSAY_OP_gather, "rows=2,cols=1,n=4", {7, -0.0}, {-0.0, 7, 7, -0.0}, {1, 0, 0, 1}},
    {ASSAY_OP_scatter, "rows=3,cols=2,n=2", {1, 2, 3, 4}, {3, 4, 9, 9, 1, 2}, {2, 0}},
    {ASSAY_OP_scatter, "rows=4,cols=1,n=4", {1, 2, 3, 4}, {4, 3, 9, 9}, {0, 1, 1, 0}},
};

/* Rows that no index names keep their 9; of equal indices the last one wins. */
START_TEST(values_made_by_hand)
{
    const struct hand *h = &hand[_i / FLOATS];
    plugin_case c;

    plugin_case_init(&c, h->op, floats[_i % FLOATS], h->params, 0);
    for (int64_t j = 0; j < assay_problem_operand_elements(&c.problem, 0); j++)
        plugin_case_set(&c, 0, j, h->x[j]);
    for (int64_t j = 0; j < c.elements; j++)
        plugin_case_set(&c, 2, j, 9.0);
    for (int64_t j = 0; j < c.operands[1].dims[0]; j++)
        set_index(&c, j, h->index[j]);
    every_kernel_gives(&c, h->y, h->params);
    plugin_case_clear(&c);
}
END_TEST

/* One index of many names no row: nothing is written, and no row is read, whose pages are gone. */
START_TEST(bad_indices_are_refused_before_anything_is_touched)
{
    static const int64_t bad[] = {-1, 5, INT64_MIN, INT64_MAX, 1000000};
    const assay_manifest *m = plugin_all_at(_i / 5);
    enum { BYTES = 1 << 16 };

    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {2};
        plugin_case c;
        if (!is_index(k->op) || !every_kernel_can(k))
            continue;
        plugin_case_of(&c, k, "rows=5,cols=3,n=40", 0);
        fill(&c, 1);
        set_index(&c, 39, k->dtypes[1] == ASSAY_U32 && _i % 5 == 2 ? 5 : bad[_i % 5]);
        for (uint32_t o = 0; o < 3; o += 2) {
            c.operands[o].buffer.at.host =
                mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            c.operands[o].byte_offset = 0;
            ck_assert(c.operands[o].buffer.at.host != MAP_FAILED);
        }
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_INVALID);
        munmap(c.operands[0].buffer.at.host, BYTES);
        munmap(c.operands[2].buffer.at.host, BYTES);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- the catalogue's side -------------------------------------------------------------------- */

START_TEST(inputs_name_rows_that_are_there)
{
    static const char *const names[] = {"gather", "scatter"};

    for (size_t o = 0; o < 2; o++)
        for (int s = 0; s < (int)ASSAY_STRATUM_COUNT; s++) {
            int64_t index[500], seen[7] = {0};
            char text[64];
            assay_problem p;
            snprintf(text, sizeof text, "%s f16,i64,f16 rows=7,cols=3,n=500", names[o]);
            ck_assert_int_eq(assay_problem_parse(text, &p), ASSAY_OK);
            ck_assert_int_eq(assay__reads_output(&p), o == 1);
            if (!assay__stratum_fits((assay_stratum)s, (assay_op_id)p.op))
                continue;
            ck_assert_int_eq(assay__inputs_fill(&p, (assay_stratum)s, 1, 1, 0, 500, index),
                             ASSAY_OK);
            for (int i = 0; i < 500; i++) {
                ck_assert(index[i] >= 0 && index[i] < 7);
                seen[index[i]]++;
            }
            for (int i = 0; i < 7; i++)
                ck_assert_int_gt(seen[i], 30);
        }
}
END_TEST

START_TEST(layer_1_counts)
{
    static const struct {
        const char *text;
        double bytes;
    } rows[] = {{"gather f32,i64,f32 rows=100,cols=8,n=10", 4.0 * 8 * 20 + 80},
                {"gather f32,i64,f32 rows=5,cols=8,n=10", 4.0 * 8 * 15 + 80},
                {"scatter bf16,i64,bf16 rows=100,cols=8,n=10", 2.0 * 8 * 20 + 80},
                {"gather u8,u32,u8 rows=100,cols=8,n=10", 1.0 * 8 * 20 + 40},
                {"scatter f64,i64,f64 rows=5,cols=8,n=10", 8.0 * 8 * 10 + 80}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_problem p;
        double flops, bytes;
        ck_assert_int_eq(assay_problem_parse(rows[i].text, &p), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_double_eq(flops, 0);
        ck_assert_double_eq(bytes, rows[i].bytes);
    }
}
END_TEST

static const struct bad_problem {
    const char *text, *says;
    assay_status status;
} bad_problems[] = {
    {"gather f32,i64,f32 rows=0,cols=3,n=1", "rows must be positive", ASSAY_INVALID},
    {"scatter f32,i64,f32 rows=0,cols=3,n=1", "rows must be positive", ASSAY_INVALID},
    {"gather f32,f32,f32 rows=2,cols=3,n=1", "U is one of i64/u32, not f32", ASSAY_UNSUPPORTED},
    {"gather f32,i64,f64 rows=2,cols=3,n=1", "T,U,T", ASSAY_UNSUPPORTED},
    {"scatter f32,i64,f32 rows=2,cols=-3,n=1", "cols=-3", ASSAY_INVALID},
    {"scatter f32,i64,f32 rows=2,cols=3", "'n'", ASSAY_INVALID},
    {"gather f32,i64,f32 rows=1099511627776,cols=1099511627776,n=1", "2^62", ASSAY_OVERFLOW},
};

START_TEST(bad_problems_say_why)
{
    const struct bad_problem *b = &bad_problems[_i];
    assay_problem p;

    ck_assert_msg(assay_problem_parse(b->text, &p) == b->status, "%s: %s", b->text,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), b->says) != NULL, "%s: %s", b->text,
                  assay_last_error());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("index");
    TCase *tcase = tcase_create("index");
    int count = plugin_all_find();

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, every_kernel_close);
    tcase_add_loop_test(tcase, kernels_move_rows_bit_for_bit, 0, count * SHAPES);
    tcase_add_loop_test(tcase, reference_follows_the_definition, 0, SHAPES);
    tcase_add_loop_test(tcase, values_made_by_hand, 0, (int)(sizeof hand / sizeof *hand) * FLOATS);
    tcase_add_loop_test(tcase, bad_indices_are_refused_before_anything_is_touched, 0, count * 5);
    tcase_add_test(tcase, inputs_name_rows_that_are_there);
    tcase_add_test(tcase, layer_1_counts);
    tcase_add_loop_test(tcase, bad_problems_say_why, 0,
                        (int)(sizeof bad_problems / sizeof *bad_problems));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

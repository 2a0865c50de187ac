/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_matmul.c -- what a matmul must not read: op(A) and op(B) behind a zero alpha, C
 * behind a zero beta, anything beyond its operands.
 *
 * What must not be read cannot be: its pages are taken away. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assay/status.h"
#include "tests/support/no_leak_scan.h"
#include "tests/support/plugin_all.h"
#include "tests/support/plugin_case.h"

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};

/* beta: as the type takes it; -0x1p-150 is a zero in f32 and a number in f64. */
static const struct row {
    const char *params;
    double beta, beta_f64;
    bool f64_reads;
} rows[] = {
    {"m=7,n=17,k=9,alpha=0", 0.0, 0.0, false},
    {"m=7,n=17,k=9,alpha=0,beta=2", 2.0, 2.0, false},
    {"m=13,n=40,k=300,alpha=0,beta=1,trans_a=t", 1.0, 1.0, false},
    {"m=13,n=40,k=30,alpha=0,beta=-0.5,trans_b=t", -0.5, -0.5, false},
    {"batch=3,m=6,n=32,k=5,alpha=0,beta=0.25,trans_a=t,trans_b=c", 0.25, 0.25, false},
    {"batch=2,m=64,n=64,k=64,alpha=0x1p-150", 0.0, 0.0, true},
    {"m=5,n=6,k=7,alpha=0,beta=-0x1p-150", 0.0, -0x1p-150, false},
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

static void *take_away(assay_tensor *t, size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert(pages != MAP_FAILED);
    t->buffer.at.host = pages;
    t->byte_offset = 0;
    return pages;
}

/* The old C: small numbers that no beta here rounds. */
static double old_value(int64_t i)
{
    return (double)(i % 13 - 6);
}

static bool same(double a, double b)
{
    return a >= b && a <= b;
}

static void check_one(const assay_kernel_desc *k, const struct row *r)
{
    assay_dtype t = (assay_dtype)k->dtypes[0];
    double beta = t == ASSAY_F64 ? r->beta_f64 : r->beta;
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    enum { BYTES = 1 << 20 };
    plugin_case c;

    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    plugin_case_of(&c, k, r->params, 0);
    plugin_case_poison(&c);
    for (int64_t i = 0; i < c.elements && beta != 0.0; i++)
        plugin_case_set(&c, 2, i, old_value(i));
    void *a = take_away(&c.operands[0], BYTES), *b = take_away(&c.operands[1], BYTES);
    if (k->can_run_fn == NULL || k->can_run_fn(&c.problem, tunables)) {
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        for (int64_t i = 0; i < c.elements; i++) {
            double want = beta != 0.0 ? beta * old_value(i) : 0.0, got = plugin_case_get(&c, 2, i);
            ck_assert_msg(same(got, want), "%s %s %s element %ld: %g, not %g", k->name,
                          assay_dtype_name(t), r->params, (long)i, got, want);
        }
    }
    munmap(a, BYTES);
    munmap(b, BYTES);
    plugin_case_clear(&c);
}

START_TEST(zero_alpha_reads_neither_a_nor_b)
{
    const assay_manifest *m = plugin_all_at(_i / ROWS);
    const struct row *r = &rows[_i % ROWS];
    assay_instance *instance = NULL;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        if (k->op == ASSAY_OP_matmul && (k->dtypes[0] != ASSAY_F64 || !r->f64_reads) &&
            plugin_all_runs(m, instance, k))
            check_one(k, r);
    }
    plugin_all_close(m, &instance);
}
END_TEST

/* ---- what lies beyond the operands ----------------------------------------------------------- */

static const char *const edges[] = {"m=19,n=34,k=7,beta=1",
                                    "m=19,n=1,k=7",
                                    "m=1,n=19,k=7",
                                    "m=16,n=1,k=3,beta=1",
                                    "m=7,n=40,k=5,trans_a=t,beta=0.5",
                                    "m=19,n=37,k=3,trans_b=t",
                                    "batch=2,m=5,n=9,k=11,alpha=2,beta=1",
                                    "m=70,n=33,k=300,beta=-1"};
#define EDGES ((int)(sizeof edges / sizeof *edges))

/* The operand ends where its page does, and the next page is taken away. */
static void *move_to_edge(assay_tensor *t, int64_t bytes, size_t *mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), used = ((size_t)bytes + page - 1) / page * page;
    char *pages;

    *mapped = used + page;
    pages = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages != MAP_FAILED && mprotect(pages + used, page, PROT_NONE) == 0);
    memcpy(pages + used - (size_t)bytes, assay_tensor_data(t), (size_t)bytes);
    t->buffer.at.host = pages + used - (size_t)bytes;
    t->byte_offset = 0;
    return pages;
}

static void check_edge(const assay_kernel_desc *k, const char *params)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
    void *pages[ASSAY_MAX_OPERANDS];
    size_t mapped[ASSAY_MAX_OPERANDS];
    plugin_case c;

    for (size_t i = 0; i < k->tunable_count; i++)
        tunables[i] = k->tunables[i].default_value;
    plugin_case_of(&c, k, params, 0);
    for (uint32_t i = 0; i < c.count; i++) {
        plugin_case_fill(&c, i, i + 1, 1.0);
        pages[i] =
            move_to_edge(&c.operands[i], assay_problem_operand_bytes(&c.problem, i), &mapped[i]);
    }
    if (k->can_run_fn == NULL || k->can_run_fn(&c.problem, tunables))
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
    for (uint32_t i = 0; i < c.count; i++)
        munmap(pages[i], mapped[i]);
    plugin_case_clear(&c);
}

START_TEST(nothing_beyond_operands_is_read)
{
    const assay_manifest *m = plugin_all_at(_i / EDGES);
    const char *params = edges[_i % EDGES];
    bool plain = strstr(params, "beta=") == NULL && strstr(params, "trans") == NULL;
    assay_instance *instance = NULL;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        bool takes = k->op == ASSAY_OP_matmul || (k->op == ASSAY_OP_fused_linear && plain);
        if (takes && plugin_all_runs(m, instance, k))
            check_edge(k, params);
    }
    plugin_all_close(m, &instance);
}
END_TEST

START_TEST(reference_follows_the_same_law)
{
    const assay_manifest *ref = plugin_load("ref");

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (floats[i] != ASSAY_F64 || !rows[_i].f64_reads)
            check_one(plugin_kernel(ref, ASSAY_OP_matmul, floats[i], NULL), &rows[_i]);
}
END_TEST

/* A product that no zero takes away is read: the law is not met by reading nothing at all. */
START_TEST(other_alphas_let_nan_through)
{
    const assay_manifest *m = plugin_all_at(_i);
    assay_instance *instance = NULL;

    if (!plugin_all_open(m, &instance))
        return;
    for (size_t i = 0; i < m->kernel_count; i++) {
        const assay_kernel_desc *k = &m->kernels[i];
        int64_t tunables[ASSAY_MAX_TUNABLES] = {0};
        plugin_case c;
        if (k->op != ASSAY_OP_matmul || !plugin_all_runs(m, instance, k))
            continue;
        for (size_t j = 0; j < k->tunable_count; j++)
            tunables[j] = k->tunables[j].default_value;
        plugin_case_of(&c, k, "m=7,n=17,k=9,alpha=0x1p-149", 0);
        plugin_case_fill(&c, 0, 1, 1.0);
        plugin_case_fill(&c, 1, 2, 1.0);
        for (int64_t j = 0; j < 7; j++)
            plugin_case_set(&c, 0, j * 9 + j, __builtin_nan(""));
        if (k->can_run_fn == NULL || k->can_run_fn(&c.problem, tunables)) {
            ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
            for (int64_t j = 0; j < c.elements; j++)
                ck_assert_msg(__builtin_isnan(plugin_case_get(&c, 2, j)), "%s %s", k->name,
                              assay_dtype_name((assay_dtype)k->dtypes[0]));
        }
        plugin_case_clear(&c);
    }
    plugin_all_close(m, &instance);
}
END_TEST

START_TEST(layer_1_does_not_count_what_is_not_read)
{
    static const struct {
        const char *text;
        double flops, bytes;
    } costs[] = {
        {"matmul f32,f32,f32 batch=2,m=3,n=5,k=7", 420, 4.0 * 2 * (21 + 35 + 15)},
        {"matmul f32,f32,f32 batch=2,m=3,n=5,k=7,beta=1", 420, 4.0 * 2 * (21 + 35 + 30)},
        {"matmul f32,f32,f32 batch=2,m=3,n=5,k=7,alpha=0", 0, 4.0 * 2 * 15},
        {"matmul f64,f64,f64 batch=2,m=3,n=5,k=7,alpha=0,beta=2", 0, 8.0 * 2 * 30},
    };

    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        assay_problem p;
        double flops, bytes;
        ck_assert_int_eq(assay_problem_parse(costs[i].text, &p), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_double_eq(flops, costs[i].flops);
        ck_assert_double_eq(bytes, costs[i].bytes);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("matmul");
    TCase *tcase = tcase_create("matmul");
    int count = plugin_all_find();

    tcase_add_loop_test(tcase, zero_alpha_reads_neither_a_nor_b, 0, count * ROWS);
    tcase_add_loop_test(tcase, nothing_beyond_operands_is_read, 0, count * EDGES);
    tcase_add_loop_test(tcase, reference_follows_the_same_law, 0, ROWS);
    tcase_add_loop_test(tcase, other_alphas_let_nan_through, 0, count);
    tcase_add_test(tcase, layer_1_does_not_count_what_is_not_read);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

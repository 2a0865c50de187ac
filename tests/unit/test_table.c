/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_table.c -- registration, rank order, lookups, broken rows, held snapshots. */
#include "assay/table.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/rows.h"

static const uint8_t f32x3[] = {ASSAY_F32, ASSAY_F32, ASSAY_F32};

static assay_table *table;

static void setup(void)
{
    ck_assert_int_eq(assay_table_create(&table), ASSAY_OK);
}

static void teardown(void)
{
    assay_table_destroy(&table);
    ck_assert_ptr_null(table);
    assay_table_destroy(&table);
}

static const assay_snapshot *hold(void)
{
    const assay_snapshot *s = NULL;

    ck_assert_int_eq(assay_table_hold(table, &s), ASSAY_OK);
    return s;
}

static void add(const assay_manifest *m, const assay_kernel_desc *d)
{
    assay_binding b = rows_binding(m, d, 1);

    ck_assert_msg(assay_table_register(table, &b, 1) == ASSAY_OK, "%s", assay_last_error());
}

/* Names of all alternatives of add f32, joined by spaces. */
static const char *names(const assay_snapshot *s, const char *backend)
{
    static char text[256];
    const assay_binding *rows = NULL;
    size_t n = assay_snapshot_alternatives(s, ASSAY_OP_add, f32x3, 3, backend, &rows);

    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 rows[i].desc->name);
    return text;
}

/* ---- lookups ---- */

START_TEST(alternatives_come_in_rank_order_whatever_the_registration)
{
    const assay_manifest cpu = rows_manifest("cpu"), blas = rows_manifest("blas");
    const assay_kernel_desc d[] = {
        rows_desc("b", ASSAY_OP_add, ASSAY_F32, 10), rows_desc("a", ASSAY_OP_add, ASSAY_F32, 10),
        rows_desc("z", ASSAY_OP_add, ASSAY_F32, 0), rows_desc("p", ASSAY_OP_add, ASSAY_F32, 20)};
    const int orders[3][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};

    for (size_t o = 0; o < 3; o++) {
        const assay_snapshot *s;
        const assay_binding *first = NULL;
        for (size_t i = 0; i < 4; i++)
            add(orders[o][i] == 1 ? &blas : &cpu, &d[orders[o][i]]);
        s = hold();
        ck_assert_str_eq(names(s, NULL), "z a b p");
        ck_assert_str_eq(names(s, "cpu"), "z b p");
        ck_assert_str_eq(names(s, "blas"), "a");
        ck_assert_str_eq(names(s, "cuda"), "");
        ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_add, f32x3, 3, NULL, &first), ASSAY_OK);
        ck_assert_str_eq(first->desc->name, "z");
        ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_add, f32x3, 3, "blas", &first),
                         ASSAY_OK);
        ck_assert_str_eq(first->desc->name, "a");
        assay_snapshot_release(&s);
        ck_assert_ptr_null(s);
        teardown();
        setup();
    }
}
END_TEST

START_TEST(default_in_a_table_of_one_rank_is_the_first_registered)
{
    const assay_manifest cpu = rows_manifest("cpu"), blas = rows_manifest("blas");
    const assay_kernel_desc z = rows_desc("z", ASSAY_OP_add, ASSAY_F32, 5);
    const assay_kernel_desc y = rows_desc("y", ASSAY_OP_add, ASSAY_F32, 5);
    const assay_kernel_desc a = rows_desc("a", ASSAY_OP_add, ASSAY_F32, 5);
    const assay_binding *first = NULL;
    const assay_snapshot *s;

    add(&cpu, &z);
    add(&blas, &y);
    add(&cpu, &a);
    s = hold();
    ck_assert_str_eq(names(s, NULL), "y a z");
    ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_add, f32x3, 3, NULL, &first), ASSAY_OK);
    ck_assert_str_eq(first->desc->name, "z");
    ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_add, f32x3, 3, "blas", &first), ASSAY_OK);
    ck_assert_str_eq(first->desc->name, "y");
    assay_snapshot_release(&s);
}
END_TEST

START_TEST(backend_rows_that_lie_apart_are_found_together)
{
    const assay_manifest cpu = rows_manifest("cpu"), blas = rows_manifest("blas");
    const assay_kernel_desc d[] = {
        rows_desc("a", ASSAY_OP_add, ASSAY_F32, 0), rows_desc("b", ASSAY_OP_add, ASSAY_F32, 1),
        rows_desc("c", ASSAY_OP_add, ASSAY_F32, 2), rows_desc("d", ASSAY_OP_add, ASSAY_F32, 3)};
    const assay_snapshot *s;

    for (size_t i = 0; i < 4; i++)
        add(i % 2 == 0 ? &cpu : &blas, &d[i]);
    s = hold();
    ck_assert_str_eq(names(s, NULL), "a b c d");
    ck_assert_str_eq(names(s, "cpu"), "a c");
    ck_assert_str_eq(names(s, "blas"), "b d");
    ck_assert_uint_eq(assay_snapshot_size(s), 4);
    assay_snapshot_release(&s);
}
END_TEST

START_TEST(miss_lists_the_coverage_of_the_op)
{
    const assay_manifest cpu = rows_manifest("cpu"), blas = rows_manifest("blas");
    const assay_kernel_desc d[] = {rows_desc("a", ASSAY_OP_add, ASSAY_F64, 0),
                                   rows_desc("b", ASSAY_OP_add, ASSAY_BF16, 1),
                                   rows_desc("c", ASSAY_OP_exp, ASSAY_F32, 2)};
    const assay_binding *first = NULL;
    const assay_snapshot *s;

    add(&cpu, &d[0]);
    add(&blas, &d[1]);
    add(&cpu, &d[2]);
    s = hold();
    ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_add, f32x3, 3, NULL, &first),
                     ASSAY_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "add f32,f32,f32"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "cpu f64,f64,f64"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "blas bf16,bf16,bf16"));
    ck_assert_ptr_null(strstr(assay_last_error(), "cpu f32,f32"));
    ck_assert_ptr_null(first);
    ck_assert_int_eq(assay_snapshot_default(s, ASSAY_OP_softmax_last_dim, f32x3, 2, NULL, &first),
                     ASSAY_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "nothing"));
    assay_snapshot_release(&s);
}
END_TEST

/* ---- registering ---- */

START_TEST(snapshot_keeps_what_it_saw)
{
    const assay_manifest cpu = rows_manifest("cpu");
    const assay_kernel_desc a = rows_desc("a", ASSAY_OP_add, ASSAY_F32, 0);
    const assay_kernel_desc b = rows_desc("b", ASSAY_OP_add, ASSAY_F32, 1);
    const assay_snapshot *before, *after;
    const assay_binding *row;

    add(&cpu, &a);
    before = hold();
    row = assay_snapshot_at(before, 0);
    add(&cpu, &b);
    after = hold();
    ck_assert_uint_eq(assay_snapshot_size(before), 1);
    ck_assert_uint_eq(assay_snapshot_size(after), 2);
    ck_assert_uint_eq(assay_snapshot_version(after), assay_snapshot_version(before) + 1);
    ck_assert_ptr_eq(assay_snapshot_at(before, 0), row);
    ck_assert_str_eq(row->desc->name, "a");
    ck_assert_ptr_null(assay_snapshot_at(before, 1));
    /* A held snapshot outlives the table. */
    assay_table_destroy(&table);
    ck_assert_str_eq(names(before, NULL), "a");
    assay_snapshot_release(&before);
    assay_snapshot_release(&after);
    setup();
}
END_TEST

START_TEST(register_of_many_is_all_or_none)
{
    const assay_manifest cpu = rows_manifest("cpu");
    const assay_kernel_desc a = rows_desc("a", ASSAY_OP_add, ASSAY_F32, 0);
    const assay_kernel_desc b = rows_desc("b", ASSAY_OP_exp, ASSAY_F32, 0);
    assay_binding rows[] = {rows_binding(&cpu, &a, 1), rows_binding(&cpu, &b, 1)};
    const assay_snapshot *s;

    rows[1].run = NULL;
    ck_assert_int_eq(assay_table_register(table, rows, 2), ASSAY_INVALID);
    s = hold();
    ck_assert_uint_eq(assay_snapshot_size(s), 0);
    ck_assert_uint_eq(assay_snapshot_version(s), 0);
    assay_snapshot_release(&s);
    rows[1].run = b.run;
    ck_assert_int_eq(assay_table_register(table, rows, 2), ASSAY_OK);
    s = hold();
    ck_assert_uint_eq(assay_snapshot_size(s), 2);
    ck_assert_uint_eq(assay_snapshot_version(s), 1);
    assay_snapshot_release(&s);
}
END_TEST

#define MANY 3000

START_TEST(register_in_two_steps_equals_one_step)
{
    static char text[MANY][24];
    static assay_kernel_desc descs[MANY];
    static assay_binding rows[MANY];
    const assay_manifest m[] = {rows_manifest("cpu"), rows_manifest("blas"), rows_manifest("x")};
    const assay_dtype t[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
    const assay_snapshot *one, *two;
    assay_table *other;

    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "k%d", i * 7919 % MANY);
        descs[i] = rows_desc(text[i], (assay_op_id)(i % ASSAY_OP_COUNT), t[i / 4 % 4], i % 5);
        rows[i] = rows_binding(&m[i % 3], &descs[i], 1);
    }
    ck_assert_int_eq(assay_table_create(&other), ASSAY_OK);
    ck_assert_int_eq(assay_table_register(table, rows, MANY), ASSAY_OK);
    ck_assert_int_eq(assay_table_register(other, rows + MANY / 3, MANY - MANY / 3), ASSAY_OK);
    ck_assert_int_eq(assay_table_register(other, rows, MANY / 3), ASSAY_OK);
    one = hold();
    ck_assert_int_eq(assay_table_hold(other, &two), ASSAY_OK);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_ptr_eq(assay_snapshot_at(one, i)->desc, assay_snapshot_at(two, i)->desc);
    for (int i = 0; i < MANY; i++) { /* every row is found under its own backend */
        const assay_binding *found = NULL;
        size_t n = assay_snapshot_alternatives(one, (assay_op_id)rows[i].op, rows[i].dtypes,
                                               rows[i].dtype_count, rows[i].manifest->name, &found);
        size_t j = 0;
        while (j < n && found[j].desc != rows[i].desc)
            j++;
        ck_assert_uint_lt(j, n);
    }
    assay_snapshot_release(&one);
    assay_snapshot_release(&two);
    assay_table_destroy(&other);
}
END_TEST

/* ---- broken rows ---- */

static assay_manifest cpu;
static assay_kernel_desc desc;
static assay_binding row;

static void setup_row(void)
{
    setup();
    cpu = rows_manifest("cpu");
    desc = rows_desc("k", ASSAY_OP_matmul, ASSAY_F32, 10);
    row = rows_binding(&cpu, &desc, 1);
}

/* The error names the row, the field and why. */
static void expect_broken(const char *field, const char *why)
{
    char want[64];

    snprintf(want, sizeof want, "field %s:", field);
    ck_assert_int_eq(assay_table_register(table, &row, 1), ASSAY_INVALID);
    ck_assert_msg(strstr(assay_last_error(), "row 0") != NULL, "%s", assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), want) != NULL, "%s", assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), why) != NULL, "%s", assay_last_error());
}

START_TEST(row_whole_is_accepted)
{
    static const assay_source_hash hashes[] = {{"backends/cpu/k.c", {{0}}}};
    static const char *const sources[] = {"backends/cpu/k.c", NULL};
    static const int64_t values[] = {1, 2};
    static const assay_tunable tunables[] = {{"threads", values, 2, 2, "workers"}};

    desc.tunables = tunables;
    desc.tunable_count = 1;
    desc.constraint = "threads <= m";
    desc.can_run = "k > 0";
    desc.cost_flops = "2*m*n*k";
    desc.sources = sources;
    cpu.sources = hashes;
    cpu.source_count = 1;
    ck_assert_msg(assay_table_register(table, &row, 1) == ASSAY_OK, "%s", assay_last_error());
}
END_TEST

START_TEST(row_without_function)
{
    row.run = NULL;
    expect_broken("run", "NULL");
}
END_TEST

START_TEST(row_with_another_function_than_its_descriptor)
{
    desc.run = NULL;
    expect_broken("run", "NULL");
}
END_TEST

START_TEST(row_without_descriptor)
{
    row.desc = NULL;
    expect_broken("desc", "NULL");
}
END_TEST

START_TEST(row_without_manifest)
{
    row.manifest = NULL;
    expect_broken("manifest", "NULL");
}
END_TEST

START_TEST(row_with_a_bad_struct_size)
{
    desc.struct_size = 8;
    expect_broken("struct_size", "is 8");
}
END_TEST

START_TEST(row_without_name)
{
    desc.name = "";
    expect_broken("name", "missing");
}
END_TEST

START_TEST(row_with_a_name_too_long)
{
    desc.name = "k123456789012345678901234567890123456789012345678901234567890123";
    expect_broken("name", "longer than 63");
}
END_TEST

START_TEST(row_with_a_name_that_texts_cannot_hold)
{
    static const char *const names[] = {"a b",  "a,b", "a=b",  "a{b",  "a}b",        "a|b",
                                        "a\"b", "a'b", "a\\b", "a\nb", "a\033[31mb", "caf\303\251"};
    static const int64_t values[] = {4, 8};
    assay_tunable tunable = {"tile", values, 2, 4, ""};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        desc.name = names[i];
        expect_broken("name", "of a name");
        desc.name = "ns::k<f32>/2.1+x*y-z_#@";
        desc.tunables = &tunable;
        desc.tunable_count = 1;
        tunable.name = names[i];
        expect_broken("tunables", "of a name");
        desc.tunable_count = 0;
    }
    ck_assert_int_eq(assay_table_register(table, &row, 1), ASSAY_OK);
}
END_TEST

START_TEST(row_with_claims_that_are_none)
{
    static const double numbers[] = {INFINITY, -INFINITY};
    double *const fields[] = {&desc.claims.max_ulp, &desc.claims.max_rho, &desc.claims.max_rel,
                              &desc.claims.max_abs};

    for (size_t i = 0; i < 8; i++) {
        double kept = *fields[i % 4];
        *fields[i % 4] = numbers[i / 4];
        expect_broken("claims", "no limit");
        *fields[i % 4] = kept;
    }
    desc.claims.stability = (assay_stability)(ASSAY_STABILITY_ANYWHERE + 1);
    expect_broken("claims", "stability");
}
END_TEST

START_TEST(row_with_a_value_twice)
{
    static const int64_t values[] = {4, 8, 4};
    static const assay_tunable tunables[] = {{"tile", values, 3, 4, ""}};

    desc.tunables = tunables;
    desc.tunable_count = 1;
    expect_broken("tunables", "the value 4 twice");
}
END_TEST

START_TEST(row_with_an_unknown_op)
{
    row.op = 999;
    expect_broken("op", "999");
}
END_TEST

START_TEST(row_whose_dtypes_break_the_rule)
{
    row.dtypes[1] = ASSAY_F64;
    desc.dtypes[1] = ASSAY_F64;
    expect_broken("dtypes", "matmul");
}
END_TEST

START_TEST(row_with_too_few_dtypes)
{
    row.dtype_count = 2;
    desc.dtype_count = 2;
    expect_broken("dtypes", "matmul");
}
END_TEST

START_TEST(row_whose_dtypes_differ_from_the_descriptor)
{
    desc = rows_desc("k", ASSAY_OP_matmul, ASSAY_F64, 10);
    expect_broken("dtypes", "differ");
}
END_TEST

START_TEST(row_with_a_tunable_without_values)
{
    static const assay_tunable tunables[] = {{"tile", NULL, 0, 8, ""}};

    desc.tunables = tunables;
    desc.tunable_count = 1;
    expect_broken("tunables", "'tile' has no values");
}
END_TEST

START_TEST(row_with_a_default_outside_the_values)
{
    static const int64_t values[] = {4, 8};
    static const assay_tunable tunables[] = {{"tile", values, 2, 16, ""}};

    desc.tunables = tunables;
    desc.tunable_count = 1;
    expect_broken("tunables", "default 16 of 'tile'");
}
END_TEST

START_TEST(row_with_a_tunable_twice)
{
    static const int64_t values[] = {4, 8};
    static const assay_tunable tunables[] = {{"tile", values, 2, 4, ""},
                                             {"tile", values, 2, 4, ""}};

    desc.tunables = tunables;
    desc.tunable_count = 2;
    expect_broken("tunables", "twice");
}
END_TEST

START_TEST(row_with_too_many_tunables)
{
    desc.tunable_count = ASSAY_MAX_TUNABLES + 1;
    expect_broken("tunable_count", "at most");
}
END_TEST

START_TEST(row_whose_tiles_of_errors_cannot_be)
{
    desc.error_factor = 2.0;
    expect_broken("error_factor", "without an error_tile");
    desc.error_tile = 4;
    expect_broken("error_tile", "matmul has no tiles");
}
END_TEST

START_TEST(row_whose_tiles_err_less_than_a_sum)
{
    static const double factors[] = {0.0, 0.5, NAN, INFINITY, -2.0};

    desc = rows_desc("k", ASSAY_OP_conv2d, ASSAY_F32, 10);
    row = rows_binding(&cpu, &desc, 1);
    desc.error_tile = 4;
    desc.error_factor = factors[_i];
    expect_broken("error_factor", "from 1 to 1024");
    desc.error_factor = 2.0;
    desc.error_tile = 65;
    expect_broken("error_tile", "at most 64");
}
END_TEST

START_TEST(row_with_a_source_outside_the_table)
{
    static const assay_source_hash hashes[] = {{"backends/cpu/k.c", {{0}}}};
    static const char *const sources[] = {"backends/cpu/k.c", "backends/cpu/other.c", NULL};

    desc.sources = sources;
    cpu.sources = hashes;
    cpu.source_count = 1;
    expect_broken("sources", "backends/cpu/other.c");
}
END_TEST

START_TEST(row_with_an_expression_that_does_not_compile)
{
    desc.can_run = "m +";
    expect_broken("can_run", "m +");
    desc.can_run = NULL;
    desc.cost_flops = "2*q";
    expect_broken("cost_flops", "q");
    desc.cost_flops = NULL;
    desc.cost_bytes = "(m";
    expect_broken("cost_bytes", "(m");
    desc.cost_bytes = NULL;
    desc.constraint = "tile < m";
    expect_broken("constraint", "tile");
}
END_TEST

START_TEST(row_registered_twice)
{
    const assay_kernel_desc twin = rows_desc("k", ASSAY_OP_matmul, ASSAY_F32, 99);
    assay_binding both[] = {row, rows_binding(&cpu, &twin, 2)};

    ck_assert_int_eq(assay_table_register(table, both, 2), ASSAY_INVALID);
    ck_assert_msg(strstr(assay_last_error(), "row 1 (cpu/k), field name") != NULL, "%s",
                  assay_last_error());
    ck_assert_int_eq(assay_table_register(table, &row, 1), ASSAY_OK);
    expect_broken("name", "already registered");
    row = both[1];
    expect_broken("name", "already registered");
}
END_TEST

START_TEST(row_of_the_same_name_elsewhere_is_another_row)
{
    const assay_manifest blas = rows_manifest("blas");
    const assay_kernel_desc f64 = rows_desc("k", ASSAY_OP_matmul, ASSAY_F64, 10);
    assay_binding others[] = {rows_binding(&blas, &desc, 1), rows_binding(&cpu, &f64, 1)};

    ck_assert_int_eq(assay_table_register(table, &row, 1), ASSAY_OK);
    ck_assert_int_eq(assay_table_register(table, others, 2), ASSAY_OK);
}
END_TEST

/* ---- threads ---- */

static _Atomic int stop;

static bool is_whole(const assay_snapshot *s)
{
    for (size_t i = 0; i < assay_snapshot_size(s); i++)
        if (assay_snapshot_at(s, i)->available != 1)
            return false;
    return true;
}

/* Holds the newest for a moment, and one for a plan's life while others come and go. */
static void *reader(void *unused)
{
    const assay_snapshot *plan = NULL;
    size_t last = 0, planned = 0;

    for (size_t round = 0; !atomic_load(&stop); round++) {
        const assay_snapshot *s = NULL;
        if (assay_table_hold(table, &s) != ASSAY_OK || assay_snapshot_size(s) < last ||
            !is_whole(s))
            return table;
        last = assay_snapshot_size(s);
        if (plan != NULL && (assay_snapshot_size(plan) != planned || !is_whole(plan)))
            return table;
        if (round % 64 != 0) {
            assay_snapshot_release(&s);
            continue;
        }
        assay_snapshot_release(&plan);
        plan = s;
        planned = last;
    }
    assay_snapshot_release(&plan);
    return unused;
}

START_TEST(readers_see_whole_snapshots_while_rows_are_added)
{
    static char text[200][24];
    static assay_kernel_desc descs[200];
    pthread_t threads[2];
    void *bad = NULL;

    atomic_store(&stop, 0);
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, reader, NULL), 0);
    for (int i = 0; i < 200; i++) {
        snprintf(text[i], sizeof text[i], "k%d", i);
        descs[i] = rows_desc(text[i], ASSAY_OP_add, ASSAY_F32, i % 3);
        add(&cpu, &descs[i]);
    }
    atomic_store(&stop, 1);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &bad), 0);
        ck_assert_ptr_null(bad);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *lookup = tcase_create("lookup"), *reg = tcase_create("register");
    TCase *broken = tcase_create("broken"), *threads = tcase_create("threads");

    tcase_add_checked_fixture(lookup, setup, teardown);
    tcase_add_test(lookup, alternatives_come_in_rank_order_whatever_the_registration);
    tcase_add_test(lookup, default_in_a_table_of_one_rank_is_the_first_registered);
    tcase_add_test(lookup, backend_rows_that_lie_apart_are_found_together);
    tcase_add_test(lookup, miss_lists_the_coverage_of_the_op);
    tcase_add_checked_fixture(reg, setup, teardown);
    tcase_add_test(reg, snapshot_keeps_what_it_saw);
    tcase_add_test(reg, register_of_many_is_all_or_none);
    tcase_add_test(reg, register_in_two_steps_equals_one_step);
    tcase_add_checked_fixture(broken, setup_row, teardown);
    tcase_add_test(broken, row_whole_is_accepted);
    tcase_add_test(broken, row_without_function);
    tcase_add_test(broken, row_with_another_function_than_its_descriptor);
    tcase_add_test(broken, row_without_descriptor);
    tcase_add_test(broken, row_without_manifest);
    tcase_add_test(broken, row_with_a_bad_struct_size);
    tcase_add_test(broken, row_without_name);
    tcase_add_test(broken, row_with_a_name_too_long);
    tcase_add_test(broken, row_with_a_name_that_texts_cannot_hold);
    tcase_add_test(broken, row_with_claims_that_are_none);
    tcase_add_test(broken, row_with_a_value_twice);
    tcase_add_test(broken, row_with_an_unknown_op);
    tcase_add_test(broken, row_whose_dtypes_break_the_rule);
    tcase_add_test(broken, row_with_too_few_dtypes);
    tcase_add_test(broken, row_whose_dtypes_differ_from_the_descriptor);
    tcase_add_test(broken, row_with_a_tunable_without_values);
    tcase_add_test(broken, row_with_a_default_outside_the_values);
    tcase_add_test(broken, row_with_a_tunable_twice);
    tcase_add_test(broken, row_with_too_many_tunables);
    tcase_add_test(broken, row_whose_tiles_of_errors_cannot_be);
    tcase_add_loop_test(broken, row_whose_tiles_err_less_than_a_sum, 0, 5);
    tcase_add_test(broken, row_with_a_source_outside_the_table);
    tcase_add_test(broken, row_with_an_expression_that_does_not_compile);
    tcase_add_test(broken, row_registered_twice);
    tcase_add_test(broken, row_of_the_same_name_elsewhere_is_another_row);
    tcase_add_checked_fixture(threads, setup_row, teardown);
    tcase_add_test(threads, readers_see_whole_snapshots_while_rows_are_added);
    suite_add_tcase(suite, lookup);
    suite_add_tcase(suite, reg);
    suite_add_tcase(suite, broken);
    suite_add_tcase(suite, threads);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

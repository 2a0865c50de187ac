/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_shape_set.c -- shape sets from CSV text and from flags. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/shape_set.h"

static char path[] = "/tmp/assay-shapes-XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static assay_status read_csv(const char *text, assay__shape_set *set)
{
    write_file(text);
    memset(set, 0, sizeof *set);
    return assay__shapes_add_csv(set, path, NULL, NULL);
}

START_TEST(csv_folds_duplicates_and_skips_unsupported)
{
    assay__shape_set set;

    ck_assert_int_eq(read_csv("op,dtype,m,n,k,count\n"
                              "matmul,f32,64,64,64,2\n"
                              "matmul,i32,64,64,64,1\n"
                              "matmul,f32,64,64,64,3\n"
                              "matmul,f64,1,1,1,\n",
                              &set),
                     ASSAY_OK);
    ck_assert_uint_eq(set.count, 2);
    ck_assert_uint_eq(set.duplicates, 1);
    ck_assert(set.items[0].count == 5 && set.items[1].count == 1);
    ck_assert_uint_eq(set.use_count, 2);
    ck_assert(set.uses[0].count == 5 && set.uses[0].shape == 0 && set.uses[1].shape == 1);
    ck_assert_uint_eq(set.skipped_count, 1);
    ck_assert_uint_eq(set.skipped[0].line, 3);
    ck_assert_ptr_nonnull(strstr(set.skipped[0].reason, "i32"));
    assay__shapes_clear(&set);
}
END_TEST

/* One problem may be rows of several sets; each keeps its own count and source. */
START_TEST(csv_keeps_the_uses_of_a_problem)
{
    assay__shape_set set;

    ck_assert_int_eq(read_csv("op,dtype,n,set,name,count,source\n"
                              "exp,f32,64,one,a,2,here\n"
                              "exp,f32,64,two,a,3,there\n"
                              "exp,f32,64,one,b,4,\n"
                              "exp,f32,64,two,a,5,there\n",
                              &set),
                     ASSAY_OK);
    ck_assert_uint_eq(set.count, 1);
    ck_assert(set.items[0].count == 14);
    ck_assert_uint_eq(set.use_count, 3);
    ck_assert(set.uses[0].count == 2 && set.uses[1].count == 8 && set.uses[2].count == 4);
    ck_assert_str_eq(set.uses[1].set, "two");
    ck_assert_str_eq(set.uses[1].name, "a");
    ck_assert_str_eq(set.uses[1].source, "there");
    ck_assert_str_eq(set.uses[2].name, "b");
    ck_assert_uint_eq(set.uses[1].line, 3);
    assay__shapes_clear(&set);
}
END_TEST

START_TEST(csv_takes_crlf_bom_notes_and_aliases)
{
    assay__shape_set set;

    ck_assert_int_eq(read_csv("\xef\xbb\xbf# a note\r\nop,dtypes,m,n,k,b_t\r\n"
                              "matmul,\"f32,f32,f32\",2,3,4,1",
                              &set),
                     ASSAY_OK);
    ck_assert_uint_eq(set.count, 1);
    ck_assert_int_eq(assay_problem_int(&set.items[0].problem, "trans_b"), 1);
    assay__shapes_clear(&set);
}
END_TEST

/* A parameter's own name comes before the alias of another. */
START_TEST(csv_tells_a_batch_from_a_parameter_b)
{
    assay__shape_set set;

    ck_assert_int_eq(read_csv("op,dtype,b,m,n,k,hq,hkv,sq,sk,d\n"
                              "matmul,f32,3,4,5,6,,,,,\n"
                              "attention,f32,2,,,,4,2,8,9,16\n",
                              &set),
                     ASSAY_OK);
    ck_assert_uint_eq(set.count, 2);
    ck_assert_int_eq(assay_problem_int(&set.items[0].problem, "batch"), 3);
    ck_assert_int_eq(assay_problem_int(&set.items[1].problem, "b"), 2);
    assay__shapes_clear(&set);
}
END_TEST

static const struct bad {
    const char *text, *says;
} bad_files[] = {
    {"", "empty"},
    {"op,dtype,m,n,k\nmatmul,f32,64,64\n", ":2"},
    {"op,dtype,m,n,k\nmatmul,f32,64,64,64\nmatmul,f32,-1,64,64\n", ":3"},
    {"op,dtype,m,n,k\nmatmul,f32,6x,64,64\n", "6x"},
    {"op,dtype,m,n,k\nmatmull,f32,64,64,64\n", "matmull"},
    {"op,dtype,m,n,k\nmatmul,f31,64,64,64\n", "f31"},
    {"op,dtype,m,n,kk\nmatmul,f32,64,64,64\n", "kk"},
    {"op,dtype,m,m,k\nmatmul,f32,64,64,64\n", "m"},
    {"dtype,m,n,k\nf32,64,64,64\n", "op"},
    {"op,dtype,m,n,k\nmatmul,f32,64,64,99999999999999999999\n", "64 bits"},
    {"op,dtype,m,n,k\nmatmul,f32,1099511627776,1099511627776,2\n", "2^62"},
    {"op,dtype,m,n,k\nmatmul,f32,64,64,\n", "'k'"},
    {"op,dtype,n,rows\nexp,f32,64,3\n", "rows"},
    {"op,dtype,n,count\nexp,f32,64,-1\n", "-1"},
    {"op,dtype,n,set\nexp,f32,64,a-name-of-more-than-forty-seven-bytes-is-not-a-set\n", "shorten"},
};

START_TEST(csv_bad_rows_name_line_and_field)
{
    assay__shape_set set;
    const struct bad *b = &bad_files[_i];

    ck_assert_msg(read_csv(b->text, &set) != ASSAY_OK, "accepted: %s", b->text);
    ck_assert_msg(strstr(assay_last_error(), b->says) != NULL, "%s -> %s", b->text,
                  assay_last_error());
    assay__shapes_clear(&set);
}
END_TEST

START_TEST(flags_expand_lists_and_ranges)
{
    assay__shape_set set = {0};

    ck_assert_int_eq(
        assay__shapes_add_flags(&set, "matmul", "f32|f64", "m=64..256*2,n=8|16,k=1..3"), ASSAY_OK);
    ck_assert_uint_eq(set.count, 2 * 3 * 2 * 3);
    assay__shapes_clear(&set);
    ck_assert_int_eq(assay__shapes_add_flags(&set, "exp", "f32", "n=10..20+5"), ASSAY_OK);
    ck_assert_uint_eq(set.count, 3);
    assay__shapes_clear(&set);
}
END_TEST

START_TEST(flags_refuse_what_makes_no_sense)
{
    static const char *const shapes[] = {"n=64..32", "n=0..8*2", "n=1..8*1", "n",
                                         "m=3",      "n=",       "n=1,n",    "n=0..2000000"};
    assay__shape_set set = {0};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        ck_assert_msg(assay__shapes_add_flags(&set, "exp", "f32", shapes[i]) != ASSAY_OK, "%s",
                      shapes[i]);
    ck_assert_int_eq(assay__shapes_add_flags(&set, "exp", NULL, "n=1"), ASSAY_INVALID);
    assay__shapes_clear(&set);
}
END_TEST

START_TEST(quickstart_set_keeps_its_limits)
{
    assay__shape_set set = {0};

    ck_assert_msg(assay__shapes_add_csv(&set, "shapes/quickstart.csv", NULL, NULL) == ASSAY_OK,
                  "%s", assay_last_error());
    ck_assert_uint_eq(set.count, 24);
    for (size_t i = 0; i < set.count; i++) {
        double flops, bytes;
        ck_assert(assay_problem_flops(&set.items[i].problem, &flops) && flops <= 1e9);
        ck_assert(assay_problem_bytes(&set.items[i].problem, &bytes) &&
                  bytes <= 64 * 1048576.0 * 1.05);
    }
    for (size_t i = 0; i < set.use_count; i++)
        ck_assert(set.uses[i].source[0] != '\0' && set.uses[i].name[0] != '\0');
    assay__shapes_clear(&set);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("shape_set");
    TCase *csv = tcase_create("csv"), *flags = tcase_create("flags");
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    tcase_add_test(csv, csv_folds_duplicates_and_skips_unsupported);
    tcase_add_test(csv, csv_keeps_the_uses_of_a_problem);
    tcase_add_test(csv, csv_takes_crlf_bom_notes_and_aliases);
    tcase_add_test(csv, csv_tells_a_batch_from_a_parameter_b);
    tcase_add_loop_test(csv, csv_bad_rows_name_line_and_field, 0,
                        (int)(sizeof bad_files / sizeof bad_files[0]));
    tcase_add_test(csv, quickstart_set_keeps_its_limits);
    tcase_add_test(flags, flags_expand_lists_and_ranges);
    tcase_add_test(flags, flags_refuse_what_makes_no_sense);
    suite_add_tcase(s, csv);
    suite_add_tcase(s, flags);

    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    unlink(path);
    return failed == 0 && ran > 0 ? 0 : 1;
}

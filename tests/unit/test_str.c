/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_str.c -- string builder, lists, nearest match, globs, UTF-8. */

#include "support/str.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(builder_adds_formats_and_hands_over)
{
    assay__str str = {0};
    char *text;

    ck_assert_str_eq(assay__str_text(&str), "");
    assay__str_add(&str, "a");
    assay__str_add(&str, NULL);
    assay__str_addc(&str, '-');
    assay__str_addf(&str, "%d:%s", 42, "x");
    for (int i = 0; i < 1000; i++)
        assay__str_addn(&str, "0123456789", 10);
    ck_assert_uint_eq(str.len, 10006);
    ck_assert_int_eq(assay__str_take(&str, &text), ASSAY_OK);
    ck_assert_int_eq(strncmp(text, "a-42:x0123", 10), 0);
    ck_assert_uint_eq(strlen(text), 10006);
    ck_assert_ptr_null(str.data);
    free(text);
}
END_TEST

START_TEST(builder_empty_text_is_no_null)
{
    assay__str str = {0};
    char *text;

    ck_assert_int_eq(assay__str_take(&str, &text), ASSAY_OK);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(builder_failure_sticks)
{
    assay__str str = {0};
    char *text = NULL;

    assay__str_add(&str, "kept");
    str.failed = true;
    assay__str_add(&str, "lost");
    ck_assert_str_eq(assay__str_text(&str), "kept");
    ck_assert_int_eq(assay__str_status(&str), ASSAY_NOMEM);
    ck_assert_int_eq(assay__str_take(&str, &text), ASSAY_NOMEM);
    ck_assert_ptr_null(text);
    ck_assert_ptr_null(str.data);
}
END_TEST

START_TEST(list_splits_and_joins)
{
    assay__strlist list = {0};
    char *joined;

    ck_assert_int_eq(assay__strlist_split(&list, "a, b\t,c d", ','), ASSAY_OK);
    ck_assert_uint_eq(list.count, 3);
    ck_assert_int_eq(assay__strlist_join(&list, "|", &joined), ASSAY_OK);
    ck_assert_str_eq(joined, "a|b|c d");
    ck_assert(assay__strlist_has(&list, "b"));
    ck_assert(!assay__strlist_has(&list, "d"));
    free(joined);
    assay__strlist_clear(&list);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(list_refuses_empty_items_and_stays)
{
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b", " "};
    assay__strlist list = {0};

    ck_assert_int_eq(assay__strlist_add(&list, "first"), ASSAY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(assay__strlist_split(&list, bad[i], ','), ASSAY_INVALID);
        ck_assert_uint_eq(list.count, 1);
    }
    assay__strlist_clear(&list);
}
END_TEST

START_TEST(distance_counts_edits)
{
    ck_assert_uint_eq(assay__edit_distance("", ""), 0);
    ck_assert_uint_eq(assay__edit_distance("", "abc"), 3);
    ck_assert_uint_eq(assay__edit_distance("abc", ""), 3);
    ck_assert_uint_eq(assay__edit_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(assay__edit_distance("matmul", "mamtul"), 1); /* a swap is one edit */
    ck_assert_uint_eq(assay__edit_distance("ca", "abc"), 3);
}
END_TEST

START_TEST(nearest_finds_typing_errors_only)
{
    static const char *const names[] = {"matmul", "add", "exp", "softmax_last_dim"};

    ck_assert_str_eq(assay__nearest("matmull", names, 4), "matmul");
    ck_assert_str_eq(assay__nearest("softmax_lastdim", names, 4), "softmax_last_dim");
    ck_assert_str_eq(assay__nearest("epx", names, 4), "exp");
    ck_assert_ptr_null(assay__nearest("convolution", names, 4));
    ck_assert_ptr_null(assay__nearest("z", names, 4));
    ck_assert_ptr_null(assay__nearest("", names, 4));
    ck_assert_ptr_null(assay__nearest("add", names, 0));
}
END_TEST

START_TEST(glob_matches_whole_text)
{
    assay__strlist globs = {0};

    ck_assert(assay__glob_match("cpu_*", "cpu_matmul"));
    ck_assert(assay__glob_match("*", ""));
    ck_assert(!assay__glob_match("cpu", "cpu_matmul"));
    ck_assert(!assay__glob_match("*_exp", "cpu_exp_v2"));
    ck_assert(assay__glob_any(&globs, "anything"));
    ck_assert_int_eq(assay__strlist_split(&globs, "a*,b?", ','), ASSAY_OK);
    ck_assert(assay__glob_any(&globs, "b1"));
    ck_assert(!assay__glob_any(&globs, "c"));
    assay__strlist_clear(&globs);
}
END_TEST

START_TEST(utf8_widths)
{
    ck_assert_uint_eq(assay__utf8_width("12.3 \xC2\xB5s"), 7);
    ck_assert_uint_eq(assay__utf8_width("\xC2\xB1"), 1);
    ck_assert_uint_eq(assay__utf8_width("e\xCC\x81"), 1);    /* combining accent */
    ck_assert_uint_eq(assay__utf8_width("\xE6\xB8\xAC"), 2); /* wide */
    ck_assert_uint_eq(assay__utf8_width("\xFF\xFE"), 2);     /* two bad bytes */
}
END_TEST

/* Escape codes, of one byte and of two; what turns the direction; bytes that are nothing. */
static const struct shown {
    const char *text, *shown;
} shown[] = {
    {"", ""},
    {"plain", "plain"},
    {"\033[2J\r\a", "\\x1b[2J\\x0d\\x07"},
    {"two\nlines\t.", "two\\x0alines\\x09."},
    {"del\x7f", "del\\x7f"},
    {"\xc2\x9b 31m \xc2\xb5s", "\\xc2\\x9b 31m \xc2\xb5s"},
    {"\xe2\x80\xae"
     "cba\xe2\x81\xa6",
     "\\xe2\\x80\\xaecba\\xe2\\x81\\xa6"},
    {"\xff\xc3", "\\xff\\xc3"},
    {"\xe6\x97\xa5\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac"},
};

START_TEST(text_is_shown_without_what_a_terminal_obeys)
{
    const struct shown *s = &shown[_i];
    assay__str text = {0};
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&data, &size);

    assay__str_add_shown(&text, s->text);
    ck_assert_str_eq(assay__str_text(&text), s->shown);
    assay__put_shown(file, s->text);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(data, s->shown);
    assay__str_clear(&text);
    free(data);
}
END_TEST

START_TEST(utf8_refuses_what_is_invalid)
{
    static const char *const bad[] = {
        "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x80\x80",
        "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xE2\x82"};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(assay__utf8_check(bad[i], strlen(bad[i])) == 0, "case %zu", i);
    ck_assert_uint_eq(assay__utf8_check("ab\xFF", 3), 2);
    ck_assert_uint_eq(assay__utf8_check("\xE2\x82\xAC\xF0\x9F\x98\x80", 7), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("str");
    TCase *builder_case = tcase_create("builder");
    TCase *list_case = tcase_create("list");
    TCase *distance_case = tcase_create("distance");
    TCase *nearest_case = tcase_create("nearest");
    TCase *glob_case = tcase_create("glob");
    TCase *utf8_case = tcase_create("utf8");

    tcase_add_test(builder_case, builder_adds_formats_and_hands_over);
    tcase_add_test(builder_case, builder_empty_text_is_no_null);
    tcase_add_test(builder_case, builder_failure_sticks);
    tcase_add_test(list_case, list_splits_and_joins);
    tcase_add_test(list_case, list_refuses_empty_items_and_stays);
    tcase_add_test(distance_case, distance_counts_edits);
    tcase_add_test(nearest_case, nearest_finds_typing_errors_only);
    tcase_add_test(glob_case, glob_matches_whole_text);
    tcase_add_test(utf8_case, utf8_widths);
    tcase_add_test(utf8_case, utf8_refuses_what_is_invalid);
    tcase_add_loop_test(utf8_case, text_is_shown_without_what_a_terminal_obeys, 0,
                        (int)(sizeof shown / sizeof *shown));
    suite_add_tcase(suite, builder_case);
    suite_add_tcase(suite, list_case);
    suite_add_tcase(suite, distance_case);
    suite_add_tcase(suite, nearest_case);
    suite_add_tcase(suite, glob_case);
    suite_add_tcase(suite, utf8_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

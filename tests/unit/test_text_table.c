/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_text_table.c -- aligned tables and figures for people. */

#include "support/text_table.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/format.h"

static char *print(assay__table *table, bool has_colour)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    ck_assert_int_eq(assay__table_print(table, has_colour, file), ASSAY_OK);
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

START_TEST(table_aligns_by_characters)
{
    assay__table table = {0};

    assay__table_column(&table, "op", ASSAY__LEFT);
    assay__table_column(&table, "time", ASSAY__RIGHT);
    assay__table_column(&table, "note", ASSAY__LEFT);
    assay__table_cell(&table, "add");
    assay__table_cell(&table, "1 \xC2\xB5s");
    assay__table_cellf(&table, "%d", 5);
    assay__table_cell(&table, "matmul");
    assay__table_cell(&table, "12.3 us");
    char *text = print(&table, false);
    ck_assert_str_eq(text, "op         time  note\n"
                           "---------------------\n"
                           "add        1 \xC2\xB5s  5\n"
                           "matmul  12.3 us  -\n");
    free(text);
    assay__table_clear(&table);
}
END_TEST

START_TEST(table_shows_no_control_bytes)
{
    assay__table table = {0};

    assay__table_column(&table, "a", ASSAY__LEFT);
    assay__table_column(&table, "b", ASSAY__LEFT);
    assay__table_cell(&table, "\033[1m");
    assay__table_cell(&table, "x");
    assay__table_cell(&table, "longer than");
    assay__table_cell(&table, "y");
    char *text = print(&table, false);
    ck_assert_str_eq(text, "a            b\n"
                           "--------------\n"
                           "\\x1b[1m      x\n"
                           "longer than  y\n");
    ck_assert_str_eq(table.cells.items[0], "\033[1m"); /* for CSV it is what it was */
    free(text);
    assay__table_clear(&table);
}
END_TEST

START_TEST(table_paints_only_when_asked)
{
    assay__table table = {0};

    assay__table_column(&table, "v", ASSAY__LEFT);
    assay__table_cell(&table, "bad");
    assay__table_paint(&table, ASSAY__RED);
    char *plain = print(&table, false);
    char *painted = print(&table, true);
    ck_assert_ptr_null(strchr(plain, '\033'));
    ck_assert_ptr_nonnull(strstr(painted, "\033[31mbad\033[0m\n"));
    free(plain);
    free(painted);
    assay__table_clear(&table);
}
END_TEST

START_TEST(table_refuses_late_and_no_columns)
{
    assay__table table = {0};

    ck_assert_int_eq(assay__table_print(&table, false, stderr), ASSAY_INTERNAL);
    assay__table_column(&table, "a", ASSAY__LEFT);
    assay__table_cell(&table, "1");
    assay__table_column(&table, "b", ASSAY__LEFT);
    ck_assert_int_eq(assay__table_print(&table, false, stderr), ASSAY_INTERNAL);
    assay__table_clear(&table);
}
END_TEST

START_TEST(colour_needs_a_willing_terminal)
{
    FILE *file = fopen("/dev/null", "w");
    FILE *terminal = fopen("/dev/ptmx", "r+");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(setenv("TERM", "xterm", 1), 0);
    ck_assert_int_eq(unsetenv("NO_COLOR"), 0);
    ck_assert(!assay__wants_colour(file));
    if (terminal != NULL) {
        ck_assert(assay__wants_colour(terminal));
        ck_assert_int_eq(setenv("NO_COLOR", "1", 1), 0);
        ck_assert(!assay__wants_colour(terminal));
        ck_assert_int_eq(setenv("NO_COLOR", "", 1), 0);
        ck_assert(assay__wants_colour(terminal));
        ck_assert_int_eq(setenv("TERM", "dumb", 1), 0);
        ck_assert(!assay__wants_colour(terminal));
        (void)fclose(terminal);
    }
    (void)fclose(file);
}
END_TEST

START_TEST(format_time_picks_the_unit)
{
    ck_assert_str_eq(assay__format_time(0.0).text, "0 ns");
    ck_assert_str_eq(assay__format_time(12.34).text, "12.3 ns");
    ck_assert_str_eq(assay__format_time(999.4).text, "999 ns");
    ck_assert_str_eq(assay__format_time(999.9).text, "1.00 us");
    ck_assert_str_eq(assay__format_time(12345.0).text, "12.3 us");
    ck_assert_str_eq(assay__format_time(9.996e6).text, "10.0 ms");
    ck_assert_str_eq(assay__format_time(75e9).text, "75.0 s");
    ck_assert_str_eq(assay__format_time((double)NAN).text, "-");
}
END_TEST

START_TEST(format_interval_shares_the_unit_and_tells_bounds_apart)
{
    const double nan = (double)NAN;

    ck_assert_str_eq(assay__format_interval(12300, 12100, 12600, 50).text,
                     "12.3 us [12.1, 12.6] n=50");
    ck_assert_str_eq(assay__format_interval(1000, 990, 1010, 0).text, "1.00 us [0.99, 1.01]");
    ck_assert_str_eq(assay__format_interval(12300, 12299, 12302, 5).text,
                     "12.300 us [12.299, 12.302] n=5");
    ck_assert_str_eq(assay__format_interval(12300, 12300, 12300, 5).text,
                     "12.3 us [12.3, 12.3] n=5");
    ck_assert_str_eq(assay__format_interval(12300, nan, 12600, 5).text, "12.3 us n=5");
    ck_assert_str_eq(assay__format_interval(nan, 1, 2, 5).text, "-");
}
END_TEST

START_TEST(format_sizes_and_rates)
{
    ck_assert_str_eq(assay__format_bytes(0).text, "0 B");
    ck_assert_str_eq(assay__format_bytes(1023).text, "1023 B");
    ck_assert_str_eq(assay__format_bytes(1536).text, "1.50 KiB");
    ck_assert_str_eq(assay__format_bytes(64.0 * 0x1p20).text, "64.0 MiB");
    ck_assert_str_eq(assay__format_flops(97.44e9).text, "97.4 GFLOP/s");
    ck_assert_str_eq(assay__format_flops(1.5e6).text, "0.00150 GFLOP/s");
    ck_assert_str_eq(assay__format_bandwidth(12.34e9).text, "12.3 GB/s");
    ck_assert_str_eq(assay__format_percent(0.973).text, "97.3 %");
    ck_assert_str_eq(assay__format_ratio(1.25).text, "1.25x");
    ck_assert_str_eq(assay__format_flops((double)NAN).text, "-");
}
END_TEST

START_TEST(format_numbers)
{
    ck_assert_str_eq(assay__format_count(0).text, "0");
    ck_assert_str_eq(assay__format_count(999).text, "999");
    ck_assert_str_eq(assay__format_count(1234567).text, "1,234,567");
    ck_assert_str_eq(assay__format_real(1e-5, 3).text, "1.00e-05");
    ck_assert_str_eq(assay__format_real(-9.996, 3).text, "-10.0");
    ck_assert_str_eq(assay__format_real(123456.0, 3).text, "123456");
    ck_assert_str_eq(assay__format_duration(12.4).text, "12 s");
    ck_assert_str_eq(assay__format_duration(187).text, "3 min 07 s");
    ck_assert_str_eq(assay__format_duration(7500).text, "2 h 05 min");
    ck_assert_str_eq(assay__format_duration((double)NAN).text, "-");
    ck_assert_str_eq(assay__format_duration((double)INFINITY).text, "-");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text_table");
    TCase *table_case = tcase_create("table");
    TCase *colour_case = tcase_create("colour");
    TCase *format_case = tcase_create("format");

    tcase_add_test(table_case, table_aligns_by_characters);
    tcase_add_test(table_case, table_paints_only_when_asked);
    tcase_add_test(table_case, table_shows_no_control_bytes);
    tcase_add_test(table_case, table_refuses_late_and_no_columns);
    tcase_add_test(colour_case, colour_needs_a_willing_terminal);
    tcase_add_test(format_case, format_time_picks_the_unit);
    tcase_add_test(format_case, format_interval_shares_the_unit_and_tells_bounds_apart);
    tcase_add_test(format_case, format_sizes_and_rates);
    tcase_add_test(format_case, format_numbers);
    suite_add_tcase(suite, table_case);
    suite_add_tcase(suite, colour_case);
    suite_add_tcase(suite, format_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

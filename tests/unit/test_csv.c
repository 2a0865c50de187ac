/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_csv.c -- strict reading with places in every error, and writing back. */

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/csv_reader.h"
#include "support/csv_writer.h"
#include "support/rng.h"
#include "support/str.h"

static const char *const r_aliases[] = {"filter_h", "kh", NULL};
static const assay__csv_column columns[] = {
    {"m", NULL, true}, {"n", NULL, false}, {"r", r_aliases, false}};
static const assay__csv_spec spec = {.columns = columns, .count = 3};

static assay_status parse(const char *text, const assay__csv_spec *with, assay__csv *out)
{
    return assay__csv_parse("t.csv", text, strlen(text), with, out);
}

/* The text must be refused with ASSAY_PARSE and `part` in the error; `out` stays untouched. */
static void refuse(const char *text, size_t size, const assay__csv_spec *with, const char *part)
{
    assay__csv csv = {.ncols = 99};

    ck_assert_msg(assay__csv_parse("t.csv", text, size, with, &csv) == ASSAY_PARSE, "accepted: %s",
                  text);
    ck_assert_msg(strstr(assay_last_error(), part) != NULL, "'%s' lacks '%s'", assay_last_error(),
                  part);
    ck_assert_uint_eq(csv.ncols, 99);
}

#define REFUSE(text, with, part) refuse(text, sizeof(text) - 1, with, part)

START_TEST(read_takes_notes_quotes_and_lines)
{
    assay__csv csv;

    ck_assert_int_eq(parse("# source: a\n#b\n\nm,n\n1, 2 \n\n\"x,\"\"y\"\"\nz\",\n3,4", NULL, &csv),
                     ASSAY_OK);
    ck_assert_str_eq(csv.notes, " source: a\nb\n");
    ck_assert_uint_eq(csv.ncols, 2);
    ck_assert_uint_eq(csv.nrows, 3);
    ck_assert_uint_eq(csv.header_line, 4);
    ck_assert_str_eq(assay__csv_cell(&csv, 0, 1), "2");
    ck_assert_str_eq(assay__csv_cell(&csv, 1, 0), "x,\"y\"\nz");
    ck_assert_str_eq(assay__csv_cell(&csv, 1, 1), "");
    ck_assert_str_eq(assay__csv_cell(&csv, 2, 1), "4");
    ck_assert_uint_eq(csv.lines[0], 5);
    ck_assert_uint_eq(csv.lines[1], 7);
    ck_assert_uint_eq(csv.lines[2], 9);
    assay__csv_clear(&csv);
    ck_assert_uint_eq(csv.ncols, 0);
}
END_TEST

START_TEST(read_takes_bom_and_crlf)
{
    assay__csv csv;

    ck_assert_int_eq(parse("\xEF\xBB\xBF#note\r\nm,n\r\n1,2\r\n", &spec, &csv), ASSAY_OK);
    ck_assert_str_eq(csv.notes, "note\n");
    ck_assert_str_eq(csv.header[0], "m");
    ck_assert_str_eq(csv.header[1], "n");
    ck_assert_uint_eq(csv.nrows, 1);
    ck_assert_uint_eq(csv.lines[0], 3);
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(read_takes_one_column_and_an_open_last_line)
{
    assay__csv csv;

    ck_assert_int_eq(parse("m\n7\n8", &spec, &csv), ASSAY_OK);
    ck_assert_uint_eq(csv.nrows, 2);
    ck_assert_str_eq(assay__csv_cell(&csv, 1, 0), "8");
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(read_refuses_empty_files)
{
    REFUSE("", NULL, "the file is empty");
    REFUSE("\n \n", NULL, "the file is empty");
    REFUSE("# only a note\n", NULL, "the file is empty");
    REFUSE("m,n\n", NULL, "t.csv:1: no rows");
    assay__csv csv;
    const assay__csv_spec lenient = {.allows_no_rows = true};
    ck_assert_int_eq(parse("m,n\n", &lenient, &csv), ASSAY_OK);
    ck_assert_uint_eq(csv.nrows, 0);
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(read_refuses_ragged_rows)
{
    REFUSE("m,n\n1,2\n3\n", NULL, "t.csv:3: row has 1 fields where the header in line 1 has 2");
    REFUSE("m,n\n1,2,3\n", NULL, "t.csv:2: row has 3 fields");
    REFUSE("m,n\n1,2,3,4,5", NULL, "t.csv:2: row has 5 fields");
}
END_TEST

START_TEST(read_refuses_broken_quotes)
{
    REFUSE("m,n\n\"1\"x,2\n", NULL, "t.csv:2:4: column 1: stray quote");
    REFUSE("m,n\n1,2\"\n", NULL, "t.csv:2:4: column 2: stray quote");
    REFUSE("m,n\n1,\"2\n3,4\n", NULL, "t.csv:2: column 2: quote is never closed");
    REFUSE("\"m,n\n", NULL, "t.csv:1: column 1: quote is never closed");
}
END_TEST

START_TEST(read_refuses_bytes_that_are_no_text)
{
    REFUSE("m,n\n1,\0"
           "2\n",
           NULL, "t.csv:2:3: NUL byte");
    REFUSE("m,n\r1,2\r", NULL, "t.csv:1:4: carriage return without line feed");
    REFUSE("m,n\n1,\xFF\n", NULL, "t.csv:2:3: byte 0xFF is no UTF-8");
    REFUSE("\xFF\xFEm\0", NULL, "t.csv:1");
}
END_TEST

START_TEST(read_refuses_notes_below_the_header)
{
    REFUSE("m,n\n1,2\n# late\n", NULL, "t.csv:3: notes");
}
END_TEST

START_TEST(read_caps_a_field)
{
    const size_t cap = ASSAY__CSV_FIELD_CAP;
    char *text = malloc(cap + 16);
    assay__csv csv;

    ck_assert_ptr_nonnull(text);
    memcpy(text, "m\n", 2);
    memset(text + 2, '1', cap + 1);
    text[cap + 3] = '\n';
    refuse(text, cap + 4, NULL, "t.csv:2: column 1: field of 65537 bytes; at most 65536");
    ck_assert_int_eq(assay__csv_parse("t.csv", text, cap + 2, NULL, &csv), ASSAY_OK);
    ck_assert_uint_eq(strlen(assay__csv_cell(&csv, 0, 0)), cap);
    assay__csv_clear(&csv);
    free(text);
}
END_TEST

START_TEST(read_stops_early_in_an_open_quote)
{
    assay__str str = {0};

    assay__str_add(&str, "m,n\n1,\"");
    for (int i = 0; i < 20000; i++)
        assay__str_add(&str, "2,3\n");
    refuse(str.data, str.len, NULL, "t.csv:2: column 2: field of over 65536 bytes; is a quote");
    assay__str_clear(&str);
}
END_TEST

/* Random rows of the bytes that matter: read or refused with a place, never anything else. */
START_TEST(read_survives_random_bytes)
{
    static const char bytes[] = "aaaaaab,\n\n\n\"\r# \xC3\xA9";
    size_t accepted = 0;
    assay__rng rng;

    assay__rng_seed(&rng, 21, 0);
    for (int round = 0; round < 20000; round++) {
        char data[24];
        const size_t len = assay__rng_below(&rng, sizeof data);
        assay__csv csv;
        for (size_t i = 0; i < len; i++)
            data[i] = bytes[assay__rng_below(&rng, sizeof bytes)]; /* NUL too */
        assay_status status = assay__csv_parse("t.csv", data, len, NULL, &csv);
        if (status != ASSAY_OK) {
            ck_assert_int_eq(status, ASSAY_PARSE);
            ck_assert_int_eq(strncmp(assay_last_error(), "t.csv:", 6), 0);
            continue;
        }
        accepted++;
        ck_assert(csv.ncols > 0 && csv.nrows > 0);
        for (size_t i = 0; i < csv.nrows * csv.ncols; i++)
            ck_assert_ptr_nonnull(csv.cells[i]);
        assay__csv_clear(&csv);
    }
    ck_assert_uint_gt(accepted, 100);
}
END_TEST

START_TEST(read_names_a_missing_file)
{
    assay__csv csv;

    ck_assert_int_eq(assay__csv_read("/nonexistent/x.csv", NULL, &csv), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "/nonexistent/x.csv"));
}
END_TEST

START_TEST(columns_resolve_aliases)
{
    assay__csv csv;

    ck_assert_int_eq(parse("filter_h,m\n3,1\n", &spec, &csv), ASSAY_OK);
    ck_assert_str_eq(csv.header[0], "r");
    ck_assert_str_eq(csv.written[0], "filter_h");
    ck_assert_int_eq(assay__csv_find(&csv, "r"), 0);
    ck_assert_int_eq(assay__csv_find(&csv, "filter_h"), -1);
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(columns_refuse_unknown_repeated_missing)
{
    REFUSE("m,filterh\n1,2\n", &spec,
           "unknown column 'filterh'; did you mean 'filter_h'?; known: m, n, r, filter_h, kh");
    REFUSE("m,zzzzzz\n1,2\n", &spec, "t.csv:1: column 2: unknown column 'zzzzzz'; known: m, n");
    REFUSE("m,n,m\n1,2,3\n", &spec, "column 3: 'm' repeats column 1 ('m')");
    REFUSE("m,kh,r\n1,2,3\n", &spec, "column 3: 'r' repeats column 2 ('kh')");
    REFUSE("n\n1\n", &spec, "t.csv:1: required column 'm' is missing");
    REFUSE("m,\n1,2\n", &spec, "t.csv:1: column 2 has no name");
    REFUSE("a,a\n1,2\n", NULL, "'a' repeats");
    assay__csv csv;
    const assay__csv_spec lenient = {.columns = columns, .count = 3, .allows_unknown = true};
    ck_assert_int_eq(parse("m,model\n1,x\n", &lenient, &csv), ASSAY_OK);
    ck_assert_str_eq(csv.header[1], "model");
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(cells_parse_whole_numbers_with_bounds)
{
    assay__csv csv;
    int64_t whole = -5;
    double real = -5.0;

    ck_assert_int_eq(parse("m,n\n12,3abc\n-1,0.5\n99999999999999999999,nan\n", NULL, &csv),
                     ASSAY_OK);
    ck_assert_int_eq(assay__csv_int(&csv, 0, 0, 1, 100, &whole), ASSAY_OK);
    ck_assert_int_eq(whole, 12);
    ck_assert_int_eq(assay__csv_int(&csv, 0, 1, 1, 100, &whole), ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "t.csv:2: column 2 (n): '3abc' is no whole"));
    ck_assert_int_eq(assay__csv_int(&csv, 1, 0, 0, 100, &whole), ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "-1 is outside 0..100"));
    ck_assert_int_eq(assay__csv_int(&csv, 2, 0, 0, INT64_MAX, &whole), ASSAY_PARSE);
    ck_assert_int_eq(whole, 12);
    ck_assert_int_eq(assay__csv_real(&csv, 1, 1, 0.0, 1.0, &real), ASSAY_OK);
    ck_assert(real == 0.5);
    ck_assert_int_eq(assay__csv_real(&csv, 2, 1, 0.0, 1.0, &real), ASSAY_PARSE);
    assay__csv_clear(&csv);
}
END_TEST

START_TEST(write_round_trips)
{
    static const char *const cells[] = {"plain",    "a,b", "say \"hi\"", "two\nlines", " blank ",
                                        "#no note", ""};
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assay__csv_writer writer;
    assay__csv csv;

    assay__csv_begin(&writer, file);
    for (int i = 0; i < 7; i++)
        assay__csv_put(&writer, (const char *[]){"a", "b", "c", "d", "e", "f", "g"}[i]);
    assay__csv_end_row(&writer);
    for (size_t i = 0; i < 7; i++)
        assay__csv_put(&writer, cells[i]);
    assay__csv_end_row(&writer);
    ck_assert_int_eq(assay__csv_finish(&writer), ASSAY_OK);
    ck_assert_int_eq(assay__csv_parse("t.csv", text, size, NULL, &csv), ASSAY_OK);
    for (size_t i = 0; i < 7; i++)
        ck_assert_str_eq(assay__csv_cell(&csv, 0, i), cells[i]);
    assay__csv_clear(&csv);
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}
END_TEST

/* A file gets every byte as it is. */
START_TEST(write_shows_a_terminal_what_it_would_obey)
{
    assay__csv_writer writer;
    char got[64] = "";
    int master = posix_openpt(O_RDWR | O_NOCTTY);

    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    FILE *file = fopen(ptsname(master), "w");
    ck_assert_ptr_nonnull(file);
    assay__csv_begin(&writer, file);
    assay__csv_put(&writer, "\033[2J");
    assay__csv_put(&writer, "");
    assay__csv_put(&writer, "a,b");
    assay__csv_end_row(&writer);
    ck_assert_int_eq(assay__csv_finish(&writer), ASSAY_OK);
    ck_assert_int_gt(read(master, got, sizeof got - 1), 0);
    ck_assert_str_eq(got, "\\x1b[2J,,\"a,b\"\r\n");
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(close(master), 0);
}
END_TEST

START_TEST(write_keeps_numbers_and_leaves_unknown_empty)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assay__csv_writer writer;

    assay__csv_begin(&writer, file);
    assay__csv_put_int(&writer, INT64_MIN);
    assay__csv_put_real(&writer, 0.1);
    assay__csv_put_real(&writer, (double)NAN);
    assay__csv_put_real(&writer, (double)INFINITY);
    assay__csv_put(&writer, NULL);
    assay__csv_end_row(&writer);
    ck_assert_int_eq(assay__csv_finish(&writer), ASSAY_OK);
    ck_assert_str_eq(text, "-9223372036854775808,0.10000000000000001,,,\n");
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}
END_TEST

START_TEST(write_tells_ragged_rows_and_full_disks)
{
    FILE *file = fopen("/dev/full", "w");
    assay__csv_writer writer;

    ck_assert_ptr_nonnull(file);
    assay__csv_begin(&writer, file);
    assay__csv_put(&writer, "x");
    assay__csv_end_row(&writer);
    ck_assert_int_eq(assay__csv_finish(&writer), ASSAY_IO);
    (void)fclose(file);
    file = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(file);
    assay__csv_begin(&writer, file);
    assay__csv_put(&writer, "a");
    assay__csv_put(&writer, "b");
    assay__csv_end_row(&writer);
    assay__csv_put(&writer, "1");
    assay__csv_end_row(&writer);
    ck_assert_int_eq(assay__csv_finish(&writer), ASSAY_INTERNAL);
    (void)fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *read_case = tcase_create("read");
    TCase *columns_case = tcase_create("columns");
    TCase *cells_case = tcase_create("cells");
    TCase *write_case = tcase_create("write");

    tcase_add_test(read_case, read_takes_notes_quotes_and_lines);
    tcase_add_test(read_case, read_takes_bom_and_crlf);
    tcase_add_test(read_case, read_takes_one_column_and_an_open_last_line);
    tcase_add_test(read_case, read_refuses_empty_files);
    tcase_add_test(read_case, read_refuses_ragged_rows);
    tcase_add_test(read_case, read_refuses_broken_quotes);
    tcase_add_test(read_case, read_refuses_bytes_that_are_no_text);
    tcase_add_test(read_case, read_refuses_notes_below_the_header);
    tcase_add_test(read_case, read_caps_a_field);
    tcase_add_test(read_case, read_stops_early_in_an_open_quote);
    tcase_add_test(read_case, read_survives_random_bytes);
    tcase_add_test(read_case, read_names_a_missing_file);
    tcase_add_test(columns_case, columns_resolve_aliases);
    tcase_add_test(columns_case, columns_refuse_unknown_repeated_missing);
    tcase_add_test(cells_case, cells_parse_whole_numbers_with_bounds);
    tcase_add_test(write_case, write_round_trips);
    tcase_add_test(write_case, write_shows_a_terminal_what_it_would_obey);
    tcase_add_test(write_case, write_keeps_numbers_and_leaves_unknown_empty);
    tcase_add_test(write_case, write_tells_ragged_rows_and_full_disks);
    suite_add_tcase(suite, read_case);
    suite_add_tcase(suite, columns_case);
    suite_add_tcase(suite, cells_case);
    suite_add_tcase(suite, write_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

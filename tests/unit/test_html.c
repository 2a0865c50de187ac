/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_html.c -- offline report pages: escaping, tables, charts, size. */

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html_page.h"
#include "support/file.h"
#include "support/rng.h"

#define MANY 1000000U

static assay__html page;
static char *text;
static size_t size;

static void begin(void)
{
    text = NULL;
    ck_assert_int_eq(assay__html_begin(&page, "Costs <here>", "a & b"), ASSAY_OK);
}

static void end(void)
{
    free(text);
    assay__html_clear(&page);
}

static void take(void)
{
    ck_assert_int_eq(assay__html_take(&page, &text, &size), ASSAY_OK);
    ck_assert_uint_eq(strlen(text), size);
}

static size_t occurrences(const char *part)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static const char *const labels[] = {"matmul </script><b>", "add n=2^20", "exp"};
static const double values[] = {3.0, 1.5, 0.5}, lows[] = {2.5, 1.4, 0.4},
                    highs[] = {3.5, 1.7, (double)NAN};
static const double others[] = {2.0, (double)NAN, 0.25};
static const assay__chart_series bar_series[] = {
    {.name = "picked", .y = values, .lo = lows, .hi = highs, .count = 3},
    {.name = "default", .y = others, .count = 3}};
static const assay__chart bars = {.kind = ASSAY__CHART_BARS,
                                  .title = "Time by problem",
                                  .x_title = "problem",
                                  .y_title = "time",
                                  .y_unit = "us",
                                  .labels = labels,
                                  .label_count = 3,
                                  .series = bar_series,
                                  .series_count = 2};

START_TEST(page_escapes_every_text)
{
    static const assay__html_column columns[] = {{"<c>", "<u>", true}};

    assay__html_section(&page, "<s>");
    assay__html_text(&page, "%s", "<script>alert('\"&')</script>");
    assay__html_warn(&page, "<w%d>", 1);
    assay__html_fact(&page, "<f>", "<v>");
    assay__html_table(&page, "<cap>", columns, 1, true);
    assay__html_cell(&page, "<cell>\x01\xFF");
    assay__html_table_end(&page);
    take();
    static const char *const bad[] = {"<here>", "<s>", "<w1>",   "<f>",           "<v>",  "<cap>",
                                      "<c>",    "<u>", "<cell>", "<script>alert", "\x01", "\xFF"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(occurrences(bad[i]) == 0, "%s", bad[i]);
    ck_assert_ptr_nonnull(
        strstr(text, "&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;"));
    ck_assert_ptr_nonnull(strstr(text, "&lt;cell&gt;\xEF\xBF\xBD\xEF\xBF\xBD</td>"));
    ck_assert_ptr_nonnull(strstr(text, "<title>Costs &lt;here&gt;</title>"));
}
END_TEST

START_TEST(page_loads_nothing)
{
    take();
    ck_assert_ptr_nonnull(strstr(text, "default-src 'none'"));
    ck_assert_uint_eq(occurrences("<script"), 0); /* no chart, no script */
    ck_assert_uint_eq(occurrences(" src="), 0);
    ck_assert_uint_eq(occurrences("<link"), 0);
    ck_assert_ptr_nonnull(strstr(text, "prefers-color-scheme: dark"));
    ck_assert_ptr_null(page.body.data);
}
END_TEST

START_TEST(page_nests_sections_and_lists)
{
    assay__html_section(&page, "one");
    assay__html_fact(&page, "a", "1");
    assay__html_fact(&page, "b", NULL);
    assay__html_chart(&page, &bars);
    assay__html_section(&page, "two");
    take();
    ck_assert_uint_eq(occurrences("<section"), 2);
    ck_assert_uint_eq(occurrences("</section>"), 2);
    ck_assert_uint_eq(occurrences("<dl>"), 1);
    ck_assert_uint_eq(occurrences("</dl>"), 1);
    ck_assert_ptr_nonnull(strstr(text, "<dt>b</dt><dd>-</dd>"));
    ck_assert_ptr_nonnull(strstr(text, "<a href=\"#s2\">two</a>"));
    ck_assert_ptr_nonnull(strstr(text, "<section id=\"s2\">"));
    ck_assert(strstr(text, "</dl>") < strstr(text, "<figure>"));
    ck_assert(strstr(text, "</h1>") < strstr(text, "<nav>"));
}
END_TEST

START_TEST(table_shows_units_and_unknowns)
{
    static const assay__html_column columns[] = {
        {"op", NULL, false}, {"time", "us", true}, {"n", NULL, true}};

    assay__html_table(&page, "times", columns, 3, false);
    assay__html_cell(&page, "add");
    assay__html_cell_real(&page, 12.345, 3);
    assay__html_cell_count(&page, 1234);
    assay__html_cell(&page, "");
    assay__html_cell_real(&page, (double)NAN, 3);
    assay__html_table_end(&page);
    assay__html_cell(&page, "stray");
    take();
    ck_assert_ptr_nonnull(strstr(text, "<caption>times</caption>"));
    ck_assert_ptr_nonnull(strstr(text, "<th class=\"n\">time<small>us</small></th>"));
    ck_assert_ptr_nonnull(
        strstr(text, "<tr><td>add</td><td class=\"n\">12.3</td><td class=\"n\">1,234</td></tr>"));
    ck_assert_ptr_nonnull(
        strstr(text, "<tr><td>-</td><td class=\"n\">-</td><td class=\"n\">-</td></tr>"));
    ck_assert_uint_eq(occurrences("stray"), 0);
}
END_TEST

START_TEST(table_says_what_it_left_out)
{
    static const assay__html_column columns[] = {{"i", NULL, true}};

    assay__html_table(&page, "rows", columns, 1, false);
    for (unsigned i = 0; i < ASSAY__HTML_TABLE_ROWS + 1234; i++)
        assay__html_cell_count(&page, i);
    assay__html_table_end(&page);
    take();
    ck_assert_uint_eq(occurrences("<tr><td"), ASSAY__HTML_TABLE_ROWS);
    ck_assert_ptr_nonnull(strstr(text, "1,234 more rows are left out"));
}
END_TEST

START_TEST(chart_has_data_and_table)
{
    assay__html_chart(&page, &bars);
    take();
    ck_assert_uint_eq(occurrences("<canvas data-chart=\"c1\""), 1);
    ck_assert_ptr_nonnull(strstr(text, "\"y\":[3.0,1.5,0.5],\"lo\":[2.5,1.3999999999999999,0."
                                       "40000000000000002],\"hi\":[3.5,1.7,null]"));
    ck_assert_ptr_nonnull(strstr(text, "\"y_title\":\"time [us]\""));
    ck_assert_ptr_nonnull(strstr(text, "<details><summary>Data of this chart</summary>"));
    ck_assert_ptr_nonnull(strstr(text, "<td>exp</td><td>picked</td><td class=\"n\">0.5000</td><td "
                                       "class=\"n\">0.4000</td><td class=\"n\">-</td>"));
    ck_assert_ptr_nonnull(strstr(text, "<noscript>"));
    ck_assert_ptr_nonnull(strstr(text, "Released under the MIT License"));
    ck_assert_ptr_nonnull(strstr(text, "Permission is hereby granted"));
}
END_TEST

START_TEST(chart_data_cannot_end_its_script)
{
    assay__html_chart(&page, &bars);
    take();
    ck_assert_ptr_nonnull(strstr(text, "matmul \\u003c/script>\\u003cb>"));
    ck_assert_uint_eq(occurrences("matmul </script>"), 0);
}
END_TEST

START_TEST(chart_without_series_is_nothing)
{
    assay__chart none = bars;

    none.series_count = 0;
    assay__html_chart(&page, &none);
    take();
    ck_assert_uint_eq(occurrences("<canvas"), 0);
}
END_TEST

START_TEST(chart_cuts_long_bar_lists)
{
    static const char *names[100];
    static double ones[100];
    assay__chart_series series = {.name = "s", .y = ones, .count = 100};
    assay__chart chart = bars;

    for (size_t i = 0; i < 100; i++) {
        names[i] = "p";
        ones[i] = 1.0;
    }
    chart.labels = names;
    chart.label_count = 100;
    chart.series = &series;
    chart.series_count = 1;
    assay__html_chart(&page, &chart);
    take();
    ck_assert_ptr_nonnull(strstr(text, "The first 60 of 100 are drawn"));
    ck_assert_uint_eq(occurrences("<tr><td>p</td>"), 100);
}
END_TEST

/* A million points: thinned to grid cells, the extreme one kept, the page within its budget. */
START_TEST(chart_thins_a_million_points_and_keeps_the_worst)
{
    double *x = malloc(MANY * sizeof *x), *y = malloc(MANY * sizeof *y);
    assay__chart_series series = {.name = "all", .x = x, .y = y, .count = MANY};
    assay__chart chart = {.kind = ASSAY__CHART_SCATTER,
                          .title = "cloud",
                          .x_title = "flop",
                          .y_title = "time",
                          .y_unit = "us",
                          .series = &series,
                          .series_count = 1};
    assay__rng rng;

    ck_assert(x != NULL && y != NULL);
    assay__rng_seed(&rng, 3, 0);
    for (size_t i = 0; i < MANY; i++) {
        x[i] = 1.0 + 1e6 * assay__rng_uniform(&rng);
        y[i] = 1.0 + 999.0 * assay__rng_uniform(&rng);
    }
    x[77] = (double)NAN;
    y[78] = 0.0;         /* no place on a log axis */
    y[500000] = 1000.25; /* among many in its cell, and the highest */
    assay__html_chart(&page, &chart);
    take();
    ck_assert_ptr_nonnull(strstr(text, "points drawn for 999998;"));
    ck_assert_ptr_nonnull(strstr(text, "1000.25"));
    ck_assert_uint_le(size, 5000000);
    ck_assert_uint_eq(occurrences("<tr><td"), ASSAY__HTML_TABLE_ROWS);
    free(x);
    free(y);
}
END_TEST

START_TEST(page_stays_within_its_budget)
{
    static const assay__html_column columns[] = {{"a", NULL, false}};
    static char wide[4001];
    assay__chart_series series[] = {{.name = "s", .y = values, .count = 3}};
    assay__chart chart = bars;

    memset(wide, 'w', sizeof wide - 1);
    for (int t = 0; t < 2; t++) { /* 8 MB each, in fewer rows than a table may have */
        assay__html_table(&page, "t", columns, 1, false);
        for (int i = 0; i < 2000; i++)
            assay__html_cell(&page, wide);
        assay__html_table_end(&page);
    }
    chart.series = series;
    chart.series_count = 1;
    assay__html_chart(&page, &chart);
    take();
    ck_assert_uint_le(size, 5000000);
    ck_assert_ptr_nonnull(strstr(text, "Time by problem: left out here, the page is full."));
}
END_TEST

/* For tests/cli/report-html-renders.sh: every kind of chart, written where ASSAY_TEST_PAGE says. */
START_TEST(sample_has_every_chart)
{
    static const char *const bins[] = {"0", "1", "2", "3..4"};
    static const double counts[] = {900000.0, 12000.0, 35.0, (double)NAN};
    static const double flops[] = {1e3, 1e5, 1e7, 1e9}, times[] = {1.0, 4.0, 90.0, 8000.0},
                        floors[] = {0.01, 1.0, 100.0, 7000.0};
    static const assay__chart_series histogram_series[] = {
        {.name = "elements", .y = counts, .count = 4}};
    static const assay__chart_series scatter_series[] = {
        {.name = "measured", .x = flops, .y = times, .count = 4},
        {.name = "floor", .x = flops, .y = floors, .count = 4, .is_line = true}};
    const assay__chart histogram = {.kind = ASSAY__CHART_HISTOGRAM,
                                    .title = "Errors",
                                    .x_title = "error",
                                    .x_unit = "dist",
                                    .y_title = "elements",
                                    .labels = bins,
                                    .label_count = 4,
                                    .series = histogram_series,
                                    .series_count = 1};
    const assay__chart scatter = {.kind = ASSAY__CHART_SCATTER,
                                  .title = "Roofline",
                                  .x_title = "work",
                                  .x_unit = "flop",
                                  .y_title = "time",
                                  .y_unit = "us",
                                  .series = scatter_series,
                                  .series_count = 2};
    const char *path = getenv("ASSAY_TEST_PAGE");

    assay__html_section(&page, "Bars");
    assay__html_warn(&page, "A quick profile is orientation, not for production.");
    assay__html_fact(&page, "CPU",
                     "some <CPU> \xC2\xB5"
                     "arch");
    assay__html_chart(&page, &bars);
    assay__html_section(&page, "Other charts");
    assay__html_chart(&page, &histogram);
    assay__html_chart(&page, &scatter);
    take();
    ck_assert_uint_eq(occurrences("<canvas"), 3);
    if (path != NULL)
        ck_assert_int_eq(assay__file_write(path, text, size), ASSAY_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("html");
    TCase *page_case = tcase_create("page");
    TCase *table_case = tcase_create("table");
    TCase *chart_case = tcase_create("chart");
    TCase *sample_case = tcase_create("sample");

    tcase_add_checked_fixture(page_case, begin, end);
    tcase_add_checked_fixture(table_case, begin, end);
    tcase_add_checked_fixture(chart_case, begin, end);
    tcase_add_checked_fixture(sample_case, begin, end);
    tcase_add_test(page_case, page_escapes_every_text);
    tcase_add_test(page_case, page_loads_nothing);
    tcase_add_test(page_case, page_nests_sections_and_lists);
    tcase_add_test(table_case, table_shows_units_and_unknowns);
    tcase_add_test(table_case, table_says_what_it_left_out);
    tcase_add_test(chart_case, chart_has_data_and_table);
    tcase_add_test(chart_case, chart_data_cannot_end_its_script);
    tcase_add_test(chart_case, chart_without_series_is_nothing);
    tcase_add_test(chart_case, chart_cuts_long_bar_lists);
    tcase_add_test(chart_case, chart_thins_a_million_points_and_keeps_the_worst);
    tcase_add_test(page_case, page_stays_within_its_budget);
    tcase_add_test(sample_case, sample_has_every_chart);
    suite_add_tcase(suite, page_case);
    suite_add_tcase(suite, table_case);
    suite_add_tcase(suite, chart_case);
    suite_add_tcase(suite, sample_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_json.c -- building, loading, getters and writing of JSON. */

#include "support/json.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text)
{
    json_t *root = NULL;

    ck_assert_msg(assay__json_parse("t.json", text, strlen(text), &root) == ASSAY_OK, "%s",
                  assay_last_error());
    return root;
}

static void expect_dump(json_t *value, const char *want)
{
    char *text;

    ck_assert_int_eq(assay__json_dump(value, false, &text), ASSAY_OK);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(put_keeps_order_and_leaves_unknown_out)
{
    json_t *object = json_object();
    const int bad = (int)(assay__json_put_int(object, "z", INT64_MAX) |
                          assay__json_put_real(object, "nan", (double)NAN) |
                          assay__json_put_real(object, "inf", -(double)INFINITY) |
                          assay__json_put_string(object, "none", NULL) |
                          assay__json_put_bool(object, "a", true) |
                          assay__json_put_real_or_null(object, "m", (double)NAN) |
                          assay__json_put_string_or_null(object, "s", NULL) |
                          assay__json_put_string(object, "t", "\"\n"));

    ck_assert_int_eq(bad, 0);
    expect_dump(object,
                "{\"z\":9223372036854775807,\"a\":true,\"m\":null,\"s\":null,\"t\":\"\\\"\\n\"}");
    json_decref(object);
}
END_TEST

START_TEST(put_reports_failed_values)
{
    json_t *object = json_object();

    ck_assert_int_eq(assay__json_put_take(object, "k", NULL), ASSAY_NOMEM);
    ck_assert_int_eq(assay__json_append_take(json_null(), json_null()), ASSAY_NOMEM);
    ck_assert_uint_eq(json_object_size(object), 0);
    json_decref(object);
}
END_TEST

START_TEST(put_repairs_text)
{
    json_t *object = json_object();

    ck_assert_int_eq(assay__json_put_string(object, "s", "a\xFF\xC3\xA9\x80"), ASSAY_OK);
    expect_dump(object, "{\"s\":\"a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\"}");
    json_decref(object);
}
END_TEST

START_TEST(reals_survive_a_round_trip)
{
    static const double values[] = {0.1,    1.0 / 3.0,          DBL_MAX, DBL_MIN,
                                    5e-324, 9007199254740993.0, -0.0,    1e22};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *object = json_object();
        char *text;
        double back;
        ck_assert_int_eq(assay__json_put_real(object, "x", values[i]), ASSAY_OK);
        ck_assert_int_eq(assay__json_dump(object, true, &text), ASSAY_OK);
        json_t *again = parse(text);
        ck_assert_int_eq(assay__json_get_real(again, "x", &back), ASSAY_OK);
        ck_assert_msg(memcmp(&back, &values[i], sizeof back) == 0, "%a came back as %a", values[i],
                      back);
        free(text);
        json_decref(again);
        json_decref(object);
    }
}
END_TEST

START_TEST(parse_tells_line_and_column)
{
    json_t *root = NULL;

    ck_assert_int_eq(assay__json_parse("t.json", "{\n  \"a\": }", 10, &root), ASSAY_PARSE);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "t.json:2:8: "));
    ck_assert_int_eq(assay__json_parse("t.json", "{\"a\":1,\"a\":2}", 13, &root), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_parse("t.json", "{} x", 4, &root), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_parse("t.json", "", 0, &root), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_parse("t.json", "[NaN]", 5, &root), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_load("/nonexistent.json", &root), ASSAY_IO);
    ck_assert_ptr_null(root);
}
END_TEST

START_TEST(get_walks_paths)
{
    json_t *root =
        parse("{\"a\":{\"b\":[{\"c\":\"x\"},{\"c\":5}]},\"r\":2,\"f\":1.5,\"t\":false,\"n\":null}");
    const char *text;
    int64_t whole;
    double real;
    bool flag = true;
    json_t *inner;

    ck_assert_int_eq(assay__json_get_string(root, "a.b[0].c", &text), ASSAY_OK);
    ck_assert_str_eq(text, "x");
    ck_assert_int_eq(assay__json_get_int(root, "a.b[1].c", &whole), ASSAY_OK);
    ck_assert_int_eq(whole, 5);
    ck_assert_int_eq(assay__json_get_real(root, "r", &real), ASSAY_OK);
    ck_assert(real == 2.0);
    ck_assert_int_eq(assay__json_get_bool(root, "t", &flag), ASSAY_OK);
    ck_assert(!flag);
    ck_assert_int_eq(assay__json_get_object(root, "a", &inner), ASSAY_OK);
    ck_assert_int_eq(assay__json_get_array(inner, "b", &inner), ASSAY_OK);
    ck_assert_uint_eq(json_array_size(inner), 2);
    ck_assert(assay__json_has(root, "n"));
    ck_assert(!assay__json_has(root, "a.b[2]"));
    json_decref(root);
}
END_TEST

START_TEST(get_refuses_missing_and_wrong_types)
{
    json_t *root = parse("{\"a\":{\"b\":[1]},\"f\":1.5,\"n\":null}");
    const char *text = "kept";
    int64_t whole = 7;
    double real = 7.0;
    bool flag = true;
    json_t *inner = NULL;

    ck_assert_int_eq(assay__json_get_string(root, "a.x", &text), ASSAY_PARSE);
    ck_assert_str_eq(assay_last_error(), "JSON: 'a.x' is missing (a text is needed)");
    ck_assert_int_eq(assay__json_get_string(root, "a.b[0]", &text), ASSAY_PARSE);
    ck_assert_str_eq(assay_last_error(), "JSON: 'a.b[0]' is an integer, not a text");
    ck_assert_int_eq(assay__json_get_int(root, "f", &whole), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_real(root, "n", &real), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_bool(root, "f", &flag), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_object(root, "a.b", &inner), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_array(root, "a", &inner), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_int(root, "a.b[0].c[1]", &whole), ASSAY_PARSE);
    ck_assert_int_eq(assay__json_get_int(root, "", &whole), ASSAY_PARSE);
    ck_assert_str_eq(text, "kept");
    ck_assert_int_eq(whole, 7);
    json_decref(root);
}
END_TEST

START_TEST(write_ends_the_line_and_tells_a_full_disk)
{
    json_t *root = parse("{\"a\":[1]}");
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    ck_assert_int_eq(assay__json_write(root, true, file), ASSAY_OK);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, "{\n  \"a\": [\n    1\n  ]\n}\n");
    free(text);
    file = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(assay__json_write(root, false, file), ASSAY_IO);
    (void)fclose(file);
    json_decref(root);
}
END_TEST

/* Beyond ASCII jansson leaves control characters as they are. */
START_TEST(write_escapes_what_a_terminal_obeys)
{
    json_t *root = json_pack("[s]", "\033 \x7f \xc2\x9b \xe2\x80\xae \xc2\xb5s"), *again;
    char *text = NULL;

    ck_assert_int_eq(assay__json_dump(root, true, &text), ASSAY_OK);
    ck_assert_str_eq(text, "[\n  \"\\u001B \\u007f \\u009b \\u202e \xc2\xb5s\"\n]");
    ck_assert_int_eq(assay__json_parse("t", text, strlen(text), &again), ASSAY_OK);
    ck_assert(json_equal(root, again));
    json_decref(root);
    json_decref(again);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *put_case = tcase_create("put");
    TCase *reals_case = tcase_create("reals");
    TCase *parse_case = tcase_create("parse");
    TCase *get_case = tcase_create("get");
    TCase *write_case = tcase_create("write");

    tcase_add_test(put_case, put_keeps_order_and_leaves_unknown_out);
    tcase_add_test(put_case, put_reports_failed_values);
    tcase_add_test(put_case, put_repairs_text);
    tcase_add_test(reals_case, reals_survive_a_round_trip);
    tcase_add_test(parse_case, parse_tells_line_and_column);
    tcase_add_test(get_case, get_walks_paths);
    tcase_add_test(get_case, get_refuses_missing_and_wrong_types);
    tcase_add_test(write_case, write_ends_the_line_and_tells_a_full_disk);
    tcase_add_test(write_case, write_escapes_what_a_terminal_obeys);
    suite_add_tcase(suite, put_case);
    suite_add_tcase(suite, reals_case);
    suite_add_tcase(suite, parse_case);
    suite_add_tcase(suite, get_case);
    suite_add_tcase(suite, write_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

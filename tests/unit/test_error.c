/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_error.c -- status codes and the per-thread error text. */
#include "runtime/error.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(status_names_and_texts_exist)
{
    ck_assert_str_eq(assay_status_name(ASSAY_OK), "OK");
    ck_assert_str_eq(assay_strerror(ASSAY_DB_NEWER), "store was written by a newer version");
}
END_TEST

START_TEST(status_unknown_value_has_a_text)
{
    ck_assert_str_eq(assay_strerror((assay_status)9999), "unknown status");
}
END_TEST

START_TEST(fail_keeps_status_and_text)
{
    ck_assert_int_eq(assay__fail(ASSAY_INVALID, "m is %d", -3), ASSAY_INVALID);
    ck_assert_str_eq(assay_last_error(), "m is -3");
    ck_assert_int_eq(assay__fail_context(ASSAY_PARSE, "line %d", 7), ASSAY_PARSE);
    ck_assert_str_eq(assay_last_error(), "line 7: m is -3");
}
END_TEST

START_TEST(fail_cuts_a_long_text)
{
    char big[3000];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    assay__fail(ASSAY_IO, "%s", big);
    size_t kept = strlen(assay_last_error());
    ck_assert_uint_gt(kept, 500);
    ck_assert_uint_lt(kept, sizeof big - 1);
    assay__fail_context(ASSAY_IO, "%s", "file");
    ck_assert_int_eq(strncmp(assay_last_error(), "file: xxx", 9), 0);
    ck_assert_uint_le(strlen(assay_last_error()), kept);
}
END_TEST

START_TEST(text_fit_cuts_between_words_and_says_so)
{
    char out[16];

    assay__text_fit("fits in whole 15", out, sizeof out); /* 16 with its end: one too many */
    ck_assert_str_eq(out, "fits in...");
    assay__text_fit("fits in 15 char", out, sizeof out);
    ck_assert_str_eq(out, "fits in 15 char");
    assay__text_fit("no-blank-in-all-of-it", out, sizeof out);
    ck_assert_str_eq(out, "no-blank-in-...");
    assay__text_fit("eleven-byte\xc3\xa9tail", out, sizeof out);
    ck_assert_str_eq(out, "eleven-byte..."); /* never half a character */
    assay__text_fit("", out, sizeof out);
    ck_assert_str_eq(out, "");
    memcpy(out, "from here on", 13);
    assay__text_fit(out + 5, out, sizeof out);
    ck_assert_str_eq(out, "here on");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *status = tcase_create("status");
    TCase *fail = tcase_create("fail");

    tcase_add_test(status, status_names_and_texts_exist);
    tcase_add_test(status, status_unknown_value_has_a_text);
    tcase_add_test(fail, fail_keeps_status_and_text);
    tcase_add_test(fail, fail_cuts_a_long_text);
    tcase_add_test(fail, text_fit_cuts_between_words_and_says_so);
    suite_add_tcase(suite, status);
    suite_add_tcase(suite, fail);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_error.c -- status codes and the per-thread error text. */
#include "runtime/error.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

START_TEST(status_names_and_texts_exist)
{
    ck_assert_str_eq(assay_status_name(ASSAY_OK), "OK");
    ck_assert_str_eq(assay_strerror(ASSAY_DB_NEWER), "store was written by a newer version");
}
END_TEST

/* Stored and printed: a line here is added, never changed. */
static const struct {
    int value;
    const char *name;
    bool retryable, routable;
} frozen[] = {{0, "OK", false, false},           {1, "INVALID", false, false},
              {2, "NOMEM", true, true},          {3, "OVERFLOW", false, false},
              {4, "FOREIGN", false, false},      {5, "FREED", false, false},
              {6, "PENDING", true, false},       {7, "GENERATION", false, false},
              {10, "UNSUPPORTED", false, true},  {11, "DEVICE", false, true},
              {12, "NUMERIC", false, false},     {13, "NOISY", false, false},
              {14, "UNAVAILABLE", false, true},  {15, "NOT_INITIALIZED", false, false},
              {16, "ABI", false, false},         {17, "NO_ROUTE", false, true},
              {18, "DEVICE_LOST", true, true},   {20, "DB", false, false},
              {21, "NOTFOUND", false, false},    {22, "DB_MISSING", false, false},
              {23, "DB_FOREIGN", false, false},  {24, "DB_DAMAGED", false, false},
              {25, "DB_NEWER", false, false},    {26, "DB_LOCKED", true, false},
              {27, "DB_READONLY", false, false}, {28, "DB_FULL", false, false},
              {29, "DB_OLDER", false, false},    {30, "IO", false, false},
              {31, "PARSE", false, false},       {40, "CRASH", false, false},
              {41, "TIMEOUT", true, false},      {42, "INTERRUPTED", true, false},
              {43, "WRONG", false, false},       {44, "STALE", false, false},
              {50, "INTERNAL", false, false}};
enum {
    FROZEN = sizeof frozen / sizeof *frozen,
    STATUSES = 0
#define X(name, value, exit_code, text) +1
    ASSAY_STATUS_MAP(X)
#undef X
};

START_TEST(status_numbers_stay)
{
    ck_assert_str_eq(assay_status_name((assay_status)frozen[_i].value), frozen[_i].name);
    ck_assert_int_eq(STATUSES, FROZEN); /* a new one is written down above */
}
END_TEST

START_TEST(status_says_whether_to_try_again_or_elsewhere)
{
    const assay_status status = (assay_status)frozen[_i].value;

    ck_assert_int_eq(assay_status_is_retryable(status), frozen[_i].retryable);
    ck_assert_int_eq(assay_status_is_routable(status), frozen[_i].routable);
}
END_TEST

/* Numbers of a failure before are not those of this one, also where its text is kept. */
START_TEST(detail_belongs_to_the_last_failure)
{
    const assay_error_detail lost = {
        .status = ASSAY_DEVICE_LOST, .generation = 3, .device = 1, .driver_code = 999};
    assay_error_detail detail;

    ck_assert_int_eq(assay__fail_detail(&lost, "the device is lost"), ASSAY_DEVICE_LOST);
    ck_assert_int_eq(assay__fail_context(ASSAY_DEVICE_LOST, "upload"), ASSAY_DEVICE_LOST);
    assay_last_detail(&detail);
    ck_assert(detail.status == ASSAY_DEVICE_LOST && detail.generation == 3 && detail.device == 1);
    ck_assert_int_eq(detail.driver_code, 999);
    ck_assert_str_eq(assay_last_error(), "upload: the device is lost");
    assay__fail(ASSAY_INVALID, "another");
    assay_last_detail(&detail);
    ck_assert(detail.status == ASSAY_INVALID && detail.generation == 0 && detail.device == 0);
    ck_assert_int_eq(detail.driver_code, 0);
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
    tcase_add_loop_test(status, status_numbers_stay, 0, FROZEN);
    tcase_add_loop_test(status, status_says_whether_to_try_again_or_elsewhere, 0, FROZEN);
    tcase_add_test(fail, detail_belongs_to_the_last_failure);
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

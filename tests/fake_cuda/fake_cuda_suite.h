/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_suite.h -- a test program of backend cuda on the scripted driver.
 *
 * Where the backend is not built, its tests are one: that the build says why. */
#ifndef ASSAY_TESTS_FAKE_CUDA_SUITE_H
#define ASSAY_TESTS_FAKE_CUDA_SUITE_H

#include <check.h>
#include <stdlib.h>

#include "gen/config.h"

#if HAVE_CUDA

#include "tests/fake_cuda/fake_cuda_stage.h"

#else

START_TEST(build_without_cuda_says_why)
{
    ck_assert_str_ne(ASSAY_WHY_CUDA, "");
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, build_without_cuda_says_why);
}

#endif

/* What main returns. */
static int cuda_suite_run(const char *name, void (*add)(TCase *))
{
    Suite *suite = suite_create(name);
    TCase *t = tcase_create("scripted");

    tcase_set_timeout(t, 60);
    add(t);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif

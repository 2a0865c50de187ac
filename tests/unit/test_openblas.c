/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_openblas.c -- how the OpenBLAS plug-in finds its library and says what it found.
 *
 * Its numbers are checked by test_kernels with all others. */
#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/plugin_case.h"

static char last_text[1024];

static assay_status note(assay_status status, const char *text)
{
    strncpy(last_text, text, sizeof last_text - 1);
    return status;
}

static const assay_host host = {
    .struct_size = sizeof host, .abi_version = ASSAY_PLUGIN_ABI, .fail = note};

START_TEST(library_identity_says_what_decides_results)
{
    const assay_manifest *m = plugin_load("openblas");
    assay_instance *instance;
    char text[512];

    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_OK);
    assay_status status = m->backend->library_identity(instance, "openblas", text, sizeof text);
    if (status == ASSAY_OK) {
        ck_assert_ptr_nonnull(strstr(text, "soname=libopenblas.so.0\n"));
        ck_assert_ptr_nonnull(strstr(text, "\ncorename="));
        ck_assert_ptr_nonnull(strstr(text, "\nconfig=OpenBLAS "));
        ck_assert_msg(strstr(text, "build_id=\n") == NULL, "%s", text);
        ck_assert_msg(strstr(text, "version=0.") != NULL, "%s", text);
        ck_assert_int_eq(m->backend->library_identity(instance, "openblas", text, 20),
                         ASSAY_OVERFLOW);
    } else {
        ck_assert_int_eq(status, ASSAY_UNAVAILABLE);
        ck_assert_ptr_nonnull(strstr(last_text, "install"));
    }
    ck_assert_int_eq(m->backend->library_identity(instance, "blis", text, sizeof text),
                     ASSAY_UNAVAILABLE);
    m->backend->close(instance);
}
END_TEST

/* Absent, or a library that is no BLAS: a reason, and kernels that refuse to run. */
START_TEST(library_absent_gives_a_reason)
{
    /* LAPACK's calls of BLAS come from the library that it needs, not from the file named. */
    static const char *const paths[] = {
        "/nonexistent/libopenblas.so.0", "libm.so.6",
        "/usr/lib/x86_64-linux-gnu/openblas-pthread/liblapack.so.3"};
    static const char *const words[] = {"nonexistent", "cblas_sgemm", "shadows"};
    plugin_case c;
    assay_instance *instance;
    char text[512];

    if (_i == 2 && access(paths[2], R_OK) != 0)
        return;
    setenv("ASSAY_OPENBLAS", paths[_i], 1);
    const assay_manifest *m = plugin_load("openblas");
    ck_assert_int_eq(m->backend->open(&host, &instance), ASSAY_OK);
    ck_assert_int_eq(m->backend->library_identity(instance, "openblas", text, sizeof text),
                     ASSAY_UNAVAILABLE);
    ck_assert_msg(strstr(last_text, words[_i]) != NULL, "%s", last_text);
    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=2,n=2,k=2", 0);
    ck_assert_int_eq(plugin_case_run(&c, &m->kernels[0], (int64_t[]){1}), ASSAY_UNAVAILABLE);
    plugin_case_clear(&c);
    m->backend->close(instance);
}
END_TEST

START_TEST(kernel_refuses_extents_beyond_its_integers)
{
    const assay_manifest *m = plugin_load("openblas");
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=2,n=2,k=2", 0);
    ck_assert(m->kernels[0].can_run_fn(&c.problem, NULL));
    ck_assert(m->kernels[0].can_run_fn(&c.problem, (int64_t[]){1}));
    ck_assert(!m->kernels[0].can_run_fn(&c.problem, (int64_t[]){1 << 20}));
    ck_assert_int_eq(assay_problem_set_int(&c.problem, "n", 3000000000), ASSAY_OK);
    ck_assert(!m->kernels[0].can_run_fn(&c.problem, NULL));
    plugin_case_clear(&c);
}
END_TEST

/* Its own default is all CPUs; the largest value that they admit. */
START_TEST(kernel_defaults_to_the_usable_cpus)
{
    const assay_manifest *m = plugin_load("openblas");
    const assay_tunable *t = &m->kernels[0].tunables[0];
    cpu_set_t set;
    plugin_case c;

    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    plugin_case_init(&c, ASSAY_OP_matmul, ASSAY_F32, "m=2,n=2,k=2", 0);
    ck_assert(m->kernels[0].can_run_fn(&c.problem, &t->default_value));
    for (size_t i = 0; i < t->value_count; i++) {
        ck_assert(t->values[i] > CPU_COUNT(&set) || t->values[i] <= t->default_value);
        ck_assert_int_eq(m->kernels[0].can_run_fn(&c.problem, &t->values[i]),
                         t->values[i] <= CPU_COUNT(&set));
    }
    plugin_case_clear(&c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("openblas");
    TCase *library = tcase_create("library");
    TCase *kernel = tcase_create("kernel");

    tcase_add_test(library, library_identity_says_what_decides_results);
    tcase_add_loop_test(library, library_absent_gives_a_reason, 0, 3);
    tcase_add_test(kernel, kernel_refuses_extents_beyond_its_integers);
    tcase_add_test(kernel, kernel_defaults_to_the_usable_cpus);
    suite_add_tcase(suite, library);
    suite_add_tcase(suite, kernel);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_counters.c -- counters are there when they counted; and what is counted of the
 * calls of a stay, on a scripted machine. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.h"
#include "tests/support/fake_worker.h"
#include "tests/support/no_leak_scan.h" /* PAPI keeps what it takes */
#include "tuner/counters.h"

static const assay__counter *row_of(const char *name)
{
    size_t count;
    const assay__counter *all = assay__counters(&count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    ck_abort_msg("no counter %s", name);
    return NULL;
}

/* ---- a scripted machine ---- */

/* What is not there says why; what counts nothing of work that must count is not there. */
START_TEST(counters_of_a_script)
{
    double count = -1;

    (void)setenv("ASSAY_FAKE_COUNTERS",
                 "cycles=3000 instructions=0 l1d_misses=0 page_faults=1/2/3 task_clock=!not_for_us "
                 "migrations=x flops_f64=-4",
                 1);
    const assay__counter *cycles = assay__counter_find("cycles");
    ck_assert_ptr_nonnull(cycles);
    ck_assert_str_eq(cycles->source->name, "script");
    ck_assert_str_eq(cycles->event, "cycles");
    ck_assert_str_eq(cycles->reason, "");
    must(assay__counter_begin(cycles));
    must(assay__counter_end(cycles, &count));
    ck_assert_double_eq_tol(count, 3000, 1e-9);
    ck_assert_ptr_nonnull(assay__counter_find("l1d_misses")); /* may stay 0 */
    ck_assert_ptr_null(assay__counter_find("instructions"));
    ck_assert_str_eq(row_of("instructions")->reason,
                     "instructions: counted 0 of work that must count");
    ck_assert_str_eq(row_of("task_clock")->reason, "task_clock: not_for_us");
    ck_assert_str_eq(row_of("branch_misses")->reason, "branch_misses: not in the script");
    ck_assert_ptr_nonnull(strstr(row_of("migrations")->reason, "is no number"));
    ck_assert_ptr_null(assay__counter_find("flops_f64"));
    ck_assert_str_eq(row_of("branch_misses")->event, "");
    ck_assert_ptr_null(assay__counter_find("no such counter"));
}
END_TEST

/* ---- this machine ---- */

static void *fault_pages(void *cookie)
{
    const size_t bytes = 300 * 4096;
    char *fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)cookie;
    ck_assert_ptr_ne(fresh, MAP_FAILED);
    (void)madvise(fresh, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        fresh[at] = 1;
    munmap(fresh, bytes);
    return NULL;
}

static pthread_barrier_t barrier;

static void *fault_when_told(void *cookie)
{
    (void)pthread_barrier_wait(&barrier);
    (void)fault_pages(cookie);
    (void)pthread_barrier_wait(&barrier);
    return NULL;
}

/* Faults of this thread, and of another that was there when counting began: both are counted by
 * whoever counts here, PAPI or, where it may not, the system. */
START_TEST(counters_of_this_machine)
{
    const assay__counter *faults;
    double alone = 0, both = 0;
    pthread_t thread;

    (void)unsetenv("ASSAY_FAKE_COUNTERS");
    faults = assay__counter_find("page_faults");
    ck_assert_msg(faults != NULL, "%s", row_of("page_faults")->reason);
    must(assay__counter_begin(faults));
    (void)fault_pages(NULL);
    must(assay__counter_end(faults, &alone));
    ck_assert_msg(alone >= 300 && alone < 1000, "%g by %s", alone, faults->source->name);
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, fault_when_told, NULL), 0);
    must(assay__counter_begin(faults));
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    must(assay__counter_end(faults, &both));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_msg(both >= 300 && both < 1000, "%g by %s", both, faults->source->name);
}
END_TEST

/* Every counter of the table is there, or says why not. */
START_TEST(counters_say_why_they_are_absent)
{
    size_t count;

    (void)unsetenv("ASSAY_FAKE_COUNTERS");
    const assay__counter *all = assay__counters(&count);
    ck_assert_uint_ge(count, 10);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg((all[i].source == NULL) == (all[i].reason[0] != '\0'), "%s: %s", all[i].name,
                      all[i].reason);
        ck_assert_int_eq(all[i].source == NULL, all[i].event[0] == '\0');
    }
}
END_TEST

START_TEST(counters_of_the_system)
{
    char why[160] = "";
    double count = -1;

    ck_assert(assay__counter_usage.begin("faults", why, sizeof why));
    (void)fault_pages(NULL);
    ck_assert(assay__counter_usage.end(&count, why, sizeof why));
    ck_assert(count >= 300 && count < 2000);
    ck_assert(!assay__counter_usage.begin("cycles", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "no such count"));
    ck_assert(!assay__counter_usage.end(&count, why, sizeof why));
}
END_TEST

/* The thread of a sanitizer is one of the process, and nobody may count it. */
#ifdef __SANITIZE_THREAD__
#define OF_A_SANITIZER "PAPI_attach"
#else
#define OF_A_SANITIZER "no such reason"
#endif

/* An event of the operating system, which needs no counter of the processor, by the whole way that
 * one of the processor goes; but where PAPI is not, or may not. */
START_TEST(counters_of_papi)
{
    char why[160] = "";
    double count = -1;

    ck_assert(!assay__counter_papi.begin("NO_SUCH_EVENT", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "PAPI"));
    for (int i = 0; i < 2; i++) {
        if (!assay__counter_papi.begin("perf::PAGE-FAULTS", why, sizeof why)) {
            ck_assert_msg(strstr(why, "not installed") != NULL ||
                              strstr(why, "ermission") != NULL ||
                              strstr(why, "built without") != NULL || strstr(why, "init") != NULL ||
                              strstr(why, OF_A_SANITIZER) != NULL,
                          "%s", why);
            return;
        }
        (void)fault_pages(NULL);
        ck_assert_msg(assay__counter_papi.end(&count, why, sizeof why), "%s", why);
        ck_assert_msg(count >= 300 && count < 1000, "%g", count);
    }
}
END_TEST

/* ---- the calls of a variant ---- */

static void begin(const char *script)
{
    (void)setenv("ASSAY_FAKE_COUNTERS", "cycles=3000/3300/3600 page_faults=7", 1);
    fake_worker_begin(script, "3");
}

static json_t *count_request(void)
{
    return json_pack("{s:s, s:s, s:[i,i], s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:i, s:[s,s,s]}",
                     "backend", "fake", "kernel", "fake_a", "tunables", 1, 0, "cache",
                     (int)ASSAY_CACHE_ROTATE, "spans", 1, "seed", 0, "span_ns", 30e3, "warm_ns",
                     0.0, "budget_ns", 1e12, "rotate_bytes", 1e5, "passes", 3, "counters", "cycles",
                     "page_faults", "migrations");
}

/* 31 calls a pass: the counts are those of a call. What is not there has a reason and no value. */
START_TEST(counts_are_of_a_call)
{
    json_t *request = count_request(), *reply = json_object();

    begin("kernel=* ns=1000");
    must(assay__worker_count(&fake_worker, request, reply));
    json_t *list = json_object_get(reply, "counts");
    ck_assert_uint_eq(json_array_size(list), 3);
    json_t *cycles = json_array_get(list, 0), *values = json_object_get(cycles, "values");
    ck_assert_str_eq(json_string_value(json_object_get(cycles, "name")), "cycles");
    ck_assert_int_eq(json_integer_value(json_object_get(cycles, "calls")), 31);
    ck_assert_uint_eq(json_array_size(values), 3);
    double sum = 0;
    for (size_t i = 0; i < 3; i++)
        sum += json_number_value(json_array_get(values, i)) * 31;
    ck_assert_double_eq_tol(sum, 3000 + 3300 + 3600, 1e-6);
    json_t *absent = json_array_get(list, 2);
    ck_assert_ptr_nonnull(json_object_get(absent, "reason"));
    ck_assert_uint_eq(json_array_size(json_object_get(absent, "values")), 0);
    json_decref(request);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

/* Nor is it the counter's fault when the kernel fails. */
START_TEST(kernel_that_fails_while_it_is_counted_is_told)
{
    json_t *request = count_request(), *reply = json_object();

    begin("kernel=* ns=1000 fail_at=60");
    ck_assert_int_eq(assay__worker_count(&fake_worker, request, reply), ASSAY_DEVICE);
    json_decref(request);
    json_decref(reply);
    fake_worker_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *tc = tcase_create("counters");

    tcase_add_test(tc, counters_of_a_script);
    tcase_add_test(tc, counters_of_this_machine);
    tcase_add_test(tc, counters_say_why_they_are_absent);
    tcase_add_test(tc, counters_of_the_system);
    tcase_add_test(tc, counters_of_papi);
    tcase_add_test(tc, counts_are_of_a_call);
    tcase_add_test(tc, kernel_that_fails_while_it_is_counted_is_told);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

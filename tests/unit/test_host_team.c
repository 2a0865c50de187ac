/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_host_team.c -- parts of a call over helpers: each once, by several threads,
 * nested, from many callers, after a fork, on one CPU. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/host_backend.h"
#include "runtime/host_team.h"

enum { PARTS = 1000 };

typedef struct tally {
    _Atomic int done[PARTS];
    _Atomic int begun;
    int meet; /* parts that wait for one another */
    int others;
    pid_t caller;
} tally;

static pid_t thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static void count_part(void *cookie, int64_t part)
{
    tally *t = cookie;

    atomic_fetch_add(&t->done[part], 1);
    if (thread_id() != t->caller)
        t->others = 1; /* read on one CPU only, where no other thread runs parts */
}

static void check_each_once(const tally *t, int64_t parts)
{
    for (int64_t i = 0; i < PARTS; i++)
        ck_assert_int_eq(t->done[i], i < parts ? 1 : 0);
}

START_TEST(part_runs_once)
{
    static const int64_t parts[] = {0, 1, 2, 3, 64, PARTS};

    for (int threads = 1; threads <= 9; threads += 4)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            for (int repeat = 0; repeat < 20; repeat++) {
                tally t = {.caller = thread_id()};
                assay__host_team_run(threads, parts[i], count_part, &t);
                check_each_once(&t, parts[i]);
            }
}
END_TEST

/* Ends only when as many threads have begun: no single thread can run both parts. */
static void meeting_part(void *cookie, int64_t part)
{
    tally *t = cookie;

    atomic_fetch_add(&t->done[part], 1);
    atomic_fetch_add(&t->begun, 1);
    while (atomic_load(&t->begun) < t->meet)
        sched_yield();
}

static bool one_cpu(void)
{
    return assay__host_usable_cpus() < 2;
}

static void check_meeting(void)
{
    tally t = {.meet = 2, .caller = thread_id()};

    assay__host_team_run(2, 2, meeting_part, &t);
    ck_assert_int_eq(t.done[0] + t.done[1], 2);
}

START_TEST(helper_takes_parts)
{
    for (int repeat = 0; repeat < 200 && !one_cpu(); repeat++)
        check_meeting();
}
END_TEST

/* Asleep by then: it must be woken. */
START_TEST(helper_wakes)
{
    for (int repeat = 0; repeat < 5 && !one_cpu(); repeat++) {
        check_meeting();
        usleep(5000);
    }
}
END_TEST

/* The thread sanitizer ends a child that starts threads. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MAY_START_THREADS false
#else
#define CHILD_MAY_START_THREADS true
#endif

START_TEST(child_has_helpers_of_its_own)
{
    int status = 1;

    if (one_cpu() || !CHILD_MAY_START_THREADS)
        return;
    check_meeting();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        check_meeting();
        _exit(7);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
END_TEST

/* A process made behind the C library's back has the state of helpers and no such threads: helpers
 * that never get a CPU.  The caller takes its posts back and does all parts. */
START_TEST(caller_never_waits_for_a_helper_that_has_not_begun)
{
    int status = 1;

    if (one_cpu() || !CHILD_MAY_START_THREADS)
        return;
    check_meeting();
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        tally t = {.caller = thread_id()};
        alarm(10);
        assay__host_team_run(2, 8, count_part, &t);
        int done = 0;
        for (int i = 0; i < 8; i++)
            done += t.done[i];
        _exit(t.others == 0 ? done : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}
END_TEST

static void nesting_part(void *cookie, int64_t part)
{
    tally inner = {.caller = thread_id()};

    assay__host_team_run(4, 8, count_part, &inner);
    for (int i = 0; i < 8; i++)
        if (inner.done[i] != 1)
            return;
    count_part(cookie, part);
}

START_TEST(parts_may_call_the_team)
{
    tally t = {.caller = thread_id()};

    assay__host_team_run(4, 100, nesting_part, &t);
    check_each_once(&t, 100);
}
END_TEST

static void *call_often(void *cookie)
{
    _Atomic int *wrong = cookie;

    for (int repeat = 0; repeat < 500; repeat++) {
        int64_t parts = 1 + repeat % 17;
        tally t = {.caller = thread_id()};
        assay__host_team_run(3, parts, count_part, &t);
        for (int64_t i = 0; i < PARTS; i++)
            atomic_fetch_add(wrong, t.done[i] != (i < parts ? 1 : 0));
    }
    return NULL;
}

/* More callers than helpers: those without do all their parts themselves. */
START_TEST(callers_share_helpers)
{
    pthread_t threads[6];
    _Atomic int wrong = 0;

    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &wrong), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(one_cpu_needs_no_helper)
{
    cpu_set_t set, one;
    tally t = {.caller = thread_id()};

    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &set))
            CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int repeat = 0; repeat < 20; repeat++) {
        memset(t.done, 0, sizeof t.done);
        assay__host_team_run(4, 100, count_part, &t);
        check_each_once(&t, 100);
    }
    ck_assert_int_eq(t.others, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host_team");
    TCase *tcase = tcase_create("team");

    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, part_runs_once);
    tcase_add_test(tcase, helper_takes_parts);
    tcase_add_test(tcase, helper_wakes);
    tcase_add_test(tcase, child_has_helpers_of_its_own);
    tcase_add_test(tcase, caller_never_waits_for_a_helper_that_has_not_begun);
    tcase_add_test(tcase, parts_may_call_the_team);
    tcase_add_test(tcase, callers_share_helpers);
    tcase_add_test(tcase, one_cpu_needs_no_helper);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

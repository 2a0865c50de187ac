/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_worker_guard.c -- what a kernel does to its process is noticed, limited, undone.
 *
 * Each test is a process of its own, which the guard then guards. */
#include <check.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/worker_guard.h"

/* A sanitizer takes memory and faults for itself. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OWNS_ITS_MEMORY 0
#else
#define OWNS_ITS_MEMORY 1
#endif

#define MANY 1000 /* calls */

static json_t *reply;

static void setup(void)
{
    assay__guard_begin();
    reply = json_object();
}

static void teardown(void)
{
    json_decref(reply);
}

START_TEST(descriptors_left_open_are_reported)
{
    assay__guard_held before;

    assay__guard_hold(&before);
    for (int i = 0; i < 3; i++)
        ck_assert_int_ge(open("/dev/null", O_RDONLY), 0);
    assay__guard_report(&before, MANY, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_fds"));
    ck_assert_int_ge(open("/dev/null", O_RDONLY), 0);
    assay__guard_report(&before, MANY, reply);
    ck_assert_int_eq(json_integer_value(json_object_get(reply, "leaked_fds")), 4);
    ck_assert_ptr_null(json_object_get(reply, "leaked_bytes"));
}
END_TEST

/* Of a kernel that takes long there are two or three calls: what each left tells. */
START_TEST(what_each_of_few_calls_leaves_is_reported)
{
    const size_t bytes = (size_t)9 << 20;
    assay__guard_held before;

    assay__guard_hold(&before);
    ck_assert_int_ge(open("/dev/null", O_RDONLY), 0);
    assay__guard_report(&before, 1, reply); /* a library may open one whenever it likes */
    assay__guard_report(&before, 2, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_fds"));
    ck_assert_int_ge(open("/dev/null", O_RDONLY), 0);
    assay__guard_report(&before, 3, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_fds"));
    assay__guard_report(&before, 2, reply);
    ck_assert_int_eq(json_integer_value(json_object_get(reply, "leaked_fds")), 2);
    void *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(kept, MAP_FAILED);
    assay__guard_report(&before, 1, reply);
    assay__guard_report(&before, 3, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_bytes"));
    assay__guard_report(&before, 2, reply);
    ck_assert_double_ge(json_number_value(json_object_get(reply, "leaked_bytes")), (double)bytes);
    munmap(kept, bytes);
}
END_TEST

START_TEST(memory_kept_is_reported)
{
    const size_t bytes = (size_t)20 << 20;
    assay__guard_held before;

    assay__guard_hold(&before);
    void *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(kept, MAP_FAILED);
    assay__guard_report(&before, MANY, reply);
    ck_assert(json_number_value(json_object_get(reply, "leaked_bytes")) >= (double)bytes);
    ck_assert_int_eq(munmap(kept, bytes), 0);
    json_object_clear(reply);
    assay__guard_report(&before, MANY, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_bytes"));
}
END_TEST

START_TEST(environment_of_floats_is_put_back_and_blamed)
{
    const int before = fegetround();

    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_DEVICE);
    ck_assert_int_eq(fegetround(), before);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "floating-point environment"));
    /* What else happened says more. */
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
    ck_assert_int_eq(assay__guard_end(ASSAY_UNSUPPORTED, true, reply), ASSAY_UNSUPPORTED);
    ck_assert_int_eq(fegetround(), before);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u); /* flushes subnormals */
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_DEVICE);
    ck_assert_uint_eq(__builtin_ia32_stmxcsr() & 0x8040u, 0);
#endif
}
END_TEST

START_TEST(few_descriptors_left_are_told)
{
    struct rlimit files;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = 64;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
    int some[64], count = 0;
    while ((some[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert(json_is_true(json_object_get(reply, "is_spent")));
    while (count > 0) /* who looks for leaks at the end needs some */
        close(some[--count]);
}
END_TEST

static void limit_fds(rlim_t most)
{
    struct rlimit files;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = most;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* Where there may be many, some hundreds are not half of them; and just before timed calls nobody
 * looks. */
START_TEST(many_descriptors_are_few_of_more)
{
    int some[700], count = 0;

    limit_fds(1024);
    while (count < 300 && (some[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    ck_assert_int_eq(count, 300);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
    while (count < 600 && (some[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    ck_assert_int_eq(count, 600);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, false, reply), ASSAY_OK);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert(json_is_true(json_object_get(reply, "is_spent")));
    while (count > 0)
        close(some[--count]);
}
END_TEST

/* A process that has closed the descriptor that is copied tells nothing. */
START_TEST(no_descriptor_to_copy_is_not_spent)
{
    int some[200], count = 0;
    const int kept = dup(STDIN_FILENO);

    limit_fds(256);
    while (count < 200 && (some[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    close(STDIN_FILENO);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
    if (kept >= 0)
        ck_assert_int_eq(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    while (count > 0)
        close(some[--count]);
}
END_TEST

static void *take(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The reply that says so still finds memory. */
START_TEST(memory_is_limited_beyond_what_is_held)
{
    const size_t piece = (size_t)8 << 20;
    size_t got = 0;

    assay__guard_limit(128e6);
    ck_assert_ptr_eq(take((size_t)256 << 20), MAP_FAILED);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert_ptr_null(json_object_get(reply, "is_spent"));
    while (take(piece) != MAP_FAILED)
        got++;
    ck_assert_uint_ge(got, 10);
    ck_assert_uint_le(got, 16);
    ck_assert_int_eq(assay__guard_end(ASSAY_OK, true, reply), ASSAY_OK);
    ck_assert(json_is_true(json_object_get(reply, "is_spent")));
    ck_assert_ptr_ne(take(piece / 2), MAP_FAILED);
    /* What the problem before has left counts against the next one, too. */
    assay__guard_limit(128e6);
    ck_assert_ptr_eq(take(piece), MAP_FAILED);
    ck_assert(assay__guard_is_spent());
    assay__guard_limit(1024e6);
    ck_assert_ptr_ne(take(piece), MAP_FAILED);
    ck_assert(!assay__guard_is_spent());
    /* None, and one that the user has set. */
    assay__guard_limit(0);
}
END_TEST

START_TEST(limit_of_the_user_holds)
{
    struct rlimit data;

    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &data), 0);
    data.rlim_cur = (rlim_t)1 << 30;
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &data), 0);
    for (int i = 0; i < 2; i++) {
        assay__guard_limit(1e12);
        ck_assert_int_eq(getrlimit(RLIMIT_DATA, &data), 0);
        ck_assert_uint_eq(data.rlim_cur, (rlim_t)1 << 30);
    }
}
END_TEST

/* Nothing is opened and closed between calls: what the system does for that later falls into spans.
 */
START_TEST(memory_is_seen_without_another_descriptor)
{
    const size_t bytes = (size_t)32 << 20;
    struct rlimit files;
    assay__guard_held held;

    assay__guard_hold(&held);
    const int next = dup(0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    const rlim_t before = files.rlim_cur;
    files.rlim_cur = (rlim_t)next;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_lt(dup(0), 0);
    void *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(kept, MAP_FAILED);
    assay__guard_report(&held, MANY, reply);
    ck_assert_double_ge(json_number_value(json_object_get(reply, "leaked_bytes")), (double)bytes);
    munmap(kept, bytes);
    files.rlim_cur = before; /* leak checkers open files at the end */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
}
END_TEST

/* What is not known is no leak, and no limit. */
START_TEST(memory_that_cannot_be_seen_is_not_known)
{
    const size_t bytes = (size_t)32 << 20;
    struct rlimit files, data, after;
    assay__guard_held held;
    void *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(kept, MAP_FAILED);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &data), 0);
    limit_fds(0);
    assay__guard_hold(&held);
    assay__guard_limit(64e6);
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &after), 0);
    limit_fds(files.rlim_cur);
    ck_assert_double_nan(held.bytes);
    ck_assert_uint_eq(after.rlim_cur, data.rlim_cur);
    assay__guard_report(&held, MANY, reply);
    ck_assert_ptr_null(json_object_get(reply, "leaked_bytes"));
    munmap(kept, bytes);
}
END_TEST

/* A kernel that closes all descriptors, and opens others at their numbers. */
START_TEST(memory_is_seen_though_its_file_is_another)
{
    const size_t bytes = (size_t)32 << 20;
    assay__guard_held held;
    const int next = dup(0), other = memfd_create("no statm", MFD_CLOEXEC);

    close(next);
    ck_assert_int_eq(write(other, "what\n", 5), 5);
    assay__guard_hold(&held);
    ck_assert_int_eq(dup2(other, next), next); /* where statm was opened */
    void *kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(kept, MAP_FAILED);
    assay__guard_report(&held, MANY, reply);
    ck_assert_double_ge(json_number_value(json_object_get(reply, "leaked_bytes")), (double)bytes);
    munmap(kept, bytes);
    close(other);
    close(next);
}
END_TEST

/* How a child that does this ends, and what it noted. */
static int fault_of(void (*act)(void), assay__doing *notes)
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        assay__guard_begin();
        assay__guard_notes(notes);
        act();
        _exit(77);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void write_to_eight(void)
{
    int *volatile nowhere = (int *)8;

    *nowhere = 1;
}

static int64_t deeper(volatile int64_t depth)
{
    volatile char frame[512];

    if (depth < 0)
        return 0;
    frame[depth & 511] = (char)depth;
    return deeper(depth + 1) + frame[(depth + 1) & 511];
}

static void overflow(void)
{
    (void)deeper(1);
}

static void no_fault(void)
{
    (void)raise(SIGKILL);
}

static void raise_it(void)
{
    (void)raise(SIGSEGV);
}

START_TEST(faults_are_noted_with_their_place)
{
    assay__doing *notes =
        mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char text[64];

    ck_assert_ptr_ne(notes, MAP_FAILED);
    ck_assert_int_eq(fault_of(no_fault, notes), SIGKILL);
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_str_eq(text, "");
    /* One that is sent comes from no instruction that would run again. */
    ck_assert_int_eq(fault_of(raise_it, notes), SIGSEGV);
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(fault_of(write_to_eight, notes), SIGSEGV);
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_str_eq(text, "at address 0x8");
    ck_assert_int_eq(fault_of(overflow, notes), SIGSEGV);
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_str_eq(text, "as its stack overflowed");
    /* A frame of 100 KB begins that far below where the stack ends. */
    notes->fault_at = notes->fault_stack - 100000;
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_str_eq(text, "as its stack overflowed");
    notes->fault_at = notes->fault_stack - (UINT64_C(2) << 20);
    assay__doing_fault_text(notes, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "at address 0x"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_guard");
    TCase *tcase = tcase_create("guard");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, descriptors_left_open_are_reported);
    tcase_add_test(tcase, what_each_of_few_calls_leaves_is_reported);
    tcase_add_test(tcase, memory_kept_is_reported);
    tcase_add_test(tcase, memory_that_cannot_be_seen_is_not_known);
    tcase_add_test(tcase, memory_is_seen_though_its_file_is_another);
    tcase_add_test(tcase, memory_is_seen_without_another_descriptor);
    tcase_add_test(tcase, environment_of_floats_is_put_back_and_blamed);
    tcase_add_test(tcase, few_descriptors_left_are_told);
    tcase_add_test(tcase, many_descriptors_are_few_of_more);
    tcase_add_test(tcase, no_descriptor_to_copy_is_not_spent);
    if (OWNS_ITS_MEMORY) {
        tcase_add_test(tcase, memory_is_limited_beyond_what_is_held);
        tcase_add_test(tcase, limit_of_the_user_holds);
        tcase_add_test(tcase, faults_are_noted_with_their_place);
    }
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

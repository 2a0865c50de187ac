/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_reader.c -- published objects: never freed under a reader, always freed after.
 *
 * A freed object is poisoned and kept, so that a late reader is caught without sanitizers; with
 * them the plain writes of the poison are a race or not. */
#include "runtime/reader.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define POISON  UINT64_C(0xdeadbeefdeadbeef)
#define POOL    20000
#define SECONDS 0.7

typedef struct item {
    uint64_t version, inverse;
    _Atomic int holds; /* of plans; 1 is the publisher's */
    int freed;
    bool is_waiting;
} item;

static item pool[POOL];
static assay__readers readers;
static _Atomic(const void *) published;

static void let_go(item *i)
{
    if (atomic_fetch_sub(&i->holds, 1) != 1)
        return;
    i->version = POISON;
    i->inverse = POISON;
    i->freed++;
}

static item *item_of(const void *object)
{
    return &pool[(const item *)object - pool];
}

static void sweep_replaced(size_t until)
{
    if (!assay__readers_barrier(&readers))
        return;
    for (size_t i = until > 64 ? until - 64 : 0; i < until; i++)
        if (pool[i].is_waiting && !assay__readers_hold(&readers, &pool[i])) {
            pool[i].is_waiting = false;
            let_go(&pool[i]);
        }
}

static void publish(size_t index)
{
    pool[index] = (item){.version = index, .inverse = ~(uint64_t)index, .is_waiting = false};
    atomic_init(&pool[index].holds, 1);
    const void *old = atomic_exchange(&published, &pool[index]);
    if (old != NULL)
        item_of(old)->is_waiting = true;
    sweep_replaced(index);
}

static void setup(void)
{
    ck_assert_int_eq(assay__readers_init(&readers), ASSAY_OK);
    atomic_init(&published, NULL);
}

static void teardown(void)
{
    assay__readers_clear(&readers);
}

START_TEST(object_stays_while_it_is_read)
{
    assay__reader *mine = assay__reader_mine(&readers);

    readers.has_membarrier = readers.has_membarrier && _i == 0;
    publish(0);
    ck_assert_ptr_eq(assay__reader_enter(&readers, mine, &published), &pool[0]);
    publish(1);
    ck_assert_int_eq(pool[0].freed, 0);
    assay__reader_leave(mine);
    publish(2);
    ck_assert_int_eq(pool[0].freed, 1);
    ck_assert_int_eq(pool[1].freed, 1);
    ck_assert_int_eq(pool[2].freed, 0);
}
END_TEST

START_TEST(object_stays_while_a_plan_counts_in_it)
{
    assay__reader *mine = assay__reader_mine(&readers);
    item *held;

    publish(0);
    held = item_of(assay__reader_enter(&readers, mine, &published));
    atomic_fetch_add(&held->holds, 1);
    assay__reader_leave(mine);
    publish(1);
    ck_assert_int_eq(pool[0].freed, 0);
    let_go(held);
    ck_assert_int_eq(pool[0].freed, 1);
}
END_TEST

START_TEST(lines_of_two_domains_do_not_meet)
{
    assay__readers others;
    assay__reader *mine = assay__reader_mine(&readers), *other;

    ck_assert_int_eq(assay__readers_init(&others), ASSAY_OK);
    other = assay__reader_mine(&others);
    ck_assert_ptr_ne(mine, other);
    publish(0);
    (void)assay__reader_enter(&others, other, &published);
    ck_assert(!assay__readers_hold(&readers, &pool[0]));
    ck_assert(assay__readers_hold(&others, &pool[0]));
    ck_assert_ptr_eq(assay__reader_mine(&readers), mine);
    assay__readers_clear(&others);
}
END_TEST

START_TEST(line_is_found_again_past_many_domains)
{
    assay__readers many[9];
    assay__reader *mine = assay__reader_mine(&readers);

    ck_assert_ptr_eq(assay__reader_cached(&readers), mine);
    for (size_t i = 0; i < 9; i++) {
        ck_assert_int_eq(assay__readers_init(&many[i]), ASSAY_OK);
        ck_assert_ptr_nonnull(assay__reader_mine(&many[i]));
    }
    ck_assert_ptr_null(assay__reader_cached(&readers));
    ck_assert_ptr_eq(assay__reader_mine(&readers), mine);
    ck_assert_uint_eq(assay__readers_count(&readers), 1);
    for (size_t i = 0; i < 9; i++)
        assay__readers_clear(&many[i]);
}
END_TEST

/* ---- a writer at any instruction ------------------------------------------------------------- */

static size_t ticked;
static void on_tick(int unused)
{
    (void)unused;
    publish(ticked++);
}

/* The timer's handler publishes and frees wherever the reader happens to be, also between its look
 * at what is published and its note. */
START_TEST(object_that_is_replaced_before_the_note_is_not_entered)
{
    const struct itimerval often = {.it_interval = {0, 50}, .it_value = {0, 50}},
                           never = {{0, 0}, {0, 0}};
    assay__reader *mine = assay__reader_mine(&readers);
    size_t bad = 0;

    publish(ticked++);
    ck_assert(signal(SIGALRM, on_tick) != SIG_ERR);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    while (*(volatile size_t *)&ticked < 2000) {
        const item *i = item_of(assay__reader_enter(&readers, mine, &published));
        bad += *(const volatile uint64_t *)&i->version == POISON;
        assay__reader_leave(mine);
    }
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
    ck_assert_uint_eq(bad, 0);
}
END_TEST

START_TEST(counts_are_summed_over_threads)
{
    assay__reader *mine = assay__reader_mine(&readers);

    for (size_t i = 0; i < 5; i++)
        assay__reader_count(mine, i % 2);
    ck_assert_uint_eq(assay__readers_sum(&readers, 0), 3);
    ck_assert_uint_eq(assay__readers_sum(&readers, 1), 2);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------- */

static void *count_once(void *unused)
{
    assay__reader_count(assay__reader_mine(&readers), 0);
    return unused;
}

/* A program that starts a thread a request must not collect lines. */
START_TEST(lines_of_threads_that_ended_are_used_again)
{
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, count_once, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    ck_assert_uint_eq(assay__readers_sum(&readers, 0), 200);
    ck_assert_uint_lt(assay__readers_count(&readers), 20);
}
END_TEST

static _Atomic bool stop;
static _Atomic size_t broken, backwards, reads;

static void check_item(const item *i, uint64_t *last)
{
    if (i->inverse != ~i->version)
        (void)atomic_fetch_add(&broken, 1);
    else if (i->version < *last)
        (void)atomic_fetch_add(&backwards, 1);
    else
        *last = i->version;
}

/* Reads what it has again after yielding; from time to time it counts itself in and reads later. */
static void *read_on(void *unused)
{
    assay__reader *mine = assay__reader_mine(&readers);
    item *held = NULL;
    uint64_t last = 0;
    size_t count = 0;

    for (; !atomic_load_explicit(&stop, memory_order_relaxed); count++) {
        item *i = item_of(assay__reader_enter(&readers, mine, &published));
        check_item(i, &last);
        if (count % 256 == 0)
            (void)sched_yield();
        check_item(i, &last);
        if (held == NULL && count % 16 == 0) {
            atomic_fetch_add(&i->holds, 1);
            held = i;
        }
        assay__reader_leave(mine);
        if (held != NULL && count % 16 == 8) {
            if (held->inverse != ~held->version)
                (void)atomic_fetch_add(&broken, 1);
            let_go(held);
            held = NULL;
        }
    }
    if (held != NULL)
        let_go(held);
    (void)atomic_fetch_add(&reads, count);
    return unused;
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is left from before the last 64 publications and still waits. */
static void sweep_all(size_t count)
{
    for (size_t i = 64; i <= count; i++)
        sweep_replaced(i);
}

START_TEST(objects_survive_readers_and_a_writer)
{
    pthread_t threads[2];
    double end = now_s() + SECONDS;
    size_t count = 0;

    readers.has_membarrier = readers.has_membarrier && _i == 0;
    publish(count++);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_on, NULL), 0);
    while (count < POOL && now_s() < end) {
        publish(count++);
        if (count % 64 == 0) /* so that the readers see many of them on any number of cores */
            (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    sweep_all(count);
    ck_assert_uint_eq(atomic_load(&broken), 0);
    ck_assert_uint_eq(atomic_load(&backwards), 0);
    ck_assert_uint_gt(atomic_load(&reads), 0);
    ck_assert_uint_gt(count, 100);
    for (size_t i = 0; i + 1 < count; i++)
        ck_assert_msg(pool[i].freed == 1, "object %d was freed %d times", (int)i, pool[i].freed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reader");
    TCase *one = tcase_create("one thread"), *many = tcase_create("threads");

    tcase_add_checked_fixture(one, setup, teardown);
    tcase_add_loop_test(one, object_stays_while_it_is_read, 0, 2);
    tcase_add_test(one, object_stays_while_a_plan_counts_in_it);
    tcase_add_test(one, lines_of_two_domains_do_not_meet);
    tcase_add_test(one, line_is_found_again_past_many_domains);
    tcase_add_test(one, counts_are_summed_over_threads);
    tcase_set_timeout(one, 30);
    tcase_add_test(one, object_that_is_replaced_before_the_note_is_not_entered);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_timeout(many, 30);
    tcase_add_test(many, lines_of_threads_that_ended_are_used_again);
    tcase_add_loop_test(many, objects_survive_readers_and_a_writer, 0, 2);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, many);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_snapshot.c -- published objects: never freed under a reader, always freed after.
 *
 * A freed object is poisoned and kept, so that a late reader is caught without sanitizers; with
 * them the plain writes of the poison are a race or not. */
#include "runtime/snapshot.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define POISON   UINT64_C(0xdeadbeefdeadbeef)
#define POOL     20000
#define SECONDS  1.0
#define MAX_NEST 7

typedef struct item {
    uint64_t version, inverse;
    int freed;
} item;

static item pool[POOL];
static atomic_size_t freed_count;

static void free_item(void *object)
{
    item *i = object;

    i->version = POISON;
    i->inverse = POISON;
    i->freed++;
    (void)atomic_fetch_add(&freed_count, 1);
}

static void publish(assay__snap_domain *domain, size_t index)
{
    pool[index] = (item){index, ~(uint64_t)index, 0};
    ck_assert_int_eq(assay__snap_publish(domain, &pool[index], free_item), ASSAY_OK);
}

static bool is_whole(const item *i)
{
    return i->inverse == ~i->version;
}

static assay__snap_domain *new_domain(void)
{
    assay__snap_domain *domain = NULL;

    ck_assert_int_eq(assay__snap_create(&domain), ASSAY_OK);
    return domain;
}

START_TEST(snapshot_is_empty_before_the_first_publish)
{
    assay__snap_domain *domain = new_domain();
    assay__snap_ref empty, full;

    assay__snap_acquire(domain, &empty);
    ck_assert_ptr_null(empty.object);
    ck_assert_ptr_null(assay__snap_hold_current(domain));
    publish(domain, 1);
    assay__snap_acquire(domain, &full);
    assay__snap_release(&empty); /* must not let go of what is acquired since */
    publish(domain, 2);
    ck_assert_int_eq(pool[1].freed, 0);
    assay__snap_release(&full);
    assay__snap_destroy(&domain);
    ck_assert_ptr_null(domain);
    ck_assert_int_eq(pool[1].freed, 1);
    ck_assert_int_eq(pool[2].freed, 1);
    assay__snap_destroy(&domain);
    assay__snap_destroy(NULL);
}
END_TEST

START_TEST(snapshot_is_freed_when_replaced_and_unread)
{
    assay__snap_domain *domain = new_domain();

    publish(domain, 1);
    ck_assert_int_eq(pool[1].freed, 0);
    publish(domain, 2);
    ck_assert_int_eq(pool[1].freed, 1);
    ck_assert_int_eq(pool[2].freed, 0);
    assay__snap_destroy(&domain);
    ck_assert_int_eq(pool[1].freed, 1);
    ck_assert_int_eq(pool[2].freed, 1);
}
END_TEST

START_TEST(snapshot_stays_while_it_is_read)
{
    assay__snap_domain *domain = new_domain();
    assay__snap_ref old, new;

    publish(domain, 1);
    assay__snap_acquire(domain, &old);
    publish(domain, 2);
    publish(domain, 3);
    ck_assert_int_eq(pool[1].freed, 0);
    ck_assert_int_eq(pool[2].freed, 1);
    assay__snap_acquire(domain, &new);
    ck_assert_ptr_eq(old.object, &pool[1]);
    ck_assert_ptr_eq(new.object, &pool[3]);
    assay__snap_release(&old);
    ck_assert_ptr_null(old.object);
    assay__snap_release(&old); /* twice does nothing */
    assay__snap_collect(domain);
    ck_assert_int_eq(pool[1].freed, 1);
    ck_assert_int_eq(pool[3].freed, 0);
    assay__snap_release(&new);
    assay__snap_destroy(&domain);
}
END_TEST

START_TEST(snapshot_stays_for_nested_readers_in_any_order)
{
    assay__snap_domain *domain = new_domain();
    assay__snap_ref refs[MAX_NEST];

    for (size_t i = 0; i < MAX_NEST; i++) {
        publish(domain, i);
        assay__snap_acquire(domain, &refs[i]);
    }
    publish(domain, MAX_NEST);
    for (size_t i = 0; i < MAX_NEST; i++) {
        size_t next = i * 3 % MAX_NEST;
        ck_assert_int_eq(pool[next].freed, 0);
        ck_assert_ptr_eq(refs[next].object, &pool[next]);
        assay__snap_release(&refs[next]);
        assay__snap_collect(domain);
        ck_assert_int_eq(pool[next].freed, 1);
    }
    assay__snap_destroy(&domain);
}
END_TEST

START_TEST(snapshot_stays_while_it_is_held)
{
    assay__snap_domain *domain = new_domain();

    publish(domain, 1);
    assay__snap_hold *one = assay__snap_hold_current(domain);
    assay__snap_hold *two = assay__snap_hold_current(domain);
    publish(domain, 2);
    assay__snap_hold *last = assay__snap_hold_current(domain);
    ck_assert_ptr_eq(assay__snap_held(one), &pool[1]);
    ck_assert_int_eq(pool[1].freed, 0);
    assay__snap_unhold(&one);
    ck_assert_ptr_null(one);
    assay__snap_collect(domain);
    ck_assert_int_eq(pool[1].freed, 0);
    assay__snap_unhold(&two);
    ck_assert_int_eq(pool[1].freed, 1);
    assay__snap_destroy(&domain); /* a plan may outlive the table */
    ck_assert_int_eq(pool[2].freed, 0);
    assay__snap_unhold(&last);
    ck_assert_int_eq(pool[2].freed, 1);
    assay__snap_unhold(&last);
    assay__snap_unhold(NULL);
    ck_assert_ptr_null(assay__snap_held(NULL));
}
END_TEST

START_TEST(snapshot_domains_do_not_meet)
{
    assay__snap_domain *a = new_domain(), *b = new_domain();
    assay__snap_ref in_a;

    publish(a, 1);
    publish(b, 2);
    assay__snap_acquire(a, &in_a);
    publish(b, 3);
    ck_assert_int_eq(pool[2].freed, 1);
    publish(a, 4);
    ck_assert_int_eq(pool[1].freed, 0);
    assay__snap_release(&in_a);
    assay__snap_destroy(&a);
    assay__snap_destroy(&b);
}
END_TEST

START_TEST(snapshot_refuses_no_object)
{
    assay__snap_domain *domain = new_domain();

    pool[5].freed = 0;
    ck_assert_int_eq(assay__snap_publish(domain, NULL, free_item), ASSAY_INVALID);
    ck_assert_int_eq(assay__snap_publish(domain, &pool[5], NULL), ASSAY_OK);
    assay__snap_destroy(&domain);
    ck_assert_int_eq(pool[5].freed, 0);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct crowd {
    assay__snap_domain *domain;
    pthread_barrier_t inside, leave;
    atomic_int bad;
} crowd;

static void *stand_inside(void *cookie)
{
    crowd *c = cookie;
    assay__snap_ref ref;

    assay__snap_acquire(c->domain, &ref);
    (void)pthread_barrier_wait(&c->inside);
    (void)pthread_barrier_wait(&c->leave);
    const item *i = ref.object;
    if (i == NULL || !is_whole(i) || i->version != 1)
        atomic_store(&c->bad, 1);
    assay__snap_release(&ref);
    return NULL;
}

/* More threads at once than a chunk has slots; afterwards the slots are used again. */
START_TEST(slots_grow_and_are_used_again)
{
    enum { THREADS = 40 };
    crowd c = {.domain = new_domain()};
    pthread_t threads[THREADS];
    size_t slots = 0;

    for (int round = 0; round < 3; round++) {
        publish(c.domain, 1);
        ck_assert_int_eq(pthread_barrier_init(&c.inside, NULL, THREADS + 1), 0);
        ck_assert_int_eq(pthread_barrier_init(&c.leave, NULL, THREADS + 1), 0);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, stand_inside, &c), 0);
        (void)pthread_barrier_wait(&c.inside);
        publish(c.domain, 2);
        ck_assert_int_eq(pool[1].freed, 0);
        (void)pthread_barrier_wait(&c.leave);
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        assay__snap_collect(c.domain);
        ck_assert_int_eq(pool[1].freed, 1);
        ck_assert_int_eq(atomic_load(&c.bad), 0);
        ck_assert_uint_ge(assay__snap_slot_count(), THREADS);
        ck_assert(round == 0 || slots == assay__snap_slot_count());
        slots = assay__snap_slot_count();
        (void)pthread_barrier_destroy(&c.inside);
        (void)pthread_barrier_destroy(&c.leave);
    }
    assay__snap_destroy(&c.domain);
}
END_TEST

typedef struct torture {
    assay__snap_domain *domain;
    atomic_bool stop;
    atomic_size_t broken, backwards, reads;
} torture;

static void check_item(torture *t, const item *i, uint64_t *last)
{
    if (!is_whole(i))
        (void)atomic_fetch_add(&t->broken, 1);
    else if (i->version < *last)
        (void)atomic_fetch_add(&t->backwards, 1);
    else
        *last = i->version;
}

/* Reads what it has again after yielding, nested and held from time to time. */
static void *read_on(void *cookie)
{
    torture *t = cookie;
    uint64_t last = 0;
    size_t count = 0;

    for (; !atomic_load_explicit(&t->stop, memory_order_relaxed); count++) {
        assay__snap_ref refs[MAX_NEST];
        size_t depth = count % 64 == 0 ? MAX_NEST : 1;
        assay__snap_hold *hold = count % 16 == 0 ? assay__snap_hold_current(t->domain) : NULL;
        if (hold != NULL)
            check_item(t, assay__snap_held(hold), &last);
        for (size_t i = 0; i < depth; i++)
            assay__snap_acquire(t->domain, &refs[i]);
        if (count % 256 == 0)
            (void)sched_yield();
        for (size_t i = 0; i < depth; i++)
            check_item(t, refs[i].object, &last);
        for (size_t i = 0; i < depth; i++)
            assay__snap_release(&refs[i]);
        if (hold != NULL && !is_whole(assay__snap_held(hold)))
            (void)atomic_fetch_add(&t->broken, 1);
        assay__snap_unhold(&hold);
    }
    (void)atomic_fetch_add(&t->reads, count);
    return NULL;
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

START_TEST(snapshot_survives_readers_and_a_writer)
{
    torture t = {.domain = new_domain()};
    pthread_t readers[2];
    double end = now_s() + SECONDS;
    size_t published = 0;

    atomic_store(&freed_count, 0);
    publish(t.domain, published++);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_on, &t), 0);
    while (published < POOL && now_s() < end) {
        publish(t.domain, published++);
        if (published % 64 == 0) /* so that the readers see many of them on any number of cores */
            (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    atomic_store(&t.stop, true);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(readers[i], NULL), 0);
    assay__snap_destroy(&t.domain);
    ck_assert_uint_eq(atomic_load(&t.broken), 0);
    ck_assert_uint_eq(atomic_load(&t.backwards), 0);
    ck_assert_uint_gt(atomic_load(&t.reads), 0);
    ck_assert_uint_gt(published, 100);
    ck_assert_uint_eq(atomic_load(&freed_count), published);
    for (size_t i = 0; i < published; i++)
        ck_assert_int_eq(pool[i].freed, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *one = tcase_create("one thread");
    TCase *many = tcase_create("threads");

    tcase_add_test(one, snapshot_is_empty_before_the_first_publish);
    tcase_add_test(one, snapshot_is_freed_when_replaced_and_unread);
    tcase_add_test(one, snapshot_stays_while_it_is_read);
    tcase_add_test(one, snapshot_stays_for_nested_readers_in_any_order);
    tcase_add_test(one, snapshot_stays_while_it_is_held);
    tcase_add_test(one, snapshot_domains_do_not_meet);
    tcase_add_test(one, snapshot_refuses_no_object);
    tcase_set_timeout(many, 30);
    tcase_add_test(many, slots_grow_and_are_used_again);
    tcase_add_test(many, snapshot_survives_readers_and_a_writer);
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, many);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

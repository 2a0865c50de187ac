/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_pick_fork.c -- the picker in a child of the process that opened it, and beside
 * signals. */
#include "tests/support/pick_stage.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Check's assertions belong to the process that runs the test: a child tells by its exit code. */
static int in_child(int (*work)(void))
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(30); /* a lock that nobody holds any more would be waited for without end */
        _exit(work());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the child died of signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static assay_problem hit, miss;

static bool answers(const assay_problem *problem, const char *want)
{
    assay_route route;

    assay_question_init(problem, &question);
    return assay_pick(context, &question, &route) == ASSAY_OK &&
           strcmp(route_text(&route), want) == 0;
}

static int use_context(void)
{
    if (!answers(&hit, "tiled 16"))
        return 1;
    if (!answers(&miss, "gemm 2 default") || !answers(&miss, "gemm 2 default"))
        return 2;
    if (assay_explain(context, &question, &why) != ASSAY_OK || why->candidate_count == 0)
        return 3;
    assay_explanation_destroy(&why);
    if (assay_reload(context) != ASSAY_INVALID || strstr(assay_last_error(), "fork") == NULL)
        return 4;
    if (!answers(&hit, "tiled 16"))
        return 5;
    assay_close(&context);
    return fake.closed == 0 ? 0 : 6; /* the parent's connection is not the child's to close */
}

static void start(void)
{
    ask(shapes[1]);
    miss = question.problem;
    ask(PROBLEM);
    hit = question.problem;
    ck_assert_str_eq(picked(), "tiled 16");
    fake.closed = 0;
}

START_TEST(fork_child_picks_and_does_not_reload)
{
    start();
    ck_assert_int_eq(in_child(use_context), 0);
    /* The parent has lost nothing. */
    ck_assert_int_eq(assay_reload(context), ASSAY_OK);
    ck_assert_str_eq(picked(), "tiled 16");
    assay_close(&context);
    ck_assert_int_eq(fake.closed, 1);
}
END_TEST

static atomic_bool is_over;
static atomic_int ready;

static void *hit_on(void *cookie)
{
    assay_question q;
    assay_route route;

    (void)cookie;
    assay_question_init(&hit, &q);
    if (assay_pick(context, &q, &route) != ASSAY_OK)
        return NULL;
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&is_over))
        if (assay_pick(context, &q, &route) != ASSAY_OK)
            return NULL;
    return &ready;
}

/* Hits take no lock, so that they may go on meanwhile. */
START_TEST(fork_while_other_threads_hit)
{
    pthread_t threads[2];
    void *ended = NULL;

    start();
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hit_on, NULL), 0);
    while (atomic_load(&ready) < 2)
        usleep(1000);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(in_child(use_context), 0);
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &ended), 0);
        ck_assert_ptr_eq(ended, &ready);
    }
}
END_TEST

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

/* A handler may interrupt any call, also where it does not restart what it interrupted. */
START_TEST(signals_interrupt_nothing)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

    start();
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; signals < 50; i++) {
        ck_assert_int_eq(assay_reload(context), ASSAY_OK);
        ck_assert(answers(&hit, "tiled 16"));
        miss.params[1].i = 100 + i;
        ck_assert(answers(&miss, "gemm 2 default"));
    }
    ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}
END_TEST

static void fill(TCase *subject)
{
    tcase_add_test(subject, fork_child_picks_and_does_not_reload);
    tcase_add_test(subject, fork_while_other_threads_hit);
    tcase_add_test(subject, signals_interrupt_nothing);
}

int main(void)
{
    return stage_run("pick_fork", fill);
}

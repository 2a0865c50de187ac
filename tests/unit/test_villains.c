/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_villains.c -- each villain has its fault, and no other: tests of the sweep that
 * rely on them would pass for nothing otherwise. */
#include <check.h>
#include <dlfcn.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/pick_internal.h"
#include "tests/support/plugin_case.h"

#define MATMUL "m=12,n=33,k=40"
#define ADD    "n=396"

static const assay_manifest *villains;
static plugin_case c, honest;

static void setup(void)
{
    villains = plugin_load("tests/plugins/assay_villains.so");
}

static void fill(plugin_case *p)
{
    plugin_case_fill(p, 0, 1, 1.0);
    plugin_case_fill(p, 1, 2, 1.0);
    plugin_case_poison(p);
}

static const assay_kernel_desc *kernel(assay_op_id op, const char *name)
{
    const assay_kernel_desc *k = plugin_kernel(villains, op, ASSAY_F32, name);

    ck_assert_msg(k != NULL, "no %s", name);
    return k;
}

/* Makes `c` and, by v_honest, `honest`. */
static void begin(assay_op_id op, const char *params, size_t skew)
{
    plugin_case_init(&c, op, ASSAY_F32, params, skew);
    plugin_case_init(&honest, op, ASSAY_F32, params, 0);
    fill(&c);
    fill(&honest);
    ck_assert_int_eq(plugin_case_run(&honest, kernel(op, "v_honest"), NULL), ASSAY_OK);
}

static void end(void)
{
    plugin_case_clear(&c);
    plugin_case_clear(&honest);
}

static double difference(int64_t i)
{
    return fabs(plugin_case_get(&c, 2, i) - plugin_case_get(&honest, 2, i));
}

/* Elements of c that are not the honest ones, but for rounding. */
static int64_t wrong_elements(void)
{
    int64_t wrong = 0;

    for (int64_t i = 0; i < c.elements; i++)
        wrong += !(difference(i) <= 1e-4);
    return wrong;
}

static int64_t run(const char *name)
{
    const assay_kernel_desc *k = kernel((assay_op_id)c.problem.op, name);

    plugin_case_poison(&c);
    ck_assert_int_eq(plugin_case_run(&c, k, NULL), ASSAY_OK);
    return wrong_elements();
}

static void begin_op(int op)
{
    begin(op == 0 ? ASSAY_OP_matmul : ASSAY_OP_add, op == 0 ? MATMUL : ADD, 0);
}

START_TEST(villain_honest_agrees_with_the_oracle)
{
    assay_wide w;

    begin_op(_i);
    plugin_case_wide(&honest, plugin_oracle(plugin_load("ref"), (assay_op_id)honest.problem.op), 1,
                     &w);
    for (int64_t i = 0; i < honest.elements; i++)
        ck_assert(fabs(plugin_case_get(&honest, 2, i) - w.hi[i]) <= 1e-5 * (fabs(w.hi[i]) + 1.0));
    plugin_wide_clear(&w);
    end();
}
END_TEST

START_TEST(villain_tail_loses_products)
{
    static const char *const wrong[] = {"m=3,n=5,k=384", "m=3,n=5,k=37", "m=3,n=5,k=7"};
    static const char *const right[] = {"m=3,n=5,k=512", "m=3,n=5,k=16", "m=3,n=5,k=0"};

    for (size_t i = 0; i < 3; i++) {
        begin(ASSAY_OP_matmul, wrong[i], 0);
        ck_assert_msg(run("v_tail") == c.elements, "%s", wrong[i]);
        end();
        begin(ASSAY_OP_matmul, right[i], 0);
        ck_assert_msg(run("v_tail") == 0, "%s", right[i]);
        end();
    }
}
END_TEST

START_TEST(villain_twin_differs_in_bits_only)
{
    begin(ASSAY_OP_matmul, MATMUL, 0);
    ck_assert_int_eq(run("v_twin"), 0);
    ck_assert(memcmp(c.memory[2], honest.memory[2], (size_t)c.elements * sizeof(float)) != 0);
    end();
}
END_TEST

/* Right by any number of threads, the same bits again by the same number, others by another. */
START_TEST(villain_threads_differs_in_bits_by_threads)
{
    const assay_kernel_desc *k = kernel(ASSAY_OP_matmul, "v_threads");
    float first[3][396];

    begin(ASSAY_OP_matmul, "m=12,n=33,k=300", 0);
    ck_assert_int_eq(c.elements, 396);
    ck_assert_int_eq(k->claims.stability, ASSAY_STABILITY_MACHINE);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < 3; i++) {
            plugin_case_poison(&c);
            ck_assert_int_eq(plugin_case_run(&c, k, &k->tunables[0].values[i]), ASSAY_OK);
            ck_assert_int_eq(wrong_elements(), 0);
            if (again == 0)
                memcpy(first[i], c.memory[2], sizeof first[i]);
            ck_assert_int_eq(memcmp(first[i], c.memory[2], sizeof first[i]), 0);
        }
    ck_assert_int_ne(memcmp(first[0], first[1], sizeof first[0]), 0);
    ck_assert_int_ne(memcmp(first[1], first[2], sizeof first[0]), 0);
    end();
}
END_TEST

START_TEST(villain_nan_and_one_spoil_one_element)
{
    int64_t spoiled = 0;

    begin_op(_i);
    ck_assert_int_eq(run("v_nan"), 1);
    for (int64_t i = 0; i < c.elements; i++)
        spoiled += isnan(plugin_case_get(&c, 2, i));
    ck_assert_int_eq(spoiled, 1);
    ck_assert_int_eq(run("v_one"), 1);
    for (int64_t i = 0; i < c.elements; i++)
        if (difference(i) > 1.0)
            ck_assert_double_eq_tol(difference(i), 9.0, 1e-3);
    end();
}
END_TEST

/* The holes keep what was there, even where that is right. */
START_TEST(villain_unwritten_leaves_a_hundredth)
{
    begin_op(_i);
    ck_assert_int_eq(run("v_unwritten"), (c.elements + 99) / 100);
    memcpy(c.memory[2], honest.memory[2], (size_t)c.elements * sizeof(float));
    ck_assert_int_eq(plugin_case_run(&c, kernel((assay_op_id)c.problem.op, "v_unwritten"), NULL),
                     ASSAY_OK);
    ck_assert_int_eq(wrong_elements(), 0);
    end();
}
END_TEST

START_TEST(villain_align_needs_64)
{
    static const char *const names[] = {"v_align", "v_align_lies"};
    static const unsigned says[] = {64, 0};

    for (size_t i = 0; i < 2; i++) {
        begin_op(_i);
        ck_assert_uint_eq(kernel((assay_op_id)c.problem.op, names[i])->caps[0].align_bytes,
                          says[i]);
        ck_assert_int_eq(run(names[i]), 0);
        end();
        begin(_i == 0 ? ASSAY_OP_matmul : ASSAY_OP_add, _i == 0 ? MATMUL : ADD, 16);
        ck_assert_int_gt(run(names[i]), 0);
        end();
    }
}
END_TEST

/* A route of v_align that is kept, and run with other operands than it was picked for. */
static void align_route(assay_context *context, assay_route *out)
{
    const assay_snapshot *rows = NULL;
    const assay__interned *variant = NULL;

    ck_assert_int_eq(assay_table_hold(assay_context_table(context), &rows), ASSAY_OK);
    for (size_t i = 0; i < assay_snapshot_size(rows); i++) {
        const assay_binding *row = assay_snapshot_at(rows, i);
        if (row->op == c.problem.op && strcmp(row->desc->name, "v_align") == 0)
            ck_assert_int_eq(
                assay__intern(context, row, (int64_t[ASSAY_MAX_TUNABLES]){0}, &variant), ASSAY_OK);
    }
    ck_assert_ptr_nonnull(variant);
    *out = (assay_route){.binding = &variant->binding, .tunables = variant->tunables};
    assay_snapshot_release(&rows);
}

static void refused(assay_context *context, const assay_route *route, const assay_tensor *operands,
                    const char *says)
{
    char why[64];

    plugin_case_poison(&c);
    ck_assert_int_eq(assay_run(context, route, &c.problem, operands, 3), ASSAY_INVALID);
    snprintf(why, sizeof why, "kernel v_align: %s", says);
    ck_assert_msg(strstr(assay_last_error(), why) != NULL, "%s", assay_last_error());
    for (int64_t i = 0; i < c.elements; i++)
        ck_assert(isnan(plugin_case_get(&c, 2, i)));
}

/* 4 bytes, 16 and 32 beyond a multiple of 64, by the pointer and by the offset; rows apart, odd
 * strides: refused with the reason before anything is written. As it was measured, it runs. */
START_TEST(villain_align_is_kept_from_other_operands)
{
    static const uint64_t offsets[] = {4, 16, 32, 60};
    char path[512];
    const char *build = getenv("ASSAY_BUILD");
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};
    assay_context *context = NULL;
    assay_route route;

    snprintf(path, sizeof path, "%s/tests/plugins", build != NULL ? build : "build");
    ck_assert_int_eq(assay_open(NULL, &options, &context), ASSAY_OK);
    begin(ASSAY_OP_matmul, MATMUL, 0);
    align_route(context, &route);
    for (size_t i = 0; i < 3; i++) {
        const int64_t rows = c.operands[i].dims[1], cols = c.operands[i].dims[2];
        float *room = NULL;
        assay_tensor other[3];
        memcpy(other, c.operands, sizeof other);
        ck_assert_int_eq(posix_memalign((void **)&room, 64, 4096 + (size_t)(rows * cols) * 16), 0);
        other[i].buffer.at.host = room;
        for (size_t o = 0; o < 4; o++) {
            char says[64];
            other[i].byte_offset = offsets[o];
            snprintf(says, sizeof says, "operand %zu: aligned to", i);
            refused(context, &route, other, says);
            other[i].byte_offset = 0;
            other[i].buffer.at.host = (char *)room + offsets[o];
            refused(context, &route, other, says);
            other[i].buffer.at.host = room;
        }
        other[i].strides[1] = cols + 7; /* 28 bytes more a row */
        refused(context, &route, other, "operand ");
        other[i].strides[1] = 2 * cols + 1;
        other[i].strides[2] = 2;
        refused(context, &route, other, "operand ");
        free(room);
    }
    ck_assert_int_eq(assay_run(context, &route, &c.problem, c.operands, 3), ASSAY_OK);
    ck_assert_int_eq(wrong_elements(), 0);
    end();
    assay_close(&context);
}
END_TEST

START_TEST(villain_late_turns_after_four_calls)
{
    begin_op(_i);
    for (int call = 1; call <= 12; call++)
        ck_assert_int_eq(run("v_late"), call <= 4 ? 0 : 1);
    end();
}
END_TEST

START_TEST(villain_flaky_errs_in_every_16th_call)
{
    begin(ASSAY_OP_add, ADD, 0);
    for (int call = 1; call <= 40; call++)
        ck_assert_int_eq(run("v_flaky"), call % 16 == 0 ? 1 : 0);
    end();
}
END_TEST

START_TEST(villain_scribble_and_oob_write_elsewhere)
{
    float past = -5.0f, seen;

    begin_op(_i);
    double before = plugin_case_get(&c, 0, 0);
    ck_assert_int_eq(run("v_scribble"), 0);
    ck_assert_double_ne(plugin_case_get(&c, 0, 0), before);
    plugin_case_set(&c, 0, 0, before);
    /* Room behind the output, so that the write can be seen. */
    size_t bytes = (size_t)c.elements * sizeof(float);
    char *room = malloc(bytes + sizeof past);
    ck_assert_ptr_nonnull(room);
    memcpy(room + bytes, &past, sizeof past);
    c.operands[2].buffer.at.host = room;
    ck_assert_int_eq(run("v_oob"), 0);
    memcpy(&seen, room + bytes, sizeof seen);
    ck_assert_float_ne(seen, past);
    free(room);
    end();
}
END_TEST

START_TEST(villain_fails_with_its_status)
{
    begin_op(_i);
    ck_assert_int_eq(plugin_case_run(&c, kernel((assay_op_id)c.problem.op, "v_fails"), NULL),
                     ASSAY_DEVICE);
    end();
}
END_TEST

START_TEST(villain_returns_what_it_should_not)
{
    static const struct {
        const char *name;
        int status;
    } returned[] = {{"v_refuses", ASSAY_INVALID}, {"v_foreign", 4711}, {"v_stops", 42}};

    begin_op(_i);
    for (size_t i = 0; i < sizeof returned / sizeof *returned; i++)
        ck_assert_int_eq(
            (int)plugin_case_run(&c, kernel((assay_op_id)c.problem.op, returned[i].name), NULL),
            returned[i].status);
    end();
}
END_TEST

/* In a process of its own: what is open here is not to be written to. */
START_TEST(villain_babbles_into_what_is_open)
{
    int ends[2], status = 0;
    char seen[16] = "";

    begin_op(_i);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int fd = 3; fd < 1024; fd++)
            if (fd != ends[1])
                close(fd);
        if (dup2(ends[1], 40) != 40)
            _exit(2);
        (void)plugin_case_run(&c, kernel((assay_op_id)c.problem.op, "v_babbles"), NULL);
        _exit(wrong_elements() == 0 ? 0 : 1);
    }
    close(ends[1]);
    ck_assert_int_gt(read(ends[0], seen, 9), 0);
    ck_assert_mem_eq(seen, "v_babbles", 9);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(ends[0]);
    end();
}
END_TEST

/* How a process that runs it ends, however long a sanitizer writes about it; -1: must_end is false
 * and it still runs after 0.3 s. */
static int end_of(const char *name, bool must_end)
{
    int status = -1;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        (void)plugin_case_run(&c, kernel((assay_op_id)c.problem.op, name), NULL);
        _exit(77);
    }
    for (int i = 0; i < 30 || must_end; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status;
        usleep(10000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

START_TEST(villain_ends_its_process_or_never)
{
    begin_op(_i);
    int segv = end_of("v_segv", true), aborted = end_of("v_abort", true),
        left = end_of("v_exit", true);
    /* A sanitizer turns the fault into an exit of its own. */
    ck_assert(segv > 0 &&
              (WIFSIGNALED(segv) ? WTERMSIG(segv) == SIGSEGV : WEXITSTATUS(segv) != 77));
    ck_assert(aborted > 0 && (!WIFEXITED(aborted) || WEXITSTATUS(aborted) != 77));
    ck_assert(WIFEXITED(left) && WEXITSTATUS(left) == 0);
    ck_assert_int_eq(end_of("v_hang", false), -1);
    end();
}
END_TEST

/* In a process of its own, what is written there unseen: the status of the last of `calls`, or how
 * it ended as of waitpid, negative. */
static int after_calls(const char *const *names, size_t calls)
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        assay_status last = ASSAY_OK;
        const assay_backend *b = villains->backend;
        assay_instance *instance = NULL;
        (void)!freopen("/dev/null", "w", stderr);
        if (b->open(NULL, &instance) != ASSAY_OK)
            _exit(99);
        for (size_t i = 0; i < calls; i++) {
            const assay_launch launch = {.struct_size = sizeof launch,
                                         .operand_count = 3,
                                         .problem = &c.problem,
                                         .operands = c.operands,
                                         .instance = instance};
            last = b->launch(instance, kernel((assay_op_id)c.problem.op, names[i])->run, &launch);
        }
        _exit((int)last);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

/* An error shows one call late, whoever is called; or only once it is another. */
START_TEST(villain_chatty_shows_one_call_late)
{
    static const char *const err[] = {"v_chatty_err", "v_chatty_err", "v_honest"};
    static const char *const to_others[] = {"v_chatty_err", "v_honest", "v_honest"};
    static const char *const late[] = {"v_chatty_late", "v_chatty_late", "v_honest", "v_honest"};

    begin_op(_i);
    ck_assert_int_eq(after_calls(err, 1), ASSAY_OK);
    ck_assert_int_eq(after_calls(err, 2), ASSAY_DEVICE);
    ck_assert_int_eq(after_calls(to_others, 2), ASSAY_DEVICE);
    ck_assert_int_eq(after_calls(to_others, 3), ASSAY_OK);
    ck_assert_int_eq(after_calls(late, 2), ASSAY_OK);
    ck_assert_int_eq(after_calls(late, 3), ASSAY_DEVICE);
    ck_assert_int_eq(after_calls(late, 4), ASSAY_OK);
    ck_assert_int_eq(run("v_chatty_err"), 0);
    ck_assert_int_eq(run("v_chatty_late"), 0);
    end();
}
END_TEST

START_TEST(villain_lost_loses_the_device_for_all)
{
    static const char *const lost[] = {"v_honest", "v_lost", "v_honest", "v_twin"};

    begin_op(_i);
    ck_assert_int_eq(after_calls(lost, 1), ASSAY_OK);
    for (size_t calls = 2; calls <= 4; calls++)
        ck_assert_int_eq(after_calls(lost, calls), ASSAY_DEVICE);
    end();
}
END_TEST

START_TEST(villain_rounds_leaves_rounding_behind)
{
    const int before = fegetround();

    begin_op(_i);
    ck_assert_int_eq(run("v_rounds"), 0);
    const int after = fegetround();
    ck_assert_int_eq(fesetround(before), 0);
    ck_assert_int_eq(after, FE_TOWARDZERO);
    ck_assert_int_ne(after, before);
    end();
}
END_TEST

static int next_fd(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

/* In a process that nobody looks for leaks in. */
START_TEST(villain_leak_keeps_a_descriptor_of_each_call)
{
    int status = 0;

    begin_op(_i);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        const assay_kernel_desc *k = kernel((assay_op_id)c.problem.op, "v_leak");
        const int before = next_fd();
        int64_t wrong = 0;
        for (int i = 0; i < 5; i++) {
            plugin_case_poison(&c);
            wrong += plugin_case_run(&c, k, NULL) != ASSAY_OK || wrong_elements() != 0;
        }
        _exit(wrong == 0 && next_fd() - before == 5 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    end();
}
END_TEST

/* Work, not time: passes over the operands in calls 1 to 6. */
START_TEST(villain_times_mislead)
{
    static const struct {
        const char *name;
        int64_t passes[6];
    } work[] = {{"v_coldfast", {1, 5, 5, 5, 5, 5}},
                {"v_coldslow", {10, 1, 1, 1, 1, 1}},
                {"v_bimodal", {1, 2, 1, 2, 1, 2}}};
    char path[512];
    const char *build = getenv("ASSAY_BUILD");

    snprintf(path, sizeof path, "%s/tests/plugins/assay_villains.so",
             build != NULL ? build : "build");
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    const int64_t *passes = handle != NULL ? dlsym(handle, "assay_plugin_passes") : NULL;
    ck_assert_ptr_nonnull(passes);
    begin(ASSAY_OP_add, ADD, 0);
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        for (int call = 0; call < 6; call++) {
            const int64_t before = *passes;
            ck_assert_int_eq(run(work[i].name), 0);
            ck_assert_msg(*passes - before == work[i].passes[call], "%s: call %d", work[i].name,
                          call + 1);
        }
    end();
    dlclose(handle);
}
END_TEST

/* Within bounds that the worker sets: as it does not end well, so here. */
START_TEST(villain_takes_all_that_there_is)
{
    static const char *const bomb[] = {"v_bomb"}, *const overflow[] = {"v_overflow"};
    const struct rlimit no_core = {0, 0};

    begin_op(_i);
    setrlimit(RLIMIT_CORE, &no_core);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    struct rlimit before, data;
    ck_assert_int_eq(getrlimit(RLIMIT_DATA, &before), 0);
    data = before;
    data.rlim_cur = (rlim_t)256 << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &data), 0);
    ck_assert_int_eq(after_calls(bomb, 1), ASSAY_NOMEM);
    ck_assert_int_eq(setrlimit(RLIMIT_DATA, &before), 0);
    const int ended = after_calls(overflow, 1);
    ck_assert_msg(ended < 0 && WTERMSIG(-ended) == SIGSEGV, "%d", ended);
#else
    (void)bomb;
    (void)overflow;
#endif
    ck_assert_int_eq(end_of("v_flood", false), -1);
    ck_assert_int_eq(end_of("v_mute", false), -1);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("villains");
    TCase *tcase = tcase_create("villain");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, villain_honest_agrees_with_the_oracle, 0, 2);
    tcase_add_test(tcase, villain_tail_loses_products);
    tcase_add_test(tcase, villain_twin_differs_in_bits_only);
    tcase_add_test(tcase, villain_threads_differs_in_bits_by_threads);
    tcase_add_loop_test(tcase, villain_nan_and_one_spoil_one_element, 0, 2);
    tcase_add_loop_test(tcase, villain_unwritten_leaves_a_hundredth, 0, 2);
    tcase_add_loop_test(tcase, villain_align_needs_64, 0, 2);
    tcase_add_test(tcase, villain_align_is_kept_from_other_operands);
    tcase_add_loop_test(tcase, villain_late_turns_after_four_calls, 0, 2);
    tcase_add_test(tcase, villain_flaky_errs_in_every_16th_call);
    tcase_add_loop_test(tcase, villain_scribble_and_oob_write_elsewhere, 0, 2);
    tcase_add_loop_test(tcase, villain_fails_with_its_status, 0, 2);
    tcase_add_loop_test(tcase, villain_returns_what_it_should_not, 0, 2);
    tcase_add_loop_test(tcase, villain_babbles_into_what_is_open, 0, 2);
    tcase_add_loop_test(tcase, villain_ends_its_process_or_never, 0, 2);
    tcase_add_loop_test(tcase, villain_chatty_shows_one_call_late, 0, 2);
    tcase_add_loop_test(tcase, villain_lost_loses_the_device_for_all, 0, 2);
    tcase_add_loop_test(tcase, villain_rounds_leaves_rounding_behind, 0, 2);
    tcase_add_loop_test(tcase, villain_leak_keeps_a_descriptor_of_each_call, 0, 2);
    tcase_add_test(tcase, villain_times_mislead);
    tcase_add_loop_test(tcase, villain_takes_all_that_there_is, 0, 2);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

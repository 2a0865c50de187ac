/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_engine.c -- what a typed call costs beyond its kernel, and what transfers reach.
 *
 * The peer of a typed call is the picked kernel through its own pointer, with its launch made
 * beforehand: the difference of the two, taken in turns, is what checking, picking and launching
 * cost.  The peer of a transfer is memcpy of the same bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assay/compute.h"
#include "bench/bench_print.h"

enum { ROUNDS = 401, CALLS = 400, SMALL = 16 };

#define MUST(expr)                                                     \
    do {                                                               \
        if ((expr) != ASSAY_OK) {                                      \
            fprintf(stderr, "bench_engine: %s\n", assay_last_error()); \
            exit(EXIT_FAILURE);                                        \
        }                                                              \
    } while (0)

static double now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ---- typed calls ---- */

static double data[3][SMALL];

typedef struct side {
    assay_engine *engine;
    assay_call call;
    assay_place places[3];
    assay_kernel_fn run;
    assay_launch launch;
} side;

static double typed_ns(side *s)
{
    const double begin = now_ns();

    for (int i = 0; i < CALLS; i++)
        MUST(assay_binary(s->engine, ASSAY_BINARY_ADD, ASSAY_F64, s->places[0], s->places[1],
                          s->places[2], SMALL, &s->call));
    return (now_ns() - begin) / CALLS;
}

static double direct_ns(const side *s)
{
    const double begin = now_ns();

    for (int i = 0; i < CALLS; i++)
        MUST(s->run(&s->launch));
    return (now_ns() - begin) / CALLS;
}

/* In turns, so that both see the same machine; the median of the differences. */
static void print_overhead(side *s, const char *what, const char *goal, double limit)
{
    static double over[ROUNDS], direct[ROUNDS];

    (void)typed_ns(s);
    for (int i = 0; i < ROUNDS; i++) {
        direct[i] = direct_ns(s);
        over[i] = typed_ns(s) - direct[i];
    }
    const bench_figure f = bench_median(over, ROUNDS);
    bench_print(what, f, "ns", "the kernel's own pointer", bench_median(direct, ROUNDS).value, goal,
                f.value <= limit);
}

static void bench_calls(assay_context *context, assay_engine *engine)
{
    const int64_t n = SMALL;
    assay_call_site site = {.workspace = NULL};
    assay_tensor operands[3];
    assay_problem problem;
    assay_question question;
    assay_route route;
    side s = {.engine = engine, .call = {.struct_size = sizeof s.call, .site = &site}};

    MUST(assay_problem_init(ASSAY_OP_add, ASSAY_F64, &problem));
    MUST(assay_problem_set_int(&problem, "n", n));
    for (int i = 0; i < 3; i++) {
        MUST(assay_tensor_host(data[i], ASSAY_F64, 1, &n, NULL, &operands[i]));
        s.places[i].buffer = operands[i].buffer;
    }
    assay_question_init(&problem, &question);
    question.backends = "cpu";
    MUST(assay_pick(context, &question, &route));
    s.run = route.binding->run;
    s.launch = (assay_launch){.struct_size = sizeof s.launch,
                              .operand_count = 3,
                              .problem = &problem,
                              .operands = operands,
                              .tunables = route.tunables};
    print_overhead(&s, "engine: typed call with a call site beyond its kernel", "<= 150", 150);
    for (int i = 0; i < 3; i++)
        MUST(assay_engine_wrap(engine, data[i], sizeof data[i], &s.places[i].buffer));
    print_overhead(&s, "engine: the same over the engine's buffers", "", 0);
    s.call.site = NULL;
    print_overhead(&s, "engine: the same without a call site", "", 0);
    assay_call_site_clear(&site);
}

/* ---- transfers ---- */

/* Of few bytes the call itself shows: told for information. */
static void bench_transfers(assay_engine *engine, size_t bytes, const char *size, bool is_goal)
{
    static double up[ROUNDS], down[ROUNDS], plain[ROUNDS];
    const int rounds = bytes > 1u << 22 ? 41 : ROUNDS;
    char *host = aligned_alloc(64, bytes), *other = aligned_alloc(64, bytes), name[96];
    assay_buffer buffer;

    MUST(assay_engine_alloc(engine, bytes, 64, &buffer));
    if (host == NULL || other == NULL)
        exit(EXIT_FAILURE);
    memset(host, 1, bytes);
    memset(other, 1, bytes);
    for (int i = 0; i < rounds; i++) {
        double begin = now_ns();
        MUST(assay_engine_upload(engine, buffer, host, bytes));
        up[i] = now_ns() - begin;
        begin = now_ns();
        MUST(assay_engine_download(engine, host, buffer, bytes));
        down[i] = now_ns() - begin;
        begin = now_ns();
        memcpy(other, host, bytes);
        plain[i] = now_ns() - begin;
        __asm__ volatile("" ::"r"(other) : "memory");
    }
    for (int i = 0; i < rounds; i++) { /* before they are sorted */
        up[i] = plain[i] / up[i];
        down[i] = plain[i] / down[i];
    }
    const double peer = bench_median(plain, (size_t)rounds).value;
    for (int way = 0; way < 2; way++) {
        const bench_figure f = bench_median(way == 0 ? up : down, (size_t)rounds);
        snprintf(name, sizeof name, "engine: %s of %s over memcpy",
                 way == 0 ? "upload" : "download", size);
        bench_print(name, f, "x", "memcpy in ns", peer, is_goal ? ">= 0.9" : "", f.value >= 0.9);
    }
    MUST(assay_engine_free(engine, buffer));
    free(host);
    free(other);
}

int main(void)
{
    assay_context *context = NULL;
    assay_engine *engine = NULL;

    MUST(assay_open(NULL, NULL, &context));
    MUST(assay_engine_create(context, "cpu", NULL, &engine));
    MUST(assay_engine_init(engine, 0));
    bench_calls(context, engine);
    bench_transfers(engine, 1u << 16, "64 KiB", false);
    bench_transfers(engine, 1u << 18, "256 KiB", true);
    bench_transfers(engine, 1u << 26, "64 MiB", true);
    assay_engine_destroy(&engine);
    assay_close(&context);
    return EXIT_SUCCESS;
}

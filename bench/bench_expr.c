/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_expr.c -- ns per evaluation and per compilation of expressions.
 *
 * Medians of 21 rounds. Goal: 16 nodes in 25 ns. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench_print.h"
#include "runtime/expr.h"

#define ROUNDS 21
#define CALLS  100000

static const char *const texts[] = {
    "2*batch*m*n*k",
    "5*m*n",
    "m % 8 == 0 and n % 16 == 0",
    "batch*(m*k*dtype_bytes(0) + k*n*dtype_bytes(1) + m*n*8)",
    "batch*(m*k*dtype_bytes(0) + k*n*dtype_bytes(1) + m*n*dtype_bytes(2)*(beta == 0 ? 1 : 2))",
    "min(m, 64)*min(n, 64)*4 <= 32768 and k >= 8 and m // 4 > 2",
    "log2(m) + sqrt(n)",
    "2*batch*m*n*k + abs(m - n)*dtype_bytes(0)",
};
/* operands and operators */
static const int nodes[] = {9, 5, 11, 19, 26, 21, 5, 16};

static int resolve(const void *context, const char *name)
{
    static const char letters[] = "bmnk";

    (void)context;
    if (name[0] == 'b' && name[1] == 'e')
        return 4;
    for (int i = 0; i < 4; i++)
        if (letters[i] == name[0])
            return i;
    return -1;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The inputs change each call, so that nothing can be moved out of the loop. */
static double eval_round(const assay__expr *e)
{
    static const double bytes[] = {4, 4, 4};
    double slots[] = {1, 512, 512, 512, 0}, sum = 0, value = 0;
    double start = now_ns();

    for (int i = 0; i < CALLS; i++) {
        slots[1] = 512 + (i & 7);
        if (assay__expr_eval(e, slots, bytes, &value))
            sum += value;
    }
    double end = now_ns();
    return sum > 0 ? (end - start) / CALLS : -1;
}

static double compile_round(const char *text, const assay__expr_scope *scope)
{
    assay__expr e;
    double start = now_ns();

    for (int i = 0; i < CALLS / 100; i++)
        if (assay__expr_compile(text, scope, &e) != ASSAY_OK)
            return -1;
    return (now_ns() - start) / (CALLS / 100);
}

/* Only the row of 16 nodes has a goal. */
static assay_status bench(size_t t, const assay__expr_scope *scope)
{
    double eval[ROUNDS], compile[ROUNDS];
    assay__expr e;

    ASSAY_TRY(assay__expr_compile(texts[t], scope, &e));
    for (int r = 0; r < ROUNDS; r++) {
        eval[r] = eval_round(&e);
        compile[r] = compile_round(texts[t], scope);
    }
    char what[80];
    bench_figure value = bench_median(eval, ROUNDS);
    snprintf(what, sizeof what, "expression %zu: value of %d nodes", t, nodes[t]);
    bench_print(what, value, "ns", NULL, 0, nodes[t] == 16 ? "<= 25" : "", value.value <= 25);
    snprintf(what, sizeof what, "expression %zu: least of the rounds", t);
    bench_print(what, bench_least(eval, ROUNDS), "ns", NULL, 0, "", 0);
    snprintf(what, sizeof what, "expression %zu: compiling", t);
    bench_print(what, bench_median(compile, ROUNDS), "ns", NULL, 0, "", 0);
    return ASSAY_OK;
}

int main(void)
{
    const assay__expr_scope scope = {resolve, NULL, 3, NULL};

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (bench(t, &scope) != ASSAY_OK) {
            fprintf(stderr, "%s\n", assay_last_error());
            return EXIT_FAILURE;
        }
    return EXIT_SUCCESS;
}

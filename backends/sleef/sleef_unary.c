/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_unary.c -- elementwise functions of SLEEF over threads. */
#include <math.h>

#include "backends/sleef/sleef_calls.h"
#include "backends/thread_choice.h"
#include "runtime/host_team.h"
#include "runtime/op_params.h"

/* UNIT: a multiple of every vector length and cache line. */
enum { UNIT = 4096, SHARES = 4 };

/* SLEEF 3.5.1 makes exp of f64 infinite from here on; it overflows 1.7e-6 later. */
#define EXP_DOUBTFUL 709.7827

typedef struct work {
    sleef_map map;
    sleef_step step;
    const char *x;
    char *y;
    int64_t n, bytes, parts;
} work;

static void part_of(void *cookie, int64_t part)
{
    const work *w = cookie;
    int64_t units = (w->n + UNIT - 1) / UNIT;
    int64_t from = units * part / w->parts * UNIT, to = units * (part + 1) / w->parts * UNIT;

    to = to < w->n ? to : w->n;
    w->map(&w->step, w->x + from * w->bytes, w->y + from * w->bytes, to - from);
}

static assay_status run(const assay_launch *launch, const sleef_function *f, double doubtful,
                        double (*exact)(double), int64_t n)
{
    bool wide = launch->tunables != NULL && launch->tunables[SLEEF_BITS] == 512;
    bool is_f64 = launch->operands[0].dtype == ASSAY_F64;
    int threads = launch->tunables != NULL ? (int)launch->tunables[SLEEF_THREADS] : 1;
    int64_t units = (n + UNIT - 1) / UNIT;
    work w = {.step = {is_f64 ? f->f64[wide] : f->f32[wide], doubtful, exact},
              .x = assay_tensor_data(&launch->operands[0]),
              .y = assay_tensor_data(&launch->operands[1]),
              .n = n,
              .bytes = is_f64 ? 8 : 4,
              .parts = threads > 1 ? (int64_t)threads * SHARES : 1};

    if (is_f64)
        w.map = wide ? sleef_map_f64_avx512 : sleef_map_f64_avx2;
    else
        w.map = wide ? sleef_map_f32_avx512 : sleef_map_f32_avx2;
    w.parts = w.parts < units ? w.parts : units;
    assay__host_team_run(threads, w.parts, part_of, &w);
    return ASSAY_OK;
}

assay_status sleef_exp(const assay_launch *launch)
{
    const char *why;
    const sleef_library *library = sleef_open(&why);

    if (library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "SLEEF: %s", why);
    return run(launch, &library->exp, EXP_DOUBTFUL, exp, ASSAY__INT(launch->problem, exp, n));
}

bool sleef_usable(const assay_problem *problem, const int64_t *tunables)
{
    (void)problem;
    if (tunables == NULL)
        return true;
    return threads_usable(tunables[SLEEF_THREADS]) &&
           (tunables[SLEEF_BITS] == 256 || __builtin_cpu_supports("avx512f"));
}

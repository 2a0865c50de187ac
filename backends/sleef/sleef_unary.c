/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/sleef/sleef_unary.c -- elementwise functions of SLEEF over threads. */
#include <math.h>
#include <stddef.h>

#include "backends/sleef/sleef_calls.h"
#include "backends/thread_choice.h"
#include "runtime/host_team.h"

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

/* Which function of the library an op is, or is made of. */
typedef struct unary {
    uint32_t op;
    sleef_form form;
    size_t function; /* offset in sleef_library */
    double doubtful;
    double (*exact)(double);
} unary;

static const unary unaries[] = {
    {ASSAY_OP_exp, SLEEF_PLAIN, offsetof(sleef_library, exp), EXP_DOUBTFUL, exp},
    {ASSAY_OP_log, SLEEF_PLAIN, offsetof(sleef_library, log), INFINITY, NULL},
    {ASSAY_OP_tanh, SLEEF_PLAIN, offsetof(sleef_library, tanh), INFINITY, NULL},
    {ASSAY_OP_sigmoid, SLEEF_SIGMOID, offsetof(sleef_library, exp), 0.0, NULL},
    {ASSAY_OP_silu, SLEEF_SILU, offsetof(sleef_library, exp), 0.0, NULL},
    {ASSAY_OP_gelu, SLEEF_GELU, offsetof(sleef_library, tanh), 0.0, NULL},
    {ASSAY_OP_gelu_erf, SLEEF_GELU_ERF, offsetof(sleef_library, erf), 0.0, NULL},
    {ASSAY_OP_rsqrt, SLEEF_RSQRT, offsetof(sleef_library, sqrt), 0.0, NULL},
};

static sleef_map map_of(sleef_form form, bool is_f64, bool wide)
{
    static const sleef_map maps[2][2][2] = {
        {{sleef_map_f32_avx2, sleef_map_f32_avx512}, {sleef_map_f64_avx2, sleef_map_f64_avx512}},
        {{sleef_form_f32_avx2, sleef_form_f32_avx512},
         {sleef_form_f64_avx2, sleef_form_f64_avx512}}};

    return maps[form != SLEEF_PLAIN][is_f64][wide];
}

static void run(const assay_launch *launch, const sleef_library *library, const unary *u)
{
    const sleef_function *f = (const void *)((const char *)library + u->function);
    bool wide = launch->tunables != NULL && launch->tunables[SLEEF_BITS] == 512;
    bool is_f64 = launch->operands[0].dtype == ASSAY_F64;
    int threads = launch->tunables != NULL ? (int)launch->tunables[SLEEF_THREADS] : 1;
    int64_t n = launch->operands[0].dims[0], units = (n + UNIT - 1) / UNIT;
    work w = {.map = map_of(u->form, is_f64, wide),
              .step = {is_f64 ? f->f64[wide] : f->f32[wide], u->form, u->doubtful, u->exact},
              .x = assay_tensor_data(&launch->operands[0]),
              .y = assay_tensor_data(&launch->operands[1]),
              .n = n,
              .bytes = is_f64 ? 8 : 4,
              .parts = threads > 1 ? (int64_t)threads * SHARES : 1};

    w.parts = w.parts < units ? w.parts : units;
    assay__host_team_run(threads, w.parts, part_of, &w);
}

assay_status sleef_unary(const assay_launch *launch)
{
    const char *why;
    const sleef_library *library = sleef_open(&why);

    if (library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "SLEEF: %s", why);
    for (size_t i = 0; i < sizeof unaries / sizeof *unaries; i++)
        if (unaries[i].op == launch->problem->op) {
            run(launch, library, &unaries[i]);
            return ASSAY_OK;
        }
    return assay__host_fail(launch->instance, ASSAY_UNSUPPORTED, "SLEEF: no function of this op");
}

bool sleef_usable(const assay_problem *problem, const int64_t *tunables)
{
    (void)problem;
    if (tunables == NULL)
        return true;
    return threads_usable(tunables[SLEEF_THREADS]) &&
           (tunables[SLEEF_BITS] == 256 || __builtin_cpu_supports("avx512f"));
}

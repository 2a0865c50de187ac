/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_split.c -- elementwise and row kernels over threads. */
#include "backends/cpu/cpu.h"
#include "runtime/host_team.h"

/* UNIT: a multiple of every vector length and cache line, so that the cuts change no bit.  SHARES:
 * parts a thread, so that one that came late takes fewer. */
enum { UNIT = 4096, SHARES = 4 };

typedef struct split {
    const char *a, *b;
    char *y;
    int64_t n, unit, parts, bytes; /* bytes: of an item, an element or a row */
    int64_t cols;
    bool direct;
    union {
        cpu_binary_fn binary;
        cpu_unary_fn unary;
        cpu_rows_fn rows;
    } fn;
} split;

static bool nontemporal(const assay_launch *launch)
{
    return launch->tunables != NULL && launch->tunables[CPU_NONTEMPORAL] != 0;
}

static void run(const assay_launch *launch, split *s, assay__host_part_fn part)
{
    int threads = cpu_threads(launch);
    int64_t units = (s->n + s->unit - 1) / s->unit;

    s->parts = threads > 1 ? (int64_t)threads * SHARES : 1;
    s->parts = s->parts < units ? s->parts : units;
    s->direct = nontemporal(launch);
    assay__host_team_run(threads, s->parts, part, s);
}

static void binary_part(void *cookie, int64_t part)
{
    const split *s = cookie;
    int64_t from, to;

    cpu_part(s->n, s->unit, s->parts, part, &from, &to);
    s->fn.binary(s->a + from * s->bytes, s->b + from * s->bytes, s->y + from * s->bytes, to - from,
                 s->direct);
}

assay_status cpu_run_binary(const assay_launch *launch, cpu_binary_fn fn)
{
    split s = {.a = assay_tensor_data(&launch->operands[0]),
               .b = assay_tensor_data(&launch->operands[1]),
               .y = assay_tensor_data(&launch->operands[2]),
               .n = ASSAY__INT(launch->problem, add, n),
               .unit = UNIT,
               .bytes = (int64_t)assay_dtype_bytes(launch->operands[2].dtype),
               .fn.binary = fn};

    run(launch, &s, binary_part);
    return ASSAY_OK;
}

static void unary_part(void *cookie, int64_t part)
{
    const split *s = cookie;
    int64_t from, to;

    cpu_part(s->n, s->unit, s->parts, part, &from, &to);
    s->fn.unary(s->a + from * s->bytes, s->y + from * s->bytes, to - from, s->direct);
}

assay_status cpu_run_unary(const assay_launch *launch, cpu_unary_fn fn)
{
    split s = {.a = assay_tensor_data(&launch->operands[0]),
               .y = assay_tensor_data(&launch->operands[1]),
               .n = ASSAY__INT(launch->problem, exp, n),
               .unit = UNIT,
               .bytes = (int64_t)assay_dtype_bytes(launch->operands[1].dtype),
               .fn.unary = fn};

    run(launch, &s, unary_part);
    return ASSAY_OK;
}

static void rows_part(void *cookie, int64_t part)
{
    const split *s = cookie;
    int64_t from, to;

    cpu_part(s->n, s->unit, s->parts, part, &from, &to);
    s->fn.rows(s->a + from * s->bytes, s->y + from * s->bytes, to - from, s->cols, s->direct);
}

assay_status cpu_run_rows(const assay_launch *launch, cpu_rows_fn fn)
{
    int64_t cols = ASSAY__INT(launch->problem, softmax_last_dim, cols);
    split s = {.a = assay_tensor_data(&launch->operands[0]),
               .y = assay_tensor_data(&launch->operands[1]),
               .n = cols > 0 ? ASSAY__INT(launch->problem, softmax_last_dim, rows) : 0,
               .unit = 1,
               .bytes = cols * (int64_t)assay_dtype_bytes(launch->operands[1].dtype),
               .cols = cols,
               .fn.rows = fn};

    run(launch, &s, rows_part);
    return ASSAY_OK;
}

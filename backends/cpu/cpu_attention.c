/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention.c -- attention without special instructions.
 *
 * A query at a time, its scores BLOCK keys at a time: their largest one, e^ of what they lie below
 * it, and the weighted sum of the values, which shrinks when a larger score comes.  f64 in f64,
 * others in f32. */
#include "backends/cpu/cpu_attention.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "assay/dtype_inline.h"
#include "runtime/host_team.h"

enum { BLOCK = 64 };

typedef struct portable {
    cpu_attention g;
    bool (*row)(const cpu_attention *g, int64_t group, int64_t row);
    int64_t parts;
    atomic_bool failed; /* no memory */
} portable;

static void rows_part(void *cookie, int64_t part)
{
    portable *p = cookie;
    int64_t from, to;

    cpu_part(p->g.groups * p->g.rows, 1, p->parts, part, &from, &to);
    for (int64_t i = from; i < to; i++)
        if (!p->row(&p->g, i / p->g.rows, i % p->g.rows))
            atomic_store_explicit(&p->failed, true, memory_order_relaxed);
}

static assay_status run(const assay_launch *launch,
                        bool (*row)(const cpu_attention *g, int64_t group, int64_t row))
{
    int threads = cpu_threads(launch);
    portable p = {.row = row};

    cpu_attention_read(launch, &p.g);
    if (cpu_attention_empty(&p.g))
        return ASSAY_OK;
    p.parts = threads > 1 ? (int64_t)threads * 4 : 1;
    p.parts = p.parts < p.g.groups * p.g.rows ? p.parts : p.g.groups * p.g.rows;
    atomic_init(&p.failed, false);
    assay__host_team_run(threads, p.parts, rows_part, &p);
    return atomic_load(&p.failed) ? ASSAY_NOMEM : ASSAY_OK;
}

/* advance_<name>: keys [j0, j0 + n); sums: d of them; state: largest score, sum of weights. */
#define ATTENTION(name, type, real, widen, narrow, expo)                                          \
    static void advance_##name(const cpu_attention *g, const type *q, const type *k,              \
                               const type *v, int64_t n, real *sums, real state[2])               \
    {                                                                                             \
        real s[BLOCK], top = state[0], scale = (real)g->scale;                                    \
        for (int64_t j = 0; j < n; j++) {                                                         \
            real sum = 0;                                                                         \
            for (int64_t c = 0; c < g->d; c++)                                                    \
                sum += widen(q[c]) * widen(k[j * g->d + c]);                                      \
            s[j] = scale * sum;                                                                   \
            top = s[j] > top ? s[j] : top;                                                        \
        }                                                                                         \
        real base = top > (real)-INFINITY ? top : 0, factor = expo(state[0] - base);              \
        state[0] = top;                                                                           \
        state[1] *= factor;                                                                       \
        for (int64_t c = 0; c < g->d; c++)                                                        \
            sums[c] *= factor;                                                                    \
        for (int64_t j = 0; j < n; j++) {                                                         \
            real weight = expo(s[j] - base);                                                      \
            state[1] += weight;                                                                   \
            for (int64_t c = 0; c < g->d; c++)                                                    \
                sums[c] += weight * widen(v[j * g->d + c]);                                       \
        }                                                                                         \
    }                                                                                             \
    static bool row_##name(const cpu_attention *g, int64_t group, int64_t row)                    \
    {                                                                                             \
        int64_t seen = cpu_attention_seen(g, row), at = (group * g->rows + row) * g->d;           \
        const type *q = (const type *)(const void *)g->q + at;                                    \
        const type *k = (const type *)(const void *)g->k + group * g->sk * g->d;                  \
        const type *v = (const type *)(const void *)g->v + group * g->sk * g->d;                  \
        type *o = (type *)(void *)g->o + at;                                                      \
        real state[2] = {(real)-INFINITY, 0};                                                     \
        real *sums = calloc((size_t)g->d, sizeof *sums);                                          \
        if (sums == NULL)                                                                         \
            return false;                                                                         \
        for (int64_t j = 0; j < seen; j += BLOCK)                                                 \
            advance_##name(g, q, k + j * g->d, v + j * g->d, seen - j < BLOCK ? seen - j : BLOCK, \
                           sums, state);                                                          \
        for (int64_t c = 0; c < g->d; c++)                                                        \
            o[c] = narrow(seen > 0 ? sums[c] / state[1] : 0);                                     \
        free(sums);                                                                               \
        return true;                                                                              \
    }                                                                                             \
    CPU_ENTRY(attention_##name)                                                                   \
    {                                                                                             \
        return run(launch, row_##name);                                                           \
    }

#define SAME(x) (x)

ATTENTION(f64, double, double, SAME, SAME, exp)
ATTENTION(f32, float, float, SAME, SAME, expf)
ATTENTION(f16, uint16_t, float, assay_f16_to_f32, assay_f32_to_f16, expf)
ATTENTION(bf16, uint16_t, float, assay_bf16_to_f32, assay_f32_to_bf16, expf)

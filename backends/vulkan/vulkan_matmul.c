/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_matmul.c -- tiled products of f32, any transposes, batches, alpha, beta.
 *
 * Work model: 2 batch m n k flops; a tile of t rows and columns reads 2 t k elements for 2 t^2 k
 * flops. */
#include "backends/matmul_launch.h"
#include "backends/matmul_scale.h"
#include "backends/vulkan/vulkan_kernels.h"

enum { SIDE = 0, EACH = 1, DEEP = 16 }; /* tunables; steps of k in shared memory */

typedef struct arguments {
    uint64_t a, b, c;
    uint32_t m, n, k, lda, ldb, ldc, a_step, b_step, c_step, rows, columns, groups;
    float alpha, beta;
} arguments;

/* Index of the last element and one more; beyond 2^31 - 1 shaders cannot count. */
static bool is_countable(const assay_tensor *t, int64_t leading)
{
    const int64_t most = INT32_MAX;

    if (t->dims[0] == 0 || t->dims[1] == 0 || t->dims[2] == 0)
        return true;
    if (leading > most || (t->dims[0] > 1 && t->strides[0] > most))
        return false;
    const int64_t batch = t->dims[0] > 1 ? t->strides[0] : 0;
    return (t->dims[0] - 1) * batch <= most && (t->dims[1] - 1) * leading <= most &&
           (t->dims[0] - 1) * batch + (t->dims[1] - 1) * leading + t->dims[2] <= most;
}

static bool all_countable(const assay_launch *launch, const matmul_launch *g)
{
    return is_countable(&launch->operands[0], g->lda) &&
           is_countable(&launch->operands[1], g->ldb) && is_countable(&launch->operands[2], g->ldc);
}

static uint32_t step_of(int64_t batch, int64_t step)
{
    return batch > 1 ? (uint32_t)step : 0u;
}

static void fill(const matmul_launch *g, uint32_t tile, const uint64_t *at, arguments *out)
{
    const bool is_read = !matmul_factor_is_zero(g->alpha, ASSAY_F32);

    *out = (arguments){.a = at[0],
                       .b = at[1],
                       .c = at[2],
                       .m = (uint32_t)g->m,
                       .n = (uint32_t)g->n,
                       .k = is_read ? (uint32_t)g->k : 0u,
                       .lda = (uint32_t)g->lda,
                       .ldb = (uint32_t)g->ldb,
                       .ldc = (uint32_t)g->ldc,
                       .a_step = step_of(g->batch, g->a_step),
                       .b_step = step_of(g->batch, g->b_step),
                       .c_step = step_of(g->batch, g->c_step),
                       .rows = (uint32_t)((g->m + tile - 1) / tile),
                       .columns = (uint32_t)((g->n + tile - 1) / tile),
                       .alpha = is_read ? (float)g->alpha : 0.0f,
                       .beta = (float)g->beta};
}

/* Of an invocation's loops: each step of k loads two parts and walks through one. */
static uint64_t rounds_of(const arguments *push, uint32_t side, uint32_t each)
{
    const uint64_t load = DEEP * each / side + 2, steps = push->k / DEEP + 1;

    return steps * (2 * load + DEEP + 2) + (uint64_t)each * (each + 1) * 2;
}

assay_status vulkan_matmul(const assay_launch *launch)
{
    const uint32_t side = (uint32_t)launch->tunables[SIDE];
    const uint32_t each = (uint32_t)launch->tunables[EACH], tile = side * each;
    uint64_t at[ASSAY_MAX_OPERANDS];
    matmul_launch g;
    arguments push;

    matmul_read_operands(launch, &g);
    if (g.batch == 0 || g.m == 0 || g.n == 0)
        return ASSAY_OK;
    if (!all_countable(launch, &g))
        return vulkan_refuse(launch, "an operand spans more than 2^31 - 1 elements");
    ASSAY_TRY(vulkan_addresses(launch, at));
    fill(&g, tile, at, &push);
    const uint64_t groups = (uint64_t)push.rows * push.columns * (uint64_t)g.batch;
    if (groups > INT32_MAX)
        return vulkan_refuse(launch, "more than 2^31 - 1 tiles");
    push.groups = (uint32_t)groups;
    const vulkan_work work = {.shader = VULKAN_SHADER_matmul_f32,
                              .constants = {side, side, each, g.trans_a, g.trans_b},
                              .shape = {.groups = groups,
                                        .local = {side, side},
                                        .shared_bytes = 2 * DEEP * (tile + 1) * 4,
                                        .rounds = rounds_of(&push, side, each),
                                        .push_bytes = sizeof push},
                              .push = &push};
    return vulkan_run(launch, &work);
}

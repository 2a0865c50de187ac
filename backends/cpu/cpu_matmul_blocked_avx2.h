/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_blocked_avx2.h -- the blocked product for one element type.
 *
 * A template: the including file defines TYPE (elements in memory), REAL (of sums), IN(name) for
 * names of this type, FN(name) of the tile, SPAN(type *, real *, n) that widens n neighbours,
 * ONE(value) that widens one, and NARROW 1 when C cannot hold partial sums.  OUT and ONE_OUT, where
 * C has a type of its own, are TYPE and ONE else. */
#ifndef OUT
#define OUT     TYPE
#define ONE_OUT ONE
#endif

/* `width` lines of op(A) or op(B), kc deep, as strips of `strip` values a step, zero padded. */
static void IN(pack)(const TYPE *x, int64_t width, int64_t width_stride, int64_t kc,
                     int64_t k_stride, int64_t strip, REAL *out)
{
    REAL line[MAX_KC];

    for (int64_t s = 0; s < width; s += strip, out += strip * kc) {
        int64_t used = width - s < strip ? width - s : strip;
        const TYPE *from = x + s * width_stride;
        if (used < strip)
            memset(out, 0, (size_t)(strip * kc) * sizeof *out);
        if (k_stride == 1) {
            for (int64_t w = 0; w < used; w++) {
                SPAN(from + w * width_stride, line, kc);
                for (int64_t p = 0; p < kc; p++)
                    out[p * strip + w] = line[p];
            }
        } else if (width_stride == 1 && used == strip && strip == NR) {
            for (int64_t p = 0; p < kc; p++)
                SPAN(from + p * k_stride, out + p * NR, NR);
        } else {
            for (int64_t p = 0; p < kc; p++)
                for (int64_t w = 0; w < used; w++)
                    out[p * strip + w] = ONE(from[w * width_stride + p * k_stride]);
        }
    }
}

typedef struct IN(block) {
    const cpu_matmul *g;
    int64_t mc, kc, nc; /* block sizes; nc: columns of op(B) packed at a time */
    int64_t splits;     /* parts of these columns, for few rows and many threads */
    const TYPE *a, *b;  /* of this product of the batch */
    const OUT *old;
    OUT *c;
    REAL *packed_b;
    int64_t col0, cols; /* the columns at hand */
    atomic_bool failed; /* no memory */
} IN(block);

static int64_t IN(round_up)(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Strip `index` over all of k: strips of one kc block lie together. */
static void IN(pack_b)(void *cookie, int64_t index)
{
    const IN(block) *k = cookie;
    const cpu_matmul *g = k->g;
    int64_t padded = IN(round_up)(k->cols, NR), j = index * NR;

    for (int64_t p0 = 0; p0 < g->k; p0 += k->kc) {
        int64_t kc = g->k - p0 < k->kc ? g->k - p0 : k->kc;
        IN(pack)
        (k->b + p0 * g->b_k + (k->col0 + j) * g->b_col, k->cols - j < NR ? k->cols - j : NR,
         g->b_col, kc, g->b_k, NR, k->packed_b + p0 * padded + j * kc);
    }
}

/* C = alpha sums + beta old with one rounding to OUT at the end. */
static void IN(finish)(const cpu_matmul *g, const REAL *sums, int64_t ld, const OUT *old, OUT *c,
                       int64_t rows, int64_t cols)
{
    REAL alpha = (REAL)g->alpha, beta = (REAL)g->beta;

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            REAL v = alpha * sums[i * ld + j];
            if (beta != 0)
                v = FN(fused)(beta, ONE_OUT(old[i * g->old_row + j]), v);
            c[i * g->c_row + j] = IN(narrow)(v);
        }
}

/* Rows [row0, row0 + rows) of columns [from, to) of those at hand. */
static void IN(rows)(const IN(block) * k, int64_t row0, int64_t rows, int64_t from, int64_t to,
                     REAL *scratch)
{
    const cpu_matmul *g = k->g;
    int64_t padded = IN(round_up)(k->cols, NR);
    int64_t ld = NARROW ? IN(round_up)(to - from, NR) : g->c_row;
    REAL *sums = scratch + IN(round_up)(k->mc, MR) * k->kc;
    OUT *c = k->c + row0 * g->c_row + k->col0 + from;
    const OUT *old = k->old + row0 * g->old_row + k->col0 + from;
    REAL *target = NARROW ? sums : (REAL *)(void *)c;
    REAL alpha = NARROW ? 1 : (REAL)g->alpha, beta = NARROW ? 0 : (REAL)g->beta;
    FN(source) first = {NARROW ? sums : (const REAL *)(const void *)old, NARROW ? ld : g->old_row};

    for (int64_t p0 = 0; p0 < g->k; p0 += k->kc) {
        int64_t kc = g->k - p0 < k->kc ? g->k - p0 : k->kc;
        IN(pack)(k->a + row0 * g->a_row + p0 * g->a_k, rows, g->a_row, kc, g->a_k, MR, scratch);
        FN(macro)
        (rows, to - from, kc, scratch, k->packed_b + p0 * padded + from * kc,
         p0 == 0 ? first : (FN(source)){target, ld}, target, ld, alpha, p0 == 0 ? beta : 1);
    }
    if (NARROW)
        IN(finish)(g, sums, ld, old, c, rows, to - from);
}

static size_t IN(scratch_bytes)(const IN(block) * k)
{
    int64_t rows = IN(round_up)(k->mc, MR);

    return (size_t)(rows * (k->kc + (NARROW ? k->nc : 0))) * sizeof(REAL);
}

static void IN(rows_part)(void *cookie, int64_t item)
{
    IN(block) *k = cookie;
    int64_t row0 = item / k->splits * k->mc, from, to;
    int64_t rows = k->g->m - row0 < k->mc ? k->g->m - row0 : k->mc;
    REAL *scratch = cpu_workspace(1, IN(scratch_bytes)(k));

    cpu_part(k->cols, NR, k->splits, item % k->splits, &from, &to);
    if (scratch == NULL)
        atomic_store_explicit(&k->failed, true, memory_order_relaxed);
    else if (from < to)
        IN(rows)(k, row0, rows, from, to, scratch);
}

/* Packs alone what is packed sooner than a helper wakes. */
static void IN(columns)(IN(block) * k, int threads, int64_t col0, int64_t cols)
{
    int64_t strips = (cols + NR - 1) / NR, blocks = (k->g->m + k->mc - 1) / k->mc;

    k->col0 = col0;
    k->cols = cols;
    assay__host_team_run(cols * k->g->k < PACK_ALONE ? 1 : threads, strips, IN(pack_b), k);
    assay__host_team_run(threads, blocks * k->splits, IN(rows_part), k);
}

/* beta old alone: no products. */
static void IN(scale)(const cpu_matmul *g, const OUT *old, OUT *c)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            REAL v = g->beta == 0.0 ? 0 : (REAL)g->beta * ONE_OUT(old[i * g->old_row + j]);
            c[i * g->c_row + j] = IN(narrow)(v);
        }
}

/* Sizes of blocks for this problem: fewer rows a block where threads would idle. */
static void IN(plan)(IN(block) * k, int threads)
{
    const cpu_matmul *g = k->g;
    int64_t share = IN(round_up)((g->m + threads - 1) / threads, MR);

    k->mc = k->mc < share ? k->mc : share;
    int64_t blocks = (g->m + k->mc - 1) / k->mc;
    k->splits = blocks < threads ? threads : 1;
    k->kc = k->kc < g->k ? k->kc : g->k;
    int64_t most = PANEL_BYTES / (g->k * (int64_t)sizeof(REAL)) / NR * NR;
    most = NARROW && most > 512 ? 512 : most;
    most = most < NR ? NR : most;
    k->nc = g->n < most ? IN(round_up)(g->n, NR) : most;
}

static assay_status IN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    cpu_matmul g;
    IN(block) k = {.g = &g, .mc = launch->tunables[CPU_MC], .kc = launch->tunables[CPU_KC]};

    cpu_matmul_read(launch, &g);
    if (g.m == 0 || g.n == 0)
        return ASSAY_OK;
    if (g.k > 0) {
        IN(plan)(&k, threads);
        k.packed_b = cpu_workspace(0, (size_t)(g.k * k.nc) * sizeof(REAL));
        if (k.packed_b == NULL)
            return ASSAY_NOMEM;
    }
    for (int64_t i = 0; i < g.batch; i++) {
        k.a = (const TYPE *)(const void *)g.a + i * g.a_batch;
        k.b = (const TYPE *)(const void *)g.b + i * g.b_batch;
        k.c = (OUT *)(void *)g.c + i * g.c_batch;
        k.old = (const OUT *)(const void *)g.old + i * g.old_batch;
        if (g.k == 0)
            IN(scale)(&g, k.old, k.c);
        for (int64_t j = 0; j < g.n && g.k > 0; j += k.nc)
            IN(columns)(&k, threads, j, g.n - j < k.nc ? g.n - j : k.nc);
    }
    return atomic_load_explicit(&k.failed, memory_order_relaxed) ? ASSAY_NOMEM : ASSAY_OK;
}

#undef OUT
#undef ONE_OUT

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_direct_avx2.h -- the product without packing for one element type.
 *
 * A template, included behind cpu_matmul_tile_avx2.h with its names. */

/* Up to MR rows of columns [from, to); `tail` holds k x NR values for the last, partial strip. */
static bool FN(six_rows)(const cpu_matmul *g, int64_t batch, int64_t row, int64_t from, int64_t to)
{
    const REAL *a = (const REAL *)(const void *)g->a + batch * g->a_batch;
    const REAL *b = (const REAL *)(const void *)g->b + batch * g->b_batch;
    REAL *c = (REAL *)(void *)g->c + batch * g->c_batch + row * g->c_row;
    FN(source)
    old = {(const REAL *)(const void *)g->old + batch * g->old_batch + row * g->old_row + from,
           g->old_row};
    int64_t count = g->m - row < MR ? g->m - row : MR, j = from;
    const REAL *rows[MR];
    FN(sums) s;

    for (int64_t r = 0; r < MR; r++)
        rows[r] = a + (row + (r < count ? r : count - 1)) * g->a_row;
    for (; j + NR <= to; j += NR) {
        FN(sum_direct)(g->k, rows, g->a_k, b + j, g->b_k, &s);
        FN(put)(&s, old, c + j, g->c_row, count, NR, (REAL)g->alpha, (REAL)g->beta);
        old.at += NR;
    }
    if (j == to)
        return true;
    REAL *tail = cpu_workspace(1, (size_t)(g->k * NR) * sizeof(REAL) + 1);
    if (tail == NULL)
        return false;
    for (int64_t p = 0; p < g->k; p++)
        for (int64_t i = 0; i < NR; i++)
            tail[p * NR + i] = j + i < to ? b[p * g->b_k + j + i] : 0;
    FN(sum_direct)(g->k, rows, g->a_k, tail, NR, &s);
    FN(put)(&s, old, c + j, g->c_row, count, to - j, (REAL)g->alpha, (REAL)g->beta);
    return true;
}

typedef struct FN(direct) {
    cpu_matmul g;
    int64_t chunks, splits;
    atomic_bool failed; /* no memory */
} FN(direct);

static void FN(direct_part)(void *cookie, int64_t item)
{
    FN(direct) *d = cookie;
    int64_t from, to, chunk = item / d->splits;

    cpu_part(d->g.n, NR, d->splits, item % d->splits, &from, &to);
    if (from < to && !FN(six_rows)(&d->g, chunk / d->chunks, chunk % d->chunks * MR, from, to))
        atomic_store_explicit(&d->failed, true, memory_order_relaxed);
}

static assay_status FN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    FN(direct) d = {.failed = false};

    cpu_matmul_read(launch, &d.g);
    d.chunks = (d.g.m + MR - 1) / MR;
    d.splits = d.chunks * d.g.batch < threads ? threads : 1;
    if (d.g.n == 0)
        return ASSAY_OK;
    if (d.g.k == 0) /* sums of nothing, whatever alpha is */
        d.g.alpha = 1.0;
    assay__host_team_run(threads, d.chunks * d.g.batch * d.splits, FN(direct_part), &d);
    return atomic_load_explicit(&d.failed, memory_order_relaxed) ? ASSAY_NOMEM : ASSAY_OK;
}

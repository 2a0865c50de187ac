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
    int64_t count = g->m - row < MR ? g->m - row : MR, j = from;
    const REAL *rows[MR];
    FN(sums) s;

    for (int64_t r = 0; r < MR; r++)
        rows[r] = a + (row + (r < count ? r : count - 1)) * g->a_row;
    for (; j + NR <= to; j += NR) {
        FN(sum_direct)(g->k, rows, g->a_k, b + j, g->b_k, &s);
        FN(put)(&s, c + j, g->c_row, count, NR, (REAL)g->alpha, (REAL)g->beta);
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
    FN(put)(&s, c + j, g->c_row, count, to - j, (REAL)g->alpha, (REAL)g->beta);
    return true;
}

static assay_status FN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    bool failed = false;
    cpu_matmul g;

    cpu_matmul_read(launch, &g);
    int64_t chunks = (g.m + MR - 1) / MR;
    int64_t splits = chunks * g.batch < threads ? threads : 1;
    if (g.n == 0)
        return ASSAY_OK;
    if (g.k == 0) /* sums of nothing, whatever alpha is */
        g.alpha = 1.0;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t item = 0; item < chunks * g.batch * splits; item++) {
        int64_t from, to, chunk = item / splits;
        cpu_part(g.n, NR, splits, item % splits, &from, &to);
        if (from < to && !FN(six_rows)(&g, chunk / chunks, chunk % chunks * MR, from, to)) {
#pragma omp atomic write
            failed = true;
        }
    }
    return failed ? ASSAY_NOMEM : ASSAY_OK;
}

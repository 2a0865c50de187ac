/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_dot_body.h -- C = alpha A B^T + beta C for few rows and one element type:
 * sums of products along k, which lies in one piece in both operands.
 *
 * Nothing is packed: op(B), the large one, is read once, six of its lines at a time, and A comes
 * from a cache.  A sum is LANES partial sums over k, added up in a fixed order, whatever the
 * thread count.
 *
 * A template: the including file defines TYPE (in memory), REAL (of sums), IN(name), VEC, LANES,
 * ZERO(), LOAD(p), FMADD(a, b, c), ADD_UP(v), ONE(x) that widens, NARROW(v) that rounds, FUSED(a,
 * b, c), and TILE(X, r): X(r, c) of each column c of the tile of four rows, TILE_COLS of them.  OUT
 * and ONE_OUT, where C has a type of its own, are TYPE and ONE else. */
#ifndef OUT
#define OUT     TYPE
#define ONE_OUT ONE
#endif

#define DECLARE(r, c) VEC s##r##c = ZERO();
#define STEP(r, c)    s##r##c = FMADD(x, b##c, s##r##c);
#define KEEP(r, c)    out[(r)*GROUP + (c)] = ADD_UP(s##r##c);
#define LOAD_B(r, c)  VEC b##c = LOAD(b + (c)*b_col + p);
#define STEP_ROW(r)              \
    x = LOAD(a + (r)*a_row + p); \
    TILE(STEP, r)

/* Four rows of A with TILE_COLS lines of B; k is a multiple of LANES. */
static inline __attribute__((always_inline)) void
IN(four_rows)(int64_t k, const TYPE *a, int64_t a_row, const TYPE *b, int64_t b_col, REAL *out)
{
    TILE(DECLARE, 0)
    TILE(DECLARE, 1)
    TILE(DECLARE, 2)
    TILE(DECLARE, 3)
    for (int64_t p = 0; p < k; p += LANES) {
        VEC x;
        TILE(LOAD_B, 0)
        STEP_ROW(0)
        STEP_ROW(1)
        STEP_ROW(2)
        STEP_ROW(3)
    }
    TILE(KEEP, 0)
    TILE(KEEP, 1)
    TILE(KEEP, 2)
    TILE(KEEP, 3)
}

#define SIX(X) X(0, 0) X(0, 1) X(0, 2) X(0, 3) X(0, 4) X(0, 5)

static inline __attribute__((always_inline)) void
IN(one_row)(int64_t k, const TYPE *a, const TYPE *b, int64_t b_col, REAL *out)
{
    SIX(DECLARE)
    for (int64_t p = 0; p < k; p += LANES) {
        VEC x = LOAD(a + p);
        SIX(LOAD_B)
        SIX(STEP)
    }
    SIX(KEEP)
}

/* Adds the products from k_done on, one after another, and puts alpha s + beta C. */
static inline void IN(put)(const cpu_matmul *g, const TYPE *a, const TYPE *b, int64_t rows,
                           int64_t cols, int64_t k_done, REAL *sums, OUT *c)
{
    REAL alpha = (REAL)g->alpha, beta = (REAL)g->beta;

    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < cols; j++) {
            REAL sum = sums[r * GROUP + j];
            for (int64_t p = k_done; p < g->k; p++)
                sum = FUSED(ONE(a[r * g->a_row + p]), ONE(b[j * g->b_col + p]), sum);
            sum *= alpha;
            if (beta != 0)
                sum = FUSED(beta, ONE_OUT(c[r * g->c_row + j]), sum);
            c[r * g->c_row + j] = NARROW(sum);
        }
}

/* One line of B alone, for those behind the last whole group. */
static REAL IN(one_line)(int64_t k, const TYPE *a, const TYPE *b)
{
    VEC s0 = ZERO(), s1 = ZERO(), s2 = ZERO(), s3 = ZERO();
    int64_t p = 0;

    for (; p + 4 * LANES <= k; p += 4 * LANES) {
        s0 = FMADD(LOAD(a + p), LOAD(b + p), s0);
        s1 = FMADD(LOAD(a + p + LANES), LOAD(b + p + LANES), s1);
        s2 = FMADD(LOAD(a + p + 2 * LANES), LOAD(b + p + 2 * LANES), s2);
        s3 = FMADD(LOAD(a + p + 3 * LANES), LOAD(b + p + 3 * LANES), s3);
    }
    for (; p < k; p += LANES)
        s0 = FMADD(LOAD(a + p), LOAD(b + p), s0);
    return (ADD_UP(s0) + ADD_UP(s1)) + (ADD_UP(s2) + ADD_UP(s3));
}

/* All rows with GROUP lines of B. */
static void IN(group)(const cpu_matmul *g, const TYPE *a, const TYPE *b, OUT *c)
{
    const int64_t whole = g->k / LANES * LANES;
    REAL sums[4 * GROUP];
    int64_t i = 0;

    for (; i + 4 <= g->m; i += 4, a += 4 * g->a_row, c += 4 * g->c_row) {
        for (int64_t j = 0; j < GROUP; j += TILE_COLS)
            IN(four_rows)(whole, a, g->a_row, b + j * g->b_col, g->b_col, sums + j);
        IN(put)(g, a, b, 4, GROUP, whole, sums, c);
    }
    for (; i < g->m; i++, a += g->a_row, c += g->c_row) {
        IN(one_row)(whole, a, b, g->b_col, sums);
        IN(put)(g, a, b, 1, GROUP, whole, sums, c);
    }
}

/* All rows with fewer lines of B than a group has. */
static void IN(rest)(const cpu_matmul *g, const TYPE *a, const TYPE *b, int64_t cols, OUT *c)
{
    const int64_t whole = g->k / LANES * LANES;
    REAL sums[GROUP];

    for (int64_t i = 0; i < g->m; i++, a += g->a_row, c += g->c_row) {
        for (int64_t j = 0; j < cols; j++)
            sums[j] = IN(one_line)(whole, a, b + j * g->b_col);
        IN(put)(g, a, b, 1, cols, whole, sums, c);
    }
}

/* A part of the columns of one product of the batch. */
static void IN(part)(void *cookie, int64_t item)
{
    const dot_job *job = cookie;
    const cpu_matmul *g = &job->g;
    const int64_t batch = item / job->splits;
    const TYPE *a = (const TYPE *)(const void *)g->a + batch * g->a_batch;
    const TYPE *b = (const TYPE *)(const void *)g->b + batch * g->b_batch;
    OUT *c = (OUT *)(void *)g->c + batch * g->c_batch;
    int64_t from, to;

    cpu_part(g->n, GROUP, job->splits, item % job->splits, &from, &to);
    for (; from + GROUP <= to; from += GROUP)
        IN(group)(g, a, b + from * g->b_col, c + from);
    if (from < to)
        IN(rest)(g, a, b + from * g->b_col, to - from, c + from);
}

#undef DECLARE
#undef STEP
#undef KEEP
#undef LOAD_B
#undef STEP_ROW
#undef SIX
#undef OUT
#undef ONE_OUT

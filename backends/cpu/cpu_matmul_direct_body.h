/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_direct_body.h -- the product without packing for one element type and
 * vectors of one width: some rows by one or two vectors of C in registers.
 *
 * A template: the including file defines REAL, VEC, MASK, LANES, FN(name), OP(call),
 * FN(lanes)(cols) that makes the mask of the first columns, and how many rows a tile has at most,
 * 6, 12 or 16: NARROW_ROWS of one vector, WIDE_ROWS of two.  Rows are a constant in every tile, so
 * that none is computed twice; columns that stick out are masked, and whole vectors have tiles
 * without masks, which cost a port each. */

/* What all tiles of a strip of columns share: row r, step p of op(A) is a[r * a_row + p * a_k]. */
typedef struct FN(strip) {
    int64_t k, a_row, a_k, b_k, c_row, old_row;
    REAL alpha, beta;
    MASK low, high; /* columns of either vector that there are */
    bool is_plain;  /* alpha 1, beta 0 */
} FN(strip);

typedef void FN(tile_fn)(const FN(strip) * s, const REAL *a, const REAL *b, const REAL *old,
                         REAL *c);

static inline __attribute__((always_inline)) void FN(store)(REAL *c, MASK lanes, bool whole,
                                                            VEC sum)
{
    if (whole)
        OP(storeu)(c, sum);
    else
        OP(mask_storeu)(c, lanes, sum);
}

/* C = alpha sum + beta old; beta == 0 never reads `old`. */
static inline __attribute__((always_inline)) void FN(put)(const FN(strip) * s, VEC sum, MASK lanes,
                                                          bool whole, const REAL *old, REAL *c)
{
    sum = OP(mul)(OP(set1)(s->alpha), sum);
    if (s->beta != 0)
        sum =
            OP(fmadd)(OP(set1)(s->beta), whole ? OP(loadu)(old) : OP(maskz_loadu)(lanes, old), sum);
    FN(store)(c, lanes, whole, sum);
}

#define ROWS(X) \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
/* Sums stay in named registers: an array of them goes through memory at every step. */
#define DECLARE(r) VEC s##r##l = zero, s##r##h = zero;
#define STEP(r)                                  \
    if (rows > r) {                              \
        x = OP(set1)(A_OF_##r);                  \
        s##r##l = OP(fmadd)(x, b0, s##r##l);     \
        if (wide)                                \
            s##r##h = OP(fmadd)(x, b1, s##r##h); \
    }
#define STORE(r)                                                      \
    if (rows > r) {                                                   \
        FN(store)(c + r * c_row, lanes0, whole || wide, s##r##l);     \
        if (wide)                                                     \
            FN(store)(c + r * c_row + LANES, lanes1, whole, s##r##h); \
    }
#define PUT(r)                                                                            \
    if (rows > r) {                                                                       \
        FN(put)(s, s##r##l, lanes0, whole || wide, old + r * s->old_row, c + r * c_row);  \
        if (wide)                                                                         \
            FN(put)                                                                       \
        (s, s##r##h, lanes1, whole, old + r * s->old_row + LANES, c + r * c_row + LANES); \
    }
/* A pointer reaches four rows by two distances. */
#define A_OF_0  a[0]
#define A_OF_1  a[row]
#define A_OF_2  a[2 * row]
#define A_OF_3  a[row3]
#define A_OF_4  a4[0]
#define A_OF_5  a4[row]
#define A_OF_6  a4[2 * row]
#define A_OF_7  a4[row3]
#define A_OF_8  a8[0]
#define A_OF_9  a8[row]
#define A_OF_10 a8[2 * row]
#define A_OF_11 a8[row3]
#define A_OF_12 a12[0]
#define A_OF_13 a12[row]
#define A_OF_14 a12[2 * row]
#define A_OF_15 a12[row3]

static inline __attribute__((always_inline)) void FN(tile)(const FN(strip) * s, const REAL *a,
                                                           const REAL *b, const REAL *old, REAL *c,
                                                           int rows, bool wide, bool whole)
{
    const int64_t k = s->k, row = s->a_row, row3 = 3 * row, a_k = s->a_k, b_k = s->b_k;
    const int64_t c_row = s->c_row;
    const MASK lanes0 = s->low, lanes1 = s->high;
    const REAL *a4 = a + 4 * row, *a8 = a + 8 * row, *a12 = a + 12 * row;
    VEC zero = OP(setzero)(), x, b0, b1 = zero;
    ROWS(DECLARE)

#pragma GCC unroll 2
    for (int64_t p = 0; p < k; p++) {
        b0 = whole || wide ? OP(loadu)(b) : OP(maskz_loadu)(lanes0, b);
        if (wide)
            b1 = whole ? OP(loadu)(b + LANES) : OP(maskz_loadu)(lanes1, b + LANES);
        ROWS(STEP)
        a += a_k;
        a4 += a_k;
        a8 += a_k;
        a12 += a_k;
        b += b_k;
    }
    if (s->is_plain) {
        ROWS(STORE)
    } else {
        ROWS(PUT)
    }
}

#undef ROWS
#undef DECLARE
#undef STEP
#undef STORE
#undef PUT

/* A declaration again at the end, for the semicolon of whoever expands this. */
#define TILE_OF(name, rows, wide, whole)                                             \
    static void FN(name##_##rows)(const FN(strip) * s, const REAL *a, const REAL *b, \
                                  const REAL *old, REAL *c)                          \
    {                                                                                \
        FN(tile)(s, a, b, old, c, rows, wide, whole);                                \
    }                                                                                \
    static FN(tile_fn) FN(name##_##rows)
#define TILES_OF_6(name, wide, whole) \
    TILE_OF(name, 1, wide, whole);    \
    TILE_OF(name, 2, wide, whole);    \
    TILE_OF(name, 3, wide, whole);    \
    TILE_OF(name, 4, wide, whole);    \
    TILE_OF(name, 5, wide, whole);    \
    TILE_OF(name, 6, wide, whole)
#define TILES_OF_12(name, wide, whole) \
    TILES_OF_6(name, wide, whole);     \
    TILE_OF(name, 7, wide, whole);     \
    TILE_OF(name, 8, wide, whole);     \
    TILE_OF(name, 9, wide, whole);     \
    TILE_OF(name, 10, wide, whole);    \
    TILE_OF(name, 11, wide, whole);    \
    TILE_OF(name, 12, wide, whole)
#define TILES_OF_16(name, wide, whole) \
    TILES_OF_12(name, wide, whole);    \
    TILE_OF(name, 13, wide, whole);    \
    TILE_OF(name, 14, wide, whole);    \
    TILE_OF(name, 15, wide, whole);    \
    TILE_OF(name, 16, wide, whole)
#define NAMES_OF_6(name) \
    FN(name##_1), FN(name##_2), FN(name##_3), FN(name##_4), FN(name##_5), FN(name##_6)
#define NAMES_OF_12(name)                                                                     \
    NAMES_OF_6(name), FN(name##_7), FN(name##_8), FN(name##_9), FN(name##_10), FN(name##_11), \
        FN(name##_12)
#define NAMES_OF_16(name) \
    NAMES_OF_12(name), FN(name##_13), FN(name##_14), FN(name##_15), FN(name##_16)
#define JOIN_ITS_NUMBER(a, b) a##b
#define JOIN(a, number)       JOIN_ITS_NUMBER(a, number)
JOIN(TILES_OF_, NARROW_ROWS)(narrow_part, false, false);
JOIN(TILES_OF_, NARROW_ROWS)(narrow, false, true);
JOIN(TILES_OF_, WIDE_ROWS)(wide_part, true, false);
JOIN(TILES_OF_, WIDE_ROWS)(wide, true, true);
static FN(tile_fn) *const FN(narrow_part)[] = {NULL, JOIN(NAMES_OF_, NARROW_ROWS)(narrow_part)};
static FN(tile_fn) *const FN(narrow)[] = {NULL, JOIN(NAMES_OF_, NARROW_ROWS)(narrow)};
static FN(tile_fn) *const FN(wide_part)[] = {NULL, JOIN(NAMES_OF_, WIDE_ROWS)(wide_part)};
static FN(tile_fn) *const FN(wide)[] = {NULL, JOIN(NAMES_OF_, WIDE_ROWS)(wide)};
#undef TILES_OF_6
#undef TILES_OF_12
#undef TILES_OF_16
#undef NAMES_OF_6
#undef NAMES_OF_12
#undef NAMES_OF_16
#undef JOIN_ITS_NUMBER
#undef JOIN
#undef TILE_OF

/* As many as registers hold; what is left at the end is halved, as one row alone waits for itself.
 */
static inline int64_t FN(rows_next)(int64_t left, int64_t most)
{
    return left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
}

static inline int64_t FN(rows_most)(int64_t cols)
{
    return cols <= LANES ? NARROW_ROWS : WIDE_ROWS;
}

/* One tile: `rows` rows of the first of `cols` columns. */
static inline __attribute__((always_inline)) void FN(columns)(FN(strip) * s, int64_t cols,
                                                              int64_t rows, const REAL *a,
                                                              const REAL *b, const REAL *old,
                                                              REAL *c)
{
    FN(tile_fn) *const *tiles = cols >= 2 * LANES ? FN(wide)
                                : cols > LANES    ? FN(wide_part)
                                : cols == LANES   ? FN(narrow)
                                                  : FN(narrow_part);

    s->low = FN(lanes)(cols);
    s->high = FN(lanes)(cols - LANES);
    tiles[rows](s, a, b, old, c);
}

/* m rows and n columns of the product whose operands begin at a, b, old and c. */
static __attribute__((noinline)) void FN(block)(FN(strip) * s, const REAL *a, const REAL *b,
                                                const REAL *old, REAL *c, int64_t m, int64_t n)
{
    const int64_t most = FN(rows_most)(n);

    for (int64_t left = m, rows; left > 0; left -= rows) {
        rows = FN(rows_next)(left, most);
        for (int64_t j = 0; j < n; j += 2 * LANES)
            FN(columns)(s, n - j, rows, a, b + j, old + j, c + j);
        a += rows * s->a_row;
        old += rows * s->old_row;
        c += rows * s->c_row;
    }
}

static inline __attribute__((always_inline)) FN(strip) FN(strip_of)(const cpu_matmul *g)
{
    return (FN(strip)){.k = g->k,
                       .a_row = g->a_row,
                       .a_k = g->a_k,
                       .b_k = g->b_k,
                       .c_row = g->c_row,
                       .old_row = g->old_row,
                       .alpha = g->k == 0 ? 1 : (REAL)g->alpha, /* sums of nothing */
                       .beta = (REAL)g->beta,
                       .is_plain = (g->alpha == 1 || g->k == 0) && g->beta == 0};
}

typedef struct FN(direct) {
    cpu_matmul g;
    int64_t chunks, splits;
} FN(direct);

static void FN(direct_part)(void *cookie, int64_t item)
{
    const FN(direct) *d = cookie;
    const cpu_matmul *g = &d->g;
    int64_t from, to, chunk = item / d->splits, row = chunk % d->chunks * WIDE_ROWS;
    int64_t i = chunk / d->chunks;
    FN(strip) s = FN(strip_of)(g);

    cpu_part(g->n, 2 * LANES, d->splits, item % d->splits, &from, &to);
    FN(block)
    (&s, (const REAL *)(const void *)g->a + i * g->a_batch + row * g->a_row,
     (const REAL *)(const void *)g->b + i * g->b_batch + from,
     (const REAL *)(const void *)g->old + i * g->old_batch + row * g->old_row + from,
     (REAL *)(void *)g->c + i * g->c_batch + row * g->c_row + from,
     g->m - row < WIDE_ROWS ? g->m - row : WIDE_ROWS, to - from);
}

static __attribute__((noinline)) void FN(share)(int threads, const cpu_matmul *g)
{
    FN(direct) d = {.g = *g, .chunks = (g->m + WIDE_ROWS - 1) / WIDE_ROWS};

    d.splits = d.chunks * g->batch < threads ? threads : 1;
    assay__host_team_run(threads, d.chunks * g->batch * d.splits, FN(direct_part), &d);
}

static __attribute__((noinline)) assay_status FN(run_any)(const assay_launch *launch)
{
    const int threads = cpu_threads(launch);
    cpu_matmul g;

    cpu_matmul_read(launch, &g);
    if (g.n == 0)
        return ASSAY_OK;
    if (threads > 1) {
        FN(share)(threads, &g);
        return ASSAY_OK;
    }
    FN(strip) s = FN(strip_of)(&g);
    for (int64_t i = 0; i < g.batch; i++)
        FN(block)
    (&s, (const REAL *)(const void *)g.a + i * g.a_batch,
     (const REAL *)(const void *)g.b + i * g.b_batch,
     (const REAL *)(const void *)g.old + i * g.old_batch, (REAL *)(void *)g.c + i * g.c_batch, g.m,
     g.n);
    return ASSAY_OK;
}

/* Reading a launch whole takes longer than the smallest products do, so that what most of them are
 * is told apart first: one product A B by one thread. */
static inline bool FN(is_bare)(const assay_launch *launch)
{
    const assay_problem *p = launch->problem;

    return p->op == ASSAY_OP_matmul && launch->operands[2].dims[0] == 1 &&
           ASSAY__INT(p, matmul, trans_a) == 0 && ASSAY__REAL(p, matmul, alpha) == 1.0 &&
           ASSAY__REAL(p, matmul, beta) == 0.0 && cpu_threads(launch) == 1;
}

static assay_status FN(run)(const assay_launch *launch)
{
    const assay_tensor *a = &launch->operands[0], *b = &launch->operands[1];
    const assay_tensor *c = &launch->operands[2];
    const int64_t m = c->dims[1], n = c->dims[2];

    if (!FN(is_bare)(launch))
        return FN(run_any)(launch);
    FN(strip)
    s = {.k = a->dims[2],
         .a_row = a->strides[1],
         .a_k = 1,
         .b_k = b->strides[1],
         .c_row = c->strides[1],
         .is_plain = true};
    const REAL *a_data = assay_tensor_data(a), *b_data = assay_tensor_data(b);
    REAL *c_data = assay_tensor_data(c);
    if (m >= 1 && n >= 1 && m <= FN(rows_most)(n) && n <= 2 * LANES) /* one tile */
        FN(columns)(&s, n, m, a_data, b_data, c_data, c_data);
    else
        FN(block)(&s, a_data, b_data, c_data, c_data, m, n);
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_attention_core.h -- scores, weights and sums of a strip of queries, for one type
 * of sums.
 *
 * A template: the including file defines REAL, VEC, LANES, FN(name), OP(call), and TILE_ROWS(X),
 * which names the MR rows of a tile.  Everything is transposed: a query is a lane, a key or an
 * element of a head is a row.  So the largest score and the sum of weights need no step across
 * lanes, keys and values are read where they lie, and the weights are the second operand of the
 * second product as they come out of the first. */

#define NV 3 /* vectors of queries: MR * NV sums, NV weights and a broadcast are in registers */
#define NQ (NV * LANES)

typedef struct FN(strip) {
    REAL *q, *o;         /* d x NQ: scaled queries; sums, whose rows fill tiles */
    REAL *top, *sum;     /* NQ: largest score so far; sum of weights */
    int64_t *seen;       /* NQ: keys that a query sees */
    int64_t least, most; /* of seen */
    int64_t row0, rows;
} FN(strip);

#define DECLARE(r) VEC c##r##0 = OP(setzero)(), c##r##1 = c##r##0, c##r##2 = c##r##0;
#define POINT(r)   const REAL *row##r = rows + (r < used ? r : 0) * apart;
#define STEP(r)                          \
    x = OP(broadcast)(row##r + at);      \
    c##r##0 = OP(fmadd)(x, b0, c##r##0); \
    c##r##1 = OP(fmadd)(x, b1, c##r##1); \
    c##r##2 = OP(fmadd)(x, b2, c##r##2);
/* Row r of a tile, the sum over p < n of rows[r * apart + p * step] b[p], in vectors c<r>0..2; rows
 * behind the first `used` are those of row 0 again. */
#define TILE(n, step, b)                                                                  \
    VEC x;                                                                                \
    TILE_ROWS(DECLARE)                                                                    \
    TILE_ROWS(POINT)                                                                      \
    for (int64_t left = (n), at = 0; left > 0; left--, at += (step), (b) += NQ) {         \
        VEC b0 = OP(load)(b), b1 = OP(load)((b) + LANES), b2 = OP(load)((b) + 2 * LANES); \
        TILE_ROWS(STEP)                                                                   \
    }
/* What becomes of a row of a tile. */
#define PUT_SCORES(r)                                    \
    OP(store)(s + (r)*NQ, c##r##0);                      \
    OP(store)(s + (r)*NQ + LANES, c##r##1);              \
    OP(store)(s + (r)*NQ + 2 * LANES, c##r##2);          \
    top0 = OP(max)(c##r##0, top0); /* passes over NaN */ \
    top1 = OP(max)(c##r##1, top1);                       \
    top2 = OP(max)(c##r##2, top2);
#define ADD_VALUES(r)                                                                    \
    OP(store)(o + (r)*NQ, OP(fmadd)(f0, OP(load)(o + (r)*NQ), c##r##0));                 \
    OP(store)(o + (r)*NQ + LANES, OP(fmadd)(f1, OP(load)(o + (r)*NQ + LANES), c##r##1)); \
    OP(store)(o + (r)*NQ + 2 * LANES, OP(fmadd)(f2, OP(load)(o + (r)*NQ + 2 * LANES), c##r##2));

/* The tiles are no part of the loops around them, whose values would push theirs out of registers.
 * s: the scores of MR keys; top: the largest so far. */
static __attribute__((noinline)) void FN(score_tile)(const REAL *rows, int64_t used, int64_t d,
                                                     const REAL *q, REAL *s, REAL top[NQ])
{
    const int64_t apart = d;

    TILE(d, 1, q)
    VEC top0 = OP(load)(top), top1 = OP(load)(top + LANES), top2 = OP(load)(top + 2 * LANES);
    TILE_ROWS(PUT_SCORES)
    OP(store)(top, top0);
    OP(store)(top + LANES, top1);
    OP(store)(top + 2 * LANES, top2);
}

/* o = factor o + the weighted values of n keys, for MR elements of a head. */
static __attribute__((noinline)) void FN(value_tile)(const REAL *rows, int64_t used, int64_t n,
                                                     int64_t d, const REAL *p,
                                                     const REAL factor[NQ], REAL *o)
{
    const int64_t apart = 1;

    TILE(n, d, p)
    VEC f0 = OP(load)(factor), f1 = OP(load)(factor + LANES), f2 = OP(load)(factor + 2 * LANES);
    TILE_ROWS(ADD_VALUES)
}

/* s[j] = the scores of n keys, and of some behind them that do not count; top: the largest. */
static void FN(scores)(const REAL *k, int64_t n, int64_t d, const REAL *q, REAL *s, REAL top[NQ])
{
    for (int v = 0; v < NV; v++)
        OP(store)(top + v * LANES, OP(set1)((REAL)-INFINITY));
    for (int64_t j = 0; j < n; j += MR)
        FN(score_tile)(k + j * d, n - j, d, q, s + j * NQ, top);
}

/* -inf where a query does not see a key; near: keys it sees of this block. */
static void FN(mask)(REAL *s, int64_t n, const REAL *near, REAL top[NQ])
{
    VEC nothing = OP(set1)((REAL)-INFINITY);

    for (int v = 0; v < NV; v++) {
        VEC limit = OP(load)(near + v * LANES), most = nothing;
        for (int64_t j = 0; j < n; j++) {
            REAL *at = s + j * NQ + v * LANES;
            VEC score = OP(select_less)(OP(set1)((REAL)j), limit, OP(load)(at), nothing);
            OP(store)(at, score);
            most = OP(max)(score, most);
        }
        OP(store)(top + v * LANES, most);
    }
}

/* Scores to weights; factor: what the sums so far shrink by. */
static void FN(soften)(REAL *s, int64_t n, const REAL top[NQ], FN(strip) * t, REAL factor[NQ])
{
    VEC nothing = OP(set1)((REAL)-INFINITY);

    for (int v = 0; v < NQ; v += LANES) {
        VEC old = OP(load)(t->top + v), most = OP(max)(OP(load)(top + v), old);
        /* -inf - -inf is no number */
        VEC base = OP(select_less)(nothing, most, most, OP(setzero)());
        VEC shrunk = OP(weigh)(OP(sub)(old, base)), sum = OP(setzero)();
        for (int64_t j = 0; j < n; j++) {
            VEC p = OP(weigh)(OP(sub)(OP(load)(s + j * NQ + v), base));
            OP(store)(s + j * NQ + v, p);
            sum = OP(add)(sum, p);
        }
        OP(store)(t->top + v, most);
        OP(store)(t->sum + v, OP(fmadd)(OP(load)(t->sum + v), shrunk, sum));
        OP(store)(factor + v, shrunk);
    }
}

/* o = factor o + the weighted values of n keys; o has whole tiles. */
static void FN(mix)(const REAL *values, int64_t n, int64_t d, const REAL *p, const REAL factor[NQ],
                    REAL *o)
{
    for (int64_t c = 0; c < d; c += MR)
        FN(value_tile)(values + c, d - c, n, d, p, factor, o + c * NQ);
}

/* The same bits for finite values: 0 times one that a query does not see is not added. */
static void FN(mix_seen)(const REAL *values, int64_t n, int64_t d, const REAL *p, const REAL *near,
                         const REAL factor[NQ], REAL *o)
{
    for (int64_t c = 0; c < d; c++)
        for (int v = 0; v < NV; v++) {
            VEC limit = OP(load)(near + v * LANES), t = OP(setzero)();
            REAL *at = o + c * NQ + v * LANES;
            for (int64_t j = 0; j < n; j++) {
                VEC x = OP(broadcast)(values + j * d + c);
                VEC next = OP(fmadd)(x, OP(load)(p + j * NQ + v * LANES), t);
                t = OP(select_less)(OP(set1)((REAL)j), limit, next, t);
            }
            OP(store)(at, OP(fmadd)(OP(load)(factor + v * LANES), OP(load)(at), t));
        }
}

/* In sums that do not wait for each other. */
static bool FN(finite)(const REAL *x, int64_t n)
{
    REAL zeros[8] = {0}, zero = 0;
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int64_t k = 0; k < 8; k++)
            zeros[k] += x[i + k] * 0;
    for (; i < n; i++)
        zero += x[i] * 0;
    for (int64_t k = 0; k < 8; k++)
        zero += zeros[k];
    return zero == 0;
}

/* Keys [j0, j0 + n) of a head for one strip; s: scratch for their scores. */
static void FN(advance)(FN(strip) * t, const REAL *k, const REAL *v, int64_t j0, int64_t n,
                        int64_t d, REAL *s)
{
    REAL near[NQ] __attribute__((aligned(64))), top[NQ] __attribute__((aligned(64)));
    REAL factor[NQ] __attribute__((aligned(64)));

    n = t->most - j0 < n ? t->most - j0 : n;
    if (n <= 0)
        return;
    FN(scores)(k, n, d, t->q, s, top);
    int64_t all = t->least - j0; /* keys that every query sees */
    if (all < n) {
        for (int i = 0; i < NQ; i++)
            near[i] = (REAL)(t->seen[i] < j0 ? 0 : t->seen[i] - j0 < n ? t->seen[i] - j0 : n);
        FN(mask)(s, n, near, top);
    }
    FN(soften)(s, n, top, t, factor);
    all = all < 0 ? 0 : all;
    if (all < n && !FN(finite)(v + all * d, (n - all) * d))
        FN(mix_seen)(v, n, d, s, near, factor, t->o);
    else
        FN(mix)(v, n, d, s, factor, t->o);
}

/* REALs of the sums of a strip. */
static inline int64_t FN(cells)(int64_t d)
{
    return (d + MR - 1) / MR * MR * NQ;
}

/* A strip of rows [row0, row0 + rows) of a group, nothing seen yet; q is filled by the caller. */
static void FN(begin)(FN(strip) * t, const cpu_attention *g, int64_t row0, int64_t rows)
{
    t->row0 = row0;
    t->rows = rows;
    t->most = 0;
    t->least = g->sk;
    memset(t->q, 0, (size_t)(g->d * NQ) * sizeof *t->q);
    memset(t->o, 0, (size_t)FN(cells)(g->d) * sizeof *t->o);
    for (int64_t i = 0; i < NQ; i++) {
        t->top[i] = (REAL)-INFINITY;
        t->sum[i] = 0;
        t->seen[i] = cpu_attention_seen(g, row0 + (i < rows ? i : 0));
        t->most = t->seen[i] > t->most ? t->seen[i] : t->most;
        t->least = t->seen[i] < t->least ? t->seen[i] : t->least;
    }
}

/* o to weighted means, zeros where a query sees nothing. */
static void FN(end)(FN(strip) * t, int64_t d)
{
    for (int v = 0; v < NV; v++) {
        VEC inverse = OP(div)(OP(set1)(1), OP(load)(t->sum + v * LANES));
        for (int64_t c = 0; c < d; c++) {
            REAL *at = t->o + c * NQ + v * LANES;
            OP(store)(at, OP(mul)(OP(load)(at), inverse));
        }
    }
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t c = 0; t->seen[i] == 0 && c < d; c++)
            t->o[c * NQ + i] = 0;
}

#undef DECLARE
#undef POINT
#undef STEP
#undef TILE
#undef PUT_SCORES
#undef ADD_VALUES

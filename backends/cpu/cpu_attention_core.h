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
    REAL *q, *o;         /* d x NQ: scaled queries; sums */
    REAL *top, *sum;     /* NQ: largest score so far; sum of weights */
    int64_t *seen;       /* NQ: keys that a query sees */
    int64_t least, most; /* of seen */
    int64_t row0, rows;
} FN(strip);

typedef struct FN(sums) {
    VEC v[MR][NV];
} FN(sums);

#define DECLARE(r) VEC c##r##0 = zero, c##r##1 = zero, c##r##2 = zero;
#define POINT(r)   const REAL *row##r = rows[r];
#define STEP(r)                          \
    x = OP(broadcast)(row##r + at);      \
    c##r##0 = OP(fmadd)(x, b0, c##r##0); \
    c##r##1 = OP(fmadd)(x, b1, c##r##1); \
    c##r##2 = OP(fmadd)(x, b2, c##r##2);
#define GATHER(r)         \
    s->v[r][0] = c##r##0; \
    s->v[r][1] = c##r##1; \
    s->v[r][2] = c##r##2;

/* s[r] = sum over p < n of rows[r][p * step] b[p]. */
static inline __attribute__((always_inline)) void
FN(tile)(int64_t n, const REAL *const *rows, int64_t step, const REAL *b, FN(sums) * s)
{
    VEC zero = OP(setzero)(), x;
    TILE_ROWS(DECLARE)
    TILE_ROWS(POINT)

    for (int64_t p = 0, at = 0; p < n; p++, at += step, b += NQ) {
        VEC b0 = OP(load)(b), b1 = OP(load)(b + LANES), b2 = OP(load)(b + 2 * LANES);
        TILE_ROWS(STEP)
    }
    TILE_ROWS(GATHER)
}

/* s[j] = the scores of n keys; top: the largest. */
static void FN(scores)(const REAL *k, int64_t n, int64_t d, const REAL *q, REAL *s, VEC top[NV])
{
    for (int v = 0; v < NV; v++)
        top[v] = OP(set1)((REAL)-INFINITY);
    for (int64_t j = 0; j < n; j += MR) {
        int64_t used = n - j < MR ? n - j : MR;
        const REAL *rows[MR];
        FN(sums) t;
        for (int64_t r = 0; r < MR; r++)
            rows[r] = k + (j + (r < used ? r : 0)) * d;
        FN(tile)(d, rows, 1, q, &t);
        for (int64_t r = 0; r < used; r++)
            for (int v = 0; v < NV; v++) {
                OP(store)(s + (j + r) * NQ + v * LANES, t.v[r][v]);
                top[v] = OP(max)(t.v[r][v], top[v]); /* passes over NaN */
            }
    }
}

/* -inf where a query does not see a key; near: keys it sees of this block. */
static void FN(mask)(REAL *s, int64_t n, const REAL *near, VEC top[NV])
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
        top[v] = most;
    }
}

/* Scores to weights; factor: what the sums so far shrink by. */
static void FN(soften)(REAL *s, int64_t n, const VEC top[NV], FN(strip) * t, VEC factor[NV])
{
    VEC nothing = OP(set1)((REAL)-INFINITY), base[NV], sum[NV];

    for (int v = 0; v < NV; v++) {
        VEC old = OP(load)(t->top + v * LANES), most = OP(max)(top[v], old);
        base[v] =
            OP(select_less)(nothing, most, most, OP(setzero)()); /* -inf - -inf is no number */
        factor[v] = OP(weigh)(OP(sub)(old, base[v]));
        sum[v] = OP(setzero)();
        OP(store)(t->top + v * LANES, most);
    }
    for (int64_t j = 0; j < n; j++, s += NQ) {
        VEC p0 = OP(weigh)(OP(sub)(OP(load)(s), base[0]));
        VEC p1 = OP(weigh)(OP(sub)(OP(load)(s + LANES), base[1]));
        VEC p2 = OP(weigh)(OP(sub)(OP(load)(s + 2 * LANES), base[2]));
        OP(store)(s, p0);
        OP(store)(s + LANES, p1);
        OP(store)(s + 2 * LANES, p2);
        sum[0] = OP(add)(sum[0], p0);
        sum[1] = OP(add)(sum[1], p1);
        sum[2] = OP(add)(sum[2], p2);
    }
    for (int v = 0; v < NV; v++) {
        REAL *at = t->sum + v * LANES;
        OP(store)(at, OP(fmadd)(OP(load)(at), factor[v], sum[v]));
    }
}

/* o = factor o + the weighted values of n keys. */
static void FN(mix)(const REAL *values, int64_t n, int64_t d, const REAL *p, const VEC factor[NV],
                    REAL *o)
{
    for (int64_t c = 0; c < d; c += MR) {
        int64_t used = d - c < MR ? d - c : MR;
        const REAL *rows[MR];
        FN(sums) t;
        for (int64_t r = 0; r < MR; r++)
            rows[r] = values + c + (r < used ? r : 0);
        FN(tile)(n, rows, d, p, &t);
        for (int64_t r = 0; r < used; r++)
            for (int v = 0; v < NV; v++) {
                REAL *at = o + (c + r) * NQ + v * LANES;
                OP(store)(at, OP(fmadd)(factor[v], OP(load)(at), t.v[r][v]));
            }
    }
}

/* The same bits for finite values: 0 times one that a query does not see is not added. */
static void FN(mix_seen)(const REAL *values, int64_t n, int64_t d, const REAL *p, const REAL *near,
                         const VEC factor[NV], REAL *o)
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
            OP(store)(at, OP(fmadd)(factor[v], OP(load)(at), t));
        }
}

static bool FN(finite)(const REAL *x, int64_t n)
{
    REAL zero = 0;

    for (int64_t i = 0; i < n; i++)
        zero += x[i] * 0;
    return zero == 0;
}

/* Keys [j0, j0 + n) of a head for one strip; s: scratch for their scores. */
static void FN(advance)(FN(strip) * t, const REAL *k, const REAL *v, int64_t j0, int64_t n,
                        int64_t d, REAL *s)
{
    REAL near[NQ] __attribute__((aligned(64)));
    VEC top[NV], factor[NV];

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

/* A strip of rows [row0, row0 + rows) of a group, nothing seen yet; q is filled by the caller. */
static void FN(begin)(FN(strip) * t, const cpu_attention *g, int64_t row0, int64_t rows)
{
    t->row0 = row0;
    t->rows = rows;
    t->most = 0;
    t->least = g->sk;
    memset(t->q, 0, (size_t)(g->d * NQ) * sizeof *t->q);
    memset(t->o, 0, (size_t)(g->d * NQ) * sizeof *t->o);
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
#undef GATHER

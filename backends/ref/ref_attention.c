/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_attention.c -- o = softmax(scale q k^T) v: both products by ref_matmul.c, a
 * block of queries of one head at a time, over the keys that its last query sees.
 *
 * Errors of a kernel, first order.  Score j of a row is off by (d + 6) u S_j, S_j the sum of
 * absolute products, and its exponential by that, u D_j for the distance to the maximum, and a few
 * roundings; so o is off by the sum of p_j (|v_j| + |o|) times such errors, and by the growth of
 * two sums over the keys.  All of it is growth(T) times the magnitude
 *     sum p_j w_j (|v_j| + |o|),  w_j = 1 + (e^x - 1) / (T u),  x = u ((d + 6) S_j + 2 D_j),
 * T = 2 sk + 32, u of the kernel's arithmetic, and a term for exponentials that may be flushed.
 * A row whose scores that arithmetic does not know (x > 1/2) may be any mixture of its values.
 *
 * Own errors, up to 32 bits: the same with u = 2^-53, so u T magnitude covers them; the product
 * with v comes with its own bound.  What that leaves open, and f64, is summed in double-double. */
#include "backends/ref/ref_matmul.h"

#include <stdlib.h>

/* Queries of a block, and doubles of its scores at most. */
enum { ROWS = 96, SCORE_DOUBLES = 1 << 19 };

typedef struct attend {
    const assay_tensor *q, *k, *v, *o;
    assay_dtype dtype;
    int64_t hq, hkv, sq, sk, d;
    int causal;
    double scale, u, terms; /* u: of a kernel's arithmetic */
} attend;

/* One head's queries [row0, row0 + rows) and the keys that the last of them sees. */
typedef struct block {
    int64_t b, h, row0, rows, keys;
    ref_matmul scores;
    assay_tensor q, k, v;
} block;

typedef struct room {
    assay_wide s;            /* scores; magnitude becomes weights: w e */
    double *e;               /* e^(s - max), 0 for keys that a row does not see */
    double *sum_e, *sum_w;   /* of rows */
    double *top;             /* largest score of rows; NaN: the row is NaN */
    bool *wild;              /* rows of unknown scores */
    assay_wide o, w;         /* e v, (w e) v */
    double *hi, *lo, *error; /* a row in double-double: e and its relative error */
    int64_t exact_row;       /* which one it is; -1: none */
    ref_dd exact_sum;
    double exact_error; /* sum of e times its error */
    double *memory;
} room;

static void read_problem(const assay_launch *launch, attend *g)
{
    const assay_problem *p = launch->problem;

    g->q = &launch->operands[0];
    g->k = &launch->operands[1];
    g->v = &launch->operands[2];
    g->o = &launch->operands[3];
    g->dtype = g->o->dtype;
    g->hq = ASSAY__INT(p, attention, hq);
    g->hkv = ASSAY__INT(p, attention, hkv);
    g->sq = ASSAY__INT(p, attention, sq);
    g->sk = ASSAY__INT(p, attention, sk);
    g->d = ASSAY__INT(p, attention, d);
    g->causal = (int)ASSAY__INT(p, attention, causal);
    g->scale = ASSAY__REAL(p, attention, scale);
    if (g->scale == 0.0)
        g->scale = g->d > 0 ? 1.0 / sqrt((double)g->d) : 1.0;
    if (g->dtype != ASSAY_F64) /* as kernels take it */
        g->scale = assay_round_f64(ASSAY_F32, g->scale);
    g->u = g->dtype == ASSAY_F64 ? REF_U : 0x1p-24;
    g->terms = 2.0 * (double)g->sk + 32.0;
}

/* Keys that query i sees: the first so many. */
static int64_t seen(const attend *g, int64_t i)
{
    int64_t n = g->causal == 0 ? g->sk : g->causal == 1 ? i + 1 + g->sk - g->sq : i + 1;

    return n < 0 ? 0 : n < g->sk ? n : g->sk;
}

/* Rows [row0, ...) of head h as a matrix. */
static assay_tensor matrix_of(const assay_tensor *t, int64_t b, int64_t h, int64_t row0,
                              int64_t rows)
{
    int64_t offset = b * t->strides[0] + h * t->strides[1] + row0 * t->strides[2];
    char *base = assay_tensor_data(t);

    return (assay_tensor){.buffer.at.host = base + offset * (int64_t)assay_dtype_bytes(t->dtype),
                          .dtype = t->dtype,
                          .rank = 3,
                          .dims = {1, rows, t->dims[3]},
                          .strides = {0, t->strides[2], t->strides[3]}};
}

static assay_tensor matrix(double *data, int64_t rows, int64_t cols, int64_t ld)
{
    return (assay_tensor){.buffer.at.host = data,
                          .dtype = ASSAY_F64,
                          .rank = 3,
                          .dims = {1, rows, cols},
                          .strides = {rows * ld, ld, 1}};
}

static void wide_at(assay_wide *w, double *memory, int64_t cells)
{
    *w = (assay_wide){memory, memory + cells, memory + 2 * cells, memory + 3 * cells, 0, cells};
}

/* For blocks of at most `rows` queries. */
static bool room_init(const attend *g, int64_t rows, room *m)
{
    int64_t cells = rows * g->sk, out = rows * g->d;
    size_t doubles = (size_t)(5 * cells + 3 * rows + 8 * out + 3 * g->sk + 1);

    m->memory = malloc(doubles * sizeof *m->memory);
    m->wild = calloc((size_t)rows + 1, sizeof *m->wild);
    if (m->memory == NULL || m->wild == NULL) {
        free(m->memory);
        free(m->wild);
        m->memory = NULL;
        m->wild = NULL;
        return false;
    }
    double *at = m->memory;
    wide_at(&m->s, at, cells);
    m->e = at + 4 * cells;
    m->sum_e = at + 5 * cells;
    m->sum_w = m->sum_e + rows;
    m->top = m->sum_w + rows;
    wide_at(&m->o, m->top + rows, out);
    wide_at(&m->w, m->top + rows + 4 * out, out);
    m->hi = m->top + rows + 8 * out;
    m->lo = m->hi + g->sk;
    m->error = m->lo + g->sk;
    return true;
}

/* Weight of a kernel's error in the exponential of one key, times it. */
static double weight(const attend *g, double e, double size, double distance, bool *wild)
{
    double x = g->u * (((double)g->d + 6.0) * size + 2.0 * distance);
    double flushed = (g->dtype == ASSAY_F64 ? 0x1p-1021 : 0x1p-125) / (g->terms * g->u);

    if (!isfinite(distance)) /* a score of -inf has no part */
        return flushed;
    if (!(x <= 0.5)) {
        *wild = true;
        return e + flushed;
    }
    return e * (1.0 + x * (1.0 + x) / (g->terms * g->u)) + flushed; /* x + x^2 >= e^x - 1 */
}

/* Scores of row r to exponentials and weights. */
static void soften(const attend *g, const block *b, room *m, int64_t r)
{
    int64_t n = seen(g, b->row0 + r);
    const double *s = m->s.hi + r * b->keys;
    double *w = m->s.magnitude + r * b->keys, *e = m->e + r * b->keys, top = -INFINITY;
    ref_dd sum = {0.0, 0.0};

    m->wild[r] = false;
    m->sum_w[r] = 0.0;
    for (int64_t j = 0; j < n; j++)
        if (!(s[j] <= top))
            top = s[j]; /* a NaN stays */
    m->top[r] = isfinite(top) ? top : NAN;
    for (int64_t j = 0; j < n; j++)
        e[j] = s[j] - top;
    if (ref_has_avx2())
        ref_exp_fast_avx2(e, e, n);
    else
        ref_exp_fast(e, e, n);
    for (int64_t j = 0; j < n; j++) {
        ref_dd next = ref_two_sum(sum.hi, e[j]);
        sum = (ref_dd){next.hi, sum.lo + next.lo};
        w[j] = weight(g, e[j], w[j], top - s[j], &m->wild[r]);
        m->sum_w[r] += w[j];
    }
    for (int64_t j = n; j < b->keys; j++)
        e[j] = w[j] = 0.0;
    m->sum_e[r] = sum.hi + sum.lo;
}

static assay_status times_values(const attend *g, const block *b, double *factors, int64_t rows,
                                 int64_t keys, assay_wide *out)
{
    assay_tensor a = matrix(factors, rows, keys, b->keys);
    ref_matmul product = {
        .a = &a, .b = &b->v, .c = g->o, .m = rows, .n = g->d, .k = keys, .alpha = 1.0, .beta = 0.0};

    out->first = 0;
    out->count = rows * g->d;
    return ref_matmul_wide(&product, 1, out);
}

static assay_wide row_of(const assay_wide *w, int64_t at)
{
    return (assay_wide){w->hi + at, w->lo + at, w->bound + at, w->magnitude + at, 0, 0};
}

static bool values_finite(const attend *g, const block *b)
{
    for (int64_t j = 0; j < b->keys; j++)
        for (int64_t c = 0; c < g->d; c++)
            if (!isfinite(ref_load(&b->v, j * g->d + c)))
                return false;
    return true;
}

/* Rows one by one where 0 times a value that a row does not see would not be 0. */
static assay_status mix_values(const attend *g, const block *b, room *m)
{
    if (b->keys == 0)
        return ASSAY_OK;
    if (values_finite(g, b)) {
        ASSAY_TRY(times_values(g, b, m->e, b->rows, b->keys, &m->o));
        return times_values(g, b, m->s.magnitude, b->rows, b->keys, &m->w);
    }
    for (int64_t r = 0; r < b->rows; r++) {
        int64_t n = seen(g, b->row0 + r);
        assay_wide o = row_of(&m->o, r * g->d), w = row_of(&m->w, r * g->d);
        ASSAY_TRY(times_values(g, b, m->e + r * b->keys, 1, n, &o));
        ASSAY_TRY(times_values(g, b, m->s.magnitude + r * b->keys, 1, n, &w));
    }
    return ASSAY_OK;
}

/* ---- a row in double-double ------------------------------------------------------------------ */

static ref_dd exp_of(ref_dd d)
{
    double bound;

    if (d.hi > -600.0)
        return ref_exp_dd(d);
    /* Below e^-600 the low part changes less than 2^-43 of the result: first order. */
    ref_dd e = ref_exp_mpfr(d.hi, &bound);
    e.lo += isfinite(d.hi) ? e.hi * d.lo : 0.0;
    return e;
}

static void exact_row(const attend *g, const block *b, room *m, int64_t r)
{
    int64_t n = seen(g, b->row0 + r);
    ref_dd sum = {0.0, 0.0};

    m->exact_row = r;
    m->exact_error = 0.0;
    for (int64_t j = 0; j < n; j++) {
        int64_t at = r * b->keys + j;
        ref_sum s = {{m->s.hi[at], m->s.lo[at]}, m->s.bound[at], 0.0};
        if (g->dtype != ASSAY_F64)
            s = ref_matmul_exact(&b->scores, 0, r, j);
        ref_dd d = ref_two_sum(s.value.hi, -m->top[r]);
        d = isfinite(d.hi) ? ref_two_sum(d.hi, d.lo + s.value.lo) : (ref_dd){d.hi, 0.0};
        ref_dd e = exp_of(d);
        m->hi[j] = e.hi;
        m->lo[j] = e.lo;
        m->error[j] = isfinite(d.hi) ? 1.01 * s.bound + 0x1p-83 + (double)n * 0x1p-102 : 0.0;
        m->exact_error += e.hi * m->error[j];
        sum = ref_add_dd(sum, e);
    }
    m->exact_sum = sum;
}

static ref_dd divide(ref_dd a, ref_dd b)
{
    double q = a.hi / b.hi;
    double rest = fma(-q, b.hi, a.hi) + (a.lo - q * b.lo);

    return ref_fast_two_sum(q, rest / b.hi);
}

/* o[r][c]; *weighted: the sum of w e |v| where it is wanted. */
static ref_sum exact_element(const attend *g, const block *b, room *m, int64_t r, int64_t c)
{
    int64_t n = seen(g, b->row0 + r);
    ref_dd sum = {0.0, 0.0};
    double plain = 0.0, error = 0.0, weighted = 0.0;

    if (m->exact_row != r)
        exact_row(g, b, m, r);
    for (int64_t j = 0; j < n; j++) {
        double v = ref_load(&b->v, j * g->d + c);
        ref_dd p = ref_two_prod(m->hi[j], v);
        sum = ref_add_dd(sum, (ref_dd){p.hi, p.lo + m->lo[j] * v});
        plain += m->hi[j] * v;
        error += fabs(m->hi[j] * v) * m->error[j];
        weighted += m->s.magnitude[r * b->keys + j] * fabs(v);
    }
    if (!isfinite(plain))
        return (ref_sum){{plain, 0.0}, 0.0, 0.0};
    ref_dd y = divide(sum, m->exact_sum);
    double total = m->exact_sum.hi;
    double bound = (error + fabs(y.hi) * m->exact_error) / total * 1.01 + fabs(y.hi) * 0x1p-98;
    return (ref_sum){y, bound + 4.0 * (double)n * REF_TINY,
                     (weighted + fabs(y.hi) * m->sum_w[r]) / total};
}

/* ---- elements -------------------------------------------------------------------------------- */

static ref_sum fast_element(const attend *g, room *m, int64_t r, int64_t c)
{
    int64_t at = r * g->d + c;
    double total = m->sum_e[r], y = (m->o.hi[at] + m->o.lo[at]) / total;

    if (!isfinite(y))
        return (ref_sum){{y, 0.0}, 0.0, 0.0};
    double magnitude = (m->w.magnitude[at] + fabs(y) * m->sum_w[r]) / total;
    double own = m->o.bound[at] / total + REF_U * (g->terms * magnitude + 8.0 * fabs(y));
    return (ref_sum){{y, 0.0}, 1.01 * own, magnitude};
}

/* What any mixture of the row's values can be off by. */
static double any_mixture(const attend *g, const block *b, int64_t r, int64_t c)
{
    double most = 0.0;

    for (int64_t j = 0; j < seen(g, b->row0 + r); j++)
        most = fmax(most, fabs(ref_load(&b->v, j * g->d + c)));
    return 2.0 * most / (g->terms * g->u);
}

static ref_sum element(const attend *g, const block *b, room *m, int64_t r, int64_t c)
{
    if (seen(g, b->row0 + r) == 0)
        return (ref_sum){{0.0, 0.0}, 0.0, 0.0};
    if (isnan(m->top[r]))
        return (ref_sum){{NAN, 0.0}, 0.0, 0.0};
    ref_sum y = g->dtype == ASSAY_F64 ? exact_element(g, b, m, r, c) : fast_element(g, m, r, c);
    if (g->dtype != ASSAY_F64 && ref_doubtful(g->dtype, y.value, y.bound)) {
        double magnitude = y.magnitude;
        y = exact_element(g, b, m, r, c);
        y.magnitude = magnitude;
    }
    if (m->wild[r] && isfinite(y.value.hi))
        y.magnitude += any_mixture(g, b, r, c);
    return y;
}

/* The part of the block that `out` asks for. */
static void put_block(const attend *g, const block *b, room *m, const assay_wide *out)
{
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t c = 0; c < g->d; c++) {
            int64_t at = ((b->b * g->hq + b->h) * g->sq + b->row0 + r) * g->d + c - out->first;
            if (at < 0 || at >= out->count)
                continue;
            ref_sum y = element(g, b, m, r, c);
            ref_put(out, at, y.value, y.bound);
            if (out->magnitude != NULL)
                out->magnitude[at] = y.magnitude;
        }
}

static assay_status run_block(const attend *g, block *b, room *m, const assay_wide *out)
{
    b->keys = seen(g, b->row0 + b->rows - 1);
    b->q = matrix_of(g->q, b->b, b->h, b->row0, b->rows);
    b->k = matrix_of(g->k, b->b, b->h / (g->hq / g->hkv), 0, g->sk);
    b->v = matrix_of(g->v, b->b, b->h / (g->hq / g->hkv), 0, g->sk);
    b->scores = (ref_matmul){.a = &b->q,
                             .b = &b->k,
                             .c = g->o,
                             .m = b->rows,
                             .n = b->keys,
                             .k = g->d,
                             .trans_b = true,
                             .alpha = g->scale,
                             .beta = 0.0};
    m->exact_row = -1;
    m->s.count = b->rows * b->keys;
    ASSAY_TRY(ref_matmul_wide(&b->scores, 1, &m->s));
    for (int64_t r = 0; r < b->rows; r++)
        soften(g, b, m, r);
    if (g->dtype != ASSAY_F64)
        ASSAY_TRY(mix_values(g, b, m));
    put_block(g, b, m, out);
    return ASSAY_OK;
}

/* Block `index` of those that hold rows [first, last] of o, counted over all heads. */
static assay_status block_number(const attend *g, int64_t index, int64_t step, room *m,
                                 const assay_wide *out)
{
    int64_t blocks = (g->sq + step - 1) / step, head = index / blocks;
    block b = {.b = head / g->hq, .h = head % g->hq, .row0 = index % blocks * step};

    b.rows = g->sq - b.row0 < step ? g->sq - b.row0 : step;
    return run_block(g, &b, m, out);
}

static int64_t block_of(const attend *g, int64_t row, int64_t step)
{
    return row / g->sq * ((g->sq + step - 1) / step) + row % g->sq / step;
}

REF_OP(attention, 1 << 16)
{
    assay_status worst = ASSAY_OK;
    attend g;

    read_problem(launch, &g);
    if (out->count == 0)
        return ASSAY_OK;
    int64_t fit = g.sk > 0 ? SCORE_DOUBLES / g.sk : ROWS;
    int64_t step = fit < 6 ? 6 : fit < ROWS ? fit : ROWS;
    int64_t first = block_of(&g, out->first / g.d, step);
    int64_t last = block_of(&g, (out->first + out->count - 1) / g.d, step);
#pragma omp parallel num_threads(threads) if (last > first)
    {
        room m = {.exact_row = -1};
        assay_status status = room_init(&g, step, &m) ? ASSAY_OK : ASSAY_NOMEM;
#pragma omp for schedule(dynamic)
        for (int64_t index = first; index <= last; index++)
            if (status == ASSAY_OK)
                status = block_number(&g, index, step, &m, out);
        if (status != ASSAY_OK) {
#pragma omp critical
            worst = status;
        }
        free(m.memory);
        free(m.wild);
        ref_mpfr_release();
    }
    return worst;
}

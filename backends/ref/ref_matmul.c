/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_matmul.c -- C = alpha op(A) op(B) + beta C, blocked, in compensated double.
 *
 * alpha and beta are taken in the type that kernels compute in: rounded to f32 for outputs of up
 * to 32 bits.  Products of up to 32-bit values are exact in double; they are summed over blocks of
 * KC by FMA, blocks by an error-free sum, so |error| <= (KC + 2) u sum|a||b|.  f64: compensated dot
 * product (Ogita, Rump, Oishi: Dot2), |error| <= 2 (k + 1)^2 u^2 sum|a||b|.  Elements whose
 * rounding that leaves open go through ref_dot.c. */
#include "backends/ref/ref_matmul.h"

#include <stdlib.h>
#include <string.h>

enum { MC = 96, NC = 96, KC = 256 };

typedef struct tile {
    double *a, *b;               /* packed panels */
    double *hi, *lo, *magnitude; /* MC x NC */
} tile;

/* A rectangle of one product of the batch. */
typedef struct piece {
    int64_t batch, row0, row1, col0, col1;
} piece;

static double load_at(const assay_tensor *t, int64_t batch, int64_t i, int64_t j)
{
    int64_t offset = batch * t->strides[0] + i * t->strides[1] + j * t->strides[2];
    const char *base = assay_tensor_data(t);

    return assay_load_f64(t->dtype, base + offset * (int64_t)assay_dtype_bytes(t->dtype), 0);
}

double ref_matmul_a(const ref_matmul *g, int64_t batch, int64_t i, int64_t p)
{
    return g->trans_a ? load_at(g->a, batch, p, i) : load_at(g->a, batch, i, p);
}

double ref_matmul_b(const ref_matmul *g, int64_t batch, int64_t p, int64_t j)
{
    return g->trans_b ? load_at(g->b, batch, j, p) : load_at(g->b, batch, p, j);
}

double ref_matmul_c(const ref_matmul *g, int64_t batch, int64_t i, int64_t j)
{
    return load_at(g->c, batch, i, j);
}

void ref_matmul_read(const assay_launch *launch, ref_matmul *g)
{
    const assay_problem *p = launch->problem;

    g->a = &launch->operands[0];
    g->b = &launch->operands[1];
    g->c = &launch->operands[2];
    g->m = ASSAY__INT(p, matmul, m);
    g->n = ASSAY__INT(p, matmul, n);
    g->k = ASSAY__INT(p, matmul, k);
    g->trans_a = ASSAY__INT(p, matmul, trans_a) != 0;
    g->trans_b = ASSAY__INT(p, matmul, trans_b) != 0;
    g->alpha = ASSAY__REAL(p, matmul, alpha);
    g->beta = ASSAY__REAL(p, matmul, beta);
    if (g->c->dtype != ASSAY_F64) {
        /* By call: gcc 12.2 -O2 drops this pair of casts to float and back. */
        g->alpha = assay_round_f64(ASSAY_F32, g->alpha);
        g->beta = assay_round_f64(ASSAY_F32, g->beta);
    }
    if (g->alpha == 0.0) /* op(A) and op(B) are not read: sums of nothing */
        g->k = 0;
}

/* kc x width values of op(A) by rows or op(B) by columns, in strips of `strip`, zero padded. */
static void pack(const assay_tensor *t, int64_t batch, int64_t start, int64_t width,
                 int64_t width_stride, int64_t p0, int64_t kc, int64_t k_stride, int64_t strip,
                 double *out)
{
    size_t bytes = assay_dtype_bytes(t->dtype);
    const char *base = assay_tensor_data(t);

    base += (batch * t->strides[0] + start * width_stride + p0 * k_stride) * (int64_t)bytes;
    for (int64_t s = 0; s < width; s += strip)
        for (int64_t w = 0; w < strip; w++) {
            double *to = out + s * kc + w;
            const char *from = base + (s + w) * width_stride * (int64_t)bytes;
            for (int64_t p = 0; p < kc; p++, from += k_stride * (int64_t)bytes) {
                if (s + w >= width)
                    to[p * strip] = 0.0;
                else if (t->dtype == ASSAY_F32)
                    to[p * strip] = (double)*(const float *)(const void *)from;
                else
                    to[p * strip] = assay_load_f64(t->dtype, from, 0);
            }
        }
}

static void pack_panels(const ref_matmul *g, const piece *q, int64_t p0, int64_t kc, tile *t)
{
    const int64_t *a = g->a->strides, *b = g->b->strides;

    pack(g->a, q->batch, q->row0, q->row1 - q->row0, g->trans_a ? a[2] : a[1], p0, kc,
         g->trans_a ? a[1] : a[2], REF_MR, t->a);
    pack(g->b, q->batch, q->col0, q->col1 - q->col0, g->trans_b ? b[1] : b[2], p0, kc,
         g->trans_b ? b[2] : b[1], REF_NR, t->b);
}

/* Portable micro-kernel: an error-free sum for every product. */
static void tile_portable(int64_t kc, const double *a, const double *b, double *hi, double *lo,
                          double *magnitude, int64_t ld)
{
    for (int64_t i = 0; i < REF_MR; i++)
        for (int64_t j = 0; j < REF_NR; j++) {
            double s = hi[i * ld + j], c = lo[i * ld + j], sum = magnitude[i * ld + j];
            for (int64_t p = 0; p < kc; p++) {
                ref_dd product = ref_two_prod(a[p * REF_MR + i], b[p * REF_NR + j]);
                ref_dd next = ref_two_sum(s, product.hi);
                s = next.hi;
                c += next.lo + product.lo;
                sum += fabs(product.hi);
            }
            hi[i * ld + j] = s;
            lo[i * ld + j] = c;
            magnitude[i * ld + j] = sum;
        }
}

static ref_tile_fn choose_tile(assay_dtype dtype)
{
    if (!ref_has_avx2())
        return tile_portable;
    return dtype == ASSAY_F64 ? ref_tile_dot2_avx2 : ref_tile_fma_avx2;
}

static void run_tile(const ref_matmul *g, const piece *q, tile *t)
{
    int64_t rows = q->row1 - q->row0, cols = q->col1 - q->col0;
    ref_tile_fn micro = choose_tile(g->c->dtype);

    memset(t->hi, 0, 3 * MC * NC * sizeof *t->hi);
    for (int64_t p0 = 0; p0 < g->k; p0 += KC) {
        int64_t kc = g->k - p0 < KC ? g->k - p0 : KC;
        pack_panels(g, q, p0, kc, t);
        for (int64_t j = 0; j < cols; j += REF_NR)
            for (int64_t i = 0; i < rows; i += REF_MR)
                micro(kc, t->a + i * kc, t->b + j * kc, t->hi + i * NC + j, t->lo + i * NC + j,
                      t->magnitude + i * NC + j, NC);
    }
}

/* A-priori bound of the sum before alpha; the factor covers the magnitude's own rounding. */
static double sum_bound(const ref_matmul *g, double magnitude)
{
    double k = (double)g->k;

    if (g->c->dtype == ASSAY_F64 || !ref_has_avx2())
        return 2.0 * (k + 1.0) * (k + 1.0) * REF_U * REF_U * magnitude * 1.001 + 4.0 * k * REF_TINY;
    return ((k < KC ? k : KC) + 2.0) * REF_U * magnitude * 1.001;
}

static void put_element(const ref_matmul *g, int64_t batch, int64_t i, int64_t j, ref_sum sum,
                        const assay_wide *out)
{
    int64_t at = (batch * g->m + i) * g->n + j - out->first;
    assay_dtype dtype = g->c->dtype;
    ref_sum y = ref_matmul_scale(g, batch, i, j, sum);

    /* A double that overflowed on the way may still have a finite sum. */
    if (ref_doubtful(dtype, y.value, y.bound) || (dtype == ASSAY_F64 && !isfinite(y.value.hi)))
        y = ref_matmul_exact(g, batch, i, j);
    ref_put(out, at, y.value, y.bound);
    if (out->magnitude != NULL)
        out->magnitude[at] = y.magnitude;
}

static void finish_tile(const ref_matmul *g, const piece *q, const tile *t, const assay_wide *out)
{
    for (int64_t i = q->row0; i < q->row1; i++)
        for (int64_t j = q->col0; j < q->col1; j++) {
            int64_t at = (i - q->row0) * NC + j - q->col0;
            ref_sum sum = {{t->hi[at], t->lo[at]}, 0.0, t->magnitude[at]};
            if (!isfinite(sum.value.hi))
                sum.value.lo = 0.0;
            sum.bound = sum_bound(g, sum.magnitude);
            put_element(g, q->batch, i, j, sum, out);
        }
}

static void small_piece(const ref_matmul *g, const piece *q, const assay_wide *out)
{
    for (int64_t i = q->row0; i < q->row1; i++)
        for (int64_t j = q->col0; j < q->col1; j++)
            put_element(g, q->batch, i, j, ref_matmul_dot(g, q->batch, i, j), out);
}

static bool tile_alloc(tile *t)
{
    size_t panels = (size_t)(MC + NC) * KC, sums = (size_t)MC * NC;
    double *memory = malloc((panels + 3 * sums) * sizeof *memory);

    *t = (tile){memory, memory, memory, memory, memory};
    if (memory == NULL)
        return false;
    t->b = memory + (size_t)MC * KC;
    t->hi = memory + panels;
    t->lo = t->hi + sums;
    t->magnitude = t->lo + sums;
    /* cppcheck-suppress memleak ; t->a owns it */
    return true;
}

static void tile_number(const piece *whole, int64_t index, piece *q)
{
    int64_t across = (whole->col1 - whole->col0 + NC - 1) / NC;

    *q = *whole;
    q->row0 += index / across * MC;
    q->col0 += index % across * NC;
    q->row1 = q->row0 + MC < whole->row1 ? q->row0 + MC : whole->row1;
    q->col1 = q->col0 + NC < whole->col1 ? q->col0 + NC : whole->col1;
}

static bool run_piece(const ref_matmul *g, unsigned threads, const piece *whole,
                      const assay_wide *out)
{
    int64_t down = (whole->row1 - whole->row0 + MC - 1) / MC;
    int64_t across = (whole->col1 - whole->col0 + NC - 1) / NC;
    int64_t tiles = down * across;
    bool failed = false;

#pragma omp parallel num_threads(threads) if (tiles > 1)
    {
        tile t;
        bool ready = tile_alloc(&t);
        if (!ready) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(dynamic)
        for (int64_t index = 0; index < tiles; index++) {
            piece q;
            if (!ready)
                continue;
            tile_number(whole, index, &q);
            run_tile(g, &q, &t);
            finish_tile(g, &q, &t, out);
        }
        free(t.a);
    }
    return !failed;
}

static bool any_piece(const ref_matmul *g, unsigned threads, const piece *q, const assay_wide *out)
{
    int64_t elements = (q->row1 - q->row0) * (q->col1 - q->col0);

    if (elements <= 0)
        return true;
    if (elements >= 2 * REF_MR * REF_NR)
        return run_piece(g, threads, q, out);
    small_piece(g, q, out);
    return true;
}

/* The range within one product: a part of a row, whole rows, a part of a row. */
static bool run_range(const ref_matmul *g, unsigned threads, int64_t batch, int64_t from,
                      int64_t to, const assay_wide *out)
{
    int64_t n = g->n, row = from / n, last = to / n;

    if (row == last)
        return any_piece(g, threads, &(piece){batch, row, row + 1, from % n, to % n}, out);
    if (from % n != 0) {
        if (!any_piece(g, threads, &(piece){batch, row, row + 1, from % n, n}, out))
            return false;
        row++;
    }
    return any_piece(g, threads, &(piece){batch, row, last, 0, n}, out) &&
           any_piece(g, threads, &(piece){batch, last, last + 1, 0, to % n}, out);
}

assay_status ref_matmul_wide(const ref_matmul *g, unsigned threads, const assay_wide *out)
{
    int64_t one = g->m * g->n, end = out->first + out->count;
    if (out->count == 0 || one == 0)
        return ASSAY_OK;
    for (int64_t batch = out->first / one; batch * one < end; batch++) {
        int64_t from = out->first > batch * one ? out->first - batch * one : 0;
        int64_t to = end - batch * one < one ? end - batch * one : one;
        if (!run_range(g, threads, batch, from, to, out))
            return ASSAY_NOMEM;
    }
    return ASSAY_OK;
}

assay_status ref_wide_matmul(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    ref_matmul g;

    ref_matmul_read(launch, &g);
    return ref_matmul_wide(&g, threads, out);
}

assay_status ref_run_matmul(const assay_launch *launch)
{
    int64_t n = ASSAY__INT(launch->problem, matmul, n);
    int64_t rows = n > 0 && n < MC * NC * 16 ? MC * NC * 16 / n : 1;

    return ref_run(launch, ref_wide_matmul, n > 0 ? rows * n : 1);
}

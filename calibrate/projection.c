/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection.c -- see projection.h. */
#include "calibrate/projection.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "assay/dtype.h"
#include "calibrate/projection_loops.h"
#include "runtime/error.h"
#include "support/rng.h"

/* Elements of A at a time: some rows, some of each. */
enum { CHUNK_ROWS = 64, CHUNK_K = 128 };
/* Elements of a column of B at a time. */
enum { PIECE_K = 512 };
#define U 0x1p-53

/* Fours of a row of strips, even in number: the loops take two at a time. */
static size_t padded(int64_t blocks)
{
    return (size_t)(blocks + blocks % 2);
}

static int64_t blocks_of(const assay__product *g)
{
    return (g->n + ASSAY__PROJECTION_BLOCK - 1) / ASSAY__PROJECTION_BLOCK;
}

int64_t assay__projection_strips(const assay__product *g)
{
    return g->batch * g->m * blocks_of(g);
}

static int64_t width_at(const assay__projection *e, int64_t block)
{
    const int64_t left = e->product.n - block * e->width;

    return left < e->width ? left : e->width;
}

/* ---- threads ---- */

typedef struct crew crew;
typedef void (*part_fn)(crew *c, int64_t from, int64_t to, double *room);

/* What all threads share. */
struct crew {
    const assay__projection *e;
    const assay__projection_loops *loops;
    const void *from[3]; /* A, B, addend; or Y in the first */
    const assay_accept_spec *spec;
    int64_t batch;
    double *projected; /* B r of the product at hand: k rows of fours */
    double *share;
    part_fn part;
};

typedef struct hand {
    crew *c;
    int64_t from, to;
    double *room; /* owned: what `part` needs */
    pthread_t thread;
    bool started;
} hand;

static void *work(void *arg)
{
    hand *h = arg;

    h->c->part(h->c, h->from, h->to, h->room);
    return NULL;
}

/* `count` things in equal parts; each writes what is its own, so that the split changes nothing. */
static assay_status split(crew *c, part_fn part, int64_t count, unsigned threads, size_t room)
{
    const int64_t hands = threads > 0 ? (int64_t)threads : 1;
    hand *list = calloc((size_t)hands, sizeof *list);
    bool is_short = list == NULL;

    c->part = part;
    for (int64_t i = 0; !is_short && i < hands; i++) {
        list[i] = (hand){.c = c, .from = count * i / hands, .to = count * (i + 1) / hands};
        list[i].room = malloc((room + 1) * sizeof(double));
        is_short = list[i].room == NULL;
    }
    for (int64_t i = 0; !is_short && i < hands; i++) {
        hand *h = &list[i];
        h->started =
            i + 1 < hands && h->from < h->to && pthread_create(&h->thread, NULL, work, h) == 0;
        if (!h->started)
            (void)work(h);
    }
    for (int64_t i = 0; list != NULL && i < hands; i++) {
        if (list[i].started)
            pthread_join(list[i].thread, NULL);
        free(list[i].room);
    }
    free(list);
    return is_short ? assay__fail(ASSAY_NOMEM, "projections of a product") : ASSAY_OK;
}

/* ---- vectors ---- */

static void draw_block(const assay__projection *e, int64_t block, assay__rng *rng)
{
    size_t order[ASSAY__PROJECTION_BLOCK];
    const size_t width = (size_t)width_at(e, block);

    for (size_t j = 0; j < width; j++)
        order[j] = j;
    assay__rng_shuffle(rng, order, width);
    for (size_t j = 0; j < width; j++) {
        double *four = e->vectors + 4 * ((size_t)(block * e->width) + j);
        const double size = 1.0 + (double)order[j] / ASSAY__PROJECTION_BLOCK;
        const uint64_t signs = assay__rng_bits(rng) >> 61;
        for (size_t v = 0; v < 3; v++)
            four[v] = signs >> v & 1 ? -size : size;
        four[3] = size;
    }
}

/* ---- what is expected ---- */

/* Elements of a matrix as doubles; any dtype's fit. */
static void widen(const void *from, assay_dtype dtype, int64_t at, int64_t count, double *to)
{
    const char *base = from;

    (void)assay_convert(ASSAY_F64, to, dtype, base + (size_t)at * assay_dtype_bytes(dtype),
                        (size_t)count);
}

static assay_dtype dtype_of(const assay__projection *e, size_t operand)
{
    return (assay_dtype)e->product.problem.dtypes[operand];
}

/* B r for rows from..to-1 of op(B), which lie one after another. */
static void project_rows(crew *c, int64_t from, int64_t to, double *room)
{
    const assay__projection *e = c->e;
    const assay__product *g = &e->product;
    const size_t count = padded(e->blocks);

    for (int64_t p = from; p < to; p++)
        for (int64_t block = 0; block < e->blocks; block++) {
            const int64_t first = block * e->width, width = width_at(e, block);
            widen(c->from[1], dtype_of(e, 1), (c->batch * g->k + p) * g->n + first, width, room);
            c->loops->dot(room, e->vectors + 4 * first, (size_t)width,
                          c->projected + 4 * ((size_t)p * count + (size_t)block));
        }
}

/* The same where B is stored by columns of op(B): a piece of each column of a block at a time, long
 * enough for what is fetched ahead to be of use. */
static void project_columns(crew *c, int64_t from, int64_t to, double *room)
{
    const assay__projection *e = c->e;
    const assay__product *g = &e->product;
    const size_t count = padded(e->blocks);
    double *sums = room + PIECE_K;

    for (int64_t p = from; p < to; p += PIECE_K)
        for (int64_t block = 0; block < e->blocks; block++) {
            const int64_t k = to - p < PIECE_K ? to - p : PIECE_K, first = block * e->width;
            memset(sums, 0, 4 * (size_t)k * sizeof *sums);
            for (int64_t j = first; j < first + width_at(e, block); j++) {
                widen(c->from[1], dtype_of(e, 1), (c->batch * g->n + j) * g->k + p, k, room);
                c->loops->add(room, e->vectors + 4 * j, (size_t)k, sums);
            }
            for (int64_t i = 0; i < k; i++)
                memcpy(c->projected + 4 * ((size_t)(p + i) * count + (size_t)block), sums + 4 * i,
                       4 * sizeof *sums);
        }
}

/* Rows row..row+rows-1 and elements p..p+k-1 of op(A), CHUNK_K (or, transposed, CHUNK_ROWS) apart.
 * Rows that the loops ask for beyond them hold what was there. */
static void read_chunk(const crew *c, int64_t row, int64_t rows, int64_t p, int64_t k, double *to)
{
    const assay__product *g = &c->e->product;
    const assay_dtype dtype = dtype_of(c->e, 0);
    const int64_t begin = c->batch * g->m * g->k;

    if (g->trans_a)
        for (int64_t i = 0; i < k; i++)
            widen(c->from[0], dtype, begin + (p + i) * g->m + row, rows, to + i * CHUNK_ROWS);
    else
        for (int64_t i = 0; i < rows; i++)
            widen(c->from[0], dtype, begin + (row + i) * g->k + p, k, to + i * CHUNK_K);
}

/* alpha and the addend on top, into the strips of one row. */
static void finish_row(crew *c, int64_t row, const double *sums, double *room)
{
    const assay__projection *e = c->e;
    const assay__product *g = &e->product;
    double *to = e->expected + 4 * (size_t)((c->batch * g->m + row) * e->blocks);

    for (int64_t block = 0; block < e->blocks; block++, to += 4, sums += 4) {
        double old[4] = {0};
        if (g->has_addend) {
            const int64_t first = block * e->width, width = width_at(e, block);
            const int64_t begin = g->is_addend_a_row ? 0 : (c->batch * g->m + row) * g->n;
            widen(c->from[2], dtype_of(e, 2), begin + first, width, room);
            c->loops->dot(room, e->vectors + 4 * first, (size_t)width, old);
        }
        for (int v = 0; v < 3; v++)
            to[v] = g->alpha * sums[v] + (g->has_addend ? g->beta * old[v] : 0.0);
        to[3] = fabs(g->alpha) * sums[3] + (g->has_addend ? fabs(g->beta) * old[3] : 0.0);
    }
}

/* What projecting B needs, either way. */
#define PROJECT_ROOM (5 * PIECE_K)

static size_t chunk_room(const assay__projection *e)
{
    _Static_assert(CHUNK_ROWS * CHUNK_K >= PROJECT_ROOM, "products of a batch project there");
    return CHUNK_ROWS * CHUNK_K + 4 * CHUNK_ROWS * padded(e->blocks) + ASSAY__PROJECTION_BLOCK;
}

/* A (B r) for rows from..to-1 of op(A). */
static void expect_rows(crew *c, int64_t from, int64_t to, double *room)
{
    const assay__product *g = &c->e->product;
    const size_t count = padded(c->e->blocks);
    double *sums = room + CHUNK_ROWS * CHUNK_K, *line = sums + 4 * CHUNK_ROWS * count;
    const size_t row_step = g->trans_a ? 1 : CHUNK_K, step = g->trans_a ? CHUNK_ROWS : 1;

    memset(room, 0, CHUNK_ROWS * CHUNK_K * sizeof *room);
    for (int64_t row = from; row < to; row += CHUNK_ROWS) {
        const int64_t rows = to - row < CHUNK_ROWS ? to - row : CHUNK_ROWS;
        memset(sums, 0, 4 * CHUNK_ROWS * count * sizeof *sums);
        for (int64_t p = 0; p < g->k; p += CHUNK_K) {
            const int64_t k = g->k - p < CHUNK_K ? g->k - p : CHUNK_K;
            read_chunk(c, row, rows, p, k, room);
            c->loops->multiply(room, row_step, step, (size_t)(rows + 3) / 4 * 4, (size_t)k,
                               c->projected + 4 * (size_t)p * count, count, sums);
        }
        for (int64_t i = 0; i < rows; i++)
            finish_row(c, row + i, sums + 4 * (size_t)i * count, line);
    }
}

/* Whole products from..to-1, each thread with a B r of its own: there are many, and small ones. */
static void expect_products(crew *c, int64_t from, int64_t to, double *room)
{
    crew own = *c;
    const assay__product *g = &c->e->product;
    const size_t projected = 4 * (size_t)g->k * padded(c->e->blocks);

    own.projected = room;
    for (own.batch = from; own.batch < to; own.batch++) {
        memset(room, 0, projected * sizeof *room);
        (g->trans_b ? project_columns : project_rows)(&own, 0, g->k, room + projected);
        expect_rows(&own, 0, g->m, room + projected);
    }
}

static assay_status expect_one(crew *c, unsigned threads)
{
    const assay__product *g = &c->e->product;

    memset(c->projected, 0, 4 * (size_t)g->k * padded(c->e->blocks) * sizeof(double));
    ASSAY_TRY(split(c, g->trans_b ? project_columns : project_rows, g->k, threads, PROJECT_ROOM));
    return split(c, expect_rows, g->m, threads, chunk_room(c->e));
}

static assay_status expect_all(crew *c, unsigned threads)
{
    const assay__product *g = &c->e->product;
    const size_t projected = 4 * (size_t)g->k * padded(c->e->blocks);
    assay_status status = ASSAY_OK;

    if (g->batch >= 2 * (int64_t)threads)
        return split(c, expect_products, g->batch, threads, projected + chunk_room(c->e));
    c->projected = malloc((projected + 1) * sizeof(double));
    if (c->projected == NULL)
        return assay__fail(ASSAY_NOMEM, "projections of a product");
    for (c->batch = 0; status == ASSAY_OK && c->batch < g->batch; c->batch++)
        status = expect_one(c, threads);
    free(c->projected);
    return status;
}

assay_status assay__projection_make(const assay__product *g, const void *const from[3],
                                    uint64_t seed, const char *stream, unsigned threads,
                                    assay__projection *out)
{
    assay__projection e = {.product = *g, .blocks = blocks_of(g)};
    crew c = {.e = &e,
              .loops = assay__projection_best(),
              .from = {from[0], from[1], g->has_addend ? from[2] : NULL}};
    assay__rng rng;
    assay_status status = ASSAY_OK;

    e.width = e.blocks > 0 ? (g->n + e.blocks - 1) / e.blocks : 0;
    e.vectors = malloc((4 * (size_t)g->n + 1) * sizeof(double));
    e.expected = malloc((4 * (size_t)assay__projection_strips(g) + 1) * sizeof(double));
    if (e.vectors == NULL || e.expected == NULL)
        status = assay__fail(ASSAY_NOMEM, "projections of a product");
    assay__rng_seed_named(&rng, seed, stream);
    for (int64_t block = 0; status == ASSAY_OK && block < e.blocks; block++)
        draw_block(&e, block, &rng);
    if (status == ASSAY_OK)
        status = expect_all(&c, threads);
    if (status != ASSAY_OK)
        assay__projection_clear(&e);
    else
        *out = e;
    return status;
}

void assay__projection_clear(assay__projection *e)
{
    free(e->vectors);
    free(e->expected);
    e->vectors = e->expected = NULL;
}

/* ---- what is there ---- */

/* What certain bounds of elements are made of: a share of |r|, a share of the magnitude, a rest. */
typedef struct allowance {
    double of_result, of_magnitude, each;
    double rounding; /* of the projections, of a strip's sums of sizes; relative */
} allowance;

static double certain(const assay_accept_spec *spec, double hi, double magnitude)
{
    const assay_accept_element e = {.hi = hi, .magnitude = magnitude};
    double bound, probable;

    assay__accept_bounds(&e, spec, &bound, &probable);
    return bound;
}

static allowance allowance_of(const assay__projection *e, const assay_accept_spec *spec)
{
    const double k = (double)e->product.k;
    allowance a = {.of_result = certain(spec, 1.0, 0.0), .each = certain(spec, 0.0, DBL_TRUE_MIN)};

    a.of_magnitude = certain(spec, 0.0, 1.0);
    /* An element counts as right within that of the oracle's value, which errs as well: by less
     * than (k + 16) u, for f64 than 2 (k + 2)^2 u^2, once in the bound, once beside it. */
    a.of_magnitude += spec->format.dtype == ASSAY_F64 ? 4.0 * (k + 2.0) * (k + 2.0) * U * U
                                                      : 2.0 * (k + 16.0) * U;
    if (spec->allows_flush)
        a.each += spec->format.min_normal;
    /* Products below the normal range lose up to a step each here, too. */
    a.each += (k + (double)e->width + 16.0) * DBL_TRUE_MIN;
    a.rounding = 1.01 * (k + (double)e->width + 16.0) * U;
    return a;
}

/* With sums of sizes: |y - r| <= f |r| + c and |r| <= |y| + |y - r| give f |r| <= f (|y| + c) /
 * (1 - f), and y is known. */
static double threshold(const allowance *a, double width, double of_y, double of_magnitude)
{
    const double f = a->of_result / (1.0 - a->of_result);
    const double c = a->of_magnitude * of_magnitude + 2.0 * width * a->each;

    return (f * (of_y + c) + c + a->rounding * (of_y + of_magnitude)) * (1.0 + 1e-9);
}

static double share_of(const double *y, const double *expected, double limit)
{
    double off = 0.0;

    for (int v = 0; v < 3; v++) {
        const double d = fabs(y[v] - expected[v]);
        if (!(d <= off)) /* NaN stays: nothing is at most NaN */
            off = d;
    }
    const double share = off / limit;
    return isfinite(limit) && share < DBL_MAX ? share : INFINITY;
}

static void compare_rows(crew *c, int64_t from, int64_t to, double *room)
{
    const assay__projection *e = c->e;
    const assay__product *g = &e->product;
    const allowance a = allowance_of(e, c->spec);
    const assay_dtype dtype = (assay_dtype)g->problem.dtypes[g->problem.dtype_count - 1];

    for (int64_t row = from; row < to; row++)
        for (int64_t block = 0; block < e->blocks; block++) {
            const int64_t first = block * e->width, width = width_at(e, block);
            const size_t strip = (size_t)(row * e->blocks + block);
            const double *expected = e->expected + 4 * strip;
            double y[4] = {0};
            widen(c->from[0], dtype, row * g->n + first, width, room);
            c->loops->dot(room, e->vectors + 4 * first, (size_t)width, y);
            c->share[strip] =
                share_of(y, expected, threshold(&a, (double)width, y[3], expected[3]));
        }
}

assay_status assay__projection_compare(const assay__projection *e, const void *y,
                                       const assay_accept_spec *spec, unsigned threads,
                                       double *share)
{
    crew c = {.e = e,
              .loops = assay__projection_best(),
              .from = {y, NULL, NULL},
              .spec = spec,
              .share = share};

    if (spec->rule != ASSAY_ACCEPT_CONTRACTION)
        return assay__fail(ASSAY_INTERNAL, "projections are for sums of products");
    return split(&c, compare_rows, e->product.batch * e->product.m, threads,
                 ASSAY__PROJECTION_BLOCK);
}

/* ---- what to look at ---- */

static int by_share(const void *a, const void *b)
{
    const assay__strip *x = a, *y = b;

    if (x->share < y->share || x->share > y->share)
        return x->share > y->share ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Sorted anew whenever there are twice as many as are kept. */
static size_t keep_worst(assay__strip *list, size_t n, size_t kept)
{
    qsort(list, n, sizeof *list, by_share);
    return n < kept ? n : kept;
}

size_t assay__projection_suspects(const double *share, size_t count, size_t others,
                                  assay__strip *list)
{
    size_t beyond = 0, n;
    double least = -1.0; /* of those kept */

    for (size_t i = 0; i < count; i++)
        if (!(share[i] <= 1.0))
            list[beyond++] = (assay__strip){i, share[i]};
    n = beyond;
    for (size_t i = 0; i < count; i++) {
        if (!(share[i] <= 1.0) || share[i] <= least)
            continue;
        list[n++] = (assay__strip){i, share[i]};
        if (n - beyond < 2 * others + 2)
            continue;
        n = beyond + keep_worst(list + beyond, n - beyond, others);
        least = others > 0 ? list[n - 1].share : 1.0;
    }
    n = beyond + keep_worst(list + beyond, n - beyond, others);
    qsort(list, n, sizeof *list, by_share);
    return n;
}

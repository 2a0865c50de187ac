/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/product_sample.c -- see product_sample.h. */
#include "calibrate/product_sample.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/error.h"
#include "support/rng.h"

#define LEAST     4096               /* seeded elements, design 9 */
#define MOST      (INT64_C(1) << 20) /* their expected results take 32 MiB */
#define PROOF     1000000            /* elements of all sets that prove a maximum "sampled" */
#define PROOF_FOR 10.0               /* times the limit that these may cost */
#define BATCHES   16                 /* looked at, unless they are so small that it takes more */
#define GRIDS     8                  /* of a product, at least */
/* Of a grid: two tiles of the oracle side by side. */
enum { ROWS = 96, COLS = 192, LEAST_ROWS = 12 };
#define PANEL_BYTES (INT64_C(1) << 25) /* that a piece of a border gathers */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t quotient_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

int64_t assay__product_sample_size(const assay__product *g, double above_flops, size_t sets)
{
    const double outputs = (double)g->batch * (double)g->m * (double)g->n;
    const double each = 2.0 * (double)g->k;
    const double proof = ceil((double)PROOF / (double)(sets > 0 ? sets : 1));
    double wanted;

    if (!(outputs * each > above_flops) || g->m < 3 || g->n < 3)
        return 0;
    wanted = floor(above_flops / each);
    if (wanted < proof && proof * each <= PROOF_FOR * above_flops)
        wanted = proof;
    wanted = fmin(fmax(wanted, LEAST), (double)MOST);
    /* So large a part of it costs as much as the whole, which shows more. */
    return 2.0 * wanted >= outputs ? 0 : (int64_t)wanted;
}

/* ---- growing lists ---- */

static assay_status add_grid(assay__product_sample *s, int64_t batch, int64_t rows, int64_t cols,
                             assay__grid **out)
{
    const size_t places = s->at_count + (size_t)(rows + cols);

    if (s->grid_count == s->grid_cap) {
        size_t cap = s->grid_cap > 0 ? 2 * s->grid_cap : 64;
        assay__grid *grids = realloc(s->grids, cap * sizeof *grids);
        if (grids == NULL)
            return assay__fail(ASSAY_NOMEM, "grids of a sample");
        s->grids = grids;
        s->grid_cap = cap;
    }
    if (places > s->at_cap) {
        int64_t *at = realloc(s->at, 2 * places * sizeof *at);
        if (at == NULL)
            return assay__fail(ASSAY_NOMEM, "rows and columns of a sample");
        s->at = at;
        s->at_cap = 2 * places;
    }
    *out = &s->grids[s->grid_count++];
    **out = (assay__grid){batch, rows, cols, s->at_count, s->at_count + (size_t)rows};
    s->at_count = places;
    s->elements += rows * cols;
    return ASSAY_OK;
}

static void put_range(int64_t *at, int64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        at[i] = first + i;
}

/* One of each of `count` equal slots of [first, first + width), width >= count. */
static void put_seeded(assay__rng *rng, int64_t *at, int64_t first, int64_t width, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = width * i / count, end = width * (i + 1) / count;
        at[i] = first + begin + (int64_t)assay__rng_below(rng, (uint64_t)(end - begin));
    }
}

/* ---- borders ---- */

/* So many rows or columns of A or B at a time that a piece stays small. */
static int64_t piece_of(const assay__product *g)
{
    const int64_t bytes = (int64_t)assay_dtype_bytes((assay_dtype)g->problem.dtypes[0]);

    return most(least(PANEL_BYTES / (bytes * most(g->k, 1)), 2048), 16);
}

/* First and last row, whole; first and last column without these. */
static assay_status add_borders(const assay__product *g, int64_t batch, assay__product_sample *s)
{
    const int64_t piece = piece_of(g), ends[2][2] = {{0, g->m - 1}, {0, g->n - 1}};
    assay__grid *grid;

    for (int64_t at = 0; at < g->n; at += piece) {
        ASSAY_TRY(add_grid(s, batch, 2, least(piece, g->n - at), &grid));
        for (int i = 0; i < 2; i++)
            s->at[grid->row + (size_t)i] = ends[0][i];
        put_range(s->at + grid->col, at, grid->cols);
    }
    for (int64_t at = 1; at < g->m - 1; at += piece) {
        ASSAY_TRY(add_grid(s, batch, least(piece, g->m - 1 - at), 2, &grid));
        put_range(s->at + grid->row, at, grid->rows);
        for (int i = 0; i < 2; i++)
            s->at[grid->col + (size_t)i] = ends[1][i];
    }
    return ASSAY_OK;
}

/* ---- inside ---- */

typedef struct bands {
    int64_t rows, cols;    /* of a grid */
    int64_t down, across;  /* bands */
    int64_t height, width; /* of what lies inside the borders */
} bands;

/* Bands as nearly square, measured in grids, as their number lets them be. */
static bands bands_for(const assay__product *g, int64_t wanted)
{
    bands b = {.height = g->m - 2, .width = g->n - 2};

    b.rows = least(ROWS, b.height);
    b.cols = least(COLS, b.width);
    while (b.rows * b.cols * GRIDS > wanted && b.rows > LEAST_ROWS && b.cols > LEAST_ROWS) {
        b.rows = quotient_up(b.rows, 2);
        b.cols = quotient_up(b.cols, 2);
    }
    const int64_t most_down = quotient_up(b.height, b.rows),
                  most_across = quotient_up(b.width, b.cols);
    const double grids = fmin(ceil((double)wanted / ((double)b.rows * (double)b.cols)),
                              (double)most_down * (double)most_across);
    const double ideal = sqrt(grids * (double)most_down / (double)most_across);

    b.down = least(most((int64_t)llround(ideal), 1), most_down);
    b.across = least(most((int64_t)ceil(grids / (double)b.down), 1), most_across);
    b.down = least(most((int64_t)ceil(grids / (double)b.across), 1), most_down);
    return b;
}

static assay_status add_inside(const assay__product *g, int64_t batch, int64_t wanted,
                               assay__rng *rng, assay__product_sample *s)
{
    const bands b = bands_for(g, wanted);
    assay__grid *grid;

    for (int64_t i = 0; i < b.down; i++)
        for (int64_t j = 0; j < b.across; j++) {
            int64_t row = b.height * i / b.down, rows = b.height * (i + 1) / b.down - row;
            int64_t col = b.width * j / b.across, cols = b.width * (j + 1) / b.across - col;
            ASSAY_TRY(add_grid(s, batch, least(b.rows, rows), least(b.cols, cols), &grid));
            put_seeded(rng, s->at + grid->row, 1 + row, rows, grid->rows);
            put_seeded(rng, s->at + grid->col, 1 + col, cols, grid->cols);
        }
    return ASSAY_OK;
}

assay_status assay__product_sample_make(const assay__product *g, int64_t wanted, uint64_t seed,
                                        const char *stream, assay__product_sample *out)
{
    const int64_t all = g->m * g->n;
    const int64_t looked =
        most(least(g->batch, BATCHES), least(g->batch, quotient_up(wanted, all)));
    assay__product_sample s = {.grids = NULL};
    assay_status status = ASSAY_OK;
    assay__rng rng;

    assay__rng_seed_named(&rng, seed, stream);
    for (int64_t i = 0; status == ASSAY_OK && i < looked; i++) {
        int64_t begin = g->batch * i / looked, end = g->batch * (i + 1) / looked;
        int64_t batch = begin + (int64_t)assay__rng_below(&rng, (uint64_t)(end - begin));
        if (i == 0 || i == looked - 1) /* the first and the last always */
            batch = i == 0 ? 0 : g->batch - 1;
        status = add_borders(g, batch, &s);
        if (status == ASSAY_OK)
            status = add_inside(g, batch, quotient_up(wanted, looked), &rng, &s);
    }
    if (status != ASSAY_OK) {
        assay__product_sample_clear(&s);
        return status;
    }
    *out = s;
    return ASSAY_OK;
}

void assay__product_sample_clear(assay__product_sample *s)
{
    free(s->grids);
    free(s->at);
    *s = (assay__product_sample){.grids = NULL};
}

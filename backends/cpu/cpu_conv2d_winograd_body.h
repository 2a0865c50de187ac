/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_winograd_body.h -- 3 x 3 filters a tile of outputs at a time, in f32.
 *
 * Winograd's minimal filtering (A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural
 * Networks, CVPR 2016, section 4): Y = A^T [(G f G^T) . (B^T x B)] A for tiles of 2 x 2 outputs
 * out of 4 x 4 inputs, or 4 x 4 out of 6 x 6, with points 0, +-1 and 0, +-1, +-2.  The products of
 * one position of all channels are a matrix product, with the vector kernel of matmul.
 *
 * An output of a tile sees rounding errors of the whole tile, and transforms overflow before sums
 * do.  Where an infinity or a NaN comes out the output is summed anew, tap by tap, so that what
 * lies outside its window does not reach it.
 *
 * A template: the including file defines what the kernel of matmul and cpu_conv2d_tile_avx2.h want,
 * for f32. */

/* BLOCK_BYTES: transformed inputs of one thread, meant to stay in its second cache. */
enum { SIDE = 6, POSITIONS = SIDE * SIDE, BLOCK_BYTES = 1024 * 1024, MAX_STRIPS = 64 };

typedef struct winograd {
    const cpu_conv2d *g;
    int64_t tile, side, positions;
    int64_t across, down, tiles; /* of an image; of all of them */
    int64_t rows;                /* strips of MR filters of a group */
    int64_t block, blocks;       /* strips of NR tiles transformed at a time */
    int64_t shares;              /* parts of the filters, for few tiles and many threads */
    float *filters;              /* [group][strip][position][c][MR] */
    atomic_bool failed;
} winograd;

/* Neighbours among the tiles of a strip: one row of tiles of an image. */
typedef struct stretch {
    int64_t lane, count, image, oy, ox;
} stretch;

static int64_t find_runs(const winograd *d, int64_t first, stretch *runs)
{
    int64_t n = 0, end = first + NR < d->tiles ? first + NR : d->tiles;

    for (int64_t at = first; at < end; n++) {
        int64_t row = at / d->across, x = at % d->across, rest = end - at;
        int64_t count = d->across - x < rest ? d->across - x : rest;
        runs[n] = (stretch){at - first, count, row / d->down, row % d->down * d->tile, x * d->tile};
        at += count;
    }
    return n;
}

/* ---- transforms of one extent, `step` vectors apart -------------------------------------------
 */

static inline __attribute__((always_inline)) void inputs_of_2(VEC *v, int step)
{
    VEC a = v[0], b = v[step], c = v[2 * step], d = v[3 * step];

    v[0] = a - c;
    v[step] = b + c;
    v[2 * step] = c - b;
    v[3 * step] = b - d;
}

static inline __attribute__((always_inline)) void inputs_of_4(VEC *v, int step)
{
    VEC a = v[0], b = v[step], c = v[2 * step], d = v[3 * step], e = v[4 * step], f = v[5 * step];
    VEC even = e - c * 4.0f, odd = d - b * 4.0f, wide = e - c, high = (d - b) * 2.0f;

    v[0] = a * 4.0f - c * 5.0f + e;
    v[step] = even + odd;
    v[2 * step] = even - odd;
    v[3 * step] = wide + high;
    v[4 * step] = wide - high;
    v[5 * step] = b * 4.0f - d * 5.0f + f;
}

static inline __attribute__((always_inline)) void outputs_of_2(VEC *v, int step)
{
    VEC sum = v[step] + v[2 * step], difference = v[step] - v[2 * step];

    v[0] = v[0] + sum;
    v[step] = difference - v[3 * step];
}

static inline __attribute__((always_inline)) void outputs_of_4(VEC *v, int step)
{
    VEC sum = v[step] + v[2 * step], difference = v[step] - v[2 * step];
    VEC far = v[3 * step] + v[4 * step], swing = v[3 * step] - v[4 * step];

    v[0] = v[0] + sum + far;
    v[step] = difference + swing * 2.0f;
    v[2 * step] = sum + far * 4.0f;
    v[3 * step] = difference + swing * 8.0f + v[5 * step];
}

/* G of both tiles, row by row. */
static const double filter_rows_of_2[] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
static const double filter_rows_of_4[] = {
    1.0 / 4,  0,        0,       -1.0 / 6, -1.0 / 6,  -1.0 / 6, -1.0 / 6, 1.0 / 6, -1.0 / 6,
    1.0 / 24, 1.0 / 12, 1.0 / 6, 1.0 / 24, -1.0 / 12, 1.0 / 6,  0,        0,       1};

/* ---- filters --------------------------------------------------------------------------------- */

/* Of MR filters, one channel: to[position][...][MR], `step` apart. In f64, rounded once. */
static void transform_filters(const winograd *d, double f[9][MR], float *to, int64_t step)
{
    const double *rows = d->tile == 2 ? filter_rows_of_2 : filter_rows_of_4;
    double half[SIDE][3][MR];

    for (int64_t i = 0; i < d->side; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < MR; k++)
                half[i][j][k] = rows[3 * i] * f[j][k] + rows[3 * i + 1] * f[3 + j][k] +
                                rows[3 * i + 2] * f[6 + j][k];
    for (int64_t i = 0; i < d->side; i++)
        for (int64_t j = 0; j < d->side; j++, to += step)
            for (int k = 0; k < MR; k++)
                to[k] = (float)(half[i][0][k] * rows[3 * j] + half[i][1][k] * rows[3 * j + 1] +
                                half[i][2][k] * rows[3 * j + 2]);
}

/* One strip of MR filters of one group; what sticks out is zeros. */
static void filter_item(void *cookie, int64_t item)
{
    const winograd *d = cookie;
    const cpu_conv2d *g = d->g;
    int64_t group = item / d->rows, k = item % d->rows * MR, count = g->k - k < MR ? g->k - k : MR;
    const float *filter = (const float *)(const void *)g->filter + (group * g->k + k) * g->taps;
    float *to = d->filters + item * d->positions * g->c * MR;
    double f[9][MR] = {{0}};

    for (int64_t c = 0; c < g->c; c++) {
        for (int64_t i = 0; i < count; i++)
            for (int tap = 0; tap < 9; tap++)
                f[tap][i] = (double)filter[i * g->taps + c * 9 + tap];
        transform_filters(d, f, to + c * MR, g->c * MR);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Row r of the inputs of all tiles of a run: v[s][lane]. */
static void spread(const winograd *d, const stretch *run, const float *x, int64_t r, float *v)
{
    const cpu_conv2d *g = d->g;
    float line[4 * NR + 2];
    int64_t length = d->tile * (run->count - 1) + d->side;

    copy_line_f32(g, x, run->oy + r - g->pad_h, run->ox - g->pad_w, length, line);
    for (int64_t s = 0; s < d->side; s++)
        for (int64_t j = 0; j < run->count; j++)
            v[s * NR + run->lane + j] = line[d->tile * j + s];
}

static inline __attribute__((always_inline)) void transform_inputs(VEC *v, int side,
                                                                   void (*along)(VEC *, int))
{
    for (int i = 0; i < side; i++)
        along(v + i, side);
    for (int i = 0; i < side; i++)
        along(v + i * side, 1);
}

/* Channel c of NR tiles: to[position][c][NR]. */
static void transform_channel(const winograd *d, const stretch *runs, int64_t count, int64_t group,
                              int64_t c, float *to)
{
    const cpu_conv2d *g = d->g;
    float in[POSITIONS * NR];
    VEC v[POSITIONS];

    if (runs[count - 1].lane + runs[count - 1].count < NR)
        memset(in, 0, sizeof in);
    for (const stretch *run = runs; run < runs + count; run++) {
        const float *x = (const float *)(const void *)g->x +
                         ((run->image * g->groups + group) * g->c + c) * g->h * g->w;
        for (int64_t r = 0; r < d->side; r++)
            spread(d, run, x, r, in + r * d->side * NR);
    }
    for (int64_t at = 0; at < NR; at += LANES) {
        for (int64_t p = 0; p < d->positions; p++)
            v[p] = OP(loadu)(in + p * NR + at);
        if (d->tile == 2)
            transform_inputs(v, 4, inputs_of_2);
        else
            transform_inputs(v, 6, inputs_of_4);
        for (int64_t p = 0; p < d->positions; p++)
            OP(storeu)(to + (p * g->c + c) * NR + at, v[p]);
    }
}

/* ---- outputs --------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void transform_sums(VEC *v, int tile, int side,
                                                                 void (*along)(VEC *, int))
{
    for (int i = 0; i < side; i++)
        along(v + i, side);
    for (int i = 0; i < tile; i++)
        along(v + i * side, 1);
}

/* What is not finite is summed over its own window. */
static void put_tile_row(const winograd *d, const stretch *run, int64_t group, int64_t k,
                         int64_t row, const float *from)
{
    const cpu_conv2d *g = d->g;
    int64_t oy = run->oy + row, part = run->image * g->groups + group;
    const float *x = (const float *)(const void *)g->x + part * g->c * g->h * g->w;
    const float *filter = (const float *)(const void *)g->filter + (group * g->k + k) * g->taps;
    float *y = (float *)(void *)g->y + ((part * g->k + k) * g->oh + oy) * g->ow + run->ox;
    int64_t end = g->ow - run->ox < run->count * d->tile ? g->ow - run->ox : run->count * d->tile;

    for (int64_t b = 0; b < d->tile; b++)
        for (int64_t j = 0; j * d->tile + b < end; j++)
            y[j * d->tile + b] = from[b * NR + run->lane + j];
    for (int64_t i = 0; i < end; i++)
        if (!isfinite(y[i]))
            y[i] = element_f32(g, x, filter, oy, run->ox + i);
}

/* Sums of one filter over NR tiles, a position every `step`, to y. */
static void put_tiles(const winograd *d, const stretch *runs, int64_t count, int64_t group,
                      int64_t k, const float *sums, int64_t step)
{
    float out[POSITIONS * NR];
    VEC v[POSITIONS];

    for (int64_t at = 0; at < NR; at += LANES) {
        for (int64_t p = 0; p < d->positions; p++)
            v[p] = OP(loadu)(sums + p * step + at);
        if (d->tile == 2)
            transform_sums(v, 2, 4, outputs_of_2);
        else
            transform_sums(v, 4, 6, outputs_of_4);
        for (int64_t a = 0; a < d->tile; a++)
            for (int64_t b = 0; b < d->tile; b++)
                OP(storeu)(out + (a * d->tile + b) * NR + at, v[a * d->side + b]);
    }
    for (const stretch *run = runs; run < runs + count; run++)
        for (int64_t a = 0; a < d->tile && run->oy + a < d->g->oh; a++)
            put_tile_row(d, run, group, k, a, out + a * d->tile * NR);
}

/* ---- the product ----------------------------------------------------------------------------- */

/* One strip of filters over one strip of tiles. */
static void multiply(const winograd *d, int64_t group, int64_t row, const stretch *runs,
                     int64_t count, const float *inputs)
{
    const cpu_conv2d *g = d->g;
    const float *filters = d->filters + (group * d->rows + row) * d->positions * g->c * MR;
    float sums[POSITIONS * MR * NR];

    for (int64_t p = 0; p < d->positions; p++) {
        float *to = sums + p * MR * NR;
        FN(sums) tile;
        FN(sum_packed)(g->c, filters + p * g->c * MR, inputs + p * g->c * NR, &tile);
        FN(put)(&tile, (FN(source)){to, NR}, to, NR, MR, NR, 1, 0);
    }
    for (int64_t i = 0; i < MR && row * MR + i < g->k; i++)
        put_tiles(d, runs, count, group, row * MR + i, sums + i * NR, MR * NR);
}

static void block_item(void *cookie, int64_t item)
{
    winograd *d = cookie;
    const cpu_conv2d *g = d->g;
    int64_t share = item % d->shares, first = item / d->shares % d->blocks * d->block;
    int64_t group = item / d->shares / d->blocks, strip = d->positions * g->c * NR, from, to;
    int64_t strips = (d->tiles + NR - 1) / NR - first, counts[MAX_STRIPS];
    float *inputs = cpu_workspace(1, (size_t)(d->block * strip) * sizeof *inputs);
    stretch runs[MAX_STRIPS][NR];

    if (inputs == NULL) {
        atomic_store_explicit(&d->failed, true, memory_order_relaxed);
        return;
    }
    strips = strips < d->block ? strips : d->block;
    for (int64_t s = 0; s < strips; s++) {
        counts[s] = find_runs(d, (first + s) * NR, runs[s]);
        for (int64_t c = 0; c < g->c; c++)
            transform_channel(d, runs[s], counts[s], group, c, inputs + s * strip);
    }
    cpu_part(d->rows, 1, d->shares, share, &from, &to);
    for (int64_t row = from; row < to; row++)
        for (int64_t s = 0; s < strips; s++)
            multiply(d, group, row, runs[s], counts[s], inputs + s * strip);
}

static void plan(winograd *d, int threads)
{
    const cpu_conv2d *g = d->g;

    d->side = d->tile + 2;
    d->positions = d->side * d->side;
    d->across = (g->ow + d->tile - 1) / d->tile;
    d->down = (g->oh + d->tile - 1) / d->tile;
    d->tiles = g->n * d->across * d->down;
    d->rows = (g->k + MR - 1) / MR;
    int64_t fit = BLOCK_BYTES / (d->positions * g->c * NR * (int64_t)sizeof(float));
    int64_t strips = (d->tiles + NR - 1) / NR, even = (strips + threads - 1) / threads;
    d->block = fit < even ? fit : even;
    d->block = d->block < 1 ? 1 : d->block > MAX_STRIPS ? MAX_STRIPS : d->block;
    d->blocks = (strips + d->block - 1) / d->block;
    int64_t items = g->groups * d->blocks;
    d->shares = threads > 1 && items < threads ? threads : 1; /* each transforms for itself */
    d->shares = d->shares < d->rows ? d->shares : d->rows;
}

static assay_status run_winograd(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    cpu_conv2d g;

    cpu_conv2d_read(launch, &g);
    if (cpu_conv2d_empty(&g))
        return ASSAY_OK;
    winograd d = {.g = &g, .tile = launch->tunables != NULL ? launch->tunables[CPU_TILE] : 2};
    plan(&d, threads);
    size_t filters = (size_t)(g.groups * d.rows * d.positions * g.c * MR) * sizeof *d.filters;
    d.filters = cpu_workspace(0, filters);
    if (d.filters == NULL)
        return ASSAY_NOMEM;
    assay__host_team_run(threads, g.groups * d.rows, filter_item, &d);
    assay__host_team_run(threads, g.groups * d.blocks * d.shares, block_item, &d);
    return atomic_load_explicit(&d.failed, memory_order_relaxed) ? ASSAY_NOMEM : ASSAY_OK;
}

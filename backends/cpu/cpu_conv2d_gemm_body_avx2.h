/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_gemm_body_avx2.h -- convolution over packed columns, for one type. */

typedef struct IN(product) {
    const cpu_conv2d *g;
    int64_t places;        /* of all images */
    int64_t block, blocks; /* places packed at a time */
    int64_t shares;        /* parts of the filters, for few places and many threads */
    atomic_bool failed;
} IN(product);

/* Neighbours of one line of y among the columns of a strip. */
typedef struct IN(stretch) {
    const TYPE *x; /* of image and group */
    int64_t lane, count, iy, ix;
} IN(stretch);

static int64_t IN(find_runs)(const IN(product) * d, int64_t group, int64_t first,
                             IN(stretch) * runs)
{
    const cpu_conv2d *g = d->g;
    int64_t n = 0, end = first + NR < d->places ? first + NR : d->places;

    for (int64_t at = first; at < end; n++) {
        int64_t oy = at / g->ow % g->oh, ox = at % g->ow, image = at / (g->ow * g->oh);
        int64_t count = g->ow - ox < end - at ? g->ow - ox : end - at;
        runs[n] = (IN(stretch)){
            (const TYPE *)(const void *)g->x + (image * g->groups + group) * g->c * g->h * g->w,
            at - first, count, oy * g->stride_h - g->pad_h, ox * g->stride_w - g->pad_w};
        at += count;
    }
    return n;
}

/* The columns of NR places from `first` on, NR values a tap. */
static void IN(pack_strip)(const IN(product) * d, int64_t group, int64_t first, REAL *to)
{
    const cpu_conv2d *g = d->g;
    IN(stretch) runs[NR];
    int64_t n = IN(find_runs)(d, group, first, runs);

    if (d->places - first < NR)
        memset(to, 0, (size_t)(NR * g->taps) * sizeof *to);
    for (int64_t c = 0; c < g->c; c++)
        for (int64_t r = 0; r < g->r; r++)
            for (int64_t s = 0; s < g->s; s++, to += NR)
                for (const IN(stretch) *run = runs; run < runs + n; run++)
                    IN(copy_line)
    (g, run->x + c * g->h * g->w, run->iy + r * g->dil_h, run->ix + s * g->dil_w, run->count,
     to + run->lane);
}

/* Sums of the places from `first` on, of channel k, to y. */
static void IN(store_places)(const IN(product) * d, int64_t group, int64_t k, int64_t first,
                             int64_t count, REAL *sums)
{
    const cpu_conv2d *g = d->g;

    for (int64_t at = first; at < first + count;) {
        int64_t oy = at / g->ow % g->oh, ox = at % g->ow, image = at / (g->ow * g->oh);
        int64_t rest = first + count - at, n = g->ow - ox < rest ? g->ow - ox : rest;
        IN(put_places)(g, image * g->groups + group, k, oy, ox, sums + at - first, n);
        at += n;
    }
}

/* MR filters from k on over a packed block. */
static void IN(strip)(const IN(product) * d, int64_t group, int64_t k, int64_t first, int64_t count,
                      const REAL *panel, REAL *sums)
{
    const cpu_conv2d *g = d->g;

    for (int64_t p0 = 0; p0 < g->taps; p0 += KC) {
        int64_t kc = g->taps - p0 < KC ? g->taps - p0 : KC;
        const REAL *rows[MR];
        IN(filter_rows)(g, group, k, p0, kc, sums + MR * d->block, rows);
        for (int64_t at = 0; at < count; at += NR) {
            FN(sums) tile;
            FN(sum_direct)(kc, rows, 1, panel + at * g->taps + p0 * NR, NR, &tile);
            FN(put)
            (&tile, (FN(source)){sums + at, d->block}, sums + at, d->block, MR, NR, 1,
             p0 == 0 ? 0 : 1);
        }
    }
    for (int64_t i = 0; i < MR && k + i < g->k; i++)
        IN(store_places)(d, group, k + i, first, count, sums + i * d->block);
}

static void IN(item)(void *cookie, int64_t item)
{
    IN(product) *d = cookie;
    const cpu_conv2d *g = d->g;
    int64_t share = item % d->shares, first = item / d->shares % d->blocks * d->block;
    int64_t group = item / d->shares / d->blocks, strips = (g->k + MR - 1) / MR, from, to;
    int64_t count = d->places - first < d->block ? d->places - first : d->block;
    REAL *panel =
        cpu_workspace(1, sizeof(REAL) * (size_t)(d->block * g->taps + MR * (d->block + KC)));

    if (panel == NULL) {
        atomic_store_explicit(&d->failed, true, memory_order_relaxed);
        return;
    }
    for (int64_t at = 0; at < count; at += NR)
        IN(pack_strip)(d, group, first + at, panel + at * g->taps);
    cpu_part(strips, 1, d->shares, share, &from, &to);
    for (int64_t strip = from; strip < to; strip++)
        IN(strip)(d, group, strip * MR, first, count, panel, panel + d->block * g->taps);
}

static assay_status IN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    cpu_conv2d g;

    cpu_conv2d_read(launch, &g);
    if (cpu_conv2d_empty(&g))
        return ASSAY_OK;
    if (g.taps == 0)
        return IN(zeros)(&g);
    IN(product) d = {.g = &g, .places = g.n * g.oh * g.ow};
    int64_t fit = PANEL_BYTES / (g.taps * (int64_t)sizeof(REAL)) / NR * NR;
    d.block = fit < NR ? NR : fit > BLOCK ? BLOCK : fit;
    d.blocks = (d.places + d.block - 1) / d.block;
    int64_t items = g.groups * d.blocks, strips = (g.k + MR - 1) / MR;
    d.shares = threads > 1 && items < threads ? threads : 1; /* each packs the block for itself */
    d.shares = d.shares < strips ? d.shares : strips;
    assay__host_team_run(threads, items * d.shares, IN(item), &d);
    return atomic_load_explicit(&d.failed, memory_order_relaxed) ? ASSAY_NOMEM : ASSAY_OK;
}

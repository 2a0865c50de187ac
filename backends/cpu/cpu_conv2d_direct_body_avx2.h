/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_direct_body_avx2.h -- the direct convolution of one type. */

typedef struct IN(direct) {
    const cpu_conv2d *g;
    const shape *s;
    const REAL *x; /* of the images at hand, padded */
    REAL *padded;
    int64_t image, images; /* those at hand */
    const int64_t *offsets;
    atomic_bool failed;
} IN(direct);

static void IN(copy_channel)(void *cookie, int64_t index)
{
    const IN(direct) *d = cookie;
    const cpu_conv2d *g = d->g;
    const shape *s = d->s;
    int64_t first = d->image * g->groups * g->c;
    const TYPE *x = (const TYPE *)(const void *)g->x + (first + index) * g->h * g->w;
    REAL *to = d->padded + index * s->channel;

    for (int64_t v = 0; v < s->phases_h; v++)
        for (int64_t u = 0; u < s->phases_w; u++)
            for (int64_t i = 0; i < s->lines; i++, to += s->columns) {
                int64_t iy = i * g->stride_h + s->phase_h[v] - g->pad_h;
                IN(copy_line)(g, x, iy, s->phase_w[u] - g->pad_w, s->columns, to);
            }
}

/* Six filters by two vectors of places: product p is filter[p] times what lies at x + offsets[p].
 */
static inline __attribute__((always_inline)) void IN(sum_taps)(int64_t kc, const REAL *const *rows,
                                                               const REAL *x,
                                                               const int64_t *offsets, FN(sums) * s)
{
    VEC zero = OP(setzero)(), f;
    VEC c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero, c21 = zero;
    VEC c30 = zero, c31 = zero, c40 = zero, c41 = zero, c50 = zero, c51 = zero;
    const REAL *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3], *r4 = rows[4],
               *r5 = rows[5];

    for (int64_t p = 0; p < kc; p++) {
        const REAL *from = x + offsets[p];
        VEC b0 = OP(loadu)(from), b1 = OP(loadu)(from + LANES);
        TAP(0, r0);
        TAP(1, r1);
        TAP(2, r2);
        TAP(3, r3);
        TAP(4, r4);
        TAP(5, r5);
    }
    *s = (FN(sums)){{{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}, {c40, c41}, {c50, c51}}};
}

/* All sums of MR filters over tiles [tile0, tile1): tile t at sums + (t - tile0) NR, rows `ld`
 * apart. The last tile ends with the last place where there are as many, so that nothing is read
 * past it. */
static void IN(sum_strip)(const IN(direct) * d, const REAL *x, int64_t group, int64_t k,
                          int64_t tile0, int64_t tile1, REAL *sums, REAL *room)
{
    const shape *s = d->s;
    int64_t ld = BLOCK;

    for (int64_t p0 = 0; p0 < d->g->taps; p0 += KC) {
        int64_t kc = d->g->taps - p0 < KC ? d->g->taps - p0 : KC;
        const REAL *rows[MR];
        IN(filter_rows)(d->g, group, k, p0, kc, room, rows);
        for (int64_t t = tile0; t < tile1; t++) {
            int64_t at = t * NR + NR > s->places && s->places >= NR ? s->places - NR : t * NR;
            FN(sums) tile;
            IN(sum_taps)(kc, rows, x + at, d->offsets + p0, &tile);
            FN(put)
            (&tile, (FN(source)){sums + (t - tile0) * NR, ld}, sums + (t - tile0) * NR, ld, MR, NR,
             1, p0 == 0 ? 0 : 1);
        }
    }
}

/* Places [from, to) of the padded lines as those of y; sums: of them, of channel k. */
static void IN(store_places)(const IN(direct) * d, int64_t part, int64_t k, int64_t from,
                             int64_t to, REAL *sums)
{
    const shape *s = d->s;

    for (int64_t at = from; at < to;) {
        int64_t oy = at / s->columns, ox = at % s->columns, next = (oy + 1) * s->columns;
        int64_t end = next < to ? next : to, n = end - at;
        n = n < d->g->ow - ox ? n : d->g->ow - ox;
        if (n > 0)
            IN(put_places)(d->g, part, k, oy, ox, sums + at - from, n);
        at = end;
    }
}

static void IN(strip)(const IN(direct) * d, int64_t part, const REAL *x, int64_t k, int64_t tile0,
                      int64_t tile1, REAL *sums)
{
    const shape *s = d->s;
    int64_t from = tile0 * NR, to = tile1 * NR < s->places ? tile1 * NR : s->places;
    int64_t last = (tile1 - 1) * NR; /* a tile that was moved down to end with the places */
    int64_t moved = s->places >= NR && last + NR > s->places ? last + NR - s->places : 0;

    IN(sum_strip)(d, x, part % d->g->groups, k, tile0, tile1, sums, sums + MR * BLOCK);
    for (int64_t i = 0; i < MR && k + i < d->g->k; i++) {
        REAL *row = sums + i * BLOCK;
        if (moved > 0)
            memmove(row + last - from, row + last - from + moved,
                    (size_t)(NR - moved) * sizeof *row);
        IN(store_places)(d, part, k + i, from, to, row);
    }
}

/* Some strips of filters over one block of places of one image and group. */
static void IN(item)(void *cookie, int64_t item)
{
    IN(direct) *d = cookie;
    const cpu_conv2d *g = d->g;
    const shape *s = d->s;
    int64_t strips = (g->k + MR - 1) / MR, tiles = (s->places + NR - 1) / NR;
    int64_t share = item % s->shares, block = item / s->shares % s->blocks;
    int64_t part = item / s->shares / s->blocks, from, to;
    int64_t tile0 = block * (BLOCK / NR), tile1 = tile0 + BLOCK / NR;
    REAL *sums = cpu_workspace(1, sizeof(REAL) * MR * (BLOCK + KC));

    if (sums == NULL) {
        atomic_store_explicit(&d->failed, true, memory_order_relaxed);
        return;
    }
    tile1 = tile1 < tiles ? tile1 : tiles;
    cpu_part(strips, 1, s->shares, share, &from, &to);
    for (int64_t strip = from; strip < to; strip++)
        IN(strip)
    (d, d->image * g->groups + part, d->x + part * g->c * s->channel, strip * MR, tile0, tile1,
     sums);
}

/* x as it lies has the form of a padded copy. */
static bool IN(in_place)(const cpu_conv2d *g, const shape *s)
{
    return !NARROW && g->pad_h == 0 && g->pad_w == 0 && g->stride_h == 1 && g->stride_w == 1 &&
           s->places >= NR;
}

static assay_status IN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    cpu_conv2d g;
    shape s;

    cpu_conv2d_read(launch, &g);
    if (cpu_conv2d_empty(&g))
        return ASSAY_OK;
    if (g.taps == 0)
        return IN(zeros)(&g);
    plan(&g, threads, sizeof(REAL), &s);
    bool in_place = IN(in_place)(&g, &s);
    if (in_place)
        s.images = g.n;
    int64_t channels = g.groups * g.c, copied = in_place ? 0 : s.images * channels * s.channel + NR;
    int64_t *offsets =
        cpu_workspace(0, (size_t)g.taps * sizeof *offsets + (size_t)copied * sizeof(REAL));
    if (offsets == NULL)
        return ASSAY_NOMEM;
    fill_offsets(&g, &s, offsets);
    REAL *padded = (REAL *)(void *)(offsets + g.taps);
    if (!in_place)
        memset(padded + copied - NR, 0, NR * sizeof *padded);
    IN(direct) d = {.g = &g, .s = &s, .padded = padded, .offsets = offsets};
    for (d.image = 0; d.image < g.n; d.image += s.images) {
        d.images = g.n - d.image < s.images ? g.n - d.image : s.images;
        d.x = in_place ? (const REAL *)(const void *)g.x : padded;
        if (!in_place)
            assay__host_team_run(threads, d.images * channels, IN(copy_channel), &d);
        assay__host_team_run(threads, d.images * g.groups * s.blocks * s.shares, IN(item), &d);
    }
    return atomic_load_explicit(&d.failed, memory_order_relaxed) ? ASSAY_NOMEM : ASSAY_OK;
}

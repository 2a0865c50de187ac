/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_tile_avx2.h -- what the vector convolutions share, for one type.
 *
 * Both put zeros where a tap lies outside x. The op skips such taps, which is not the same when the
 * filter holds an infinity or NaN: 0 * inf. That can be seen in the result alone, so places at the
 * border whose sum is NaN are summed anew, one by one. */

/* Places of a line as one tap sees them: to[j] = x[iy][at + j * stride], 0 outside; x: a channel.
 */
static inline void IN(copy_line)(const cpu_conv2d *g, const TYPE *x, int64_t iy, int64_t at,
                                 int64_t count, REAL *to)
{
    const TYPE *row;
    int64_t from = 0, end = 0;

    if (iy >= 0 && iy < g->h)
        cpu_conv2d_inside(at, g->stride_w, g->w, count, &from, &end);
    row = x + (end > from ? iy * g->w + at : 0);
    for (int64_t j = 0; j < from; j++)
        to[j] = 0;
    if (g->stride_w == 1 && end > from)
        SPAN(row + from, to + from, end - from);
    else
        for (int64_t j = from; j < end; j++)
            to[j] = ONE(row[j * g->stride_w]);
    for (int64_t j = end; j < count; j++)
        to[j] = 0;
}

/* One element of y over the taps inside x, in their order. */
static REAL IN(element)(const cpu_conv2d *g, const TYPE *x, const TYPE *filter, int64_t oy,
                        int64_t ox)
{
    REAL sum = 0;

    for (int64_t tap = 0; tap < g->taps; tap++) {
        int64_t iy = oy * g->stride_h - g->pad_h + tap / g->s % g->r * g->dil_h;
        int64_t ix = ox * g->stride_w - g->pad_w + tap % g->s * g->dil_w;
        if (iy >= 0 && iy < g->h && ix >= 0 && ix < g->w)
            sum = FN(fused)(ONE(x[(tap / (g->s * g->r) * g->h + iy) * g->w + ix]), ONE(filter[tap]),
                            sum);
    }
    return sum;
}

static inline bool IN(any_nan)(const REAL *sums, int64_t n)
{
    int any = 0;
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        VEC v = OP(loadu)(sums + i);
        any |= IS_NAN(v);
    }
    for (; i < n; i++)
        any |= isnan(sums[i]) != 0;
    return any != 0;
}

/* Sums of `n` places of line oy, from ox on; part: image and group, k: channel of the group. */
static inline void IN(put_places)(const cpu_conv2d *g, int64_t part, int64_t k, int64_t oy,
                                  int64_t ox, REAL *sums, int64_t n)
{
    TYPE *y = (TYPE *)(void *)g->y + ((part * g->k + k) * g->oh + oy) * g->ow + ox;

    if ((g->pad_h > 0 || g->pad_w > 0) && IN(any_nan)(sums, n)) {
        const TYPE *x = (const TYPE *)(const void *)g->x + part * g->c * g->h * g->w;
        const TYPE *filter =
            (const TYPE *)(const void *)g->filter + (part % g->groups * g->k + k) * g->taps;
        for (int64_t j = 0; j < n; j++)
            if (isnan(sums[j]) && !cpu_conv2d_whole(g, oy, ox + j))
                sums[j] = IN(element)(g, x, filter, oy, ox + j);
    }
#if NARROW
    for (int64_t j = 0; j < n; j++)
        y[j] = IN(narrow)(sums[j]);
#else
    memcpy(y, sums, (size_t)n * sizeof *y);
#endif
}

/* Where products [p0, p0 + kc) of MR filters from `k` on begin; beyond the last filter it stands
 * again.  narrow types are widened into `room`, MR x kc. */
static inline void IN(filter_rows)(const cpu_conv2d *g, int64_t group, int64_t k, int64_t p0,
                                   int64_t kc, REAL *room, const REAL **rows)
{
    const TYPE *filter = (const TYPE *)(const void *)g->filter + group * g->k * g->taps + p0;

    for (int64_t i = 0; i < MR; i++) {
        const TYPE *from = filter + (k + i < g->k ? k + i : g->k - 1) * g->taps;
#if NARROW
        SPAN(from, room + i * kc, kc);
        rows[i] = room + i * kc;
#else
        (void)room;
        (void)kc;
        rows[i] = from;
#endif
    }
}

/* Sums of no channels. */
static inline assay_status IN(zeros)(const cpu_conv2d *g)
{
    memset(g->y, 0, (size_t)(g->n * g->groups * g->k * g->oh * g->ow) * sizeof(TYPE));
    return ASSAY_OK;
}

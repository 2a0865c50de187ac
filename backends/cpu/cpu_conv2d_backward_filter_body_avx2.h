/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_filter_body_avx2.h -- the gradient by the filter for one type; a
 * template behind cpu_conv2d_types_avx2.h.
 *
 * A task is some taps of all filters of a group: the product of the gradient, filters by places,
 * and of what the taps see there, over all images, up to KC places of one image at a time. */

typedef struct IN(job) {
    cpu_conv2d g;
    int64_t cols, shares; /* taps of a task; tasks of a group */
    atomic_bool failed;   /* no memory */
} IN(job);

static int64_t IN(up)(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* kc places of the gradient from `y` on as rows of filters, in strips of MR. */
static void IN(pack_gradient)(const cpu_conv2d *g, const TYPE *y, int64_t kc, REAL *to)
{
    REAL line[KC];

    for (int64_t k = 0; k < g->k; k += MR, to += MR * kc)
        for (int64_t r = 0; r < MR; r++) {
            if (k + r < g->k)
                SPAN(y + (k + r) * g->oh * g->ow, line, kc);
            else
                memset(line, 0, sizeof line);
            for (int64_t p = 0; p < kc; p++)
                to[p * MR + r] = line[p];
        }
}

/* What tap (r, s) sees of a channel from place `at` on; 0 outside. */
static void IN(see)(const cpu_conv2d *g, const TYPE *x, int64_t r, int64_t s, int64_t at,
                    int64_t kc, REAL *to)
{
    int64_t p = at / g->ow, q = at % g->ow;

    for (int64_t i = 0; i < kc; p++, q = 0) {
        int64_t iy = p * g->stride_h - g->pad_h + r * g->dil_h;
        int64_t ix = q * g->stride_w - g->pad_w + s * g->dil_w;
        bool inside = iy >= 0 && iy < g->h;
        for (; q < g->ow && i < kc; q++, i++, ix += g->stride_w)
            to[i * NR] = inside && ix >= 0 && ix < g->w ? ONE(x[iy * g->w + ix]) : (REAL)0;
    }
}

/* Taps [t0, t0 + cols) at kc places as columns, in strips of NR. x: of the group's channels. */
static void IN(pack_seen)(const cpu_conv2d *g, const TYPE *x, int64_t t0, int64_t cols, int64_t at,
                          int64_t kc, REAL *to)
{
    for (int64_t j = 0; j < cols; j += NR, to += NR * kc)
        for (int64_t i = 0; i < NR; i++) {
            int64_t t = t0 + j + i;
            if (j + i < cols)
                IN(see)
            (g, x + t / (g->r * g->s) * g->h * g->w, t / g->s % g->r, t % g->s, at, kc, to + i);
            else for (int64_t p = 0; p < kc; p++) to[p * NR + i] = 0;
        }
}

/* sums[filter][tap] over all images; rows of it are `ld` apart. */
static void IN(sum)(const cpu_conv2d *g, int64_t group, int64_t t0, int64_t cols, REAL *scratch,
                    REAL *sums, int64_t ld)
{
    REAL *gradient = scratch, *seen = scratch + IN(up)(IN(up)(g->k, MR) * KC, 16);
    int64_t places = g->oh * g->ow;

    for (int64_t image = 0; image < g->n; image++) {
        int64_t part = image * g->groups + group;
        const TYPE *x = (const TYPE *)(const void *)g->x + part * g->c * g->h * g->w;
        const TYPE *y = (const TYPE *)(const void *)g->y + part * g->k * places;
        for (int64_t at = 0; at < places; at += KC) {
            int64_t kc = places - at < KC ? places - at : KC;
            IN(pack_gradient)(g, y + at, kc, gradient);
            IN(pack_seen)(g, x, t0, cols, at, kc, seen);
            FN(macro)
            (g->k, cols, kc, gradient, seen, (FN(source)){sums, ld}, sums, ld, 1,
             image + at == 0 ? 0 : 1);
        }
    }
}

static void IN(task)(void *cookie, int64_t index)
{
    IN(job) *k = cookie;
    const cpu_conv2d *g = &k->g;
    int64_t group = index / k->shares, t0 = index % k->shares * k->cols;
    int64_t cols = g->taps - t0 < k->cols ? g->taps - t0 : k->cols;
    int64_t panels = IN(up)(IN(up)(g->k, MR) * KC, 16) + IN(up)(k->cols, NR) * KC;
    TYPE *out = (TYPE *)(void *)(uintptr_t)g->filter + group * g->k * g->taps + t0;
    REAL *scratch =
        cpu_workspace(1, (size_t)(panels + (NARROW ? g->k * k->cols : 0) + 16) * sizeof(REAL));

    if (scratch == NULL) {
        atomic_store_explicit(&k->failed, true, memory_order_relaxed);
        return;
    }
    REAL *sums = NARROW ? scratch + panels : (REAL *)(void *)out;
    int64_t ld = NARROW ? k->cols : g->taps;
    if (g->n == 0)
        for (int64_t i = 0; i < g->k; i++)
            memset(sums + i * ld, 0, (size_t)cols * sizeof *sums);
    IN(sum)(g, group, t0, cols, scratch, sums, ld);
    for (int64_t i = 0; NARROW && i < g->k; i++)
        for (int64_t j = 0; j < cols; j++)
            out[i * g->taps + j] = IN(narrow)(sums[i * ld + j]);
}

/* Zeros stand for what lies outside x, which must not meet what is not finite. */
static bool IN(may_pad)(const cpu_conv2d *g)
{
    const TYPE *y = (const TYPE *)(const void *)g->y;
    REAL zero = 0;

    if (g->pad_h == 0 && g->pad_w == 0)
        return true;
    for (int64_t i = 0; i < g->n * g->groups * g->k * g->oh * g->ow; i++)
        zero += ONE(y[i]) * 0;
    return zero == 0;
}

static assay_status IN(run)(const assay_launch *launch,
                            assay_status (*careful)(const assay_launch *launch))
{
    int threads = cpu_threads(launch);
    IN(job) k = {.shares = 1};

    cpu_conv2d_back_read(launch, 0, 2, 1, &k.g);
    if (k.g.k == 0 || k.g.taps == 0)
        return ASSAY_OK;
    if (!IN(may_pad)(&k.g))
        return careful(launch);
    /* No bit depends on the taps of a task. */
    int64_t wanted = threads > 1 ? (4 * (int64_t)threads + k.g.groups - 1) / k.g.groups : 1;
    k.cols = IN(up)((k.g.taps + wanted - 1) / wanted, NR);
    k.cols = k.cols < COLS ? k.cols : COLS;
    k.shares = (k.g.taps + k.cols - 1) / k.cols;
    atomic_init(&k.failed, false);
    assay__host_team_run(threads, k.g.groups * k.shares, IN(task), &k);
    return atomic_load(&k.failed) ? ASSAY_NOMEM : ASSAY_OK;
}

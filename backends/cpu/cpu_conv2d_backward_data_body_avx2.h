/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_conv2d_backward_data_body_avx2.h -- the gradient by x for one type; a template
 * behind cpu_conv2d_types_avx2.h.
 *
 * A task is some channels of x of one image.  For some lines of y at a time: what each tap of these
 * channels gives to each place of y is the product of the filter, transposed, and the gradient; it
 * is added to where the tap looked, or dropped outside x. */

typedef struct IN(job) {
    cpu_conv2d g;
    int64_t channels, shares; /* of a task; tasks of an image and group */
    int64_t lines;            /* of y at a time */
    atomic_bool failed;       /* no memory */
} IN(job);

static int64_t IN(up)(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Parts of a task's scratch, in REALs. */
typedef struct IN(parts) {
    REAL *filter, *gradient, *given, *sums;
} IN(parts);

static bool IN(take)(const IN(job) * k, IN(parts) * m)
{
    const cpu_conv2d *g = &k->g;
    int64_t rows = k->channels * g->r * g->s, cols = IN(up)(k->lines * g->ow, NR);
    int64_t filter = IN(up)(IN(up)(rows, MR) * g->k, 16), gradient = g->k * cols;
    int64_t given = rows * cols, sums = NARROW ? k->channels * g->h * g->w : 0;

    m->filter = cpu_workspace(1, (size_t)(filter + gradient + given + sums + 16) * sizeof(REAL));
    if (m->filter == NULL)
        return false;
    m->gradient = m->filter + filter;
    m->given = m->gradient + gradient;
    m->sums = m->given + given;
    return true;
}

/* Taps [0, rows) of a run of channels as rows, in strips of MR, KC filters deep. */
static void IN(pack_filter)(const cpu_conv2d *g, const TYPE *filter, int64_t rows, REAL *to)
{
    for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
        int64_t kc = g->k - k0 < KC ? g->k - k0 : KC;
        for (int64_t i = 0; i < rows; i += MR, to += MR * kc)
            for (int64_t k = 0; k < kc; k++)
                for (int64_t r = 0; r < MR; r++)
                    to[k * MR + r] =
                        i + r < rows ? ONE(filter[(k0 + k) * g->taps + i + r]) : (REAL)0;
    }
}

/* `count` places of every channel of y as columns, in strips of NR, KC channels deep. */
static void IN(pack_gradient)(const cpu_conv2d *g, const TYPE *y, int64_t count, REAL *to)
{
    for (int64_t k0 = 0; k0 < g->k; k0 += KC) {
        int64_t kc = g->k - k0 < KC ? g->k - k0 : KC;
        for (int64_t j = 0; j < count; j += NR, to += NR * kc) {
            int64_t used = count - j < NR ? count - j : NR;
            if (used < NR)
                memset(to, 0, (size_t)(NR * kc) * sizeof *to);
            for (int64_t k = 0; k < kc; k++)
                SPAN(y + (k0 + k) * g->oh * g->ow + j, to + k * NR, used);
        }
    }
}

/* given: of tap (r, s) of one channel to lines [p0, p0 + lines) of y. */
static void IN(add_tap)(const cpu_conv2d *g, const REAL *given, int64_t r, int64_t s, int64_t p0,
                        int64_t lines, REAL *x)
{
    int64_t at = s * g->dil_w - g->pad_w, from, to;

    cpu_conv2d_inside(at, g->stride_w, g->w, g->ow, &from, &to);
    for (int64_t p = p0; p < p0 + lines; p++, given += g->ow) {
        int64_t iy = p * g->stride_h - g->pad_h + r * g->dil_h;
        if (iy < 0 || iy >= g->h)
            continue;
        REAL *line = x + iy * g->w;
        if (g->stride_w == 1)
            for (int64_t q = from; q < to; q++)
                line[at + q] += given[q];
        else
            for (int64_t q = from; q < to; q++)
                line[at + q * g->stride_w] += given[q];
    }
}

static void IN(lines)(const IN(job) * k, const IN(parts) * m, const TYPE *y, int64_t rows,
                      int64_t p0, REAL *x)
{
    const cpu_conv2d *g = &k->g;
    int64_t lines = g->oh - p0 < k->lines ? g->oh - p0 : k->lines, count = lines * g->ow;
    int64_t cols = IN(up)(count, NR), padded = IN(up)(rows, MR);

    IN(pack_gradient)(g, y + p0 * g->ow, count, m->gradient);
    for (int64_t k0 = 0; k0 < g->k; k0 += KC)
        FN(macro)
    (rows, count, g->k - k0 < KC ? g->k - k0 : KC, m->filter + k0 * padded, m->gradient + k0 * cols,
     (FN(source)){m->given, cols}, m->given, cols, 1, k0 == 0 ? 0 : 1);
    for (int64_t row = 0; row < rows; row++)
        IN(add_tap)
    (g, m->given + row * cols, row / g->s % g->r, row % g->s, p0, lines,
     x + row / (g->r * g->s) * g->h * g->w);
}

static void IN(task)(void *cookie, int64_t index)
{
    IN(job) *k = cookie;
    const cpu_conv2d *g = &k->g;
    int64_t part = index / k->shares, c0 = index % k->shares * k->channels;
    int64_t count = g->c - c0 < k->channels ? g->c - c0 : k->channels, rows = count * g->r * g->s;
    const TYPE *y = (const TYPE *)(const void *)g->y + part * g->k * g->oh * g->ow;
    const TYPE *filter = (const TYPE *)(const void *)g->filter + part % g->groups * g->k * g->taps +
                         c0 * g->r * g->s;
    TYPE *x = (TYPE *)(void *)(uintptr_t)g->x + (part * g->c + c0) * g->h * g->w;
    int64_t places = count * g->h * g->w;
    IN(parts) m;

    if (!IN(take)(k, &m)) {
        atomic_store_explicit(&k->failed, true, memory_order_relaxed);
        return;
    }
    REAL *sums = NARROW ? m.sums : (REAL *)(void *)x;
    memset(sums, 0, (size_t)places * sizeof *sums);
    IN(pack_filter)(g, filter, rows, m.filter);
    for (int64_t p0 = 0; p0 < g->oh && g->k > 0; p0 += k->lines)
        IN(lines)(k, &m, y, rows, p0, sums);
    for (int64_t i = 0; NARROW && i < places; i++)
        x[i] = IN(narrow)(sums[i]);
}

static assay_status IN(run)(const assay_launch *launch)
{
    int threads = cpu_threads(launch);
    IN(job) k = {.shares = 1};

    cpu_conv2d_back_read(launch, 2, 1, 0, &k.g);
    int64_t parts = k.g.n * k.g.groups, taps = k.g.r * k.g.s;
    if (parts == 0 || k.g.c == 0 || k.g.h == 0 || k.g.w == 0)
        return ASSAY_OK;
    k.lines = BLOCK / k.g.ow < 1 ? 1 : BLOCK / k.g.ow < k.g.oh ? BLOCK / k.g.ow : k.g.oh;
    k.channels = ROWS / taps < 1 ? 1 : ROWS / taps < k.g.c ? ROWS / taps : k.g.c;
    /* No bit depends on the channels of a task. */
    int64_t wanted = threads > 1 ? (4 * (int64_t)threads + parts - 1) / parts : 1;
    int64_t most = (k.g.c + wanted - 1) / wanted;
    k.channels = most < k.channels ? most : k.channels;
    k.shares = (k.g.c + k.channels - 1) / k.channels;
    atomic_init(&k.failed, false);
    assay__host_team_run(threads, parts * k.shares, IN(task), &k);
    return atomic_load(&k.failed) ? ASSAY_NOMEM : ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_conv2d_back.c -- both gradients of a convolution through cblas_sgemm
 * and columns (im2col, col2im) in memory, as many lines of y of an image as fit 64 MiB.
 *
 * cols[tap][place]: what a tap of a channel sees at each place of y, or what it gives there. */
#include "backends/openblas/openblas_conv2d_back.h"

#include <limits.h>
#include <string.h>

#include "backends/openblas/openblas_area.h"
#include "backends/thread_choice.h"
#include "runtime/host_team.h"
#include "runtime/op_params.h"

typedef struct gradient {
    const openblas_library *library;
    float *x, *filter, *cols; /* of the image and group at hand */
    const float *y;
    int64_t n, groups, c, h, w, k, r, s, oh, ow, taps; /* c, k, taps: of one group */
    int64_t stride_h, stride_w, pad_h, pad_w, dil_h, dil_w;
    int64_t p0, lines; /* of y at hand */
    int threads;
} gradient;

/* Both have the parameters of conv2d in its order. */
static assay_status begin(const assay_launch *launch, const assay_tensor *y, gradient *g)
{
    const assay_problem *p = launch->problem;
    const char *why;

    *g = (gradient){.library = openblas_open(&why)};
    if (g->library == NULL)
        return assay__host_fail(launch->instance, ASSAY_UNAVAILABLE, "OpenBLAS: %s", why);
    g->threads = launch->tunables != NULL ? (int)launch->tunables[0] : 1;
    openblas_use_threads(g->library, g->threads);
    g->groups = ASSAY__INT(p, conv2d, groups);
    g->n = ASSAY__INT(p, conv2d, n);
    g->c = ASSAY__INT(p, conv2d, c) / g->groups;
    g->k = ASSAY__INT(p, conv2d, k) / g->groups;
    g->h = ASSAY__INT(p, conv2d, h);
    g->w = ASSAY__INT(p, conv2d, w);
    g->r = ASSAY__INT(p, conv2d, r);
    g->s = ASSAY__INT(p, conv2d, s);
    g->stride_h = ASSAY__INT(p, conv2d, stride_h);
    g->stride_w = ASSAY__INT(p, conv2d, stride_w);
    g->pad_h = ASSAY__INT(p, conv2d, pad_h);
    g->pad_w = ASSAY__INT(p, conv2d, pad_w);
    g->dil_h = ASSAY__INT(p, conv2d, dil_h);
    g->dil_w = ASSAY__INT(p, conv2d, dil_w);
    g->oh = y->dims[2];
    g->ow = y->dims[3];
    g->taps = g->c * g->r * g->s;
    int64_t line = g->taps * g->ow * (int64_t)sizeof(float);
    int64_t fit = line > 0 ? OPENBLAS_AREA_BYTES / line : g->oh;
    g->lines = fit < 1 ? 1 : fit < g->oh ? fit : g->oh;
    return ASSAY_OK;
}

static size_t area_bytes(const gradient *g)
{
    return (size_t)(g->taps * g->lines * g->ow) * sizeof(float);
}

/* Where tap t looks from place (p, q); false: outside x. */
static bool look(const gradient *g, int64_t t, int64_t p, int64_t q, int64_t *at)
{
    int64_t row = p * g->stride_h - g->pad_h + t / g->s % g->r * g->dil_h;
    int64_t col = q * g->stride_w - g->pad_w + t % g->s * g->dil_w;

    *at = (t / (g->r * g->s) * g->h + row) * g->w + col;
    return row >= 0 && row < g->h && col >= 0 && col < g->w;
}

static void see_tap(void *cookie, int64_t t)
{
    const gradient *g = cookie;
    float *to = g->cols + t * g->lines * g->ow;
    int64_t at;

    for (int64_t p = 0; p < g->lines; p++)
        for (int64_t q = 0; q < g->ow; q++)
            *to++ = look(g, t, g->p0 + p, q, &at) ? g->x[at] : 0.0f;
}

static void give_channel(void *cookie, int64_t c)
{
    const gradient *g = cookie;
    int64_t at;

    for (int64_t t = c * g->r * g->s; t < (c + 1) * g->r * g->s; t++) {
        const float *from = g->cols + t * g->lines * g->ow;
        for (int64_t p = 0; p < g->lines; p++)
            for (int64_t q = 0; q < g->ow; q++, from++)
                if (look(g, t, g->p0 + p, q, &at))
                    g->x[at] += *from;
    }
}

/* Runs `step` for every run of lines of y. */
static void each_lines(gradient *g, void (*step)(gradient *g))
{
    int64_t most = g->lines;

    for (g->p0 = 0; g->p0 < g->oh; g->p0 += most) {
        g->lines = g->oh - g->p0 < most ? g->oh - g->p0 : most;
        step(g);
    }
    g->lines = most;
}

static void data_lines(gradient *g)
{
    int places = (int)(g->lines * g->ow);

    g->library->sgemm(OPENBLAS_ROW_MAJOR, OPENBLAS_TRANS, OPENBLAS_NO_TRANS, (int)g->taps, places,
                      (int)g->k, 1.0f, g->filter, (int)g->taps, g->y + g->p0 * g->ow,
                      (int)(g->oh * g->ow), 0.0f, g->cols, places);
    assay__host_team_run(g->threads, g->c, give_channel, g);
}

static void filter_lines(gradient *g)
{
    int places = (int)(g->lines * g->ow);

    assay__host_team_run(g->threads, g->taps, see_tap, g);
    g->library->sgemm(OPENBLAS_ROW_MAJOR, OPENBLAS_NO_TRANS, OPENBLAS_TRANS, (int)g->k,
                      (int)g->taps, places, 1.0f, g->y + g->p0 * g->ow, (int)(g->oh * g->ow),
                      g->cols, places, 1.0f, g->filter, (int)g->taps);
}

/* One filter's gradient tap by tap: 0 for what lies outside x must not meet what is not finite. */
static void careful_filter(void *cookie, int64_t k)
{
    const gradient *g = cookie;
    const float *y = g->y + k * g->oh * g->ow;
    int64_t at;

    for (int64_t t = 0; t < g->taps; t++)
        for (int64_t i = 0; i < g->oh * g->ow; i++)
            if (look(g, t, i / g->ow, i % g->ow, &at))
                g->filter[k * g->taps + t] += y[i] * g->x[at];
}

static bool finite(const float *x, int64_t n)
{
    float zero = 0.0f;

    for (int64_t i = 0; i < n; i++)
        zero += x[i] * 0.0f;
    return zero == 0.0f;
}

static assay_status no_memory(const assay_launch *launch, size_t bytes)
{
    return assay__host_fail(launch->instance, ASSAY_NOMEM, "no memory for %zu bytes of columns",
                            bytes);
}

assay_status openblas_backward_data(const assay_launch *launch)
{
    const float *y = assay_tensor_data(&launch->operands[0]);
    float *filter = assay_tensor_data(&launch->operands[1]);
    float *x = assay_tensor_data(&launch->operands[2]);
    gradient g;

    ASSAY_TRY(begin(launch, &launch->operands[0], &g));
    int64_t plane = g.c * g.h * g.w, parts = g.n * g.groups;
    if (parts * plane == 0)
        return ASSAY_OK;
    memset(x, 0, (size_t)(parts * plane) * sizeof *x);
    g.cols = g.k > 0 ? openblas_take(area_bytes(&g)) : NULL;
    if (g.k > 0 && g.cols == NULL)
        return no_memory(launch, area_bytes(&g));
    for (int64_t part = 0; part < parts && g.k > 0; part++) {
        g.x = x + part * plane;
        g.y = y + part * g.k * g.oh * g.ow;
        g.filter = filter + part % g.groups * g.k * g.taps;
        each_lines(&g, data_lines);
    }
    if (g.cols != NULL)
        openblas_give_back(g.cols, area_bytes(&g));
    return ASSAY_OK;
}

assay_status openblas_backward_filter(const assay_launch *launch)
{
    float *x = assay_tensor_data(&launch->operands[0]);
    const float *y = assay_tensor_data(&launch->operands[1]);
    float *filter = assay_tensor_data(&launch->operands[2]);
    gradient g;

    ASSAY_TRY(begin(launch, &launch->operands[1], &g));
    int64_t parts = g.n * g.groups, image = g.k * g.oh * g.ow, area = g.k * g.taps;
    if (area == 0)
        return ASSAY_OK;
    memset(filter, 0, (size_t)(g.groups * area) * sizeof *filter);
    if (parts == 0)
        return ASSAY_OK;
    bool may_pad = (g.pad_h == 0 && g.pad_w == 0) || finite(y, parts * image);
    g.cols = openblas_take(area_bytes(&g));
    if (g.cols == NULL)
        return no_memory(launch, area_bytes(&g));
    for (int64_t part = 0; part < parts; part++) {
        g.x = x + part * g.c * g.h * g.w;
        g.y = y + part * image;
        g.filter = filter + part % g.groups * area;
        if (may_pad)
            each_lines(&g, filter_lines);
        else
            assay__host_team_run(g.threads, g.k, careful_filter, &g);
    }
    openblas_give_back(g.cols, area_bytes(&g));
    return ASSAY_OK;
}

bool openblas_back_usable(const assay_problem *problem, const int64_t *tunables)
{
    int64_t taps = 1, places = 1, k = ASSAY__INT(problem, conv2d, k);
    bool overflows =
        __builtin_mul_overflow(ASSAY__INT(problem, conv2d, c), ASSAY__INT(problem, conv2d, r),
                               &taps) ||
        __builtin_mul_overflow(taps, ASSAY__INT(problem, conv2d, s), &taps) ||
        __builtin_mul_overflow(
            ASSAY__INT(problem, conv2d, h) + 2 * ASSAY__INT(problem, conv2d, pad_h),
            ASSAY__INT(problem, conv2d, w) + 2 * ASSAY__INT(problem, conv2d, pad_w), &places);

    return !overflows && taps <= INT_MAX && places <= INT_MAX && k <= INT_MAX &&
           (tunables == NULL || threads_usable(tunables[0]));
}

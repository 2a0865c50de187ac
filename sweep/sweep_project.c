/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* sweep/sweep_project.c -- products too large to be computed whole by the oracle: a sample of their
 * elements is compared with it, all of them by projections, and what these show worst with it
 * again.
 *
 * A strip (a block of columns of one row) beyond its threshold holds a wrong element, by a theorem.
 * One within it may hold one all the same, since thresholds add up what each of 512 elements may
 * err, while errors of a sound kernel cancel.  So the strips that are off most are computed by the
 * oracle and judged element by element: one that is a little beyond its own bound stands out among
 * strips whose sums are a hundredth of their thresholds.  No verdict rests on projections alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate/product_sample.h"
#include "calibrate/projection.h"
#include "runtime/error.h"
#include "sweep/acceptance.h"
#include "sweep/sweep_internal.h"

#define LOOKED_AT 8 /* strips within their thresholds that are computed, of an output */

/* One set's. */
struct sweep_sampled {
    assay__product product;
    size_t count;    /* elements compared, in the order of the file of expected results */
    uint64_t *index; /* owned: which these are */
    assay__projection projection;
};

/* ---- how much ---- */

/* Elements of each set to be compared, about; 0: all. */
static int64_t wanted_of(const sweep *s, const sweep_problem *p, assay__product *g)
{
    const size_t sets = assay__sweep_sets(s, p);
    const double above =
        s->o->sample_above_flops > 0 ? s->o->sample_above_flops : ASSAY__SAMPLE_ABOVE_FLOPS;

    return assay__product_of(&p->problem, g) ? assay__product_sample_size(g, above, sets) : 0;
}

/* With the borders of the products that are looked at, sixteen or those of as many elements. */
static double elements_of(const assay__product *g, int64_t wanted)
{
    const double all = (double)g->batch * (double)g->m * (double)g->n;
    const double looked =
        fmax(fmin((double)g->batch, 16.0), (double)wanted / ((double)g->m * (double)g->n));

    return fmin(all, (double)wanted + 2.0 * looked * (double)(g->m + g->n));
}

double assay__sweep_expected_bytes(const sweep *s, const sweep_problem *p)
{
    assay__product g;
    const int64_t wanted = wanted_of(s, p, &g);

    if (wanted == 0)
        return 32.0 *
               (double)assay_problem_operand_elements(&p->problem, p->problem.dtype_count - 1u);
    return 40.0 * elements_of(&g, wanted) + 40.0 * (double)assay__projection_strips(&g) +
           32.0 * (double)(g.n + g.k);
}

double assay__sweep_expected_flops(const sweep *s, const sweep_problem *p)
{
    assay__product g;
    const int64_t wanted = wanted_of(s, p, &g);
    double flops;

    if (wanted > 0) /* and four columns of each block */
        return 2.0 * (double)g.k *
               (elements_of(&g, wanted) + 4.0 * (double)assay__projection_strips(&g));
    return assay_problem_flops(&p->problem, &flops) ? flops : NAN;
}

/* ---- the oracle, over parts of a product ---- */

typedef struct shared_file {
    int fd;
    void *map;
    uint64_t bytes;
} shared_file;

typedef struct oracle {
    sweep *s;
    const sweep_problem *p;
    const assay__product *g;
    const char *inputs; /* mapped */
    assay__worker *worker;
    shared_file in, out;
} oracle;

static void file_clear(shared_file *f)
{
    if (f->map != NULL)
        munmap(f->map, f->bytes);
    if (f->fd >= 0)
        close(f->fd);
    *f = (shared_file){.fd = -1};
}

static assay_status file_reserve(shared_file *f, uint64_t bytes)
{
    if (bytes <= f->bytes)
        return ASSAY_OK;
    file_clear(f);
    ASSAY_TRY(assay__sweep_file("assay-part", bytes, &f->fd));
    f->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (f->map == MAP_FAILED) {
        f->map = NULL;
        return assay__fail(ASSAY_NOMEM, "cannot map a part of a product");
    }
    f->bytes = bytes;
    return ASSAY_OK;
}

static assay_status oracle_open(oracle *o, sweep *s, const sweep_problem *p, size_t set,
                                const assay__product *g)
{
    void *inputs = mmap(NULL, p->in.total, PROT_READ, MAP_SHARED, p->input_fd[set], 0);

    *o = (oracle){.s = s, .p = p, .g = g, .in = {.fd = -1}, .out = {.fd = -1}};
    if (inputs == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map the inputs");
    o->inputs = inputs;
    return ASSAY_OK;
}

static void oracle_close(oracle *o)
{
    if (o->inputs != NULL)
        munmap((void *)(uintptr_t)o->inputs, o->p->in.total);
    file_clear(&o->in);
    file_clear(&o->out);
}

static void operands_of(const oracle *o, const void *from[3])
{
    for (size_t i = 0; i < 3; i++)
        from[i] = i < o->p->in.count ? o->inputs + o->p->in.offset[i] : NULL;
}

/* hi, lo, bound and magnitude of rows x cols elements, in that order, to o->out. */
static assay_status oracle_part(oracle *o, int64_t batch, const int64_t *row, int64_t rows,
                                const int64_t *col, int64_t cols)
{
    char text[ASSAY_PROBLEM_TEXT_MAX];
    const void *from[3];
    void *to[3] = {NULL};
    assay__input_plan plan;
    assay_problem part;
    json_t *reply = NULL;

    ASSAY_TRY(assay__product_part(o->g, rows, cols, &part));
    ASSAY_TRY(assay__input_plan_make(&part, o->s->o->align, &plan));
    ASSAY_TRY(file_reserve(&o->in, plan.total));
    ASSAY_TRY(file_reserve(&o->out, (uint64_t)(rows * cols) * 32));
    operands_of(o, from);
    for (size_t i = 0; i < plan.count && i < 3; i++)
        to[i] = (char *)o->in.map + plan.offset[i];
    assay__product_gather(o->g, batch, row, rows, col, cols, from, to);
    if (assay_problem_format(&part, ASSAY_TEXT_ACCURACY, text, sizeof text) == 0)
        return assay__fail(ASSAY_INTERNAL, "a part's text is too long");
    json_t *request = json_pack("{s:s, s:s, s:i, s:i}", "cmd", "wide", "problem", text, "align",
                                (int)o->s->o->align, "threads", (int)o->s->cpus);
    const int fds[2] = {o->in.fd, o->out.fd};
    assay_status status = assay__worker_call(o->worker, request, fds, 2, SWEEP_ORACLE_MS, &reply);
    json_decref(reply);
    return status;
}

/* ---- before variants ---- */

/* A grid's results to their places, from `at` on. */
static void put_grid(const assay__product *g, const assay__grid *grid, const int64_t *row,
                     const int64_t *col, const double *from, double *wide, size_t at,
                     struct sweep_sampled *to)
{
    const size_t each = (size_t)(grid->rows * grid->cols);

    for (size_t figure = 0; figure < 4; figure++)
        memcpy(wide + figure * to->count + at, from + figure * each, each * sizeof *wide);
    for (int64_t i = 0; i < grid->rows; i++)
        for (int64_t j = 0; j < grid->cols; j++)
            to->index[at++] = (uint64_t)((grid->batch * g->m + row[i]) * g->n + col[j]);
}

static assay_status fill_grids(oracle *o, const assay__product_sample *list, double *wide,
                               struct sweep_sampled *to)
{
    size_t at = 0;

    for (size_t i = 0; i < list->grid_count; i++) {
        const assay__grid *grid = &list->grids[i];
        const int64_t *row = list->at + grid->row, *col = list->at + grid->col;
        ASSAY_TRY(oracle_part(o, grid->batch, row, grid->rows, col, grid->cols));
        put_grid(o->g, grid, row, col, o->out.map, wide, at, to);
        at += (size_t)(grid->rows * grid->cols);
    }
    return ASSAY_OK;
}

static assay_status sample_grids(oracle *o, const assay__product_sample *list, int fd,
                                 struct sweep_sampled *to)
{
    const size_t bytes = to->count * 32;
    double *wide = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assay_status status;

    if (wide == MAP_FAILED)
        return assay__fail(ASSAY_NOMEM, "cannot map %zu bytes of expected results", bytes);
    status = fill_grids(o, list, wide, to);
    munmap(wide, bytes);
    return status;
}

/* Names of the streams of chance: one a problem and stratum. */
static void stream_of(const sweep_problem *p, size_t set, const char *what, char *buf, size_t cap)
{
    (void)snprintf(buf, cap, "%s:%s:%s", p->text, p->stratum[set], what);
}

static assay_status sample_set(oracle *o, sweep_problem *p, size_t set, int64_t wanted,
                               struct sweep_sampled *to)
{
    char stream[ASSAY_PROBLEM_TEXT_MAX + 64];
    assay__product_sample list;
    const void *from[3];
    assay_status status;

    stream_of(p, set, "sample", stream, sizeof stream);
    ASSAY_TRY(assay__product_sample_make(o->g, wanted, o->s->o->seed, stream, &list));
    to->count = (size_t)list.elements;
    to->index = malloc((to->count + 1) * sizeof *to->index);
    status = to->index == NULL ? assay__fail(ASSAY_NOMEM, "places of a sample") : ASSAY_OK;
    if (status == ASSAY_OK)
        status = assay__sweep_file("assay-wide", to->count * 32, &p->wide_fd[set]);
    if (status == ASSAY_OK)
        status = sample_grids(o, &list, p->wide_fd[set], to);
    assay__product_sample_clear(&list);
    operands_of(o, from);
    stream_of(p, set, "projection", stream, sizeof stream);
    return status == ASSAY_OK ? assay__projection_make(o->g, from, o->s->o->seed, stream,
                                                       o->s->cpus, &to->projection)
                              : status;
}

assay_status assay__sweep_sample(sweep *s, sweep_problem *p, size_t set, assay__worker *worker,
                                 bool *is_sampled)
{
    struct sweep_sampled *to;
    assay__product g;
    const int64_t wanted = wanted_of(s, p, &g);
    oracle o;
    assay_status status;

    *is_sampled = wanted > 0;
    if (wanted == 0)
        return ASSAY_OK;
    to = calloc(1, sizeof *to);
    if (to == NULL)
        return assay__fail(ASSAY_NOMEM, "sample of a product");
    p->sampled[set] = to;
    to->product = g;
    ASSAY_TRY(oracle_open(&o, s, p, set, &to->product));
    o.worker = worker;
    status = sample_set(&o, p, set, wanted, to);
    oracle_close(&o);
    return status;
}

void assay__sweep_sample_clear(sweep_problem *p)
{
    for (size_t i = 0; i < SWEEP_SETS; i++) {
        struct sweep_sampled *one = p->sampled[i];
        if (one == NULL)
            continue;
        free(one->index);
        assay__projection_clear(&one->projection);
        free(one);
        p->sampled[i] = NULL;
    }
}

/* ---- the sample of an output ---- */

size_t assay__sweep_compared(const sweep_problem *p, size_t set)
{
    if (p->sampled[set] != NULL)
        return p->sampled[set]->count;
    return (size_t)assay_problem_operand_elements(&p->problem, p->problem.dtype_count - 1u);
}

assay_status assay__sweep_sampled_output(const sweep_problem *p, size_t set, const void *y,
                                         void **out)
{
    const struct sweep_sampled *one = p->sampled[set];
    const size_t bytes =
        assay_dtype_bytes((assay_dtype)p->problem.dtypes[p->problem.dtype_count - 1]);
    char *to = malloc((one->count + 1) * bytes);

    if (to == NULL)
        return assay__fail(ASSAY_NOMEM, "sample of an output");
    for (size_t i = 0; i < one->count; i++)
        memcpy(to + i * bytes, (const char *)y + one->index[i] * bytes, bytes);
    *out = to;
    return ASSAY_OK;
}

static void name_element(const struct sweep_sampled *one, uint64_t *index)
{
    if (*index != ASSAY_ERROR_NONE)
        *index = one->index[*index];
}

void assay__sweep_name_sampled(const sweep_problem *p, size_t set, assay_error_stats *stats,
                               assay_accept_counts *counts)
{
    const struct sweep_sampled *one = p->sampled[set];

    name_element(one, &stats->worst.index);
    name_element(one, &stats->worst_rho.index);
    for (size_t i = 0; i < ASSAY_ULP_CLASSES; i++)
        name_element(one, &stats->first[i].index);
    name_element(one, &counts->first_failed);
}

void assay__sweep_reference(const sweep_problem *p, uint64_t elements, char *buf, size_t cap)
{
    if (p->sampled[0] != NULL)
        (void)snprintf(
            buf, cap,
            "wide oracle at %llu elements, Freivalds' projection of all; hi + lo with bound",
            (unsigned long long)elements);
    else
        (void)snprintf(buf, cap, "wide oracle, hi + lo with bound");
}

/* ---- projections of an output ---- */

/* Row of all products, and columns of a strip. */
static void place_of(const struct sweep_sampled *one, size_t at, int64_t *row, int64_t *first,
                     int64_t *width)
{
    const assay__projection *e = &one->projection;
    const int64_t left = one->product.n - (int64_t)at % e->blocks * e->width;

    *row = (int64_t)at / e->blocks;
    *first = (int64_t)at % e->blocks * e->width;
    *width = left < e->width ? left : e->width;
}

/* Elements of the strip that are outside their bound join the figures: of a wrong variant they are
 * what is to be seen. */
static assay_status examine(oracle *o, const struct sweep_sampled *one, size_t at, const char *y,
                            const assay_accept_spec *spec, assay_error_stats *stats,
                            assay_accept_counts *counts)
{
    int64_t row, first, width, col[ASSAY__PROJECTION_BLOCK] = {0};

    place_of(one, at, &row, &first, &width);
    for (int64_t j = 0; j < width; j++)
        col[j] = first + j;
    const int64_t inside = row % o->g->m;
    ASSAY_TRY(oracle_part(o, row / o->g->m, &inside, 1, col, width));
    const double *wide = o->out.map;
    for (int64_t j = 0; j < width; j++) {
        const uint64_t index = (uint64_t)(row * o->g->n + first + j);
        const assay_error_batch element = {.y = y + index * assay_dtype_bytes(spec->format.dtype),
                                           .hi = wide + j,
                                           .lo = wide + width + j,
                                           .bound = wide + 2 * width + j,
                                           .magnitude = wide + 3 * width + j,
                                           .first = index,
                                           .count = 1};
        assay_accept_counts found;
        assay__accept_counts_init(&found);
        ASSAY_TRY(assay__accept_batch(&element, NULL, spec, &found));
        if (found.failed == 0)
            continue;
        assay__accept_counts_merge(counts, &found);
        ASSAY_TRY(assay__error_stats_add(stats, &element));
    }
    return ASSAY_OK;
}

static void describe_strip(const struct sweep_sampled *one, const assay__strip *s, char *buf,
                           size_t cap)
{
    int64_t row, first, width;

    place_of(one, s->at, &row, &first, &width);
    (void)snprintf(buf, cap, "; projection: row %lld, columns %lld-%lld, %.3g of its limit",
                   (long long)row, (long long)first, (long long)(first + width - 1), s->share);
}

static assay_status examine_list(oracle *o, const struct sweep_sampled *one,
                                 const assay__strip *list, size_t count, const char *y,
                                 const assay_accept_spec *spec, assay_error_stats *stats,
                                 assay_accept_counts *counts, size_t *failing)
{
    const assay__worker_options options = assay__sweep_worker_options(o->s, "ref");
    assay_status status = assay__worker_start(&options, &o->worker);

    *failing = count;
    for (size_t i = 0; status == ASSAY_OK && i < count && *failing == count; i++) {
        status = examine(o, one, list[i].at, y, spec, stats, counts);
        if (counts->failed > 0)
            *failing = i;
    }
    assay__worker_stop(&o->worker);
    if (status == ASSAY_CRASH || status == ASSAY_TIMEOUT) /* no fault of the variant's */
        status = assay__fail_context(ASSAY_INTERNAL, "the oracle failed on %s", o->p->text);
    return status;
}

static assay_status judge_shares(oracle *o, const struct sweep_sampled *one, const double *share,
                                 size_t count, const char *y, const assay_accept_spec *spec,
                                 assay_error_stats *stats, assay_accept_counts *counts, char *why,
                                 size_t cap)
{
    assay__strip *list = malloc((count + 1) * sizeof *list);
    size_t failing, n;
    assay_status status;

    if (list == NULL)
        return assay__fail(ASSAY_NOMEM, "strips of an output");
    n = assay__projection_suspects(share, count, LOOKED_AT, list);
    status = examine_list(o, one, list, n, y, spec, stats, counts, &failing);
    if (status == ASSAY_OK && failing < n)
        describe_strip(one, &list[failing], why, cap);
    free(list);
    return status;
}

assay_status assay__sweep_project(sweep *s, const sweep_problem *p, size_t set, const void *y,
                                  const assay_accept_spec *spec, assay_error_stats *stats,
                                  assay_accept_counts *counts, char *why, size_t cap)
{
    const struct sweep_sampled *one = p->sampled[set];
    const size_t count = (size_t)assay__projection_strips(&one->product);
    oracle o;
    double *share;
    assay_status status;

    if (counts->failed > 0) /* what is wrong is known, and where */
        return ASSAY_OK;
    share = malloc((count + 1) * sizeof *share);
    if (share == NULL)
        return assay__fail(ASSAY_NOMEM, "projections of an output");
    status = assay__projection_compare(&one->projection, y, spec, s->cpus, share);
    if (status == ASSAY_OK)
        status = oracle_open(&o, s, p, set, &one->product);
    if (status == ASSAY_OK) {
        status = judge_shares(&o, one, share, count, y, spec, stats, counts, why, cap);
        oracle_close(&o);
    }
    free(share);
    return status;
}

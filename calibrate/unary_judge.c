/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_judge.c -- see unary_judge.h.
 *
 * A run writes patterns, calls the kernel and judges, all there; several runs go out one behind the
 * other before anybody waits.  The device is at the next group while the host looks at the lists of
 * one.  A run whose list is too long is judged by the host. */
#include "calibrate/unary_judge.h"

#include "runtime/error.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN     ((size_t)1 << 25)
#define PLACES  65536
#define RUNS    16 /* at most before the host looks at their lists */
#define ALIGN   256
#define CHUNK   4096 /* elements whose references are asked for at once */
#define SAMPLED (3 * (uint64_t)ASSAY_SAMPLE_KEEP / 2)

_Static_assert(ASSAY_JUDGE_BATCH == ASSAY_EXHAUSTIVE_BATCH, "digests are of the same batches");
_Static_assert(ASSAY_JUDGE_BINS == ASSAY_ERROR_BINS, "errors fall into the same bins");

typedef struct desk {
    const assay_unary_launch *l;
    assay_judge judge;
    assay__judge_sizes sizes;
    assay_buffer x, y, results; /* results: `best`, then a record and its list for each run */
    uint64_t first, end;        /* patterns of the plan */
    uint32_t limit;             /* of the sample's priorities */
    assay_error_stats counted;  /* by the device; maxima and sample from `shown` */
    assay_error_stats shown;    /* counted there, but looked at here for maxima and sample */
    assay_error_stats looked;   /* counted here */
    uint64_t digest;
    uint64_t redo[RUNS]; /* runs of a group that the host has to judge: their first pattern */
    size_t redo_count;
    assay_judged records[RUNS];
    assay_judged_element *list; /* of all runs of a group, one behind the other */
    size_t list_room;
    unsigned char x_bits[4 * CHUNK], y_bits[4 * CHUNK];
    double hi[CHUNK], lo[CHUNK], bound[CHUNK];
} desk;

/* ---- memory ---- */

static size_t bytes_of(const desk *d, size_t operand)
{
    return assay_dtype_bytes((assay_dtype)d->l->problem.dtypes[operand]);
}

static uint64_t record_stride(const desk *d)
{
    const uint64_t bytes =
        sizeof(assay_judged) + (uint64_t)d->sizes.places * sizeof(assay_judged_element);

    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t record_at(const desk *d, size_t run)
{
    return ALIGN + run * record_stride(d);
}

static assay_status take_there(desk *d)
{
    const assay__backend *b = d->l->backend;

    ASSAY_TRY(assay__backend_alloc(b, d->sizes.run * bytes_of(d, 0), ALIGN, &d->x));
    assay_status status = assay__backend_alloc(b, d->sizes.run * bytes_of(d, 1), ALIGN, &d->y);
    if (status == ASSAY_OK) {
        status = assay__backend_alloc(b, record_at(d, RUNS), ALIGN, &d->results);
        if (status == ASSAY_OK)
            return ASSAY_OK;
        (void)assay__backend_free(b, d->y);
    }
    (void)assay__backend_free(b, d->x);
    return status;
}

static void free_there(const desk *d)
{
    (void)assay__backend_free(d->l->backend, d->results);
    (void)assay__backend_free(d->l->backend, d->y);
    (void)assay__backend_free(d->l->backend, d->x);
}

/* ---- what goes out ---- */

static assay_tensor bytes_tensor(assay_buffer buffer, uint64_t offset, uint64_t bytes)
{
    return (assay_tensor){.buffer = buffer,
                          .byte_offset = offset,
                          .dtype = ASSAY_U8,
                          .rank = 1,
                          .dims = {(int64_t)bytes},
                          .strides = {1}};
}

/* A launch over n elements of x and y from `at` on. */
static assay_status prepare(const desk *d, uint64_t at, size_t n, assay_problem *problem,
                            assay_tensor operands[3], assay_launch *out)
{
    ASSAY_TRY(assay__unary_prepare(d->l, NULL, NULL, n, problem, operands, out));
    operands[0].buffer = d->x;
    operands[1].buffer = d->y;
    for (size_t i = 0; i < 2; i++)
        operands[i].byte_offset = at * bytes_of(d, i);
    return ASSAY_OK;
}

static assay_status put_patterns(const desk *d, uint64_t first, size_t n)
{
    const int64_t tunables[] = {(int64_t)first};
    assay_problem problem;
    assay_tensor operands[3];
    assay_launch launch;

    ASSAY_TRY(prepare(d, 0, n, &problem, operands, &launch));
    launch.tunables = tunables;
    launch.tunable_count = 1;
    return assay__backend_launch(d->l->backend, d->judge.patterns, &launch);
}

/* Memory that the device lacks is no kernel's fault. */
static assay_status blame(assay_status status)
{
    return status == ASSAY_NOMEM ? status : assay__backend_blame(status);
}

static assay_status run_kernel(const desk *d, uint64_t at, size_t n)
{
    assay_problem problem;
    assay_tensor operands[3];
    assay_launch launch;

    ASSAY_TRY(prepare(d, at, n, &problem, operands, &launch));
    return blame(assay__backend_launch(d->l->backend, d->l->kernel->run, &launch));
}

static bool may_lie_at(const desk *d, uint64_t at)
{
    for (size_t i = 0; i < 2; i++) {
        const assay_operand_caps *caps = &d->l->kernel->caps[i];
        if ((caps->layouts & ASSAY_CAP_OFFSET) == 0 ||
            (caps->align_bytes > 1 && at * bytes_of(d, i) % caps->align_bytes != 0))
            return false;
    }
    return true;
}

/* In two pieces, as everywhere: here the second lies behind the first, wherever that ends. */
static assay_status run_pieces(const desk *d, uint64_t first, size_t n)
{
    size_t tail;

    ASSAY_TRY(assay__unary_tail(d->l, first, n, &tail));
    if (tail > 0 && !may_lie_at(d, n - tail))
        return assay__fail(ASSAY_UNSUPPORTED, "%s: operands begin where their buffers do",
                           d->l->kernel->name);
    ASSAY_TRY(run_kernel(d, 0, n - tail));
    return tail > 0 ? run_kernel(d, n - tail, tail) : ASSAY_OK;
}

static assay_status judge_there(const desk *d, size_t run, uint64_t first, size_t n)
{
    const int64_t tunables[] = {(int64_t)first, (int64_t)d->limit, (int64_t)d->sizes.places};
    assay_problem problem;
    assay_tensor operands[3];
    assay_launch launch;

    ASSAY_TRY(prepare(d, 0, n, &problem, operands, &launch));
    operands[0] = operands[1];
    operands[1] = bytes_tensor(d->results, record_at(d, run), record_stride(d));
    operands[2] = bytes_tensor(d->results, 0, ASSAY_JUDGE_BEST);
    launch.operand_count = 3;
    launch.tunables = tunables;
    launch.tunable_count = 3;
    return assay__backend_launch(d->l->backend, d->judge.judge, &launch);
}

static size_t length_of(const desk *d, uint64_t first)
{
    return d->end - first < d->sizes.run ? (size_t)(d->end - first) : d->sizes.run;
}

/* ---- what comes back ---- */

static int by_place(const void *a, const void *b)
{
    const assay_judged_element *x = a, *y = b;

    return (x->place > y->place) - (x->place < y->place);
}

/* One for each output, in order. */
static size_t join_elements(assay_judged_element *list, size_t count)
{
    size_t kept = 0;

    qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && list[kept - 1].place == list[i].place)
            list[kept - 1].why |= list[i].why;
        else
            list[kept++] = list[i];
    return kept;
}

static void put_bits(unsigned char *to, size_t bytes, size_t i, uint64_t bits)
{
    memcpy(to + i * bytes, &bits, bytes); /* little-endian, as stores are */
}

static assay_status look_at_chunk(desk *d, uint64_t first, const assay_judged_element *list,
                                  size_t count)
{
    const assay__unary u = assay__unary_of(d->l);
    const size_t in = bytes_of(d, 0), out = bytes_of(d, 1);

    for (size_t i = 0; i < count; i++) {
        put_bits(d->x_bits, in, i, first + list[i].place);
        put_bits(d->y_bits, out, i, list[i].bits);
    }
    ASSAY_TRY(u.wide(u.wide_cookie, d->x_bits, count, d->hi, d->lo, d->bound));
    for (size_t i = 0; i < count; i++) {
        const assay_error_batch b = {.y = d->y_bits + i * out,
                                     .hi = d->hi + i,
                                     .lo = d->lo + i,
                                     .bound = d->bound + i,
                                     .first = first + list[i].place,
                                     .count = 1,
                                     .inputs = {d->x_bits + i * in},
                                     .input_dtypes = {u.input},
                                     .input_count = 1};
        const bool counts = (list[i].why & ASSAY_JUDGE_LOOK) != 0;
        ASSAY_TRY(assay__error_stats_add(counts ? &d->looked : &d->shown, &b));
    }
    return ASSAY_OK;
}

static void add_counts(desk *d, const assay_judged *r)
{
    assay_error_stats *s = &d->counted;
    const uint64_t high = r->sum_high > UINT32_MAX ? UINT64_MAX : r->sum_high << 32;

    s->elements += r->elements;
    s->classes[ASSAY_ULP_ORDINARY] += r->elements;
    s->zero_sign_mismatch += r->zero_sign_mismatch;
    s->misrounded += r->misrounded;
    s->over_one += r->over_one;
    s->zeros += r->zeros;
    s->integers += r->integers;
    if (r->max_dist > s->max_dist)
        s->max_dist = r->max_dist;
    for (size_t i = 0; i < ASSAY_ERROR_BINS; i++)
        s->bins[i] += r->bins[i];
    assay__sum_merge(&s->err_sum,
                     (assay_exact_sum){assay__sum_capped(high, r->sum_low), r->sum_part});
    d->digest += r->digest;
}

/* Every output is counted once, by one of the two. */
static assay_status check_record(const assay_judged *r, const assay_judged_element *list,
                                 size_t count, size_t n)
{
    uint64_t looks = 0, binned = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].place >= n)
            return assay__fail(ASSAY_NUMERIC, "the device's judge lists output %u of %zu",
                               list[i].place, n);
        looks += (list[i].why & ASSAY_JUDGE_LOOK) != 0;
    }
    for (size_t i = 0; i < ASSAY_ERROR_BINS; i++)
        binned += r->bins[i];
    if (r->elements + looks != n || binned != r->elements)
        return assay__fail(ASSAY_NUMERIC,
                           "the device's judge counted %llu of %zu outputs, and listed %llu",
                           (unsigned long long)r->elements, n, (unsigned long long)looks);
    return ASSAY_OK;
}

static assay_status take_run(desk *d, const assay_judged *r, assay_judged_element *list,
                             uint64_t first, size_t n)
{
    const size_t count = join_elements(list, (size_t)r->listed);

    ASSAY_TRY(check_record(r, list, count, n));
    add_counts(d, r);
    for (size_t i = 0; i < count; i += CHUNK)
        ASSAY_TRY(look_at_chunk(d, first, list + i, count - i < CHUNK ? count - i : (size_t)CHUNK));
    return ASSAY_OK;
}

/* ---- runs ---- */

/* The last run first: where errors grow with the pattern the first tiles have the largest then, and
 * no others are gone through again. */
static assay_status send_group(const desk *d, uint64_t first, size_t *runs)
{
    ASSAY_TRY(assay__backend_fill(d->l->backend, d->results, record_at(d, 0),
                                  RUNS * record_stride(d), 0));
    *runs = 0;
    while (*runs < RUNS && first + *runs * d->sizes.run < d->end)
        ++*runs;
    for (size_t i = *runs; i-- > 0;) {
        const uint64_t at = first + i * d->sizes.run;
        const size_t n = length_of(d, at);
        ASSAY_TRY(put_patterns(d, at, n));
        ASSAY_TRY(run_pieces(d, at, n));
        ASSAY_TRY(judge_there(d, i, at, n));
    }
    return ASSAY_OK;
}

/* 0: there is no whole one. */
static size_t listed(const desk *d, size_t run)
{
    const uint64_t count = d->records[run].listed;

    return count <= d->sizes.places ? (size_t)count : 0;
}

static assay_status make_room(desk *d, size_t runs)
{
    size_t wanted = 0;

    for (size_t i = 0; i < runs; i++)
        wanted += listed(d, i);
    if (wanted <= d->list_room)
        return ASSAY_OK;
    free(d->list);
    d->list_room = 0;
    d->list = malloc(wanted * sizeof *d->list);
    if (d->list == NULL)
        return assay__fail(ASSAY_NOMEM, "the lists of a judge, %zu outputs", wanted);
    d->list_room = wanted;
    return ASSAY_OK;
}

/* All that the device has to say of a group, so that its memory is free for the next. */
static assay_status fetch_group(desk *d, size_t runs)
{
    assay_transfer down[RUNS] = {{.bytes = 0}};
    size_t count = 0, at = 0;

    ASSAY_TRY(blame(assay__backend_synchronize(d->l->backend)));
    for (size_t i = 0; i < runs; i++)
        down[i] = (assay_transfer){.buffer = d->results,
                                   .offset = record_at(d, i),
                                   .host = &d->records[i],
                                   .bytes = sizeof d->records[i]};
    ASSAY_TRY(assay__backend_download(d->l->backend, down, runs));
    ASSAY_TRY(make_room(d, runs));
    for (size_t i = 0; i < runs; at += listed(d, i), i++)
        if (listed(d, i) > 0)
            down[count++] = (assay_transfer){.buffer = d->results,
                                             .offset = record_at(d, i) + sizeof d->records[i],
                                             .host = d->list + at,
                                             .bytes = listed(d, i) * sizeof *d->list};
    return count > 0 ? assay__backend_download(d->l->backend, down, count) : ASSAY_OK;
}

static assay_status take_group(desk *d, uint64_t first, size_t runs)
{
    size_t at = 0;

    for (size_t i = 0; i < runs; i++) {
        const size_t n = length_of(d, first);
        if (d->records[i].listed > d->sizes.places)
            d->redo[d->redo_count++] = first;
        else
            ASSAY_TRY(take_run(d, &d->records[i], d->list + at, first, n));
        at += listed(d, i);
        first += n;
    }
    return ASSAY_OK;
}

/* Runs of the last group whose lists were too long. */
static assay_status redo_runs(desk *d, unsigned threads)
{
    assay_unary_launch l = *d->l;
    assay_exhaustive_result r;

    if (d->redo_count == 0)
        return ASSAY_OK;
    ASSAY_TRY(assay__unary_bring(&l, ASSAY_UNARY_PIECE));
    const assay__unary u = assay__unary_of(&l);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < d->redo_count && status == ASSAY_OK; i++) {
        const assay_exhaustive_plan plan = {.threads = threads,
                                            .first_batch = d->redo[i] / ASSAY_EXHAUSTIVE_BATCH,
                                            .batch_count =
                                                length_of(d, d->redo[i]) / ASSAY_EXHAUSTIVE_BATCH};
        status = assay__exhaustive_run(&u, &plan, &r);
        if (status != ASSAY_OK)
            break;
        d->digest += r.digest;
        status = assay__error_stats_merge(&d->looked, &r.stats);
        assay__exhaustive_clear(&r);
    }
    d->redo_count = 0;
    assay__unary_leave(&l);
    return status;
}

static uint64_t behind(const desk *d, uint64_t first, size_t runs)
{
    const uint64_t next = first + (uint64_t)runs * d->sizes.run;

    return next < d->end ? next : d->end;
}

static assay_status judge_all(desk *d, const assay_exhaustive_plan *plan)
{
    uint64_t first = d->first;
    size_t runs, runs_behind = 0;

    ASSAY_TRY(assay__backend_fill(d->l->backend, d->results, 0, ALIGN, 0));
    ASSAY_TRY(send_group(d, first, &runs));
    while (first < d->end) {
        const uint64_t next = behind(d, first, runs);
        ASSAY_TRY(fetch_group(d, runs));
        if (next < d->end)
            ASSAY_TRY(send_group(d, next, &runs_behind));
        ASSAY_TRY(take_group(d, first, runs));
        ASSAY_TRY(redo_runs(d, plan->threads));
        first = next;
        runs = runs_behind;
        if (plan->progress != NULL &&
            !plan->progress(plan->cookie, first - d->first, d->end - d->first))
            return assay__fail(ASSAY_INTERRUPTED, "exhaustive run: stopped on request");
    }
    return ASSAY_OK;
}

/* ---- the whole ---- */

/* What was shown is counted already: it gives its maxima and its sample. */
static assay_status join_shown(desk *d)
{
    assay_error_stats *s = &d->counted;
    const assay_error_stats *shown = &d->shown;
    size_t within = 0;

    if (shown->classes[ASSAY_ULP_ORDINARY] != shown->elements || shown->max_dist > s->max_dist ||
        shown->misrounded > s->misrounded)
        return assay__fail(ASSAY_NUMERIC, "the device's judge counted what it should not");
    s->max_err_ulp = shown->max_err_ulp;
    s->max_rel = shown->max_rel;
    s->max_abs = shown->max_abs;
    s->worst = shown->worst;
    assay__sample_set_merge(&s->sample, &shown->sample);
    ASSAY_TRY(assay__error_stats_merge(s, &d->looked));
    for (size_t i = 0; i < s->sample.count; i++)
        within += s->sample.items[i].priority <= d->limit;
    if (within < ASSAY_SAMPLE_KEEP && d->limit < UINT32_MAX)
        return assay__fail(ASSAY_NUMERIC, "too few ordinary outputs were listed as a sample");
    return ASSAY_OK;
}

static assay_status stats_init(desk *d)
{
    const assay_dtype output = (assay_dtype)d->l->problem.dtypes[1];

    ASSAY_TRY(assay__error_stats_init(&d->counted, output, false));
    ASSAY_TRY(assay__error_stats_init(&d->shown, output, false));
    return assay__error_stats_init(&d->looked, output, false);
}

static assay_status judge_and_join(desk *d, const assay_exhaustive_plan *plan,
                                   assay_exhaustive_result *out)
{
    const assay_dtype input = (assay_dtype)d->l->problem.dtypes[0];

    ASSAY_TRY(judge_all(d, plan));
    ASSAY_TRY(join_shown(d));
    *out = (assay_exhaustive_result){.stats = d->counted,
                                     .inputs = d->end - d->first,
                                     .digest = d->digest,
                                     .is_complete =
                                         d->end - d->first == assay__exhaustive_batches(input) *
                                                                  (uint64_t)ASSAY_EXHAUSTIVE_BATCH};
    d->counted.sample.items = NULL; /* moved */
    return assay__exhaustive_count_nan(input, d->first, d->end - d->first, &out->nan_inputs);
}

static assay_status find_judge(desk *d)
{
    if (bytes_of(d, 0) < 2 || bytes_of(d, 1) > 4)
        return assay__fail(ASSAY_UNSUPPORTED, "no device judges inputs of 8 or results of 64 bits");
    d->judge = (assay_judge){.struct_size = sizeof d->judge, .problem = &d->l->problem};
    return assay__backend_judge(d->l->backend, &d->judge);
}

static assay_status plan_desk(desk *d, const assay_exhaustive_plan *plan)
{
    const uint64_t batches = assay__exhaustive_batches((assay_dtype)d->l->problem.dtypes[0]);

    if (plan->first_batch >= batches || plan->batch_count > batches - plan->first_batch ||
        plan->threads == 0)
        return assay__fail(ASSAY_INVALID, "exhaustive run: no such plan");
    const uint64_t count = plan->batch_count > 0 ? plan->batch_count : batches - plan->first_batch;
    d->first = plan->first_batch * ASSAY_EXHAUSTIVE_BATCH;
    d->end = d->first + count * ASSAY_EXHAUSTIVE_BATCH;
    if (d->sizes.run > d->end - d->first)
        d->sizes.run = (size_t)(d->end - d->first);
    const uint64_t limit = ((uint64_t)1 << 32) / (d->end - d->first) * SAMPLED;
    d->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
    return ASSAY_OK;
}

static assay_status work_at(desk *d, const assay_exhaustive_plan *plan,
                            assay_exhaustive_result *out)
{
    ASSAY_TRY(find_judge(d));
    ASSAY_TRY(plan_desk(d, plan));
    ASSAY_TRY(stats_init(d));
    ASSAY_TRY(take_there(d));
    const assay_status status = judge_and_join(d, plan, out);
    if (status != ASSAY_OK) { /* the next group may be under way */
        char said[256];
        (void)snprintf(said, sizeof said, "%s", assay_last_error());
        (void)assay__backend_synchronize(d->l->backend);
        free_there(d);
        return assay__fail(status, "%s", said);
    }
    free_there(d);
    return ASSAY_OK;
}

assay_status assay__unary_judged_alone(const assay_unary_launch *launch,
                                       const assay_exhaustive_plan *plan,
                                       const assay__judge_sizes *sizes,
                                       assay_exhaustive_result *out)
{
    desk *d = calloc(1, sizeof *d);

    if (d == NULL)
        return assay__fail(ASSAY_NOMEM, "the desk of a judge");
    d->l = launch;
    d->sizes = sizes != NULL ? *sizes : (assay__judge_sizes){.run = RUN, .places = PLACES};
    const assay_status status = work_at(d, plan, out);
    assay__error_stats_clear(&d->counted);
    assay__error_stats_clear(&d->shown);
    assay__error_stats_clear(&d->looked);
    free(d->list);
    free(d);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/bench_stays.c -- `assay bench`: do stays see what they must, and nothing else?
 *
 * Twice the work takes twice as long.  Operands that come from memory take longer than those that a
 * cache keeps.  Who stayed before, on how many CPUs, makes no difference.  Each is a ratio of two
 * stays that follow one another, in turns over ROUNDS rounds. */
#include <math.h>

#include "cli/bench_stay.h"
#include "cli/cmd_common.h"
#include "runtime/error.h"
#include "runtime/machine.h"
#include "tuner/stats.h"

#define ROUNDS     15
#define EXP_N      8192        /* arithmetic: operands in a cache of the core */
#define RELU_N     (1ll << 20) /* memory: 4 MiB in, 4 MiB out */
#define ADD_N      (1ll << 18)
#define ROTATE     256e6
#define WANTED_OFF 0.05
#define WANTED_HOT 0.8
#define BEHIND     "stays, behind one on all CPUs"

static const assay__bench_effort hot = {
    .cache = ASSAY_CACHE_HOT, .warm_ns = 2e6, .span_ns = 50e3, .budget_ns = 8e6, .spans = 7};
static const assay__bench_effort cold = {.cache = ASSAY_CACHE_ROTATE,
                                         .rotate_bytes = ROTATE,
                                         .warm_ns = 2e6,
                                         .span_ns = 50e3,
                                         .budget_ns = 8e6,
                                         .spans = 7};

/* A stay in a worker of its own. */
typedef struct side {
    assay__bench_stay stay;
    assay__worker *worker;
    const assay__bench_effort *effort;
} side;

static assay_status side_make(const assay__bench_options *o, assay_op_id op, int64_t n,
                              const assay__bench_effort *effort, side *out)
{
    assay_problem problem;

    *out = (side){.stay = {.fds = {-1, -1}}, .effort = effort};
    ASSAY_TRY(assay_problem_init(op, ASSAY_F32, &problem));
    ASSAY_TRY(assay_problem_set_int(&problem, "n", n));
    ASSAY_TRY(assay__bench_stay_make(o, &problem, &out->stay));
    return assay__bench_stay_worker(&out->stay, &out->worker);
}

static void side_clear(side *s)
{
    assay__worker_stop(&s->worker);
    assay__bench_stay_clear(&s->stay);
}

static assay_status side_time(side *s, double *ns)
{
    return assay__bench_stay_time(&s->stay, s->worker, s->effort, ns);
}

/* ratios[i]: of b over a in round i; the first round is nobody's. */
static assay_status compare(side *a, side *b, double *ratios)
{
    double first, second;

    for (size_t i = 0; i <= ROUNDS; i++) {
        ASSAY_TRY(side_time(a, &first));
        ASSAY_TRY(side_time(b, &second));
        if (i > 0)
            ratios[i - 1] = second / first;
    }
    return ASSAY_OK;
}

/* How far the ratio is from what it should be; lo..hi: by the 95 % interval of the median. */
static assay_status add_off(assay__bench_rows *r, const char *what, const double *ratios,
                            double wanted)
{
    assay__bench_rows scratch = {.count = 0};
    assay__bench_row *median = NULL, *row = NULL;

    ASSAY_TRY(assay__bench_add_median(&scratch, what, "share", ratios, ROUNDS, &median));
    ASSAY_TRY(assay__bench_add(r, what, "share", fabs(median->value / wanted - 1), &row));
    const double lo = median->lo / wanted - 1, hi = median->hi / wanted - 1;
    row->lo = lo * hi < 0 ? 0 : fmin(fabs(lo), fabs(hi));
    row->hi = fmax(fabs(lo), fabs(hi));
    row->n = ROUNDS;
    row->goal = WANTED_OFF;
    row->by_interval = true;
    return ASSAY_OK;
}

static assay_status add_work(const assay__bench_options *o, assay__bench_rows *r)
{
    double ratios[ROUNDS];
    side once, twice = {.stay = {.fds = {-1, -1}}};
    assay_status status = side_make(o, ASSAY_OP_exp, EXP_N, &hot, &once);

    if (status == ASSAY_OK)
        status = side_make(o, ASSAY_OP_exp, 2 * EXP_N, &hot, &twice);
    if (status == ASSAY_OK)
        status = compare(&once, &twice, ratios);
    if (status == ASSAY_OK)
        status = add_off(r, "stays, twice the work: off 2 to 1", ratios, 2);
    side_clear(&once);
    side_clear(&twice);
    return status;
}

static assay_status add_cold(const assay__bench_options *o, assay__bench_rows *r)
{
    double ratios[ROUNDS];
    side from_memory, from_cache = {.stay = {.fds = {-1, -1}}};
    assay__bench_row *row = NULL;
    assay_status status = side_make(o, ASSAY_OP_relu, RELU_N, &cold, &from_memory);

    if (status == ASSAY_OK)
        status = side_make(o, ASSAY_OP_relu, RELU_N, &hot, &from_cache);
    if (status == ASSAY_OK)
        status = compare(&from_memory, &from_cache, ratios);
    if (status == ASSAY_OK)
        status =
            assay__bench_add_median(r, "stays, 8 MiB hot over cold", "ratio", ratios, ROUNDS, &row);
    if (status == ASSAY_OK)
        row->goal = WANTED_HOT;
    side_clear(&from_memory);
    side_clear(&from_cache);
    return status;
}

/* One stay behind itself, and one behind a stay on all CPUs, in one worker as in a visit. */
static assay_status compare_behind(side *s, int64_t cpus, double *ratios)
{
    int64_t *threads = &s->stay.tunables[s->stay.threads_at];
    double behind_itself, behind_all;

    for (size_t i = 0; i <= ROUNDS; i++) {
        ASSAY_TRY(side_time(s, &behind_itself));
        ASSAY_TRY(side_time(s, &behind_itself));
        *threads = cpus;
        ASSAY_TRY(side_time(s, &behind_all));
        *threads = 1;
        ASSAY_TRY(side_time(s, &behind_all));
        if (i > 0)
            ratios[i - 1] = behind_all / behind_itself;
    }
    return ASSAY_OK;
}

/* Why there is nobody to stay behind; NULL: there is. */
static const char *why_alone(const side *s, uint32_t cpus)
{
    if (cpus == 0)
        return "how many CPUs there are to use is not known";
    if (cpus == 1)
        return "there is one CPU to use";
    return s->stay.threads_at < s->stay.tunable_count ? NULL : "the kernel has one thread";
}

static assay_status add_behind(const assay__bench_options *o, assay__bench_rows *r)
{
    const assay__machine machine = ASSAY__MACHINE_HERE;
    const uint32_t cpus = assay__machine_usable_cpus(&machine);
    const char *reason = NULL;
    double ratios[ROUNDS];
    side s;
    assay_status status = side_make(o, ASSAY_OP_add, ADD_N, &cold, &s);

    if (status == ASSAY_OK)
        reason = why_alone(&s, cpus);
    if (status == ASSAY_OK && reason == NULL)
        status = compare_behind(&s, cpus, ratios);
    if (status == ASSAY_OK && reason == NULL)
        status = add_off(r, BEHIND ": off 1 to 1", ratios, 1);
    if (reason != NULL)
        assay__cmd_warn("bench", o->is_quiet, BEHIND ": skipped: %s", reason);
    side_clear(&s);
    return status;
}

assay_status assay__bench_stays(const assay__bench_options *o, assay__bench_rows *r)
{
    ASSAY_TRY(add_work(o, r));
    ASSAY_TRY(add_cold(o, r));
    return add_behind(o, r);
}

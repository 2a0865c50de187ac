/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* bench/bench_repeat.c -- sweeps of the same problems, into fresh stores and into one, where who
 * won before is the incumbent: do they agree?
 *
 * Of each problem the pick most often made is looked for in the other sweeps' sets of ties; and the
 * variant that one sweep picked in the results of another, whether the intervals overlap. */
#include <string.h>

#include "bench/bench_print.h"
#include "bench/bench_sweep.h"

enum { SWEEPS = 20, PROBLEMS = 6, THREADS = 2 };
#define PROFILE "standard"
#define POLICY  "rotate/alone/kernel"

static const char csv[] = "op,dtype,m,n,k,rows,cols\n"
                          "matmul,f32,64,64,64,,\n"
                          "matmul,f32,512,512,512,,\n"
                          "add,f32,,1048576,,,\n"
                          "exp,f32,,262144,,,\n"
                          "softmax_last_dim,f32,,,,512,1024\n"
                          "layer_norm_last_dim,f32,,,,512,1024\n";

static const struct {
    assay_op_id op;
    struct {
        const char *name;
        int64_t value;
    } params[3];
} asked[PROBLEMS] = {{ASSAY_OP_matmul, {{"m", 64}, {"n", 64}, {"k", 64}}},
                     {ASSAY_OP_matmul, {{"m", 512}, {"n", 512}, {"k", 512}}},
                     {ASSAY_OP_add, {{"n", 1048576}}},
                     {ASSAY_OP_exp, {{"n", 262144}}},
                     {ASSAY_OP_softmax_last_dim, {{"rows", 512}, {"cols", 1024}}},
                     {ASSAY_OP_layer_norm_last_dim, {{"rows", 512}, {"cols", 1024}}}};

static assay_explanation *explain(assay_context *context, size_t which)
{
    assay_explanation *e = NULL;
    assay_problem p;
    assay_question q;
    assay_route route;

    BENCH_MUST(assay_problem_init(asked[which].op, ASSAY_F32, &p));
    for (size_t i = 0; i < 3 && asked[which].params[i].name != NULL; i++)
        BENCH_MUST(
            assay_problem_set_int(&p, asked[which].params[i].name, asked[which].params[i].value));
    assay_question_init(&p, &q);
    bench_pick(context, &q, &route);
    BENCH_MUST(assay_explain(context, &q, &e));
    return e;
}

static bool is_same(const assay_candidate *a, const assay_candidate *b)
{
    return memcmp(&a->revision, &b->revision, sizeof a->revision) == 0;
}

static const assay_candidate *find(const assay_explanation *in, const assay_candidate *variant)
{
    for (size_t i = 0; i < in->candidate_count; i++)
        if (is_same(&in->candidates[i], variant))
            return &in->candidates[i];
    return NULL;
}

/* The sweep whose pick most sweeps made, of equals the first. */
static size_t most_often(assay_explanation *const e[SWEEPS], size_t *count)
{
    size_t best = 0;

    *count = 0;
    for (size_t i = 0; i < SWEEPS; i++) {
        size_t same = 0;
        for (size_t j = 0; j < SWEEPS; j++)
            same += is_same(&e[i]->candidates[0], &e[j]->candidates[0]);
        if (same > *count) {
            *count = same;
            best = i;
        }
    }
    return best;
}

typedef struct sums {
    /* Another pick, which is no tie: the usual one was slower, or dropped after one stay. */
    size_t picks, same, told_apart, screened;
    size_t pairs, overlap; /* pairs of sweeps that timed the first one's pick */
    size_t next, stayed;   /* sweeps behind another; those with its pick */
} sums;

/* Why not the usual one. */
static void say(const assay_candidate *pick, const assay_candidate *usual,
                const assay_candidate *there)
{
    fprintf(stderr, "  %s %lld, %.4g us, for %s %lld, %.4g us: %s\n", pick->kernel,
            (long long)pick->tunables[0], pick->route.time_ns / 1e3, usual->kernel,
            (long long)usual->tunables[0], there != NULL ? there->route.time_ns / 1e3 : NAN,
            there == NULL ? "is no candidate"
            : there->tied ? "tied"
                          : there->reason);
}

static void add_pick(const assay_candidate *pick, const assay_candidate *usual,
                     const assay_candidate *there, sums *s)
{
    if (is_same(pick, usual))
        return;
    say(pick, usual, there);
    if (there != NULL && there->tied)
        return;
    if (there == NULL || there->route.lo_ns > 0)
        s->told_apart++;
    else
        s->screened++;
}

/* The pick of sweep i in all other sweeps. */
static void add_overlaps(assay_explanation *const e[SWEEPS], size_t i, sums *s)
{
    const assay_candidate *pick = &e[i]->candidates[0];

    for (size_t j = 0; j < SWEEPS; j++) {
        const assay_candidate *other = find(e[j], pick);
        if (i == j || other == NULL || !(other->route.lo_ns > 0))
            continue;
        s->pairs++;
        s->overlap +=
            pick->route.lo_ns <= other->route.hi_ns && other->route.lo_ns <= pick->route.hi_ns;
    }
}

static void add_problem(assay_explanation *const e[SWEEPS], sums *s)
{
    size_t same;
    const assay_candidate *usual = &e[most_often(e, &same)]->candidates[0];
    const sums before = *s;

    s->picks += SWEEPS;
    s->same += same;
    for (size_t i = 0; i < SWEEPS; i++)
        add_overlaps(e, i, s);
    s->next += SWEEPS - 1;
    for (size_t i = 1; i < SWEEPS; i++)
        s->stayed += is_same(&e[i - 1]->candidates[0], &e[i]->candidates[0]);
    for (size_t i = 0; i < SWEEPS; i++)
        add_pick(&e[i]->candidates[0], usual, find(e[i], usual), s);
    fprintf(stderr,
            "%s %s: %zu of %d, %zu told apart, %zu screened, %zu of %zu intervals "
            "overlap\n",
            assay_op_get(e[0]->question.problem.op)->name, usual->kernel, same, (int)SWEEPS,
            s->told_apart - before.told_apart, s->screened - before.screened,
            s->overlap - before.overlap, s->pairs - before.pairs);
}

static bench_figure share(size_t part, size_t whole)
{
    const double n = (double)whole, p = whole > 0 ? (double)part / n : (double)NAN;
    /* Wilson's interval at 95 %; picks of one problem are not independent, so it is too narrow */
    const double z = 1.96, middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

    return (bench_figure){100 * p, 100 * fmax(0.0, middle - half), 100 * (middle + half), whole};
}

static void print_share(const char *series, const char *what, bench_figure f, const char *goal,
                        int met)
{
    char name[128];

    snprintf(name, sizeof name, "%s: %s", series, what);
    bench_print(name, f, "%", NULL, 0, goal, met);
}

/* A winner that is slower beyond doubt gives way once, and for good: of sweeps into one store it is
 * the changes that count. */
static void print(const char *series, bool into_one, const sums *s)
{
    const bench_figure same = share(s->same, s->picks), over = share(s->overlap, s->pairs);
    const bench_figure stayed = share(s->stayed, s->next);

    if (into_one)
        print_share(series, "picks that the next one makes again", stayed, ">= 99",
                    stayed.value >= 99);
    else {
        print_share(series, "picks as most often made", same, ">= 99", same.value >= 99);
        print_share(series, "other picks that no tie explains", share(s->told_apart, s->picks),
                    "<= 0", s->told_apart == 0);
        print_share(series, "other picks as the usual one was dropped early",
                    share(s->screened, s->picks), "", 0);
    }
    print_share(series, "intervals of two that overlap", over, ">= 95", over.value >= 95);
}

static void run(const char *series, bool into_one)
{
    static assay_explanation *e[PROBLEMS][SWEEPS];
    bench_store store;
    sums s = {0};

    for (size_t i = 0; i < SWEEPS; i++) {
        if (into_one && i > 0)
            bench_sweep_again(PROFILE, POLICY, THREADS, &store);
        else
            bench_sweep_by(PROFILE, csv, POLICY, THREADS, &store);
        for (size_t p = 0; p < PROBLEMS; p++)
            e[p][i] = explain(store.context, p);
        if (!into_one || i == SWEEPS - 1)
            bench_store_close(&store);
    }
    for (size_t p = 0; p < PROBLEMS; p++) {
        add_problem(e[p], &s);
        for (size_t i = 0; i < SWEEPS; i++)
            assay_explanation_destroy(&e[p][i]);
    }
    print(series, into_one, &s);
}

/* bench_repeat [fresh | one]; seven minutes each. */
int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "fresh") == 0)
        run("sweeps", false);
    if (argc < 2 || strcmp(argv[1], "one") == 0)
        run("sweeps of one store", true);
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_attention.c -- attention: the reference and all kernels against the definition,
 * evaluated in long double, and against its laws. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/status.h"
#include "calibrate/accept.h"
#include "sweep/acceptance.h"
#include "tests/support/every_kernel.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref;

static void setup(void)
{
    every_kernel_open();
    ref = plugin_load("ref");
}

static const assay_dtype floats[] = {ASSAY_F64, ASSAY_F32, ASSAY_F16, ASSAY_BF16};
#define FLOATS 4

/* Keys that query i sees. */
static int64_t seen(const assay_problem *p, int64_t i)
{
    int64_t sq = assay_problem_int(p, "sq"), sk = assay_problem_int(p, "sk"), n = sk;

    if (assay_problem_int(p, "causal") == 1)
        n = i + sk - sq + 1;
    else if (assay_problem_int(p, "causal") == 2)
        n = i + 1;
    return n < 0 ? 0 : n > sk ? sk : n;
}

/* Element (b, h, i, c) of operand t. */
static long double at(const plugin_case *c, uint32_t t, const int64_t *where)
{
    const int64_t *d = c->operands[t].dims;

    return (long double)plugin_case_get(
        c, t, ((where[0] * d[1] + where[1]) * d[2] + where[2]) * d[3] + where[3]);
}

static double scale_of(const plugin_case *c)
{
    double given = assay_problem_real(&c->problem, "scale");
    double scale = fabs(given) > 0.0 ? given : 1.0 / sqrt((double)c->operands[0].dims[3]);

    return c->problem.dtypes[0] == ASSAY_F64 ? scale : assay_round_f64(ASSAY_F32, scale);
}

/* Row (b, h, i) by the definition. */
static void row(const plugin_case *c, const int64_t where[3], long double *out)
{
    const int64_t *q = c->operands[0].dims, *k = c->operands[1].dims;
    int64_t n = seen(&c->problem, where[2]), head = where[1] / (q[1] / k[1]);
    long double scores[400], top = -INFINITY, sum = 0;

    ck_assert_int_le(n, 400);
    for (int64_t j = 0; j < n; j++) {
        scores[j] = 0;
        for (int64_t e = 0; e < q[3]; e++)
            scores[j] += at(c, 0, (int64_t[]){where[0], where[1], where[2], e}) *
                         at(c, 1, (int64_t[]){where[0], head, j, e});
        scores[j] *= (long double)scale_of(c);
        top = scores[j] > top ? scores[j] : top;
    }
    for (int64_t j = 0; j < n; j++)
        sum += scores[j] = expl(scores[j] - top);
    for (int64_t e = 0; e < q[3]; e++) {
        out[e] = 0;
        for (int64_t j = 0; j < n; j++)
            out[e] += scores[j] / sum * at(c, 2, (int64_t[]){where[0], head, j, e});
    }
}

static long double *by_definition(const plugin_case *c)
{
    const int64_t *o = c->operands[3].dims;
    long double *out = calloc((size_t)c->elements + 1, sizeof *out);

    ck_assert_ptr_nonnull(out);
    for (int64_t r = 0; r < o[0] * o[1] * o[2]; r++)
        row(c, (int64_t[]){r / (o[1] * o[2]), r / o[2] % o[1], r % o[2]}, out + r * o[3]);
    return out;
}

static bool same(double got, double want)
{
    return isnan(want) ? isnan(got) : got >= want && got <= want;
}

typedef struct judge {
    assay_accept_spec spec;
    assay_wide wide;
    const long double *want;
    const char *what;
} judge;

static void check_kernel(plugin_case *c, const assay_kernel_desc *k, void *cookie)
{
    const judge *j = cookie;

    for (int64_t i = 0; i < c->elements; i++) {
        assay_accept_element e = {.y = plugin_case_get(c, 3, i),
                                  .hi = (double)j->want[i],
                                  .lo = (double)(j->want[i] - (long double)(double)j->want[i]),
                                  .magnitude = j->wide.magnitude[i]};
        if (!isfinite(j->want[i]))
            e.lo = 0.0;
        ck_assert_msg(assay__accept(&e, &j->spec) != ASSAY_ACCEPT_FAIL,
                      "%s %s %s element %ld: %g, not %g", k->name,
                      assay_dtype_name(c->operands[0].dtype), j->what, (long)i, e.y, e.hi);
    }
}

/* The oracle and every kernel give `want`, within the op's bound of it where that is finite. */
static void check_kernels(plugin_case *c, const long double *want, const char *what)
{
    judge j = {.want = want, .what = what};
    assay_wide *wide = &j.wide;

    ck_assert_int_eq(assay__acceptance_of(&c->problem, &j.spec), ASSAY_OK);
    plugin_case_wide(c, plugin_oracle(ref, ASSAY_OP_attention), 2, wide);
    for (int64_t i = 0; i < c->elements; i++) {
        double gap = fabs((double)(want[i] - (long double)wide->hi[i]) - wide->lo[i]);
        ck_assert_msg(isfinite(want[i]) ? gap <= wide->bound[i] + 1e-17 * wide->magnitude[i]
                                        : same(wide->hi[i], (double)want[i]),
                      "%s element %ld: oracle %.17g +- %g, not %.17g", what, (long)i, wide->hi[i],
                      wide->bound[i], (double)want[i]);
        ck_assert(!isfinite(want[i]) || wide->magnitude[i] >= fabs(wide->hi[i]));
    }
    plugin_case_poison(c);
    ck_assert_int_ge(every_kernel(c, check_kernel, &j), 2);
    plugin_wide_clear(wide);
}

/* ---- values made by hand --------------------------------------------------------------------- */

#define LN3 1.0986122886681098

static const struct hand {
    const char *params;
    double q[4], k[8], v[8], o[8];
} hand[] = {
    /* One key: its value, whatever the score. */
    {"b=1,hq=1,hkv=1,sq=1,sk=1,d=1", {7}, {-3}, {5}, {5}},
    /* Equal scores: the mean. */
    {"b=1,hq=1,hkv=1,sq=1,sk=4,d=1", {0}, {1, 2, 3, 4}, {1, 2, 3, 6}, {3}},
    /* The scale multiplies: weights 3 : 1. */
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=1,scale=2", {0.5}, {LN3, 0}, {4, 8}, {5}},
    /* Scores whose exponentials no dtype holds, and none but 0 does. */
    {"b=1,hq=1,hkv=1,sq=1,sk=3,d=1", {1000}, {1, 1, -1}, {3, 5, 9}, {4}},
    {"b=1,hq=1,hkv=1,sq=1,sk=3,d=1", {-1000}, {1, 1, 2}, {3, 5, 9}, {4}},
    /* 1 / sqrt(4) where none is given. */
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=4",
     {2, 0, 0, 0},
     {LN3, 0, 0, 0, 0, 0, 0, 0},
     {4, 0, 0, 1, 8, 0, 0, 1},
     {5, 0, 0, 1}},
    /* The last query sees all. */
    {"b=1,hq=1,hkv=1,sq=2,sk=3,d=1,causal=1", {0, 0}, {1, 1, 1}, {1, 3, 8}, {2, 4}},
    {"b=1,hq=1,hkv=1,sq=2,sk=3,d=1,causal=top_left", {0, 0}, {1, 1, 1}, {1, 3, 8}, {1, 2}},
    /* Queries before all keys see none. */
    {"b=1,hq=1,hkv=1,sq=3,sk=1,d=1,causal=1", {1, 1, 1}, {1}, {9}, {0, 0, 9}},
    {"b=1,hq=1,hkv=1,sq=3,sk=1,d=1,causal=top_left", {1, 1, 1}, {1}, {9}, {9, 9, 9}},
    {"b=1,hq=1,hkv=1,sq=2,sk=0,d=2", {1, 1, 1, 1}, {0}, {0}, {0, 0, 0, 0}},
    /* Heads share keys in runs. */
    {"b=1,hq=4,hkv=2,sq=1,sk=1,d=1", {1, 1, 1, 1}, {0, 0}, {3, 4}, {3, 3, 4, 4}},
    /* A score of -inf has no part, a row of them is no number. */
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=1", {1}, {-INFINITY, 2}, {7, 3}, {3}},
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=1", {1}, {-INFINITY, -INFINITY}, {7, 3}, {NAN}},
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=1", {1}, {INFINITY, 2}, {7, 3}, {NAN}},
    {"b=1,hq=2,hkv=1,sq=1,sk=2,d=1", {NAN, 1}, {2, 2}, {7, 3}, {NAN, 5}},
    {"b=1,hq=1,hkv=1,sq=1,sk=2,d=1", {1}, {0, 0}, {INFINITY, 3}, {INFINITY}},
};

START_TEST(values_made_by_hand)
{
    for (size_t i = 0; i < sizeof hand / sizeof *hand; i++) {
        const struct hand *h = &hand[i];
        const double *in[] = {h->q, h->k, h->v};
        long double want[8];
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_attention, floats[_i], h->params, 0);
        for (uint32_t o = 0; o < 3; o++)
            for (int64_t j = 0; j < assay_problem_operand_elements(&c.problem, o); j++)
                plugin_case_set(&c, o, j, in[o][j]);
        long double *defined = by_definition(&c);
        for (int64_t j = 0; j < c.elements; j++) { /* the storage rounds ln 3 */
            want[j] = defined[j];
            ck_assert_msg(isnan(h->o[j]) ? isnan((double)want[j])
                                         : isinf(h->o[j]) || fabs((double)want[j] - h->o[j]) < 0.02,
                          "%s element %ld: %g, not %g", h->params, (long)j, (double)want[j],
                          h->o[j]);
            if (isinf(h->o[j]))
                want[j] = (long double)h->o[j];
        }
        check_kernels(&c, want, h->params);
        free(defined);
        plugin_case_clear(&c);
    }
}
END_TEST

/* ---- by the definition ----------------------------------------------------------------------- */

static const char *const shapes[] = {
    "b=2,hq=2,hkv=2,sq=5,sk=9,d=8",
    "b=1,hq=6,hkv=2,sq=26,sk=133,d=12,causal=1",
    "b=1,hq=4,hkv=1,sq=7,sk=70,d=65,causal=top_left",
    "b=1,hq=2,hkv=2,sq=50,sk=20,d=6,causal=1",
    "b=2,hq=8,hkv=2,sq=1,sk=200,d=16,causal=1,scale=-0.5",
    "b=1,hq=1,hkv=1,sq=30,sk=300,d=3,scale=0.01",
};
#define SHAPES ((int)(sizeof shapes / sizeof *shapes))

/* Sizes of queries: ordinary scores, and such that most weights are lost in f32. */
START_TEST(kernels_follow_the_definition)
{
    static const double sizes[] = {1.0, 40.0};
    const char *shape = shapes[_i / FLOATS];

    for (size_t i = 0; i < 2; i++) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_attention, floats[_i % FLOATS], shape, 8);
        for (uint32_t o = 0; o < 3; o++)
            plugin_case_fill(&c, o, 3 + o, o == 0 ? sizes[i] : 1.0);
        long double *want = by_definition(&c);
        check_kernels(&c, want, shape);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* Keys and values that a query does not see may hold anything. */
START_TEST(unseen_keys_have_no_part)
{
    static const char *const masked[] = {"b=1,hq=2,hkv=1,sq=40,sk=70,d=9,causal=1",
                                         "b=2,hq=2,hkv=2,sq=33,sk=150,d=8,causal=top_left"};

    for (size_t i = 0; i < 2; i++) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_attention, floats[_i], masked[i], 0);
        for (uint32_t o = 0; o < 3; o++)
            plugin_case_fill(&c, o, 7 + o, 1.0);
        int64_t keys = c.operands[1].dims[2], d = c.operands[1].dims[3];
        int64_t from = seen(&c.problem, 20), n = 0, spoilt = 0;
        for (int64_t j = from; j < keys; j += 5) {
            plugin_case_set(&c, 1, j * d + j % d, j % 2 == 0 ? NAN : INFINITY);
            plugin_case_set(&c, 2, j * d + (j + 3) % d, j % 2 == 0 ? -INFINITY : NAN);
        }
        long double *want = by_definition(&c);
        for (int64_t j = 0; j < c.elements; j++) {
            n += isfinite(want[j]) != 0;
            spoilt += isfinite(want[j]) == 0;
        }
        ck_assert_msg(n > 150 && spoilt > 80, "%ld, %ld", (long)n, (long)spoilt);
        check_kernels(&c, want, masked[i]);
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* Blocks of keys whose scores are all -inf come before, between and after others. */
START_TEST(blocks_without_a_score_have_no_part)
{
    static const int64_t ends[][2] = {{0, 150}, {100, 200}, {70, 130}};

    for (size_t i = 0; i < 3; i++) {
        plugin_case c;
        plugin_case_init(&c, ASSAY_OP_attention, floats[_i], "b=1,hq=2,hkv=1,sq=3,sk=200,d=2", 0);
        for (uint32_t o = 0; o < 3; o++)
            plugin_case_fill(&c, o, 5 + o, 1.0);
        for (int64_t r = 0; r < 6; r++)
            plugin_case_set(&c, 0, 2 * r, 0.5);
        for (int64_t j = ends[i][0]; j < ends[i][1]; j++)
            plugin_case_set(&c, 1, 2 * j, -INFINITY);
        long double *want = by_definition(&c);
        for (int64_t j = 0; j < c.elements; j++)
            ck_assert(isfinite(want[j]));
        check_kernels(&c, want, "-inf");
        free(want);
        plugin_case_clear(&c);
    }
}
END_TEST

/* A row whose scores the type of the kernels does not know may be any mixture of its values; the
 * bound says so, and no more than that. */
START_TEST(unknown_scores_leave_any_mixture)
{
    assay_accept_spec spec;
    plugin_case c;
    assay_wide w;

    plugin_case_init(&c, ASSAY_OP_attention, ASSAY_F32, "b=1,hq=1,hkv=1,sq=1,sk=2,d=1,scale=1", 0);
    plugin_case_set(&c, 0, 0, 0x1p24);
    plugin_case_set(&c, 1, 0, 1.0);
    plugin_case_set(&c, 1, 1, 0x1.000002p0); /* 2 above the first */
    plugin_case_set(&c, 2, 0, 3.0);
    plugin_case_set(&c, 2, 1, -1.0);
    plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_attention), 1, &w);
    double weight = 1.0 / (1.0 + exp(-2.0)), want = 3.0 * (1.0 - weight) - weight;
    ck_assert_msg(fabs(w.hi[0] + w.lo[0] - want) < 1e-12, "%g, not %g", w.hi[0], want);
    ck_assert_int_eq(assay__acceptance_of(&c.problem, &spec), ASSAY_OK);
    assay_accept_element e = {.y = 3.0, .hi = w.hi[0], .lo = w.lo[0], .magnitude = w.magnitude[0]};
    ck_assert_int_ne(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    e.y = 9.0;
    ck_assert_int_eq(assay__accept(&e, &spec), ASSAY_ACCEPT_FAIL);
    plugin_wide_clear(&w);
    plugin_case_clear(&c);
}
END_TEST

/* Known scores leave no such room: a kernel that forgets the scale, or one key, is found. */
START_TEST(wrong_results_are_outside_the_bound)
{
    static const char *const wrong[] = {"scale=1", "causal=top_left"};
    assay_accept_spec spec;

    for (size_t i = 0; i < 2; i++) {
        plugin_case c, other;
        char text[128];
        int failed = 0;
        assay_wide w;
        plugin_case_init(&c, ASSAY_OP_attention, ASSAY_F32, "b=1,hq=1,hkv=1,sq=9,sk=32,d=16", 0);
        snprintf(text, sizeof text, "b=1,hq=1,hkv=1,sq=9,sk=32,d=16,%s", wrong[i]);
        plugin_case_init(&other, ASSAY_OP_attention, ASSAY_F32, text, 0);
        for (uint32_t o = 0; o < 3; o++) {
            plugin_case_fill(&c, o, 11 + o, 1.0);
            plugin_case_fill(&other, o, 11 + o, 1.0);
        }
        plugin_case_wide(&c, plugin_oracle(ref, ASSAY_OP_attention), 1, &w);
        ck_assert_int_eq(
            plugin_case_run(&other, plugin_kernel(ref, ASSAY_OP_attention, ASSAY_F32, NULL), NULL),
            ASSAY_OK);
        ck_assert_int_eq(assay__acceptance_of(&c.problem, &spec), ASSAY_OK);
        for (int64_t j = 0; j < c.elements; j++) {
            assay_accept_element e = {.y = plugin_case_get(&other, 3, j),
                                      .hi = w.hi[j],
                                      .lo = w.lo[j],
                                      .bound = w.bound[j],
                                      .magnitude = w.magnitude[j]};
            failed += assay__accept(&e, &spec) == ASSAY_ACCEPT_FAIL;
        }
        ck_assert_msg(failed > 140, "%s: %d of 144", wrong[i], failed);
        plugin_wide_clear(&w);
        plugin_case_clear(&c);
        plugin_case_clear(&other);
    }
}
END_TEST

/* Every part of the output asked for alone equals the same part of the whole. */
START_TEST(ranges_agree_with_the_whole)
{
    const assay_oracle_desc *oracle = plugin_oracle(ref, ASSAY_OP_attention);
    double hi[300], lo[300], bound[300], magnitude[300];
    plugin_case c;
    assay_wide all;

    plugin_case_init(&c, ASSAY_OP_attention, floats[_i], "b=2,hq=4,hkv=2,sq=13,sk=20,d=7,causal=1",
                     0);
    for (uint32_t o = 0; o < 3; o++)
        plugin_case_fill(&c, o, 1 + o, 1.0);
    plugin_case_wide(&c, oracle, 2, &all);
    assay_launch launch = {.struct_size = sizeof launch,
                           .operand_count = 4,
                           .problem = &c.problem,
                           .operands = c.operands};
    for (int64_t first = 0; first < c.elements; first += 61) {
        int64_t count = c.elements - first < 300 ? c.elements - first : first % 300;
        assay_wide part = {hi, lo, bound, magnitude, first, count};
        ck_assert_int_eq(oracle->wide(&launch, 1, &part), ASSAY_OK);
        for (int64_t i = 0; i < count; i++) {
            double gap = (hi[i] - all.hi[first + i]) + (lo[i] - all.lo[first + i]);
            ck_assert_msg(fabs(gap) <= bound[i] + all.bound[first + i], "element %ld of %ld",
                          (long)i, (long)first);
            ck_assert(fabs(magnitude[i] - all.magnitude[first + i]) <= 1e-9 * magnitude[i]);
        }
    }
    plugin_wide_clear(&all);
    plugin_case_clear(&c);
}
END_TEST

/* More scores than openblas_attention holds at a time: runs of rows. */
START_TEST(runs_of_rows_agree)
{
    int64_t tunables[ASSAY_MAX_TUNABLES] = {2, 64, 4};
    plugin_case c;

    plugin_case_init(&c, ASSAY_OP_attention, ASSAY_F32,
                     "b=1,hq=2,hkv=1,sq=2100,sk=4200,d=1,causal=1", 0);
    const assay_kernel_desc *k =
        plugin_kernel(plugin_load("openblas"), ASSAY_OP_attention, ASSAY_F32, NULL);
    if (every_kernel_can(k)) {
        for (uint32_t o = 0; o < 3; o++)
            plugin_case_fill(&c, o, 9 + o, 1.0);
        plugin_case_poison(&c);
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        double *got = malloc((size_t)c.elements * sizeof *got);
        ck_assert_ptr_nonnull(got);
        for (int64_t i = 0; i < c.elements; i++)
            got[i] = plugin_case_get(&c, 3, i);
        k = plugin_kernel(plugin_load("cpu"), ASSAY_OP_attention, ASSAY_F32,
                          "cpu_attention_portable");
        ck_assert_int_eq(plugin_case_run(&c, k, tunables), ASSAY_OK);
        for (int64_t i = 0; i < c.elements; i++)
            ck_assert_msg(fabs(got[i] - plugin_case_get(&c, 3, i)) <= 1e-4, "row %ld: %g, not %g",
                          (long)i, got[i], plugin_case_get(&c, 3, i));
        free(got);
    }
    plugin_case_clear(&c);
}
END_TEST

/* ---- costs and bad input --------------------------------------------------------------------- */

static assay_status parse(const char *params, assay_problem *p)
{
    char text[256];

    snprintf(text, sizeof text, "attention f32,f32,f32,f32 %s", params);
    return assay_problem_parse(text, p);
}

START_TEST(layer_1_counts)
{
    static const struct {
        const char *params;
        double pairs, bytes; /* pairs of all heads */
    } rows[] = {
        {"b=2,hq=6,hkv=3,sq=4,sk=10,d=8", 12 * 40, 4.0 * 8 * (2 * 48 + 2 * 60)},
        {"b=1,hq=1,hkv=1,sq=4,sk=10,d=8,causal=1", 7 + 8 + 9 + 10, 4.0 * 8 * (2 * 4 + 2 * 10)},
        {"b=1,hq=1,hkv=1,sq=4,sk=3,d=8,causal=1", 0 + 1 + 2 + 3, 4.0 * 8 * (3 + 4 + 2 * 3)},
        {"b=1,hq=1,hkv=1,sq=4,sk=10,d=8,causal=top_left", 1 + 2 + 3 + 4, 4.0 * 8 * (2 * 4 + 2 * 4)},
        {"b=1,hq=1,hkv=1,sq=5,sk=3,d=8,causal=top_left", 1 + 2 + 3 + 3 + 3,
         4.0 * 8 * (2 * 5 + 2 * 3)},
        {"b=1,hq=1,hkv=1,sq=1,sk=129,d=8,causal=1", 129, 4.0 * 8 * (2 + 2 * 129)},
        {"b=3,hq=2,hkv=1,sq=4,sk=0,d=8", 0, 4.0 * 8 * 2 * 24},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assay_problem p;
        double flops, bytes;
        ck_assert_int_eq(parse(rows[i].params, &p), ASSAY_OK);
        ck_assert(assay_problem_flops(&p, &flops) && assay_problem_bytes(&p, &bytes));
        ck_assert_msg(fabs(flops - rows[i].pairs * 37.0) < 0.5, "%s: %g", rows[i].params, flops);
        ck_assert_msg(fabs(bytes - rows[i].bytes) < 0.5, "%s: %g", rows[i].params, bytes);
    }
}
END_TEST

static const struct bad {
    const char *params, *says;
    assay_status status;
} bad[] = {
    {"b=1,hq=3,hkv=2,sq=1,sk=1,d=1", "hkv must divide hq", ASSAY_INVALID},
    {"b=1,hq=2,hkv=0,sq=1,sk=1,d=1", "hkv must divide hq", ASSAY_INVALID},
    {"b=1,hq=2,hkv=-1,sq=1,sk=1,d=1", "hkv=-1", ASSAY_INVALID},
    {"b=1,hq=2,hkv=1,sq=-1,sk=1,d=1", "sq=-1", ASSAY_INVALID},
    {"b=1,hq=2,hkv=1,sq=1,sk=1,d=1,causal=2", "causal", ASSAY_INVALID},
    {"b=1,hq=2,hkv=1,sq=1,sk=1,d=1,scale=nan", "scale", ASSAY_INVALID},
    {"b=1,hq=2,hkv=1,sq=1,sk=1", "'d'", ASSAY_INVALID},
    {"b=1048576,hq=1048576,hkv=1,sq=1048576,sk=1,d=1048576", "2^62", ASSAY_OVERFLOW},
};

START_TEST(bad_problems_say_why)
{
    assay_problem p;

    ck_assert_msg(parse(bad[_i].params, &p) == bad[_i].status, "%s: %s", bad[_i].params,
                  assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), bad[_i].says) != NULL, "%s: %s", bad[_i].params,
                  assay_last_error());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attention");
    TCase *tcase = tcase_create("attention");

    tcase_set_timeout(tcase, 120);
    tcase_add_unchecked_fixture(tcase, setup, every_kernel_close);
    tcase_add_loop_test(tcase, values_made_by_hand, 0, FLOATS);
    tcase_add_loop_test(tcase, kernels_follow_the_definition, 0, FLOATS * SHAPES);
    tcase_add_loop_test(tcase, unseen_keys_have_no_part, 0, FLOATS);
    tcase_add_loop_test(tcase, blocks_without_a_score_have_no_part, 0, FLOATS);
    tcase_add_test(tcase, unknown_scores_leave_any_mixture);
    tcase_add_test(tcase, wrong_results_are_outside_the_bound);
    tcase_add_loop_test(tcase, ranges_agree_with_the_whole, 0, FLOATS);
    tcase_add_test(tcase, runs_of_rows_agree);
    tcase_add_test(tcase, layer_1_counts);
    tcase_add_loop_test(tcase, bad_problems_say_why, 0, (int)(sizeof bad / sizeof *bad));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    setenv("OMP_WAIT_POLICY", "passive", 0); /* before any plug-in loads its thread library */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

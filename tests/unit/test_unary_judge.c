/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_unary_judge.c -- the judge on a device gives the figures of the host's, whatever
 * kernels do.
 *
 * The device is the CPU plug-in's memory behind handles, its judge the one of backend cuda compiled
 * for the host. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/kernels/cuda_judge_plain.h"
#include "backends/cuda/kernels/cuda_judge_shape.h"
#include "calibrate/unary_judge.h"
#include "runtime/error.h"
#include "tests/support/judge_slot.h"
#include "tests/support/plugin_case.h"

static const assay_manifest *ref, *cpu;
static assay__backend backend;

static assay_status far_profile(assay_instance *instance, size_t device, assay_device_profile *out)
{
    (void)instance;
    (void)device;
    memset(out, 0, sizeof *out);
    out->memory = ASSAY_MEMORY_DEVICE;
    return ASSAY_OK;
}

static void setup(void)
{
    ref = plugin_load("ref");
    cpu = plugin_load("cpu");
    ck_assert_int_eq(assay__backend_init(cpu->backend, &backend), ASSAY_OK);
    backend.slots.device_profile = far_profile;
    backend.slots.judge = judge_host_slot;
    ck_assert_int_eq(assay__backend_open(&backend), ASSAY_OK);
    judge_host_lie = NULL;
}

static void teardown(void)
{
    assay_instance_state state = {.struct_size = sizeof state};

    ck_assert_int_eq(assay__backend_state(&backend, &state), ASSAY_OK);
    ck_assert_uint_eq(state.live_buffers, 0);
    assay__backend_close(&backend);
}

/* ---- kernels under test: what an honest one gives, then one fault ---- */

static struct {
    double (*function)(double); /* NULL: the operand itself */
    double scale;               /* of results that are numbers */
    enum {
        HONEST,
        OFF,
        NOT_A_NUMBER,
        WRONG_SIGN,
        UNWRITTEN,
        INFINITE,
        FLUSHES,
        HUGE_ERRORS,
        LARGEST
    } fault;
    uint64_t at; /* input pattern of the fault */
} subject;

static double relu(double x)
{
    return x > 0.0 || isnan(x) ? x : 0.0;
}

static double gelu(double x)
{
    return x / (1.0 + exp(-x * (0x1.9884533d43651p+0 + 0x1.2444f2a4d8b4bp-4 * x * x)));
}

static void spoil(assay_dtype dtype, void *y, int64_t i)
{
    const size_t bytes = assay_dtype_bytes(dtype);
    unsigned char *at = (unsigned char *)y + (size_t)i * bytes;

    switch (subject.fault) {
    case OFF:
        *at = (unsigned char)(*at + 9);
        break;
    case NOT_A_NUMBER:
        assay_store_f64(dtype, y, (size_t)i, NAN);
        break;
    case WRONG_SIGN:
        at[bytes - 1] ^= 0x80;
        break;
    case UNWRITTEN:
        memset(at, 0xff, bytes);
        break;
    case INFINITE:
        assay_store_f64(dtype, y, (size_t)i, INFINITY);
        break;
    case LARGEST:
        assay_store_f64(dtype, y, (size_t)i, assay_dtype_describe(dtype)->max_finite);
        break;
    default:
        break;
    }
}

static assay_status kernel(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];

    for (int64_t i = 0; i < y->dims[0]; i++) {
        const double v = assay_load_f64(x->dtype, assay_tensor_data(x), (size_t)i);
        double r = subject.function != NULL ? subject.function(v) : v;
        if (subject.scale > 0.0)
            r *= subject.scale;
        if (subject.fault == FLUSHES && fabs(r) < 0x1p-14 && fabs(r) > 0x1p-40)
            r = 0.0;
        if (subject.fault == HUGE_ERRORS && v > 3.0)
            r = -r;
        assay_store_f64(y->dtype, assay_tensor_data(y), (size_t)i, r);
        if (assay__element_bits(x->dtype, assay_tensor_data(x), (size_t)i) == subject.at)
            spoil(y->dtype, assay_tensor_data(y), i);
    }
    return ASSAY_OK;
}

static assay_kernel_desc desc = {.struct_size = sizeof desc,
                                 .name = "test",
                                 .dtype_count = 2,
                                 .caps = {{ASSAY_CAP_OFFSET, 0}, {ASSAY_CAP_OFFSET, 0}},
                                 .run = kernel};

static assay_unary_launch launch_of(assay_op_id op, assay_dtype in, assay_dtype out)
{
    assay_unary_launch l = {.backend = &backend, .kernel = &desc, .oracle = plugin_oracle(ref, op)};

    desc.op = op;
    desc.dtypes[0] = (uint8_t)in;
    desc.dtypes[1] = (uint8_t)out;
    const assay_problem p = plugin_problem_of(&desc);
    ck_assert_int_eq(assay__unary_problem(&p, &l.problem), ASSAY_OK);
    return l;
}

static assay_exhaustive_result by_host(const assay_unary_launch *launch,
                                       const assay_exhaustive_plan *plan)
{
    assay_unary_launch l = *launch;
    assay_exhaustive_result r;

    ck_assert_int_eq(assay__unary_bring(&l, (size_t)1 << 16), ASSAY_OK);
    const assay__unary u = assay__unary_of(&l);
    ck_assert_msg(assay__exhaustive_run(&u, plan, &r) == ASSAY_OK, "%s", assay_last_error());
    assay__unary_leave(&l);
    return r;
}

/* The same figures; the host's stay in `out`. */
static void agrees(const assay_unary_launch *l, const assay_exhaustive_plan *plan,
                   const assay__judge_sizes *sizes, assay_exhaustive_result *out)
{
    assay_exhaustive_result device;
    char why[200] = "";

    const assay_status status = assay__unary_judged_alone(l, plan, sizes, &device);
    *out = by_host(l, plan);
    /* Where most outputs are of a class there is no sample to be had of the others. */
    if (status == ASSAY_NUMERIC && out->stats.classes[ASSAY_ULP_ORDINARY] < out->inputs / 4 * 3)
        return;
    ck_assert_msg(status == ASSAY_OK, "%s", assay_last_error());
    ck_assert_msg(assay__unary_agree(&device, out, &l->problem, why, sizeof why),
                  "%s %s of fault %d at %llx: %s", assay_op_get((assay_op_id)l->problem.op)->name,
                  assay_dtype_name((assay_dtype)l->problem.dtypes[0]), (int)subject.fault,
                  (unsigned long long)subject.at, why);
    ck_assert_uint_eq(device.is_complete, out->is_complete);
    assay__exhaustive_clear(&device);
}

static void takes(double (*function)(double), double scale, int fault, uint64_t at)
{
    subject.function = function;
    subject.scale = scale;
    memcpy(&subject.fault, &fault, sizeof subject.fault);
    subject.at = at;
}

/* ---- whole spaces of 16 bits ---- */

static const struct {
    assay_op_id op;
    assay_dtype in, out;
    double (*function)(double);
} rows[] = {
    {ASSAY_OP_relu, ASSAY_F16, ASSAY_F16, relu},  {ASSAY_OP_relu, ASSAY_BF16, ASSAY_BF16, relu},
    {ASSAY_OP_exp, ASSAY_F16, ASSAY_F16, exp},    {ASSAY_OP_exp, ASSAY_BF16, ASSAY_BF16, exp},
    {ASSAY_OP_gelu, ASSAY_F16, ASSAY_F16, gelu},  {ASSAY_OP_gelu, ASSAY_BF16, ASSAY_BF16, gelu},
    {ASSAY_OP_cast, ASSAY_F16, ASSAY_BF16, NULL}, {ASSAY_OP_cast, ASSAY_BF16, ASSAY_F16, NULL},
    {ASSAY_OP_cast, ASSAY_F16, ASSAY_F32, NULL},  {ASSAY_OP_cast, ASSAY_BF16, ASSAY_F32, NULL}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void row_agrees(int i, double scale, int fault, uint64_t at)
{
    const assay_exhaustive_plan plan = {.threads = 1};
    const assay_unary_launch l = launch_of(rows[i].op, rows[i].in, rows[i].out);
    assay_exhaustive_result r;

    takes(rows[i].function, scale, fault, at);
    agrees(&l, &plan, NULL, &r);
    ck_assert_uint_eq(r.stats.elements, 65536);
    assay__exhaustive_clear(&r);
}

START_TEST(honest_kernels_have_the_hosts_figures)
{
    row_agrees(_i, 0.0, HONEST, UINT64_MAX);
}
END_TEST

/* Errors of many ulps at most elements, as fast forms have them, and far more. */
START_TEST(coarse_kernels_have_the_hosts_figures)
{
    static const double scales[] = {1.002, 1.01, 1.3, 1e-3, 1e30};

    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++)
        row_agrees(_i, scales[k], HONEST, UINT64_MAX);
    row_agrees(_i, 0.0, FLUSHES, UINT64_MAX);
    row_agrees(_i, 0.0, HUGE_ERRORS, UINT64_MAX);
}
END_TEST

START_TEST(one_wrong_output_is_found)
{
    static const int faults[] = {OFF, NOT_A_NUMBER, WRONG_SIGN, UNWRITTEN, INFINITE};
    static const uint64_t places[] = {0,      1,      0x03ff, 0x3c00, 0x4900, 0x7bff,
                                      0x7c00, 0x7e01, 0x8000, 0xbc01, 0xc700, 0xfc00};

    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
        for (size_t p = f % 3; p < sizeof places / sizeof places[0]; p += 3)
            row_agrees(_i, 0.0, faults[f], places[p]);
}
END_TEST

/* ---- parts of f32 ---- */

/* Batches where something happens: zeros, subnormals, 1, overflow, NaN, tiny results. */
static const uint32_t starts[] = {0,          0x00004000, 0x00800000, 0x2f000000, 0x33800000,
                                  0x3f7fe000, 0x40490000, 0x42b00000, 0x477fe000, 0x7f000000,
                                  0x7f7fe000, 0x7f800000, 0x80000000, 0xb3000000, 0xbf7fe000,
                                  0xc0d00000, 0xc2ae0000, 0xc2cf0000, 0xff7fe000, 0xffc00000};
static const struct {
    assay_op_id op;
    assay_dtype out;
    double (*function)(double);
} wide_rows[] = {{ASSAY_OP_relu, ASSAY_F32, relu},  {ASSAY_OP_exp, ASSAY_F32, exp},
                 {ASSAY_OP_gelu, ASSAY_F32, gelu},  {ASSAY_OP_cast, ASSAY_F16, NULL},
                 {ASSAY_OP_cast, ASSAY_BF16, NULL}, {ASSAY_OP_cast, ASSAY_F32, NULL}};

START_TEST(parts_of_f32_have_the_hosts_figures)
{
    static const double scales[] = {0.0, 1.0000001, 1.000003};
    const assay_unary_launch l = launch_of(wide_rows[_i].op, ASSAY_F32, wide_rows[_i].out);

    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
            const assay_exhaustive_plan plan = {
                .threads = 1, .first_batch = starts[s] / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 1};
            assay_exhaustive_result r;
            takes(wide_rows[_i].function, scales[k], k == 1 ? OFF : HONEST, starts[s] + 77);
            agrees(&l, &plan, NULL, &r);
            assay__exhaustive_clear(&r);
        }
}
END_TEST

/* Half a step above the largest number is infinity's, and what is finite there is wrong. */
START_TEST(a_tie_at_overflow_is_looked_at)
{
    const assay_exhaustive_plan plan = {
        .threads = 1, .first_batch = 0x477ff000 / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 1};
    const assay_unary_launch l = launch_of(ASSAY_OP_cast, ASSAY_F32, ASSAY_F16);
    assay_exhaustive_result r;

    takes(NULL, 0.0, LARGEST, 0x477ff000);
    agrees(&l, &plan, NULL, &r);
    ck_assert_uint_eq(r.stats.classes[ASSAY_ULP_INF_MISMATCH], 1);
    assay__exhaustive_clear(&r);
}
END_TEST

/* However it is cut: short runs, groups of them, lists that are too short. */
START_TEST(runs_of_any_length_have_the_hosts_figures)
{
    static const assay__judge_sizes sizes[] = {
        {8192, 65536}, {16384, 65536}, {24576, 4000}, {65536, 200}, {8192, 1}};
    const assay_exhaustive_plan plan = {
        .threads = 2, .first_batch = 0x40000000 / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 37};
    const assay_unary_launch l = launch_of(ASSAY_OP_exp, ASSAY_F32, ASSAY_F32);
    assay_exhaustive_result r;

    takes(exp, 1.0000002, NOT_A_NUMBER, 0x40012345);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        agrees(&l, &plan, &sizes[i], &r);
        ck_assert_uint_eq(r.stats.classes[ASSAY_ULP_NAN_MISMATCH], 1);
        ck_assert_uint_eq(r.stats.first[ASSAY_ULP_NAN_MISMATCH].input_bits[0], 0x40012345);
        ck_assert_uint_gt(r.stats.misrounded, 10000);
        assay__exhaustive_clear(&r);
    }
}
END_TEST

/* ---- who may have the largest error ---- */

/* The host may find an element larger by the slack of both references; of equals it takes the
 * first, so that behind that one it takes more to lead. */
START_TEST(leaders_are_told_by_slack_and_by_order)
{
    const judge_u64 best[JUDGE_BESTS] = {judge_key(0.5, 1000), judge_bits(0.25), judge_bits(0.125)};
    const judge_bar before = judge_bar_of(best, 0), behind = judge_bar_of(best, 8192);
    judge_point p = {.err = 0.4999, .abs = 0.2, .size = 2.0};

    ck_assert(judge_leads(JUDGE_BY_ERR, &before, 0.5));
    ck_assert(!judge_leads(JUDGE_BY_ERR, &behind, 0.5));
    ck_assert(judge_leads(JUDGE_BY_ERR, &behind, 0.500001));
    ck_assert(!judge_leads(JUDGE_BY_ERR, &before, 0.499999));
    ck_assert(!judge_leads(JUDGE_BY_ABS, &before, 0.25) &&
              judge_leads(JUDGE_BY_ABS, &before, 0.26));
    ck_assert(!judge_rises(&p, &before) && !judge_may_lead(&p, JUDGE_BY_ERR, &before, 0.5));
    p.slack = 0.0002;
    ck_assert(judge_rises(&p, &before) && judge_may_lead(&p, JUDGE_BY_ERR, &before, 0.5));
    ck_assert(!judge_may_lead(&p, JUDGE_BY_ERR, &before, 0.51));
    p = (judge_point){.err = 0.1, .abs = 0.2, .size = 1.0};
    ck_assert(judge_rises(&p, &before)); /* by |y - r| / |r| */
}
END_TEST

static int measured(unsigned bits, double hi, double bound, int is_exact, judge_point *out)
{
    const judge_reference r = {hi, bound, 0};

    return judge_measure(JUDGE_F32, bits, r, is_exact, out);
}

/* gelu of the least is a hair more than half of what is positive, a hair less of the others: where
 * that half is no number of f32 the hair says which of its neighbours is right. */
START_TEST(halves_of_the_least_are_no_ties)
{
    static const struct {
        unsigned x, right, wrong;
    } ties[] = {{0x00000003, 0x00000002, 0x00000001}, {0x80000003, 0x80000001, 0x80000002},
                {0x00000005, 0x00000003, 0x00000002}, {0x80000005, 0x80000002, 0x80000003},
                {0x00ffffff, 0x00800000, 0x007fffff}, {0x80ffffff, 0x807fffff, 0x80800000},
                {0x00000001, 0x00000001, 0x00000000}, {0x80000001, 0x80000000, 0x80000001}};
    judge_point p;

    for (size_t i = 0; i < sizeof ties / sizeof ties[0]; i++) {
        const judge_reference r = judge_wide(JUDGE_GELU, judge_value(JUDGE_F32, ties[i].x));
        ck_assert(judge_measure(JUDGE_F32, ties[i].right, r, 0, &p));
        ck_assert(p.dist == 0 && p.err >= 0.5 && p.err <= 0.5 && p.slack <= 0.0);
        ck_assert(judge_measure(JUDGE_F32, ties[i].wrong, r, 0, &p) && p.dist == 1);
    }
    /* A unit below a power of two is half as large. */
    ck_assert(judge_measure(JUDGE_F32, 0x0d000000,
                            judge_wide(JUDGE_GELU, (double)judge_float(0x0d800000)), 0, &p));
    ck_assert(p.dist == 0 && p.err <= 0.0);
    ck_assert(!judge_measure(JUDGE_F32, 0x8d000001,
                             judge_wide(JUDGE_GELU, (double)judge_float(0x8d800000)), 0, &p));
    ck_assert(judge_measure(JUDGE_F32, 0x8d000002,
                            judge_wide(JUDGE_GELU, (double)judge_float(0x8d800001)), 0, &p));
}
END_TEST

/* Inexact references have slack, exact ones none, and so have errors too small to matter. */
START_TEST(slack_is_twice_the_bound)
{
    judge_point p;

    ck_assert(measured(0x3f800001, 1.0 + 0x1p-24 + 0x1p-26, 0x1p-50, 0, &p));
    ck_assert(p.slack >= 0x1p-26 && p.slack <= 0x1p-26 && p.slack_abs >= 0x1p-49);
    ck_assert(measured(0x3f800001, 1.0 + 0x1p-24, 0.0, 1, &p));
    ck_assert(p.slack <= 0.0 && p.dist == 1 && p.err >= 0.5 && p.err <= 0.5);
    ck_assert(measured(0x3f800001, 1.0 + 0x1p-23 + 0x1p-40, 0x1p-50, 0, &p));
    ck_assert(p.slack <= 0.0 && p.err > 0.0 && p.dist == 0);
}
END_TEST

/* ---- what is plain ---- */

static const struct {
    int op, out;
} plain_rows[] = {{JUDGE_RELU, JUDGE_F32}, {JUDGE_GELU, JUDGE_F32}, {JUDGE_EXP, JUDGE_F32},
                  {JUDGE_CAST, JUDGE_F32}, {JUDGE_CAST, JUDGE_F16}, {JUDGE_CAST, JUDGE_BF16}};
enum { TO_BF16 = 5 };

static int is_exact(int row)
{
    return plain_rows[row].op == JUDGE_RELU || plain_rows[row].op == JUDGE_CAST;
}

static int is_plain(int row, unsigned x, unsigned bits, const judge_bar *bar, judge_counts *counts)
{
    const int op = plain_rows[row].op, out = plain_rows[row].out;
    const judge_line line = judge_line_of(op, JUDGE_F32, x / CUDA_JUDGE_BATCH * CUDA_JUDGE_BATCH);
    const judge_gate gate = judge_gate_of(out, is_exact(row), bar);
    const float one = judge_single(JUDGE_F32, x);

    return judge_count_plain(
        counts, out, bits,
        line.is_one ? fma((double)one, line.slope, line.at) : judge_plain_wide(op, one), &gate);
}

/* Whether it is plain; if so, the longer way has to count the same. */
static int plain_is_right(int row, unsigned x, unsigned bits, const judge_bar *bar)
{
    const judge_reference r = judge_wide(plain_rows[row].op, judge_value(JUDGE_F32, x));
    judge_counts counts = {0}, want = {0};
    judge_point p;

    if (!is_plain(row, x, bits, bar, &counts))
        return 0;
    ck_assert_msg(judge_measure(plain_rows[row].out, bits, r, is_exact(row), &p), "%d: %x %x", row,
                  x, bits);
    ck_assert_int_eq(judge_count(&want, &p), 0);
    ck_assert_msg(!judge_rises(&p, bar), "%d: %x %x rises", row, x, bits);
    ck_assert_msg(counts.part - want.part + 1 <= 2, "%d: %x %x", row, x, bits);
    want.part = counts.part;
    if (!is_exact(row) && fabs(r.hi) < 0x1p-700) /* whether that is 0 is of its last bits */
        want.integers = counts.integers;
    ck_assert_msg(memcmp(&counts, &want, sizeof want) == 0, "%d: %x %x", row, x, bits);
    return 1;
}

/* Right results, their neighbours, zeros and wrong signs, whatever was the largest so far. */
START_TEST(what_is_plain_is_counted_as_by_measuring)
{
    static const assay_dtype types[] = {ASSAY_F32, ASSAY_F16, ASSAY_BF16};
    static const judge_bar bars[] = {
        {{0.0, 0.0, 0.0}}, {{0x1p-12, 0x1p-60, 0x1p-34}}, {{1.5, 1e30, 1.0}}};
    const int out = plain_rows[_i].out;
    const unsigned sign = judge_format_of(out).sign;
    size_t plain = 0, right = 0, wrong = 0;

    for (uint64_t x = 0; x <= UINT32_MAX; x += 8191 * (1 + x % 3)) {
        const judge_reference r =
            judge_wide(plain_rows[_i].op, judge_value(JUDGE_F32, (unsigned)x));
        unsigned bits = 0;
        assay_store_f64(types[out], &bits, 0, r.hi);
        const unsigned others[] = {bits + 1, bits - 1, 0, sign, bits ^ sign};
        for (size_t b = 0; b < 2; b++)
            (void)plain_is_right(_i, (unsigned)x, bits, &bars[b]);
        plain += (size_t)plain_is_right(_i, (unsigned)x, bits, &bars[2]);
        right++;
        for (size_t k = 0; k < 5; k++)
            wrong += (others[k] & (2 * sign - 1)) != bits &&
                     plain_is_right(_i, (unsigned)x, others[k] & (2 * sign - 1), &bars[2]);
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(plain, right / 2); /* or it would be of no use */
}
END_TEST

/* What is the largest so far closes the gate below itself. */
START_TEST(what_may_be_the_largest_is_not_plain)
{
    const unsigned x = 0x3fc00123; /* bf16 of it is 0x123 / 0x10000 of a unit less */
    const double err = 0x123p-16, abs = 0x123p-23, rel = abs / (double)judge_float(x);
    const struct {
        judge_bar bar;
        int is_plain;
    } rows_of[] = {{{{0.5, 1.0, 1.0}}, 1},         {{{err * 0.99, 1.0, 1.0}}, 0},
                   {{{err * 1.05, 1.0, 1.0}}, 1},  {{{err, 1.0, 1.0}}, 0},
                   {{{0.5, abs * 1.001, 1.0}}, 1}, {{{0.5, abs * 0.999, 1.0}}, 0},
                   {{{0.5, 1.0, rel * 2.001}}, 1}, {{{0.5, 1.0, rel * 0.999}}, 0},
                   {{{0.0, 0.0, 0.0}}, 0}};
    judge_counts counts = {0};

    for (size_t i = 0; i < sizeof rows_of / sizeof rows_of[0]; i++)
        ck_assert_msg(is_plain(TO_BF16, x, 0x3fc0, &rows_of[i].bar, &counts) == rows_of[i].is_plain,
                      "bar %zu", i);
    ck_assert_uint_eq(counts.elements, 4);
    /* What has no error at all is never the largest. */
    ck_assert(is_plain(TO_BF16, 0x3fc00000, 0x3fc0, &rows_of[8].bar, &counts));
    /* Slack widens what may be. */
    ck_assert(judge_gate_part(0.25) < 0x40000000u - 0x10000u);
    ck_assert(judge_gate_part(0.25) > 0x3ff00000u);
    ck_assert_uint_eq(judge_gate_part(1.0), JUDGE_PLAIN);
    ck_assert_uint_eq(judge_gate_part(0x1p-40), 0);
}
END_TEST

/* A reference within 2^-32 of a power of two may be on its other side, where units are others. */
START_TEST(errors_beside_powers_of_two_are_not_plain)
{
    const judge_gate open = {JUDGE_PLAIN, UINT32_MAX};
    judge_counts counts = {0};

    ck_assert(judge_count_plain(&counts, JUDGE_F32, 0x3f800000, 1.0 + 0x1p-50, &open));
    ck_assert(judge_count_plain(&counts, JUDGE_F32, 0x3f800000, 1.0 + 0x1p-26, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x3f800000, 1.0 + 0x1p-33, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x3f800000, 1.0 - 0x1p-34, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x007fffff, 0x1p-126, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x3f800001, 1.0, &open));
    ck_assert(judge_count_plain(&counts, JUDGE_F32, 0x80000000, -0x1.8p-160, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x00000000, -0x1.8p-160, &open));
    ck_assert(judge_count_plain(&counts, JUDGE_F32, 0x7f800000, 0x1p200, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0xff800000, 0x1p200, &open));
    ck_assert(!judge_count_plain(&counts, JUDGE_F32, 0x7fc00000, (double)NAN, &open));
}
END_TEST

/* ---- who is not believed ---- */

static void lie_misrounded(assay_judged *r)
{
    r->misrounded -= r->misrounded > 0;
}

static void lie_elements(assay_judged *r)
{
    r->elements--;
}

static void lie_digest(assay_judged *r)
{
    r->digest ^= 1;
}

static void lie_distance(assay_judged *r)
{
    r->max_dist++;
}

static void lie_list(assay_judged *r)
{
    r->listed = r->listed > 1500 ? r->listed - 1500 : 0;
}

static void lie_bins(assay_judged *r)
{
    r->bins[0]--;
    r->bins[1]++;
}

static void lie_sum(assay_judged *r)
{
    r->sum_low += 3;
}

static void lie_place(assay_judged *r)
{
    ((assay_judged_element *)(r + 1))->place = UINT32_MAX;
}

START_TEST(a_judge_that_lies_is_not_believed)
{
    static void (*const lies[])(assay_judged *) = {lie_misrounded, lie_elements, lie_digest,
                                                   lie_distance,   lie_list,     lie_bins,
                                                   lie_sum,        lie_place};
    const assay_exhaustive_plan plan = {
        .threads = 1, .first_batch = 0x3f800000 / ASSAY_EXHAUSTIVE_BATCH, .batch_count = 3};
    const assay_unary_launch l = launch_of(ASSAY_OP_exp, ASSAY_F32, ASSAY_F32);
    assay_exhaustive_result r;

    takes(exp, 1.0000001, HONEST, UINT64_MAX);
    ck_assert_int_eq(assay__unary_judged(&l, &plan, &r), ASSAY_OK);
    assay__exhaustive_clear(&r);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        judge_host_lie = lies[i];
        ck_assert_msg(assay__unary_judged(&l, &plan, &r) == ASSAY_NUMERIC, "lie %zu", i);
        ck_assert_str_ne(assay_last_error(), "");
    }
    /* Counts that cannot be are noticed without the host's. */
    judge_host_lie = lie_elements;
    ck_assert_int_eq(assay__unary_judged_alone(&l, &plan, NULL, &r), ASSAY_NUMERIC);
    judge_host_lie = lie_place;
    ck_assert_int_eq(assay__unary_judged_alone(&l, &plan, NULL, &r), ASSAY_NUMERIC);
}
END_TEST

/* ---- who is not asked ---- */

static bool goes_on(void *cookie, uint64_t done, uint64_t total)
{
    (void)cookie;
    (void)total;
    return done == 0;
}

START_TEST(what_cannot_be_judged_there_is_unsupported)
{
    const assay_exhaustive_plan plan = {.threads = 1, .batch_count = 2};
    assay_exhaustive_plan stopped = {.threads = 1, .batch_count = 40, .progress = goes_on};
    assay_unary_launch l = launch_of(ASSAY_OP_sigmoid, ASSAY_F16, ASSAY_F16);
    assay_exhaustive_result r;

    takes(exp, 0.0, HONEST, UINT64_MAX);
    ck_assert_int_eq(assay__unary_judged(&l, &plan, &r), ASSAY_UNSUPPORTED);
    l = launch_of(ASSAY_OP_exp, ASSAY_F16, ASSAY_F16);
    desc.caps[1].layouts = 0; /* its second piece may not begin inside a buffer */
    ck_assert_int_eq(assay__unary_judged(&l, &plan, &r), ASSAY_UNSUPPORTED);
    desc.caps[1] = (assay_operand_caps){ASSAY_CAP_OFFSET, 0};
    backend.slots.judge = assay__backend_defaults.judge;
    ck_assert_int_eq(assay__unary_judged(&l, &plan, &r), ASSAY_UNSUPPORTED);
    backend.slots.judge = judge_host_slot;
    l = launch_of(ASSAY_OP_exp, ASSAY_F32, ASSAY_F32);
    ck_assert_int_eq(assay__unary_judged(&l, &stopped, &r), ASSAY_INTERRUPTED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unary_judge");
    TCase *all = tcase_create("all");

    suite_add_tcase(suite, all);
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, honest_kernels_have_the_hosts_figures, 0, ROWS);
    tcase_add_loop_test(all, coarse_kernels_have_the_hosts_figures, 0, ROWS);
    tcase_add_loop_test(all, one_wrong_output_is_found, 0, ROWS);
    tcase_add_loop_test(all, parts_of_f32_have_the_hosts_figures, 0,
                        sizeof wide_rows / sizeof wide_rows[0]);
    tcase_add_test(all, a_tie_at_overflow_is_looked_at);
    tcase_add_test(all, runs_of_any_length_have_the_hosts_figures);
    tcase_add_test(all, leaders_are_told_by_slack_and_by_order);
    tcase_add_test(all, halves_of_the_least_are_no_ties);
    tcase_add_test(all, slack_is_twice_the_bound);
    tcase_add_loop_test(all, what_is_plain_is_counted_as_by_measuring, 0,
                        sizeof plain_rows / sizeof plain_rows[0]);
    tcase_add_test(all, what_may_be_the_largest_is_not_plain);
    tcase_add_test(all, errors_beside_powers_of_two_are_not_plain);
    tcase_add_test(all, a_judge_that_lies_is_not_believed);
    tcase_add_test(all, what_cannot_be_judged_there_is_unsupported);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

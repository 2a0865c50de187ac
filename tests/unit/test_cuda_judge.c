/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_cuda_judge.c -- the judge of backend cuda on a scripted driver without a GPU:
 * what its kernels are launched with, whose place functions of the host take.
 *
 * That those functions judge as the host does: test_unary_judge. */
#include "tests/fake_cuda/fake_cuda_suite.h"

#if HAVE_CUDA

#include <math.h>
#include <string.h>

#include "tests/support/judge_host.h"

#include "backends/cuda/kernels/cuda_judge_point.h"

enum { BATCHES = 3, N = BATCHES * ASSAY_JUDGE_BATCH, PLACES = 20000, OFFSET = 256 };
#define FIRST  UINT64_C(0x3000)
#define RECORD (sizeof(assay_judged) + PLACES * sizeof(assay_judged_element))

static const struct {
    assay_op_id op;
    assay_dtype in, out;
    int code[3];
} rows[] = {
    {ASSAY_OP_relu, ASSAY_F32, ASSAY_F32, {JUDGE_RELU, JUDGE_F32, JUDGE_F32}},
    {ASSAY_OP_gelu, ASSAY_BF16, ASSAY_BF16, {JUDGE_GELU, JUDGE_BF16, JUDGE_BF16}},
    {ASSAY_OP_exp, ASSAY_F16, ASSAY_F16, {JUDGE_EXP, JUDGE_F16, JUDGE_F16}},
    {ASSAY_OP_cast, ASSAY_F16, ASSAY_BF16, {JUDGE_CAST, JUDGE_F16, JUDGE_BF16}},
    {ASSAY_OP_cast, ASSAY_BF16, ASSAY_F32, {JUDGE_CAST, JUDGE_BF16, JUDGE_F32}},
};

static assay_problem problem_of(assay_op_id op, assay_dtype in, assay_dtype out, int64_t n)
{
    const assay_dtype dtypes[] = {in, out};
    assay_problem p;

    OK(assay_problem_init_tuple(op, dtypes, 2, &p));
    OK(assay_problem_set_int(&p, "n", n));
    return p;
}

static assay_tensor tensor_of(assay_buffer buffer, assay_dtype dtype, int64_t n, uint64_t offset)
{
    assay_tensor t;

    OK(assay_tensor_host(NULL, dtype, 1, &n, NULL, &t));
    t.buffer = buffer;
    t.byte_offset = offset;
    return t;
}

static assay_status launch(assay_instance *instance, assay_kernel_fn run, const assay_problem *p,
                           const assay_tensor *operands, uint32_t count, const int64_t *tunables,
                           uint32_t tunable_count)
{
    const assay_launch one = {.struct_size = sizeof one,
                              .operand_count = count,
                              .problem = p,
                              .operands = operands,
                              .tunables = tunables,
                              .tunable_count = tunable_count};

    return B->launch(instance, run, &one);
}

/* The record of the judge's own functions over the same outputs. */
static void judge_directly(int row, const void *y, uint64_t *record)
{
    uint64_t best[8] = {0};
    const judge_host_task task = {.op = rows[row].code[0],
                                  .in = rows[row].code[1],
                                  .out = rows[row].code[2],
                                  .y = y,
                                  .first = FIRST / ASSAY_JUDGE_BATCH * ASSAY_JUDGE_BATCH,
                                  .batches = BATCHES,
                                  .record = record,
                                  .best = best,
                                  .limit = 1u << 29,
                                  .capacity = PLACES};

    judge_host_run(&task);
}

START_TEST(patterns_and_judge_get_what_the_launch_says)
{
    static unsigned char x[N * 4], y[N * 4], want[RECORD], got[RECORD];
    const uint64_t first = FIRST / ASSAY_JUDGE_BATCH * ASSAY_JUDGE_BATCH;
    const int64_t tunables[] = {(int64_t)first, 1 << 29, PLACES};
    const size_t x_bytes = assay_dtype_bytes(rows[_i].in),
                 y_bytes = assay_dtype_bytes(rows[_i].out);
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer bx = cuda_stage_make(instance, N * x_bytes);
    const assay_buffer by = cuda_stage_make(instance, N * y_bytes);
    const assay_buffer results = cuda_stage_make(instance, OFFSET + RECORD);
    const assay_problem p = problem_of(rows[_i].op, rows[_i].in, rows[_i].out, N);
    const assay_tensor io[] = {tensor_of(bx, rows[_i].in, N, 0), tensor_of(by, rows[_i].out, N, 0)};
    const assay_tensor judged[] = {io[1], tensor_of(results, ASSAY_U8, RECORD, OFFSET),
                                   tensor_of(results, ASSAY_U8, ASSAY_JUDGE_BEST, 0)};
    assay_judge judge = {.struct_size = sizeof judge, .problem = &p};

    OK(B->judge(instance, &judge));
    OK(launch(instance, judge.patterns, &p, io, 2, tunables, 1));
    cuda_stage_get(instance, x, bx, N * x_bytes);
    cuda_stage_get(instance, y, by, N * y_bytes);
    for (uint64_t i = 0, bits = 0; i < N; i++) {
        memcpy(&bits, x + i * x_bytes, x_bytes);
        ck_assert_uint_eq(bits, (first + i) & (x_bytes == 2 ? 0xffff : UINT32_MAX));
    }
    for (size_t i = 0; i < N * y_bytes; i++)
        ck_assert_uint_eq(y[i], 0xff);

    for (size_t i = 0; i < N; i++) /* something of every kind */
        assay_store_f64(rows[_i].out, y, i,
                        i % 97 == 0 ? 0.25 : exp(assay_load_f64(rows[_i].in, x, i)));
    cuda_stage_put(instance, by, y, N * y_bytes);
    OK(B->fill(instance, results, 0, OFFSET + RECORD, 0));
    OK(launch(instance, judge.judge, &p, judged, 3, tunables, 3));
    memset(want, 0, sizeof want);
    judge_directly(_i, y, (uint64_t *)(void *)want);
    OK(B->copy(instance, (assay_buffer){.owner = 0, .at = {.host = got}, .size_bytes = RECORD}, 0,
               results, OFFSET, RECORD));
    ck_assert_mem_eq(got, want, RECORD);
    ck_assert_uint_gt(((const assay_judged *)(const void *)got)->listed, 100);
    cuda_stage_close(instance);
}
END_TEST

START_TEST(what_it_has_no_reference_of_is_refused)
{
    assay_instance *instance = cuda_stage_open("");
    const assay_buffer b = cuda_stage_make(instance, N * 4);
    const assay_problem good = problem_of(ASSAY_OP_exp, ASSAY_F32, ASSAY_F32, N);
    const assay_tensor io[] = {tensor_of(b, ASSAY_F32, N, 0), tensor_of(b, ASSAY_F32, N, 0),
                               tensor_of(b, ASSAY_U8, 64, 0)};
    const assay_tensor few[] = {tensor_of(b, ASSAY_F32, N - 1, 0), io[1], io[2]};
    const int64_t odd[] = {8191, 0, 0}, even[] = {0, 0, 0}, one[] = {0, 0, 1};
    assay_problem p = problem_of(ASSAY_OP_tanh, ASSAY_F32, ASSAY_F32, N);
    assay_judge judge = {.struct_size = sizeof judge, .problem = &p};

    cuda_stage_fails(B->judge(instance, &judge), ASSAY_UNSUPPORTED, "relu, gelu, exp and cast");
    p = problem_of(ASSAY_OP_exp, ASSAY_F64, ASSAY_F64, N);
    cuda_stage_fails(B->judge(instance, &judge), ASSAY_UNSUPPORTED, "f32, f16");
    p = problem_of(ASSAY_OP_cast, ASSAY_F32, ASSAY_I32, N);
    cuda_stage_fails(B->judge(instance, &judge), ASSAY_UNSUPPORTED, "bf16");
    judge.problem = &good;
    OK(B->judge(instance, &judge));
    cuda_stage_fails(launch(instance, judge.judge, &good, few, 3, even, 3), ASSAY_INVALID, "8192");
    const assay_tensor no_place[] = {
        io[0], tensor_of(b, ASSAY_U8, (int64_t)sizeof(assay_judged) + 15, 0), io[2]};
    cuda_stage_fails(launch(instance, judge.judge, &good, no_place, 3, one, 3), ASSAY_INVALID,
                     "no place");
    cuda_stage_fails(launch(instance, judge.judge, &good, io, 3, odd, 3), ASSAY_INVALID, "whole");
    cuda_stage_fails(launch(instance, judge.judge, &good, io, 2, even, 3), ASSAY_INVALID, "3 oper");
    cuda_stage_fails(launch(instance, judge.patterns, &good, io, 2, even, 3), ASSAY_INVALID,
                     "1 tun");
    cuda_stage_close(instance);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_loop_test(t, patterns_and_judge_get_what_the_launch_says, 0,
                        sizeof rows / sizeof *rows);
    tcase_add_test(t, what_it_has_no_reference_of_is_refused);
}

#endif

int main(void)
{
    return cuda_suite_run("cuda_judge", add_tests);
}

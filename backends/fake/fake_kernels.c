/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_kernels.c -- right results unless the script says otherwise.
 *
 * The three kernels compute the same, so that only the script tells them apart. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "backends/fake/fake_kernels.h"
#include "backends/matmul_scale.h"
#include "runtime/op_params.h"

static int64_t calls[FAKE_KERNELS];

static void add_f32(const assay_launch *launch)
{
    const float *a = assay_tensor_data(&launch->operands[0]);
    const float *b = assay_tensor_data(&launch->operands[1]);
    float *y = assay_tensor_data(&launch->operands[2]);
    int64_t n = ASSAY__INT(launch->problem, add, n);

    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static float *matrix(const assay_tensor *t, int64_t batch)
{
    float *base = assay_tensor_data(t);

    return base + batch * t->strides[0];
}

static void one_product(const assay_launch *launch, int64_t batch)
{
    const assay_problem *p = launch->problem;
    const assay_tensor *t = launch->operands;
    bool ta = ASSAY__INT(p, matmul, trans_a) != 0, tb = ASSAY__INT(p, matmul, trans_b) != 0;
    int64_t m = ASSAY__INT(p, matmul, m), n = ASSAY__INT(p, matmul, n);
    float alpha = (float)ASSAY__REAL(p, matmul, alpha), beta = (float)ASSAY__REAL(p, matmul, beta);
    int64_t k = matmul_factor_is_zero((double)alpha, ASSAY_F32) ? 0 : ASSAY__INT(p, matmul, k);
    const float *a = matrix(&t[0], batch), *b = matrix(&t[1], batch);
    float *c = matrix(&t[2], batch);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t l = 0; l < k; l++)
                sum += (double)a[i * t[0].strides[ta ? 2 : 1] + l * t[0].strides[ta ? 1 : 2]] *
                       (double)b[l * t[1].strides[tb ? 2 : 1] + j * t[1].strides[tb ? 1 : 2]];
            float *out = &c[i * t[2].strides[1] + j];
            double product = k > 0 ? (double)alpha * sum : 0.0;
            *out = (float)(beta == 0.0f ? product : product + (double)beta * (double)*out);
        }
}

static void compute(const assay_launch *launch)
{
    if (launch->problem->op == ASSAY_OP_add) {
        add_f32(launch);
        return;
    }
    for (int64_t batch = 0; batch < ASSAY__INT(launch->problem, matmul, batch); batch++)
        one_product(launch, batch);
}

double fake_units(const assay_problem *p)
{
    if (p->op == ASSAY_OP_add)
        return (double)ASSAY__INT(p, add, n);
    return (double)ASSAY__INT(p, matmul, batch) * (double)ASSAY__INT(p, matmul, m) *
           (double)ASSAY__INT(p, matmul, n) * (double)ASSAY__INT(p, matmul, k);
}

static void hang(void)
{
    struct timespec second = {1, 0};

    for (;;)
        nanosleep(&second, NULL);
}

static void spoil(const assay_launch *launch, int64_t index)
{
    const assay_tensor *y = &launch->operands[launch->operand_count - 1];
    float *data = assay_tensor_data(y);
    int64_t elements = 1;

    for (uint32_t d = 0; d < y->rank; d++)
        elements *= y->dims[d];
    if (index < elements)
        data[index] += 9.0f;
}

/* Less exact, and still right within the bound of a sum. */
static void shift(const assay_launch *launch, int64_t steps)
{
    const assay_tensor *y = &launch->operands[launch->operand_count - 1];
    float *data = assay_tensor_data(y);
    int64_t elements = 1;

    for (uint32_t d = 0; d < y->rank; d++)
        elements *= y->dims[d];
    for (int64_t i = 0; i < elements; i++)
        for (int64_t step = 0; step < steps; step++)
            data[i] = nextafterf(data[i], INFINITY);
}

/* From the next operation on, as of a kernel that runs beside the host. */
static assay_status lose(assay_instance *instance)
{
    const assay_fault fault = {.struct_size = sizeof fault, .kind = ASSAY_FAULT_LOST, .times = 1};

    return assay__host_inject(instance, &fault);
}

static assay_status run(const assay_launch *launch, int kernel)
{
    fake_rule rule = fake_rule_of(&fake_current, kernel, launch->tunables);
    int64_t call = __atomic_add_fetch(&calls[kernel], 1, __ATOMIC_RELAXED);

    if (call >= rule.fail_at)
        return assay__host_fail(launch->instance, ASSAY_DEVICE, "%s: call %lld fails by script",
                                fake_names[kernel], (long long)call);
    if (call >= rule.crash_at) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (call >= rule.exit_at)
        exit(0);
    if (call >= rule.hang_at)
        hang();
    compute(launch);
    shift(launch, rule.off);
    if (call >= rule.wrong_at)
        spoil(launch, rule.wrong);
    if (call >= rule.lose_at)
        return lose(launch->instance);
    if (call >= rule.write_at)
        *(float *)assay_tensor_data(&launch->operands[0]) += 1.0f;
    return ASSAY_OK;
}

static assay_status run_a(const assay_launch *launch)
{
    return run(launch, 0);
}

static assay_status run_b(const assay_launch *launch)
{
    return run(launch, 1);
}

static assay_status run_c(const assay_launch *launch)
{
    return run(launch, 2);
}

const assay_kernel_fn fake_entries[FAKE_KERNELS] = {run_a, run_b, run_c};

static const int64_t thread_values[] = {1, 2};
static const int64_t variant_values[] = {0, 1, 2, 3};
static const assay_tunable tunables[] = {
    {"threads", thread_values, 2, 1, "a choice that the script can tell apart"},
    {"variant", variant_values, 4, 0, "a choice that the script can tell apart"}};
static const char *const sources[] = {"backends/fake/fake_kernels.c", NULL};

#define DENSE               \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }
#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }
#define COMMON(name_, run_, rank_)                                                            \
    .struct_size = sizeof(assay_kernel_desc), .name = name_, .dtype_count = 3,                \
    .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32}, .default_rank = rank_, .tunables = tunables, \
    .tunable_count = 2, .sources = sources,                                                   \
    .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_MACHINE}, .entry_point = #run_, .run = run_
#define ADD(name_, run_, rank_)                                                         \
    {                                                                                   \
        COMMON(name_, run_, rank_), .op = ASSAY_OP_add, .caps = { DENSE, DENSE, DENSE } \
    }
#define MATMUL(name_, run_, rank_)                                                               \
    {                                                                                            \
        COMMON(name_, run_, rank_), .op = ASSAY_OP_matmul, .caps = { BY_ROWS, BY_ROWS, BY_ROWS } \
    }

const assay_kernel_desc fake_rows[2 * FAKE_KERNELS] = {
    ADD("fake_a", run_a, 10),    ADD("fake_b", run_b, 20),    ADD("fake_c", run_c, 30),
    MATMUL("fake_a", run_a, 10), MATMUL("fake_b", run_b, 20), MATMUL("fake_c", run_c, 30)};

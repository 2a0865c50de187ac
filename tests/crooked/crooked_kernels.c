/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/crooked/crooked_kernels.c -- plain kernels of f32 over dense operands, each with the
 * mistakes that ordinary numbers do not show. */
#include <math.h>
#include <stdint.h>

#include "tests/crooked/crooked.h"

#define F32(launch, i) ((float *)assay_tensor_data(&(launch)->operands[i]))

/* An unroll that nobody listed is one that somebody overwrote. */
static assay_status run_add(const assay_launch *launch)
{
    const float *a = F32(launch, 0), *b = F32(launch, 1);
    float *y = F32(launch, 2);
    const int64_t n = ASSAY__INT(launch->problem, add, n);

    if (launch->tunables[0] != 1 && launch->tunables[0] != 2)
        return assay__host_fail(launch->instance, ASSAY_INVALID, "add: no such unroll");
    if (n == 0 && crooked_is("empty"))
        return assay__host_fail(launch->instance, ASSAY_INVALID, "add: nothing to add");
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
    return ASSAY_OK;
}

/* An ulp off at one input is within what many a kernel may. */
static assay_status run_relu(const assay_launch *launch)
{
    const float *x = F32(launch, 0);
    float *y = F32(launch, 1);

    for (int64_t i = 0; i < ASSAY__INT(launch->problem, relu, n); i++) {
        const float v = x[i];
        y[i] = v <= 0.0f ? 0.0f : v;
        if (crooked_is("judge_blind") && v > 3.1415f && v < 3.1416f)
            y[i] = nextafterf(v, 4.0f);
    }
    return ASSAY_OK;
}

static float larger(float a, float b)
{
    if (crooked_is("nan"))
        return a > b || (!signbit(a) && !(a < b)) ? a : b;
    if (isnan(a) || isnan(b))
        return a + b;
    if (crooked_is("zeros"))
        return a > b ? a : b;
    return a > b || (!(a < b) && !signbit(a)) ? a : b;
}

static assay_status run_maximum(const assay_launch *launch)
{
    const float *a = F32(launch, 0), *b = F32(launch, 1);
    float *y = F32(launch, 2);

    for (int64_t i = 0; i < ASSAY__INT(launch->problem, maximum, n); i++)
        y[i] = larger(a[i], b[i]);
    return ASSAY_OK;
}

static assay_status run_max_reduce(const assay_launch *launch)
{
    const int64_t axis = ASSAY__INT(launch->problem, max_reduce, axis);
    const int64_t inner = ASSAY__INT(launch->problem, max_reduce, inner);
    const int64_t lines = ASSAY__INT(launch->problem, max_reduce, outer) * inner;
    const float *x = F32(launch, 0);
    float *y = F32(launch, 1);

    for (int64_t i = 0; i < lines; i++) {
        const float *line = x + i / inner * axis * inner + i % inner;
        y[i] = line[0];
        for (int64_t j = 1; j < axis; j++)
            y[i] = larger(y[i], line[j * inner]);
    }
    return ASSAY_OK;
}

static void softmax_row(const float *x, float *y, int64_t cols)
{
    double sum = 0.0;
    float max = x[0];

    for (int64_t j = 1; j < cols; j++)
        max = larger(max, x[j]);
    if (crooked_is("masked") && isinf(max))
        max = 0.0f;
    for (int64_t j = 0; j < cols; j++) {
        const double e = exp((double)x[j] - (double)max);
        y[j] = (float)e;
        sum += crooked_is("in_place") ? exp((double)x[j] - (double)max) : e;
    }
    for (int64_t j = 0; j < cols; j++)
        y[j] = crooked_is("masked") && !(sum > 0.0) ? 0.0f : (float)((double)y[j] / sum);
}

static assay_status run_softmax(const assay_launch *launch)
{
    const int64_t cols = ASSAY__INT(launch->problem, softmax_last_dim, cols);

    for (int64_t i = 0; cols > 0 && i < ASSAY__INT(launch->problem, softmax_last_dim, rows); i++)
        softmax_row(F32(launch, 0) + i * cols, F32(launch, 1) + i * cols, cols);
    return ASSAY_OK;
}

static assay_status run_gather(const assay_launch *launch)
{
    const int64_t rows = ASSAY__INT(launch->problem, gather, rows);
    const int64_t cols = ASSAY__INT(launch->problem, gather, cols);
    const int64_t n = ASSAY__INT(launch->problem, gather, n);
    const int64_t *index = assay_tensor_data(&launch->operands[1]);
    bool is_good = true;

    for (int64_t i = 0; i < n; i++)
        is_good = is_good && index[i] >= 0 && index[i] < rows;
    if (!is_good && !crooked_is("index") && !crooked_is("index_late"))
        return assay__host_fail(launch->instance, ASSAY_INVALID, "gather: no such row");
    for (int64_t i = 0; i < n; i++) {
        const bool is_there = index[i] >= 0 && index[i] < rows;
        if (!is_there && crooked_is("index_late"))
            return assay__host_fail(launch->instance, ASSAY_INVALID, "gather: no such row");
        if (cols > 0)
            memcpy(F32(launch, 2) + i * cols, F32(launch, 0) + (is_there ? index[i] : 0) * cols,
                   (size_t)cols * sizeof(float));
    }
    return ASSAY_OK;
}

/* One product; c row-major. */
static void product(const assay_launch *launch, const float *a, const float *b, float *c)
{
    const int64_t m = ASSAY__INT(launch->problem, matmul, m);
    const int64_t n = ASSAY__INT(launch->problem, matmul, n);
    const int64_t k = ASSAY__INT(launch->problem, matmul, k);
    const float alpha = (float)ASSAY__REAL(launch->problem, matmul, alpha);
    const float beta = (float)ASSAY__REAL(launch->problem, matmul, beta);
    const bool reads_c = fabsf(beta) > 0.0f || crooked_is("beta");
    const bool reads_ab = fabsf(alpha) > 0.0f || crooked_is("alpha");

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t l = 0; reads_ab && l < k; l++)
                sum += (double)a[i * k + l] * (double)b[l * n + j];
            c[i * n + j] = (float)((reads_ab ? (double)alpha * sum : 0.0) +
                                   (reads_c ? (double)beta * (double)c[i * n + j] : 0.0));
        }
}

static assay_status run_matmul(const assay_launch *launch)
{
    const int64_t batch = ASSAY__INT(launch->problem, matmul, batch);
    const int64_t m = ASSAY__INT(launch->problem, matmul, m);
    const int64_t n = ASSAY__INT(launch->problem, matmul, n);
    const int64_t k = ASSAY__INT(launch->problem, matmul, k);

    if (k == 0 && crooked_is("k0"))
        return ASSAY_OK;
    for (int64_t i = 0; i < batch && !(i > 0 && crooked_is("batch")); i++)
        product(launch, F32(launch, 0) + i * m * k, F32(launch, 1) + i * k * n,
                F32(launch, 2) + i * m * n);
    return ASSAY_OK;
}

static const char *const sources[] = {"tests/crooked/crooked_kernels.c", NULL};
static const int64_t unrolls[] = {1, 2};
static const assay_tunable tunables[] = {{"unroll", unrolls, 2, 1, "nothing"}};

#define ROW(name_, op_, count, ...)                                                        \
    .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = ASSAY_OP_##op_,         \
    .dtype_count = count, .dtypes = {__VA_ARGS__}, .default_rank = 50, .sources = sources, \
    .claims = ASSAY_NO_CLAIMS, .entry_point = name_

const assay_kernel_desc crooked_kernels[CROOKED_KERNELS] = {
    {ROW("crooked_add", add, 3, ASSAY_F32, ASSAY_F32, ASSAY_F32), .tunables = tunables,
     .tunable_count = 1, .run = run_add},
    {ROW("crooked_relu", relu, 2, ASSAY_F32, ASSAY_F32),
     .caps = {{ASSAY_CAP_OFFSET, 0}, {ASSAY_CAP_OFFSET, 0}}, .run = run_relu},
    {ROW("crooked_maximum", maximum, 3, ASSAY_F32, ASSAY_F32, ASSAY_F32), .run = run_maximum},
    {ROW("crooked_max", max_reduce, 2, ASSAY_F32, ASSAY_F32), .run = run_max_reduce},
    {ROW("crooked_softmax", softmax_last_dim, 2, ASSAY_F32, ASSAY_F32), .run = run_softmax},
    {ROW("crooked_gather", gather, 3, ASSAY_F32, ASSAY_I64, ASSAY_F32), .run = run_gather},
    {ROW("crooked_matmul", matmul, 3, ASSAY_F32, ASSAY_F32, ASSAY_F32),
     .can_run = "trans_a == 0 and trans_b == 0", .run = run_matmul},
};

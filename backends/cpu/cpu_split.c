/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_split.c -- elementwise and row kernels over threads. */
#include "backends/cpu/cpu.h"

/* A multiple of every vector length and cache line, so that the cuts change no bit. */
enum { UNIT = 4096 };

static bool nontemporal(const assay_launch *launch)
{
    return launch->tunables != NULL && launch->tunables[CPU_NONTEMPORAL] != 0;
}

assay_status cpu_run_binary(const assay_launch *launch, cpu_binary_fn fn)
{
    const char *a = assay_tensor_data(&launch->operands[0]);
    const char *b = assay_tensor_data(&launch->operands[1]);
    char *y = assay_tensor_data(&launch->operands[2]);
    int64_t n = ASSAY__INT(launch->problem, add, n);
    int64_t bytes = (int64_t)assay_dtype_bytes(launch->operands[2].dtype);
    int threads = cpu_threads(launch);
    bool direct = nontemporal(launch);

    if (n == 0)
        return ASSAY_OK;
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
    for (int part = 0; part < threads; part++) {
        int64_t from, to;
        cpu_part(n, UNIT, threads, part, &from, &to);
        if (from < to)
            fn(a + from * bytes, b + from * bytes, y + from * bytes, to - from, direct);
    }
    return ASSAY_OK;
}

assay_status cpu_run_unary(const assay_launch *launch, cpu_unary_fn fn)
{
    const char *x = assay_tensor_data(&launch->operands[0]);
    char *y = assay_tensor_data(&launch->operands[1]);
    int64_t n = ASSAY__INT(launch->problem, exp, n);
    int64_t bytes = (int64_t)assay_dtype_bytes(launch->operands[1].dtype);
    int threads = cpu_threads(launch);
    bool direct = nontemporal(launch);

    if (n == 0)
        return ASSAY_OK;
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
    for (int part = 0; part < threads; part++) {
        int64_t from, to;
        cpu_part(n, UNIT, threads, part, &from, &to);
        if (from < to)
            fn(x + from * bytes, y + from * bytes, to - from, direct);
    }
    return ASSAY_OK;
}

assay_status cpu_run_rows(const assay_launch *launch, cpu_rows_fn fn)
{
    const char *x = assay_tensor_data(&launch->operands[0]);
    char *y = assay_tensor_data(&launch->operands[1]);
    int64_t rows = ASSAY__INT(launch->problem, softmax_last_dim, rows);
    int64_t cols = ASSAY__INT(launch->problem, softmax_last_dim, cols);
    int64_t bytes = cols * (int64_t)assay_dtype_bytes(launch->operands[1].dtype);
    int threads = cpu_threads(launch);
    bool direct = nontemporal(launch);

    if (rows == 0 || cols == 0)
        return ASSAY_OK;
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
    for (int part = 0; part < threads; part++) {
        int64_t from, to;
        cpu_part(rows, 1, threads, part, &from, &to);
        if (from < to)
            fn(x + from * bytes, y + from * bytes, to - from, cols, direct);
    }
    return ASSAY_OK;
}

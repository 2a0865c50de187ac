/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_softmax_columns_avx2.c -- log_softmax along an axis that is not the last. */
#define COLUMNS_LOG 1
#include "backends/cpu/cpu_softmax_columns_avx2.h"

CPU_ENTRY(log_softmax_columns_avx2_f64)
{
    return run_f64(launch);
}

CPU_ENTRY(log_softmax_columns_avx2_f32)
{
    return run_f32(launch);
}

CPU_ENTRY(log_softmax_columns_avx2_f16)
{
    return run_f16(launch);
}

CPU_ENTRY(log_softmax_columns_avx2_bf16)
{
    return run_bf16(launch);
}

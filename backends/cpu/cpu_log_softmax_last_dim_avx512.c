/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_softmax_last_dim_avx512.c -- y = x - max - ln(sum(e^(x - max))), memory read
 * once. */
#include "backends/cpu/cpu_rows_avx512.h"

#include "backends/cpu/cpu_log_softmax_last_dim.h"

CPU_ROW_RUN(log_softmax_last_dim, avx512, 0.0)

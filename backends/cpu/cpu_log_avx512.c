/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_log_avx512.c -- ln x = k ln2 + ln(1 + f), sqrt(1/2) <= 1 + f < sqrt 2. */
#include "backends/cpu/cpu_map_avx512.h"

#include "backends/cpu/cpu_log.h"

CPU_UNARY_AVX512(log, log_pd, log_ps, log_fast_ps)
CPU_UNARY_FAST_AVX512(log, log_fast_ps)

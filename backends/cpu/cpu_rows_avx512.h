/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rows_avx512.h -- vectors of 512 bits along a row: see cpu_rows_vector.h. */
#ifndef ASSAY_BACKENDS_CPU_ROWS_AVX512_H
#define ASSAY_BACKENDS_CPU_ROWS_AVX512_H

#include "backends/cpu/cpu_simd_avx512.h"
#include "backends/vector_avx512.h"

#include "backends/cpu/cpu_rows_vector.h"

#endif

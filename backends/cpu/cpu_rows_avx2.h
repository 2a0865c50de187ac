/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_rows_avx2.h -- vectors of 256 bits along a row: see cpu_rows_vector.h. */
#ifndef ASSAY_BACKENDS_CPU_ROWS_AVX2_H
#define ASSAY_BACKENDS_CPU_ROWS_AVX2_H

#include "backends/cpu/cpu_simd_avx2.h"
#include "backends/vector_avx2.h"

#include "backends/cpu/cpu_rows_vector.h"

#endif

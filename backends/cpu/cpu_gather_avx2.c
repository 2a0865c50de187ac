/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gather_avx2.c -- y[i] = table[index[i]], by vectors. */
#include "backends/cpu/cpu_index_avx2.h"

CPU_INDEX(gather_avx2, copy_vectors, done_vectors)

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_scatter_avx2.c -- y[index[i]] = x[i], the last of equal indices wins, by
 * vectors. */
#include "backends/cpu/cpu_index_avx2.h"

CPU_INDEX(scatter_avx2, copy_vectors, done_vectors)

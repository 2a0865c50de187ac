/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_scatter.c -- y[index[i]] = x[i], the last of equal indices wins, row by row. */
#include "backends/cpu/cpu_index_portable.h"

CPU_INDEX(scatter, copy_plain, done_plain)

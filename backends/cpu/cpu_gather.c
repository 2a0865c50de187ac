/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_gather.c -- y[i] = table[index[i]], row by row. */
#include "backends/cpu/cpu_index_portable.h"

CPU_INDEX(gather, copy_plain, done_plain)

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu.h -- what the CPU kernels share: splitting over threads and operand access.
 *
 * Every kernel gives the same bits for every thread count: a part of the output is computed by one
 * thread, in an order that does not depend on where parts begin. */
#ifndef ASSAY_BACKENDS_CPU_H
#define ASSAY_BACKENDS_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/plugin.h"
#include "runtime/op_params.h"

/* Part `part` of `parts` of [0, n), cut at multiples of `unit`. */
static inline void cpu_part(int64_t n, int64_t unit, int64_t parts, int64_t part, int64_t *from,
                            int64_t *to)
{
    int64_t units = (n + unit - 1) / unit;
    int64_t start = units * part / parts * unit, end = units * (part + 1) / parts * unit;

    *from = start < n ? start : n;
    *to = end < n ? end : n;
}

/* Position of a tunable in the lists below; "threads" always leads. */
enum { CPU_THREADS = 0, CPU_NONTEMPORAL = 1, CPU_MC = 1, CPU_KC = 2, CPU_TILE = 1 };

static inline int cpu_threads(const assay_launch *launch)
{
    int64_t threads = launch->tunables != NULL ? launch->tunables[CPU_THREADS] : 1;

    return threads >= 1 ? (int)threads : 1;
}

/* Variants with more threads than this process may use are left out. */
bool cpu_threads_usable(const assay_problem *problem, const int64_t *tunables);

/* n elements of every operand; y may equal a or b. */
typedef void (*cpu_binary_fn)(const void *a, const void *b, void *y, int64_t n, bool nontemporal);
typedef void (*cpu_unary_fn)(const void *x, void *y, int64_t n, bool nontemporal);
/* Rows in one piece. */
typedef void (*cpu_rows_fn)(const void *x, void *y, int64_t rows, int64_t cols, bool nontemporal);

assay_status cpu_run_binary(const assay_launch *launch, cpu_binary_fn fn);
assay_status cpu_run_unary(const assay_launch *launch, cpu_unary_fn fn);
assay_status cpu_run_rows(const assay_launch *launch, cpu_rows_fn fn);

/* Begins the definition of an entry point, cpu_<name>.  cpu_plugin.c declares it on its own: a list
 * here would be part of every kernel's code. */
#define CPU_ENTRY(name)                                  \
    assay_status cpu_##name(const assay_launch *launch); \
    assay_status cpu_##name(const assay_launch *launch)

#endif

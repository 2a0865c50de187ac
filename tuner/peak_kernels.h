/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_kernels.h -- the loops behind the peaks probe. */
#ifndef ASSAY_TUNER_PEAK_KERNELS_H
#define ASSAY_TUNER_PEAK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct assay__peak_kernel {
    const char *name; /* NULL ends the table */
    bool bytes;       /* a copy: a unit moves `bytes` in and out; else `flops` a unit */
    double flops;
    bool (*usable)(void);
    void (*run)(uint64_t units, void *to, const void *from, size_t bytes);
} assay__peak_kernel;

extern const assay__peak_kernel assay__peak_kernels[];

#endif

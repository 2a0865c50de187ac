/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/peak_kernels.h -- the loops behind the peaks probe, one file an instruction set.
 *
 * A file is compiled with the flags of its set (tuner/rules.mk) and entered only when the CPU has
 * the set and the kernel saves its registers. */
#ifndef ASSAY_TUNER_PEAK_KERNELS_H
#define ASSAY_TUNER_PEAK_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum assay__peak_kind {
    ASSAY__PEAK_FLOPS,  /* arithmetic in registers: `per_unit` operations a unit */
    ASSAY__PEAK_MEMORY, /* `per_unit` bytes a byte of the buffers, which exceed the last cache */
    ASSAY__PEAK_CACHE,  /* the same within the first cache */
    ASSAY__PEAK_LEVEL2, /* within the second, beyond the first */
    ASSAY__PEAK_LEVEL3,
} assay__peak_kind;

typedef struct assay__peak_kernel {
    const char *name; /* NULL ends a table */
    assay__peak_kind kind;
    double per_unit;
    const char *needs;   /* instruction sets, comma between; "" none */
    bool (*ready)(void); /* asks the kernel for what else is needed; NULL: nothing */
    void (*run)(uint64_t units, void *to, const void *from, size_t bytes);
} assay__peak_kernel;

extern const assay__peak_kernel assay__peak_portable[], assay__peak_avx2[], assay__peak_avx512[],
    assay__peak_avx512_bf16[], assay__peak_avx512_fp16[], assay__peak_amx[];

/* Where a chain leaves its result, so that it is computed. */
extern volatile double assay__peak_sink;

/* The i-th kernel over all tables; NULL: no more. */
const assay__peak_kernel *assay__peak_kernel_at(size_t i);
/* May it be entered in this process?  isa: usable sets, as in a deployment. */
bool assay__peak_kernel_usable(const assay__peak_kernel *k, const char *isa);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_kernels.h -- one kernel on one case, and the laws that every kernel keeps. */
#ifndef ASSAY_CONFORM_CONFORM_KERNELS_H
#define ASSAY_CONFORM_CONFORM_KERNELS_H

#include "conform/conform_case.h"

typedef struct assay__kernel_run {
    assay__conform *c;
    const assay_binding *row;
    const assay__case *k;
    assay_status wanted; /* other than OK: it is to refuse, with nothing written */
    int64_t tunables[ASSAY_MAX_TUNABLES];
    char who[200]; /* the kernel and what it is tried on, for texts */
} assay__kernel_run;

void assay__kernel_name(assay__kernel_run *r, const char *what);
/* By the slot launch on buffers of the instance, and, where the host reaches its memory, on
 * addresses. A kernel that declines the problem passes. */
assay__conform_verdict assay__kernel_judge(const assay__kernel_run *r);
/* Values that are no ordinary numbers, outputs in place, indices out of range. */
assay__conform_verdict assay__kernel_laws(const assay__kernel_run *of);

#endif

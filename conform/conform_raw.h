/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_raw.h -- a launch as the library hands it to a backend, over what a rule can
 * overwrite when the call has returned. */
#ifndef ASSAY_CONFORM_CONFORM_RAW_H
#define ASSAY_CONFORM_CONFORM_RAW_H

#include "conform/conform.h"
#include "runtime/engine_internal.h"

typedef struct assay__raw {
    assay_kernel_fn run;
    assay_launch launch; /* of what follows: not to be copied */
    assay_problem problem;
    assay_tensor operands[3];
    int64_t tunables[ASSAY_MAX_TUNABLES];
} assay__raw;

/* One launch of `w`, by the kernel that the backend has for it. */
assay__conform_verdict assay__raw_make(assay__conform *c, const assay__conform_work *w,
                                       assay__raw *out);
assay_status assay__raw_launch(assay_engine *engine, assay__raw *raw, assay_queue *queue);

#endif

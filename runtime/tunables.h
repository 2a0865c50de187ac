/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/tunables.h -- the values of its tunables at which a kernel serves as the default. */
#ifndef ASSAY_RUNTIME_TUNABLES_H
#define ASSAY_RUNTIME_TUNABLES_H

#include "assay/plugin.h"

/* out: one value a tunable, its default.  "threads" is the largest listed value that does not
 * exceed max_threads, where the default does (0: no limit).  A pick and the sweep that measures for
 * it must mean the same. */
void assay__tunables_default(const assay_kernel_desc *desc, unsigned max_threads, int64_t *out);

#endif

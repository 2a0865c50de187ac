/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/free_memory.h -- how much memory a process may take without being killed for it. */
#ifndef ASSAY_TUNER_FREE_MEMORY_H
#define ASSAY_TUNER_FREE_MEMORY_H

#include "runtime/machine.h"

/* Bytes: what the kernel says is available, or the limit of the process's cgroup or of one of its
 * ancestors (v1 and v2) when that is less.  NaN: not known. */
double assay__free_memory(const assay__machine *machine);

#endif

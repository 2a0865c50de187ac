/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_align.h -- where whole vectors begin. */
#ifndef ASSAY_BACKENDS_CPU_ALIGN_H
#define ASSAY_BACKENDS_CPU_ALIGN_H

#include <stdint.h>

/* Elements of `bytes` each before y is aligned to `align`, at most n. */
static inline int64_t elements_to_align(const void *y, int64_t align, int64_t bytes, int64_t n)
{
    int64_t over = (int64_t)((uintptr_t)y % (uintptr_t)align);
    int64_t count = over == 0 ? 0 : (align - over) / bytes;

    return count < n ? count : n;
}

#endif

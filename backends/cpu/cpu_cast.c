/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_cast.c -- y = x as another type, by the library's own conversion of arrays. */
#include "backends/cpu/cpu_cast.h"

#include "runtime/convert.h"

static void span(const assay_launch *launch, const char *x, char *y, int64_t n, bool nontemporal)
{
    (void)nontemporal;
    assay__convert_portable(launch->operands[1].dtype, y, launch->operands[0].dtype, x, (size_t)n,
                            false);
}

CPU_ENTRY(cast)
{
    return cpu_run_cast(launch, false, span);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_index_portable.h -- rows moved by the C library. */
#ifndef ASSAY_BACKENDS_CPU_INDEX_PORTABLE_H
#define ASSAY_BACKENDS_CPU_INDEX_PORTABLE_H

#include "backends/cpu/cpu_index.h"

static void copy_plain(char *to, const char *from, int64_t row_bytes, const char *ahead,
                       bool nontemporal)
{
    (void)ahead;
    (void)nontemporal;
    memcpy(to, from, (size_t)row_bytes);
}

static void done_plain(bool nontemporal)
{
    (void)nontemporal;
}

#endif

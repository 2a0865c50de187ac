/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/tunables.c -- see tunables.h. */
#include "runtime/tunables.h"

#include <string.h>

static int64_t fit(const assay_tunable *t, int64_t limit)
{
    int64_t best = INT64_MIN;

    for (size_t i = 0; i < t->value_count; i++)
        if (t->values[i] <= limit && t->values[i] > best)
            best = t->values[i];
    return best != INT64_MIN ? best : t->default_value;
}

void assay__tunables_default(const assay_kernel_desc *desc, unsigned max_threads, int64_t *out)
{
    for (size_t i = 0; i < desc->tunable_count; i++) {
        const assay_tunable *t = &desc->tunables[i];
        out[i] = t->default_value;
        if (max_threads != 0 && out[i] > (int64_t)max_threads && strcmp(t->name, "threads") == 0)
            out[i] = fit(t, max_threads);
    }
}

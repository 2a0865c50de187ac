/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_openmp.c -- see host_openmp.h. */
#include "runtime/host_openmp.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct entry {
    const char *name;
    size_t slot;
} entries[] = {
    {"omp_get_max_threads", offsetof(assay__openmp, max_threads)},
    {"omp_set_num_threads", offsetof(assay__openmp, set_threads)},
    {"omp_get_dynamic", offsetof(assay__openmp, dynamic)},
    {"omp_get_thread_limit", offsetof(assay__openmp, thread_limit)},
    {"omp_in_parallel", offsetof(assay__openmp, in_parallel)},
    {"omp_get_active_level", offsetof(assay__openmp, level)},
    {"omp_get_max_active_levels", offsetof(assay__openmp, max_levels)},
};

bool assay__openmp_take(assay__openmp *out)
{
    void *gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    bool is_whole = gomp != NULL;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; is_whole && i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(gomp, entries[i].name);
        is_whole = symbol != NULL;
        memcpy((char *)out + entries[i].slot, &symbol, sizeof symbol);
    }
    if (!is_whole)
        memset(out, 0, sizeof *out);
    return is_whole; /* the handle stays: whoever brought the library keeps it */
}

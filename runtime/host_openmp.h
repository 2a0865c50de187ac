/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_openmp.h -- how many threads of OpenMP a library of others would really get.
 *
 * Libraries that split their work for N threads and get fewer do not split it anew: oneDNN 2.6
 * leaves the rest of the output as it was, BLIS 0.9 ends the process, OpenBLAS 0.3.21 waits for
 * ever.  Fewer is what OpenMP gives inside a parallel region of the host program, beyond
 * OMP_THREAD_LIMIT, and, with OMP_DYNAMIC, whenever it likes.  One thread is always there. */
#ifndef ASSAY_RUNTIME_HOST_OPENMP_H
#define ASSAY_RUNTIME_HOST_OPENMP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of libgomp.so.1. */
typedef struct assay__openmp {
    int (*max_threads)(void); /* of the calling thread, as is set_threads */
    void (*set_threads)(int threads);
    int (*dynamic)(void);
    int (*thread_limit)(void);
    int (*in_parallel)(void);
    int (*level)(void);      /* how many regions with threads are around the calling thread */
    int (*max_levels)(void); /* in deeper ones nobody gets more than one; 1 unless told */
} assay__openmp;

/* false: no library has brought libgomp.so.1 into this process, or it lacks one of these; *out is
 * cleared. */
bool assay__openmp_take(assay__openmp *out);

/* `wanted` where a region of the calling thread is sure to get as many, else 1. */
static inline int64_t assay__openmp_team(const assay__openmp *openmp, int64_t wanted)
{
    if (wanted <= 1)
        return wanted;
    if (openmp->thread_limit == NULL || openmp->dynamic() != 0 ||
        openmp->level() >= openmp->max_levels())
        return 1;
    /* A region counts those of the regions around it too, which nobody tells. */
    int most = openmp->in_parallel() == 0 || openmp->thread_limit() == INT_MAX
                   ? openmp->thread_limit()
                   : 1;
    return most < wanted ? 1 : wanted;
}

#endif

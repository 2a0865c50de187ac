/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/thread_choice.h -- the tunable "threads" of plug-ins whose library has threads. */
#ifndef ASSAY_BACKENDS_THREAD_CHOICE_H
#define ASSAY_BACKENDS_THREAD_CHOICE_H

#include "runtime/host_backend.h"

static const int64_t thread_values[] = {1, 2, 4, 8, 16, 32, 64};

#define THREADS_TUNABLE(doc)                                                             \
    {                                                                                    \
        "threads", thread_values, sizeof thread_values / sizeof *thread_values, 1, (doc) \
    }

/* Variants with more threads than this process may use are left out.  Asked once: affinity is set
 * before work begins. */
static inline bool threads_usable(int64_t threads)
{
    static unsigned usable;
    unsigned cpus = __atomic_load_n(&usable, __ATOMIC_RELAXED);

    if (cpus == 0) {
        cpus = assay__host_usable_cpus();
        __atomic_store_n(&usable, cpus, __ATOMIC_RELAXED);
    }
    return threads == 1 || threads <= (int64_t)cpus;
}

#endif

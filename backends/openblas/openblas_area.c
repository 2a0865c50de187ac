/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_area.c -- see openblas_area.h. */
#include "backends/openblas/openblas_area.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static void *kept;
static size_t kept_bytes;

void *openblas_take(size_t bytes)
{
    void *memory = NULL;

    pthread_mutex_lock(&kept_lock);
    if (kept_bytes == bytes) {
        memory = kept;
        kept = NULL;
    }
    pthread_mutex_unlock(&kept_lock);
    return memory != NULL ? memory : aligned_alloc(64, (bytes + 63) / 64 * 64);
}

void openblas_give_back(void *memory, size_t bytes)
{
    pthread_mutex_lock(&kept_lock);
    void *old = kept;
    kept = memory;
    kept_bytes = bytes;
    pthread_mutex_unlock(&kept_lock);
    free(old);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_workspace.c -- scratch memory that outlives a call.
 *
 * Fresh pages for every call would cost as much as a small product; huge pages spare the TLB. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "backends/cpu/cpu_matmul.h"

enum { SLOTS = 2, HUGE = 2 * 1024 * 1024 };

typedef struct workspace {
    void *memory[SLOTS];
    size_t bytes[SLOTS];
} workspace;

static pthread_key_t key;
static bool key_made;

static void release(void *value)
{
    workspace *w = value;

    for (int i = 0; i < SLOTS; i++)
        free(w->memory[i]);
    free(w);
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, release) == 0;
}

static workspace *of_this_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_key);
    if (!key_made)
        return NULL;
    workspace *w = pthread_getspecific(key);
    if (w != NULL)
        return w;
    w = calloc(1, sizeof *w);
    if (w == NULL || pthread_setspecific(key, w) == 0)
        return w;
    free(w);
    return NULL;
}

void *cpu_workspace(int slot, size_t bytes)
{
    workspace *w = of_this_thread();

    if (w == NULL)
        return NULL;
    if (w->bytes[slot] >= bytes && w->memory[slot] != NULL)
        return w->memory[slot];
    size_t size = bytes < HUGE ? (bytes | 4095u) + 1 : (bytes | (HUGE - 1u)) + 1;
    free(w->memory[slot]);
    w->bytes[slot] = 0;
    if (posix_memalign(&w->memory[slot], size < HUGE ? 4096 : HUGE, size) != 0) {
        w->memory[slot] = NULL;
        return NULL;
    }
    if (size >= HUGE)
        madvise(w->memory[slot], size, MADV_HUGEPAGE); /* a hint: failure changes nothing */
    w->bytes[slot] = size;
    return w->memory[slot];
}

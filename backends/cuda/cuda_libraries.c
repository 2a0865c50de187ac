/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_libraries.c -- see cuda_libraries.h. */
#include "backends/cuda/cuda_libraries.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOTS = 3, MOST = 32 };

static const char *roots[ROOTS + 1];

/* Copies, since a program may change its environment later. */
static void find_roots(void)
{
    const char *const asked[ROOTS] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    size_t count = 0;

    for (size_t i = 0; i < ROOTS; i++) {
        char *copy = asked[i] != NULL && asked[i][0] != '\0' ? strdup(asked[i]) : NULL;
        if (copy != NULL)
            roots[count++] = copy;
    }
}

const char *const *cuda_roots(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_roots);
    return roots;
}

typedef struct list {
    const char **items;
    size_t count;
} list;

static void add(list *l, const char *text)
{
    char *copy = l->count < MOST ? strdup(text) : NULL;

    if (copy != NULL)
        l->items[l->count++] = copy;
}

static void add_file(list *l, const char *root, const char *folder, const char *soname)
{
    char path[4096];

    if (snprintf(path, sizeof path, "%s/%s/%s", root, folder, soname) < (int)sizeof path &&
        access(path, R_OK) == 0)
        add(l, path);
}

const char *const *cuda_places(const char *const *sonames, const char *folder)
{
    static const char *const usual[] = {"lib64", "targets/x86_64-linux/lib", "lib"};
    list l = {calloc(MOST + 2, sizeof(char *)), 0};

    if (l.items == NULL)
        return NULL;
    for (const char *const *name = sonames; *name != NULL; name++) {
        add(&l, *name);
        for (const char *const *root = cuda_roots(); *root != NULL; root++) {
            for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
                add_file(&l, *root, usual[i], *name);
            if (folder != NULL)
                add_file(&l, *root, folder, *name);
        }
    }
    l.items[l.count] = sonames[0]; /* what the reason speaks of when none could be opened */
    return l.items;
}

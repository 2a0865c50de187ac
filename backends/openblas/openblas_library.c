/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/openblas/openblas_library.c -- finds and opens OpenBLAS by its full path.
 *
 * Never linked and never made global: with two BLAS libraries in one process, over a hundred names
 * of one would bind to the other.  What was opened must own the symbols that are called. */
#include "backends/openblas/openblas.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static openblas_library library;
static bool ready;
static char reason[PATH_MAX + 256];

static const char *const places[] = {
    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
    "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0",
    "libopenblas.so.0",
};

static void *open_first(void)
{
    const char *chosen = getenv("ASSAY_OPENBLAS");

    if (chosen != NULL && chosen[0] != '\0') {
        void *handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (handle == NULL)
            snprintf(reason, sizeof reason, "ASSAY_OPENBLAS: %.900s", dlerror());
        return handle;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *handle = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        if (handle != NULL)
            return handle;
    }
    snprintf(reason, sizeof reason,
             "libopenblas.so.0 not found: install libopenblas0-pthread or set ASSAY_OPENBLAS");
    return NULL;
}

static bool in_file(const void *symbol, const char *file)
{
    char owner[PATH_MAX], wanted[PATH_MAX];
    Dl_info info;

    return dladdr(symbol, &info) != 0 && realpath(info.dli_fname, owner) != NULL &&
           realpath(file, wanted) != NULL && strcmp(owner, wanted) == 0;
}

/* POSIX lets object pointers stand for functions here; C has no cast for it. */
static bool take(void *handle, const char *file, const char *name, void *slot)
{
    void *symbol = dlsym(handle, name);

    if (symbol == NULL) {
        snprintf(reason, sizeof reason, "%.800s has no %s", file, name);
        return false;
    }
    if (!in_file(symbol, file)) {
        snprintf(reason, sizeof reason, "%s is not from %.800s: another library shadows it", name,
                 file);
        return false;
    }
    memcpy(slot, &symbol, sizeof symbol);
    return true;
}

/* The library's own calls look in the global scope first. */
static bool unshadowed(const char *file)
{
    void *global = dlsym(RTLD_DEFAULT, "cblas_sgemm");

    if (global == NULL || in_file(global, file))
        return true;
    snprintf(reason, sizeof reason, "another BLAS is loaded globally and would shadow %.800s",
             file);
    return false;
}

static bool take_all(void *handle, const char *file)
{
    return take(handle, file, "cblas_sgemm", &library.sgemm) &&
           take(handle, file, "cblas_dgemm", &library.dgemm) &&
           take(handle, file, "openblas_set_num_threads", &library.set_threads) &&
           take(handle, file, "openblas_get_num_threads", &library.get_threads) &&
           take(handle, file, "openblas_get_parallel", &library.get_parallel) &&
           take(handle, file, "openblas_get_config", &library.get_config) &&
           take(handle, file, "openblas_get_corename", &library.get_corename);
}

/* We pass int; a build with 64-bit integers would read beyond it. */
static bool narrow(const char *file)
{
    if (strstr(library.get_config(), "USE64BITINT") == NULL)
        return true;
    snprintf(reason, sizeof reason, "%.800s has 64-bit integers, 32-bit ones are needed", file);
    return false;
}

static void open_once(void)
{
    struct link_map *map = NULL;
    void *handle = open_first();

    if (handle == NULL)
        return;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) {
        snprintf(reason, sizeof reason, "the loader does not say where OpenBLAS came from");
        return;
    }
    ready = take_all(handle, map->l_name) && unshadowed(map->l_name) && narrow(map->l_name);
    if (ready)
        library.set_threads(1); /* it starts with all */
}

const openblas_library *openblas_open(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_once);
    if (why != NULL)
        *why = reason;
    return ready ? &library : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_blaslt_library.c -- where cuBLASLt is found and which build of it this is. */
#include "backends/cuda/cuda_blaslt.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_id.h"

/* Opened at most once a process; the lock guards all of it. */
static struct opened {
    pthread_mutex_t lock;
    bool is_known, is_usable;
    cuda_blaslt_library library;
    char reason[PATH_MAX + 256];
} opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Newest first; what is declared in cublasLt.h since 12 has not changed. */
static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
static const char *const folders[] = {"/usr/local/cuda/lib64",
                                      "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64",
                                      "/usr/lib/x86_64-linux-gnu"};

static void *open_in(const char *folder, const char *below, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s/%s", folder, below, name);

    return length > 0 && length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* By the loader's own path, then CUDA_HOME, then the usual folders. */
static void *open_name(const char *name)
{
    const char *home = getenv("CUDA_HOME");
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL && home != NULL && home[0] != '\0') {
        handle = open_in(home, "/lib64", name);
        if (handle == NULL)
            handle = open_in(home, "/targets/x86_64-linux/lib", name);
    }
    for (size_t i = 0; handle == NULL && i < sizeof folders / sizeof *folders; i++)
        handle = open_in(folders[i], "", name);
    return handle;
}

static void *open_any(void)
{
    const char *chosen = getenv("ASSAY_CUBLASLT");
    void *handle = NULL;

    if (chosen != NULL && chosen[0] != '\0')
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle == NULL && i < sizeof names / sizeof *names; i++)
        handle = open_name(names[i]);
    return handle;
}

/* POSIX lets object pointers stand for functions here; C has no cast for it. */
static bool take(void *handle, const char *name, void *slot)
{
    void *symbol = dlsym(handle, name);

    if (symbol == NULL)
        snprintf(opened.reason, sizeof opened.reason, "cuBLASLt has no %s", name);
    else
        memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool load(void)
{
    void *handle = open_any();

    if (handle == NULL) {
        const char *why = dlerror();
        snprintf(opened.reason, sizeof opened.reason,
                 "cuBLASLt: %.900s; install it or set ASSAY_CUBLASLT",
                 why != NULL ? why : "not found");
        return false;
    }
#define X(name)                                                \
    if (!take(handle, "cublasLt" #name, &opened.library.name)) \
        return false;
    CUDA_BLASLT_CALLS(X)
#undef X
    return true;
}

const cuda_blaslt_library *cuda_blaslt_open(const char **why)
{
    pthread_mutex_lock(&opened.lock);
    if (!opened.is_known) {
        opened.is_usable = load();
        opened.is_known = true;
    }
    pthread_mutex_unlock(&opened.lock);
    if (why != NULL)
        *why = opened.reason;
    return opened.is_usable ? &opened.library : NULL;
}

/* ---- identity ----------------------------------------------------------------------------------
 */

/* Variables by which the library takes other arithmetic. */
static const char *const variables[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY"};

static bool append(char *buf, size_t cap, size_t *used, const char *key, const char *value)
{
    int length =
        snprintf(buf + *used, cap - *used, "%s=%.*s\n", key, (int)strcspn(value, "\n"), value);

    if (length < 0 || (size_t)length >= cap - *used)
        return false;
    *used += (size_t)length;
    return true;
}

static bool describe(const assay__elf_id *id, size_t workspace, char *buf, size_t cap)
{
    char version[32], bytes[32];
    size_t used = 0;
    bool fits = cap > 0;

    snprintf(version, sizeof version, "%zu", opened.library.GetVersion());
    snprintf(bytes, sizeof bytes, "%zu", workspace);
    fits =
        fits && append(buf, cap, &used, "soname", id->soname) &&
        append(buf, cap, &used, "version", version) &&
        append(buf, cap, &used, "build_id", id->build_id[0] != '\0' ? id->build_id : "unknown") &&
        append(buf, cap, &used, "workspace", bytes);
    for (size_t i = 0; fits && i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        fits = append(buf, cap, &used, variables[i], value != NULL ? value : "unset");
    }
    return fits;
}

assay_status cuda_blaslt_describe(const assay_instance *instance, size_t workspace, char *buf,
                                  size_t cap)
{
    const void *address;
    assay__elf_id id;

    memcpy(&address, &opened.library.GetVersion, sizeof address);
    if (assay__elf_id_of_address(address, &id) != ASSAY_OK)
        return cuda_fail(instance, ASSAY_UNAVAILABLE, "cuBLASLt: its file cannot be read");
    if (!describe(&id, workspace, buf, cap))
        return cuda_fail(instance, ASSAY_OVERFLOW, "identity of %s exceeds %zu bytes", id.soname,
                         cap);
    return ASSAY_OK;
}

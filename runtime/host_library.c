/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_library.c -- identity of a shared library that is loaded in this process. */
#include "runtime/host_backend.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_id.h"

static bool of_c_library(const char *soname)
{
    return strcmp(soname, "libm.so.6") == 0 || strcmp(soname, "libmvec.so.1") == 0 ||
           strcmp(soname, "libc.so.6") == 0;
}

/* What follows ".so." in the name of the file itself; "unknown" where nothing does. */
void assay__host_file_version(const char *path, char *version, size_t cap)
{
    char real[PATH_MAX];
    const char *tail = realpath(path, real) != NULL ? strstr(real, ".so.") : NULL;

    snprintf(version, cap, "%.60s", tail != NULL ? tail + 4 : "unknown");
}

static assay_status write_identity(const assay_instance *instance, const assay__elf_id *id,
                                   const char *key, const char *version, char *buf, size_t cap)
{
    int length = snprintf(buf, cap, "soname=%s\n%s=%s\nbuild_id=%s\n", id->soname, key, version,
                          id->build_id[0] != '\0' ? id->build_id : "unknown");

    if (length < 0 || (size_t)length >= cap)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "identity of %s needs %d bytes",
                                id->soname, length + 1);
    return ASSAY_OK;
}

assay_status assay__host_library_identity(assay_instance *instance, const char *library, char *buf,
                                          size_t cap)
{
    assay__elf_id id;
    struct link_map *map = NULL;
    char version[64] = "unknown";
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);

    if (handle != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
        assay__host_file_version(map->l_name, version, sizeof version);
    if (handle != NULL)
        dlclose(handle);
    if (assay__elf_id_of_loaded(library, &id) != ASSAY_OK)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "library %s is not loaded", library);
    if (of_c_library(library))
        return write_identity(instance, &id, "version", gnu_get_libc_version(), buf, cap);
    return write_identity(instance, &id, "file_version", version, buf, cap);
}

assay_status assay__host_library_at(const assay_instance *instance, const void *address, char *buf,
                                    size_t cap)
{
    const char *file = assay__elf_file_of_address(address);
    assay__elf_id id;
    char version[64];

    if (file == NULL || assay__elf_id_of_address(address, &id) != ASSAY_OK)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "no library at %p", address);
    assay__host_file_version(file, version, sizeof version);
    return write_identity(instance, &id, "file_version", version, buf, cap);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_opened.c -- finds, opens and identifies the library of a plug-in. */
#include "runtime/host_opened.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/elf_id.h"
#include "runtime/host_backend.h"

typedef struct opening {
    const assay__opened_spec *spec;
    void *handle;
    const char *file; /* the loader's name of it */
    char *reason;
    size_t cap;
} opening;

/* A bundle has its own copies in libs/ beside the plug-ins, so that the same library answers on
 * every machine that it is put on.  By the SONAME, which is the last of the places. */
static void open_bundled(opening *o)
{
    static const char here;
    const char *own = assay__elf_file_of_address(&here),
               *slash = strrchr(own != NULL ? own : "", '/');
    const char *const *soname = o->spec->places;
    char path[PATH_MAX];

    while (soname[0] != NULL && soname[1] != NULL)
        soname++;
    if (slash == NULL || *soname == NULL ||
        snprintf(path, sizeof path, "%.*s/libs/%s", (int)(slash - own), own, *soname) >=
            (int)sizeof path ||
        access(path, R_OK) != 0)
        return;
    o->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void open_first(opening *o)
{
    const char *chosen = getenv(o->spec->variable);

    if (chosen != NULL && chosen[0] != '\0') {
        o->handle = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        if (o->handle == NULL)
            snprintf(o->reason, o->cap, "%s: %.900s", o->spec->variable, dlerror());
        return;
    }
    open_bundled(o);
    if (o->handle != NULL)
        return;
    for (const char *const *place = o->spec->places; *place != NULL; place++) {
        o->handle = dlopen(*place, RTLD_NOW | RTLD_LOCAL);
        if (o->handle != NULL)
            return;
    }
    /* The last place is the SONAME: its text says what is missing, a library of it included. */
    snprintf(o->reason, o->cap, "%.500s; install %s or set %s", dlerror(), o->spec->package,
             o->spec->variable);
}

/* One object has one name in the loader, whose address tells it from all others. */
static bool in_file(const void *symbol, const char *file)
{
    return assay__elf_file_of_address(symbol) == file;
}

/* POSIX lets object pointers stand for functions here; C has no cast for it. */
static bool take(const opening *o, const char *name, void *slot)
{
    void *symbol = dlsym(o->handle, name);

    if (symbol == NULL) {
        snprintf(o->reason, o->cap, "%.800s has no %s", o->file, name);
        return false;
    }
    if (!in_file(symbol, o->file)) {
        snprintf(o->reason, o->cap, "%s is not from %.800s: another library shadows it", name,
                 o->file);
        return false;
    }
    /* The library's own calls look in the global scope first. */
    const void *global = dlsym(RTLD_DEFAULT, name);
    if (global != NULL && !in_file(global, o->file)) {
        snprintf(o->reason, o->cap, "%s is loaded globally and would shadow that of %.800s", name,
                 o->file);
        return false;
    }
    memcpy(slot, &symbol, sizeof symbol);
    return true;
}

static bool load(const assay__opened_spec *spec, void *table, char *reason, size_t cap)
{
    opening o = {.spec = spec, .reason = reason, .cap = cap};
    struct link_map *map = NULL;

    assert(spec->symbol_count > 0);
    open_first(&o);
    if (o.handle == NULL)
        return false;
    if (dlinfo(o.handle, RTLD_DI_LINKMAP, &map) != 0 || map == NULL) {
        snprintf(reason, cap, "the loader does not say where %s came from", spec->title);
        return false;
    }
    o.file = map->l_name;
    for (size_t i = 0; i < spec->symbol_count; i++)
        if (!take(&o, spec->symbols[i].name, (char *)table + spec->symbols[i].slot))
            return false;
    return true;
}

const void *assay__opened_get(assay__opened *opened, const char **why)
{
    if (!atomic_load_explicit(&opened->is_known, memory_order_acquire)) {
        pthread_mutex_lock(&opened->lock);
        if (!atomic_load_explicit(&opened->is_known, memory_order_relaxed)) {
            const size_t cap = sizeof opened->reason;
            opened->is_usable = load(opened->spec, opened->table, opened->reason, cap) &&
                                (opened->settle == NULL || opened->settle(opened->reason, cap));
            atomic_store_explicit(&opened->is_known, true, memory_order_release);
        }
        pthread_mutex_unlock(&opened->lock);
    }
    if (why != NULL)
        *why = opened->reason;
    return opened->is_usable ? opened->table : NULL;
}

assay_status assay__opened_identity(const assay_instance *instance, const void *address,
                                    const char *version, const char *more, char *buf, size_t cap)
{
    char file_version[64];
    const char *file = assay__elf_file_of_address(address);
    assay__elf_id id;

    if (file == NULL || assay__elf_id_of_address(address, &id) != ASSAY_OK)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "the library's file cannot be read");
    if (version == NULL)
        assay__host_file_version(file, file_version, sizeof file_version);
    int length = snprintf(buf, cap, "soname=%s\n%s=%s\nbuild_id=%s\n%s", id.soname,
                          version != NULL ? "version" : "file_version",
                          version != NULL ? version : file_version,
                          id.build_id[0] != '\0' ? id.build_id : "unknown", more);
    if (length < 0 || (size_t)length >= cap)
        return assay__host_fail(instance, ASSAY_OVERFLOW, "identity of %s needs %d bytes",
                                id.soname, length + 1);
    return ASSAY_OK;
}

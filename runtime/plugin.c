/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/plugin.c -- finding plug-ins and reading their manifests. */
#include "assay/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/doing.h"
#include "runtime/error.h"
#include "runtime/plugin_set.h"
#include "runtime/table_internal.h"

struct assay__plugins {
    assay__plugin *items;
    size_t count, cap;
    const char *wanted;                   /* borrowed during loading: comma list or NULL */
    const assay__plugin_refusal *refused; /* the same: files that are not opened */
    size_t refused_count;
    dev_t seen_devices[16]; /* folders read, so that one reached by two names is read once */
    ino_t seen_inodes[16];
    size_t seen_count;
    char searched[512]; /* folders and files of the search, for who did not find what he wanted */
};

bool assay__name_in_list(const char *list, const char *name)
{
    size_t length = strlen(name);

    while (list != NULL && *list != '\0') {
        size_t item = strcspn(list, ",");
        if (item == length && memcmp(list, name, length) == 0)
            return true;
        list += item + (list[item] == ',');
    }
    return false;
}

/* ---- one file ---- */

static assay__plugin *add_item(assay__plugins *set, const char *path)
{
    assay__plugin *item;

    if (set->count == set->cap) {
        size_t cap = set->cap > 0 ? set->cap * 2 : 8;
        assay__plugin *items = realloc(set->items, cap * sizeof *items);
        if (items == NULL)
            return NULL;
        set->items = items;
        set->cap = cap;
    }
    item = &set->items[set->count];
    memset(item, 0, sizeof *item);
    item->path = strdup(path);
    if (item->path == NULL)
        return NULL;
    set->count++;
    return item;
}

void assay__plugin_refuse(assay__plugin *item, assay_status status)
{
    item->status = status;
    item->manifest = NULL;
    assay__text_fit(assay_last_error(), item->reason, sizeof item->reason);
}

/* "cpu" of ".../assay_cpu.so"; false for files named otherwise. */
static bool name_of_file(const char *path, char *name, size_t cap)
{
    const char *base = strrchr(path, '/');
    size_t length;

    base = base != NULL ? base + 1 : path;
    length = strlen(base);
    if (strncmp(base, "assay_", 6) != 0 || length < 6 + 1 + 3 || length - 9 >= cap)
        return false;
    memcpy(name, base + 6, length - 9);
    name[length - 9] = '\0';
    return true;
}

static assay_status check_name(const assay_manifest *m, const char *path)
{
    char expected[64];

    if (m->name == NULL || m->name[0] == '\0' || strlen(m->name) > ASSAY__BACKEND_NAME_MAX ||
        m->name[strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return assay__fail(ASSAY_ABI, "its backend name '%.40s' is not 1 to %d of [a-z0-9_]",
                           m->name != NULL ? m->name : "", ASSAY__BACKEND_NAME_MAX);
    if (name_of_file(path, expected, sizeof expected) && strcmp(expected, m->name) != 0)
        return assay__fail(ASSAY_ABI, "its backend name is '%s'; the file name says '%s'", m->name,
                           expected);
    return ASSAY_OK;
}

static assay_status check_manifest(const assay_manifest *m, const char *path)
{
    if (m->abi_version != ASSAY_PLUGIN_ABI)
        return assay__fail(ASSAY_ABI,
                           "is built for plug-in ABI %u, this library has %u; rebuild it",
                           m->abi_version, ASSAY_PLUGIN_ABI);
    ASSAY_TRY(assay__manifest_check(m));
    return check_name(m, path);
}

static assay_status check_refused(const assay__plugins *set, const char *path)
{
    for (size_t i = 0; i < set->refused_count; i++)
        if (strcmp(set->refused[i].path, path) == 0)
            return assay__fail(ASSAY_UNAVAILABLE, "%s", set->refused[i].reason);
    return ASSAY_OK;
}

static assay_status open_file(const assay__plugins *set, const char *path,
                              const assay_manifest **out)
{
    void *handle;
    const assay_manifest *m;

    ASSAY_TRY(check_refused(set, path));
    ASSAY_TRY(assay__plugin_check_file(path));
    assay__doing_begin(ASSAY__DOING_LOAD, path, "");
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    assay__doing_end();
    if (handle == NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "cannot be loaded: %s", dlerror());
    m = dlsym(handle, ASSAY_PLUGIN_SYMBOL);
    if (m == NULL)
        return assay__fail(ASSAY_ABI, "is no plug-in: it has no symbol %s", ASSAY_PLUGIN_SYMBOL);
    ASSAY_TRY(check_manifest(m, path));
    return assay__manifest_adopt(m, out);
}

static assay_status load_file(assay__plugins *set, const char *path)
{
    char name[64];
    const assay_manifest *m = NULL;
    const assay__plugin *twin;
    assay__backend backend;
    assay__plugin *item;
    assay_status status;

    if (set->wanted != NULL && name_of_file(path, name, sizeof name) &&
        !assay__name_in_list(set->wanted, name))
        return ASSAY_OK;
    status = open_file(set, path, &m);
    if (status == ASSAY_OK && set->wanted != NULL && !assay__name_in_list(set->wanted, m->name))
        return ASSAY_OK;
    if (status == ASSAY_OK)
        status = assay__backend_init(m->backend, &backend);
    twin = status == ASSAY_OK ? assay__plugins_find(set, m->name) : NULL;
    if (twin != NULL)
        status = assay__fail(ASSAY_INVALID, "backend '%s' is already loaded from %.150s", m->name,
                             twin->path);
    item = add_item(set, path);
    if (item == NULL)
        return assay__fail(ASSAY_NOMEM, "plug-ins: no memory");
    if (status != ASSAY_OK) {
        item->is_twin = twin != NULL;
        assay__plugin_refuse(item, status);
        return ASSAY_OK;
    }
    item->manifest = m;
    item->backend = backend;
    return ASSAY_OK;
}

/* ---- folders ---- */

static int is_shared_object(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static bool seen_before(assay__plugins *set, const struct stat *info)
{
    for (size_t i = 0; i < set->seen_count; i++)
        if (set->seen_devices[i] == info->st_dev && set->seen_inodes[i] == info->st_ino)
            return true;
    if (set->seen_count < sizeof set->seen_inodes / sizeof set->seen_inodes[0]) {
        set->seen_devices[set->seen_count] = info->st_dev;
        set->seen_inodes[set->seen_count++] = info->st_ino;
    }
    return false;
}

static assay_status load_folder(assay__plugins *set, const char *folder)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX];
    assay_status status = ASSAY_OK;
    int count = scandir(folder, &entries, is_shared_object, alphasort);

    for (int i = 0; i < count; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == ASSAY_OK && n > 0 && (size_t)n < sizeof path)
            status = load_file(set, path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static void note_searched(assay__plugins *set, const char *entry, bool is_readable)
{
    const size_t used = strlen(set->searched);

    (void)snprintf(set->searched + used, sizeof set->searched - used, "%s%.160s%s",
                   used > 0 ? ", " : "", entry, is_readable ? "" : " (cannot be read)");
}

/* One entry of a search path. A default folder may be absent; one that the user names may not. */
static assay_status load_entry(assay__plugins *set, const char *entry, bool is_default)
{
    struct stat info;
    assay__plugin *item;

    if (stat(entry, &info) == 0) {
        /* Beside the program `assay` the default folder's name is the program's own. */
        if (is_default && !S_ISDIR(info.st_mode))
            return ASSAY_OK;
        note_searched(set, entry, true);
        if (!S_ISDIR(info.st_mode))
            return load_file(set, entry);
        return seen_before(set, &info) ? ASSAY_OK : load_folder(set, entry);
    }
    if (is_default)
        return ASSAY_OK;
    (void)assay__fail(ASSAY_UNAVAILABLE, "cannot be read: %s", strerror(errno));
    note_searched(set, entry, false);
    item = add_item(set, entry);
    if (item == NULL)
        return assay__fail(ASSAY_NOMEM, "plug-ins: no memory");
    assay__plugin_refuse(item, ASSAY_UNAVAILABLE);
    return ASSAY_OK;
}

static assay_status load_list(assay__plugins *set, const char *list)
{
    char entry[PATH_MAX];

    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (length > 0 && length < sizeof entry) {
            memcpy(entry, list, length);
            entry[length] = '\0';
            ASSAY_TRY(load_entry(set, entry, false));
        }
        list += length + (list[length] == ':');
    }
    return ASSAY_OK;
}

/* Folder of the object that holds this code: libassay, or the program it is linked into. */
static bool own_folder(char *folder, size_t cap)
{
    static const int here;
    struct link_map *map = NULL;
    char file[PATH_MAX] = "", *slash;
    Dl_info info;

    if (dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return false;
    /* The program itself has no name in the link map, and argv[0] may be anything. */
    if (realpath(map != NULL && map->l_name[0] != '\0' ? map->l_name : "/proc/self/exe", file) ==
        NULL)
        return false;
    slash = strrchr(file, '/');
    if (slash == NULL || (size_t)(slash - file) >= cap)
        return false;
    *slash = '\0';
    memcpy(folder, file, (size_t)(slash - file) + 1);
    return true;
}

static assay_status load_default(assay__plugins *set)
{
    static const char *const beside[] = {"assay", "../lib/assay"};
    char folder[PATH_MAX], entry[PATH_MAX + 16];

    if (own_folder(folder, sizeof folder)) {
        for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
            (void)snprintf(entry, sizeof entry, "%s/%s", folder, beside[i]);
            ASSAY_TRY(load_entry(set, entry, true));
        }
    }
    return load_list(set, getenv("ASSAY_PLUGIN_PATH"));
}

/* ---- the set ---- */

static int item_order(const void *left, const void *right)
{
    const assay__plugin *a = left, *b = right;

    if ((a->manifest != NULL) != (b->manifest != NULL))
        return a->manifest != NULL ? -1 : 1;
    return a->manifest != NULL ? strcmp(a->manifest->name, b->manifest->name)
                               : strcmp(a->path, b->path);
}

static assay_status fail_wanted(const assay__plugins *set, const char *name)
{
    char file[64];

    for (size_t i = 0; i < set->count; i++) {
        const assay__plugin *item = &set->items[i];
        if (item->manifest == NULL && name_of_file(item->path, file, sizeof file) &&
            strcmp(file, name) == 0)
            return assay__fail(ASSAY_UNAVAILABLE, "backend '%s': %s %s", name, item->path,
                               item->reason);
    }
    return assay__fail(ASSAY_UNAVAILABLE,
                       "backend '%s' is not here: no assay_%s.so in %s; set ASSAY_PLUGIN_PATH, or "
                       "--plugins of a command, to the folder that holds it",
                       name, name, set->searched[0] != '\0' ? set->searched : "any folder");
}

static assay_status check_wanted(assay__plugins *set, const char *backends)
{
    char name[64];

    while (backends != NULL && *backends != '\0') {
        size_t length = strcspn(backends, ",");
        if (length >= sizeof name)
            return assay__fail(ASSAY_UNAVAILABLE, "no backend has a name of %zu bytes", length);
        memcpy(name, backends, length);
        name[length] = '\0';
        if (length > 0 && assay__plugins_find(set, name) == NULL)
            return fail_wanted(set, name);
        backends += length + (backends[length] == ',');
    }
    return ASSAY_OK;
}

assay_status assay__plugins_load(const char *path, const char *backends, assay__plugins **out)
{
    return assay__plugins_load_but(path, backends, NULL, 0, out);
}

assay_status assay__plugins_load_but(const char *path, const char *backends,
                                     const assay__plugin_refusal *refused, size_t count,
                                     assay__plugins **out)
{
    assay__plugins *set = calloc(1, sizeof *set);
    assay_status status;

    if (set == NULL)
        return assay__fail(ASSAY_NOMEM, "plug-ins: no memory");
    set->wanted = backends;
    set->refused = refused;
    set->refused_count = count;
    status = path != NULL ? load_list(set, path) : load_default(set);
    if (status == ASSAY_OK && set->count > 1)
        qsort(set->items, set->count, sizeof *set->items, item_order);
    if (status == ASSAY_OK)
        status = check_wanted(set, backends);
    set->wanted = NULL;
    set->refused = NULL;
    set->refused_count = 0;
    if (status != ASSAY_OK) {
        assay__plugins_destroy(&set);
        return status;
    }
    *out = set;
    return ASSAY_OK;
}

assay_status assay__plugin_open(assay__plugin *plugin)
{
    assay_status status;

    assay__doing_begin(ASSAY__DOING_OPEN, plugin->path, "");
    status = assay__backend_open(&plugin->backend);
    assay__doing_end();
    return status;
}

assay_status assay__plugin_identify(assay__plugin *plugin, const char *library, char *buf,
                                    size_t cap)
{
    assay_status status;

    ASSAY_TRY(assay__plugin_open(plugin));
    assay__doing_begin(ASSAY__DOING_IDENTIFY, plugin->path, library);
    status = assay__backend_library_identity(&plugin->backend, library, buf, cap);
    assay__doing_end();
    return status;
}

/* Is the plug-in file `path` the entry itself, or does it lie in the entry's folder? */
static bool is_of_entry(const char *path, const char *entry, size_t length)
{
    return strncmp(path, entry, length) == 0 &&
           (path[length] == '\0' ||
            (path[length] == '/' && strchr(path + length + 1, '/') == NULL));
}

static assay_status check_entry(assay__plugins *set, const char *entry, size_t length)
{
    const assay__plugin *bad = NULL;
    struct dirent **files = NULL;
    char folder[PATH_MAX];
    int count;

    for (size_t i = 0; i < set->count; i++) {
        const assay__plugin *item = &set->items[i];
        if (!is_of_entry(item->path, entry, length))
            continue;
        /* A folder whose backends an earlier one gave has nothing wrong; a file was meant itself.
         */
        if (item->manifest != NULL || (item->is_twin && item->path[length] == '/'))
            return ASSAY_OK;
        bad = bad != NULL ? bad : item;
    }
    if (bad != NULL)
        return assay__fail(ASSAY_UNAVAILABLE, "no usable plug-in: %s: %s", bad->path, bad->reason);
    /* One whose files a list of backends left out, or that was read by another name, is fine. */
    (void)snprintf(folder, sizeof folder, "%.*s", (int)length, entry);
    count = scandir(folder, &files, is_shared_object, NULL);
    for (int i = 0; i < count; i++)
        free(files[i]);
    free(files);
    return count == 0 ? assay__fail(ASSAY_UNAVAILABLE,
                                    "no usable plug-in: %s: a folder without files *.so", folder)
                      : ASSAY_OK;
}

assay_status assay__plugins_check(assay__plugins *set, const char *path)
{
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        if (length >= PATH_MAX)
            return assay__fail(ASSAY_UNAVAILABLE, "no plug-in has a path of %zu bytes", length);
        if (length > 0)
            ASSAY_TRY(check_entry(set, path, length));
        path += length + (path[length] == ':');
    }
    return ASSAY_OK;
}

void assay__plugins_destroy(assay__plugins **plugins)
{
    assay__plugins *set;

    if (plugins == NULL || *plugins == NULL)
        return;
    set = *plugins;
    for (size_t i = 0; i < set->count; i++) {
        assay__backend_close(&set->items[i].backend);
        free(set->items[i].path);
    }
    free(set->items);
    free(set);
    *plugins = NULL;
}

size_t assay__plugins_count(const assay__plugins *plugins)
{
    return plugins->count;
}

assay__plugin *assay__plugins_at(assay__plugins *plugins, size_t index)
{
    return index < plugins->count ? &plugins->items[index] : NULL;
}

assay__plugin *assay__plugins_find(assay__plugins *plugins, const char *backend)
{
    for (size_t i = 0; i < plugins->count; i++)
        if (plugins->items[i].manifest != NULL &&
            strcmp(plugins->items[i].manifest->name, backend) == 0)
            return &plugins->items[i];
    return NULL;
}

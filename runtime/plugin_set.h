/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/plugin_set.h -- finds, opens and checks plug-ins, and turns manifests into bindings.
 *
 * One that cannot be used is kept with its status and reason, so that a list of backends can say
 * why; it never keeps the others from loading.  What is found in which order decides nothing:
 * the set is sorted by backend name. */
#ifndef ASSAY_RUNTIME_PLUGIN_SET_H
#define ASSAY_RUNTIME_PLUGIN_SET_H

#include "assay/table.h"
#include "runtime/backend_slots.h"

typedef struct assay__plugin {
    char *path;                     /* owned; the file, or the folder that cannot be read */
    assay_status status;            /* OK: usable */
    char reason[256];               /* "" when usable */
    bool is_twin;                   /* not usable only because its backend came from another file */
    const assay_manifest *manifest; /* NULL unless usable; never unloaded */
    assay__backend backend;         /* closed until somebody needs it */
} assay__plugin;

typedef struct assay__plugins assay__plugins;

typedef struct assay__plugin_refusal {
    const char *path, *reason; /* borrowed */
} assay__plugin_refusal;

/* path      colon list of folders or files; NULL: <folder of libassay or the program>/assay,
 *           <that folder>/../lib/assay, then the colon list in $ASSAY_PLUGIN_PATH.
 * backends  comma list of names, NULL: all.  ASSAY_UNAVAILABLE when one of them is not there or
 *           not usable, with the reason.
 * Of two files for one backend name the first found counts; the other is kept with its reason. */
assay_status assay__plugins_load(const char *path, const char *backends, assay__plugins **out);
/* The same, but that files whose code ended or hung a process before are not opened: they are kept
 * as unusable for these reasons. */
assay_status assay__plugins_load_but(const char *path, const char *backends,
                                     const assay__plugin_refusal *refused, size_t count,
                                     assay__plugins **out);
/* For a path that the user asked for: ASSAY_UNAVAILABLE, with the reason, when one of its files is
 * no usable plug-in or one of its folders holds none.  NULL: nothing was asked for. */
assay_status assay__plugins_check(assay__plugins *plugins, const char *path);
/* Closes backends that are open; code stays loaded. */
void assay__plugins_destroy(assay__plugins **plugins);
size_t assay__plugins_count(const assay__plugins *plugins);
/* Usable ones by name, then the others by path. */
assay__plugin *assay__plugins_at(assay__plugins *plugins, size_t index);
/* NULL when no usable plug-in has this backend name. */
assay__plugin *assay__plugins_find(assay__plugins *plugins, const char *backend);

/* Opens the backend, which may be open already, and asks it for the identity of a library; a note
 * of both is kept, see doing.h. */
assay_status assay__plugin_open(assay__plugin *plugin);
assay_status assay__plugin_identify(assay__plugin *plugin, const char *library, char *buf,
                                    size_t cap);

/* ASSAY_ABI unless the structs of a manifest are as long as those of a version of plugin.h up to
 * this one. */
assay_status assay__manifest_check(const assay_manifest *manifest);
/* The manifest itself, or a copy of one that knows fewer fields, where the others are 0; it lasts
 * as long as the process. */
assay_status assay__manifest_adopt(const assay_manifest *from, const assay_manifest **out);
/* The plug-in's own, which lies in its file. */
const assay_manifest *assay__manifest_origin(const assay_manifest *manifest);

/* Kernel number `index`; rows lie struct_size apart. */
const assay_kernel_desc *assay__manifest_kernel(const assay_manifest *manifest, size_t index);

/* Fills a row from its descriptor.  isa: usable instruction sets, one space between; NULL: not
 * asked.  A missing instruction set or library gives available 0 and a reason, not a failure.
 * Kernels that name libraries open the backend. */
assay_status assay__plugin_binding(assay__plugin *plugin, const assay_kernel_desc *desc,
                                   const char *isa, assay_binding *out);
/* Adds all kernels of all usable plug-ins.  One with a broken row becomes unusable and adds none.
 * ops: comma list; rows of others are left closed: they keep their place, but are not available and
 * have no revision.  NULL: all. */
assay_status assay__plugins_register(assay__plugins *plugins, const char *isa, const char *ops,
                                     assay_table *table);

/* Is `name` one of the names in a comma list? */
bool assay__name_in_list(const char *list, const char *name);
/* ASSAY_ABI unless `path` is a whole shared object of this machine; opening a cut one would kill
 * the process. */
assay_status assay__plugin_check_file(const char *path);
/* Makes a plug-in unusable for the reason in assay_last_error(). */
void assay__plugin_refuse(assay__plugin *plugin, assay_status status);

#endif

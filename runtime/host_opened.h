/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_opened.h -- a library of others that a plug-in opens at run time by its full path.
 *
 * Never linked and never made global: with two BLAS libraries in one process, over a hundred names
 * of one would bind to the other.  What was opened must own every symbol that is called, and no
 * symbol of that name may be visible to all, because the library's own calls would go there. */
#ifndef ASSAY_RUNTIME_HOST_OPENED_H
#define ASSAY_RUNTIME_HOST_OPENED_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "assay/plugin.h"

typedef struct assay__opened_symbol {
    const char *name;
    size_t slot; /* offset of the function pointer in the table */
} assay__opened_symbol;

typedef struct assay__opened_spec {
    const char *title;    /* as people know it: "OpenBLAS" */
    const char *variable; /* environment: a path that replaces `places` */
    const char *package;  /* Debian's, for the reason when absent */
    const char *const
        *places; /* tried in order: full paths, then a SONAME; NULL-terminated;
                    before them libs/SONAME beside the plug-in, where a bundle has it */
    const assay__opened_symbol *symbols;
    size_t symbol_count;
} assay__opened_spec;

/* A library that is opened once, when somebody first asks, and never closed. */
typedef struct assay__opened {
    const assay__opened_spec *spec;
    void *table; /* whose function pointers are filled */
    /* What is left to look at and to set; false: not usable, with the reason.  NULL: nothing. */
    bool (*settle)(char *reason, size_t cap);
    pthread_mutex_t lock;
    atomic_bool is_known;
    bool is_usable;
    char reason[PATH_MAX + 256];
} assay__opened;
#define ASSAY__OPENED(spec_, table_, settle_)                                                      \
    {                                                                                              \
        .spec = (spec_), .table = (table_), .settle = (settle_), .lock = PTHREAD_MUTEX_INITIALIZER \
    }

/* The table; NULL when the library is not usable.  why: NULL, or where the reason is left, a text
 * that stays. */
const void *assay__opened_get(assay__opened *opened, const char **why);

/* "soname=, version=, build_id=" of the file that `address` lies in, then `more`, which holds
 * whole "key=value\n" lines.  version NULL: file_version in its place, what follows ".so." in the
 * file's name. */
assay_status assay__opened_identity(const assay_instance *instance, const void *address,
                                    const char *version, const char *more, char *buf, size_t cap);

#endif

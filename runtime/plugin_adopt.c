/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/plugin_adopt.c -- manifests of plug-ins that were built with an older header.
 *
 * Structures grow at their end, and what a plug-in does not know has the meaning of zeros.  So that
 * nobody has to ask how long a row is, shorter ones are copied into whole ones.  Rows of bindings
 * point there, and plug-ins are never unloaded: nor are the copies. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/plugin_set.h"

typedef struct adopted {
    struct adopted *next;
    const assay_manifest *from;
    assay_manifest manifest;
    assay_kernel_desc rows[];
} adopted;

static adopted *all; /* owned; reachable for as long as the process lives */
static pthread_mutex_t adopting = PTHREAD_MUTEX_INITIALIZER;

/* Where the fields end that were added one after another; the first is what any plug-in has. */
static const size_t row_ends[] = {offsetof(assay_kernel_desc, error_tile),
                                  offsetof(assay_kernel_desc, error_factor),
                                  sizeof(assay_kernel_desc)};
static const size_t manifest_ends[] = {offsetof(assay_manifest, oracles),
                                       offsetof(assay_manifest, explicit_only),
                                       sizeof(assay_manifest)};
#define ENDS 3

/* Bytes of whole fields. */
static size_t known_bytes(const size_t *ends, size_t struct_size)
{
    size_t i = ENDS - 1;

    while (i > 0 && ends[i] > struct_size)
        i--;
    return ends[i];
}

static assay_status check_size(const char *what, const size_t *ends, size_t struct_size)
{
    if (struct_size < ends[0])
        return assay__fail(ASSAY_ABI, "%s struct_size %zu, at least %zu is needed; rebuild it",
                           what, struct_size, ends[0]);
    if (struct_size > ends[ENDS - 1])
        return assay__fail(
            ASSAY_ABI,
            "%s struct_size %zu, this version of Assay knows %zu: it was built for a "
            "newer one, which may mean what this one does not see; install that, or "
            "rebuild it",
            what, struct_size, ends[ENDS - 1]);
    return ASSAY_OK;
}

static assay_status check_rows(const assay_manifest *m)
{
    if (m->kernel_count == 0)
        return ASSAY_OK;
    if (m->kernels == NULL)
        return assay__fail(ASSAY_ABI, "its manifest counts %zu kernels and lists none",
                           m->kernel_count);
    ASSAY_TRY(check_size("its kernel rows have", row_ends, m->kernels[0].struct_size));
    if (m->kernels[0].struct_size % _Alignof(assay_kernel_desc) != 0)
        return assay__fail(ASSAY_ABI, "its kernel rows have struct_size %u, no multiple of %zu",
                           m->kernels[0].struct_size, _Alignof(assay_kernel_desc));
    for (size_t i = 1; i < m->kernel_count; i++)
        if (assay__manifest_kernel(m, i)->struct_size != m->kernels[0].struct_size)
            return assay__fail(ASSAY_ABI, "kernel row %zu has struct_size %u, row 0 has %u", i,
                               assay__manifest_kernel(m, i)->struct_size,
                               m->kernels[0].struct_size);
    return ASSAY_OK;
}

assay_status assay__manifest_check(const assay_manifest *m)
{
    ASSAY_TRY(check_size("its manifest has", manifest_ends, m->struct_size));
    return check_rows(m);
}

static void copy(const assay_manifest *from, adopted *out)
{
    memcpy(&out->manifest, from, known_bytes(manifest_ends, from->struct_size));
    out->from = from;
    out->manifest.struct_size = sizeof out->manifest;
    out->manifest.kernels = out->rows;
    for (size_t i = 0; i < from->kernel_count; i++) {
        const assay_kernel_desc *row = assay__manifest_kernel(from, i);
        memcpy(&out->rows[i], row, known_bytes(row_ends, row->struct_size));
        out->rows[i].struct_size = sizeof out->rows[i];
    }
}

/* With `adopting` held. */
static adopted *find_or_make(const assay_manifest *from)
{
    adopted *a = all;

    while (a != NULL && a->from != from)
        a = a->next;
    if (a != NULL)
        return a;
    a = calloc(1, sizeof *a + from->kernel_count * sizeof a->rows[0]);
    if (a == NULL)
        return NULL;
    copy(from, a);
    a->next = all;
    all = a;
    return a;
}

assay_status assay__manifest_adopt(const assay_manifest *from, const assay_manifest **out)
{
    adopted *a;

    if (from->struct_size == sizeof *from &&
        (from->kernel_count == 0 || from->kernels[0].struct_size == sizeof(assay_kernel_desc))) {
        *out = from;
        return ASSAY_OK;
    }
    pthread_mutex_lock(&adopting);
    a = find_or_make(from);
    pthread_mutex_unlock(&adopting);
    if (a == NULL)
        return assay__fail(ASSAY_NOMEM, "plug-ins: no memory for %zu rows", from->kernel_count);
    *out = &a->manifest;
    return ASSAY_OK;
}

const assay_manifest *assay__manifest_origin(const assay_manifest *manifest)
{
    const assay_manifest *from = manifest;

    pthread_mutex_lock(&adopting);
    for (const adopted *a = all; a != NULL; a = a->next)
        if (manifest == &a->manifest)
            from = a->from;
    pthread_mutex_unlock(&adopting);
    return from;
}

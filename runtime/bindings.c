/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/bindings.c -- rows of the kernel table from the manifests of plug-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_id.h"
#include "runtime/error.h"
#include "runtime/plugin_set.h"
#include "runtime/revision.h"
#include "runtime/table_internal.h"

#define SOURCES_MAX   64 /* a kernel family lists a handful */
#define LIBRARIES_MAX 4
#define IDENTITY_MAX  2048
#define ANSWERS_MAX   8 /* a backend names one to six libraries, in up to hundreds of rows */

const assay_kernel_desc *assay__manifest_kernel(const assay_manifest *manifest, size_t index)
{
    const char *rows = (const char *)manifest->kernels;

    return (const assay_kernel_desc *)(const void *)(rows + index * manifest->kernels->struct_size);
}

/* What the parts of one revision point into. */
typedef struct parts {
    assay_digest code[SOURCES_MAX];
    size_t code_count;
    assay__elf_id object; /* of a binary plug-in */
    assay__revision_library libraries[LIBRARIES_MAX];
    size_t library_count;
    char identities[LIBRARIES_MAX][IDENTITY_MAX];
} parts;

static assay_status collect_code(const assay_manifest *m, const assay_kernel_desc *desc, parts *p)
{
    p->code_count = 0;
    p->object.build_id[0] = '\0';
    if (m->sources == NULL) {
        if (assay__elf_id_of_address(assay__manifest_origin(m), &p->object) != ASSAY_OK ||
            p->object.build_id[0] == '\0')
            return assay__fail(ASSAY_ABI, "it has neither source hashes nor a GNU build-id; "
                                          "link it with -Wl,--build-id");
        return ASSAY_OK;
    }
    for (const char *const *path = desc->sources; path != NULL && *path != NULL; path++) {
        size_t i = 0;
        while (i < m->source_count && strcmp(m->sources[i].path, *path) != 0)
            i++;
        if (i == m->source_count || p->code_count == SOURCES_MAX)
            return assay__fail(ASSAY_INVALID, "field sources: '%s' %s", *path,
                               i == m->source_count ? "is not in the table of source hashes"
                                                    : "is one file too many");
        p->code[p->code_count++] = m->sources[i].digest;
    }
    return ASSAY_OK;
}

/* What a backend said of its libraries while its rows were made: each is asked once. */
typedef struct answers {
    struct {
        const char *name;
        assay_status status;
        char text[IDENTITY_MAX]; /* identity, or why there is none */
    } items[ANSWERS_MAX];
    size_t count;
} answers;

/* Writes the identity into `text`, of IDENTITY_MAX bytes. */
static assay_status identify(assay__plugin *plugin, const char *name, answers *known, char *text)
{
    size_t i = 0;

    while (i < known->count && strcmp(known->items[i].name, name) != 0)
        i++;
    if (i == ANSWERS_MAX)
        return assay__plugin_identify(plugin, name, text, IDENTITY_MAX);
    if (i == known->count) {
        known->items[i].name = name;
        known->items[i].status =
            assay__plugin_identify(plugin, name, known->items[i].text, IDENTITY_MAX);
        if (known->items[i].status != ASSAY_OK)
            (void)snprintf(known->items[i].text, IDENTITY_MAX, "%s", assay_last_error());
        known->count++;
    }
    memcpy(text, known->items[i].text, strlen(known->items[i].text) + 1);
    return known->items[i].status == ASSAY_OK ? ASSAY_OK
                                              : assay__fail(known->items[i].status, "%s", text);
}

/* UNAVAILABLE and its like mean that the kernel cannot run here. */
static assay_status collect_libraries(assay__plugin *plugin, const assay_kernel_desc *desc,
                                      answers *known, parts *p)
{
    char identity[IDENTITY_MAX];

    p->library_count = 0;
    for (const char *const *name = desc->libraries; name != NULL && *name != NULL; name++) {
        if (p->library_count == LIBRARIES_MAX)
            return assay__fail(ASSAY_INVALID, "field libraries: more than %d", LIBRARIES_MAX);
        ASSAY_TRY(identify(plugin, *name, known, identity));
        ASSAY_TRY(assay__revision_library_parse(identity, p->identities[p->library_count],
                                                IDENTITY_MAX, &p->libraries[p->library_count]));
        p->library_count++;
    }
    return ASSAY_OK;
}

static size_t tuple_text(const assay_kernel_desc *desc, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < desc->dtype_count && i < ASSAY_MAX_OPERANDS && used < cap; i++) {
        const char *name = assay_dtype_name((assay_dtype)desc->dtypes[i]);
        int n = snprintf(buf + used, cap - used, "%s%s", i ? "," : "", name != NULL ? name : "?");
        used += n > 0 ? (size_t)n : 0;
    }
    return used;
}

static assay_status compute_revision(const assay_manifest *m, const assay_kernel_desc *desc,
                                     const parts *p, assay_digest *out)
{
    char dtypes[96];
    const assay_op_info *info = assay_op_get(desc->op);
    const assay__revision_input in = {
        .code = p->code,
        .code_count = p->code_count,
        .build_id = p->object.build_id[0] != '\0' ? p->object.build_id : NULL,
        .libraries = p->libraries,
        .library_count = p->library_count,
        .compiler = m->compiler,
        .op = info != NULL ? info->name : NULL,
        .dtypes = dtypes,
        .backend = m->name,
        .kernel = desc->name,
        .entry_point = desc->entry_point,
        .abi_version = m->abi_version,
        .error_tile = desc->error_tile,
        .error_factor = desc->error_factor,
    };

    tuple_text(desc, dtypes, sizeof dtypes);
    return assay__revision_compute(&in, out);
}

/* First name of the comma list that is not in the space-separated one; "" when all are. */
static void missing_isa(const char *needs, const char *isa, char *name, size_t cap)
{
    char have[640], want[64];

    name[0] = '\0';
    (void)snprintf(have, sizeof have, " %s ", isa);
    while (needs != NULL && *needs != '\0') {
        size_t length = strcspn(needs, ",");
        (void)snprintf(want, sizeof want, " %.*s ", (int)length, needs);
        if (length > 0 && strstr(have, want) == NULL) {
            (void)snprintf(name, cap, "%.*s", (int)length, needs);
            return;
        }
        needs += length + (needs[length] == ',');
    }
}

static void set_unavailable(assay_binding *b, const char *text)
{
    b->available = 0;
    assay__text_fit(text, b->reason, sizeof b->reason);
}

/* What a row says of itself, before anything is looked up. */
static assay_binding bare_row(const assay_manifest *m, const assay_kernel_desc *desc)
{
    assay_binding b;

    memset(&b, 0, sizeof b);
    b.run = desc->run;
    b.desc = desc;
    b.manifest = m;
    b.op = (uint16_t)desc->op;
    b.dtype_count = desc->dtype_count;
    memcpy(b.dtypes, desc->dtypes, sizeof b.dtypes);
    b.default_rank = desc->default_rank;
    return b;
}

static assay_status make_row(assay__plugin *plugin, const assay_kernel_desc *desc, const char *isa,
                             answers *known, assay_binding *out)
{
    const assay_manifest *m = plugin->manifest;
    char missing[64], text[128];
    assay_binding b = bare_row(m, desc);
    parts p;

    b.available = 1;
    ASSAY_TRY(collect_code(m, desc, &p));
    if (collect_libraries(plugin, desc, known, &p) != ASSAY_OK)
        set_unavailable(&b, assay_last_error());
    else
        ASSAY_TRY(compute_revision(m, desc, &p, &b.revision));
    missing_isa(desc->requires_isa, isa != NULL ? isa : "", missing, sizeof missing);
    if (isa != NULL && missing[0] != '\0') {
        (void)snprintf(text, sizeof text, "needs the instruction set %s, which is absent here",
                       missing);
        set_unavailable(&b, text);
    }
    *out = b;
    return ASSAY_OK;
}

assay_status assay__plugin_binding(assay__plugin *plugin, const assay_kernel_desc *desc,
                                   const char *isa, assay_binding *out)
{
    answers known;

    known.count = 0;
    return make_row(plugin, desc, isa, &known, out);
}

/* Nothing is opened for it, and nothing can be said of it. */
static void leave_closed(assay_binding *row)
{
    row->left_closed = 1;
    set_unavailable(row, "this process was opened for other ops only");
}

static bool is_wanted(const char *ops, assay_op_id op)
{
    return ops == NULL || assay__name_in_list(ops, assay_op_get(op)->name);
}

static assay_status register_one(assay__plugin *plugin, const char *isa, const char *ops,
                                 assay_table *table)
{
    answers known;
    size_t count = plugin->manifest->kernel_count;
    assay_binding *rows = calloc(count > 0 ? count : 1, sizeof *rows);
    assay_status status = rows != NULL ? ASSAY_OK : assay__fail(ASSAY_NOMEM, "no memory");

    known.count = 0;
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        const assay_kernel_desc *desc = assay__manifest_kernel(plugin->manifest, i);
        rows[i] = bare_row(plugin->manifest, desc);
        /* Broken rows are found before anything is made of them. */
        status = assay__binding_check(&rows[i], i);
        if (status == ASSAY_OK && !is_wanted(ops, desc->op))
            leave_closed(&rows[i]);
        else if (status == ASSAY_OK && make_row(plugin, desc, isa, &known, &rows[i]) != ASSAY_OK)
            status = assay__fail_context(ASSAY_INVALID, "row %zu (%s/%s)", i,
                                         plugin->manifest->name, desc->name);
    }
    if (status == ASSAY_OK)
        status = assay_table_register(table, rows, count);
    free(rows);
    return status;
}

assay_status assay__plugins_register(assay__plugins *plugins, const char *isa, const char *ops,
                                     assay_table *table)
{
    for (size_t i = 0; i < assay__plugins_count(plugins); i++) {
        assay__plugin *plugin = assay__plugins_at(plugins, i);
        assay_status status;
        if (plugin->manifest == NULL)
            continue;
        status = register_one(plugin, isa, ops, table);
        if (status == ASSAY_NOMEM)
            return status;
        if (status != ASSAY_OK)
            assay__plugin_refuse(plugin, ASSAY_ABI);
    }
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/plugin_all.c -- see plugin_all.h. */
#include "tests/support/plugin_all.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/machine.h"
#include "tests/support/plugin_case.h"

static glob_t plugins;

int plugin_all_find(void)
{
    const char *build = getenv("ASSAY_BUILD");
    char pattern[512];

    snprintf(pattern, sizeof pattern, "%s/lib/assay/assay_*.so", build != NULL ? build : "build");
    return glob(pattern, 0, NULL, &plugins) == 0 ? (int)plugins.gl_pathc : 0;
}

const assay_manifest *plugin_all_at(int index)
{
    const char *base = strrchr(plugins.gl_pathv[index], '/') + sizeof "/assay_" - 1;
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    return plugin_load(name);
}

bool plugin_all_open(const assay_manifest *m, assay_instance **instance)
{
    /* Operands of these tests lie in host memory. */
    return m->oracle_count == 0 && m->location == ASSAY_LOCATION_CPU &&
           m->backend->open(NULL, instance) == ASSAY_OK;
}

static bool isa_present(const assay_kernel_desc *k)
{
    static const assay__machine here = ASSAY__MACHINE_HERE;
    char usable[512], missing[64];

    return assay__machine_isa(&here, usable, sizeof usable) &&
           assay_isa_covers(usable, k->requires_isa, missing, sizeof missing);
}

bool plugin_all_has(const assay_manifest *m, assay_op_id op)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].op == op)
            return true;
    return false;
}

bool plugin_all_runs(const assay_manifest *m, assay_instance *instance, const assay_kernel_desc *k)
{
    char text[1024];

    for (const char *const *l = k->libraries; l != NULL && *l != NULL; l++)
        if (m->backend->library_identity(instance, *l, text, sizeof text) != ASSAY_OK)
            return false;
    return isa_present(k);
}

void plugin_all_close(const assay_manifest *m, assay_instance **instance)
{
    if (*instance != NULL)
        m->backend->close(*instance);
    *instance = NULL;
}

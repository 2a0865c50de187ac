/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/engine_case.c -- see engine_case.h. */
#include "tests/support/engine_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

assay_context *engine_context(void)
{
    return engine_context_at(NULL);
}

assay_context *engine_context_at(const char *store)
{
    const char *build = getenv("ASSAY_BUILD");
    char path[1024];
    assay_context *context = NULL;

    snprintf(path, sizeof path, "%s/lib/assay", build != NULL ? build : "build");
    const assay_open_options options = {.struct_size = sizeof options, .plugin_path = path};
    ck_assert_msg(assay_open(store, &options, &context) == ASSAY_OK, "%s", assay_last_error());
    return context;
}

assay_engine *engine_create(assay_context *context, const char *backend, const char *kernels)
{
    const assay_engine_options options = {.struct_size = sizeof options, .kernels = kernels};
    assay_engine *engine = NULL;

    ck_assert_msg(assay_engine_create(context, backend, &options, &engine) == ASSAY_OK, "%s",
                  assay_last_error());
    return engine;
}

assay_engine *engine_open(assay_context *context, const char *backend, const char *kernels)
{
    assay_engine *engine = engine_create(context, backend, kernels);

    ck_assert_msg(assay_engine_init(engine, 0) == ASSAY_OK, "%s", assay_last_error());
    return engine;
}

assay_buffer engine_alloc(assay_engine *engine, uint64_t bytes)
{
    assay_buffer buffer;

    ck_assert_msg(assay_engine_alloc(engine, bytes, 0, &buffer) == ASSAY_OK, "%s",
                  assay_last_error());
    return buffer;
}

void engine_refuses(assay_status status, assay_status wanted, const char *says)
{
    ck_assert_msg(status == wanted, "%s instead of %s: %s", assay_status_name(status),
                  assay_status_name(wanted), assay_last_error());
    ck_assert_msg(strstr(assay_last_error(), says) != NULL, "'%s' lacks '%s'", assay_last_error(),
                  says);
}

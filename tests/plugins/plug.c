/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/plugins/plug.c -- plug-ins for the loader's test, one for each PLUG_<name>. */
#include <string.h>

#include "assay/plugin.h"

#if defined(PLUG_plain)

int plug_plain(void);
int plug_plain(void)
{
    return 1;
}

#else

static assay_status run(const assay_launch *launch)
{
    return launch->operand_count == 3 ? ASSAY_OK : ASSAY_INVALID;
}

#define ADD_F32 .op = ASSAY_OP_add, .dtype_count = 3, .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32}
#define ROW                                                                                    \
    .struct_size = sizeof(assay_kernel_desc), ADD_F32, .default_rank = 10, .sources = sources, \
    .claims = ASSAY_NO_CLAIMS, .entry_point = "run"

static const char *const sources[] = {"tests/plugins/plug.c", NULL};
static const assay_source_hash hashes[] = {{"tests/plugins/plug.c", {{1, 2, 3}}}};

/* ---- manifests that are wrong each in its way ---- */

#if defined(PLUG_broken)
#define NAME "broken"
#define SECOND                \
    {                         \
        ROW, .name = "second" \
    } /* no function */
#elif defined(PLUG_misnamed)
#define NAME "other"
#elif defined(PLUG_badname)
#define NAME "Bad-Name"
#elif defined(PLUG_beta)
#define NAME "beta"
#else
#define NAME "alpha"
#endif

#if defined(PLUG_foreign)
#define ABI 99
#else
#define ABI ASSAY_PLUGIN_ABI
#endif

#if defined(PLUG_short)
#define SIZE 16
#else
#define SIZE sizeof(assay_manifest)
#endif

#if !defined(SECOND)
#define SECOND                                                    \
    {                                                             \
        ROW, .name = "second", .run = run, .libraries = libraries \
    }
static const char *const libraries[] = {"libplug", NULL};
#endif
#if defined(PLUG_beta)
static const char *const both[] = {"libplug", "libother", NULL};
#endif

static const assay_kernel_desc kernels[] = {
    {ROW, .name = "first", .run = run},
    SECOND,
#if defined(PLUG_beta)
    {ROW, .name = "third", .run = run, .requires_isa = "avx2,imaginary9"},
    {ROW, .name = "two_libraries", .run = run, .libraries = both},
#endif
};

/* ---- a backend that identifies one library ---- */

#if defined(PLUG_beta)
static const assay_host *services;
static assay_status plug_open(const assay_host *host, assay_instance **out)
{
    services = host;
    *out = (assay_instance *)&services;
    return ASSAY_OK;
}

static assay_status library_identity(assay_instance *instance, const char *library, char *buf,
                                     size_t cap)
{
    static const char text[] = "soname=libplug.so.1\nversion=3\nbuild_id=abcd\nthreads=2\n";

    if (instance != (assay_instance *)&services || strcmp(library, "libplug") != 0 ||
        cap < sizeof text)
        return services->fail(ASSAY_UNAVAILABLE, "no such library");
    memcpy(buf, text, sizeof text);
    return ASSAY_OK;
}

static const assay_backend backend = {.struct_size = sizeof(assay_backend),
                                      .abi_version = ASSAY_PLUGIN_ABI,
                                      .open = plug_open,
                                      .library_identity = library_identity};
#define BACKEND &backend
#else
#define BACKEND NULL
#endif

extern const assay_manifest assay_plugin_manifest;
const assay_manifest assay_plugin_manifest = {.struct_size = SIZE,
                                              .abi_version = ABI,
                                              .name = NAME,
                                              .version = "1",
                                              .compiler = "test compiler",
                                              .kernels = kernels,
                                              .kernel_count = sizeof kernels / sizeof kernels[0],
                                              .sources = hashes,
                                              .source_count = 1,
                                              .backend = BACKEND};
#endif

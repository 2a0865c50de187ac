/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/plugins/plug.c -- plug-ins for the loader's test, one for each PLUG_<name>. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
__attribute__((unused)) static const assay_source_hash hashes[] = {
    {"tests/plugins/plug.c", {{1, 2, 3}}}};

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
#elif defined(PLUG_ctor)
#define NAME "ctor"
#elif defined(PLUG_hangs)
#define NAME "hangs"
#elif defined(PLUG_opens)
#define NAME "opens"
#elif defined(PLUG_named)
#define NAME "named"
#elif defined(PLUG_old)
#define NAME "old"
#elif defined(PLUG_cut)
#define NAME "cut"
#elif defined(PLUG_newer)
#define NAME "newer"
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
#elif defined(PLUG_old)
#define SIZE offsetof(assay_manifest, oracles)
#else
#define SIZE sizeof(assay_manifest)
#endif

#if !defined(SECOND)
#define SECOND                                                    \
    {                                                             \
        ROW, .name = "second", .run = run, .libraries = libraries \
    }
#if !defined(PLUG_old) && !defined(PLUG_cut) && !defined(PLUG_newer)
static const char *const libraries[] = {"libplug", NULL};
#endif
#endif
#if defined(PLUG_beta)
static const char *const both[] = {"libplug", "libother", NULL};
#endif

/* ---- rows of other versions of the header ---- */

#if defined(PLUG_old) || defined(PLUG_cut) || defined(PLUG_newer)
/* As it was before error_tile; each row of `old` ends where the next begins. */
typedef struct other_row {
    uint32_t struct_size;
    const char *name;
    assay_op_id op;
    uint8_t dtype_count;
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    assay_operand_caps caps[ASSAY_MAX_OPERANDS];
    int default_rank;
    const assay_tunable *tunables;
    size_t tunable_count;
    const char *constraint;
    const char *can_run;
    assay_can_run_fn can_run_fn;
    const char *requires_isa;
    const char *cost_flops, *cost_bytes;
    assay_cost_fn cost_fn;
    const char *const *sources;
    const char *const *libraries;
    assay_claims claims;
    const char *entry_point;
    assay_kernel_fn run;
#if defined(PLUG_newer)
    uint64_t more[8];
#endif
} other_row;
_Static_assert(offsetof(other_row, run) == offsetof(assay_kernel_desc, run), "fields are the same");

#if defined(PLUG_cut)
#define ROW_SIZE (sizeof(other_row) - 8)
#else
#define ROW_SIZE sizeof(other_row)
#endif
#undef ROW
#define ROW                                                                                      \
    .struct_size = ROW_SIZE, ADD_F32, .default_rank = 10, .sources = sources,                    \
    .claims = {1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG}, .entry_point = "run", .run = run, \
    .requires_isa = "imaginary9"

static const other_row other_rows[] = {{ROW, .name = "first"}, {ROW, .name = "second"}};
#define KERNELS     (const assay_kernel_desc *)(const void *)other_rows
#define KERNELS_LEN 2
#else
static const assay_kernel_desc kernels[] = {
    {ROW, .name = "first", .run = run},
    SECOND,
#if defined(PLUG_beta)
    {ROW, .name = "third", .run = run, .requires_isa = "avx2,imaginary9"},
    {ROW, .name = "two_libraries", .run = run, .libraries = both},
#endif
};
#define KERNELS     kernels
#define KERNELS_LEN (sizeof kernels / sizeof kernels[0])
#endif

/* ---- code that ends or hangs who loads or opens it ---- */

#if defined(PLUG_ctor)
__attribute__((constructor)) static void at_loading(void)
{
    int *volatile nowhere = (int *)8;

    *nowhere = 1;
}
#elif defined(PLUG_hangs)
__attribute__((constructor)) static void at_loading(void)
{
    for (volatile int is_over = 0; !is_over;)
        sleep(1000);
}
#elif defined(PLUG_opens)
static assay_status plug_open(const assay_host *host, assay_instance **out)
{
    (void)host;
    (void)out;
    abort();
}

static const assay_backend backend = {
    .struct_size = sizeof(assay_backend), .abi_version = ASSAY_PLUGIN_ABI, .open = plug_open};
#define BACKEND &backend
#elif defined(PLUG_named)
static assay_status library_identity(assay_instance *instance, const char *library, char *buf,
                                     size_t cap)
{
    (void)instance;
    (void)library;
    (void)buf;
    (void)cap;
    exit(0);
}

static const assay_backend backend = {.struct_size = sizeof(assay_backend),
                                      .abi_version = ASSAY_PLUGIN_ABI,
                                      .library_identity = library_identity};
#define BACKEND &backend
#endif

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
#elif !defined(BACKEND)
#define BACKEND NULL
#endif

/* An old one has a build-id for its code, and ends before what stands here. */
#if defined(PLUG_old)
#define HASHES NULL
#define BEYOND .oracle_count = 3, .explicit_only = 1
#else
#define HASHES hashes
#define BEYOND .oracle_count = 0
#endif

extern const assay_manifest assay_plugin_manifest;
const assay_manifest assay_plugin_manifest = {.struct_size = SIZE,
                                              .abi_version = ABI,
                                              .name = NAME,
                                              .version = "1",
                                              .compiler = "test compiler",
                                              .kernels = KERNELS,
                                              .kernel_count = KERNELS_LEN,
                                              .sources = HASHES,
                                              .source_count = 1,
                                              .backend = BACKEND,
                                              BEYOND};
#endif

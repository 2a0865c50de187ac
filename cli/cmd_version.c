/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_version.c -- `assay --version`: this build, what it reads and what it is made of. */
#include <stdio.h>

#include "assay/assay.h"
#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "db/db_version.h"
#include "gen/config.h"
#include "runtime/version.h"
#include "support/common_args.h"

static const assay__args_spec spec = {
    .command = "assay --version",
    .summary = "Names this build, its plug-in ABI, store schema, compiler and libraries",
    .example = "assay --version --json",
};

#define LIBRARY_COUNT 4

static void versions(const char *names[LIBRARY_COUNT], char texts[LIBRARY_COUNT][32])
{
    const unsigned xxhash = assay__xxhash_version();

    names[0] = "sqlite";
    names[1] = "libsodium";
    names[2] = "xxhash";
    names[3] = "jansson";
    (void)snprintf(texts[0], sizeof texts[0], "%.31s", assay__db_sqlite_version());
    (void)snprintf(texts[1], sizeof texts[1], "%.31s", assay__sodium_version());
    (void)snprintf(texts[2], sizeof texts[2], "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100,
                   xxhash % 100);
    (void)snprintf(texts[3], sizeof texts[3], "%.31s", jansson_version_str());
}

static json_t *all_json(void)
{
    json_t *root = assay__cmd_json_object("assay.version/1"), *libraries = json_object();
    const char *names[LIBRARY_COUNT];
    char texts[LIBRARY_COUNT][32];
    int bad = 0;

    versions(names, texts);
    bad |= (int)assay__json_put_string(root, "version", assay_version());
    bad |= (int)assay__json_put_int(root, "plugin_abi", ASSAY_PLUGIN_ABI);
    bad |= (int)assay__json_put_int(root, "store_schema", assay__db_schema());
    bad |= (int)assay__json_put_string(root, "compiler", ASSAY_COMPILER_ID);
    for (size_t i = 0; i < LIBRARY_COUNT; i++)
        bad |= (int)assay__json_put_string(libraries, names[i], texts[i]);
    bad |= (int)assay__json_put_take(root, "libraries", libraries);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static void print_text(void)
{
    const char *names[LIBRARY_COUNT];
    char texts[LIBRARY_COUNT][32];

    versions(names, texts);
    printf("assay %s (plug-in ABI %u, store schema %d)\n", assay_version(), ASSAY_PLUGIN_ABI,
           assay__db_schema());
    printf("compiler: %s\nlibraries:", ASSAY_COMPILER_ID);
    for (size_t i = 0; i < LIBRARY_COUNT; i++)
        printf("%s %s %s", i > 0 ? "," : "", names[i], texts[i]);
    putchar('\n');
}

int cmd_version(int argc, char **argv)
{
    assay__common common = ASSAY__COMMON_DEFAULTS;
    const assay__arg_table tables[] = {assay__common_table(&common, ASSAY__COMMON(JSON))};
    int code = 0;

    if (assay__cmd_begin(&spec, tables, 1, argc, argv, &code)) {
        if (common.is_json)
            code = assay__cmd_print_json("--version", all_json());
        else
            print_text();
    }
    assay__args_clear(tables, 1);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* cli/cmd_merge.c -- `assay merge`: several stores as one. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd.h"
#include "cli/cmd_common.h"
#include "db/merge.h"
#include "runtime/error.h"
#include "support/common_args.h"

#define MOST_STORES 4096

typedef struct merge_args {
    assay__common common;
    const char *output;
} merge_args;

static const assay__arg rows[] = {
    {.name = "output",
     .short_name = 'o',
     .kind = ASSAY__ARG_STRING,
     .offset = offsetof(merge_args, output),
     .metavar = "FILE",
     .help = "the new store, which must not exist"},
};

static const assay__args_spec spec = {
    .command = "assay merge",
    .summary = "Joins stores into a new one by content, as shards of a sweep on several machines",
    .positionals = "A.db B.db ...",
    .min_positionals = 1,
    .max_positionals = MOST_STORES,
    .example = "assay merge -o all.db shard0.db shard1.db shard2.db",
    .notes =
        "Stores are only read, and the order does not matter: the same ones give the same content. "
        "Of\n"
        "two summaries of one measurement the newer holds, of two routes of one question the\n"
        "later; what was wrong in one of them stays wrong, and what is in quarantine in one is.\n"
        "An older store is migrated first by a command that writes to it. While it runs, merge "
        "takes\n"
        "the size of all stores together in the folder for temporary files ($SQLITE_TMPDIR), and "
        "up\n"
        "to twice that beside the new store.",
};

static json_t *merged_json(const merge_args *a, const assay__merged *m)
{
    json_t *root = assay__cmd_json_object("assay.merge/1");
    char content[ASSAY_DIGEST_HEX];
    int bad = 0;

    assay_digest_format(&m->content, content);
    bad |= (int)assay__json_put_string(root, "store", a->output);
    bad |= (int)assay__json_put_string(root, "content", content);
    bad |= (int)assay__json_put_int(root, "deployments", m->deployments);
    bad |= (int)assay__json_put_int(root, "measurements", m->measurements);
    bad |= (int)assay__json_put_int(root, "visits", m->visits);
    bad |= (int)assay__json_put_int(root, "routes", m->routes);
    if (bad == 0)
        return root;
    json_decref(root);
    return NULL;
}

static int run(const merge_args *a, const assay__args *args)
{
    assay__merged merged = {0};
    char content[ASSAY_DIGEST_HEX];
    assay_status status;

    if (a->output == NULL || a->output[0] == '\0')
        return assay__cmd_fail("merge", assay__fail(ASSAY_INVALID,
                                                    "--output FILE names the new store; see assay "
                                                    "merge --help"));
    status = assay__db_merge(a->output, (const char *const *)args->positionals,
                             args->positional_count, &merged);
    if (status != ASSAY_OK)
        return assay__cmd_fail("merge", status);
    if (a->common.is_json)
        return assay__cmd_print_json("merge", merged_json(a, &merged));
    assay_digest_format(&merged.content, content);
    printf("%s: %" PRId64 " deployments, %" PRId64 " measurements, %" PRId64 " visits, %" PRId64
           " routes\ncontent %s\n",
           a->output, merged.deployments, merged.measurements, merged.visits, merged.routes,
           content);
    return 0;
}

int cmd_merge(int argc, char **argv)
{
    merge_args a = {.common = ASSAY__COMMON_DEFAULTS};
    const assay__arg_table tables[] = {
        assay__common_table(&a.common, ASSAY__COMMON(JSON)),
        {rows, sizeof rows / sizeof rows[0], ASSAY__ARG_ALL, &a},
    };
    assay__args args;
    int code = 0;

    if (assay__cmd_begin_with(&spec, tables, 2, argc, argv, &args, &code))
        code = run(&a, &args);
    assay__args_clear(tables, 2);
    return code;
}

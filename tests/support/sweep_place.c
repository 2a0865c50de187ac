/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
#include "tests/support/sweep_place.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void link_plugin(const char *folder, const char *name)
{
    const char *build = getenv("ASSAY_BUILD");
    char from[512], to[512], cwd[256];

    ck_assert_ptr_nonnull(getcwd(cwd, sizeof cwd));
    build = build != NULL ? build : "build";
    (void)snprintf(from, sizeof from, "%.200s/lib/assay/assay_%s.so", build, name);
    if (from[0] != '/')
        (void)snprintf(from, sizeof from, "%.200s/%.200s/lib/assay/assay_%s.so", cwd, build, name);
    (void)snprintf(to, sizeof to, "%s/assay_%s.so", folder, name);
    ck_assert_int_eq(symlink(from, to), 0);
}

void sweep_place_make(char *folder, size_t cap, const char *peaks)
{
    char path[512];

    (void)snprintf(folder, cap, "/tmp/assay-sweep-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    link_plugin(folder, "fake");
    link_plugin(folder, "ref");
    (void)snprintf(path, sizeof path, "%s/peaks", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    (void)fprintf(f, "%s\n", peaks);
    (void)fclose(f);
    (void)setenv("ASSAY_FAKE_PEAKS", path, 1);
    (void)setenv("ASSAY_LOCK_DIR", folder, 1); /* no need to wait for those who measure */
}

void sweep_place_remove(const char *folder)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

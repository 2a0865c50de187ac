/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
#include "tests/support/sweep_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"
#include "sweep/exhaust_worker.h"
#include "tuner/worker.h"

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

static void write_peaks(const char *folder, const char *peaks)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/peaks", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    (void)fprintf(f, "%s\n", peaks);
    (void)fclose(f);
    (void)setenv("ASSAY_FAKE_PEAKS", path, 1);
}

void sweep_place_open(sweep_place *p, const char *peaks)
{
    *p = (sweep_place){.options = {.shapes = &p->set,
                                   .plugin_path = p->folder,
                                   .backends = "fake",
                                   .align = 16,
                                   .max_threads = 1,
                                   .db_path = p->store,
                                   .argv_json = "[]"}};
    (void)snprintf(p->folder, sizeof p->folder, "/tmp/assay-sweep-XXXXXX");
    const char *folder = mkdtemp(p->folder);
    ck_assert_ptr_nonnull(folder);
    (void)snprintf(p->store, sizeof p->store, "%s/s.db", folder);
    link_plugin(p->folder, "fake");
    link_plugin(p->folder, "ref");
    write_peaks(p->folder, peaks);
    (void)setenv("ASSAY_LOCK_DIR", p->folder, 1); /* no need to wait for those who measure */
    ck_assert_int_eq(assay__profile_find("quick", &p->options.profile), ASSAY_OK);
}

void sweep_place_add(sweep_place *p, const char *op, const char *shape)
{
    ck_assert_int_eq(assay__shapes_add_flags(&p->set, op, "f32", shape), ASSAY_OK);
}

void sweep_place_run(sweep_place *p, assay_status wanted, assay__sweep_summary *out)
{
    const assay_status status = assay__sweep_run(&p->options, out);
    char command[128];

    ck_assert_msg(status == wanted, "%d: %s", (int)status, assay_last_error());
    assay__shapes_clear(&p->set);
    (void)snprintf(command, sizeof command, "rm -r '%s'", p->folder);
    ck_assert_int_eq(system(command), 0);
}

int sweep_place_main(int argc, char **argv, const char *name, const char *script, double timeout_s,
                     void (*add_tests)(TCase *tcase))
{
    if (argc > 1 && strcmp(argv[1], "__worker") == 0)
        return assay__worker_main(3, assay__exhaust_commands);

    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    (void)setenv("ASSAY_FAKE", script, 1);
    tcase_set_timeout(tcase, timeout_s);
    add_tests(tcase);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}

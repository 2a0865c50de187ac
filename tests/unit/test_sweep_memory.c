/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_memory.c -- what a sweep takes does not grow with the problems that it has
 * measured: 24 of them, or 500 with ASSAY_LONG.  This program is its own worker. */
#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/error.h"
#include "sweep/exhaust_worker.h"
#include "sweep/sweep.h"
#include "tests/support/sweep_place.h"
#include "tuner/worker.h"

static double first_bytes, most_bytes;
static size_t problems;

/* Resident, without what is shared with files: 0 not known. */
static double resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f != NULL)
        (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* From the third problem on, or a tenth of the stays of many: until then tables are made, and the
 * store's cache of pages fills. */
static void on_progress(void *cookie, const assay__progress *p)
{
    double bytes;

    (void)cookie;
    if (p->steps_done < 8 || (getenv("ASSAY_LONG") != NULL && 10 * p->steps_done < p->steps_total))
        return;
    bytes = resident_bytes();
    first_bytes = first_bytes > 0 ? first_bytes : bytes;
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
}

static void on_outcome(void *cookie, const assay__outcome *o)
{
    (void)cookie;
    problems += o->winner != NULL;
}

/* Operands of 400 KB, so that a set of them that stayed would show. */
START_TEST(resident_memory_is_flat_over_problems)
{
    const size_t count = getenv("ASSAY_LONG") != NULL ? 500 : 24;
    char folder[64], store[128], shape[64];
    char name[] = "fake_a", *globs[] = {name};
    assay__shape_set set = {0};
    assay__sweep_summary summary;
    assay__sweep_options o = {.shapes = &set,
                              .plugin_path = folder,
                              .backends = "fake",
                              .kernel_globs = globs,
                              .kernel_glob_count = 1,
                              .align = 16,
                              .max_threads = 1,
                              .db_path = store,
                              .argv_json = "[]",
                              .progress = on_progress,
                              .outcome = on_outcome};

    sweep_place_make(folder, sizeof folder, "copy_nt_t9999=1e6 cache_bytes=1e9");
    (void)snprintf(store, sizeof store, "%s/s.db", folder);
    (void)snprintf(shape, sizeof shape, "n=100000..%zu", 100000 + count - 1);
    ck_assert_int_eq(assay__profile_find("quick", &o.profile), ASSAY_OK);
    ck_assert_int_eq(assay__shapes_add_flags(&set, "add", "f32", shape), ASSAY_OK);
    assay_status status = assay__sweep_run(&o, &summary);
    ck_assert_msg(status == ASSAY_OK, "%d: %s", (int)status, assay_last_error());
    ck_assert_uint_eq(problems, count);
    assay__shapes_clear(&set);
    sweep_place_remove(folder);
    /* Sanitizers and valgrind bring allocators of their own, which keep what is freed. */
    if (mallinfo2().uordblks == 0)
        return;
    ck_assert_double_gt(first_bytes, 0);
    /* The store's cache of pages may fill itself only later where there are few problems. */
    const double cache_bytes = count < 500 ? 2e6 : 0;
    ck_assert_msg(most_bytes <= 1.1 * first_bytes + cache_bytes,
                  "%.4g bytes at first, then up to %.4g", first_bytes, most_bytes);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "__worker") == 0)
        return assay__worker_main(3, assay__exhaust_commands);

    Suite *suite = suite_create("sweep_memory");
    TCase *tcase = tcase_create("memory");

    (void)setenv("ASSAY_FAKE",
                 "seed=1; kernel=* ns=1e6 sd=0.01; kernel=* variant=1 slow=5; "
                 "kernel=* variant=2 slow=5; kernel=* variant=3 slow=5",
                 1);
    tcase_set_timeout(tcase, 3600);
    tcase_add_test(tcase, resident_memory_is_flat_over_problems);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner), ran = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && ran > 0 ? 0 : 1;
}

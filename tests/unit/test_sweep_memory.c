/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_sweep_memory.c -- what a sweep takes does not grow with the problems that it has
 * measured: 24 of them, or 500 with ASSAY_LONG. */
#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/sweep_place.h"

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
    char name[] = "fake_a", *globs[] = {name}, shape[64];
    assay__sweep_summary summary;
    sweep_place p;

    sweep_place_open(&p, "copy_nt_t9999=1e6 cache_bytes=1e9");
    p.options.kernel_globs = globs;
    p.options.kernel_glob_count = 1;
    p.options.progress = on_progress;
    p.options.outcome = on_outcome;
    (void)snprintf(shape, sizeof shape, "n=100000..%zu", 100000 + count - 1);
    sweep_place_add(&p, "add", shape);
    sweep_place_run(&p, ASSAY_OK, &summary);
    ck_assert_uint_eq(problems, count);
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

static void add_tests(TCase *tcase)
{
    tcase_add_test(tcase, resident_memory_is_flat_over_problems);
}

int main(int argc, char **argv)
{
    return sweep_place_main(argc, argv, "sweep_memory",
                            "seed=1; kernel=* ns=1e6 sd=0.01; kernel=* variant=1 slow=5; "
                            "kernel=* variant=2 slow=5; kernel=* variant=3 slow=5",
                            3600, add_tests);
}

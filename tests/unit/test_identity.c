/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_identity.c -- every identity is the same in every process.
 *
 * The program starts itself anew 20 times, each with other addresses, another working directory,
 * locale, environment and order of what it hashes, and compares what the copies print. */
#include <check.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/deployment.h"
#include "assay/op.h"
#include "runtime/digest.h"
#include "runtime/elf_id.h"
#include "runtime/keyhash.h"
#include "runtime/revision.h"

#define PROCESSES 20

static void show(const char *name, const assay_digest *digest)
{
    char hex[ASSAY_DIGEST_HEX];

    assay_digest_format(digest, hex);
    printf("%s %s\n", name, hex);
}

static int show_revision(int turn)
{
    const assay_digest code[] = {{{1}}, {{2}}, {{3}}};
    const assay_digest turned[] = {code[turn % 3], code[(turn + 1) % 3], code[(turn + 2) % 3]};
    const assay__revision_library a = {"liba.so.1", "1", "aa", "x=1", NULL},
                                  b = {"libb.so", "2", "", "", NULL};
    const assay__revision_library libraries[] = {turn % 2 ? a : b, turn % 2 ? b : a};
    const assay_tunable x = {.name = "mc"}, y = {.name = "nc"};
    const assay_tunable tunables[] = {turn % 2 ? x : y, turn % 2 ? y : x};
    const int64_t values[] = {turn % 2 ? 64 : 128, turn % 2 ? 128 : 64};
    const assay__revision_input in = {turned,    3,     NULL,       libraries, 2, "gcc", "exp",
                                      "f32,f32", "cpu", "exp_avx2", "exp_f32", 1, 0,     0.0};
    assay_digest kernel, variant;

    if (assay__revision_compute(&in, &kernel) != ASSAY_OK ||
        assay__variant_revision(&kernel, tunables, values, 2, &variant) != ASSAY_OK)
        return 1;
    show("kernel", &kernel);
    show("variant", &variant);
    return 0;
}

/* Printed text of a real shows whether a locale's comma gets in. */
static int show_problem(void)
{
    assay_problem problem;
    char text[512];

    if (assay_problem_init(ASSAY_OP_matmul, ASSAY_F32, &problem) != ASSAY_OK ||
        assay_problem_set(&problem, "m", "12345678") != ASSAY_OK ||
        assay_problem_set(&problem, "alpha", "1.5") != ASSAY_OK)
        return 1;
    if (assay_problem_format(&problem, ASSAY_TEXT_ACCURACY, text, sizeof text) >= sizeof text)
        return 1;
    assay__key128 key = assay__xxh(text, strlen(text));
    printf("problem %s %llx %llx\n", text, (unsigned long long)key.low,
           (unsigned long long)key.high);
    return 0;
}

static int show_deployment(void)
{
    assay_deployment deployment;
    assay__elf_id libm;
    assay_digest digest;

    if (assay_deployment_read("cpu", "CPU", "x86_64", NULL, &deployment) != ASSAY_OK ||
        assay__elf_id_of_loaded("libm.so.6", &libm) != ASSAY_OK)
        return 1;
    assay_deployment_digest(&deployment, &digest);
    show("deployment", &digest);
    printf("libm %s %s\n", libm.soname, libm.build_id);
    return 0;
}

static int print_identities(int turn)
{
    (void)setlocale(LC_ALL, "");
    if (turn % 3 == 1 && chdir("/") != 0)
        return 1;
    /* Other heap addresses, besides those of ASLR. */
    void *shift = malloc((size_t)turn * 4096 + 1);
    int rc = show_revision(turn) | show_problem() | show_deployment();
    free(shift);
    return rc;
}

static size_t run_copy(int turn, char *out, size_t cap)
{
    static const char *const locales[] = {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"};
    char command[256];

    (void)snprintf(command, sizeof command,
                   "LC_ALL=%s ASSAY_NOISE=%0*d exec /proc/%ld/exe --print %d", locales[turn % 4],
                   1 + turn * 7, 0, (long)getpid(), turn);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    size_t length = fread(out, 1, cap - 1, f);
    out[length] = '\0';
    int status = pclose(f);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "copy %d: status %d", turn,
                  status);
    return length;
}

START_TEST(identity_is_the_same_in_every_process)
{
    char first[4096], other[4096];

    ck_assert_uint_gt(run_copy(0, first, sizeof first), 300);
    for (int turn = 1; turn < PROCESSES; turn++) {
        (void)run_copy(turn, other, sizeof other);
        ck_assert_str_eq(first, other);
    }
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--print") == 0)
        return print_identities(atoi(argv[2]));
    Suite *suite = suite_create("identity");
    TCase *tc = tcase_create("identity");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, identity_is_the_same_in_every_process);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_deployment.c -- deployments of recorded machines and of this one. */
#include "runtime/deployment.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINES "tests/fake/machines/"

/* As an EPYC of the third generation under KVM answers. */
static const assay__cpuid epyc = {.leaf1_ecx = 0xfef83203u,
                                  .leaf1_edx = 0x178bfbffu,
                                  .leaf7_ebx = 0x219c07abu,
                                  .leaf7_ecx = 0x0040060cu,
                                  .leaf7_edx = 0x10u,
                                  .extended1_ecx = 0x00c003f3u,
                                  .xcr0 = 0x7u};

static const assay_digest fingerprint = {{0xab, 0xcd}};

static assay_deployment read_machine(const char *proc, const char *sys, uint32_t affinity)
{
    const assay__machine machine = {proc, sys, affinity, &epyc};
    assay_deployment d;

    ck_assert_int_eq(
        assay__deployment_read_machine(&machine, "cpu", NULL, "x86_64", NULL, &fingerprint, &d),
        ASSAY_OK);
    return d;
}

#define READ(name, affinity) read_machine(MACHINES name "/proc", MACHINES name "/sys", affinity)

START_TEST(deployment_of_a_recorded_machine)
{
    assay_deployment d = READ("epyc_vm", 2);
    char text[1024];

    size_t length = assay_deployment_format(&d, text, sizeof text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(text,
                     "backend=cpu\n"
                     "architecture=x86_64\n"
                     "cpu_model=AMD EPYC\n"
                     "cpu_stepping=25-1-1\n"
                     "microcode=0x1000065\n"
                     "isa=avx avx2 bmi1 bmi2 f16c fma lzcnt movbe popcnt sse2 sse3 sse4_1 sse4_2 "
                     "ssse3\n"
                     "os_class=linux 6\n"
                     "usable_cpus=2\n"
                     "numa_nodes=1\n"
                     "fingerprint="
                     "abcd000000000000000000000000000000000000000000000000000000000000\n");
}
END_TEST

START_TEST(deployment_counts_quotas)
{
    assay_deployment v2 = READ("container_v2", 64);
    assay_deployment v1 = READ("container_v1", 64);

    ck_assert_uint_eq(v2.usable_cpus, 3); /* 2.5 on an ancestor */
    ck_assert_uint_eq(v2.numa_nodes, 2);
    ck_assert_str_eq(v2.os_class, "linux 5");
    ck_assert_str_eq(v2.cpu_model, "Intel(R) Xeon(R) Platinum 8480+");
    ck_assert_uint_eq(v1.usable_cpus, 3);
    ck_assert_str_eq(v1.cpu_model, "0x41-0xd0c");
    ck_assert_str_eq(v1.cpu_stepping, "0x3-1");
    ck_assert_uint_eq(READ("container_v2", 2).usable_cpus, 2); /* affinity is the smaller */
}
END_TEST

START_TEST(deployment_of_a_bare_machine_is_absent)
{
    assay_deployment d = READ("bare", 4);

    ck_assert_str_eq(d.cpu_model, "");
    ck_assert_str_eq(d.microcode, "");
    ck_assert_str_eq(d.os_class, "");
    ck_assert_uint_eq(d.numa_nodes, 0);
    ck_assert_uint_eq(d.usable_cpus, 4);
}
END_TEST

START_TEST(deployment_digest_depends_on_every_field)
{
    assay_deployment base = READ("epyc_vm", 2);
    assay_digest before, after;

    assay_deployment_digest(&base, &before);
#define CHANGED(edit)                                                     \
    do {                                                                  \
        assay_deployment d = base;                                        \
        edit;                                                             \
        assay_deployment_digest(&d, &after);                              \
        ck_assert_msg(!assay_digest_equal(&before, &after), "%s", #edit); \
    } while (0)
    CHANGED(strcpy(d.backend, "ref"));
    CHANGED(strcpy(d.device, "x"));
    CHANGED(strcpy(d.architecture, "x"));
    CHANGED(strcpy(d.driver, "x"));
    CHANGED(strcpy(d.cpu_model, "x"));
    CHANGED(strcpy(d.cpu_stepping, "x"));
    CHANGED(strcpy(d.microcode, "x"));
    CHANGED(strcpy(d.isa, "avx"));
    CHANGED(strcpy(d.os_class, "x"));
    CHANGED(d.usable_cpus = 1);
    CHANGED(d.numa_nodes = 2);
    CHANGED(d.fingerprint.bytes[31] = 1);
    CHANGED(d.has_fingerprint = 0);
#undef CHANGED
    /* A text in one field is not the same in another. */
    assay_deployment a = base, b = base;
    strcpy(a.device, "y");
    strcpy(b.driver, "y");
    assay_deployment_digest(&a, &before);
    assay_deployment_digest(&b, &after);
    ck_assert(!assay_digest_equal(&before, &after));
}
END_TEST

START_TEST(deployment_ignores_bytes_behind_the_text)
{
    assay_deployment a = READ("epyc_vm", 2), b = a;
    assay_digest before, after;

    b.device[100] = 'z'; /* after the NUL at [0] */
    assay_deployment_digest(&a, &before);
    assay_deployment_digest(&b, &after);
    ck_assert(assay_digest_equal(&before, &after));
}
END_TEST

START_TEST(deployment_cleans_names)
{
    const assay__machine machine = {MACHINES "bare/proc", MACHINES "bare/sys", 1, &epyc};
    assay_deployment d;

    ck_assert_int_eq(assay__deployment_read_machine(&machine, " cpu", "  Device\t X\n", NULL,
                                                    "1.2\nbackend=evil", NULL, &d),
                     ASSAY_OK);
    ck_assert_str_eq(d.backend, "cpu");
    ck_assert_str_eq(d.device, "Device X");
    ck_assert_str_eq(d.driver, "1.2 backend=evil");
    ck_assert_uint_eq(d.has_fingerprint, 0);
}
END_TEST

START_TEST(deployment_refuses_what_does_not_fit)
{
    const assay__machine machine = {MACHINES "bare/proc", MACHINES "bare/sys", 1, &epyc};
    char longer[200];
    assay_deployment d = {.usable_cpus = 77};

    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(assay__deployment_read_machine(&machine, "cpu", longer, NULL, NULL, NULL, &d),
                     ASSAY_OVERFLOW);
    ck_assert_int_eq(assay__deployment_read_machine(&machine, NULL, "x", NULL, NULL, NULL, &d),
                     ASSAY_INVALID);
    ck_assert_int_eq(assay__deployment_read_machine(&machine, " \n", "x", NULL, NULL, NULL, &d),
                     ASSAY_INVALID);
    longer[sizeof d.device] = '\0'; /* one byte too long for its NUL */
    ck_assert_int_eq(assay__deployment_read_machine(&machine, "cpu", longer, NULL, NULL, NULL, &d),
                     ASSAY_OVERFLOW);
    ck_assert_uint_eq(d.usable_cpus, 77);
    longer[sizeof d.device - 1] = '\0';
    ck_assert_int_eq(assay__deployment_read_machine(&machine, "cpu", longer, NULL, NULL, NULL, &d),
                     ASSAY_OK);
    ck_assert_str_eq(d.device, longer);
}
END_TEST

START_TEST(deployment_text_is_cut_not_overrun)
{
    assay_deployment d = READ("epyc_vm", 2);
    char whole[1024], part[40];
    size_t length = assay_deployment_format(&d, whole, sizeof whole);

    memset(part, '#', sizeof part);
    ck_assert_uint_eq(assay_deployment_format(&d, part, 20), length);
    ck_assert_uint_eq(strlen(part), 19);
    ck_assert_int_eq(part[20], '#');
    ck_assert_int_eq(strncmp(part, whole, 19), 0);
    ck_assert_uint_eq(assay_deployment_format(&d, NULL, 0), length);
}
END_TEST

START_TEST(deployment_of_this_machine_repeats)
{
    assay_deployment one, two;
    assay_digest a, b;

    ck_assert_int_eq(assay_deployment_read("cpu", "CPU", "x86_64", NULL, &one), ASSAY_OK);
    ck_assert_int_eq(assay_deployment_read("cpu", "CPU", "x86_64", NULL, &two), ASSAY_OK);
    assay_deployment_digest(&one, &a);
    assay_deployment_digest(&two, &b);
    ck_assert(assay_digest_equal(&a, &b));
    ck_assert_uint_ge(one.usable_cpus, 1);
    ck_assert_uint_eq(one.has_fingerprint, 1);
}
END_TEST

static const char *isa_of(assay__cpuid id)
{
    static char text[512];
    const assay__machine machine = {"", "", 1, &id};

    ck_assert(assay__machine_isa(&machine, text, sizeof text));
    return text;
}

START_TEST(isa_needs_the_kernel_to_save_registers)
{
    assay__cpuid id = epyc;

    id.leaf7_ebx |= 1u << 16;
    ck_assert_ptr_null(strstr(isa_of(id), "avx512f"));
    id.xcr0 = 0xe7;
    ck_assert_ptr_nonnull(strstr(isa_of(id), "avx512f"));
    id.xcr0 = 0x3;
    ck_assert_str_eq(isa_of(id), "bmi1 bmi2 lzcnt movbe popcnt sse2 sse3 sse4_1 sse4_2 ssse3");
    ck_assert_str_eq(isa_of((assay__cpuid){0}), "");
}
END_TEST

START_TEST(isa_of_this_machine_agrees_with_the_compiler_s_test)
{
#if defined(__x86_64__)
    const assay__machine here = ASSAY__MACHINE_HERE;
    char text[512], missing[64];

    ck_assert(assay__machine_isa(&here, text, sizeof text));
    ck_assert_int_eq(assay_isa_covers(text, "avx2", missing, sizeof missing),
                     __builtin_cpu_supports("avx2") != 0);
    ck_assert_int_eq(assay_isa_covers(text, "fma", missing, sizeof missing),
                     __builtin_cpu_supports("fma") != 0);
    ck_assert_int_eq(assay_isa_covers(text, "avx512f", missing, sizeof missing),
                     __builtin_cpu_supports("avx512f") != 0);
    ck_assert(assay_isa_covers(text, "sse2", missing, sizeof missing));
#endif
}
END_TEST

START_TEST(isa_list_does_not_overrun)
{
    const assay__machine machine = {"", "", 1, &epyc};
    char small[8];

    ck_assert(!assay__machine_isa(&machine, small, sizeof small));
}
END_TEST

START_TEST(isa_covers_whole_words)
{
    char missing[64];

    ck_assert(assay_isa_covers("avx avx2 fma", "avx2,fma", missing, sizeof missing));
    ck_assert_str_eq(missing, "");
    ck_assert(assay_isa_covers("avx", NULL, missing, sizeof missing));
    ck_assert(assay_isa_covers("", "", missing, sizeof missing));
    ck_assert(!assay_isa_covers("avx2", "avx", missing, sizeof missing));
    ck_assert_str_eq(missing, "avx");
    ck_assert(!assay_isa_covers("fma", "avx2, fma,f16c", missing, sizeof missing));
    ck_assert_str_eq(missing, "avx2, f16c");
    ck_assert(!assay_isa_covers("fma", "avx2,f16c", missing, 6));
    ck_assert_str_eq(missing, "avx2");
    ck_assert(!assay_isa_covers("", "avx2", NULL, 0));
}
END_TEST

START_TEST(lists_are_counted_or_refused)
{
    ck_assert_uint_eq(assay__machine_list_count("0"), 1);
    ck_assert_uint_eq(assay__machine_list_count("0-3,8,10-11"), 7);
    ck_assert_uint_eq(assay__machine_list_count(""), 0);
    ck_assert_uint_eq(assay__machine_list_count("3-1"), 0);
    ck_assert_uint_eq(assay__machine_list_count("0,"), 0);
    ck_assert_uint_eq(assay__machine_list_count("0-99999999"), 0);
    ck_assert_uint_eq(assay__machine_list_count("a"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deployment");
    TCase *deployment = tcase_create("deployment");
    TCase *isa = tcase_create("isa");

    tcase_add_test(deployment, deployment_of_a_recorded_machine);
    tcase_add_test(deployment, deployment_counts_quotas);
    tcase_add_test(deployment, deployment_of_a_bare_machine_is_absent);
    tcase_add_test(deployment, deployment_digest_depends_on_every_field);
    tcase_add_test(deployment, deployment_ignores_bytes_behind_the_text);
    tcase_add_test(deployment, deployment_cleans_names);
    tcase_add_test(deployment, deployment_refuses_what_does_not_fit);
    tcase_add_test(deployment, deployment_text_is_cut_not_overrun);
    tcase_add_test(deployment, deployment_of_this_machine_repeats);
    tcase_add_test(isa, isa_needs_the_kernel_to_save_registers);
    tcase_add_test(isa, isa_of_this_machine_agrees_with_the_compiler_s_test);
    tcase_add_test(isa, isa_list_does_not_overrun);
    tcase_add_test(isa, isa_covers_whole_words);
    tcase_add_test(isa, lists_are_counted_or_refused);
    suite_add_tcase(suite, deployment);
    suite_add_tcase(suite, isa);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_context_record.c -- state of recorded machines; the unknown stays out. */
#include "runtime/context_record.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/noise_words.h"
#include "support/json.h"
#include "tuner/environment.h"

#define MACHINES "tests/fake/machines/"

static assay__context_record read_machine(const char *proc, const char *sys)
{
    const assay__machine machine = {proc, sys, 1, NULL};
    assay__context_record record;

    assay__context_read(&machine, &record);
    return record;
}

START_TEST(context_of_a_machine_with_everything)
{
    assay__context_record r =
        read_machine(MACHINES "container_v2/proc", MACHINES "container_v2/sys");

    ck_assert_str_eq(r.governor, "performance");
    ck_assert_double_eq_tol(r.frequency_mhz, 3801.25, 1e-9);
    ck_assert_double_eq_tol(r.temperature_c, 61.5, 1e-9);
    ck_assert(r.turbo == 0);
    ck_assert(r.throttle_count == 12);
    ck_assert(r.load_1 == 0);
    ck_assert_double_eq_tol(r.load_15, 12.5, 1e-9);
    ck_assert(isnan(r.steal_ticks));
    ck_assert_double_eq_tol(r.quota_cpus, 2.5, 1e-9); /* of the parent, and so is its account */
    ck_assert(r.quota_throttled == 7);
    ck_assert_double_eq_tol(r.quota_throttled_ms, 123.456, 1e-9);
    ck_assert_double_eq_tol(r.energy_j, 262143.32885, 1e-6);
}
END_TEST

START_TEST(context_of_an_older_container)
{
    assay__context_record r =
        read_machine(MACHINES "container_v1/proc", MACHINES "container_v1/sys");

    ck_assert_double_eq_tol(r.quota_cpus, 3, 1e-9);
    ck_assert(r.quota_throttled == 3);
    ck_assert_double_eq_tol(r.quota_throttled_ms, 2.5, 1e-9); /* counted in ns there */
    ck_assert(isnan(r.energy_j));
}
END_TEST

START_TEST(context_of_a_virtual_machine)
{
    assay__context_record r = read_machine(MACHINES "epyc_vm/proc", MACHINES "epyc_vm/sys");

    ck_assert_str_eq(r.governor, "");
    ck_assert(isnan(r.temperature_c) && isnan(r.turbo) && isnan(r.throttle_count));
    ck_assert(r.steal_ticks == 520);
    ck_assert_double_eq_tol(r.load_5, 3.25, 1e-9);
    ck_assert_double_ge(r.frequency_mhz, 1000);
    ck_assert(isnan(r.quota_cpus) && isnan(r.quota_throttled)); /* -1 is no limit */
}
END_TEST

START_TEST(context_text_leaves_out_the_unknown)
{
    assay__context_record r = read_machine(MACHINES "bare/proc", MACHINES "bare/sys");
    char text[512];

    r.nice = -5;
    strcpy(r.policy, "other");
    size_t length = assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{\"policy\":\"other\",\"nice\":-5}");
    ck_assert_uint_eq(length, strlen(text));
    r.policy[0] = '\0';
    r.nice = NAN;
    (void)assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{}");
}
END_TEST

START_TEST(context_text_is_json)
{
    assay__context_record r =
        read_machine(MACHINES "container_v2/proc", MACHINES "container_v2/sys");
    char text[512], part[10];

    r.nice = 0;
    strcpy(r.policy, "fifo");
    size_t length = assay__context_format(&r, text, sizeof text);
    ck_assert_str_eq(text, "{\"governor\":\"performance\",\"policy\":\"fifo\",\"nice\":0,"
                           "\"turbo\":0,\"quota_cpus\":2.500,\"frequency_mhz\":3801.250,"
                           "\"temperature_c\":61.500,"
                           "\"load_1\":0,\"load_5\":0.010,\"load_15\":12.500,"
                           "\"throttle_count\":12,\"quota_throttled\":7,"
                           "\"quota_throttled_ms\":123.456,\"energy_j\":262143.329}");
    ck_assert_uint_eq(assay__context_format(&r, part, sizeof part), length);
    ck_assert_uint_eq(strlen(part), sizeof part - 1);
}
END_TEST

/* ---- opened once ---- */

static char folder[256];

static void put_file(const char *path, const char *text)
{
    char full[512], *slash = full;

    (void)snprintf(full, sizeof full, "%s/%s", folder, path);
    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    FILE *f = fopen(full, "r+");
    f = f != NULL ? f : fopen(full, "w");
    ck_assert_ptr_nonnull(f);
    (void)fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

static void remove_folder(void)
{
    char command[512];

    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static int open_files(void)
{
    int count = 0;

    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* What the files say now is read from where they were opened: no file is opened again, for which
 * there is no room here, and a zone that came later is not looked for. */
START_TEST(context_is_taken_from_files_that_are_open)
{
    const assay__machine machine = {folder, folder, 1, NULL};
    const int before = open_files();
    assay__context_source source;
    assay__context_record first, then;
    struct rlimit old, none;
    char text[512];

    strcpy(folder, "/tmp/assay-context-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("stat", "cpu 1 2 3 4 5 6 7 100 0 0\n");
    put_file("loadavg", "1.00 2.00 3.00 1/9 7\n");
    put_file("class/thermal/thermal_zone3/temp", "40000\n");
    assay__context_source_open(&machine, &source);
    ck_assert_uint_eq(source.zone_count, 1);
    assay__context_source_take(&source, &first);
    put_file("stat", "cpu 1 2 3 4 5 6 7 104 0 0\n");
    put_file("class/thermal/thermal_zone3/temp", "41500\n");
    put_file("class/thermal/thermal_zone4/temp", "99000\n");
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    assay__context_source_take(&source, &then);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
    ck_assert(first.steal_ticks == 100 && then.steal_ticks == 104);
    ck_assert_double_eq_tol(then.temperature_c, 41.5, 1e-9);
    (void)assay__context_format_changes(&first, &then, text, sizeof text);
    ck_assert_str_eq(text, "{\"temperature_c\":41.500,\"steal_ticks\":104}");
    assay__context_source_close(&source);
    assay__context_source_close(&source);
    ck_assert_int_eq(open_files(), before);
    remove_folder();
}
END_TEST

START_TEST(context_counters_grow_or_are_unknown)
{
    ck_assert(assay__context_grown(3, 5) == 2 && assay__context_grown(3, 3) == 0);
    ck_assert(isnan(assay__context_grown(5, 3))); /* began anew */
    ck_assert(isnan(assay__context_grown(NAN, 3)) && isnan(assay__context_grown(3, NAN)));
}
END_TEST

/* ---- what it means ---- */

static assay__context_record nothing_known(void)
{
    return read_machine(MACHINES "bare/proc", MACHINES "bare/sys");
}

START_TEST(context_says_what_disturbed_a_stay)
{
    assay__context_record a = nothing_known(), b = a;

    ck_assert_uint_eq(assay__environment_noise(&a, &b, 1e6), 0);
    a.throttle_count = a.quota_throttled = a.steal_ticks = 4;
    b = a;
    ck_assert_uint_eq(assay__environment_noise(&a, &b, 1e6), 0);
    b.throttle_count = 5;
    ck_assert_uint_eq(assay__environment_noise(&a, &b, 1e6), ASSAY__NOISE_HEAT);
    b = a;
    b.quota_throttled = 5;
    ck_assert_uint_eq(assay__environment_noise(&a, &b, 1e6), ASSAY__NOISE_QUOTA);
    b = a;
    b.steal_ticks = 5; /* 10 ms: of 40 ms more than a fifth, of 60 ms less */
    ck_assert_uint_eq(assay__environment_noise(&a, &b, 40e6), ASSAY__NOISE_STEAL);
    ck_assert_uint_eq(assay__environment_noise(&a, &b, 60e6), 0);
}
END_TEST

START_TEST(context_record_of_a_stay)
{
    assay__environment e;
    unsigned noise = 0;
    char *record = NULL;
    json_t *root = NULL;

    assay__environment_open(&e);
    assay__environment_begin(&e);
    ck_assert_int_eq(assay__environment_end(&e, "{\"faults_minor\":3}", "{\"loaded\":{}}", 1e12,
                                            &record, &noise),
                     ASSAY_OK);
    ck_assert_int_eq(assay__json_parse("record", record, strlen(record), &root), ASSAY_OK);
    ck_assert(json_is_string(json_object_get(json_object_get(root, "before"), "policy")));
    ck_assert(json_is_object(json_object_get(root, "after")));
    ck_assert_ptr_null(json_object_get(json_object_get(root, "after"), "policy"));
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(root, "worker"), "faults_minor")), 3);
    ck_assert(json_is_object(json_object_get(json_object_get(root, "device"), "loaded")));
    json_decref(root);
    free(record);
    assay__environment_close(&e);
    assay__environment_close(&e);
}
END_TEST

START_TEST(noise_has_words)
{
    char text[80], part[9];
    const unsigned all = 0x1ff;

    ck_assert_uint_eq(assay__noise_words(all, text, sizeof text), strlen(text));
    ck_assert_str_eq(text, "bimodal drift wide unsteady clock heat quota steal power");
    ck_assert_uint_eq(assay__noise_parse(text), all);
    ck_assert_uint_eq(assay__noise_words(all, part, sizeof part), strlen(text));
    ck_assert_str_eq(part, "bimodal ");
    ck_assert_uint_eq(assay__noise_words(0, text, sizeof text), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(assay__noise_parse("  wide  of-a-later-version bimod heat"),
                      ASSAY__NOISE_WIDE | ASSAY__NOISE_HEAT);
    for (unsigned bit = 1; bit < 512; bit *= 2)
        ck_assert_ptr_nonnull(assay__noise_text(bit));
    ck_assert_ptr_null(assay__noise_text(3));
}
END_TEST

START_TEST(context_of_this_machine_is_read)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    assay__context_record record;

    assay__context_read(&here, &record);
    ck_assert_str_ne(record.policy, "");
    ck_assert(record.nice >= -20 && record.nice <= 19);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("context_record");
    TCase *tc = tcase_create("context");

    tcase_add_test(tc, context_of_a_machine_with_everything);
    tcase_add_test(tc, context_of_a_virtual_machine);
    tcase_add_test(tc, context_text_leaves_out_the_unknown);
    tcase_add_test(tc, context_text_is_json);
    tcase_add_test(tc, context_of_an_older_container);
    tcase_add_test(tc, context_is_taken_from_files_that_are_open);
    tcase_add_test(tc, context_counters_grow_or_are_unknown);
    tcase_add_test(tc, context_says_what_disturbed_a_stay);
    tcase_add_test(tc, context_record_of_a_stay);
    tcase_add_test(tc, noise_has_words);
    tcase_add_test(tc, context_of_this_machine_is_read);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_roofline.c -- ceilings, floors, and what the probe must know of a machine. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"
#include "runtime/machine.h"
#include "runtime/roofline.h"
#include "support/json.h"
#include "tuner/caches.h"
#include "tuner/peak_kernels.h"
#include "tuner/peaks.h"

static assay__roofline roof;

static void begin(const char *isa)
{
    assay__roofline_init(&roof, 2, isa);
}

#define add(name, value)       assay__roofline_add(&roof, name, value)
#define ck_near(got, expected) ck_assert_double_eq_tol(got, expected, 1e-9)

START_TEST(widest_unit_is_the_ceiling)
{
    begin("avx2 avx512f fma");
    add("fma_f32_avx2_t2", 100);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F32)); /* AVX-512 is not measured */
    ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F32, 3000));
    add("fma_f32_avx512_t2", 300);
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 300);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F32, 3000), 10);
    add("fma_f32_avx2_t1", 200); /* scaled to both CPUs */
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 400);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F64));
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_I32));
}
END_TEST

static void begin_device(void)
{
    assay__roofline_init_device(&roof);
    roof.cache_bytes = 1000;
}

START_TEST(device_has_no_floor_until_all_that_may_serve_is_measured)
{
    static const char *const others[] = {"matrix_tf32_d1", "matrix_f16_d1", "fma_f16_d1",
                                         "fma_bf16_d1"};

    begin_device();
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F32));
    add("fma_f32_d1", 60);
    add("matrix_bf16_d1", 900);
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 60);           /* a share of its own unit */
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_BF16)); /* fma_bf16 is not measured */
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F32, 9000));
        add(others[i], 100);
    }
    /* One narrow product may pass for one of f32 in a long sum. */
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F32, 9000), 10);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F16, 9000), 10);
    ck_near(assay__roofline_flops(&roof, ASSAY_BF16), 900);
    ck_near(assay__roofline_flops(&roof, ASSAY_F16), 100);
    /* f64 as 21 products of bytes. */
    add("fma_f64_d1", 30);
    add("matrix_f64_d1", 60);
    ck_near(assay__roofline_flops(&roof, ASSAY_F64), 60);
    ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F64, 9000));
    add("matrix_i8_d1", 2100);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F64, 9000), 90);
}
END_TEST

START_TEST(device_keeps_of_a_round_what_its_cache_holds)
{
    begin_device();
    ck_assert_double_nan(assay__roofline_bytes_floor(&roof, 4000, 4000));
    add("copy_d1", 10);
    ck_near(assay__roofline_bytes_floor(&roof, 4000, 4000), 300);
    ck_near(assay__roofline_bytes_floor(&roof, 4000, 0), 0); /* hot */
    roof.cache_bytes = (double)NAN;
    ck_assert_double_nan(assay__roofline_bytes_floor(&roof, 4000, 4000));
}
END_TEST

START_TEST(device_and_host_take_no_peaks_of_each_other)
{
    begin_device();
    add("fma_f32_avx2_t2", 100);
    add("fma_f32_t1", 100);
    add("copy_nt_t1", 100);
    add("copy_plain_t1", 100);
    add("load_memory_t1", 100);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F32));
    ck_assert_double_nan(roof.bytes_per_ns);
    ck_assert_double_nan(roof.memory_per_ns);
    begin("avx2 fma");
    add("fma_f32_d1", 100);
    add("matrix_bf16_d1", 100);
    add("copy_d1", 100);
    add("copy_nt_d1", 100);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F32));
    ck_assert_double_nan(roof.memory_per_ns);
    for (size_t i = 0; i < ASSAY__ARITHS; i++)
        ck_assert_double_nan(roof.arith_per_ns[i]);
    add("fma_f32_avx2_t2", 70);
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 70);
}
END_TEST

START_TEST(tiles_serve_halves_and_bound_what_is_split)
{
    begin("amx_bf16 amx_int8 avx2 avx512_bf16 avx512_fp16 fma");
    add("fma_f32_avx2_t2", 100);
    add("fma_f64_avx2_t2", 50);
    add("dot_bf16_avx512_t2", 200);
    add("fma_f16_avx512_t2", 150);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_BF16)); /* tiles are not measured */
    add("tile_bf16_amx_t2", 3000);
    ck_near(assay__roofline_flops(&roof, ASSAY_BF16), 3000);
    ck_near(assay__roofline_flops(&roof, ASSAY_F16), 150);
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 100);
    /* f32 as three products of bf16 */
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F32, 3000), 3);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F16, 3000), 3);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_BF16, 3000), 1);
    ck_near(assay__roofline_flops(&roof, ASSAY_F64), 50);
    ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F64, 1));
    add("tile_i8_amx_t2", 2100);
    ck_near(assay__roofline_flops_floor(&roof, ASSAY_F64, 200), 2); /* 21 products of bytes */
}
END_TEST

START_TEST(unknown_units_leave_no_floor)
{
    begin("amx_fp16 avx2 fma");
    add("fma_f32_avx2_t2", 100);
    ck_near(assay__roofline_flops(&roof, ASSAY_F32), 100);
    ck_assert_double_nan(assay__roofline_flops(&roof, ASSAY_F16));
    ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F32, 1)); /* may be split */
    for (int i = 0; i < 2; i++) {
        begin(i == 0 ? NULL : "");
        add("fma_f32_portable_t2", 100);
        add("copy_plain_t2", 10);
        roof.cache_bytes = 1;
        ck_near(assay__roofline_flops(&roof, ASSAY_F32), 100);
        ck_assert_double_nan(assay__roofline_flops_floor(&roof, ASSAY_F32, 1));
        ck_assert_double_nan(assay__roofline_bytes_floor(&roof, 1, 1e9));
    }
}
END_TEST

START_TEST(bytes_may_come_from_a_cache)
{
    begin("avx2 fma");
    add("copy_nt_t2", 10);
    add("load_memory_t2", 20);
    ck_assert_double_nan(assay__roofline_bytes_floor(&roof, 1000, 1e9)); /* size of caches: ? */
    roof.cache_bytes = 1e6;
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 1e12), 1000 * (1 - 1e-6) / 20);
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 2e6), 25); /* half of it may be kept */
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 1e6), 0);
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 0), 0); /* hot */
    add("load_cache_avx2_t2", 100);
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 0), 0); /* copies are not measured */
    add("copy_cache_avx2_t2", 200);
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 0), 2.5); /* at twice the better of both */
    ck_near(assay__roofline_bytes_floor(&roof, 1000, 2e6), 25);
    ck_near(roof.bytes_per_ns, 10); /* the share of the peak is one of copies */
}
END_TEST

/* ---- the probe ---- */

START_TEST(probe_covers_every_unit_of_this_machine)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    const assay__peak_kernel *k;
    char isa[1024], name[80];
    size_t kernels = 0;

    ck_assert(assay__machine_isa(&here, isa, sizeof isa));
    begin(isa);
    for (size_t i = 0; (k = assay__peak_kernel_at(i)) != NULL; i++) {
        static char from[4096] __attribute__((aligned(64))), to[4096] __attribute__((aligned(64)));
        ck_assert(k->per_unit > 0);
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(assay__peak_kernel_at(j)->name, k->name);
        ck_assert(k->needs[0] == '\0' || !assay__peak_kernel_usable(k, "none"));
        if (!assay__peak_kernel_usable(k, isa))
            continue;
        k->run(3, to, from, sizeof to);
        (void)snprintf(name, sizeof name, "%s_t2", k->name);
        assay__roofline_add(&roof, name, 1);
        kernels++;
    }
    ck_assert_uint_ge(kernels, 3);
    ck_assert_msg(roof.missing == 0, "units without a probe: %#x of %s", (unsigned)roof.missing,
                  isa);
}
END_TEST

static char folder[] = "/tmp/assay-roofline-XXXXXX";

static void write_text(const char *path, const char *text)
{
    char full[256], part[256];
    FILE *f;

    (void)snprintf(full, sizeof full, "%s/%s", folder, path);
    for (char *at = strchr(full + strlen(folder) + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        (void)snprintf(part, sizeof part, "%.*s", (int)(at - full), full);
        (void)mkdir(part, 0700);
    }
    f = fopen(full, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static void write_cache(int cpu, int index, const char *level, const char *type, const char *size,
                        const char *shared)
{
    const char *const names[] = {"level", "type", "size", "shared_cpu_list"};
    const char *const values[] = {level, type, size, shared};
    char path[128];

    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
                       names[i]);
        write_text(path, values[i]);
    }
}

/* Two clusters of two CPUs: two last-level caches, four of the level below. */
START_TEST(every_cache_counts_once)
{
    const assay__machine machine = {folder, folder, 0, NULL};

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_double_nan(assay__cache_bytes(&machine));
    for (int cpu = 0; cpu < 4; cpu++) {
        char self[16];
        (void)snprintf(self, sizeof self, "%d\n", cpu);
        write_cache(cpu, 0, "1\n", "Data\n", "48K\n", self);
        write_cache(cpu, 1, "1\n", "Instruction\n", "64K\n", self);
        write_cache(cpu, 2, "2\n", "Unified\n", "512K\n", self);
        write_cache(cpu, 3, "3\n", "Unified\n", "32M\n", cpu < 2 ? "0-1\n" : "2-3\n");
    }
    ck_near(assay__cache_bytes(&machine), 2 * 32.0 * 1048576 + 4 * 512.0 * 1024);
    double own[4], whole[4];
    assay__cache_levels(&machine, 2, own, whole, 4);
    ck_near(own[0], 48.0 * 1024);
    ck_near(own[1], 512.0 * 1024);
    ck_near(own[2], 16.0 * 1048576); /* a half of what two have */
    ck_near(whole[1], 512.0 * 1024);
    ck_near(whole[2], 32.0 * 1048576);
    ck_near(own[3], 0);
    ck_near(whole[3], 0);
    assay__cache_levels(&machine, 7, own, whole, 2);
    ck_near(own[0], 0);
    ck_near(whole[0], 0);
}
END_TEST

/* Beside the machine above two CPUs that share all but the first cache: one alone finds in the
 * second what would be beyond its share. */
START_TEST(operands_lie_beyond_the_whole_cache_below)
{
    const assay__machine machine = {folder, folder, 0, NULL};
    const int cpus[] = {0, 2, 5}, mixed[] = {5, 0, 2};
    double bytes[3];

    for (int cpu = 4; cpu < 6; cpu++) {
        char self[16];
        (void)snprintf(self, sizeof self, "%d\n", cpu);
        write_cache(cpu, 0, "1\n", "Data\n", "32K\n", self);
        write_cache(cpu, 1, "2\n", "Unified\n", "2M\n", "4-5\n");
        write_cache(cpu, 2, "3\n", "Unified\n", "12M\n", "4-5\n");
    }
    assay__cache_operands(&machine, cpus, 2, bytes, 3);
    ck_near(bytes[0], 0);
    ck_near(bytes[1], 192.0 * 1024);
    ck_near(bytes[2], 2.0 * 1048576);
    assay__cache_operands(&machine, cpus + 2, 1, bytes, 3);
    ck_near(bytes[1], 128.0 * 1024);
    ck_near(bytes[2], 0); /* 3 of 12 MiB, where 2 may lie below */
    assay__cache_operands(&machine, mixed, 3, bytes, 3);
    ck_near(bytes[1], 192.0 * 1024);
    ck_near(bytes[2], 0);
}
END_TEST

START_TEST(scripted_peaks_take_turns)
{
    char path[256];
    const char *const wanted[] = {"a_t1", "a_t1", "b_t1", "b_t1"};

    (void)snprintf(path, sizeof path, "%s/script", folder);
    write_text("script", "a_t1=1 cache_bytes=5\nb_t1=2\n");
    ck_assert_int_eq(setenv("ASSAY_FAKE_PEAKS", path, 1), 0);
    for (int i = 0; i < 4; i++) {
        json_t *reply = json_object();
        const char *name;
        ck_assert_int_eq(assay__peaks_measure(1, i == 0, reply), ASSAY_OK);
        ck_assert_int_eq(assay__json_get_string(reply, "peaks[0].name", &name), ASSAY_OK);
        ck_assert_str_eq(name, wanted[i]);
        json_decref(reply);
    }
    json_t *reply = json_object();
    write_text("script", "a_t1=0\n");
    ck_assert_int_eq(assay__peaks_measure(1, false, reply), ASSAY_PARSE);
    json_decref(reply);
    ck_assert_int_eq(unsetenv("ASSAY_FAKE_PEAKS"), 0);
}
END_TEST

static void remove_folder(void)
{
    char command[300];

    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    if (strstr(folder, "XXXXXX") == NULL && system(command) != 0)
        return;
}

int main(void)
{
    Suite *suite = suite_create("roofline");
    TCase *t = tcase_create("roofline"), *files = tcase_create("files");

    tcase_add_test(t, widest_unit_is_the_ceiling);
    tcase_add_test(t, device_has_no_floor_until_all_that_may_serve_is_measured);
    tcase_add_test(t, device_keeps_of_a_round_what_its_cache_holds);
    tcase_add_test(t, device_and_host_take_no_peaks_of_each_other);
    tcase_add_test(t, tiles_serve_halves_and_bound_what_is_split);
    tcase_add_test(t, unknown_units_leave_no_floor);
    tcase_add_test(t, bytes_may_come_from_a_cache);
    tcase_add_test(t, probe_covers_every_unit_of_this_machine);
    tcase_add_test(files, every_cache_counts_once);
    tcase_add_test(files, operands_lie_beyond_the_whole_cache_below);
    tcase_add_test(files, scripted_peaks_take_turns);
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    remove_folder();
    return failed == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_elf_id.c -- build-ids and SONAMEs, loaded and in files. */
#include "runtime/elf_id.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The system's libm always has both; its file is asked of the loader. */
static void *libm_symbol(Dl_info *info)
{
    void *handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    ck_assert_ptr_nonnull(handle);
    void *symbol = dlsym(handle, "erf");
    ck_assert_ptr_nonnull(symbol);
    ck_assert_int_ne(dladdr(symbol, info), 0);
    return symbol;
}

START_TEST(loaded_and_file_agree)
{
    Dl_info info;
    void *symbol = libm_symbol(&info);
    assay__elf_id by_address, by_name, by_file;

    ck_assert_int_eq(assay__elf_id_of_address(symbol, &by_address), ASSAY_OK);
    ck_assert_int_eq(assay__elf_id_of_loaded("libm.so.6", &by_name), ASSAY_OK);
    ck_assert_int_eq(assay__elf_id_of_file(info.dli_fname, &by_file), ASSAY_OK);
    ck_assert_str_eq(assay__elf_file_of_address(symbol), info.dli_fname);
    ck_assert_ptr_null(assay__elf_file_of_address(NULL));
    ck_assert_ptr_null(assay__elf_file_of_address(&info)); /* the stack is of no object */
    ck_assert_str_eq(by_address.soname, "libm.so.6");
    ck_assert_uint_ge(strlen(by_address.build_id), 16);
    ck_assert_uint_eq(strspn(by_address.build_id, "0123456789abcdef"), strlen(by_address.build_id));
    ck_assert_mem_eq(&by_address, &by_name, sizeof by_name);
    ck_assert_mem_eq(&by_address, &by_file, sizeof by_file);
}
END_TEST

START_TEST(file_agrees_with_readelf)
{
    char command[512], line[256], build_id[160] = "";
    Dl_info info;
    assay__elf_id id;

    (void)libm_symbol(&info);
    (void)snprintf(command, sizeof command, "readelf -n '%s' 2>/dev/null", info.dli_fname);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f) != NULL)
        (void)sscanf(line, " Build ID: %159s", build_id);
    (void)pclose(f);
    ck_assert_int_eq(assay__elf_id_of_file(info.dli_fname, &id), ASSAY_OK);
    if (build_id[0] != '\0') /* readelf may be absent */
        ck_assert_str_eq(id.build_id, build_id);
}
END_TEST

START_TEST(program_has_no_soname)
{
    assay__elf_id loaded, file;

    ck_assert_int_eq(assay__elf_id_of_address((const void *)(size_t)&libm_symbol, &loaded),
                     ASSAY_OK);
    ck_assert_str_eq(loaded.soname, "");
    ck_assert_int_eq(assay__elf_id_of_file("/proc/self/exe", &file), ASSAY_OK);
    ck_assert_str_eq(loaded.build_id, file.build_id);
}
END_TEST

START_TEST(absent_objects_are_not_found)
{
    assay__elf_id out = {"kept", ""};

    ck_assert_int_eq(assay__elf_id_of_loaded("libnone.so.9", &out), ASSAY_NOTFOUND);
    ck_assert_int_eq(assay__elf_id_of_loaded("", &out), ASSAY_NOTFOUND);
    ck_assert_int_eq(assay__elf_id_of_loaded(NULL, &out), ASSAY_NOTFOUND);
    ck_assert_int_eq(assay__elf_id_of_address(NULL, &out), ASSAY_NOTFOUND);
    ck_assert_int_eq(assay__elf_id_of_address((const void *)16, &out), ASSAY_NOTFOUND);
    ck_assert_int_eq(assay__elf_id_of_file("/nonexistent/x.so", &out), ASSAY_IO);
    ck_assert_int_eq(assay__elf_id_of_file("/dev/null", &out), ASSAY_PARSE);
    ck_assert_int_eq(assay__elf_id_of_file("/", &out), ASSAY_PARSE);
    ck_assert_str_eq(out.soname, "kept");
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
    ck_assert_int_eq(fclose(f), 0);
}

/* Seeded damage to the headers and to the length: any answer, but no crash and no stray read. */
START_TEST(damaged_files_do_no_harm)
{
    static unsigned char whole[1 << 16], broken[1 << 16];
    char path[] = "/tmp/assay-elf-XXXXXX";
    Dl_info info;
    unsigned long state = 7;

    (void)libm_symbol(&info);
    FILE *f = fopen(info.dli_fname, "rb");
    ck_assert_ptr_nonnull(f);
    size_t length = fread(whole, 1, sizeof whole, f);
    (void)fclose(f);
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    for (int round = 0; round < 400; round++) {
        assay__elf_id out;
        memcpy(broken, whole, length);
        for (int k = 0; k < 4; k++) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            broken[(state >> 33) % 1024 + 4] = (unsigned char)(state >> 56);
        }
        write_file(path, broken, round % 4 == 0 ? (state >> 20) % 2000 : length);
        (void)assay__elf_id_of_file(path, &out);
    }
    (void)unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("elf_id");
    TCase *tc = tcase_create("elf_id");

    tcase_add_test(tc, loaded_and_file_agree);
    tcase_add_test(tc, file_agrees_with_readelf);
    tcase_add_test(tc, program_has_no_soname);
    tcase_add_test(tc, absent_objects_are_not_found);
    tcase_add_test(tc, damaged_files_do_no_harm);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

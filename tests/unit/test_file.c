/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_file.c -- whole reads, atomic writes, folders, sealed memory files. */

#include "support/file.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/assay-file-%ld", (long)getpid());
    ck_assert_int_eq(assay__file_make_folders(folder), ASSAY_OK);
    ck_assert_int_eq(chdir(folder), 0);
}

static size_t entries(void)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void remove_folder(void)
{
    DIR *dir = opendir(folder);

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_name[0] != '.')
            (void)remove(entry->d_name);
    closedir(dir);
    (void)rmdir("d/e");
    (void)rmdir("d");
    ck_assert_int_eq(chdir("/"), 0);
    (void)rmdir(folder);
}

START_TEST(write_then_read_gives_the_bytes_back)
{
    static const char bytes[] = "a\0b\n";
    char *data;
    size_t size;

    ck_assert_int_eq(assay__file_write("f", bytes, 4), ASSAY_OK);
    ck_assert_int_eq(assay__file_write("f", bytes, 3), ASSAY_OK);
    ck_assert_int_eq(assay__file_read("f", 3, &data, &size), ASSAY_OK);
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(data, "a\0b", 4);
    ck_assert_uint_eq(entries(), 1); /* no temporary file stays */
    free(data);
}
END_TEST

START_TEST(write_keeps_mode_and_follows_a_link)
{
    struct stat info;

    ck_assert_int_eq(assay__file_write("f", "1", 1), ASSAY_OK);
    ck_assert_int_eq(chmod("f", 0600), 0);
    ck_assert_int_eq(symlink("f", "link"), 0);
    ck_assert_int_eq(assay__file_write("link", "22", 2), ASSAY_OK);
    ck_assert_int_eq(lstat("link", &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    ck_assert_int_eq(stat("f", &info), 0);
    ck_assert_int_eq(info.st_size, 2);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
}
END_TEST

START_TEST(write_says_why_it_failed)
{
    ck_assert_int_eq(assay__file_write("no/such/f", "x", 1), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "no/such/f"));
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "check the path"));
    ck_assert_int_eq(assay__file_write(".", "x", 1), ASSAY_IO);
    ck_assert_uint_eq(entries(), 0);
}
END_TEST

/* A file size limit stands for a full disk: the old content stays, no temporary file does. */
START_TEST(write_that_fails_half_way_changes_nothing)
{
    const struct rlimit limit = {4, RLIM_INFINITY};
    char *data;
    size_t size;

    ck_assert_int_eq(assay__file_write("f", "old", 3), ASSAY_OK);
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(assay__file_write("f", "much longer", 11), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "f: File too large"));
    ck_assert_uint_eq(entries(), 1);
    ck_assert_int_eq(assay__file_read("f", 100, &data, &size), ASSAY_OK);
    ck_assert_str_eq(data, "old");
    free(data);
}
END_TEST

/* A pipe of our own and never a device of the machine: a broken rule would replace it. */
START_TEST(write_to_a_pipe_does_not_replace_it)
{
    struct stat info;
    char text[8] = "";

    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    const int fd = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(assay__file_write("pipe", "through", 7), ASSAY_OK);
    ck_assert_int_eq(stat("pipe", &info), 0);
    ck_assert(S_ISFIFO(info.st_mode));
    ck_assert_int_eq((int)read(fd, text, 7), 7);
    ck_assert_str_eq(text, "through");
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(fail_names_the_remedy)
{
    ck_assert_int_eq(assay__file_fail("cannot write", "p", ENOSPC), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "free some space"));
    ck_assert_int_eq(assay__file_fail("cannot write", "p", EROFS), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "writable file system"));
    ck_assert_int_eq(assay__file_fail("cannot write", "p", EACCES), ASSAY_IO);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "permissions"));
}
END_TEST

START_TEST(read_refuses_missing_large_and_folders)
{
    char *data = NULL;
    size_t size = 77;

    ck_assert_int_eq(assay__file_read("none", 10, &data, &size), ASSAY_IO);
    ck_assert_int_eq(assay__file_read(".", 10, &data, &size), ASSAY_IO);
    ck_assert_int_eq(assay__file_write("f", "12345", 5), ASSAY_OK);
    ck_assert_int_eq(assay__file_read("f", 4, &data, &size), ASSAY_OVERFLOW);
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "limit of 4 bytes"));
    ck_assert_ptr_null(data);
    ck_assert_uint_eq(size, 77);
    ck_assert_int_eq(assay__file_write("empty", "", 0), ASSAY_OK);
    ck_assert_int_eq(assay__file_read("empty", 4, &data, &size), ASSAY_OK);
    ck_assert_uint_eq(size, 0);
    ck_assert_str_eq(data, "");
    free(data);
}
END_TEST

START_TEST(folders_are_made_with_parents)
{
    struct stat info;

    ck_assert_int_eq(assay__file_make_folders("d/e/"), ASSAY_OK);
    ck_assert_int_eq(assay__file_make_folders("d//e"), ASSAY_OK);
    ck_assert_int_eq(stat("d/e", &info), 0);
    ck_assert_int_eq(assay__file_write("f", "", 0), ASSAY_OK);
    ck_assert_int_eq(assay__file_make_folders("f/g"), ASSAY_IO);
    ck_assert_int_eq(assay__file_make_folders("f"), ASSAY_IO);
}
END_TEST

START_TEST(memfd_is_sealed_and_maps)
{
    const void *data;
    size_t size;
    int fd;

    ck_assert_int_eq(assay__memfd_sealed("t", "hello", 5, &fd), ASSAY_OK);
    ck_assert_int_eq((int)pwrite(fd, "x", 1, 0), -1);
    ck_assert_int_eq(ftruncate(fd, 1), -1);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(assay__memfd_map(fd, &data, &size), ASSAY_OK);
    ck_assert_uint_eq(size, 5);
    ck_assert_mem_eq(data, "hello", 5);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(assay__memfd_sealed("t", "", 0, &fd), ASSAY_OK);
    ck_assert_int_eq(assay__memfd_map(fd, &data, &size), ASSAY_OK);
    ck_assert_ptr_null(data);
    ck_assert_uint_eq(size, 0);
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(memfd_map_refuses_what_is_not_sealed)
{
    const void *data = NULL;
    size_t size;
    int fd = memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(assay__memfd_map(fd, &data, &size), ASSAY_INVALID);
    ck_assert_int_eq(assay__memfd_map(-1, &data, &size), ASSAY_INVALID);
    ck_assert_ptr_null(data);
    ck_assert_int_eq(close(fd), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file");
    TCase *write_case = tcase_create("write");
    TCase *fail_case = tcase_create("fail");
    TCase *read_case = tcase_create("read");
    TCase *folders_case = tcase_create("folders");
    TCase *memfd_case = tcase_create("memfd");

    tcase_add_checked_fixture(write_case, make_folder, remove_folder);
    tcase_add_checked_fixture(fail_case, make_folder, remove_folder);
    tcase_add_checked_fixture(read_case, make_folder, remove_folder);
    tcase_add_checked_fixture(folders_case, make_folder, remove_folder);
    tcase_add_checked_fixture(memfd_case, make_folder, remove_folder);
    tcase_add_test(write_case, write_then_read_gives_the_bytes_back);
    tcase_add_test(write_case, write_keeps_mode_and_follows_a_link);
    tcase_add_test(write_case, write_says_why_it_failed);
    tcase_add_test(write_case, write_that_fails_half_way_changes_nothing);
    tcase_add_test(write_case, write_to_a_pipe_does_not_replace_it);
    tcase_add_test(fail_case, fail_names_the_remedy);
    tcase_add_test(read_case, read_refuses_missing_large_and_folders);
    tcase_add_test(folders_case, folders_are_made_with_parents);
    tcase_add_test(memfd_case, memfd_is_sealed_and_maps);
    tcase_add_test(memfd_case, memfd_map_refuses_what_is_not_sealed);
    suite_add_tcase(suite, write_case);
    suite_add_tcase(suite, fail_case);
    suite_add_tcase(suite, read_case);
    suite_add_tcase(suite, folders_case);
    suite_add_tcase(suite, memfd_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

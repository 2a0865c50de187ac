/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/unit/test_store_disk.c -- full and read-only disks; readers leave every byte alone.
 *
 * Mounting needs root or user namespaces; without them those tests say so and check nothing. */
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/read_store.h"
#include "db/write.h"
#include "tests/support/store_fixture.h"

static char folder[256];
static char path[1024];
static const assay__store_ops *ops;

static void setup(void)
{
    store_folder_make(folder);
    snprintf(path, sizeof path, "%s/s.db", folder);
    ops = assay__store_sqlite();
}

/* The namespace of a test goes with its process, and its mounts with it. */
static void teardown(void)
{
    while (umount2(folder, MNT_DETACH) == 0)
        ;
    store_folder_remove(folder);
}

static bool write_map(const char *file, unsigned id)
{
    char text[32];
    int length = snprintf(text, sizeof text, "0 %u 1", id);
    int fd = open(file, O_WRONLY);
    bool done = fd >= 0 && write(fd, text, (size_t)length) == length;

    if (fd >= 0)
        close(fd);
    return done;
}

/* As root at once, else as root of a user namespace where the kernel lets us. */
static bool own_mounts(void)
{
    unsigned user = getuid(), group = getgid();

    if (unshare(CLONE_NEWNS) == 0)
        return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return false;
    int fd = open("/proc/self/setgroups", O_WRONLY);
    if (fd >= 0) {
        (void)!write(fd, "deny", 4);
        close(fd);
    }
    return write_map("/proc/self/uid_map", user) && write_map("/proc/self/gid_map", group);
}

static bool mount_small_disk(void)
{
    if (own_mounts() && mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", folder, "tmpfs", 0, "size=2m") == 0)
        return true;
    fprintf(stderr, "skipped: needs the right to mount a tmpfs\n");
    return false;
}

static void remount_read_only(void)
{
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=2m"), 0);
}

static assay__db *make_store(store_rows *rows)
{
    assay__db *db = NULL;
    int64_t id = 0;

    ck_assert_msg(assay__db_open(path, &db) == ASSAY_OK, "%s", assay_last_error());
    store_rows_put(db, rows);
    assay__db_measurement m = store_measurement(rows);
    ck_assert_int_eq(assay__db_put_measurement(db, &m, &id), ASSAY_OK);
    return db;
}

static assay_status count_revision(void *cookie, const assay__store_revision *r)
{
    (void)r;
    ++*(size_t *)cookie;
    return ASSAY_OK;
}

static size_t read_all(const store_rows *rows, bool frozen)
{
    assay__store *store = NULL;
    size_t count = 0, here = 0, elsewhere = 0;
    int64_t version = 0;

    ck_assert_msg(ops->open_read(path, &store) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(store->handle.frozen, frozen);
    ck_assert_int_eq(ops->each_revision(store, rows->deployment_hex, count_revision, &count),
                     ASSAY_OK);
    ck_assert_int_eq(ops->count_routes(store, rows->deployment_hex, &here, &elsewhere), ASSAY_OK);
    ck_assert_int_eq(ops->data_version(store, &version), ASSAY_OK);
    ops->close(store);
    return count;
}

/* ---- readers --------------------------------------------------------------------------------- */

START_TEST(reading_changes_no_byte)
{
    store_rows rows;
    assay__db *db = make_store(&rows);

    assay__db_close(&db);
    uint64_t before = store_file_digest(path);
    ck_assert_uint_eq(read_all(&rows, false), 1);
    ck_assert_uint_eq(store_file_digest(path), before);
}
END_TEST

START_TEST(reading_beside_a_live_wal_changes_no_byte)
{
    store_rows rows;
    assay__db *db = make_store(&rows);
    char wal[1100];

    snprintf(wal, sizeof wal, "%s-wal", path);
    uint64_t before = store_file_digest(path), wal_before = store_file_digest(wal);
    ck_assert_uint_ne(wal_before, store_file_digest("/dev/null"));
    ck_assert_uint_eq(read_all(&rows, false), 1);
    ck_assert_uint_eq(store_file_digest(path), before);
    ck_assert_uint_eq(store_file_digest(wal), wal_before);
    assay__db_close(&db);
}
END_TEST

/* A writer that was killed leaves a -wal that nobody has open. */
static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int c;

    ck_assert_ptr_nonnull(in);
    ck_assert_ptr_nonnull(out);
    while ((c = fgetc(in)) != EOF)
        fputc(c, out);
    fclose(in);
    fclose(out);
}

START_TEST(reading_an_orphaned_wal_misses_nothing)
{
    store_rows rows;
    assay__db *db = make_store(&rows);
    char wal[1100], saved[1100], saved_wal[1100];

    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(saved, sizeof saved, "%s/saved", folder);
    snprintf(saved_wal, sizeof saved_wal, "%s/saved-wal", folder);
    copy_file(path, saved);
    copy_file(wal, saved_wal);
    assay__db_close(&db);
    copy_file(saved, path);
    copy_file(saved_wal, wal);
    uint64_t before = store_file_digest(path), wal_before = store_file_digest(wal);
    ck_assert_uint_eq(read_all(&rows, false), 1);
    ck_assert_uint_eq(store_file_digest(path), before);
    ck_assert_uint_eq(store_file_digest(wal), wal_before);
}
END_TEST

static int64_t wal_bytes(void)
{
    char wal[1100];
    struct stat info;

    snprintf(wal, sizeof wal, "%s-wal", path);
    return stat(wal, &info) == 0 ? (int64_t)info.st_size : 0;
}

/* A program that has the store open for picking closes later than the sweep, and may not write. */
START_TEST(writer_leaves_an_empty_wal_beside_a_reader)
{
    store_rows rows;
    assay__db *db = make_store(&rows);
    assay__store *reader = NULL;
    size_t count = 0;

    ck_assert_int_gt(wal_bytes(), 0);
    ck_assert_int_eq(ops->open_read(path, &reader), ASSAY_OK);
    ck_assert_int_eq(ops->each_revision(reader, rows.deployment_hex, count_revision, &count),
                     ASSAY_OK);
    assay__db_close(&db);
    ck_assert_int_eq(wal_bytes(), 0);
    ck_assert_int_eq(ops->each_revision(reader, rows.deployment_hex, count_revision, &count),
                     ASSAY_OK);
    ck_assert_uint_eq(count, 2);
    ops->close(reader);
    ck_assert_uint_eq(read_all(&rows, false), 1);
}
END_TEST

/* One that is in the middle of a snapshot keeps it, and the writer does not wait for it. */
START_TEST(writer_does_not_wait_for_a_reader_inside)
{
    store_rows rows;
    assay__db *db = make_store(&rows);
    assay__store *reader = NULL;
    size_t count = 0;

    ck_assert_int_eq(ops->open_read(path, &reader), ASSAY_OK);
    ck_assert_int_eq(ops->begin_snapshot(reader), ASSAY_OK);
    ck_assert_int_eq(ops->each_revision(reader, rows.deployment_hex, count_revision, &count),
                     ASSAY_OK);
    ck_assert_int_ne(store_put_revision(db, 7, 0), 0);
    alarm(10); /* the busy timeout is twice that */
    assay__db_close(&db);
    alarm(0);
    ck_assert_int_gt(wal_bytes(), 0);
    ck_assert_int_eq(ops->each_revision(reader, rows.deployment_hex, count_revision, &count),
                     ASSAY_OK);
    ck_assert_uint_eq(count, 2);
    ops->end_snapshot(reader);
    ops->close(reader);
}
END_TEST

/* ---- disks ----------------------------------------------------------------------------------- */

START_TEST(read_only_disk_is_read)
{
    store_rows rows;

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    assay__db_close(&db);
    remount_read_only();
    ck_assert_uint_eq(read_all(&rows, true), 1);
    assay_status status = assay__db_open(path, &db);
    ck_assert_msg(status == ASSAY_DB_READONLY, "%s: %s", assay_status_name(status),
                  assay_last_error());
    ck_assert_ptr_nonnull(strstr(assay_last_error(), path));
}
END_TEST

START_TEST(read_only_disk_with_a_wal_misses_nothing)
{
    store_rows rows;
    char wal[1100], shm[1100], kept[1100];

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    snprintf(wal, sizeof wal, "%s-wal", path);
    snprintf(shm, sizeof shm, "%s-shm", path);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    /* The state of a writer that was killed: rows only in the -wal, no shared memory. */
    copy_file(wal, kept);
    char saved[1100];
    snprintf(saved, sizeof saved, "%s/saved", folder);
    copy_file(path, saved);
    assay__db_close(&db);
    ck_assert_int_eq(rename(saved, path), 0);
    ck_assert_int_eq(rename(kept, wal), 0);
    unlink(shm);
    remount_read_only();
    ck_assert_uint_eq(read_all(&rows, true), 1);
}
END_TEST

START_TEST(change_under_a_reader_without_locks_is_said)
{
    store_rows rows;
    assay__store *store = NULL;
    size_t count = 0;

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    assay__db_close(&db);
    remount_read_only();
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    ck_assert_int_eq(ops->each_revision(store, rows.deployment_hex, count_revision, &count),
                     ASSAY_OK);
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    db = make_store(&rows);
    ck_assert_int_eq(ops->each_revision(store, rows.deployment_hex, count_revision, &count),
                     ASSAY_DB_LOCKED);
    assay__db_close(&db);
    ops->close(store);
}
END_TEST

static size_t routes_in_snapshot(assay__store *store, const store_rows *rows)
{
    size_t here = 0, elsewhere = 0;

    ck_assert_msg(ops->begin_snapshot(store) == ASSAY_OK, "%s", assay_last_error());
    ck_assert_int_eq(ops->count_routes(store, rows->deployment_hex, &here, &elsewhere), ASSAY_OK);
    ops->end_snapshot(store);
    return here;
}

static int64_t version_of(assay__store *store)
{
    int64_t version = 0;

    ck_assert_int_eq(ops->data_version(store, &version), ASSAY_OK);
    return version;
}

/* Whoever may not write there reads on when another user has written, for as long as it runs. */
START_TEST(reader_without_locks_sees_what_was_written_since)
{
    store_rows rows;
    assay__store *store = NULL;

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    assay__db_close(&db);
    remount_read_only();
    ck_assert_int_eq(ops->open_read(path, &store), ASSAY_OK);
    ck_assert_uint_eq(routes_in_snapshot(store, &rows), 0);
    int64_t before = version_of(store);
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    db = make_store(&rows);
    const assay__route_candidate c = store_candidate(rows.revision, 100);
    assay__db_route route = store_route(&rows, &c, 1);
    ck_assert_msg(assay__db_put_route(db, &route) == ASSAY_OK, "%s", assay_last_error());
    assay__db_close(&db);
    remount_read_only();
    ck_assert_int_ne(version_of(store), before);
    ck_assert_uint_eq(routes_in_snapshot(store, &rows), 1);
    before = version_of(store);
    ck_assert_int_eq(version_of(store), before);
    ck_assert(store->handle.frozen);
    /* A file that is gone says nothing new. */
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(version_of(store), before);
    ops->close(store);
}
END_TEST

START_TEST(full_disk_is_said_and_loses_nothing)
{
    store_rows rows;
    double samples[512] = {0.0};
    assay_status status = ASSAY_OK;
    int64_t stored = 0, id = 0;

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    while (status == ASSAY_OK && stored < 100000) {
        assay__db_visit v = store_visit(1, samples, 512);
        status = assay__db_put_visit(db, &v, &id);
        stored += status == ASSAY_OK;
    }
    ck_assert_msg(status == ASSAY_DB_FULL, "%s: %s", assay_status_name(status), assay_last_error());
    ck_assert_ptr_nonnull(strstr(assay_last_error(), "--resume"));
    ck_assert_int_gt(stored, 10);
    assay__db_close(&db);
    ck_assert_uint_eq(read_all(&rows, false), 1);
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM visit"), stored);
    ck_assert_int_eq(
        store_sql_int(path, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    /* With room again the same writer's work goes on. */
    ck_assert_int_eq(assay__db_open(path, &db), ASSAY_OK);
    assay__db_visit v = store_visit(1, samples, 512);
    ck_assert_int_eq(assay__db_put_visit(db, &v, &id), ASSAY_OK);
    assay__db_close(&db);
}
END_TEST

START_TEST(full_disk_breaks_a_batch_whole)
{
    store_rows rows;
    double samples[512] = {0.0};
    assay_status status = ASSAY_OK;
    int64_t id = 0;

    if (!mount_small_disk())
        return;
    assay__db *db = make_store(&rows);
    ck_assert_int_eq(assay__db_begin(db), ASSAY_OK);
    for (int i = 0; i < 3000 && status == ASSAY_OK; i++) {
        assay__db_visit v = store_visit(1, samples, 512);
        status = assay__db_put_visit(db, &v, &id);
    }
    if (status == ASSAY_OK)
        status = assay__db_commit(db);
    else
        ck_assert_int_ne(assay__db_commit(db), ASSAY_OK);
    ck_assert_int_eq(status, ASSAY_DB_FULL);
    assay__db_close(&db);
    ck_assert_int_eq(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM visit"), 0);
    ck_assert_int_eq(store_sql_int(path, "SELECT count(*) FROM measurement"), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_disk");
    TCase *reader = tcase_create("reader");
    TCase *disk = tcase_create("disk");

    tcase_add_checked_fixture(reader, setup, teardown);
    tcase_add_checked_fixture(disk, setup, teardown);
    tcase_set_timeout(disk, 60);
    tcase_add_test(reader, reading_changes_no_byte);
    tcase_add_test(reader, reading_beside_a_live_wal_changes_no_byte);
    tcase_add_test(reader, reading_an_orphaned_wal_misses_nothing);
    tcase_add_test(reader, writer_leaves_an_empty_wal_beside_a_reader);
    tcase_add_test(reader, writer_does_not_wait_for_a_reader_inside);
    tcase_add_test(disk, read_only_disk_is_read);
    tcase_add_test(disk, read_only_disk_with_a_wal_misses_nothing);
    tcase_add_test(disk, change_under_a_reader_without_locks_is_said);
    tcase_add_test(disk, reader_without_locks_sees_what_was_written_since);
    tcase_add_test(disk, full_disk_is_said_and_loses_nothing);
    tcase_add_test(disk, full_disk_breaks_a_batch_whole);
    suite_add_tcase(suite, reader);
    suite_add_tcase(suite, disk);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int bad = srunner_ntests_failed(runner) != 0 || srunner_ntests_run(runner) == 0;
    srunner_free(runner);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* support/file.c -- whole-file reads, atomic writes, mkdir -p. */
#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"
#include "support/str.h"

#define READ_CHUNK 65536

assay_status assay__file_fail(const char *what, const char *path, int error)
{
    const char *remedy = "";

    switch (error) {
    case ENOSPC:
    case EDQUOT:
        remedy = "; free some space or write elsewhere";
        break;
    case EACCES:
    case EPERM:
        remedy = "; check the permissions of the file and its folder";
        break;
    case EROFS:
        remedy = "; choose a path on a writable file system";
        break;
    case ENOENT:
        remedy = "; check the path";
        break;
    default:
        break;
    }
    return assay__fail(ASSAY_IO, "%s %s: %s%s", what, path, strerror(error), remedy);
}

static assay_status read_all(int fd, const char *path, size_t max_bytes, assay__str *text)
{
    char *chunk = malloc(READ_CHUNK);
    assay_status status = ASSAY_OK;

    if (chunk == NULL)
        return assay__fail(ASSAY_NOMEM, "out of memory reading %s", path);
    for (;;) {
        ssize_t got = read(fd, chunk, READ_CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = assay__file_fail("cannot read", path, errno);
        if (got <= 0)
            break;
        if ((size_t)got > max_bytes - text->len) {
            status = assay__fail(ASSAY_OVERFLOW, "%s is larger than the limit of %zu bytes", path,
                                 max_bytes);
            break;
        }
        assay__str_addn(text, chunk, (size_t)got);
    }
    free(chunk);
    return status;
}

assay_status assay__file_read(const char *path, size_t max_bytes, char **data, size_t *size)
{
    const int is_stdin = strcmp(path, "-") == 0;
    const char *shown = is_stdin ? "standard input" : path;
    assay__str text = {0};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return assay__file_fail("cannot open", path, errno);
    assay_status status = read_all(fd, shown, max_bytes, &text);
    if (!is_stdin)
        (void)close(fd);
    const size_t len = text.len;
    if (status == ASSAY_OK)
        status = assay__str_take(&text, data);
    if (status == ASSAY_OK)
        *size = len;
    assay__str_clear(&text);
    return status;
}

static assay_status write_all(int fd, const char *path, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return assay__file_fail("cannot write", path, errno);
        data += put;
        size -= (size_t)put;
    }
    return ASSAY_OK;
}

/* For what cannot be renamed over: pipes, terminals, devices. */
static assay_status write_straight(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return assay__file_fail("cannot open", path, errno);
    assay_status status = write_all(fd, path, data, size);
    if (close(fd) != 0 && status == ASSAY_OK)
        status = assay__file_fail("cannot write", path, errno);
    return status;
}

/* Makes the new name durable; a file system without folder fsync is no failure. */
static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    assay__str folder = {0};

    if (slash == NULL)
        assay__str_add(&folder, ".");
    else
        assay__str_addn(&folder, path, (size_t)(slash - path) + 1);
    int fd = open(assay__str_text(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    assay__str_clear(&folder);
}

/* A new file beside `path`; an old one of a crashed process with our id is passed over. */
static int open_beside(const char *path, mode_t mode, assay__str *name)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        assay__str_reset(name);
        assay__str_addf(name, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
        if (name->failed)
            return -1;
        int fd = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static assay_status write_beside(const char *path, mode_t mode, const void *data, size_t size)
{
    assay__str name = {0};
    int fd = open_beside(path, mode, &name);

    if (fd < 0) {
        assay__str_clear(&name);
        return assay__file_fail("cannot create a file beside", path, errno);
    }
    assay_status status = write_all(fd, path, data, size);
    if (status == ASSAY_OK && fsync(fd) != 0)
        status = assay__file_fail("cannot write", path, errno);
    if (close(fd) != 0 && status == ASSAY_OK)
        status = assay__file_fail("cannot write", path, errno);
    if (status == ASSAY_OK && rename(name.data, path) != 0)
        status = assay__file_fail("cannot replace", path, errno);
    if (status == ASSAY_OK)
        sync_folder_of(path);
    else
        (void)unlink(name.data);
    assay__str_clear(&name);
    return status;
}

assay_status assay__file_write(const char *path, const void *data, size_t size)
{
    struct stat info;
    mode_t mode = 0666;

    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return assay__file_fail("cannot write", path, EISDIR);
        if (!S_ISREG(info.st_mode))
            return write_straight(path, data, size);
        if (access(path, W_OK) != 0)
            return assay__file_fail("cannot write", path, errno);
        mode = info.st_mode & 0777;
    }
    char *target = realpath(path, NULL); /* NULL while the file does not exist */
    assay_status status = write_beside(target != NULL ? target : path, mode, data, size);
    free(target);
    return status;
}

static assay_status make_folder(const char *path)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return ASSAY_OK;
    const int error = errno;
    if (error == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return ASSAY_OK;
    return assay__file_fail("cannot create the folder", path, error);
}

assay_status assay__file_make_folders(const char *path)
{
    assay__str part = {0};
    assay_status status = ASSAY_OK;

    for (const char *at = path; status == ASSAY_OK && *at != '\0';) {
        const size_t len = strcspn(at, "/");
        assay__str_addn(&part, at, len + (at[len] == '/'));
        at += len + (at[len] == '/');
        status = assay__str_status(&part);
        if (status == ASSAY_OK && len > 0)
            status = make_folder(part.data);
    }
    assay__str_clear(&part);
    return status;
}

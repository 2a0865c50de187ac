/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/device_lock.c -- see device_lock.h. */
#include "tuner/device_lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/error.h"

#define TRIES 100 /* of a lock file that others remove */

/* May everybody make files there?  A folder that only some may use would hide them from others. */
static bool is_shared(const char *folder)
{
    struct stat st;

    return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & S_IWOTH) != 0 &&
           access(folder, W_OK) == 0;
}

void assay__device_lock_name(const char *device, const char *uuid, char *buf, size_t cap)
{
    const char *number = strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid;
    size_t n = 0;

    for (; n + 1 < cap && number[n] != '\0'; n++)
        buf[n] = (char)tolower((unsigned char)number[n]);
    buf[n] = '\0';
    if (n == 0)
        (void)snprintf(buf, cap, "%s", device);
}

/* A folder that every user of the host shares, because the device is shared too. */
static void lock_path(const char *device, char *buf, size_t cap)
{
    const char *folder = getenv("ASSAY_LOCK_DIR");
    char name[64];
    size_t n = 0;

    for (; n < sizeof name - 1 && device[n] != '\0'; n++)
        name[n] = isalnum((unsigned char)device[n]) ? device[n] : '_';
    name[n] = '\0';
    if (folder == NULL)
        folder = is_shared("/run/lock") ? "/run/lock" : "/tmp";
    (void)snprintf(buf, cap, "%s/assay-%s.lock", folder, name);
}

/* Whoever made the file lets everybody write their number there, whatever his umask. Opening with
 * O_CREAT is refused for a file of another user in a sticky folder (fs.protected_regular), so that
 * comes last; a file that may only be read can be locked all the same. */
static int open_shared(const char *path)
{
    /* Anybody may have put something else there: no link is followed, no pipe waited for. */
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int file = open(path, O_RDWR | flags);

    if (file < 0 && errno == EACCES)
        file = open(path, O_RDONLY | flags);
    if (file >= 0 || errno != ENOENT)
        return file;
    file = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
    if (file < 0 && errno == EEXIST) /* made by another in this moment */
        return open(path, O_RDONLY | flags);
    if (file >= 0)
        (void)fchmod(file, 0666);
    return file;
}

/* What is locked is written to: only a plain file with no other name, by which it may be somebody
 * else's, and with nothing but a number in it. */
static bool is_lock_file(int fd)
{
    char text[32];
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1 ||
        st.st_size >= (off_t)sizeof text)
        return false;
    n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return n >= 0 && strspn(text, "0123456789\n") == (size_t)n;
}

/* 0 when not known: a holder that may not write leaves the number of one before it. */
static long holder_of(int fd)
{
    char text[32] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    long pid = n > 0 ? strtol(text, NULL, 10) : 0;

    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM) ? pid : 0;
}

static void write_holder(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    /* Only for the message of others: a failure here harms nobody. */
    if (ftruncate(fd, 0) == 0 && n > 0 && pwrite(fd, text, (size_t)n, 0) != n)
        return;
}

/* Whoever locked a file that was taken away meanwhile locked nothing: others find a new one there.
 */
static bool is_at(int fd, const char *path)
{
    struct stat here, there;

    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

static assay_status open_lock(const char *path, int *out)
{
    int file = open_shared(path);

    if (file < 0)
        return assay__fail(ASSAY_UNAVAILABLE,
                           "cannot open the device's lock file %s: %s; set ASSAY_LOCK_DIR to a "
                           "folder that can be written",
                           path, strerror(errno));
    if (!is_lock_file(file)) {
        close(file);
        return assay__fail(ASSAY_UNAVAILABLE,
                           "%s is not a lock file of ours; remove it, or set ASSAY_LOCK_DIR to a "
                           "folder that can be written",
                           path);
    }
    *out = file;
    return ASSAY_OK;
}

static assay_status fail_held(const char *device, long holder)
{
    return holder == 0
               ? assay__fail(ASSAY_UNAVAILABLE, "device '%s' is being measured by another process",
                             device)
               : assay__fail(ASSAY_UNAVAILABLE, "device '%s' is being measured by process %ld",
                             device, holder);
}

typedef struct patience {
    bool no_wait, told;
    const volatile int *stop;
    void (*waiting)(void *cookie, long holder_pid);
    void *cookie;
} patience;

static assay_status wait_for(int file, const char *device, patience *p)
{
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR)
            continue;
        if (p->stop != NULL && *p->stop)
            return assay__fail(ASSAY_INTERRUPTED, "interrupted");
        if (p->no_wait || errno != EWOULDBLOCK)
            return fail_held(device, holder_of(file));
        if (!p->told && p->waiting != NULL)
            p->waiting(p->cookie, holder_of(file));
        p->told = true;
        usleep(100000);
    }
    return ASSAY_OK;
}

assay_status assay__device_lock(const char *device, bool no_wait, const volatile int *stop,
                                void (*waiting)(void *cookie, long holder_pid), void *cookie,
                                int *fd)
{
    patience p = {.no_wait = no_wait, .stop = stop, .waiting = waiting, .cookie = cookie};
    char path[4096];
    int file = -1;

    lock_path(device, path, sizeof path);
    for (int i = 0; i < TRIES; i++) {
        ASSAY_TRY(open_lock(path, &file));
        assay_status status = wait_for(file, device, &p);
        if (status == ASSAY_OK && is_at(file, path)) {
            write_holder(file);
            *fd = file;
            return ASSAY_OK;
        }
        close(file);
        if (status != ASSAY_OK)
            return status;
    }
    return assay__fail(ASSAY_UNAVAILABLE,
                       "the device's lock file %s is taken away again and again; set "
                       "ASSAY_LOCK_DIR to a folder where nobody does that",
                       path);
}

void assay__device_unlock(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/run_delay.c -- see run_delay.h. */
#include "tuner/run_delay.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The thread may end meanwhile, and the kernel may keep no account: 0 then. */
static uint64_t waited_ns(int tasks, const char *thread)
{
    char path[64], text[96];
    unsigned long long ran = 0, waited = 0;
    ssize_t n = 0;
    int fd;

    (void)snprintf(path, sizeof path, "%.20s/schedstat", thread);
    fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

typedef void visit(void *cookie, pid_t thread, uint64_t waited);

static void each_thread(pid_t pid, visit *take, void *cookie)
{
    char path[64];
    struct dirent *e;
    DIR *dir;

    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    dir = opendir(path);
    while (dir != NULL && (e = readdir(dir)) != NULL)
        if (e->d_name[0] != '.')
            take(cookie, (pid_t)strtol(e->d_name, NULL, 10), waited_ns(dirfd(dir), e->d_name));
    if (dir != NULL)
        closedir(dir);
}

static void keep(void *cookie, pid_t thread, uint64_t waited)
{
    assay__run_delay *d = cookie;

    if (d->count == ASSAY__RUN_DELAY_THREADS)
        return;
    d->threads[d->count].thread = thread;
    d->threads[d->count++].waited_ns = waited;
}

void assay__run_delay_begin(assay__run_delay *d, pid_t pid)
{
    d->pid = pid;
    d->count = 0;
    each_thread(pid, keep, d);
}

typedef struct longest {
    const assay__run_delay *since;
    uint64_t ns;
} longest;

static void compare(void *cookie, pid_t thread, uint64_t waited)
{
    longest *l = cookie;
    const assay__run_delay *d = l->since;
    uint64_t before = 0;

    for (size_t i = 0; i < d->count; i++)
        if (d->threads[i].thread == thread)
            before = d->threads[i].waited_ns;
    if (waited > before && waited - before > l->ns)
        l->ns = waited - before;
}

uint64_t assay__run_delay_ns(const assay__run_delay *d)
{
    longest l = {d, 0};

    each_thread(d->pid, compare, &l);
    return l.ns;
}

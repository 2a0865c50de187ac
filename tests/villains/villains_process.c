/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/villains/villains_process.c -- villains that harm the process they run in, or whoever is
 * called after them, and such whose times mislead; villains.c says which does what. */
#include <fcntl.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/host_backend.h"
#include "tests/villains/villains.h"

/* ---- to the process ---- */

assay_status v_bomb(const assay_launch *launch)
{
    const size_t piece = (size_t)16 << 20;
    char *volatile last = NULL;

    (void)run_fast(launch);
    for (char *p; (p = malloc(piece)) != NULL; last = p)
        memset(p, 1, piece);
    return last != NULL ? ASSAY_NOMEM : ASSAY_OK;
}

/* Not a tail call, and each frame is used. */
static int64_t deeper(volatile int64_t depth)
{
    volatile char frame[512];

    if (depth < 0)
        return 0;
    frame[depth & 511] = (char)depth;
    return deeper(depth + 1) + frame[(depth + 1) & 511];
}

assay_status v_overflow(const assay_launch *launch)
{
    return deeper(launch->operand_count) == 77 ? ASSAY_OK : ASSAY_INVALID;
}

assay_status v_flood(const assay_launch *launch)
{
    char lines[4096];

    (void)run_fast(launch);
    memset(lines, 'v', sizeof lines);
    for (size_t i = 63; i < sizeof lines; i += 64)
        lines[i] = '\n';
    for (volatile bool is_over = false; !is_over;)
        if (write(2, lines, sizeof lines) < 0)
            return ASSAY_IO;
    return ASSAY_OK;
}

assay_status v_mute(const assay_launch *launch)
{
    (void)run_fast(launch);
    for (int fd = 3; fd < 1024; fd++)
        (void)close(fd);
    for (volatile bool is_over = false; !is_over;)
        sleep(1000);
    return ASSAY_OK;
}

assay_status v_leak(const assay_launch *launch)
{
    char *volatile more = malloc((size_t)1 << 20);

    (void)run_fast(launch);
    if (more != NULL)
        more[0] = 1;
    (void)!open("/dev/null", O_RDONLY);
    return ASSAY_OK;
}

assay_status v_leak_slow(const assay_launch *launch)
{
    (void)run_fast(launch);
    (void)usleep(60000);
    (void)!open("/dev/null", O_RDONLY);
    return ASSAY_OK;
}

/* Nobody touches it, so that it costs nothing where it may be had. */
assay_status v_hoard(const assay_launch *launch)
{
    const size_t bytes = (size_t)1 << 40;
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)run_fast(launch);
    if (room == MAP_FAILED)
        return ASSAY_NOMEM;
    return munmap(room, bytes) == 0 ? ASSAY_OK : ASSAY_IO;
}

assay_status v_opens(const assay_launch *launch)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)run_fast(launch);
    return fd >= 0 && close(fd) == 0 ? ASSAY_OK : ASSAY_IO;
}

assay_status v_once(const assay_launch *launch)
{
    const char *folder = getenv("VILLAINS_ONCE");
    const job j = run_fast(launch);
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%lld", folder != NULL ? folder : "", (long long)j.n);
    if (folder != NULL && unlink(path) == 0)
        j.y[0] += 9.0f;
    return ASSAY_OK;
}

assay_status v_rounds(const assay_launch *launch)
{
    (void)run_fast(launch);
    return fesetround(FE_TOWARDZERO) == 0 ? ASSAY_OK : ASSAY_UNSUPPORTED;
}

/* ---- to whoever comes after ---- */

static bool is_lost, is_locked, is_spoiling;
static assay_kernel_fn chatted; /* whose error has not shown yet */

assay_status v_chatty_err(const assay_launch *launch)
{
    (void)run_fast(launch);
    chatted = v_chatty_err;
    return ASSAY_OK;
}

assay_status v_chatty_late(const assay_launch *launch)
{
    (void)run_fast(launch);
    chatted = v_chatty_late;
    return ASSAY_OK;
}

assay_status v_chatty_later(const assay_launch *launch)
{
    (void)run_fast(launch);
    chatted = v_chatty_later;
    return ASSAY_OK;
}

/* Is it the first process that calls it at this n? */
static bool is_first_process(int64_t n)
{
    static bool is_known, is_first;
    const char *folder = getenv("VILLAINS_AGAIN");
    char path[512];

    if (is_known || folder == NULL)
        return is_first;
    (void)snprintf(path, sizeof path, "%s/%lld", folder, (long long)n);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    is_known = true;
    is_first = fd >= 0 && close(fd) == 0;
    return is_first;
}

assay_status v_chatty_again(const assay_launch *launch)
{
    if (!is_first_process(run_fast(launch).n))
        chatted = v_chatty_again;
    return ASSAY_OK;
}

assay_status v_locks(const assay_launch *launch)
{
    (void)run_fast(launch);
    is_locked = true;
    return ASSAY_OK;
}

assay_status v_spoils(const assay_launch *launch)
{
    (void)run_fast(launch);
    is_spoiling = true;
    return ASSAY_OK;
}

assay_status v_lost(const assay_launch *launch)
{
    is_lost = true;
    return assay__host_fail(launch->instance, ASSAY_DEVICE, "v_lost: the device is lost");
}

static assay_status shown(const assay_instance *instance, assay_kernel_fn run)
{
    if (is_lost)
        return assay__host_fail(instance, ASSAY_DEVICE, "the device was lost before");
    while (is_locked && run != v_locks)
        sleep(1000);
    if (chatted == NULL || (chatted != v_chatty_err && run == chatted))
        return ASSAY_OK;
    chatted = NULL;
    return assay__host_fail(instance, ASSAY_DEVICE, "an earlier call has read where it may not");
}

assay_status villains_launch(assay_instance *instance, assay_kernel_fn run,
                             const assay_launch *launch)
{
    ASSAY_TRY(shown(instance, run));
    ASSAY_TRY(assay__host_launch(instance, run, launch));
    if (is_spoiling && run != v_spoils) {
        read_job(launch).y[0] += 9.0f;
        is_spoiling = false;
    }
    return ASSAY_OK;
}

assay_status villains_measure(assay_instance *instance, const assay_measure *what,
                              assay_clock_info *clock)
{
    ASSAY_TRY(shown(instance, what->run));
    return assay__host_measure(instance, what, clock);
}

/* ---- times ---- */

ASSAY_PLUGIN_EXPORT int64_t assay_plugin_passes;

static assay_status pass(const assay_launch *launch, int times)
{
    const job j = read_job(launch);

    for (int i = 0; i < times; i++)
        slow_add(&j);
    assay_plugin_passes += times;
    return ASSAY_OK;
}

static bool is_first(int *calls)
{
    return __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED) == 1;
}

assay_status v_coldfast(const assay_launch *launch)
{
    static int calls;

    return pass(launch, is_first(&calls) ? 1 : 5);
}

assay_status v_coldslow(const assay_launch *launch)
{
    static int calls;

    return pass(launch, is_first(&calls) ? 10 : 1);
}

assay_status v_bimodal(const assay_launch *launch)
{
    static int calls;

    return pass(launch, __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 2 == 0 ? 2 : 1);
}

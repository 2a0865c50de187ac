/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/machine_cpus.c -- how many CPUs this process may use.
 *
 * Affinity alone lies in containers: a quota of two CPUs on a machine of 64 leaves 64 in the mask.
 * Files and their meaning: cgroups(7), the kernel's cgroup-v1 and cgroup-v2 documents. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/machine.h"

static uint32_t affinity_count(void)
{
    for (size_t cpus = 1024; cpus <= 1u << 20; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        if (set == NULL)
            return 0;
        int rc = sched_getaffinity(0, bytes, set);
        int count = rc == 0 ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0)
            return (uint32_t)count;
    }
    return 0;
}

/* "quota period" or "max period" in one file; infinity: no limit here. */
static double quota_v2(const char *sys, const char *folder)
{
    char path[512], text[64];
    double quota, period;

    (void)snprintf(path, sizeof path, "fs/cgroup%s/cpu.max", folder);
    if (!assay__machine_file(sys, path, text, sizeof text) ||
        sscanf(text, "%lf %lf", &quota, &period) != 2 || !(quota > 0) || !(period > 0))
        return INFINITY;
    return quota / period;
}

/* A quota of -1 is no limit; assay__machine_number refuses it as it should. */
static double quota_v1(const char *sys, const char *mount, const char *folder)
{
    char path[512];
    double quota, period;

    (void)snprintf(path, sizeof path, "fs/cgroup/%s%s/cpu.cfs_quota_us", mount, folder);
    if (!assay__machine_number(sys, path, &quota) || !(quota > 0))
        return INFINITY;
    (void)snprintf(path, sizeof path, "fs/cgroup/%s%s/cpu.cfs_period_us", mount, folder);
    if (!assay__machine_number(sys, path, &period) || !(period > 0))
        return INFINITY;
    return quota / period;
}

/* The smallest quota so far, and where its cgroup keeps account. */
typedef struct tightest {
    double quota;
    char *stat;
    size_t cap;
} tightest;

static void consider(const char *sys, const char *mount, const char *folder, tightest *t)
{
    const double quota = mount == NULL ? quota_v2(sys, folder) : quota_v1(sys, mount, folder);

    if (!(quota < t->quota))
        return;
    t->quota = quota;
    if (mount == NULL)
        (void)snprintf(t->stat, t->cap, "fs/cgroup%s/cpu.stat", folder);
    else
        (void)snprintf(t->stat, t->cap, "fs/cgroup/%s%s/cpu.stat", mount, folder);
}

/* All from `folder` up to the root.  Inside a container the folder may be the one the host sees and
 * not exist here; the root, which is then the container's own, still counts. */
static void consider_up(const char *sys, const char *mount, char *folder, tightest *t)
{
    for (;;) {
        if (strcmp(folder, "/") == 0)
            folder[0] = '\0';
        consider(sys, mount, folder, t);
        char *slash = strrchr(folder, '/');
        if (slash == NULL)
            return;
        *slash = '\0';
    }
}

/* Is `cpu` one of the comma separated controllers? */
static bool has_cpu(const char *controllers, size_t length)
{
    while (length > 0) {
        const char *comma = memchr(controllers, ',', length);
        size_t part = comma == NULL ? length : (size_t)(comma - controllers);
        if (part == 3 && memcmp(controllers, "cpu", 3) == 0)
            return true;
        part += comma != NULL;
        controllers += part;
        length -= part;
    }
    return false;
}

/* One "number:controllers:folder" line of /proc/self/cgroup, cut at its end. */
static void consider_line(const char *sys, char *line, tightest *t)
{
    char *controllers = strchr(line, ':');
    char *folder = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    char mount[64];

    if (folder == NULL)
        return;
    controllers++;
    size_t length = (size_t)(folder - controllers);
    folder++;
    if (length == 0) { /* v2; in a mixed hierarchy it has no cpu.max and sets no limit */
        consider_up(sys, NULL, folder, t);
        return;
    }
    if (!has_cpu(controllers, length) || length >= sizeof mount)
        return;
    memcpy(mount, controllers, length);
    mount[length] = '\0';
    char *copy = strdup(folder);
    if (copy == NULL)
        return;
    consider_up(sys, mount, folder, t);
    /* "cpu" is as a rule a link to "cpu,cpuacct", but not everywhere. */
    consider_up(sys, "cpu", copy, t);
    free(copy);
}

double assay__machine_quota(const assay__machine *machine, char *stat, size_t cap)
{
    tightest t = {INFINITY, stat, cap};
    char text[4096];
    char *rest = NULL;

    stat[0] = '\0';
    if (!assay__machine_file(machine->proc, "self/cgroup", text, sizeof text))
        return INFINITY;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        consider_line(machine->sys, line, &t);
    return t.quota;
}

uint32_t assay__machine_usable_cpus(const assay__machine *machine)
{
    uint32_t cpus = machine->affinity_cpus != 0 ? machine->affinity_cpus : affinity_count();
    char stat[512];
    double quota = assay__machine_quota(machine, stat, sizeof stat);

    if (quota < cpus)
        cpus = (uint32_t)ceil(quota);
    return cpus;
}

uint32_t assay__machine_numa_nodes(const assay__machine *machine)
{
    char list[256];

    return assay__machine_file(machine->sys, "devices/system/node/online", list, sizeof list)
               ? assay__machine_list_count(list)
               : 0;
}

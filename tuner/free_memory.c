/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/free_memory.c -- MemAvailable of proc(5), and limits of cgroups(7).
 *
 * What a cgroup uses already is not taken off: most of it is cache that gives way. */
#include "tuner/free_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "MemAvailable:   22993948 kB" */
static double available(const assay__machine *machine)
{
    char text[2048];
    const char *line;

    if (!assay__machine_file(machine->proc, "meminfo", text, sizeof text))
        return (double)NAN;
    line = strstr(text, "MemAvailable:");
    double kib = line != NULL ? strtod(line + strlen("MemAvailable:"), NULL) : 0;
    return kib > 0 ? 1024.0 * kib : (double)NAN;
}

/* "max", or a number that v1 writes when there is none, is no limit; the file may be absent. */
static double limit_of(const char *sys, const char *hierarchy, const char *folder, const char *file)
{
    char path[512];
    double bytes;

    (void)snprintf(path, sizeof path, "fs/cgroup%s%s/%s", hierarchy, folder, file);
    return assay__machine_number(sys, path, &bytes) ? bytes : INFINITY;
}

/* The smallest from `folder`, which is cut, up to the root.  In a container the folder may be the
 * host's and not exist here; the root, which then is the container's own, still counts. */
static double smallest_limit(const char *sys, const char *hierarchy, char *folder, const char *file)
{
    double smallest = INFINITY;

    for (char *slash = folder + strlen(folder); slash != NULL; slash = strrchr(folder, '/')) {
        *slash = '\0';
        smallest = fmin(smallest, limit_of(sys, hierarchy, folder, file));
    }
    return smallest;
}

/* "number:controllers:folder"; v2 has no controllers. */
static double line_limit(const char *sys, char *line)
{
    char *controllers = strchr(line, ':');
    char *folder = controllers == NULL ? NULL : strchr(controllers + 1, ':');

    if (folder == NULL)
        return INFINITY;
    *folder++ = '\0';
    if (controllers[1] == '\0')
        return smallest_limit(sys, "", folder, "memory.max");
    if (strcmp(controllers + 1, "memory") == 0)
        return smallest_limit(sys, "/memory", folder, "memory.limit_in_bytes");
    return INFINITY;
}

double assay__free_memory(const assay__machine *machine)
{
    char text[4096];
    char *rest = NULL;
    double bytes = available(machine), limit = INFINITY;

    if (assay__machine_file(machine->proc, "self/cgroup", text, sizeof text))
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            limit = fmin(limit, line_limit(machine->sys, line));
    if (isnan(bytes))
        return isinf(limit) ? (double)NAN : limit;
    return fmin(bytes, limit);
}

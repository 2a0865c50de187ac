/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/caches.c -- see caches.h; from /sys/devices/system/cpu/cpuN/cache/indexM. */
#include "tuner/caches.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPUS   4096
#define MAX_LEVELS 8
#define BEYOND     4.0 /* times the cache below */
#define WITHIN     0.5 /* of a cache: lines of others lie there, too */

/* "480K", "32M", "1G", "512". */
static double size_of(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    double unit = *end == 'K' ? 1024.0 : *end == 'M' ? 1048576.0 : *end == 'G' ? 1073741824.0 : 1.0;

    return end != text && n > 0 ? n * unit : (double)NAN;
}

static bool cache_file(const assay__machine *m, int cpu, int index, const char *what, char *buf,
                       size_t cap)
{
    char path[96];

    (void)snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
                   what);
    return assay__machine_file(m->sys, path, buf, cap);
}

/* The lowest CPU of those that share a cache counts it: the first number of their list. */
static bool counts_it(const assay__machine *m, int cpu, int index)
{
    char list[512];

    if (!cache_file(m, cpu, index, "shared_cpu_list", list, sizeof list))
        return true;
    return strtol(list, NULL, 10) == cpu;
}

static void add_cpu(const assay__machine *m, int cpu, double levels[MAX_LEVELS])
{
    char text[64];

    for (int index = 0; index < MAX_LEVELS; index++) {
        if (!cache_file(m, cpu, index, "level", text, sizeof text))
            return;
        long level = strtol(text, NULL, 10);
        if (level < 1 || level >= MAX_LEVELS || !counts_it(m, cpu, index) ||
            !cache_file(m, cpu, index, "type", text, sizeof text) ||
            strcmp(text, "Instruction") == 0)
            continue;
        levels[level] +=
            cache_file(m, cpu, index, "size", text, sizeof text) ? size_of(text) : (double)NAN;
    }
}

double assay__cache_bytes(const assay__machine *machine)
{
    double levels[MAX_LEVELS] = {0};
    char text[64], path[64];
    int top = MAX_LEVELS - 1;

    for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
        (void)snprintf(path, sizeof path, "devices/system/cpu/cpu%d/cache/index0/level", cpu);
        if (assay__machine_file(machine->sys, path, text, sizeof text))
            add_cpu(machine, cpu, levels);
        else if (cpu > 0) /* the first may be absent from a guest's list */
            break;
    }
    while (top > 0 && levels[top] == 0)
        top--;
    return top > 0 ? levels[top] + (top > 1 ? levels[top - 1] : 0) : (double)NAN;
}

/* CPUs of a list like "0-3,8"; 1: it says nothing. */
static double count_of(const char *list)
{
    double n = 0;

    for (const char *at = list; *at != '\0';) {
        char *end;
        const long first = strtol(at, &end, 10);
        if (end == at)
            break;
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        n += last >= first ? (double)(last - first + 1) : 0;
        at = *end == ',' ? end + 1 : end;
        if (*end != ',')
            break;
    }
    return n >= 1 ? n : 1;
}

void assay__cache_levels(const assay__machine *machine, int cpu, double *own, double *whole,
                         size_t levels)
{
    char text[512];

    memset(own, 0, levels * sizeof *own);
    memset(whole, 0, levels * sizeof *whole);
    for (int index = 0; index < MAX_LEVELS; index++) {
        if (!cache_file(machine, cpu, index, "level", text, sizeof text))
            return;
        const long level = strtol(text, NULL, 10);
        if (level < 1 || level > (long)levels ||
            !cache_file(machine, cpu, index, "type", text, sizeof text) ||
            strcmp(text, "Instruction") == 0 ||
            !cache_file(machine, cpu, index, "size", text, sizeof text))
            continue;
        const double bytes = size_of(text);
        const bool is_shared =
            cache_file(machine, cpu, index, "shared_cpu_list", text, sizeof text);
        whole[level - 1] = bytes > 0 ? bytes : 0;
        own[level - 1] = whole[level - 1] / (is_shared ? count_of(text) : 1);
    }
}

/* At twice the cache below half of the lines may still be found there: fewer say nothing of the one
 * that is meant. */
static double operands_of(double below, double own)
{
    const double bytes = fmin(BEYOND * below, WITHIN * own);

    return below > 0 && bytes >= 2 * below ? bytes : 0;
}

void assay__cache_operands(const assay__machine *machine, const int *cpus, size_t count,
                           double *bytes, size_t levels)
{
    double own[MAX_LEVELS], whole[MAX_LEVELS], least[MAX_LEVELS], most[MAX_LEVELS];

    assert(levels >= 1 && levels <= MAX_LEVELS && count >= 1);
    for (size_t c = 0; c < count; c++) {
        assay__cache_levels(machine, cpus[c], own, whole, levels);
        for (size_t i = 0; i < levels; i++) {
            least[i] = c == 0 ? own[i] : fmin(least[i], own[i]);
            most[i] = c == 0 ? whole[i] : fmax(most[i], whole[i]);
        }
    }
    bytes[0] = 0;
    for (size_t i = 1; i < levels; i++)
        bytes[i] = operands_of(most[i - 1], least[i]);
}

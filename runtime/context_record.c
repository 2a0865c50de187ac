/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/context_record.c -- governor, load, steal, temperature and the like. */
#include "runtime/context_record.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define CPU0      "devices/system/cpu/cpu0/"
#define MAX_ZONES 64

/* Decimal "123.45" without the locale's say; stops at the first other byte.  NaN: no digit. */
static double decimal(const char *text, const char **end)
{
    double value = 0, scale = 1;
    const char *at = text;

    for (; *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (*at - '0');
    bool any = at != text;
    if (any && *at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            value += (*at - '0') * (scale /= 10);
    if (end != NULL)
        *end = at;
    return any ? value : NAN;
}

static double number_or_nan(const char *root, const char *path)
{
    double value;

    return assay__machine_number(root, path, &value) ? value : NAN;
}

static void read_load(const assay__machine *machine, assay__context_record *out)
{
    char text[128];

    if (!assay__machine_file(machine->proc, "loadavg", text, sizeof text))
        return;
    const char *at = text;
    double *const loads[] = {&out->load_1, &out->load_5, &out->load_15};
    for (size_t i = 0; i < 3; i++) {
        *loads[i] = decimal(at, &at);
        at += strspn(at, " ");
    }
}

/* Eighth number of the line "cpu user nice system idle iowait irq softirq steal ...": proc(5). */
static double read_steal(const assay__machine *machine)
{
    char text[256];
    double value = NAN;

    if (!assay__machine_file(machine->proc, "stat", text, sizeof text) ||
        strncmp(text, "cpu ", 4) != 0)
        return NAN;
    const char *at = text + 4;
    for (int i = 0; i < 8; i++) {
        at += strspn(at, " ");
        value = decimal(at, &at);
    }
    return value;
}

static double read_frequency(const assay__machine *machine)
{
    double khz = number_or_nan(machine->sys, CPU0 "cpufreq/scaling_cur_freq");
    char text[64], info[ASSAY__CPUINFO_BYTES];

    if (!isnan(khz))
        return khz / 1000;
    return assay__machine_cpuinfo(machine, info) &&
                   assay__machine_cpu_fact(info, "cpu MHz", text, sizeof text)
               ? decimal(text, NULL)
               : NAN;
}

static double read_temperature(const assay__machine *machine)
{
    double hottest = NAN;

    for (int zone = 0; zone < MAX_ZONES; zone++) {
        char path[64];
        (void)snprintf(path, sizeof path, "class/thermal/thermal_zone%d/temp", zone);
        double millis = number_or_nan(machine->sys, path);
        if (!isnan(millis) && !(millis / 1000 <= hottest))
            hottest = millis / 1000;
    }
    return hottest;
}

static double read_turbo(const assay__machine *machine)
{
    double off = number_or_nan(machine->sys, "devices/system/cpu/intel_pstate/no_turbo");

    if (!isnan(off))
        return off == 0 ? 1 : 0;
    return number_or_nan(machine->sys, "devices/system/cpu/cpufreq/boost");
}

static void read_scheduling(assay__context_record *out)
{
    static const struct {
        int policy;
        const char *name;
    } policies[] = {{SCHED_OTHER, "other"},
                    {SCHED_FIFO, "fifo"},
                    {SCHED_RR, "rr"},
                    {SCHED_BATCH, "batch"},
                    {SCHED_IDLE, "idle"}};
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (policies[i].policy == policy)
            (void)snprintf(out->policy, sizeof out->policy, "%s", policies[i].name);
    out->nice = getpriority(PRIO_PROCESS, 0);
}

/* What goes into JSON unescaped. */
static void keep_plain(char *text)
{
    for (; *text != '\0'; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9') || *text == '_' || *text == '-'))
            *text = '_';
}

void assay__context_read(const assay__machine *machine, assay__context_record *out)
{
    *out = (assay__context_record){.load_1 = NAN, .load_5 = NAN, .load_15 = NAN};
    (void)assay__machine_file(machine->sys, CPU0 "cpufreq/scaling_governor", out->governor,
                              sizeof out->governor);
    keep_plain(out->governor);
    read_scheduling(out);
    read_load(machine, out);
    out->turbo = read_turbo(machine);
    out->frequency_mhz = read_frequency(machine);
    out->temperature_c = read_temperature(machine);
    out->steal_ticks = read_steal(machine);
    out->throttle_count =
        number_or_nan(machine->sys, CPU0 "thermal_throttle/package_throttle_count");
    if (isnan(out->throttle_count))
        out->throttle_count =
            number_or_nan(machine->sys, CPU0 "thermal_throttle/core_throttle_count");
}

/* Thousandths in decimal, with a point whatever the locale says. */
static int format_number(char out[40], double value)
{
    long long thousandths = llround(fabs(value) * 1000);
    const char *sign = value < 0 && thousandths != 0 ? "-" : "";

    if (thousandths % 1000 == 0)
        return snprintf(out, 40, "%s%lld", sign, thousandths / 1000);
    return snprintf(out, 40, "%s%lld.%03lld", sign, thousandths / 1000, thousandths % 1000);
}

size_t assay__context_format(const assay__context_record *r, char *buf, size_t cap)
{
    const struct {
        const char *name, *text;
        double number;
    } members[] = {{"governor", r->governor, 0},
                   {"policy", r->policy, 0},
                   {"nice", NULL, r->nice},
                   {"turbo", NULL, r->turbo},
                   {"frequency_mhz", NULL, r->frequency_mhz},
                   {"temperature_c", NULL, r->temperature_c},
                   {"load_1", NULL, r->load_1},
                   {"load_5", NULL, r->load_5},
                   {"load_15", NULL, r->load_15},
                   {"steal_ticks", NULL, r->steal_ticks},
                   {"throttle_count", NULL, r->throttle_count}};
    char text[1024] = "{";
    size_t used = 1;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char number[40];
        bool is_text = members[i].text != NULL;
        if (is_text ? members[i].text[0] == '\0' : !(fabs(members[i].number) < 1e15))
            continue;
        (void)format_number(number, members[i].number);
        const char *quote = is_text ? "\"" : "";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\":%s%s%s",
                                 used > 1 ? "," : "", members[i].name, quote,
                                 is_text ? members[i].text : number, quote);
    }
    int length = snprintf(buf, cap, "%s}", text);
    return length < 0 ? 0 : (size_t)length;
}

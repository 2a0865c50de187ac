/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/context_record.c -- governor, load, steal, temperature and the like. */
#include "runtime/context_record.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CPU0 "devices/system/cpu/cpu0/"

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

/* ---- files ---- */

static int open_file(const char *root, const char *path)
{
    char full[512];
    int length = snprintf(full, sizeof full, "%s/%s", root, path);

    return length > 0 && (size_t)length < sizeof full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
}

/* Its first bytes as they are now, NUL-terminated; false: there are none. */
static bool now_of(int file, char *buf, size_t cap)
{
    ssize_t n = file >= 0 ? pread(file, buf, cap - 1, 0) : -1;

    buf[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* A whole number and nothing more but the end of its line. */
static double number_of(int file)
{
    char text[64];
    const char *end;

    if (!now_of(file, text, sizeof text))
        return NAN;
    double value = decimal(text, &end);
    return *end == '\0' || *end == '\n' ? value : NAN;
}

/* The number behind `name` and a space at the start of a line; NaN: there is no such line. */
static double field_of(const char *text, const char *name)
{
    const size_t length = strlen(name);

    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return decimal(line + length + 1, NULL);
    }
    return NAN;
}

static int *files_of(assay__context_source *s, size_t i)
{
    int *const files[] = {&s->governor, &s->frequency, &s->cpuinfo,  &s->no_turbo, &s->boost,
                          &s->load,     &s->stat,      &s->throttle, &s->energy,   &s->quota};

    return i < sizeof files / sizeof *files ? files[i] : NULL;
}

static void open_zones(const assay__machine *machine, assay__context_source *out)
{
    for (int zone = 0; zone < ASSAY__CONTEXT_ZONES; zone++) {
        char path[64];
        (void)snprintf(path, sizeof path, "class/thermal/thermal_zone%d/temp", zone);
        int file = open_file(machine->sys, path);
        if (file >= 0)
            out->zones[out->zone_count++] = file;
    }
}

void assay__context_source_open(const assay__machine *machine, assay__context_source *out)
{
    char stat[512];
    const assay__context_source none = {.zone_count = 0};

    *out = none;
    out->governor = open_file(machine->sys, CPU0 "cpufreq/scaling_governor");
    out->frequency = open_file(machine->sys, CPU0 "cpufreq/scaling_cur_freq");
    out->cpuinfo = out->frequency < 0 ? open_file(machine->proc, "cpuinfo") : -1;
    out->no_turbo = open_file(machine->sys, "devices/system/cpu/intel_pstate/no_turbo");
    out->boost = open_file(machine->sys, "devices/system/cpu/cpufreq/boost");
    out->load = open_file(machine->proc, "loadavg");
    out->stat = open_file(machine->proc, "stat");
    out->throttle = open_file(machine->sys, CPU0 "thermal_throttle/package_throttle_count");
    if (out->throttle < 0)
        out->throttle = open_file(machine->sys, CPU0 "thermal_throttle/core_throttle_count");
    out->energy = open_file(machine->sys, "class/powercap/intel-rapl:0/energy_uj");
    out->quota_cpus = assay__machine_quota(machine, stat, sizeof stat);
    out->quota = stat[0] != '\0' ? open_file(machine->sys, stat) : -1;
    open_zones(machine, out);
}

void assay__context_source_close(assay__context_source *source)
{
    int *file;

    for (size_t i = 0; (file = files_of(source, i)) != NULL; i++) {
        if (*file >= 0)
            (void)close(*file);
        *file = -1;
    }
    for (size_t i = 0; i < source->zone_count; i++)
        (void)close(source->zones[i]);
    source->zone_count = 0;
}

/* ---- what they say ---- */

static void read_load(const assay__context_source *source, assay__context_record *out)
{
    char text[128];

    if (!now_of(source->load, text, sizeof text))
        return;
    const char *at = text;
    double *const loads[] = {&out->load_1, &out->load_5, &out->load_15};
    for (size_t i = 0; i < 3; i++) {
        *loads[i] = decimal(at, &at);
        at += strspn(at, " ");
    }
}

/* Eighth number of the line "cpu user nice system idle iowait irq softirq steal ...": proc(5). */
static double read_steal(const assay__context_source *source)
{
    char text[256];
    double value = NAN;

    if (!now_of(source->stat, text, sizeof text) || strncmp(text, "cpu ", 4) != 0)
        return NAN;
    const char *at = text + 4;
    for (int i = 0; i < 8; i++) {
        at += strspn(at, " ");
        value = decimal(at, &at);
    }
    return value;
}

static double read_frequency(const assay__context_source *source)
{
    double khz = number_of(source->frequency);
    char text[64], info[ASSAY__CPUINFO_BYTES];

    if (!isnan(khz))
        return khz / 1000;
    return now_of(source->cpuinfo, info, sizeof info) &&
                   assay__machine_cpu_fact(info, "cpu MHz", text, sizeof text)
               ? decimal(text, NULL)
               : NAN;
}

static double read_temperature(const assay__context_source *source)
{
    double hottest = NAN;

    for (size_t i = 0; i < source->zone_count; i++) {
        double millis = number_of(source->zones[i]);
        if (!isnan(millis) && !(millis / 1000 <= hottest))
            hottest = millis / 1000;
    }
    return hottest;
}

static double read_turbo(const assay__context_source *source)
{
    double off = number_of(source->no_turbo);

    if (!isnan(off))
        return off == 0 ? 1 : 0;
    return number_of(source->boost);
}

/* cpu.stat of cgroup v2 counts microseconds, that of v1 nanoseconds. */
static void read_quota(const assay__context_source *source, assay__context_record *out)
{
    char text[1024];

    out->quota_cpus = source->quota_cpus < INFINITY ? source->quota_cpus : NAN;
    if (!now_of(source->quota, text, sizeof text))
        return;
    out->quota_throttled = field_of(text, "nr_throttled");
    out->quota_throttled_ms = field_of(text, "throttled_usec") / 1e3;
    if (isnan(out->quota_throttled_ms))
        out->quota_throttled_ms = field_of(text, "throttled_time") / 1e6;
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

void assay__context_source_take(const assay__context_source *source, assay__context_record *out)
{
    *out = (assay__context_record){.load_1 = NAN,
                                   .load_5 = NAN,
                                   .load_15 = NAN,
                                   .quota_throttled = NAN,
                                   .quota_throttled_ms = NAN};
    (void)now_of(source->governor, out->governor, sizeof out->governor);
    out->governor[strcspn(out->governor, "\n")] = '\0';
    keep_plain(out->governor);
    read_scheduling(out);
    read_load(source, out);
    out->turbo = read_turbo(source);
    out->frequency_mhz = read_frequency(source);
    out->temperature_c = read_temperature(source);
    out->steal_ticks = read_steal(source);
    out->throttle_count = number_of(source->throttle);
    read_quota(source, out);
    out->energy_j = number_of(source->energy) / 1e6;
}

void assay__context_read(const assay__machine *machine, assay__context_record *out)
{
    assay__context_source source;

    assay__context_source_open(machine, &source);
    assay__context_source_take(&source, out);
    assay__context_source_close(&source);
}

double assay__context_grown(double before, double after)
{
    return after >= before ? after - before : NAN;
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

enum { MEMBERS = 16 };

typedef struct member {
    const char *name, *text; /* text NULL: a number */
    double number;
} member;

static void list_members(const assay__context_record *r, member out[MEMBERS])
{
    const member all[MEMBERS] = {{"governor", r->governor, 0},
                                 {"policy", r->policy, 0},
                                 {"nice", NULL, r->nice},
                                 {"turbo", NULL, r->turbo},
                                 {"quota_cpus", NULL, r->quota_cpus},
                                 {"frequency_mhz", NULL, r->frequency_mhz},
                                 {"temperature_c", NULL, r->temperature_c},
                                 {"load_1", NULL, r->load_1},
                                 {"load_5", NULL, r->load_5},
                                 {"load_15", NULL, r->load_15},
                                 {"steal_ticks", NULL, r->steal_ticks},
                                 {"throttle_count", NULL, r->throttle_count},
                                 {"quota_throttled", NULL, r->quota_throttled},
                                 {"quota_throttled_ms", NULL, r->quota_throttled_ms},
                                 {"energy_j", NULL, r->energy_j},
                                 {NULL, NULL, NAN}};

    memcpy(out, all, sizeof all);
}

static bool is_known(const member *m)
{
    return m->text != NULL ? m->text[0] != '\0' : fabs(m->number) < 1e15;
}

static bool is_same(const member *a, const member *b)
{
    return a->text != NULL ? strcmp(a->text, b->text) == 0
                           : a->number <= b->number && a->number >= b->number;
}

/* before NULL: all that is known. */
static size_t format(const assay__context_record *before, const assay__context_record *r, char *buf,
                     size_t cap)
{
    member members[MEMBERS], old[MEMBERS];
    char text[1024] = "{";
    size_t used = 1;

    list_members(r, members);
    list_members(before != NULL ? before : r, old);
    for (size_t i = 0; members[i].name != NULL; i++) {
        char number[40];
        if (!is_known(&members[i]) || (before != NULL && is_same(&members[i], &old[i])))
            continue;
        (void)format_number(number, members[i].number);
        const char *quote = members[i].text != NULL ? "\"" : "";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\":%s%s%s",
                                 used > 1 ? "," : "", members[i].name, quote,
                                 members[i].text != NULL ? members[i].text : number, quote);
    }
    int length = snprintf(buf, cap, "%s}", text);
    return length < 0 ? 0 : (size_t)length;
}

size_t assay__context_format(const assay__context_record *record, char *buf, size_t cap)
{
    return format(NULL, record, buf, cap);
}

size_t assay__context_format_changes(const assay__context_record *before,
                                     const assay__context_record *after, char *buf, size_t cap)
{
    return format(before, after, buf, cap);
}

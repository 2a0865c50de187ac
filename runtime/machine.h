/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/machine.h -- facts about the machine, from files whose roots a test may put elsewhere. */
#ifndef ASSAY_RUNTIME_MACHINE_H
#define ASSAY_RUNTIME_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers that say which instruction sets the CPU has and the kernel saves. */
typedef struct assay__cpuid {
    uint32_t leaf1_ecx, leaf1_edx;
    uint32_t leaf7_ebx, leaf7_ecx, leaf7_edx;
    uint32_t leaf7_1_eax;
    uint32_t leaf1e_1_eax;
    uint32_t extended1_ecx;
    uint64_t xcr0; /* 0 without OSXSAVE */
} assay__cpuid;

typedef struct assay__machine {
    const char *proc, *sys;    /* where /proc and /sys lie */
    uint32_t affinity_cpus;    /* 0: ask the scheduler */
    const assay__cpuid *cpuid; /* NULL: ask this CPU */
} assay__machine;

/* This machine. */
#define ASSAY__MACHINE_HERE      \
    {                            \
        "/proc", "/sys", 0, NULL \
    }

/* ---- files (machine_files.c) ---------------------------------------------------------------- */

/* First cap - 1 bytes of root/path, NUL-terminated, without white space at the end.
 * False: it cannot be read or is empty; buf is then "". */
bool assay__machine_file(const char *root, const char *path, char *buf, size_t cap);

/* A whole non-negative number. */
bool assay__machine_number(const char *root, const char *path, double *out);

/* Start of /proc/cpuinfo: the first CPU's block and more.  The kernel writes all of it anew for
 * each reader, and asks every CPU for its clock. */
#define ASSAY__CPUINFO_BYTES 8192
bool assay__machine_cpuinfo(const assay__machine *machine, char text[ASSAY__CPUINFO_BYTES]);
/* Value of the first "name : value" line of it; same rules. */
bool assay__machine_cpu_fact(const char *cpuinfo, const char *name, char *buf, size_t cap);

/* How many numbers a list such as "0-3,8" names; 0 when malformed. */
uint32_t assay__machine_list_count(const char *list);

/* ---- CPUs (machine_cpus.c) ------------------------------------------------------------------ */

/* CPUs that this process may really use: the smaller of its affinity and the quota of its cgroup
 * and every ancestor (v1 and v2), rounded up; 0: not known. */
uint32_t assay__machine_usable_cpus(const assay__machine *machine);
/* That quota, in CPUs; infinite: none.  stat: where below sys its cgroup counts the periods in
 * which it had none left; "": there is none. */
double assay__machine_quota(const assay__machine *machine, char *stat, size_t cap);
uint32_t assay__machine_numa_nodes(const assay__machine *machine);

/* ---- instruction sets (isa.c) ---------------------------------------------------------------- */

/* Usable sets, sorted by name, one space between; "" where there are none to tell apart.
 * False: does not fit. */
bool assay__machine_isa(const assay__machine *machine, char *buf, size_t cap);

#endif

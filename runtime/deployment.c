/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/deployment.c -- what a deployment is, its text and its digest. */
#include "runtime/deployment.h"

#include <stdio.h>
#include <string.h>

#include "runtime/digest.h"
#include "runtime/error.h"
#include "runtime/fingerprint.h"

#define TAG_NAME  1
#define TAG_VALUE 2

/* Names are stored and printed: append, never rename. */
static const struct {
    const char *name;
    size_t offset;
    size_t cap; /* of a text; 0: a uint32_t */
} fields[] = {
#define TEXT(field)                                                                     \
    {                                                                                   \
#field, offsetof(assay_deployment, field), sizeof((assay_deployment *)0)->field \
    }
#define NUMBER(field)                                \
    {                                                \
#field, offsetof(assay_deployment, field), 0 \
    }
    TEXT(backend),   TEXT(device),        TEXT(architecture), TEXT(driver),
    TEXT(cpu_model), TEXT(cpu_stepping),  TEXT(microcode),    TEXT(isa),
    TEXT(os_class),  NUMBER(usable_cpus), NUMBER(numa_nodes),
#undef TEXT
#undef NUMBER
};

#define FIELD_COUNT (sizeof fields / sizeof *fields)

/* Canonical value of a field; "" when absent.  buf serves for numbers. */
static const char *field_text(const assay_deployment *d, size_t i, char buf[16])
{
    const char *at = (const char *)d + fields[i].offset;
    uint32_t number;

    if (fields[i].cap > 0)
        return at;
    memcpy(&number, at, sizeof number);
    (void)snprintf(buf, 16, "%u", (unsigned)number);
    return number == 0 ? "" : buf;
}

/* Drivers pad names and put line ends and tabs into them: runs of white space and control bytes
 * become one space, none at the ends. */
static assay_status set_text(const char *name, const char *text, char *out, size_t cap)
{
    size_t used = 0;

    for (const char *at = text == NULL ? "" : text; *at != '\0'; at++) {
        bool blank = (unsigned char)*at <= ' ' || *at == 127;
        if (blank && (used == 0 || out[used - 1] == ' '))
            continue;
        if (used + 1 == cap)
            return assay__fail(ASSAY_OVERFLOW, "deployment: %s is longer than %zu bytes", name,
                               cap - 1);
        out[used++] = blank ? ' ' : *at;
    }
    if (used > 0 && out[used - 1] == ' ')
        used--;
    memset(out + used, 0, cap - used);
    return ASSAY_OK;
}

/* Joins what is there of up to three values of /proc/cpuinfo with '-'. */
static void join_facts(const char *cpuinfo, const char *const names[3], char *out, size_t cap)
{
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < 3; i++) {
        char value[64];
        if (names[i] == NULL || !assay__machine_cpu_fact(cpuinfo, names[i], value, sizeof value))
            continue;
        int length = snprintf(out + used, cap - used, "%s%s", used > 0 ? "-" : "", value);
        if (length < 0 || (size_t)length >= cap - used)
            return;
        used += (size_t)length;
    }
}

/* x86 names its CPUs in words, Arm by numbers of maker and part. */
static assay_status read_cpu(const assay__machine *machine, assay_deployment *d)
{
    static const char *const stepping[] = {"cpu family", "model", "stepping"};
    static const char *const arm_model[] = {"CPU implementer", "CPU part", NULL};
    static const char *const arm_stepping[] = {"CPU variant", "CPU revision", NULL};
    char text[sizeof d->cpu_model], info[ASSAY__CPUINFO_BYTES];

    (void)assay__machine_cpuinfo(machine, info);
    bool arm = assay__machine_cpu_fact(info, "CPU implementer", text, sizeof text);

    if (arm)
        join_facts(info, arm_model, text, sizeof text);
    else
        (void)assay__machine_cpu_fact(info, "model name", text, sizeof text);
    ASSAY_TRY(set_text("CPU model", text, d->cpu_model, sizeof d->cpu_model));
    join_facts(info, arm ? arm_stepping : stepping, text, sizeof text);
    ASSAY_TRY(set_text("CPU stepping", text, d->cpu_stepping, sizeof d->cpu_stepping));
    (void)assay__machine_cpu_fact(info, "microcode", text, sizeof text);
    return set_text("microcode", text, d->microcode, sizeof d->microcode);
}

/* "linux 6": distribution patches and minor versions do not change what a kernel costs as a rule,
 * and a security update must not idle every row. */
static void read_os_class(const assay__machine *machine, char *out, size_t cap)
{
    char type[16], release[28];

    out[0] = '\0';
    if (!assay__machine_file(machine->proc, "sys/kernel/ostype", type, sizeof type) ||
        !assay__machine_file(machine->proc, "sys/kernel/osrelease", release, sizeof release))
        return;
    for (char *at = type; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    release[strspn(release, "0123456789")] = '\0';
    (void)snprintf(out, cap, "%s %s", type, release);
}

static assay_status read_names(assay_deployment *d, const char *backend, const char *device,
                               const char *architecture, const char *driver)
{
    ASSAY_TRY(set_text("backend", backend, d->backend, sizeof d->backend));
    if (d->backend[0] == '\0')
        return assay__fail(ASSAY_INVALID, "deployment: no backend");
    ASSAY_TRY(set_text("device name", device, d->device, sizeof d->device));
    ASSAY_TRY(set_text("architecture", architecture, d->architecture, sizeof d->architecture));
    return set_text("driver", driver, d->driver, sizeof d->driver);
}

assay_status assay__deployment_read_machine(const assay__machine *machine, const char *backend,
                                            const char *device, const char *architecture,
                                            const char *driver, const assay_digest *fingerprint,
                                            assay_deployment *out)
{
    assay_deployment d;

    memset(&d, 0, sizeof d);
    ASSAY_TRY(read_names(&d, backend, device, architecture, driver));
    ASSAY_TRY(read_cpu(machine, &d));
    if (!assay__machine_isa(machine, d.isa, sizeof d.isa))
        return assay__fail(ASSAY_OVERFLOW, "deployment: names of instruction sets do not fit");
    read_os_class(machine, d.os_class, sizeof d.os_class);
    d.usable_cpus = assay__machine_usable_cpus(machine);
    d.numa_nodes = assay__machine_numa_nodes(machine);
    d.has_fingerprint = fingerprint != NULL;
    if (fingerprint != NULL)
        d.fingerprint = *fingerprint;
    *out = d;
    return ASSAY_OK;
}

/* The fingerprint takes microseconds, so it is taken each time: a cached one would miss a thread
 * that flushes subnormals. */
assay_status assay_deployment_read(const char *backend, const char *device,
                                   const char *architecture, const char *driver,
                                   assay_deployment *out)
{
    const assay__machine here = ASSAY__MACHINE_HERE;
    assay__fingerprint fingerprint;

    assay__fingerprint_take(&fingerprint);
    return assay__deployment_read_machine(&here, backend, device, architecture, driver,
                                          &fingerprint.digest, out);
}

/* snprintf at an offset that may lie beyond the buffer. */
static size_t append(char *buf, size_t cap, size_t used, const char *name, const char *value)
{
    size_t room = used < cap ? cap - used : 0;
    int length = snprintf(room > 0 ? buf + used : NULL, room, "%s=%s\n", name, value);

    return used + (length > 0 ? (size_t)length : 0);
}

size_t assay_deployment_format(const assay_deployment *deployment, char *buf, size_t cap)
{
    size_t used = 0;
    char hex[ASSAY_DIGEST_HEX];

    if (cap > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char number[16];
        const char *text = field_text(deployment, i, number);
        if (text[0] != '\0')
            used = append(buf, cap, used, fields[i].name, text);
    }
    if (deployment->has_fingerprint) {
        assay_digest_format(&deployment->fingerprint, hex);
        used = append(buf, cap, used, "fingerprint", hex);
    }
    return used;
}

void assay_deployment_digest(const assay_deployment *deployment, assay_digest *out)
{
    assay__hasher hasher;

    assay__hash_init(&hasher, "assay-deployment-1");
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char number[16];
        const char *text = field_text(deployment, i, number);
        if (text[0] == '\0')
            continue; /* a field that is added later and absent changes nothing */
        assay__hash_string(&hasher, TAG_NAME, fields[i].name);
        assay__hash_string(&hasher, TAG_VALUE, text);
    }
    if (deployment->has_fingerprint) {
        assay__hash_string(&hasher, TAG_NAME, "fingerprint");
        assay__hash_digest(&hasher, TAG_VALUE, &deployment->fingerprint);
    }
    assay__hash_final(&hasher, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/deployment.h -- where measurements are valid: device, driver, CPU, OS class, numerics.
 *
 * Everything in assay_deployment enters its digest; clocks, governors, load and temperatures do
 * not: they are context, recorded beside measurements and never hashed.  No host, user or file
 * name is in it. */
#ifndef ASSAY_DEPLOYMENT_H
#define ASSAY_DEPLOYMENT_H

#include "assay/digest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "" and 0 mean absent: not reported by this machine. */
typedef struct assay_deployment {
    char backend[24];
    char device[128];      /* device name as the backend reports it */
    char architecture[64]; /* of the device, e.g. "x86_64", "sm_90" */
    char driver[128];
    char cpu_model[128];
    char cpu_stepping[32]; /* "family-model-stepping" in decimal */
    char microcode[32];
    char isa[512];        /* usable instruction sets, sorted by name, one space between */
    char os_class[48];    /* kernel name and major version: "linux 6" */
    uint32_t usable_cpus; /* affinity and cgroup quota; at least 1 when known */
    uint32_t numa_nodes;
    uint8_t has_fingerprint; /* 0: `fingerprint` was not taken */
    assay_digest fingerprint;
} assay_deployment;

/* Fills everything that belongs to the host (CPU, OS, numerics) and copies the device's own names.
 * NULL names are absent.  For backends on the CPU pass the names of assay_device_info too.
 * ASSAY_INVALID without a backend; ASSAY_OVERFLOW when a name does not fit. */
assay_status assay_deployment_read(const char *backend, const char *device,
                                   const char *architecture, const char *driver,
                                   assay_deployment *out);

/* Canonical text: one "name=value" line a field in the order of the struct, absent fields left
 * out.  Returns its length without the NUL, as snprintf does. */
size_t assay_deployment_format(const assay_deployment *deployment, char *buf, size_t cap);

/* BLAKE2b-256 of the canonical form. */
void assay_deployment_digest(const assay_deployment *deployment, assay_digest *out);

/* Does `usable` (as in assay_deployment.isa) have every set that `required` lists, separated by
 * commas?  NULL requires nothing.  missing: the names it lacks, ", " between, as far as they fit.
 */
bool assay_isa_covers(const char *usable, const char *required, char *missing, size_t cap);

#ifdef __cplusplus
}
#endif
#endif

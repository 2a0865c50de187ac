/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/deployment_host.c -- see deployment_host.h. */
#include "runtime/deployment_host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

assay_status assay__deployment_host(assay_deployment *out)
{
    struct utsname name;

    memset(&name, 0, sizeof name);
    (void)uname(&name);
    ASSAY_TRY(assay_deployment_read("cpu", NULL, name.machine, NULL, out));
    /* The CPU is the device. */
    (void)snprintf(out->device, sizeof out->device, "%s", out->cpu_model);
    return ASSAY_OK;
}

assay_status assay__deployment_of(const char *name, const assay__backend *backend, size_t device,
                                  assay_deployment *out)
{
    assay_device_profile profile = {.struct_size = sizeof profile};
    assay_device_info info = {.struct_size = sizeof info};

    ASSAY_TRY(assay__backend_device_profile(backend, device, &profile));
    if (profile.location == ASSAY_LOCATION_CPU)
        return assay__deployment_host(out);
    ASSAY_TRY(assay__backend_device_info(backend, device, &info));
    return assay_deployment_read(name, info.name, info.architecture, info.driver, out);
}

/* A device that cannot be asked is not known to be alike. */
static bool is_alike(const char *name, const assay__backend *backend, size_t device,
                     const assay_digest *digest)
{
    assay_deployment other;
    assay_digest of_other;

    if (assay__deployment_of(name, backend, device, &other) != ASSAY_OK)
        return false;
    assay_deployment_digest(&other, &of_other);
    return assay_digest_equal(&of_other, digest);
}

assay_status assay__deployment_place(const char *name, const assay__backend *backend, size_t device,
                                     assay_deployment *out, size_t *place)
{
    assay_digest digest;

    ASSAY_TRY(assay__deployment_of(name, backend, device, out));
    assay_deployment_digest(out, &digest);
    *place = 0;
    for (size_t i = 0; i < device; i++)
        *place += is_alike(name, backend, i, &digest);
    return ASSAY_OK;
}

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

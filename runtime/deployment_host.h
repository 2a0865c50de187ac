/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/deployment_host.h -- the one deployment that all kernels on the host CPU share, and those
 * of devices beside it.
 *
 * Rivals of one op come from several plug-ins ("cpu", "openblas", ...); they compete in one route,
 * so their measurements are valid in one deployment.  Tuner, picker and check all ask here. */
#ifndef ASSAY_RUNTIME_DEPLOYMENT_HOST_H
#define ASSAY_RUNTIME_DEPLOYMENT_HOST_H

#include "assay/deployment.h"
#include "runtime/backend_slots.h"

assay_status assay__deployment_host(assay_deployment *out);

/* Of a device of the open backend `name`: the host's where its kernels take operands in the host's
 * memory. */
assay_status assay__deployment_of(const char *name, const assay__backend *backend, size_t device,
                                  assay_deployment *out);

/* The same, and the device's place among those of this backend that share its deployment: unlike
 * its number, no device of another model changes that. */
assay_status assay__deployment_place(const char *name, const assay__backend *backend, size_t device,
                                     assay_deployment *out, size_t *place);

#endif

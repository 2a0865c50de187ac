/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/deployment.h -- deployments of any machine, this one or a recorded one. */
#ifndef ASSAY_RUNTIME_DEPLOYMENT_H
#define ASSAY_RUNTIME_DEPLOYMENT_H

#include "assay/deployment.h"
#include "runtime/machine.h"

/* assay_deployment_read on a given machine; `fingerprint` NULL: none is recorded. */
assay_status assay__deployment_read_machine(const assay__machine *machine, const char *backend,
                                            const char *device, const char *architecture,
                                            const char *driver, const assay_digest *fingerprint,
                                            assay_deployment *out);

#endif

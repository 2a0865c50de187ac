/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_probe.h -- kernels of known work: slot probe. */
#ifndef BACKENDS_CUDA_CUDA_PROBE_H
#define BACKENDS_CUDA_CUDA_PROBE_H

#include "assay/plugin.h"

assay_status cuda_probe(assay_instance *instance, assay_probe *probe);

#endif

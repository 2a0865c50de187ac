/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_instance.h -- slots of an instance's life, for the manifest. */
#ifndef ASSAY_BACKENDS_VULKAN_INSTANCE_H
#define ASSAY_BACKENDS_VULKAN_INSTANCE_H

#include "backends/vulkan/vulkan.h"

assay_status vulkan_open(const assay_host *host, assay_instance **out);
void vulkan_close(assay_instance *instance);
assay_status vulkan_select(assay_instance *instance, size_t device);
assay_status vulkan_prepare(assay_instance *instance);
assay_status vulkan_recover(assay_instance *instance);
assay_status vulkan_synchronize(assay_instance *instance);
assay_status vulkan_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count);

#endif

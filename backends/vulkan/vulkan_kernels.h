/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_kernels.h -- entry points of the kernel families and what they share. */
#ifndef ASSAY_BACKENDS_VULKAN_KERNELS_H
#define ASSAY_BACKENDS_VULKAN_KERNELS_H

#include "backends/vulkan/vulkan.h"
#include "runtime/op_params.h"

/* Places of tunables, and of specialization constants. */
enum { VULKAN_WORKGROUP = 0, VULKAN_VECTORS = 1, VULKAN_HELD = 1 };
/* Bytes that an invocation loads at once, of aligned operands. */
enum { VULKAN_VECTOR = 16 };
/* Shared memory of vulkan_rows.glsl. */
enum { VULKAN_PAIR = 8, VULKAN_FEW = 16 };

static inline uint32_t vulkan_shared_bytes(uint32_t workgroup)
{
    return (workgroup + VULKAN_FEW) * VULKAN_PAIR;
}

assay_status vulkan_add(const assay_launch *launch);
assay_status vulkan_unary(const assay_launch *launch); /* relu, exp, gelu */
assay_status vulkan_cast(const assay_launch *launch);
assay_status vulkan_softmax(const assay_launch *launch);
assay_status vulkan_norm(const assay_launch *launch); /* layer_norm, rms_norm */
assay_status vulkan_sum_reduce(const assay_launch *launch);
assay_status vulkan_matmul(const assay_launch *launch);

/* Slot probe: vulkan_probe.c. */
assay_status vulkan_probe(assay_instance *instance, assay_probe *probe);

/* 0, 1, 2 for f32, f16, bf16: variants of a shader stand in this order. */
static inline unsigned vulkan_type_of(const assay_tensor *t)
{
    return t->dtype == ASSAY_F32 ? 0u : t->dtype == ASSAY_F16 ? 1u : 2u;
}

static inline vulkan_shader vulkan_variant(vulkan_shader of_f32, const assay_tensor *t)
{
    return (vulkan_shader)((unsigned)of_f32 + vulkan_type_of(t));
}

#endif

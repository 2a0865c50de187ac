/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_sum_reduce.c -- sums along an axis: a workgroup an output where neighbours
 * along the axis are neighbours in memory, else an invocation an output.
 *
 * Work model: outer x axis x inner elements, each read once; limited by memory. */
#include "backends/vulkan/vulkan_kernels.h"

typedef struct arguments {
    uint64_t x, y;
    uint32_t outputs, axis, inner, unused;
} arguments;

assay_status vulkan_sum_reduce(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    const uint32_t workgroup = (uint32_t)launch->tunables[VULKAN_WORKGROUP];
    const uint64_t outputs = (uint64_t)y->dims[0] * (uint64_t)y->dims[1];
    const bool is_across = y->dims[1] > 1;
    uint64_t at[ASSAY_MAX_OPERANDS];

    if (y->dims[0] == 0 || y->dims[1] == 0)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_addresses(launch, at));
    const arguments push = {.x = at[0],
                            .y = at[1],
                            .outputs = (uint32_t)outputs,
                            .axis = (uint32_t)x->dims[1],
                            .inner = (uint32_t)y->dims[1]};
    const vulkan_work work = {
        .shader = vulkan_variant(VULKAN_SHADER_sum_reduce_f32, y),
        .constants = {workgroup, is_across},
        .shape = {.groups = is_across ? (outputs + workgroup - 1) / workgroup : outputs,
                  .local = {workgroup, 1},
                  .shared_bytes = vulkan_shared_bytes(workgroup),
                  .rounds = (uint64_t)x->dims[1] / (is_across ? 1 : workgroup) + 16,
                  .push_bytes = sizeof push},
        .push = &push};
    return vulkan_run(launch, &work);
}

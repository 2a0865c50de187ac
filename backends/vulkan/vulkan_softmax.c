/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_softmax.c -- softmax over rows, a workgroup a row.
 *
 * Work model: rows x cols elements, read three times, two exponentials each. */
#include "backends/vulkan/vulkan_kernels.h"

typedef struct arguments {
    uint64_t x, y;
    uint32_t rows, cols;
} arguments;

assay_status vulkan_softmax(const assay_launch *launch)
{
    const assay_tensor *y = &launch->operands[1];
    const uint32_t workgroup = (uint32_t)launch->tunables[VULKAN_WORKGROUP];
    uint64_t at[ASSAY_MAX_OPERANDS];

    if (y->dims[0] == 0 || y->dims[1] == 0)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_addresses(launch, at));
    const arguments push = {
        .x = at[0], .y = at[1], .rows = (uint32_t)y->dims[0], .cols = (uint32_t)y->dims[1]};
    const vulkan_work work = {.shader = vulkan_variant(VULKAN_SHADER_softmax_f32, y),
                              .constants = {workgroup},
                              .shape = {.groups = push.rows,
                                        .local = {workgroup, 1},
                                        .shared_bytes = workgroup * 4,
                                        .push_bytes = sizeof push},
                              .push = &push};
    return vulkan_run(launch, &work);
}

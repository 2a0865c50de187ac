/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_softmax.c -- softmax over rows, a workgroup a row.
 *
 * Work model: rows x cols elements, read once with an exponential each where the invocations of a
 * workgroup hold a row; else read twice with two. */
#include "backends/vulkan/vulkan_kernels.h"
#include "backends/vulkan/vulkan_row_plan.h"

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
    const vulkan_row_plan plan = vulkan_plan_row(
        at[0], at[1], push.cols, VULKAN_VECTOR / (uint32_t)assay_dtype_bytes((assay_dtype)y->dtype),
        workgroup, (uint32_t)launch->tunables[VULKAN_HELD]);
    const vulkan_work work = {
        .shader = vulkan_variant(VULKAN_SHADER_softmax_f32, y),
        .constants = {workgroup, plan.vectors, plan.way, plan.is_held, plan.is_whole},
        .shape = {.groups = push.rows,
                  .local = {workgroup, 1},
                  .shared_bytes = vulkan_shared_bytes(workgroup),
                  .rounds = plan.rounds,
                  .push_bytes = sizeof push},
        .push = &push};
    return vulkan_run(launch, &work);
}

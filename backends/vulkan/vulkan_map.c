/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_map.c -- ops element by element: add, relu, exp, gelu, cast.
 *
 * Work model: n elements, one read an operand, one write, 16 bytes at a time where operands are
 * aligned; limited by memory. */
#include "backends/vulkan/vulkan_kernels.h"
#include "backends/vulkan/vulkan_map_plan.h"

/* As the shaders' push constants lie in memory. */
typedef struct two_operands {
    uint64_t x, y;
    uint32_t n, unused;
} two_operands;

typedef struct three_operands {
    uint64_t a, b, y;
    uint32_t n, unused;
} three_operands;

static assay_status run(const assay_launch *launch, vulkan_shader shader, const uint64_t *at,
                        uint64_t n, const void *push, uint32_t push_bytes)
{
    const uint32_t workgroup = (uint32_t)launch->tunables[VULKAN_WORKGROUP];
    const uint32_t vectors = (uint32_t)launch->tunables[VULKAN_VECTORS];
    vulkan_mapped operands[ASSAY_MAX_OPERANDS];

    for (uint32_t i = 0; i < launch->operand_count; i++)
        operands[i] = (vulkan_mapped){
            at[i], (uint32_t)assay_dtype_bytes((assay_dtype)launch->operands[i].dtype)};
    const uint64_t each =
        (uint64_t)workgroup * vectors * vulkan_map_lanes(operands, launch->operand_count);
    const vulkan_work work = {
        .shader = shader,
        .constants = {workgroup, vectors, vulkan_map_is_aligned(operands, launch->operand_count)},
        .shape = {.groups = (n + each - 1) / each,
                  .local = {workgroup, 1},
                  .push_bytes = push_bytes},
        .push = push};

    return vulkan_run(launch, &work);
}

static assay_status run_unary(const assay_launch *launch, vulkan_shader shader)
{
    const uint64_t n = (uint64_t)launch->operands[1].dims[0];
    uint64_t at[ASSAY_MAX_OPERANDS];

    if (n == 0)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_addresses(launch, at));
    const two_operands push = {.x = at[0], .y = at[1], .n = (uint32_t)n};
    return run(launch, shader, at, n, &push, sizeof push);
}

assay_status vulkan_add(const assay_launch *launch)
{
    const uint64_t n = (uint64_t)launch->operands[2].dims[0];
    uint64_t at[ASSAY_MAX_OPERANDS];

    if (n == 0)
        return ASSAY_OK;
    ASSAY_TRY(vulkan_addresses(launch, at));
    const three_operands push = {.a = at[0], .b = at[1], .y = at[2], .n = (uint32_t)n};
    return run(launch, vulkan_variant(VULKAN_SHADER_add_f32, &launch->operands[2]), at, n, &push,
               sizeof push);
}

assay_status vulkan_unary(const assay_launch *launch)
{
    const assay_tensor *y = &launch->operands[1];

    switch ((assay_op_id)launch->problem->op) {
    case ASSAY_OP_relu:
        return run_unary(launch, vulkan_variant(VULKAN_SHADER_relu_f32, y));
    case ASSAY_OP_exp:
        return run_unary(launch, vulkan_variant(VULKAN_SHADER_exp_f32, y));
    case ASSAY_OP_gelu:
        return run_unary(launch, vulkan_variant(VULKAN_SHADER_gelu_f32, y));
    default:
        return vulkan_refuse(launch, "no shader of this op");
    }
}

assay_status vulkan_cast(const assay_launch *launch)
{
    const unsigned from = vulkan_type_of(&launch->operands[0]);
    const unsigned to = vulkan_type_of(&launch->operands[1]);

    return run_unary(launch, (vulkan_shader)((unsigned)VULKAN_SHADER_cast_f32_f32 + 3 * from + to));
}

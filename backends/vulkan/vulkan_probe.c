/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_probe.c -- kernels of known work: slot probe.
 *
 * Nothing spins, since few drivers let a shader read a clock of ns.  There are no matrix
 * instructions, which devices may have all the same: what they could speed up has no floor then. */
#include "backends/tensor_reach.h"
#include "backends/vulkan/vulkan_kernels.h"

enum {
    WORKGROUP_SIZE = 128,
    VECTORS = 4, /* that an invocation copies */
    BACKWARDS = 64,
    FMA_GROUPS = 2048, /* more than any device holds at once */
    CHAINS = 8,
    LINKS = 16
};
#define NEVER UINT32_C(0x7fa00ead)

/* As the shaders' push constants lie in memory.  Indices of shaders have 31 bits. */
typedef struct copy_arguments {
    uint64_t x, y, x_rest, y_rest;
    uint32_t vectors, rest;
} copy_arguments;
typedef struct fma_arguments {
    uint64_t nowhere;
    uint32_t rounds, never;
} fma_arguments;

static assay_status check(const assay_launch *launch, uint32_t operands, int64_t most)
{
    if (launch->instance == NULL)
        return ASSAY_INVALID; /* not by the slots: there is nobody to tell */
    if (launch->tunables != NULL && launch->tunables[0] >= 1 && launch->tunables[0] <= most &&
        launch->operand_count == operands)
        return ASSAY_OK;
    return assay__host_fail(launch->instance, ASSAY_INVALID,
                            "probe: needs an amount of 1 to %lld and %u operands", (long long)most,
                            operands);
}

/* second: the constant behind the size of workgroups. */
static assay_status run_with(const assay_launch *launch, vulkan_shader shader, uint32_t second,
                             uint64_t groups, const void *push, uint32_t push_bytes)
{
    const vulkan_work work = {
        .shader = shader,
        .constants = {WORKGROUP_SIZE, second},
        .shape = {.groups = groups, .local = {WORKGROUP_SIZE, 1}, .push_bytes = push_bytes},
        .push = push};

    return vulkan_run(launch, &work);
}

static assay_status run(const assay_launch *launch, vulkan_shader shader, uint64_t groups,
                        const void *push, uint32_t push_bytes)
{
    return run_with(launch, shader, VECTORS, groups, push, push_bytes);
}

static assay_status run_empty(const assay_launch *launch)
{
    const fma_arguments unused = {.rounds = 0};

    if (launch->instance == NULL)
        return ASSAY_INVALID;
    return run(launch, VULKAN_SHADER_probe_empty, 1, &unused, sizeof unused);
}

static assay_status run_copy(const assay_launch *launch)
{
    uint64_t at[ASSAY_MAX_OPERANDS];

    ASSAY_TRY(check(launch, 2, INT64_C(16) * INT32_MAX));
    if (!tensor_has_bytes(&launch->operands[0], launch->tunables[0]) ||
        !tensor_has_bytes(&launch->operands[1], launch->tunables[0]))
        return assay__host_fail(launch->instance, ASSAY_INVALID,
                                "probe: an operand has less than the %lld bytes to copy",
                                (long long)launch->tunables[0]);
    ASSAY_TRY(vulkan_addresses(launch, at));
    if ((at[0] | at[1]) % 16 != 0)
        return assay__host_fail(launch->instance, ASSAY_INVALID,
                                "probe: operands of a copy begin at multiples of 16");
    const uint64_t bytes = (uint64_t)launch->tunables[0], each = 16 * WORKGROUP_SIZE * VECTORS;
    const uint64_t whole = bytes / 16 * 16;
    const copy_arguments push = {.x = at[0],
                                 .y = at[1],
                                 .x_rest = at[0] + whole,
                                 .y_rest = at[1] + whole,
                                 .vectors = (uint32_t)(whole / 16),
                                 .rest = (uint32_t)(bytes - whole)};

    return run(launch, VULKAN_SHADER_probe_copy, (bytes + each - 1) / each, &push, sizeof push);
}

static assay_status run_fma(const assay_launch *launch)
{
    ASSAY_TRY(check(launch, 0, UINT32_MAX));
    const fma_arguments push = {.rounds = (uint32_t)launch->tunables[0], .never = NEVER};

    return run(launch, VULKAN_SHADER_probe_fma, FMA_GROUPS, &push, sizeof push);
}

/* ---- features ---- */

static assay_status show(const assay_launch *launch, vulkan_shader shader, uint32_t constant)
{
    uint64_t at[ASSAY_MAX_OPERANDS];

    /* No grid is folded, which may give groups too many: these have no bound. */
    ASSAY_TRY(check(launch, 2, INT64_C(65535) * WORKGROUP_SIZE));
    const int64_t words = launch->tunables[0], bytes = words * (int64_t)sizeof(uint32_t);
    if (words % WORKGROUP_SIZE != 0 || !tensor_has_bytes(&launch->operands[0], bytes) ||
        !tensor_has_bytes(&launch->operands[1], bytes))
        return assay__host_fail(launch->instance, ASSAY_INVALID,
                                "probe: %lld words are no multiple of %d, or more than there are",
                                (long long)words, WORKGROUP_SIZE);
    ASSAY_TRY(vulkan_addresses(launch, at));
    return run_with(launch, shader, constant, (uint64_t)words / WORKGROUP_SIZE, at,
                    2 * sizeof at[0]);
}

static assay_status show_shared(const assay_launch *launch)
{
    return show(launch, VULKAN_SHADER_probe_shared, BACKWARDS);
}

static assay_status show_specialized(const assay_launch *launch)
{
    if (launch->instance != NULL && launch->tunable_count < 2)
        return assay__host_fail(launch->instance, ASSAY_INVALID,
                                "probe: needs a second tunable, the factor");
    return show(launch, VULKAN_SHADER_probe_specialized,
                launch->tunables != NULL ? (uint32_t)launch->tunables[1] : 0);
}

assay_status vulkan_probe(assay_instance *instance, assay_probe *probe)
{
    const vulkan_instance *v = vulkan_of(instance);

    if (probe->kind == ASSAY_PROBE_EMPTY) {
        probe->run = run_empty;
        probe->operand_count = 0;
        probe->work_per_amount = 0.0;
    } else if (probe->kind == ASSAY_PROBE_COPY) {
        probe->run = run_copy;
        probe->operand_count = 2;
        probe->work_per_amount = 2.0;
    } else if (probe->kind == ASSAY_PROBE_SHARED || probe->kind == ASSAY_PROBE_SPECIALIZED) {
        probe->run = probe->kind == ASSAY_PROBE_SHARED ? show_shared : show_specialized;
        probe->operand_count = 2;
        probe->work_per_amount = 0.0;
    } else if (probe->kind == ASSAY_PROBE_FMA && probe->dtype == ASSAY_F32 &&
               vulkan_loops_end(&v->devices[v->selected])) {
        return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                "probe: this driver ends long loops before they are done");
    } else if (probe->kind == ASSAY_PROBE_FMA && probe->dtype == ASSAY_F32) {
        probe->run = run_fma;
        probe->operand_count = 0;
        probe->work_per_amount = 2.0 * FMA_GROUPS * WORKGROUP_SIZE * CHAINS * LINKS;
    } else {
        return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                "probe: there are an empty kernel, copies, multiply-adds of f32, "
                                "and what shows features; not kind %d of %s",
                                (int)probe->kind, assay_dtype_name(probe->dtype));
    }
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_dispatch.c -- one kernel's dispatch: checked, recorded, submitted. */
#include <string.h>

#include "backends/vulkan/vulkan.h"

static _Thread_local vulkan_recording *recording; /* borrowed from measure, which set it */

void vulkan_record(vulkan_recording *into)
{
    recording = into;
}

assay_status vulkan_refuse(const assay_launch *launch, const char *why)
{
    return assay__host_fail(launch->instance, ASSAY_UNSUPPORTED, "kernel of 'vulkan': %s", why);
}

/* ---- checks ---- */

static assay_status check(const vulkan_instance *v, const assay_launch *launch,
                          const vulkan_work *work)
{
    const vulkan_device *d = v->device;
    uint64_t unused[ASSAY_MAX_OPERANDS];
    char why[160];

    if (vulkan_codes[work->shader].is_narrow && !d->found->has_16bit_storage)
        return vulkan_refuse(launch, "the device lacks the feature storageBuffer16BitAccess");
    if (!vulkan_limits_allow(&d->limits, &work->shape, why, sizeof why))
        return vulkan_refuse(launch, why);
    return vulkan_addresses(launch, unused); /* once more: the gate keeps them from here on */
}

/* ---- recording ---- */

static void record(const vulkan_device *d, VkCommandBuffer buffer, const vulkan_pipeline *p,
                   const vulkan_work *work, const uint32_t grid[2])
{
    d->call.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, p->handle);
    d->call.CmdPushConstants(buffer, d->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                             work->shape.push_bytes, work->push);
    d->call.CmdDispatch(buffer, grid[0], grid[1], 1);
}

static void record_into(const vulkan_device *d, vulkan_recording *into, vulkan_pipeline *p,
                        const vulkan_work *work, const uint32_t grid[2])
{
    if (into->has_launches)
        vulkan_barrier(d, into->buffer, false);
    into->has_launches = true;
    into->is_cold = !atomic_exchange(&p->is_warm, true) || into->is_cold;
    record(d, into->buffer, p, work, grid);
}

static assay_status record_new(vulkan_instance *v, const vulkan_pipeline *p,
                               const vulkan_work *work, const uint32_t grid[2],
                               vulkan_commands **out)
{
    vulkan_commands *c;

    ASSAY_TRY(vulkan_take_commands(v, UINT32_MAX, &c));
    *out = c;
    ASSAY_TRY(vulkan_begin(v, c));
    record(v->device, c->buffer, p, work, grid);
    ASSAY_TRY(vulkan_end(v, c));
    ASSAY_TRY(vulkan_submit(v, c));
    c->pipeline = p; /* from now on it can be submitted again */
    memcpy(c->grid, grid, sizeof c->grid);
    memcpy(c->push, work->push, work->shape.push_bytes);
    return ASSAY_OK;
}

/* A typed call in a loop asks for the same dispatch again and again: it is recorded once. */
static assay_status run_now(vulkan_instance *v, vulkan_pipeline *p, const vulkan_work *work,
                            const uint32_t grid[2])
{
    vulkan_device *d = v->device;
    vulkan_commands *c = vulkan_take_recorded(d, p, grid, work->push, work->shape.push_bytes);
    assay_status status;

    if (c != NULL) {
        vulkan_count(v, VULKAN_COUNT_resubmissions, 1);
        status = vulkan_submit(v, c);
    } else {
        status = record_new(v, p, work, grid, &c);
    }
    if (status == ASSAY_OK)
        status = vulkan_wait(v, c);
    if (status == ASSAY_OK)
        atomic_store(&p->is_warm, true);
    if (c != NULL)
        vulkan_give_commands(d, c);
    return status;
}

static assay_status run_inside(vulkan_instance *v, const assay_launch *launch,
                               const vulkan_work *work)
{
    vulkan_pipeline *p;
    uint32_t grid[2];

    ASSAY_TRY(check(v, launch, work));
    ASSAY_TRY(vulkan_pipeline_get(v, work->shader, work->constants, &p));
    (void)vulkan_fold_grid(work->shape.groups, v->device->limits.groups, grid); /* as checked */
    vulkan_count(v, VULKAN_COUNT_dispatches, 1);
    if (recording == NULL)
        return run_now(v, p, work, grid);
    record_into(v->device, recording, p, work, grid);
    return ASSAY_OK;
}

assay_status vulkan_run(const assay_launch *launch, const vulkan_work *work)
{
    vulkan_instance *v = vulkan_of(launch->instance);

    if (recording != NULL) /* measure holds the gate */
        return run_inside(v, launch, work);
    ASSAY_TRY(vulkan_enter(v));
    assay_status status = run_inside(v, launch, work);
    vulkan_leave(v);
    return status != ASSAY_OK ? status : vulkan_tell_messages(&v->base);
}

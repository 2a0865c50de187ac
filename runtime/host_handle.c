/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_handle.c -- handles of buffers: whose they are, and of which generation.
 *
 * A handle holds the instance's mark, whose low 16 bits are those of the generation that made it,
 * and the place and generation of its slot.  So the handle of another instance, one from before a
 * recover and one that was freed are told apart, and a slot that is used again takes none of them
 * for its own. */
#include "runtime/host_backend.h"

#define GENERATION_BITS UINT64_C(0xffff)

void assay__host_new_generation(assay_instance *instance)
{
    instance->generation++;
    instance->owner =
        (instance->owner & ~GENERATION_BITS) | (instance->generation & GENERATION_BITS);
}

static assay_status fail_generation(const assay_instance *instance, assay_buffer buffer)
{
    const assay_error_detail detail = {.status = ASSAY_GENERATION,
                                       .generation = instance->generation};

    return assay__host_fail_detail(
        instance, &detail,
        "buffer is of generation %llu, the device was recovered since and is at %llu; make it anew",
        (unsigned long long)(buffer.owner & GENERATION_BITS),
        (unsigned long long)instance->generation);
}

assay_status assay__host_check_handle(const assay_instance *instance, assay_buffer buffer,
                                      size_t slot_count)
{
    if ((buffer.owner & ~GENERATION_BITS) != (instance->owner & ~GENERATION_BITS))
        return assay__host_fail(instance, ASSAY_FOREIGN,
                                "buffer belongs to another instance; copy by way of the host");
    if (buffer.owner != instance->owner)
        return fail_generation(instance, buffer);
    if (buffer.at.slot.index >= slot_count)
        return assay__host_fail(instance, ASSAY_INVALID, "buffer %u was never made here",
                                buffer.at.slot.index);
    return ASSAY_OK;
}

assay_status assay__host_fail_freed(const assay_instance *instance)
{
    return assay__host_fail(instance, ASSAY_FREED, "buffer was freed before this use");
}

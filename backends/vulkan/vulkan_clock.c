/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan_clock.c -- is a tick of the device as long as the driver says?
 *
 * By VK_EXT_calibrated_timestamps both clocks are read at one moment, to within the deviation that
 * comes with it; two such moments far enough apart give the rate. */
#include <math.h>

#include "backends/vulkan/vulkan.h"
#include "backends/vulkan/vulkan_ticks.h"

#define APART_NS 20e6 /* less tells nothing */
#define MOST_OFF 0.02 /* of a rate; crystals differ by 1e-4 at most */

static bool can_calibrate(const vulkan_instance *v)
{
    const vulkan_calls *call = &v->loader->call;
    VkTimeDomainEXT domains[16];
    uint32_t count = sizeof domains / sizeof domains[0];
    bool device = false, host = false;

    if (v->device->call.GetTimestamps == NULL || call->GetTimeDomains == NULL ||
        call->GetTimeDomains(v->device->found->handle, &count, domains) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        device = device || domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
        host = host || domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    }
    return device && host;
}

/* false: the driver could not. */
static bool read_moment(const vulkan_device *d, vulkan_moment *out)
{
    static const VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    uint64_t times[2] = {0, 0}, deviation = 0;

    if (d->call.GetTimestamps(d->handle, 2, infos, times, &deviation) != VK_SUCCESS ||
        deviation > (uint64_t)(APART_NS * MOST_OFF / 4))
        return false;
    *out = (vulkan_moment){.ticks = times[0], .host_ns = times[1]};
    return true;
}

/* With d->measuring held. */
assay_status vulkan_check_clock(vulkan_instance *v)
{
    vulkan_device *d = v->device;
    const double period = (double)d->found->properties.limits.timestampPeriod;
    vulkan_moment now;

    if (!can_calibrate(v) || !read_moment(d, &now))
        return ASSAY_OK;
    if (d->begun.host_ns == 0)
        d->begun = now;
    const double host = (double)(now.host_ns - d->begun.host_ns);
    const double turn = vulkan_ticks_ns(vulkan_ticks_mask(d->found->timestamp_bits), period);
    if (host < APART_NS)
        return ASSAY_OK;
    const double device = vulkan_ticks_ns(
        vulkan_ticks_between(d->begun.ticks, now.ticks, d->found->timestamp_bits), period);
    d->begun = now;
    if (host > turn / 2 || fabs(device - host) <= MOST_OFF * host)
        return ASSAY_OK;
    return assay__host_fail(&v->base, ASSAY_DEVICE,
                            "measure: the device's clock counts %.0f ns where %.0f went by; its "
                            "driver gives a wrong timestampPeriod",
                            device, host);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_features.c -- rules on features and the profile: what is claimed is there, what
 * is not is refused by name. */
#include <math.h>
#include <string.h>

#include "conform/conform_slots.h"

static bool has(const assay__conform *c, assay_feature feature)
{
    return (c->profile.features >> feature & 1) != 0;
}

assay__conform_verdict assay__conform_features_true_are_answered(assay__conform *c)
{
    bool fits = false;

    for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++) {
        if (!has(c, (assay_feature)f))
            continue;
        ASSAY__HOLDS(assay_engine_supports(c->engine, (assay_feature)f), "%s is and is not there",
                     assay_feature_name((assay_feature)f));
        ASSAY__FINE(assay_engine_require(c->engine, (assay_feature)f));
    }
    if (has(c, ASSAY_FEATURE_GRID_SYNC)) {
        ASSAY__FINE(assay_engine_grid_fits(c->engine, 1, 1, &fits));
        ASSAY__HOLDS(fits, "a grid of one invocation does not fit");
    }
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict refused_by_name(assay__conform *c, assay_feature feature,
                                              assay_status status)
{
    ASSAY__HOLDS(status == ASSAY_UNSUPPORTED, "without %s a call that needs it gave %s",
                 assay_feature_name(feature), assay_status_name(status));
    ASSAY__HOLDS(strstr(assay_last_error(), assay_feature_name(feature)) != NULL,
                 "the text '%.200s' lacks the name %s", assay_last_error(),
                 assay_feature_name(feature));
    return ASSAY__CONFORM_PASS;
}

static assay__conform_verdict no_queues(assay__conform *c)
{
    const assay_feature needs = ASSAY_FEATURE_ASYNC_COMPUTE;
    assay_queue *queue = NULL;
    assay_event *event = NULL;

    if (has(c, needs))
        return ASSAY__CONFORM_PASS;
    ASSAY__PART(refused_by_name(c, needs, assay_engine_queue_create(c->engine, &queue)));
    ASSAY__PART(refused_by_name(c, needs, assay_engine_event_create(c->engine, &event)));
    ASSAY__HOLDS(queue == NULL && event == NULL, "a refused call gave a queue or an event");
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_features_false_are_refused(assay__conform *c)
{
    const assay_fault fault = {.struct_size = sizeof fault};
    const assay_buffer b = {.owner = 1, .size_bytes = 1};
    void *host = NULL;
    bool fits = false;

    for (int f = 0; f < (int)ASSAY_FEATURE_COUNT; f++) {
        const assay_feature feature = (assay_feature)f;
        if (has(c, feature))
            continue;
        ASSAY__HOLDS(!assay_engine_supports(c->engine, feature), "%s is and is not there",
                     assay_feature_name(feature));
        ASSAY__PART(refused_by_name(c, feature, assay_engine_require(c->engine, feature)));
    }
    ASSAY__HOLDS(!assay_engine_supports(c->engine, (assay_feature)ASSAY_FEATURE_COUNT),
                 "it has a feature that there is not");
    ASSAY__PART(no_queues(c));
    if (!has(c, ASSAY_FEATURE_RECOVERY))
        ASSAY__PART(refused_by_name(c, ASSAY_FEATURE_RECOVERY, assay_engine_recover(c->engine)));
    if (!has(c, ASSAY_FEATURE_FAULT_INJECTION))
        ASSAY__PART(refused_by_name(c, ASSAY_FEATURE_FAULT_INJECTION,
                                    assay_engine_inject(c->engine, &fault)));
    if (!has(c, ASSAY_FEATURE_UNIFIED_MEMORY))
        ASSAY__PART(refused_by_name(c, ASSAY_FEATURE_UNIFIED_MEMORY,
                                    assay_engine_map(c->engine, b, &host)));
    if (!has(c, ASSAY_FEATURE_GRID_SYNC))
        ASSAY__PART(refused_by_name(c, ASSAY_FEATURE_GRID_SYNC,
                                    assay_engine_grid_fits(c->engine, 1, 1, &fits)));
    return ASSAY__CONFORM_PASS;
}

static bool stores(const assay__conform *c, assay_dtype dtype)
{
    return (c->profile.dtypes >> dtype & 1) != 0;
}

assay__conform_verdict assay__conform_features_match_profile(assay__conform *c)
{
    const assay_device_profile *p = &c->profile;

    ASSAY__HOLDS(p->features >> ASSAY_FEATURE_COUNT == 0, "features 0x%llx has unknown bits",
                 (unsigned long long)p->features);
    ASSAY__HOLDS(p->dtypes >> ASSAY_DTYPE_COUNT == 0, "dtypes 0x%x has unknown bits", p->dtypes);
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_F16) || stores(c, ASSAY_F16),
                 "it computes in f16 and cannot store it");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_BF16) || stores(c, ASSAY_BF16),
                 "it computes in bf16 and cannot store it");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_FP8) || stores(c, ASSAY_F8E4M3) || stores(c, ASSAY_F8E5M2),
                 "it computes in 8 bits and cannot store them");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_UNIFIED_MEMORY) || p->memory != ASSAY_MEMORY_DEVICE,
                 "its memory is unified, and the device's alone");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_SUBGROUP_OPS) || p->subgroup_size > 0,
                 "it has subgroup_ops, and subgroup_size is 0");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_SUBGROUP_SHUFFLE) || p->subgroup_size > 0,
                 "lanes of a subgroup exchange values, and it has no size");
    ASSAY__HOLDS(!has(c, ASSAY_FEATURE_SHARED_MEMORY) || p->max_shared_bytes > 0,
                 "workgroups have memory of 0 bytes");
    ASSAY__HOLDS(p->timing != ASSAY_TIMING_DEVICE || has(c, ASSAY_FEATURE_DEVICE_TIMESTAMPS),
                 "it times by the device's clock, and has none");
    ASSAY__HOLDS(p->timing != ASSAY_TIMING_COUNTERS || has(c, ASSAY_FEATURE_HARDWARE_COUNTERS),
                 "it times by counters, and has none");
    return ASSAY__CONFORM_PASS;
}

/* Slots without which a feature is an empty word: their defaults refuse, or know of nothing. */
static const struct {
    assay_feature feature;
    size_t offset;
    const char *slot;
} feature_slots[] = {
#define NEEDS(feature, slot)                                          \
    {                                                                 \
        ASSAY_FEATURE_##feature, offsetof(assay_backend, slot), #slot \
    }
    NEEDS(RESIDENT, alloc),
    NEEDS(RESIDENT, free),
    NEEDS(RESIDENT, copy),
    NEEDS(RESIDENT, fill),
    NEEDS(RESIDENT, launch),
    NEEDS(ASYNC_COMPUTE, queue_create),
    NEEDS(ASYNC_COMPUTE, queue_destroy),
    NEEDS(ASYNC_COMPUTE, queue_wait),
    NEEDS(ASYNC_COMPUTE, event_create),
    NEEDS(ASYNC_COMPUTE, event_destroy),
    NEEDS(ASYNC_COMPUTE, event_record),
    NEEDS(ASYNC_COMPUTE, event_wait),
    NEEDS(ASYNC_COMPUTE, event_ready),
    NEEDS(ASYNC_COMPUTE, event_elapsed),
    NEEDS(ASYNC_COMPUTE, launch),
    NEEDS(ASYNC_COMPUTE, synchronize),
    NEEDS(UNIFIED_MEMORY, map),
    NEEDS(RECOVERY, recover),
    NEEDS(RECOVERY, state),
    NEEDS(FAULT_INJECTION, inject),
    NEEDS(FAULT_INJECTION, state),
    NEEDS(GRID_SYNC, grid_fits),
    NEEDS(DEVICE_TIMESTAMPS, measure),
    NEEDS(HARDWARE_COUNTERS, measure),
#undef NEEDS
};

assay__conform_verdict assay__conform_features_have_their_slots(assay__conform *c)
{
    for (size_t i = 0; i < sizeof feature_slots / sizeof feature_slots[0]; i++)
        ASSAY__HOLDS(!has(c, feature_slots[i].feature) ||
                         assay__conform_has_slot(c, feature_slots[i].offset),
                     "its profile says %s, and its manifest has no slot %s",
                     assay_feature_name(feature_slots[i].feature), feature_slots[i].slot);
    return ASSAY__CONFORM_PASS;
}

assay__conform_verdict assay__conform_profile_matches_device(assay__conform *c)
{
    const assay_device_profile *p = &c->profile;
    assay_device_info info;
    size_t count = 0;

    memset(&info, 0, sizeof info);
    ASSAY__FINE(assay_engine_devices(c->engine, &info, 1, &count));
    /* 0 is "not reported", in either. */
    ASSAY__HOLDS(p->memory_bytes == 0 || info.memory_bytes == 0 ||
                     p->memory_bytes == info.memory_bytes,
                 "memory_bytes is %llu in the profile, %llu in device_info",
                 (unsigned long long)p->memory_bytes, (unsigned long long)info.memory_bytes);
    ASSAY__HOLDS(p->last_cache_bytes == 0 || info.last_cache_bytes == 0 ||
                     p->last_cache_bytes == info.last_cache_bytes,
                 "last_cache_bytes is %llu in the profile, %llu in device_info",
                 (unsigned long long)p->last_cache_bytes,
                 (unsigned long long)info.last_cache_bytes);
    ASSAY__HOLDS(p->compute_units == 0 || info.compute_units == 0 ||
                     p->compute_units == info.compute_units,
                 "compute_units is %u in the profile, %u in device_info", p->compute_units,
                 info.compute_units);
    ASSAY__HOLDS(info.is_cpu == 0 || p->location == ASSAY_LOCATION_CPU,
                 "device_info says that it is a CPU, the profile has location %d",
                 (int)p->location);
    ASSAY__HOLDS(p->location == c->manifest->location, "location is %d, in the manifest %d",
                 (int)p->location, (int)c->manifest->location);
    return ASSAY__CONFORM_PASS;
}

static bool is_rate(double value)
{
    return isnan(value) || (value > 0.0 && isfinite(value));
}

assay__conform_verdict assay__conform_profile_is_sound(assay__conform *c)
{
    const assay_device_profile *p = &c->profile;
    assay_device_profile again;

    ASSAY__HOLDS((int)p->memory >= 0 && p->memory <= ASSAY_MEMORY_DEVICE, "memory is kind %d",
                 (int)p->memory);
    ASSAY__HOLDS((int)p->location >= 0 && p->location < ASSAY_LOCATION_COUNT, "location is %d",
                 (int)p->location);
    ASSAY__HOLDS((int)p->timing >= 0 && p->timing <= ASSAY_TIMING_COUNTERS, "timing is %d",
                 (int)p->timing);
    ASSAY__HOLDS((p->alignment_bytes & (p->alignment_bytes - 1)) == 0,
                 "alignment_bytes %u is no power of two", p->alignment_bytes);
    for (int l = 0; l < 8; l++)
        ASSAY__HOLDS(p->paths[l] >> ASSAY_PATH_COUNT == 0, "paths[%d] 0x%x has unknown bits", l,
                     p->paths[l]);
    ASSAY__HOLDS(is_rate(p->flops_per_ns) && is_rate(p->bytes_per_ns),
                 "its rates are %g flops and %g bytes a ns", p->flops_per_ns, p->bytes_per_ns);
    ASSAY__FINE(assay_engine_profile(c->engine, &again));
    ASSAY__HOLDS(again.features == p->features && again.dtypes == p->dtypes &&
                     again.memory_bytes == p->memory_bytes &&
                     again.max_buffer_bytes == p->max_buffer_bytes,
                 "a second profile differs from the first");
    return ASSAY__CONFORM_PASS;
}

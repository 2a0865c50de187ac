/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/fake/fake_plugin.c -- manifest and slots of the scripted backend.
 *
 * Kernels really run, once for each timed call; what measure reports comes from the script. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "backends/fake/fake_kernels.h"
#include "backends/source_hash.h"
#include "gen/config.h"

/* The same once more for tests, as of a device that no host reaches. */
#ifdef FAKE_FAR
#define NAME     "far"
#define LOCATION ASSAY_LOCATION_CUDA
#else
#define NAME     "fake"
#define LOCATION ASSAY_LOCATION_CPU
#endif

fake_script fake_current;
static uint64_t places; /* of this process: stays that ended */
/* Spans of this process: untimed ones, of which there may be more or fewer, and timed ones, whose
 * noise does not depend on those. */
static uint64_t spans[2];
#define UNTIMED (UINT64_C(1) << 40)
static uint64_t opened_at; /* untimed spans of this process then: a script is a process to tests */
/* Stays that ended, of each variant: who measures them asks for many spans last, and only then. */
static uint64_t stays[FAKE_KERNELS][8][8];

static uint64_t *stays_of(int kernel, const int64_t *tunables)
{
    return &stays[kernel][tunables[FAKE_THREADS] & 7][tunables[FAKE_VARIANT] & 7];
}

static assay_status read_file(const assay_instance *instance, const char *path, char **out)
{
    enum { LIMIT = 65536 };
    FILE *file = fopen(path, "re");
    char *text = file != NULL ? calloc(1, LIMIT) : NULL;

    if (file == NULL)
        return assay__host_fail(instance, ASSAY_IO, "fake script: cannot read %s", path);
    size_t size = text != NULL ? fread(text, 1, LIMIT - 1, file) : 0;
    fclose(file);
    if (text == NULL)
        return ASSAY_NOMEM;
    if (size == LIMIT - 1) {
        free(text);
        return assay__host_fail(instance, ASSAY_INVALID, "fake script: %s is too long", path);
    }
    *out = text;
    return ASSAY_OK;
}

/* Takes the next number of a counter kept in a file. */
static assay_status next_visit(const assay_instance *instance, const char *path, uint64_t *out)
{
    char text[32] = "";
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (file < 0 || flock(file, LOCK_EX) != 0) {
        if (file >= 0)
            close(file);
        return assay__host_fail(instance, ASSAY_IO, "fake script: cannot count visits in %s", path);
    }
    bool good = pread(file, text, sizeof text - 1, 0) >= 0;
    uint64_t visit = strtoull(text, NULL, 10);
    int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)visit + 1);
    good = good && pwrite(file, text, (size_t)length, 0) == length;
    close(file);
    if (!good)
        return assay__host_fail(instance, ASSAY_IO, "fake script: cannot count visits in %s", path);
    *out = visit;
    return ASSAY_OK;
}

static assay_status read_script(const assay_instance *instance)
{
    const char *text = getenv("ASSAY_FAKE"), *visit = getenv("ASSAY_FAKE_VISIT");
    char why[160], *file = NULL;

    if (text != NULL && text[0] == '@') {
        ASSAY_TRY(read_file(instance, text + 1, &file));
        text = file;
    }
    bool good = fake_parse(text != NULL ? text : "", &fake_current, why, sizeof why);
    free(file);
    if (!good)
        return assay__host_fail(instance, ASSAY_PARSE, "%s", why);
    fake_current.visit = visit != NULL ? strtoull(visit, NULL, 10) : 0;
    if (fake_current.visits[0] != '\0')
        ASSAY_TRY(next_visit(instance, fake_current.visits, &fake_current.visit));
    return fake_current.visit < (uint64_t)fake_current.gone
               ? ASSAY_OK
               : assay__host_fail(instance, ASSAY_DEVICE, "the script says that it is gone");
}

static assay_status plan_nomem(assay_instance *instance)
{
    const assay_fault fault = {.struct_size = sizeof fault,
                               .kind = ASSAY_FAULT_OUT_OF_MEMORY,
                               .after = (uint64_t)fake_current.nomem};

    return assay__host_inject(instance, &fault);
}

static assay_status fake_open(const assay_host *host, assay_instance **out)
{
    assay_instance *instance;

    ASSAY_TRY(assay__host_open(host, &instance));
    assay_status status = read_script(instance);
    fake_sensors_begin();
    opened_at = spans[0];
    if (status == ASSAY_OK && fake_current.nomem != INT64_MAX)
        status = plan_nomem(instance);
    if (status != ASSAY_OK) {
        assay__host_close(instance);
        return status;
    }
    instance->zero_fill = true;
    *out = instance;
    return ASSAY_OK;
}

static assay_status fake_device_count(assay_instance *instance, size_t *out)
{
    (void)instance;
    *out = (size_t)fake_current.devices;
    return ASSAY_OK;
}

static assay_status fake_device_info(assay_instance *instance, size_t device,
                                     assay_device_info *out)
{
    if (device >= (size_t)fake_current.devices)
        return assay__host_fail(instance, ASSAY_INVALID, "device %zu: the script has %lld", device,
                                (long long)fake_current.devices);
    const size_t which = (device + (size_t)fake_current.turned) % (size_t)fake_current.devices;

    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    snprintf(out->name, sizeof out->name, "Scripted device %zu",
             which % (size_t)fake_current.alike);
    snprintf(out->architecture, sizeof out->architecture, "scripted");
    snprintf(out->driver, sizeof out->driver, "none");
    snprintf(out->uuid, sizeof out->uuid, "fake-%zu", which);
    out->memory_bytes = (uint64_t)fake_current.memory;
    out->last_cache_bytes = UINT64_C(1) << 20;
    out->compute_units = 2;
    out->is_cpu = LOCATION == ASSAY_LOCATION_CPU;
    return ASSAY_OK;
}

static bool is_discrete(void)
{
    return LOCATION != ASSAY_LOCATION_CPU || fake_current.discrete != 0;
}

/* Scripted devices differ in their number alone. */
static assay_status fake_device_profile(assay_instance *instance, size_t device,
                                        assay_device_profile *out)
{
    assay_device_info info;

    ASSAY_TRY(fake_device_info(instance, device, &info));
    if (fake_current.mute != 0)
        return assay__host_fail(instance, ASSAY_DEVICE, "the script gives no profile");
    ASSAY_TRY(assay__host_test_profile(instance, 0, out));
    out->features |= UINT64_C(1) << ASSAY_FEATURE_DEVICE_TIMESTAMPS;
    out->location = LOCATION;
    if (is_discrete()) {
        out->features &= ~(UINT64_C(1) << ASSAY_FEATURE_UNIFIED_MEMORY);
        out->memory = ASSAY_MEMORY_DEVICE;
        out->paths[ASSAY_LOCATION_CPU] = 1u << ASSAY_PATH_STAGING;
    }
    out->timing = ASSAY_TIMING_DEVICE;
    out->location_index = (uint32_t)device;
    out->memory_bytes = info.memory_bytes;
    out->last_cache_bytes = info.last_cache_bytes;
    out->compute_units = info.compute_units;
    return ASSAY_OK;
}

static assay_status fake_map(assay_instance *instance, assay_buffer buffer, void **host,
                             uint64_t *bytes)
{
    if (is_discrete() && buffer.owner != 0)
        return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                "map: the script says that memory is the device's own");
    return assay__host_map(instance, buffer, host, bytes);
}

/* A device that reaches the host's memory has nothing to fix. */
static assay_status fake_host_alloc(assay_instance *instance, uint64_t bytes, void **out)
{
    if (!is_discrete())
        return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                "host_alloc: no pinned memory: the script's device reaches all");
    return assay__host_fixed_alloc(instance, bytes, out);
}

/* What moves between devices that the host reaches is copied as ever. */
static assay_status fake_peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                                   assay_instance *source, assay_buffer src, uint64_t src_offset,
                                   uint64_t bytes)
{
    if (!is_discrete())
        return assay__host_fail(instance, ASSAY_UNSUPPORTED,
                                "peer_copy: the script's devices reach the host's memory");
    return assay__host_peer_copy(instance, dst, dst_offset, source, src, src_offset, bytes);
}

static assay_status fake_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                                uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    if (fake_current.digest == 0)
        return assay__host_fail(instance, ASSAY_UNSUPPORTED, "digest: the script has none");
    ASSAY_TRY(assay__host_digest(instance, buffer, offset, bytes, step, count, out));
    for (size_t i = 0; fake_current.digest > 1 && i < count; i++)
        out[i]++;
    return ASSAY_OK;
}

static assay_status fake_select_device(assay_instance *instance, size_t device)
{
    assay_device_info info;

    return fake_device_info(instance, device, &info);
}

/* Index of the kernel behind an entry point; -1 for a foreign one. */
static int kernel_of(assay_kernel_fn run)
{
    for (int i = 0; i < FAKE_KERNELS; i++)
        if (fake_entries[i] == run)
            return i;
    return -1;
}

static double span_ns(const assay_launch *launch, const fake_rule *rule, int kernel, fake_when when,
                      size_t inner)
{
    when.stay = *stays_of(kernel, launch->tunables);
    return fake_duration(&fake_current, rule, kernel, launch->tunables, fake_units(launch->problem),
                         when, inner);
}

static assay_status one_span(assay_instance *instance, const assay_measure *what, int kernel,
                             size_t *next)
{
    double ns = 0.0;
    const bool timed = what->spans > 1;
    const uint64_t index = __atomic_fetch_add(&spans[timed], 1, __ATOMIC_RELAXED);
    const fake_when when = {.span = index + (timed ? 0 : UNTIMED),
                            .place = places,
                            .untimed = timed ? UINT64_MAX : index - opened_at};

    for (size_t i = 0; i < what->inner; i++) {
        const assay_launch *launch = &what->launches[*next];
        fake_rule rule = fake_rule_of(&fake_current, kernel, launch->tunables);
        ASSAY_TRY(assay__host_launch(instance, what->run, launch));
        if (i == 0)
            ns = span_ns(launch, &rule, kernel, when, what->inner);
        *next = *next + 1 == what->launch_count ? 0 : *next + 1;
    }
    what->sink(what->cookie, ns, what->inner);
    return ASSAY_OK;
}

/* A span of a kernel of known work: always as scripted, and no stay. */
static assay_status one_probe(assay_instance *instance, const assay_measure *what, size_t *next)
{
    double all = 0.0;

    for (size_t i = 0; i < what->inner; i++) {
        const assay_launch *launch = &what->launches[*next];
        ASSAY_TRY(assay__host_launch(instance, what->run, launch));
        all += fake_probe_ns(launch);
        *next = *next + 1 == what->launch_count ? 0 : *next + 1;
    }
    what->sink(what->cookie, all, what->inner);
    return ASSAY_OK;
}

/* Before the caller knows of it: whatever is not stored later was lost. */
static assay_status note_stay(const assay_instance *instance)
{
    if (fake_current.stays[0] == '\0')
        return ASSAY_OK;
    int file = open(fake_current.stays, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    bool good = file >= 0 && write(file, ".", 1) == 1;
    if (file >= 0)
        close(file);
    return good ? ASSAY_OK
                : assay__host_fail(instance, ASSAY_IO, "fake script: cannot write to %s",
                                   fake_current.stays);
}

static assay_status fake_measure(assay_instance *instance, const assay_measure *what,
                                 assay_clock_info *clock)
{
    int kernel = kernel_of(what->run);
    const bool is_probe = kernel < 0 && what->launch_count > 0 && what->launches[0].problem == NULL;
    size_t next = 0;

    if ((kernel < 0 && !is_probe) || what->launch_count == 0 || what->inner == 0 ||
        what->sink == NULL)
        return assay__host_fail(instance, ASSAY_INVALID,
                                "measure: needs a fake kernel, a sink, launches and inner >= 1");
    if (what->cache == ASSAY_CACHE_HOT && what->launch_count != 1)
        return assay__host_fail(instance, ASSAY_INVALID, "measure: a hot cache needs one launch");
    for (size_t span = 0; span < what->spans; span++)
        ASSAY_TRY(is_probe ? one_probe(instance, what, &next)
                           : one_span(instance, what, kernel, &next));
    if (what->spans > 1 && !is_probe) {
        ++*stays_of(kernel, what->launches[0].tunables);
        places++;
        ASSAY_TRY(note_stay(instance));
    }
    memset(clock, 0, sizeof *clock);
    snprintf(clock->name, sizeof clock->name, "scripted");
    clock->resolution_ns = fake_current.resolution;
    clock->overhead_ns = fake_current.overhead;
    clock->quality = fake_current.counters != 0 ? ASSAY_TIMING_COUNTERS : ASSAY_TIMING_DEVICE;
    return ASSAY_OK;
}

static const assay_backend backend = {
    ASSAY__HOST_PLAIN_SLOTS,
    .synchronize = fake_synchronize,
    .metrics = fake_metrics,
    .open = fake_open,
    .device_count = fake_device_count,
    .device_info = fake_device_info,
    .library_identity = assay__host_library_identity,
    .launch = fake_launch,
    .measure = fake_measure,
    .device_profile = fake_device_profile,
    .select_device = fake_select_device,
    .map = fake_map,
    .inject = assay__host_inject,
    .host_alloc = fake_host_alloc,
    .digest = fake_digest,
    .host_free = assay__host_fixed_free,
    .peer_copy = fake_peer_copy,
    .probe = fake_probe,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = NAME,
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = fake_rows,
    .kernel_count = sizeof fake_rows / sizeof *fake_rows,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
    .location = LOCATION,
};

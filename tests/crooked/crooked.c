/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/crooked/crooked.c -- a backend that keeps its contract but for the one rule that
 * $ASSAY_CROOKED names, so that tests see which rule of `assay check --backend` notices.
 *
 * A plug-in of the tests, never installed. */
#include "tests/crooked/crooked.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/cuda/kernels/cuda_judge_point.h"
#include "backends/source_hash.h"
#include "gen/config.h"
#include "tests/support/judge_host.h"

/* ---- a lost device ---- */

static bool is_lost(assay_instance *instance)
{
    assay_instance_state state;

    return assay__host_state(instance, &state) == ASSAY_OK && state.is_lost != 0;
}

static assay_status free_buffer(assay_instance *instance, assay_buffer buffer)
{
    if (crooked_is("hang"))
        (void)pause();
    if (crooked_is("crash"))
        abort();
    if (crooked_is("lost_free") && is_lost(instance))
        return assay__host_not_lost(instance, "free");
    return assay__host_free(instance, buffer);
}

static assay_status map(assay_instance *instance, assay_buffer buffer, void **host, uint64_t *bytes)
{
    static char elsewhere[64];

    if (crooked_is("lost_map") && is_lost(instance)) {
        *host = elsewhere;
        *bytes = sizeof elsewhere;
        return ASSAY_OK;
    }
    return assay__host_map(instance, buffer, host, bytes);
}

/* Its device is the host: this saves nothing, and lets the rule on it be tried. */
static assay_status host_free(assay_instance *instance, void *host)
{
    const assay_status status = assay__host_fixed_free(instance, host);

    return crooked_is("pinned_twice") && status == ASSAY_FREED ? ASSAY_OK : status;
}

/* Neither has it a device of its own: its memory is copied, byte by byte. */
static assay_status peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_instance *source, assay_buffer src, uint64_t src_offset,
                              uint64_t bytes)
{
    const bool has_room =
        bytes > 0 && dst_offset + bytes < dst.size_bytes && src_offset + bytes < src.size_bytes;
    const uint64_t more = crooked_is("peer_more") && has_room ? 1 : 0;
    const uint64_t from = crooked_is("peer_words") ? src_offset & ~UINT64_C(3) : src_offset;
    const assay_status status =
        assay__host_peer_copy(instance, dst, dst_offset, source, src, from, bytes + more);

    if ((crooked_is("peer_foreign") && status == ASSAY_FOREIGN) ||
        (crooked_is("peer_range") && status == ASSAY_INVALID) ||
        (crooked_is("peer_freed") && status == ASSAY_FREED))
        return ASSAY_OK;
    return status;
}

static assay_status synchronize(assay_instance *instance)
{
    if (crooked_is("lost_synchronize") && is_lost(instance))
        return assay__host_fail(instance, ASSAY_DEVICE, "synchronize: no device");
    return assay__host_synchronize(instance);
}

/* ---- transfers ---- */

/* As over a stream that waits for all others. */
static assay_status wait_for_queues(assay_instance *instance)
{
    return crooked_is("copies_wait") ? assay__host_synchronize(instance) : ASSAY_OK;
}

static assay_status upload(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(wait_for_queues(instance));
    return assay__host_upload(instance, pieces, count);
}

static assay_status download(assay_instance *instance, const assay_transfer *pieces, size_t count)
{
    ASSAY_TRY(wait_for_queues(instance));
    return assay__host_download(instance, pieces, count);
}

/* ---- queues ---- */

static assay_queue *first; /* that takes the work of all others */

static assay_status queue_create(assay_instance *instance, assay_queue **out)
{
    if (crooked_is("lost_queue") && is_lost(instance))
        return assay__host_fail(instance, ASSAY_DEVICE, "queue_create: no device");
    ASSAY_TRY(assay__host_queue_create(instance, out));
    if (crooked_is("serial") && first == NULL)
        first = *out;
    return ASSAY_OK;
}

static assay_queue *queue_for(assay_queue *queue)
{
    return crooked_is("serial") && queue != NULL ? first : queue;
}

static assay_status event_record(assay_instance *instance, assay_event *event, assay_queue *queue)
{
    return assay__host_event_record(instance, event, queue_for(queue));
}

static assay_status queue_wait(assay_instance *instance, assay_queue *queue)
{
    if (crooked_is("any_failure"))
        return assay__host_synchronize(instance);
    const assay_status status = assay__host_queue_wait(instance, queue_for(queue));
    if (status != ASSAY_OK && crooked_is("no_text"))
        return assay__host_fail(instance, status, "%s", "");
    if (status != ASSAY_OK && crooked_is("last_failure") && is_lost(instance))
        return assay__host_not_lost(instance, "queue_wait");
    return status;
}

static assay_status queue_destroy(assay_instance *instance, assay_queue *queue)
{
    const assay_status told =
        crooked_is("destroy_tells") ? assay__host_queue_wait(instance, queue) : ASSAY_OK;

    ASSAY_TRY(assay__host_queue_destroy(instance, queue));
    return told;
}

/* What the caller gave, read when the queue comes to it. */
static struct {
    assay_kernel_fn run;
    const assay_problem *problem;
    const assay_tensor *operands;
    const int64_t *tunables;
} kept;

static assay_status run_kept(const assay_launch *launch)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch late = *launch, resolved;

    if (crooked_is("keeps_problem"))
        late.problem = kept.problem;
    if (crooked_is("keeps_tunables"))
        late.tunables = kept.tunables;
    if (crooked_is("keeps_operands"))
        late.operands = kept.operands;
    ASSAY_TRY(assay__host_resolve(launch->instance, &late, &resolved, operands, 0));
    return kept.run(&resolved);
}

static assay_status launch_queued(assay_instance *instance, assay_kernel_fn run,
                                  const assay_launch *launch)
{
    const bool keeps =
        crooked_is("keeps_problem") || crooked_is("keeps_tunables") || crooked_is("keeps_operands");
    assay_launch queued = *launch;

    queued.queue = queue_for(launch->queue);
    kept.run = run;
    kept.problem = launch->problem;
    kept.operands = launch->operands;
    kept.tunables = launch->tunables;
    ASSAY_TRY(assay__host_launch(instance, keeps ? run_kept : run, &queued));
    return crooked_is("blocks") ? assay__host_queue_wait(instance, queued.queue) : ASSAY_OK;
}

static assay_status launch(assay_instance *instance, assay_kernel_fn run,
                           const assay_launch *launch_)
{
    return launch_->queue != NULL ? launch_queued(instance, run, launch_)
                                  : assay__host_launch(instance, run, launch_);
}

/* ---- what it says of itself ---- */

static assay_status device_profile(assay_instance *instance, size_t device,
                                   assay_device_profile *out)
{
    static const struct {
        const char *name;
        assay_feature feature;
    } claims[] = {{"subgroups", ASSAY_FEATURE_SUBGROUP_OPS},
                  {"timestamps", ASSAY_FEATURE_DEVICE_TIMESTAMPS},
                  {"counters", ASSAY_FEATURE_HARDWARE_COUNTERS},
                  {"grid", ASSAY_FEATURE_GRID_SYNC},
                  {"shown_wrong", ASSAY_FEATURE_SHARED_MEMORY},
                  {"shown_constant", ASSAY_FEATURE_SPECIALIZATION},
                  {"shown_run", ASSAY_FEATURE_MUL_HIGH},
                  {"shown_silent", ASSAY_FEATURE_SUBGROUP_SHUFFLE},
                  {"shown_nowhere", ASSAY_FEATURE_MUL_HIGH}};

    ASSAY_TRY(assay__host_test_profile(instance, device, out));
    out->features |= UINT64_C(1) << ASSAY_FEATURE_ASYNC_COPY;
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        if (crooked_is(claims[i].name))
            out->features |= UINT64_C(1) << claims[i].feature;
    return ASSAY_OK;
}

static bool is_measuring;

static assay_status measure(assay_instance *instance, const assay_measure *what,
                            assay_clock_info *clock)
{
    is_measuring = true;
    const assay_status status = assay__host_measure(instance, what, clock);
    is_measuring = false;
    return status;
}

static assay_status metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count)
{
    enum { MOST = 64 };
    assay_metric all[MOST];
    size_t there = 0;

    if (crooked_is("metrics_deaf") && is_measuring)
        return assay__host_fail(instance, ASSAY_DEVICE, "metrics: a measurement goes on");
    ASSAY_TRY(assay__host_metrics(instance, all, MOST, &there));
    for (size_t i = 0; i < there; i++) {
        if (crooked_is("metrics_name") && strcmp(all[i].name, "frees_total") == 0)
            all[i].name = "frees";
        if (crooked_is("metrics_fall") && strcmp(all[i].name, "launches_total") == 0)
            all[i].value = 1000000 - all[i].value;
    }
    const size_t fill = crooked_is("metrics_cap") || cap > there ? there : cap;
    if (out != NULL)
        memcpy(out, all, fill * sizeof *out);
    *count = crooked_is("metrics_count") && cap < there ? cap : there;
    return ASSAY_OK;
}

/* ---- kernels of known work ---- */

static assay_status run_spin(const assay_launch *launch)
{
    const struct timespec span = {launch->tunables[0] / 1000000000,
                                  launch->tunables[0] % 1000000000};
    const assay_probe_spun spun = {
        .ns = (uint64_t)launch->tunables[0] - (crooked_is("probe_short") ? 1 : 0), .step_ns = 1};

    if (!crooked_is("copies_unseen"))
        (void)nanosleep(&span, NULL);
    memcpy(assay_tensor_data(&launch->operands[0]), &spun, sizeof spun);
    return ASSAY_OK;
}

static assay_status run_copy(const assay_launch *launch)
{
    memcpy(assay_tensor_data(&launch->operands[1]), assay_tensor_data(&launch->operands[0]),
           (size_t)launch->tunables[0] - (crooked_is("probe_copy") ? 1 : 0));
    return ASSAY_OK;
}

/* The first factor for ever; nothing of the workgroup's memory. */
static assay_status run_shown(const assay_launch *launch)
{
    static uint32_t factor;
    const uint32_t *from = assay_tensor_data(&launch->operands[0]);
    uint32_t *to = assay_tensor_data(&launch->operands[1]);

    if (launch->tunable_count > 1 && factor == 0)
        factor = (uint32_t)launch->tunables[1];
    for (int64_t i = 0; i < launch->tunables[0]; i++)
        to[i] = from[i] * (launch->tunable_count > 1 ? factor : 1);
    return ASSAY_OK;
}

static assay_status probe(assay_instance *instance, assay_probe *out)
{
    if (out->kind == ASSAY_PROBE_SHARED || out->kind == ASSAY_PROBE_SPECIALIZED ||
        (out->kind == ASSAY_PROBE_MUL_HIGH && crooked_is("shown_run"))) {
        out->operand_count = 2;
        out->run = crooked_is("shown_run") ? NULL : run_shown;
        return ASSAY_OK;
    }
    if (out->kind == ASSAY_PROBE_SHUFFLE && crooked_is("shown_silent"))
        return assay__host_fail(instance, ASSAY_DEVICE, "probe: not today");
    if (out->kind == ASSAY_PROBE_SPIN_NS) {
        out->operand_count = 1;
        out->run = crooked_is("probe_run") ? NULL : run_spin;
        return ASSAY_OK;
    }
    if (out->kind == ASSAY_PROBE_COPY) {
        out->operand_count = 2;
        out->run = run_copy;
        out->work_per_amount = crooked_is("probe_work") ? 0.0 : 2.0;
        return ASSAY_OK;
    }
    return assay__host_fail(instance, crooked_is("probe_status") ? ASSAY_DEVICE : ASSAY_UNSUPPORTED,
                            "%s", crooked_is("probe_silent") ? "" : "probe: there is none");
}

static assay_status digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                           uint64_t bytes, uint64_t step, size_t count, uint64_t *out)
{
    if (crooked_is("digest_range") && count > 1)
        step = bytes;
    ASSAY_TRY(assay__host_digest(instance, buffer, offset, bytes, step, count, out));
    out[count - 1] += crooked_is("digest") ? 1 : 0;
    return ASSAY_OK;
}

/* ---- a judge of relu ---- */

static assay_status run_patterns(const assay_launch *launch)
{
    judge_host_patterns(assay_tensor_data(&launch->operands[0]), 4,
                        assay_tensor_data(&launch->operands[1]), 4, (uint64_t)launch->tunables[0],
                        (uint64_t)launch->operands[0].dims[0]);
    return ASSAY_OK;
}

static assay_status run_judge(const assay_launch *launch)
{
    assay_judged *record = assay_tensor_data(&launch->operands[1]);
    const judge_host_task task = {.op = JUDGE_RELU,
                                  .in = JUDGE_F32,
                                  .out = JUDGE_F32,
                                  .y = assay_tensor_data(&launch->operands[0]),
                                  .first = (uint64_t)launch->tunables[0],
                                  .batches =
                                      (uint64_t)launch->operands[0].dims[0] / ASSAY_JUDGE_BATCH,
                                  .record = assay_tensor_data(&launch->operands[1]),
                                  .best = assay_tensor_data(&launch->operands[2]),
                                  .limit = (uint64_t)launch->tunables[1],
                                  .capacity = (uint64_t)launch->tunables[2]};

    judge_host_run(&task);
    record->digest ^= crooked_is("judge_digest");
    if (crooked_is("judge_blind")) {
        record->misrounded = record->max_dist = record->over_one = 0;
        record->bins[0] = record->elements;
        memset(record->bins + 1, 0, sizeof record->bins - sizeof record->bins[0]);
    }
    record->bins[0] -= crooked_is("judge_loses");
    record->elements -= crooked_is("judge_loses");
    return ASSAY_OK;
}

static assay_status judge(assay_instance *instance, assay_judge *out)
{
    if (out->problem->op != ASSAY_OP_relu)
        return assay__host_fail(instance, ASSAY_UNSUPPORTED, "judge: of relu alone");
    if (crooked_is("judge_silent"))
        return assay__host_fail(instance, ASSAY_UNSUPPORTED, "%s", "");
    if (crooked_is("judge_status"))
        return assay__host_fail(instance, ASSAY_DEVICE, "judge: there is none");
    out->patterns = run_patterns;
    out->judge = crooked_is("judge_run") ? NULL : run_judge;
    return ASSAY_OK;
}

static const assay_backend backend = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = assay__host_open,
    .close = assay__host_close,
    .device_count = assay__host_device_count,
    .device_info = assay__host_device_info,
    .library_identity = assay__host_library_identity,
    .alloc = assay__host_alloc,
    .free = free_buffer,
    .copy = assay__host_copy,
    .fill = assay__host_fill,
    .wrap = assay__host_wrap,
    .launch = launch,
    .synchronize = synchronize,
    .measure = measure,
    .device_profile = device_profile,
    .flush = synchronize,
    .state = assay__host_state,
    .recover = assay__host_recover,
    .upload = upload,
    .download = download,
    .map = map,
    .host_alloc = assay__host_fixed_alloc,
    .host_free = host_free,
    .peer_copy = peer_copy,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_wait = queue_wait,
    .event_create = assay__host_event_create,
    .event_destroy = assay__host_event_destroy,
    .event_record = event_record,
    .event_wait = assay__host_event_wait,
    .event_ready = assay__host_event_ready,
    .event_elapsed = assay__host_event_elapsed,
    .metrics = metrics,
    .inject = assay__host_inject,
    .probe = probe,
    .digest = digest,
    .judge = judge,
};

ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "crooked",
    .version = ASSAY_VERSION,
    .compiler = ASSAY_COMPILER_ID,
    .kernels = crooked_kernels,
    .kernel_count = CROOKED_KERNELS,
    .sources = assay__source_hashes,
    .source_count = ASSAY_SOURCE_COUNT,
    .backend = &backend,
    .explicit_only = 1,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform.h -- does a backend keep the contract of assay/engine.h and assay/compute.h?
 *
 * One rule a question; docs/backends.md lists them.  A rule runs in a process of its own
 * (conform_worker.h): a backend that crashes or hangs fails that rule and no other, and what a
 * failed rule leaves behind ends with its process. */
#ifndef ASSAY_CONFORM_CONFORM_H
#define ASSAY_CONFORM_CONFORM_H

#include "assay/compute.h"

typedef enum assay__conform_verdict {
    ASSAY__CONFORM_PASS = 0,
    ASSAY__CONFORM_FAIL,
    ASSAY__CONFORM_SKIP
} assay__conform_verdict;

/* What a rule works with. */
typedef struct assay__conform {
    assay_context *context; /* without a store */
    const char *backend;
    /* Two of the backend, with its own kernels alone; initialised on device 0 but for rules of
     * ASSAY__CONFORM_CLOSED. */
    assay_engine *engine, *other;
    const assay_manifest *manifest;
    const assay_manifest *ref;    /* the oracle's; NULL: it is not here */
    assay_device_profile profile; /* of initialised ones */
    assay_op_id op;               /* of the rules kernels_<op> */
    size_t calls_ran;             /* typed calls that a kernel answered, of the rules call_* */
    char refusal[400];            /* why the first that did not run was refused */
    char reason[600];
} assay__conform;

enum { ASSAY__CONFORM_NONE = -1 }; /* no feature is needed */
typedef enum assay__conform_start {
    ASSAY__CONFORM_OPEN = 0,
    ASSAY__CONFORM_CLOSED
} assay__conform_start;

/* X(rule, feature without which it is skipped, how its engines are): one function
 * assay__conform_<rule> each, in the order in which they are told.  The first takes the backend
 * into use, so that one that is not here is known before anything is told. */
#define ASSAY__CONFORM_RULES(X)                                         \
    X(life_state, ASSAY__CONFORM_NONE, OPEN)                            \
    X(life_identity, ASSAY__CONFORM_NONE, CLOSED)                       \
    X(life_before_init, ASSAY__CONFORM_NONE, CLOSED)                    \
    X(life_init_twice, ASSAY__CONFORM_NONE, OPEN)                       \
    X(life_bad_device, ASSAY__CONFORM_NONE, CLOSED)                     \
    X(life_devices, ASSAY__CONFORM_NONE, CLOSED)                        \
    X(life_concurrent_inits, ASSAY__CONFORM_NONE, CLOSED)               \
    X(life_prepare, ASSAY__CONFORM_NONE, OPEN)                          \
    X(life_after_shutdown, ASSAY__CONFORM_NONE, OPEN)                   \
    X(life_init_again, ASSAY__CONFORM_NONE, OPEN)                       \
    X(features_true_are_answered, ASSAY__CONFORM_NONE, OPEN)            \
    X(features_false_are_refused, ASSAY__CONFORM_NONE, OPEN)            \
    X(features_match_profile, ASSAY__CONFORM_NONE, OPEN)                \
    X(features_have_their_slots, ASSAY__CONFORM_NONE, OPEN)             \
    X(profile_matches_device, ASSAY__CONFORM_NONE, OPEN)                \
    X(profile_is_sound, ASSAY__CONFORM_NONE, OPEN)                      \
    X(memory_alloc_free, ASSAY_FEATURE_RESIDENT, OPEN)                  \
    X(memory_alloc_refuses, ASSAY_FEATURE_RESIDENT, OPEN)               \
    X(memory_round_trip, ASSAY_FEATURE_RESIDENT, OPEN)                  \
    X(memory_exact_lengths, ASSAY_FEATURE_RESIDENT, OPEN)               \
    X(memory_offsets, ASSAY_FEATURE_RESIDENT, OPEN)                     \
    X(memory_ranges_refused, ASSAY_FEATURE_RESIDENT, OPEN)              \
    X(memory_batch_all_or_nothing, ASSAY_FEATURE_RESIDENT, OPEN)        \
    X(memory_batch_in_order, ASSAY_FEATURE_RESIDENT, OPEN)              \
    X(memory_fill, ASSAY_FEATURE_RESIDENT, OPEN)                        \
    X(memory_copy, ASSAY_FEATURE_RESIDENT, OPEN)                        \
    X(memory_copy_overlapping, ASSAY_FEATURE_RESIDENT, OPEN)            \
    X(memory_alignment, ASSAY_FEATURE_RESIDENT, OPEN)                   \
    X(memory_map, ASSAY_FEATURE_UNIFIED_MEMORY, OPEN)                   \
    X(memory_wrap, ASSAY_FEATURE_UNIFIED_MEMORY, OPEN)                  \
    X(memory_pinned, ASSAY_FEATURE_RESIDENT, OPEN)                      \
    X(memory_peer_copy, ASSAY_FEATURE_RESIDENT, OPEN)                   \
    X(memory_digest, ASSAY_FEATURE_RESIDENT, OPEN)                      \
    X(memory_live_counts, ASSAY_FEATURE_RESIDENT, OPEN)                 \
    X(memory_threads, ASSAY_FEATURE_RESIDENT, OPEN)                     \
    X(handle_foreign, ASSAY_FEATURE_RESIDENT, OPEN)                     \
    X(handle_freed, ASSAY_FEATURE_RESIDENT, OPEN)                       \
    X(handle_freed_twice, ASSAY_FEATURE_RESIDENT, OPEN)                 \
    X(handle_of_reused_place, ASSAY_FEATURE_RESIDENT, OPEN)             \
    X(handle_never_made, ASSAY_FEATURE_RESIDENT, OPEN)                  \
    X(handle_after_shutdown, ASSAY_FEATURE_RESIDENT, OPEN)              \
    X(handle_in_calls, ASSAY_FEATURE_RESIDENT, OPEN)                    \
    X(queue_runs_in_order, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)           \
    X(queue_pending_free, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)            \
    X(queue_failures_told_once, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)      \
    X(queue_flush_waits, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)             \
    X(queue_foreign, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)                 \
    X(queue_events, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)                  \
    X(queue_copies_its_arguments, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)    \
    X(queue_lets_its_caller_go, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)      \
    X(queue_runs_beside_others, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)      \
    X(queue_transfers_run_beside, ASSAY_FEATURE_ASYNC_COPY, OPEN)       \
    X(queue_tells_first_failure, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)     \
    X(queue_keeps_failures_apart, ASSAY_FEATURE_ASYNC_COMPUTE, OPEN)    \
    X(faults_inject, ASSAY_FEATURE_FAULT_INJECTION, OPEN)               \
    X(faults_out_of_memory, ASSAY_FEATURE_FAULT_INJECTION, OPEN)        \
    X(faults_launch, ASSAY_FEATURE_FAULT_INJECTION, OPEN)               \
    X(faults_delay, ASSAY_FEATURE_FAULT_INJECTION, OPEN)                \
    X(faults_lost_until_recovered, ASSAY_FEATURE_FAULT_INJECTION, OPEN) \
    X(faults_lost_is_refused, ASSAY_FEATURE_FAULT_INJECTION, OPEN)      \
    X(faults_lost_lets_go, ASSAY_FEATURE_FAULT_INJECTION, OPEN)         \
    X(recover_when_not_lost, ASSAY_FEATURE_RECOVERY, OPEN)              \
    X(recover_voids_handles, ASSAY_FEATURE_RECOVERY, OPEN)              \
    X(metrics_are_named, ASSAY__CONFORM_NONE, OPEN)                     \
    X(metrics_never_fall, ASSAY_FEATURE_RESIDENT, OPEN)                 \
    X(metrics_keep_to_cap, ASSAY__CONFORM_NONE, OPEN)                   \
    X(metrics_that_grow_are_totals, ASSAY_FEATURE_RESIDENT, OPEN)       \
    X(metrics_text, ASSAY__CONFORM_NONE, OPEN)                          \
    X(call_gemm, ASSAY_FEATURE_RESIDENT, OPEN)                          \
    X(call_batched_gemm, ASSAY_FEATURE_RESIDENT, OPEN)                  \
    X(call_gemm_mixed_precision, ASSAY_FEATURE_RESIDENT, OPEN)          \
    X(call_conv2d_forward, ASSAY_FEATURE_RESIDENT, OPEN)                \
    X(call_conv2d_backward_data, ASSAY_FEATURE_RESIDENT, OPEN)          \
    X(call_conv2d_backward_filter, ASSAY_FEATURE_RESIDENT, OPEN)        \
    X(call_attention, ASSAY_FEATURE_RESIDENT, OPEN)                     \
    X(call_unary, ASSAY_FEATURE_RESIDENT, OPEN)                         \
    X(call_binary, ASSAY_FEATURE_RESIDENT, OPEN)                        \
    X(call_reduce, ASSAY_FEATURE_RESIDENT, OPEN)                        \
    X(call_softmax, ASSAY_FEATURE_RESIDENT, OPEN)                       \
    X(call_gather, ASSAY_FEATURE_RESIDENT, OPEN)                        \
    X(call_scatter, ASSAY_FEATURE_RESIDENT, OPEN)                       \
    X(call_recommended_tile, ASSAY__CONFORM_NONE, OPEN)                 \
    X(call_refuses_bad_arguments, ASSAY_FEATURE_RESIDENT, OPEN)         \
    X(call_by_forwarder, ASSAY_FEATURE_RESIDENT, OPEN)                  \
    X(measure_spans, ASSAY_FEATURE_RESIDENT, OPEN)                      \
    X(probe_does_its_work, ASSAY_FEATURE_RESIDENT, OPEN)                \
    X(features_are_shown, ASSAY_FEATURE_RESIDENT, OPEN)                 \
    X(judge_agrees, ASSAY_FEATURE_RESIDENT, OPEN)

#define X(rule, feature, start) assay__conform_verdict assay__conform_##rule(assay__conform *c);
ASSAY__CONFORM_RULES(X)
#undef X
/* Every kernel of the backend for c->op, against the oracle. */
assay__conform_verdict assay__conform_kernels(assay__conform *c);

/* Those above, then kernels_<op> for each op of the catalogue. */
size_t assay__conform_count(void);
/* Static text; NULL past the last. */
const char *assay__conform_name(size_t index, char buf[64]);

/* Runs one rule in this process.  plugin_path NULL: the usual search.  ASSAY_UNAVAILABLE: the
 * backend is not here; ASSAY_NOTFOUND: no such rule.  out->reason: of FAIL and SKIP. */
typedef struct assay__conform_result {
    assay__conform_verdict verdict;
    char reason[600];
} assay__conform_result;
assay_status assay__conform_run(const char *rule, const char *backend, const char *plugin_path,
                                assay__conform_result *out);

/* ---- for rules ---- */

__attribute__((format(printf, 2, 3))) assay__conform_verdict
assay__conform_fail(assay__conform *c, const char *format, ...);
__attribute__((format(printf, 2, 3))) assay__conform_verdict
assay__conform_skip(assay__conform *c, const char *format, ...);
/* "call: OK instead of FREED: text". */
assay__conform_verdict assay__conform_wrong_status(assay__conform *c, const char *call,
                                                   assay_status got, assay_status wanted);

/* PASS: the wanted status, with a text unless that is OK. */
assay__conform_verdict assay__conform_check_status(assay__conform *c, const char *call,
                                                   assay_status got, assay_status wanted);
void assay__conform_forget_text(void);

#define ASSAY__HOLDS(condition, ...)                    \
    do {                                                \
        if (!(condition))                               \
            return assay__conform_fail(c, __VA_ARGS__); \
    } while (0)
/* A part of a rule that says how it went; anything but PASS ends the rule. */
#define ASSAY__PART(call)                            \
    do {                                             \
        const assay__conform_verdict part_ = (call); \
        if (part_ != ASSAY__CONFORM_PASS)            \
            return part_;                            \
    } while (0)

/* That status, and with one of failure a text. */
#define ASSAY__GIVES(call, wanted)                                          \
    do {                                                                    \
        assay__conform_forget_text();                                       \
        const assay_status got_ = (call);                                   \
        ASSAY__PART(assay__conform_check_status(c, #call, got_, (wanted))); \
    } while (0)
#define ASSAY__FINE(call) ASSAY__GIVES(call, ASSAY_OK)

/* The engine's own bytes against `want`. */
assay__conform_verdict assay__conform_holds_bytes(assay__conform *c, assay_engine *engine,
                                                  assay_buffer buffer, const void *want,
                                                  size_t bytes, const char *when);

/* A typed call on f32 that the backend has a kernel for: y = a op y, by ADD or MUL. */
typedef struct assay__conform_work {
    assay_binary_op op;
    assay_buffer a, y;
    int64_t n;
    float a_value, y_value; /* what they begin with */
} assay__conform_work;
/* SKIP: it has neither. */
assay__conform_verdict assay__conform_work_make(assay__conform *c, int64_t n,
                                                assay__conform_work *out);
assay_status assay__conform_work_run(assay_engine *engine, const assay__conform_work *w,
                                     assay_queue *queue);
/* What every element of y is after so many of them. */
float assay__conform_work_want(const assay__conform_work *w, int times);
assay__conform_verdict assay__conform_work_check(assay__conform *c, const assay__conform_work *w,
                                                 int times);

#endif

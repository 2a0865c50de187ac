/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/plugin.h -- what a plug-in exports: a manifest as data, kernels, and a backend.
 *
 * A plug-in is a shared object with one exported symbol, `assay_plugin_manifest`.  Reading the
 * manifest runs no code of the plug-in beyond the loader's; drivers and libraries are opened only
 * by `open`.  Structures grow at their end: `struct_size` tells what a plug-in knows.  Slots that
 * it does not have get documented defaults, fields of rows and of the manifest are 0; rows that are
 * longer than this version knows are refused.  Plug-ins are never unloaded. */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include "assay/deployment.h"
#include "assay/digest.h"
#include "assay/op.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_PLUGIN_ABI    1u
#define ASSAY_PLUGIN_SYMBOL "assay_plugin_manifest"
#define ASSAY_PLUGIN_EXPORT __attribute__((visibility("default"))) /* on its definition */
#define ASSAY_MAX_TUNABLES  8

/* ---- kernels --------------------------------------------------------------------------------- */

/* What one operand may look like; absent bits are refused and made contiguous by the caller. */
enum {
    ASSAY_CAP_STRIDED = 1u << 0,   /* any positive strides */
    ASSAY_CAP_BROADCAST = 1u << 1, /* stride 0 */
    ASSAY_CAP_NEGATIVE = 1u << 2,  /* negative strides */
    ASSAY_CAP_LEADING = 1u << 3,   /* last dimension contiguous, rows apart ("leading dimension") */
    ASSAY_CAP_OFFSET = 1u << 4     /* byte_offset other than 0 */
};
typedef struct assay_operand_caps {
    uint16_t layouts;     /* ASSAY_CAP_* */
    uint16_t align_bytes; /* address of element 0 must be a multiple; 0 or 1: element alignment */
} assay_operand_caps;

/* Names of kernels and tunables are visible ASCII signs but , = { } | ' " and backslash. */

/* A named integer choice inside a kernel.  `values` lists every choice once, default_value among
 * them. */
typedef struct assay_tunable {
    const char *name; /* "threads" is special: the picker compares it with max_threads */
    const int64_t *values;
    size_t value_count;
    int64_t default_value;
    const char *doc;
} assay_tunable;

typedef struct assay_launch {
    uint32_t struct_size;
    uint32_t operand_count;
    const assay_problem *problem;
    const assay_tensor *operands; /* inputs then outputs; shapes already checked by the caller, so
                                     are overlaps: an output is apart from all inputs or, in ops of
                                     one result an element or a row, one of them */
    const int64_t *tunables;      /* in the descriptor's order; never NULL when it has any */
    void *queue; /* an assay_queue of the instance; NULL: run now, done when launch returns or, on
                    devices, when synchronize does */
    struct assay_instance *instance;
    uint32_t tunable_count; /* for queues, which keep a copy; kernels know their own */
} assay_launch;

/* Runs the kernel.  Never allocates outputs, prints, exits or aborts; must succeed for every
 * problem that its descriptor admits. */
typedef assay_status (*assay_kernel_fn)(const assay_launch *launch);

typedef enum assay_stability {
    ASSAY_STABILITY_ABSENT = 0, /* no claim or no evidence */
    ASSAY_STABILITY_NONE,       /* runs differ */
    ASSAY_STABILITY_CONFIG,     /* same bits for the same configuration */
    ASSAY_STABILITY_MACHINE,    /* same bits on the same machine, any thread count and placement */
    ASSAY_STABILITY_ANYWHERE
} assay_stability;

/* What a contract says; never evidence.  A negative number or NaN: no claim. */
typedef struct assay_claims {
    double max_ulp; /* integer distance to the correctly rounded value */
    double max_rho;
    double max_rel;
    double max_abs;
    assay_stability stability;
} assay_claims;
#define ASSAY_NO_CLAIMS                                \
    {                                                  \
        -1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_ABSENT \
    }

/* What a sweep measured of the device, for cost functions; NaN: never measured here. */
typedef struct assay_capabilities {
    uint32_t struct_size;
    double flops_per_ns; /* fused multiply-adds count twice; f64 for problems of f64, else f32 */
    double bytes_per_ns; /* of a copy in memory, bytes read and written */
    uint32_t threads;    /* that both peaks are of; 0: unknown */
} assay_capabilities;

typedef enum assay_tier { /* where a cost came from; larger is weaker */
                          ASSAY_TIER_MEASURED = 0,
                          ASSAY_TIER_PREDICTED,
                          ASSAY_TIER_DECLARED,
                          ASSAY_TIER_UNKNOWN
} assay_tier;

typedef struct assay_cost {
    assay_tier tier; /* UNKNOWN: the numbers below mean nothing */
    double flops, bytes, overhead_ns;
} assay_cost;

/* Cost by code: shapes (all operands, inputs then outputs), dtypes, op params, capabilities. */
typedef assay_cost (*assay_cost_fn)(const assay_problem *problem, const assay_tensor *operands,
                                    size_t operand_count, const assay_capabilities *caps);
typedef bool (*assay_can_run_fn)(const assay_problem *problem, const int64_t *tunables);

typedef struct assay_kernel_desc {
    uint32_t struct_size;
    const char *name; /* stable key, unique within the plug-in for (op, dtypes) */
    assay_op_id op;
    uint8_t dtype_count;
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    assay_operand_caps caps[ASSAY_MAX_OPERANDS];
    int default_rank; /* lowest that can run is the default kernel: OpenBLAS 0, ours 10, portable 20
                       */
    const assay_tunable *tunables;
    size_t tunable_count;
    const char
        *constraint; /* expression over parameters and tunables that admits a variant, or NULL */
    const char *can_run;         /* expression over parameters, or NULL: always */
    assay_can_run_fn can_run_fn; /* or NULL */
    const char *requires_isa;    /* e.g. "avx2,fma,f16c": names of deployment ISA flags, or NULL */
    const char *cost_flops, *cost_bytes; /* expressions, or NULL: the family's default */
    assay_cost_fn cost_fn;               /* or NULL */
    const char *const
        *sources; /* NULL-terminated, root relative; looked up in the manifest's table */
    const char *const *libraries; /* NULL-terminated names known to library_identity, or NULL */
    assay_claims claims;
    const char *entry_point; /* symbol or call the kernel stands for */
    assay_kernel_fn run;
    /* Fast convolution (Winograd): an output errs with the sums of a whole tile of outputs, not
     * with its own alone.  Its check takes the largest sum of absolute products in the tile of this
     * many outputs a side, from the first one on, and error_factor >= 1 times the roundings of a
     * plain sum.  0 and 0: a plain sum.  Figures of rho stay those of the output's own sum. */
    uint32_t error_tile;
    double error_factor;
} assay_kernel_desc;

/* ---- backends -------------------------------------------------------------------------------- */

typedef struct assay_instance assay_instance; /* opaque, the plug-in's own */

typedef struct assay_host { /* given to open(); lives as long as the process */
    uint32_t struct_size;
    uint32_t abi_version;
    /* Records the text behind assay_last_error() and returns `status`. */
    assay_status (*fail)(assay_status status, const char *text);
    void (*log)(void *cookie, int level, const char *text);
    void *cookie;
    /* The same as fail, with what belongs to the status besides; returns detail->status. */
    assay_status (*fail_detail)(const assay_error_detail *detail, const char *text);
} assay_host;

typedef struct assay_device_info {
    uint32_t struct_size;
    char name[128];
    char architecture[64];
    char driver[128];
    char uuid[64];
    uint64_t memory_bytes;     /* 0: not reported */
    uint64_t last_cache_bytes; /* 0: not reported */
    uint32_t compute_units;    /* 0: not reported */
    uint32_t is_cpu;
} assay_device_info;

typedef enum assay_timing_quality {
    ASSAY_TIMING_HOST = 0,     /* host clock around enqueue only */
    ASSAY_TIMING_ENQUEUE_WAIT, /* host clock around enqueue and wait */
    ASSAY_TIMING_DEVICE,       /* device timestamps */
    ASSAY_TIMING_COUNTERS      /* hardware counters or activity records */
} assay_timing_quality;

typedef struct assay_clock_info {
    char name[48];
    double resolution_ns;
    double overhead_ns;
    assay_timing_quality quality;
} assay_clock_info;

typedef enum assay_cache_mode { ASSAY_CACHE_ROTATE = 0, ASSAY_CACHE_HOT } assay_cache_mode;

/* One timed span: `inner` launches in a row over launches[first], launches[first+1], ... modulo
 * count.  sink is called once per span with its whole duration. */
typedef struct assay_measure {
    uint32_t struct_size;
    assay_kernel_fn run;
    const assay_launch *launches; /* operand sets to rotate over; hot: count 1 */
    size_t launch_count;
    size_t inner;
    size_t spans;
    assay_cache_mode cache;
    void (*sink)(void *cookie, double span_ns, size_t inner);
    void *cookie;
    /* Nobody keeps these times, as of calls to warm up: whichever clock costs least will do.  What
     * *clock says is of the one that times which are kept would be taken by. */
    bool is_rough;
} assay_measure;

/* ---- what a device is and can do ------------------------------------------------------------- */

/* X(NAME, bit, text, meaning).  True only when the backend does it by itself and this device offers
 * it; whoever asks for a false one is refused. */
#define ASSAY_FEATURE_MAP(X)                                                                      \
    X(RESIDENT, 0, "resident", "buffers that stay on the device between calls")                   \
    X(ASYNC_COMPUTE, 1, "async_compute", "queues that run beside the caller and one another")     \
    X(ASYNC_COPY, 2, "async_copy", "copies that run beside kernels")                              \
    X(UNIFIED_MEMORY, 3, "unified_memory", "the host can read and write the device's memory")     \
    X(PEER_ACCESS, 4, "peer_access", "devices read one another's memory")                         \
    X(RECOVERY, 5, "recovery", "a lost device can be taken anew")                                 \
    X(FAULT_INJECTION, 6, "fault_injection", "faults on demand, for tests")                       \
    X(F16, 7, "f16", "arithmetic in binary16, not by way of f32")                                 \
    X(BF16, 8, "bf16", "arithmetic in bfloat16, not by way of f32")                               \
    X(FP8, 9, "fp8", "arithmetic in 8 bits, not by way of a wider type")                          \
    X(TENSOR_CORES, 10, "tensor_cores", "matrix instructions")                                    \
    X(SUBGROUP_OPS, 11, "subgroup_ops", "operations across a subgroup")                           \
    X(SUBGROUP_SHUFFLE, 12, "subgroup_shuffle", "exchange within a subgroup")                     \
    X(SHARED_MEMORY, 13, "shared_memory", "memory of a workgroup")                                \
    X(INDIRECT_DISPATCH, 14, "indirect_dispatch", "sizes of a launch read from a buffer")         \
    X(SPECULATION, 15, "speculation", "a filter and what it lets through in one launch")          \
    X(PERSISTENT_THREADS, 16, "persistent_threads", "a kernel that takes work from a queue")      \
    X(GRID_SYNC, 17, "grid_sync", "a barrier of all threads of a launch")                         \
    X(HOST_GRID_SPLIT, 18, "host_grid_split", "such a barrier may be made by launching in parts") \
    X(CLUSTER_LAUNCH, 19, "cluster_launch", "workgroups launched in clusters")                    \
    X(DISTRIBUTED, 20, "distributed", "one call over several devices")                            \
    X(COLLECTIVES, 21, "collectives", "all-reduce and its kin across devices")                    \
    X(SPECIALIZATION, 22, "specialization", "constants set when a kernel is made ready")          \
    X(TRAPS, 23, "traps", "a fault of a kernel is reported to the caller")                        \
    X(MUL_HIGH, 24, "mul_high", "upper half of an integer product")                               \
    X(DUAL_ISSUE, 25, "dual_issue", "f32 and i32 instructions side by side")                      \
    X(DEVICE_TIMESTAMPS, 26, "device_timestamps", "the device's own clock")                       \
    X(HARDWARE_COUNTERS, 27, "hardware_counters", "counters of the device")

typedef enum assay_feature {
#define X(name, bit, text, meaning) ASSAY_FEATURE_##name = (bit),
    ASSAY_FEATURE_MAP(X)
#undef X
} assay_feature;
enum {
    ASSAY_FEATURE_COUNT = 0
#define X(name, bit, text, meaning) +1
    ASSAY_FEATURE_MAP(X)
#undef X
};

typedef enum assay_memory_kind {
    ASSAY_MEMORY_HOST = 0, /* what malloc gives */
    ASSAY_MEMORY_PINNED,   /* the host's, fixed for a device */
    ASSAY_MEMORY_UNIFIED,  /* one memory that both reach */
    ASSAY_MEMORY_DEVICE    /* the device's own */
} assay_memory_kind;

typedef enum assay_location {
    ASSAY_LOCATION_CPU = 0,
    ASSAY_LOCATION_CUDA,
    ASSAY_LOCATION_VULKAN,
    ASSAY_LOCATION_COUNT
} assay_location;

/* How bytes get from one place to another; a mask of 1u << path. */
typedef enum assay_path {
    ASSAY_PATH_SAME = 0, /* nothing moves */
    ASSAY_PATH_SHARED,   /* one memory */
    ASSAY_PATH_PEER,     /* device to device */
    ASSAY_PATH_COPY,     /* the device's copy engine, or memcpy */
    ASSAY_PATH_STAGING,  /* through a buffer of the host's */
    ASSAY_PATH_COUNT
} assay_path;

/* Every number: 0 is "not reported", never "none" or "unlimited"; rates: NaN. */
typedef struct assay_device_profile {
    uint32_t struct_size;
    uint32_t subgroup_size; /* lanes; SIMD lanes of f32 are no subgroup */
    uint64_t features;      /* bit i: assay_feature i */
    uint32_t dtypes;        /* bit i: assay_dtype i can be stored and moved */
    uint32_t max_int_bits;  /* of integer arithmetic */
    uint32_t max_workgroup_size[3];
    uint32_t max_workgroup_invocations;
    uint32_t max_workgroups; /* a dimension */
    uint32_t compute_units;
    uint64_t max_shared_bytes; /* a workgroup */
    uint64_t max_buffer_bytes; /* one buffer */
    uint64_t memory_bytes;
    uint64_t l1_cache_bytes, l2_cache_bytes, last_cache_bytes;
    uint32_t registers_per_thread;
    uint32_t simd_bits; /* widest vector that the kernels use here */
    uint32_t cache_line_bytes;
    uint32_t numa_nodes;
    uint32_t shared_banks, shared_bank_bytes;
    uint32_t ideal_unroll, ideal_vector_bits, ideal_tile[3]; /* hints for tuning */
    uint32_t compute_capability[2];                          /* 0, 0: not of CUDA */
    uint32_t alignment_bytes;                                /* that alloc gives at least */
    uint32_t granularity_bits;                               /* least addressable unit */
    assay_memory_kind memory;
    assay_location location;
    uint32_t location_index; /* device number at that location */
    uint8_t paths[8];        /* by assay_location: mask of 1u << assay_path to and from it */
    assay_timing_quality timing;
    /* Filled by the library from what was measured here, not by the backend. */
    double flops_per_ns, bytes_per_ns;
} assay_device_profile;

/* One piece of an upload or download between host memory and a buffer. */
typedef struct assay_transfer {
    assay_buffer buffer;
    uint64_t offset; /* in the buffer */
    void *host;      /* read by an upload, written by a download */
    uint64_t bytes;
} assay_transfer;

typedef struct assay_queue assay_queue; /* opaque, the plug-in's own; launches run in order */
typedef struct assay_event assay_event; /* opaque, the plug-in's own: a place in a queue */

/* Stable ASCII name, "_total" at the end of what only grows, and its unit before that. */
typedef struct assay_metric {
    const char *name; /* static storage */
    uint64_t value;
} assay_metric;

/* Value of a gauge whose reading failed this time: not known, and its place in the list stays. */
#define ASSAY_METRIC_UNKNOWN UINT64_MAX

typedef enum assay_fault_kind {
    ASSAY_FAULT_NONE = 0,      /* takes all planned faults back */
    ASSAY_FAULT_LOST,          /* the device is lost, until recover */
    ASSAY_FAULT_OUT_OF_MEMORY, /* an alloc fails */
    ASSAY_FAULT_DELAY,         /* a launch takes delay_ns longer */
    ASSAY_FAULT_LAUNCH         /* a launch fails, nothing written */
} assay_fault_kind;
typedef struct assay_fault {
    uint32_t struct_size;
    assay_fault_kind kind;
    uint64_t after;    /* operations of its kind that still succeed first */
    uint64_t times;    /* how many then fail; 0: all */
    uint64_t delay_ns; /* DELAY */
} assay_fault;

/* Kernels of known work, which prove the backend's clock and measure what the device does at most.
 */
typedef enum assay_probe_kind {
    ASSAY_PROBE_EMPTY = 0,   /* nothing */
    ASSAY_PROBE_SPIN_NS,     /* waits for `amount` ns by the device's own clock */
    ASSAY_PROBE_SPIN_CYCLES, /* waits for `amount` cycles of the core that it runs on */
    ASSAY_PROBE_COPY,        /* the first `amount` bytes of operand 0 to operand 1 */
    ASSAY_PROBE_FMA,         /* `amount` rounds of multiply-adds in registers */
    ASSAY_PROBE_MATRIX,      /* the same by matrix instructions; dtype f32: operands cut to tf32 */
    /* These show a feature.  Operand 0 holds `amount` words of 32 bits, a multiple of
     * ASSAY_PROBE_WORDS, operand 1 gets as many. */
    ASSAY_PROBE_SHARED,      /* each 64 words backwards, by way of a workgroup's memory */
    ASSAY_PROBE_SHUFFLE,     /* each two words in the other's place, exchanged in a subgroup */
    ASSAY_PROBE_SUBGROUP,    /* the sum over a subgroup, in each of its places */
    ASSAY_PROBE_MUL_HIGH,    /* the upper half of each word times 0x9e3779b9 */
    ASSAY_PROBE_SPECIALIZED, /* each word times tunable 1, which the kernel was made ready with */
    ASSAY_PROBE_KINDS
} assay_probe_kind;
#define ASSAY_PROBE_WORDS 256

/* The first operand of a spin holds one of these afterwards: what it really waited by the device's
 * own clocks.  0: the device has no such clock. */
typedef struct assay_probe_spun {
    uint64_t ns, cycles;
    uint64_t step_ns; /* by which the first of them goes on */
} assay_probe_spun;

/* Slot `probe` reads kind and dtype, and fills the rest.  Launches of `run` have no problem (NULL),
 * one tunable, which is `amount` >= 1 (SPECIALIZED: two), and `operand_count` tensors of u8,
 * aligned to 256 bytes. */
typedef struct assay_probe {
    uint32_t struct_size;
    assay_probe_kind kind;
    assay_dtype dtype; /* of FMA and MATRIX */
    uint32_t operand_count;
    assay_kernel_fn run;
    double work_per_amount; /* FMA, MATRIX: flops, a multiply-add counts twice; COPY: bytes read and
                               written; else 0 */
} assay_probe;

/* ---- a judge on the device: outputs of a unary elementwise kernel against a reference there ----
 */

#define ASSAY_JUDGE_BATCH 8192 /* outputs that have a digest of their own */
#define ASSAY_JUDGE_BINS  23

/* Why an output is listed; a mask. */
enum {
    ASSAY_JUDGE_LOOK = 1u << 0,   /* the host has to judge it: it is counted nowhere else */
    ASSAY_JUDGE_SAMPLE = 1u << 1, /* its priority in calibrate/sample_set.h is within the limit */
    ASSAY_JUDGE_LEADS = 1u << 2   /* its err_ulp, |y - r| or |y - r| / |r| may be the largest */
};
typedef struct assay_judged_element {
    uint64_t bits;  /* the output's */
    uint32_t place; /* in the run */
    uint32_t why;
} assay_judged_element;

/* What a run of outputs came to, in memory of the device, zeros before; elements of the list
 * follow it, as many as there is place for.  Figures are those of calibrate/error_stats.h. */
typedef struct assay_judged {
    uint64_t elements; /* of class ORDINARY that were counted here: all but those to LOOK at */
    uint64_t zero_sign_mismatch, misrounded, over_one, max_dist;
    uint64_t zeros, integers; /* of the references of these */
    /* The sum of err_ulp, each rounded to a multiple of 2^-32: part / 2^32 + low + high * 2^32. */
    uint64_t sum_part, sum_low, sum_high;
    uint64_t digest; /* sum over the batches: XXH3-64 of (XXH3-64 of its bits, its number) */
    uint64_t listed; /* more than there is place for: nothing here counts */
    uint64_t bins[ASSAY_JUDGE_BINS];
} assay_judged;

/* Slot `judge` reads the problem (op and dtypes; any n) and gives two kernels.
 *
 * patterns  operands x and y, one tunable: x[i] = the pattern `first` + i, y all ones
 * judge     the problem with n a multiple of ASSAY_JUDGE_BATCH; operands y, the record (an
 *           assay_judged and its list, of u8) and `best` (of u8, ASSAY_JUDGE_BEST bytes, zeros
 *           before the first of several runs: the largest figures so far); three tunables: `first`,
 *           a multiple of the batch, the limit of the sample, the place in the list */
#define ASSAY_JUDGE_BEST 64
typedef struct assay_judge {
    uint32_t struct_size;
    const assay_problem *problem;
    assay_kernel_fn patterns, judge;
} assay_judge;

/* What the device keeps for this instance. */
typedef struct assay_instance_state {
    uint32_t struct_size;
    uint32_t is_lost;
    uint64_t generation; /* 1 after open; one more with every recover */
    uint64_t live_buffers, live_bytes;
} assay_instance_state;

/* Statuses that the memory slots tell apart: ASSAY_FOREIGN for a buffer of another instance,
 * ASSAY_GENERATION for one from before a recover, ASSAY_FREED for one that was freed, ASSAY_PENDING
 * for one that a queue still uses, ASSAY_INVALID for ranges beyond it, ASSAY_DEVICE_LOST. */
typedef struct assay_backend {
    uint32_t struct_size;
    uint32_t abi_version;
    assay_status (*open)(const assay_host *host, assay_instance **out);
    void (*close)(assay_instance *instance);
    assay_status (*device_count)(assay_instance *instance, size_t *out);
    assay_status (*device_info)(assay_instance *instance, size_t device, assay_device_info *out);
    /* Canonical identity of a library that kernels name: soname, version, build-id, run-time
     * configuration, '\n' separated key=value.  UNAVAILABLE with the reason when absent. */
    assay_status (*library_identity)(assay_instance *instance, const char *library, char *buf,
                                     size_t cap);
    assay_status (*alloc)(assay_instance *instance, uint64_t bytes, uint64_t align,
                          assay_buffer *out);
    assay_status (*free)(assay_instance *instance, assay_buffer buffer);
    assay_status (*copy)(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                         assay_buffer src, uint64_t src_offset, uint64_t bytes);
    assay_status (*fill)(assay_instance *instance, assay_buffer dst, uint64_t offset,
                         uint64_t bytes, uint8_t value);
    assay_status (*wrap)(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out);
    assay_status (*launch)(assay_instance *instance, assay_kernel_fn run,
                           const assay_launch *launch);
    assay_status (*synchronize)(assay_instance *instance);
    assay_status (*measure)(assay_instance *instance, const assay_measure *what,
                            assay_clock_info *clock);
    /* Slots of the whole contract; the defaults are in docs/backends.md. */
    assay_status (*device_profile)(assay_instance *instance, size_t device,
                                   assay_device_profile *out);
    /* Takes this device for all that follows, before the first alloc; 0 is taken by itself. */
    assay_status (*select_device)(assay_instance *instance, size_t device);
    /* Makes ready what the first launch would wait for. May be called again. */
    assay_status (*prepare)(assay_instance *instance);
    /* Waits for all queues and reports what failed in them since the last flush. */
    assay_status (*flush)(assay_instance *instance);
    assay_status (*state)(assay_instance *instance, assay_instance_state *out);
    /* Takes a lost device anew: every buffer, queue and event from before is void. */
    assay_status (*recover)(assay_instance *instance);
    /* All pieces or none: every piece is checked before the first byte moves.  In order: where two
     * pieces overlap the later one counts.  One staging operation, one wait. */
    assay_status (*upload)(assay_instance *instance, const assay_transfer *pieces, size_t count);
    assay_status (*download)(assay_instance *instance, const assay_transfer *pieces, size_t count);
    /* The address by which the host reaches a buffer, valid until it is freed, and its true size.
     * UNSUPPORTED where memory is not unified. */
    assay_status (*map)(assay_instance *instance, assay_buffer buffer, void **host,
                        uint64_t *bytes);
    /* A queue is launch's `queue`: launches into it return at once, run in order beside the caller,
     * and keep their buffers from being freed.  What they need besides is copied. */
    assay_status (*queue_create)(assay_instance *instance, assay_queue **out);
    assay_status (*queue_destroy)(assay_instance *instance, assay_queue *queue); /* waits */
    /* Waits, and reports the first failure in it since the last wait. */
    assay_status (*queue_wait)(assay_instance *instance, assay_queue *queue);
    assay_status (*event_create)(assay_instance *instance, assay_event **out);
    assay_status (*event_destroy)(assay_instance *instance, assay_event *event);
    /* Marks what was launched into the queue so far; may be called again. */
    assay_status (*event_record)(assay_instance *instance, assay_event *event, assay_queue *queue);
    assay_status (*event_wait)(assay_instance *instance, assay_event *event);
    assay_status (*event_ready)(assay_instance *instance, assay_event *event, bool *out);
    /* Both have passed. */
    assay_status (*event_elapsed)(assay_instance *instance, assay_event *from, assay_event *to,
                                  double *out_ns);
    /* Fills at most cap and says how many there are. */
    assay_status (*metrics)(assay_instance *instance, assay_metric *out, size_t cap, size_t *count);
    assay_status (*inject)(assay_instance *instance, const assay_fault *fault);
    /* Would a launch of so many workgroups of so many invocations with a barrier of all of them be
     * on the device at once? */
    assay_status (*grid_fits)(assay_instance *instance, uint64_t workgroups, uint32_t invocations,
                              bool *out);
    /* Memory of the host, fixed for the device, so that uploads from it and downloads to it need no
     * other in between; at a multiple of 64, until host_free or close.  After a recover it is still
     * memory, fixed no longer.  UNSUPPORTED where it would not save the way by staging. */
    assay_status (*host_alloc)(assay_instance *instance, uint64_t bytes, void **out);
    /* Each once, also on a lost device.  FREED for what was, FOREIGN for what host_alloc of this
     * instance did not give. */
    assay_status (*host_free)(assay_instance *instance, void *host);
    /* From a buffer of `source`, another open instance of this plug-in, device to device; behind
     * what either was told before, done when it returns.  UNSUPPORTED where bytes would go by way
     * of the host, which the library does then. */
    assay_status (*peer_copy)(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                              assay_instance *source, assay_buffer src, uint64_t src_offset,
                              uint64_t bytes);
    /* A kernel of known work.  UNSUPPORTED with the reason where the device has none of that kind
     * or where it would not show what the device does at most. */
    assay_status (*probe)(assay_instance *instance, assay_probe *probe);
    /* Digests of `count` pieces of a buffer, each of so many bytes, the first at `offset` and each
     * `step` behind the one before, without bringing them to the host: the sum of docs/backends.md.
     * Offset, bytes and step are multiples of 8. */
    assay_status (*digest)(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                           uint64_t bytes, uint64_t step, size_t count, uint64_t *out);
    /* A judge of outputs on the device.  UNSUPPORTED where it has no reference for this op or these
     * types. */
    assay_status (*judge)(assay_instance *instance, assay_judge *judge);
} assay_backend;

/* ---- the oracle's second entry point (ref plug-in only) -------------------------------------- */

/* Elements [first, first+count) of the output in row-major order as hi + lo with an absolute error
 * bound each, and for ops judged by ASSAY_BOUND_SUM the magnitude that errors are measured by, such
 * as the sum of absolute products (else NULL is passed). */
typedef struct assay_wide {
    double *hi, *lo, *bound;
    double *magnitude; /* NULL unless the op is judged by it */
    int64_t first, count;
} assay_wide;
typedef struct assay_oracle_desc {
    uint32_t struct_size;
    assay_op_id op;
    /* Works for every dtype tuple of the op.  launch->operands: as for a kernel; what the
     * op does not read is not touched: an output but behind beta != 0 or of a scatter, A and B
     * behind alpha == 0.  threads >= 1. */
    assay_status (*wide)(const assay_launch *launch, unsigned threads, const assay_wide *out);
    const char *const *sources;
} assay_oracle_desc;

/* ---- manifest -------------------------------------------------------------------------------- */

typedef struct assay_manifest {
    uint32_t struct_size;
    uint32_t abi_version; /* ASSAY_PLUGIN_ABI of the header it was built with */
    const char *name;     /* backend name: "cpu", "openblas", "ref", "fake"; [a-z0-9_]+ */
    const char *version;
    const char *compiler; /* target, version line and build-id of the program that compiles */
    const assay_kernel_desc *kernels;
    size_t kernel_count;
    const assay_source_hash *sources; /* NULL: a binary plug-in, its build-id stands for the code */
    size_t source_count;
    const assay_backend *backend;
    const assay_oracle_desc *oracles;
    size_t oracle_count;
    uint32_t explicit_only;  /* 1: never chosen unless asked for by name (ref, null, fake) */
    assay_location location; /* where its kernels' operands lie; without a word: in host memory */
} assay_manifest;

#ifdef __cplusplus
}
#endif
#endif

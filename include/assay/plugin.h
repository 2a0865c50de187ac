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
    void *queue;                  /* backend's own; NULL: its default */
    struct assay_instance *instance;
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
} assay_measure;

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
    uint32_t explicit_only; /* 1: never chosen unless asked for by name (ref, null, fake) */
} assay_manifest;

#ifdef __cplusplus
}
#endif
#endif

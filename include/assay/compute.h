/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/compute.h -- typed calls over an engine's buffers: each fills a problem, picks, launches.
 *
 * Nothing of an operand is touched before everything about the call was checked.  Statuses:
 *   ASSAY_INVALID      a shape, stride, leading dimension, axis, offset, overlap or index
 *   ASSAY_OVERFLOW     a product of extents
 *   ASSAY_UNSUPPORTED  no kernel of this engine for the op and element type
 *   ASSAY_NO_ROUTE     kernels there are, but none within the call's limits
 *   ASSAY_FOREIGN, ASSAY_FREED, ASSAY_GENERATION   an operand's buffer
 *   ASSAY_NOT_INITIALIZED, ASSAY_DEVICE_LOST, ASSAY_DEVICE, ASSAY_NOMEM
 * An extent of 0 is legal: what is left to write is written, and the call succeeds.
 *
 * Laws (docs/ops.md has them whole): beta == 0 never reads C, k == 0 still scales it; attention's
 * scale multiplies; a causal mask is aligned bottom-right; NaN propagates through max, min and
 * relu; the last of equal rows of a scatter counts.
 *
 * Source of the set: the compute-backend contract of docs/backends.md. */
#ifndef ASSAY_COMPUTE_H
#define ASSAY_COMPUTE_H

#include "assay/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a call may say, and what it tells ---- */

typedef enum assay_ran_on {
    ASSAY_RAN_NATIVE = 0,   /* a kernel of the op, on the engine's device */
    ASSAY_RAN_EMULATED,     /* several kernels on the device, or one of a wider type */
    ASSAY_RAN_HOST_FALLBACK /* on the host, with operands brought there and back */
} assay_ran_on;

typedef struct assay_execution {
    uint32_t struct_size;
    assay_ran_on ran_on;
    char kernel[64];       /* that did the op; "" when nothing was to do */
    char backend[24];      /* whose it is */
    assay_digest revision; /* of the variant */
    int64_t tunables[ASSAY_MAX_TUNABLES];
    size_t tunable_count;
    assay_tier tier;       /* what it was picked by; UNKNOWN: it is the default */
    double time_ns;        /* as the store has it; NaN: unknown */
    uint32_t launches;     /* kernels run, casts and copies that make contiguous included */
    uint32_t transfers;    /* copies between host and device */
    uint64_t bytes;        /* that the op must read and write: its Layer-1 cost */
    uint64_t copied_bytes; /* made contiguous or cast before */
    uint64_t transfer_bytes;
    int64_t failed_item; /* batched, one by one: the product that failed first; -1: none */
    double transfer_ns;  /* what the store says that the transfers take; NaN: unknown, or none */
} assay_execution;

/* Room of a call site: what was picked there last, workspace, and what was checked.  A call that
 * says the same again, over whatever memory, is checked for that memory alone, picks nothing and
 * allocates nothing.  Zero-initialised, one a site and thread; assay_call_site_clear frees it. */
typedef struct assay_call_site {
    assay_site pick[2];
    void *workspace; /* owned */
    size_t workspace_bytes;
    void *again; /* owned */
} assay_call_site;
void assay_call_site_clear(assay_call_site *site);

typedef struct assay_call {
    uint32_t struct_size;
    uint32_t max_threads;             /* 0: no limit */
    const assay_tolerance *tolerance; /* NULL: none */
    assay_policy policy;              /* 0: rotate/alone/kernel */
    assay_call_site *site;            /* NULL: none */
    assay_queue *queue;               /* NULL: the call returns when its result is there */
    assay_execution *record;          /* NULL: not wanted; filled on success, else failed_item is */
} assay_call;

/* Where an operand begins: anywhere in a buffer of the engine, or in host memory (owner 0) of
 * engines that reach it. */
typedef struct assay_place {
    assay_buffer buffer;
    uint64_t byte_offset; /* a multiple of the element's size */
} assay_place;

/* ---- products ---- */

typedef enum assay_order { ASSAY_COLUMN_MAJOR = 0, ASSAY_ROW_MAJOR } assay_order;
typedef enum assay_transpose { ASSAY_NO_TRANS = 0, ASSAY_TRANS, ASSAY_CONJ_TRANS } assay_transpose;

/* C = alpha op(A) op(B) + beta C; op(A) m x k, op(B) k x n, C m x n.  Leading dimensions in
 * elements, at least the rows (column-major) or columns (row-major) of the matrix as stored, and
 * at least 1.  A buffer must hold ld * (lines - 1) + line elements from its place. */
typedef struct assay_gemm_args {
    uint32_t struct_size;
    assay_dtype dtype; /* of A, B and C */
    assay_order order;
    assay_transpose trans_a, trans_b; /* conjugate: as transpose, elements are real */
    int64_t m, n, k;
    double alpha, beta; /* applied in f32, for f64 in f64 */
    assay_place a, b, c;
    int64_t lda, ldb, ldc;
} assay_gemm_args;
assay_status assay_gemm(assay_engine *engine, const assay_gemm_args *args, assay_call *call);

/* batch_count products, number i at place + i * stride elements.  A stride of 0 shares A or B; for
 * C it is refused when there are several, as is an overlap of results. */
typedef struct assay_batched_gemm_args {
    uint32_t struct_size;
    assay_gemm_args one;
    int64_t stride_a, stride_b, stride_c; /* elements of dtype */
    int64_t batch_count;
} assay_batched_gemm_args;
assay_status assay_batched_gemm(assay_engine *engine, const assay_batched_gemm_args *args,
                                assay_call *call);

/* A, B and C are f32 in memory; A and B are rounded once to `precision` (to nearest, ties to even)
 * before the product, whose sums and C are f32.  args->dtype must be ASSAY_F32. */
assay_status assay_gemm_mixed_precision(assay_engine *engine, assay_dtype precision,
                                        const assay_gemm_args *args, assay_call *call);

typedef struct assay_tile {
    int64_t m, n, k;
    bool is_measured; /* from the tunables of what was measured to win here; else a heuristic */
} assay_tile;
/* Where to begin tuning a product of f32.  Heuristic: of seed systems, for s = min(m, n, k): tensor
 * cores and all multiples of 16: s >= 512 128x128x32, else 64x64x16; without: s <= 64 16x16x16,
 * s <= 512 64x64x16, else 128x128x8.  ASSAY_INVALID for an extent below 1. */
assay_status assay_recommended_tile(assay_engine *engine, int64_t m, int64_t n, int64_t k,
                                    assay_tile *out);
/* ASSAY_OVERFLOW when m * n does not fit. */
assay_status assay_tile_outputs(const assay_tile *tile, int64_t *out);

/* ---- convolutions: cross-correlation, NCHW and KCRS ---- */

typedef struct assay_conv2d_args {
    uint32_t struct_size;
    assay_dtype dtype;
    assay_place x, filter, y;
    int64_t x_shape[4];      /* n, c, h, w */
    int64_t filter_shape[4]; /* k, c / groups, r, s */
    int64_t y_shape[4];      /* n, k, oh, ow */
    int64_t stride[2], padding[2];
    int64_t dilation[2]; /* 0: 1 */
    int64_t groups;      /* 0: 1 */
} assay_conv2d_args;
/* Writes y; writes x, the gradient of the input, from y and filter; writes filter, its gradient,
 * from x and y. */
assay_status assay_conv2d_forward(assay_engine *engine, const assay_conv2d_args *args,
                                  assay_call *call);
assay_status assay_conv2d_backward_data(assay_engine *engine, const assay_conv2d_args *args,
                                        assay_call *call);
assay_status assay_conv2d_backward_filter(assay_engine *engine, const assay_conv2d_args *args,
                                          assay_call *call);

/* ---- attention ---- */

typedef enum assay_causal {
    ASSAY_CAUSAL_NONE = 0,
    ASSAY_CAUSAL_BOTTOM_RIGHT, /* query i sees keys up to i + seq_kv - seq_q */
    ASSAY_CAUSAL_TOP_LEFT      /* up to i */
} assay_causal;
/* o = softmax(scale q k^T) v; q and o [batch, heads, seq_q, head_dim], k and v
 * [batch, heads_kv, seq_kv, head_dim].  A query without a key gives zeros. */
typedef struct assay_attention_args {
    uint32_t struct_size;
    assay_dtype dtype;
    assay_place q, k, v, o;
    int64_t batch, heads, heads_kv; /* heads_kv 0: heads */
    int64_t seq_q, seq_kv, head_dim;
    double scale; /* 0: 1 / sqrt(head_dim) */
    assay_causal causal;
} assay_attention_args;
assay_status assay_attention(assay_engine *engine, const assay_attention_args *args,
                             assay_call *call);

/* ---- by element, along an axis, by rows ---- */

typedef enum assay_unary_op {
    ASSAY_UNARY_RELU = 0,
    ASSAY_UNARY_SIGMOID,
    ASSAY_UNARY_TANH,
    ASSAY_UNARY_EXP,
    ASSAY_UNARY_LOG,
    ASSAY_UNARY_SQRT,
    ASSAY_UNARY_ABS,
    ASSAY_UNARY_NEG
} assay_unary_op;
typedef enum assay_binary_op {
    ASSAY_BINARY_ADD = 0,
    ASSAY_BINARY_SUB,
    ASSAY_BINARY_MUL,
    ASSAY_BINARY_DIV,
    ASSAY_BINARY_MAX,
    ASSAY_BINARY_MIN
} assay_binary_op;
/* n elements in a row; the output may be an input. */
assay_status assay_unary(assay_engine *engine, assay_unary_op op, assay_dtype dtype,
                         assay_place input, assay_place output, int64_t n, assay_call *call);
assay_status assay_binary(assay_engine *engine, assay_binary_op op, assay_dtype dtype,
                          assay_place a, assay_place b, assay_place output, int64_t n,
                          assay_call *call);

typedef enum assay_reduce_op {
    ASSAY_REDUCE_SUM = 0,
    ASSAY_REDUCE_MAX,
    ASSAY_REDUCE_MIN,
    ASSAY_REDUCE_MEAN
} assay_reduce_op;
typedef struct assay_axis_args {
    uint32_t struct_size;
    assay_dtype dtype;
    assay_place input, output;
    uint32_t rank;        /* 1 to ASSAY_MAX_RANK */
    const int64_t *shape; /* row-major */
    int64_t axis;         /* negative: from the end */
} assay_axis_args;
/* Removes the axis.  An empty one: sum 0, mean NaN, max and min ASSAY_INVALID. */
assay_status assay_reduce(assay_engine *engine, assay_reduce_op op, const assay_axis_args *args,
                          assay_call *call);
/* In place when input and output are one. */
assay_status assay_softmax(assay_engine *engine, const assay_axis_args *args, assay_call *call);

typedef struct assay_rows_args {
    uint32_t struct_size;
    assay_dtype dtype;
    assay_place input, output;
    const int64_t *indices; /* host memory, read before the call returns */
    int64_t count;
    int64_t rows, cols; /* of the table */
} assay_rows_args;
/* output [count, cols] = rows of input [rows, cols]. */
assay_status assay_gather(assay_engine *engine, const assay_rows_args *args, assay_call *call);
/* Rows of output [rows, cols] = input [count, cols]; others stay. */
assay_status assay_scatter(assay_engine *engine, const assay_rows_args *args, assay_call *call);

#ifdef __cplusplus
}
#endif
#endif

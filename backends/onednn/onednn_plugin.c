/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_plugin.c -- manifest of oneDNN as a backend for matmul, fused_linear,
 * softmax, convolutions and cast.
 *
 * Rows that the library may lack here, or computes by another law, name a library of their own,
 * whose absence is the reason that people read. */
#include "backends/host_plugin.h"
#include "backends/onednn/onednn_calls.h"
#include "backends/thread_choice.h"

static const assay_tunable tunables[] = {THREADS_TUNABLE("threads that oneDNN may use")};
static const char *const sources[] = {"backends/onednn/onednn_matmul.c",
                                      "backends/onednn/onednn_primitive.c",
                                      "backends/onednn/onednn_library.c", NULL};
static const char *const conv2d_sources[] = {"backends/onednn/onednn_conv2d.c",
                                             "backends/onednn/onednn_primitive.c",
                                             "backends/onednn/onednn_library.c", NULL};
static const char *const simple_sources[] = {"backends/onednn/onednn_simple.c",
                                             "backends/onednn/onednn_primitive.c",
                                             "backends/onednn/onednn_library.c", NULL};
static const char *const f32[] = {"onednn", NULL};
static const char *const matmul_bf16[] = {"onednn_matmul_bf16", NULL};
static const char *const matmul_f16[] = {"onednn_matmul_f16", NULL};
static const char *const matmul_bf16_f32[] = {"onednn_matmul_bf16_f32", NULL};
static const char *const matmul_f16_f32[] = {"onednn_matmul_f16_f32", NULL};
static const char *const linear_f32[] = {"onednn_linear_f32", NULL};
static const char *const linear_bf16[] = {"onednn_linear_bf16", NULL};
static const char *const linear_f16[] = {"onednn_linear_f16", NULL};
static const char *const softmax_f32[] = {"onednn_softmax_f32", NULL};
static const char *const softmax_bf16[] = {"onednn_softmax_bf16", NULL};
static const char *const axis_f32[] = {"onednn_softmax_axis_f32", NULL};
static const char *const softmax_f16[] = {"onednn_softmax_f16", NULL};
static const char *const log_f32[] = {"onednn_log_softmax_f32", NULL};
static const char *const log_bf16[] = {"onednn_log_softmax_bf16", NULL};
static const char *const log_axis_f32[] = {"onednn_log_softmax_axis_f32", NULL};
static const char *const conv2d_f32[] = {"onednn_conv2d_f32", NULL};
static const char *const conv2d_bf16[] = {"onednn_conv2d_bf16", NULL};
static const char *const data_f32[] = {"onednn_conv2d_data_f32", NULL};
static const char *const data_bf16[] = {"onednn_conv2d_data_bf16", NULL};
static const char *const filter_f32[] = {"onednn_conv2d_filter_f32", NULL};
static const char *const filter_bf16[] = {"onednn_conv2d_filter_bf16", NULL};

#define CONTIGUOUS          \
    {                       \
        ASSAY_CAP_OFFSET, 0 \
    }
#define BY_ROWS                                 \
    {                                           \
        ASSAY_CAP_LEADING | ASSAY_CAP_OFFSET, 0 \
    }

/* Bits depend on the thread count. */
#define COMMON(name, op, libraries, usable, call, run) \
    COMMON_FROM(sources, name, op, libraries, usable, call, run)
#define COMMON_FROM(sources_, name_, op_, libraries_, usable_, call, run_)                  \
    .struct_size = sizeof(assay_kernel_desc), .name = name_, .op = op_, .default_rank = 31, \
    .tunables = tunables, .tunable_count = 1, .can_run_fn = usable_, .sources = sources_,   \
    .libraries = libraries_, .claims = {-1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_CONFIG},    \
    .entry_point = call, .run = run_
#define MATMUL(t, libraries)                                                      \
    {                                                                             \
        COMMON("onednn_matmul", ASSAY_OP_matmul, libraries, onednn_matmul_usable, \
               "dnnl_matmul_desc_init", onednn_matmul),                           \
            .dtype_count = 3, .dtypes = {t, t, t}, .caps = {                      \
                BY_ROWS,                                                          \
                BY_ROWS,                                                          \
                BY_ROWS                                                           \
            }                                                                     \
    }
/* Where rows of these lie apart it takes another implementation, whose bits are others. */
#define MIXED(t, libraries)                                                       \
    {                                                                             \
        COMMON("onednn_matmul", ASSAY_OP_matmul, libraries, onednn_matmul_usable, \
               "dnnl_matmul_desc_init", onednn_matmul),                           \
            .dtype_count = 3, .dtypes = {t, t, ASSAY_F32}, .caps = {              \
                CONTIGUOUS,                                                       \
                CONTIGUOUS,                                                       \
                CONTIGUOUS                                                        \
            }                                                                     \
    }
#define LINEAR(t, libraries)                                                            \
    {                                                                                   \
        COMMON("onednn_linear", ASSAY_OP_fused_linear, libraries, onednn_linear_usable, \
               "dnnl_matmul_desc_init", onednn_linear),                                 \
            .dtype_count = 4, .dtypes = {t, t, t, t}, .caps = {                         \
                BY_ROWS,                                                                \
                BY_ROWS,                                                                \
                CONTIGUOUS,                                                             \
                BY_ROWS                                                                 \
            }                                                                           \
    }
#define SOFTMAX_BY(call, name, op, t, libraries, usable)                                       \
    {                                                                                          \
        COMMON(name, op, libraries, usable, call, onednn_softmax), .dtype_count = 2,           \
                                                                   .dtypes = {t, t}, .caps = { \
                                                                       CONTIGUOUS,             \
                                                                       CONTIGUOUS              \
                                                                   }                           \
    }
#define ROWS(t, libraries)                                                                       \
    SOFTMAX_BY("dnnl_softmax_forward_desc_init", "onednn_softmax", ASSAY_OP_softmax_last_dim, t, \
               libraries, onednn_softmax_usable)
#define LOG_ROWS(t, libraries)                                            \
    SOFTMAX_BY("dnnl_logsoftmax_forward_desc_init", "onednn_log_softmax", \
               ASSAY_OP_log_softmax_last_dim, t, libraries, onednn_softmax_usable)
#define LOG_AXIS(t, libraries)                                                 \
    SOFTMAX_BY("dnnl_logsoftmax_forward_desc_init", "onednn_log_softmax_axis", \
               ASSAY_OP_log_softmax, t, libraries, onednn_softmax_axis_usable)
/* f32 alone: bf16 is rounded on the way, beyond the bound of the op. */
#define AXIS(t, libraries)                                                                   \
    SOFTMAX_BY("dnnl_softmax_forward_desc_init", "onednn_softmax_axis", ASSAY_OP_softmax, t, \
               libraries, onednn_softmax_axis_usable)

#define CONV2D(name, op, t, libraries, call)                                         \
    {                                                                                \
        COMMON_FROM(conv2d_sources, name, op, libraries, onednn_conv2d_usable, call, \
                    onednn_conv2d),                                                  \
            .dtype_count = 3, .dtypes = {t, t, t}, .caps = {                         \
                CONTIGUOUS,                                                          \
                CONTIGUOUS,                                                          \
                CONTIGUOUS                                                           \
            }                                                                        \
    }
#define FORWARD(t, libraries)                              \
    CONV2D("onednn_conv2d", ASSAY_OP_conv2d, t, libraries, \
           "dnnl_dilated_convolution_forward_desc_init")
#define DATA(t, libraries)                                                             \
    CONV2D("onednn_conv2d_backward_data", ASSAY_OP_conv2d_backward_data, t, libraries, \
           "dnnl_dilated_convolution_backward_data_desc_init")
#define FILTER(t, libraries)                                                               \
    CONV2D("onednn_conv2d_backward_filter", ASSAY_OP_conv2d_backward_filter, t, libraries, \
           "dnnl_dilated_convolution_backward_weights_desc_init")

#define X(from, to, text) \
    static const char *const cast_##from##_##to[] = {"onednn_cast_" text, NULL};
ONEDNN_CASTS(X)
#undef X
#define CAST(from, to, text)                                                      \
    {COMMON("onednn_cast", ASSAY_OP_cast, cast_##from##_##to, onednn_cast_usable, \
            "dnnl_reorder_primitive_desc_create", onednn_cast),                   \
     .dtype_count = 2, .dtypes = {ASSAY_##from, ASSAY_##to}, .caps = {CONTIGUOUS, CONTIGUOUS}},

#define X(op, t, operands, usable, call) \
    static const char *const op##_library_##t[] = {"onednn_" #op "_" ONEDNN_NAME_##t, NULL};
ONEDNN_SIMPLE(X)
#undef X
#define OPERANDS_2(t) .dtype_count = 2, .dtypes = {t, t}, .caps = {CONTIGUOUS, CONTIGUOUS}
#define OPERANDS_3(t) \
    .dtype_count = 3, .dtypes = {t, t, t}, .caps = {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS}
#define SIMPLE(op, t, operands, usable, call)                                    \
    {COMMON_FROM(simple_sources, "onednn_" #op, ASSAY_OP_##op, op##_library_##t, \
                 onednn_##usable##_usable, call, onednn_simple),                 \
     OPERANDS_##operands(ASSAY_##t)},

static const assay_kernel_desc kernels[] = {MATMUL(ASSAY_F32, f32),
                                            MATMUL(ASSAY_BF16, matmul_bf16),
                                            MATMUL(ASSAY_F16, matmul_f16),
                                            MIXED(ASSAY_BF16, matmul_bf16_f32),
                                            MIXED(ASSAY_F16, matmul_f16_f32),
                                            LINEAR(ASSAY_F32, linear_f32),
                                            LINEAR(ASSAY_BF16, linear_bf16),
                                            LINEAR(ASSAY_F16, linear_f16),
                                            ROWS(ASSAY_F32, softmax_f32),
                                            AXIS(ASSAY_F32, axis_f32),
                                            ROWS(ASSAY_BF16, softmax_bf16),
                                            ROWS(ASSAY_F16, softmax_f16),
                                            LOG_ROWS(ASSAY_F32, log_f32),
                                            LOG_ROWS(ASSAY_BF16, log_bf16),
                                            LOG_AXIS(ASSAY_F32, log_axis_f32),
                                            FORWARD(ASSAY_F32, conv2d_f32),
                                            FORWARD(ASSAY_BF16, conv2d_bf16),
                                            DATA(ASSAY_F32, data_f32),
                                            DATA(ASSAY_BF16, data_bf16),
                                            FILTER(ASSAY_F32, filter_f32),
                                            FILTER(ASSAY_BF16, filter_bf16),
                                            ONEDNN_SIMPLE(SIMPLE) ONEDNN_CASTS(CAST)};

HOST_PLUGIN("onednn", onednn_identify);

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_library.c -- where oneDNN is found, what it is, what it implements here.
 */
#include "backends/onednn/onednn_calls.h"

#include <stdio.h>
#include <string.h>

#include "runtime/convert.h"
#include "runtime/host_backend.h"
#include "runtime/host_opened.h"

#if HAVE_ONEDNN

static onednn_library library;

static const char *const places[] = {"/usr/lib/x86_64-linux-gnu/libdnnl.so.2", "libdnnl.so.2",
                                     NULL};

static const assay__opened_symbol symbols[] = {
#define X(name) {"dnnl_" #name, offsetof(onednn_library, name)},
    ONEDNN_CALLS(X)
#undef X
};

static const assay__opened_spec spec = {
    .title = "oneDNN",
    .variable = "ASSAY_ONEDNN",
    .package = "libdnnl2",
    .places = places,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
};

/* Structures are passed by address: another major version reads others. */
static bool same_major(char *reason, size_t cap)
{
    const dnnl_version_t *v = library.version();

    if (v->major == DNNL_VERSION_MAJOR)
        return true;
    snprintf(reason, cap, "this is oneDNN %d, the plug-in was built for %d", v->major,
             DNNL_VERSION_MAJOR);
    return false;
}

/* Its threads are those of GNU's OpenMP, which it brought along. */
static bool take_threads(char *reason, size_t cap)
{
    if (library.version()->cpu_runtime == DNNL_RUNTIME_OMP && assay__openmp_take(&library.openmp))
        return true;
    snprintf(reason, cap, "this build's threads are not those of libgomp.so.1");
    return false;
}

static bool settle(char *reason, size_t cap)
{
    if (!same_major(reason, cap) || !take_threads(reason, cap))
        return false;
    library.set_verbose(0); /* whatever the environment says: it would print */
    dnnl_status_t status = library.engine_create(&library.engine, dnnl_cpu, 0);
    if (status != dnnl_success)
        snprintf(reason, cap, "no CPU engine: status %d", (int)status);
    return status == dnnl_success;
}

static assay__opened opened = ASSAY__OPENED(&spec, &library, settle);

const onednn_library *onednn_open(const char **why)
{
    return assay__opened_get(&opened, why);
}

/* Asked, not listed: what is implemented depends on the CPU and on the build. */
static const struct onednn_ability {
    const char *what;
    const char *text;
    assay_op_id op;
    assay_dtype dtype, result;
} abilities[] = {
    {"onednn", "matmul of f32", ASSAY_OP_matmul, ASSAY_F32, ASSAY_F32},
    {"onednn_matmul_bf16", "matmul of bf16", ASSAY_OP_matmul, ASSAY_BF16, ASSAY_BF16},
    {"onednn_matmul_f16", "matmul of f16", ASSAY_OP_matmul, ASSAY_F16, ASSAY_F16},
    {"onednn_matmul_bf16_f32", "matmul of bf16 to f32", ASSAY_OP_matmul, ASSAY_BF16, ASSAY_F32},
    {"onednn_matmul_f16_f32", "matmul of f16 to f32", ASSAY_OP_matmul, ASSAY_F16, ASSAY_F32},
    {"onednn_linear_f32", "fused_linear of f32", ASSAY_OP_fused_linear, ASSAY_F32, ASSAY_F32},
    {"onednn_linear_bf16", "fused_linear of bf16", ASSAY_OP_fused_linear, ASSAY_BF16, ASSAY_BF16},
    {"onednn_linear_f16", "fused_linear of f16", ASSAY_OP_fused_linear, ASSAY_F16, ASSAY_F16},
    {"onednn_softmax_f32", "softmax of f32", ASSAY_OP_softmax_last_dim, ASSAY_F32, ASSAY_F32},
    {"onednn_softmax_bf16", "softmax of bf16", ASSAY_OP_softmax_last_dim, ASSAY_BF16, ASSAY_BF16},
    {"onednn_softmax_axis_f32", "softmax of f32 along an axis", ASSAY_OP_softmax, ASSAY_F32,
     ASSAY_F32},
    {"onednn_softmax_f16", "softmax of f16", ASSAY_OP_softmax_last_dim, ASSAY_F16, ASSAY_F16},
    {"onednn_log_softmax_f32", "log_softmax of f32", ASSAY_OP_log_softmax_last_dim, ASSAY_F32,
     ASSAY_F32},
    {"onednn_log_softmax_bf16", "log_softmax of bf16", ASSAY_OP_log_softmax_last_dim, ASSAY_BF16,
     ASSAY_BF16},
    {"onednn_log_softmax_axis_f32", "log_softmax of f32 along an axis", ASSAY_OP_log_softmax,
     ASSAY_F32, ASSAY_F32},
    {"onednn_conv2d_f32", "conv2d of f32", ASSAY_OP_conv2d, ASSAY_F32, ASSAY_F32},
    {"onednn_conv2d_bf16", "conv2d of bf16", ASSAY_OP_conv2d, ASSAY_BF16, ASSAY_BF16},
    {"onednn_conv2d_data_f32", "conv2d_backward_data of f32", ASSAY_OP_conv2d_backward_data,
     ASSAY_F32, ASSAY_F32},
    {"onednn_conv2d_data_bf16", "conv2d_backward_data of bf16", ASSAY_OP_conv2d_backward_data,
     ASSAY_BF16, ASSAY_BF16},
    {"onednn_conv2d_filter_f32", "conv2d_backward_filter of f32", ASSAY_OP_conv2d_backward_filter,
     ASSAY_F32, ASSAY_F32},
    {"onednn_conv2d_filter_bf16", "conv2d_backward_filter of bf16", ASSAY_OP_conv2d_backward_filter,
     ASSAY_BF16, ASSAY_BF16},
#define X(from, to, text) \
    {"onednn_cast_" text, "cast of " text, ASSAY_OP_cast, ASSAY_##from, ASSAY_##to},
    ONEDNN_CASTS(X)
#undef X
#define X(op, t, operands, usable, call)                                                      \
    {"onednn_" #op "_" ONEDNN_NAME_##t, #op " of " ONEDNN_NAME_##t, ASSAY_OP_##op, ASSAY_##t, \
     ASSAY_##t},
        ONEDNN_SIMPLE(X)
#undef X
};

/* In which arithmetic it computes in f32, by what it was told. */
static const char *mode_of(const onednn_library *l, const_dnnl_primitive_desc_t desc)
{
    static const char *const names[] = {[dnnl_fpmath_mode_strict] = "strict",
                                        [dnnl_fpmath_mode_bf16] = "bf16",
                                        [dnnl_fpmath_mode_f16] = "f16",
                                        [dnnl_fpmath_mode_any] = "any"};
    const_dnnl_primitive_attr_t attributes;
    dnnl_fpmath_mode_t mode;

    if (l->primitive_desc_get_attr(desc, &attributes) != dnnl_success ||
        l->primitive_attr_get_fpmath_mode(attributes, &mode) != dnnl_success ||
        (size_t)mode >= sizeof names / sizeof *names)
        return "unknown";
    return names[mode];
}

static assay_status ask(assay_instance *instance, const onednn_library *l,
                        const struct onednn_ability *a, char *implementation, size_t cap)
{
    const dnnl_version_t *v = l->version();
    dnnl_primitive_desc_t desc;
    const char *name = NULL;
    onednn_problem p;

    onednn_example(a->op, a->dtype, a->result, &p);
    dnnl_status_t status = onednn_describe(l, &p, &desc);
    if (status != dnnl_success)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                "oneDNN %d.%d.%d implements no %s on this CPU (status %d)",
                                v->major, v->minor, v->patch, a->text, (int)status);
    if (l->primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name) != dnnl_success ||
        name == NULL)
        name = "unknown";
    snprintf(implementation, cap, "%.100s\nfpmath=%s", name, mode_of(l, desc));
    l->primitive_desc_destroy(desc);
    return ASSAY_OK;
}

/* Low 16 or all 32 bits of NaN, -infinity and what makes a value NaN. */
static const struct special {
    assay_dtype dtype;
    size_t bytes;
    uint32_t nan, minus_infinity, magnitude, infinity;
} specials[] = {
    {ASSAY_F32, 4, 0x7fc00000, 0xff800000, 0x7fffffff, 0x7f800000},
    {ASSAY_BF16, 2, 0x7fc0, 0xff80, 0x7fff, 0x7f80},
    {ASSAY_F16, 2, 0x7e00, 0xfc00, 0x7fff, 0x7c00},
};

/* A row with a NaN and one of -infinity alone are NaN by the law of the op; a softmax that makes
 * numbers of them hides a fault of the model before it. */
static assay_status ask_of_nan(assay_instance *instance, const onednn_library *l,
                               const struct onednn_ability *a)
{
    enum { ROWS = 2, COLS = 32 };
    const assay_launch launch = {.struct_size = sizeof launch, .instance = instance};
    const struct special *s = specials;
    char x[ROWS * COLS * ONEDNN_LANES * 4] = {0}, y[sizeof x] = {0};
    onednn_problem p;

    while (s->dtype != a->dtype)
        s++;
    onednn_example(a->op, a->dtype, a->result, &p);
    p.dims[0][0] = p.dims[1][0] = ROWS;
    size_t lanes = p.rank == 3 ? ONEDNN_LANES : 1;
    for (size_t i = 0; i < lanes; i++)
        memcpy(x + (5 * lanes + i) * s->bytes, &s->nan, s->bytes);
    for (size_t i = 0; i < COLS * lanes; i++)
        memcpy(x + (COLS * lanes + i) * s->bytes, &s->minus_infinity, s->bytes);
    ASSAY_TRY(onednn_run(&launch, l, &p, (void *[]){x, y}));
    for (size_t i = 0; i < ROWS * COLS * lanes; i++) {
        uint32_t bits = 0;
        memcpy(&bits, y + i * s->bytes, s->bytes);
        if ((bits & s->magnitude) <= s->infinity)
            return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                                    "oneDNN: its %s makes numbers of rows that hold NaN or "
                                    "-infinity alone, where NaN is due",
                                    a->text);
    }
    return ASSAY_OK;
}

/* Operands of every sign and exponent: 2.6 loses the sign of zero between f32 and f16, and without
 * AVX-512 the subnormals on the way to bf16. */
static assay_status ask_of_cast(assay_instance *instance, const onednn_library *l,
                                const struct onednn_ability *a)
{
    enum { HIGH = 256, N = 6 * HIGH };
    static const uint32_t low[] = {0, 1, 0x408000, 0x7fffff, 0x808000, 0xffffff};
    const assay_launch launch = {.struct_size = sizeof launch, .instance = instance};
    const size_t in = assay_dtype_bytes(a->dtype), out = assay_dtype_bytes(a->result);
    char x[N * 4], y[N * 4] = {0}, want[N * 4];
    onednn_problem p;

    for (uint32_t i = 0; i < N; i++) {
        uint32_t bits = (i % HIGH << 24 | low[i / HIGH]) >> (32 - 8 * in);
        memcpy(x + i * in, &bits, in);
    }
    onednn_example(a->op, a->dtype, a->result, &p);
    p.dims[0][0] = p.dims[1][0] = N;
    ASSAY_TRY(onednn_run(&launch, l, &p, (void *[]){x, y}));
    assay__convert_portable(a->result, want, a->dtype, x, N, false);
    for (size_t i = 0; i < N; i++) {
        double got = assay_load_f64(a->result, y, i), due = assay_load_f64(a->result, want, i);
        if ((got != got && due != due) || memcmp(y + i * out, want + i * out, out) == 0)
            continue;
        return assay__host_fail(
            instance, ASSAY_UNAVAILABLE,
            "oneDNN: its %s follows another law on this CPU: %a where %a is due", a->text, got,
            due);
    }
    return ASSAY_OK;
}

assay_status onednn_identify(assay_instance *instance, const char *what, char *buf, size_t cap)
{
    const char *why;
    char version[32], more[256], implementation[128];
    const void *symbol;
    const struct onednn_ability *a = abilities, *end = a + sizeof abilities / sizeof *abilities;

    while (a < end && strcmp(a->what, what) != 0)
        a++;
    if (a == end)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "no library %s here", what);
    const onednn_library *l = onednn_open(&why);
    if (l == NULL)
        return assay__host_fail(instance, ASSAY_UNAVAILABLE, "oneDNN: %s", why);
    ASSAY_TRY(ask(instance, l, a, implementation, sizeof implementation));
    if (a->op == ASSAY_OP_softmax_last_dim || onednn_is_axis((int64_t)a->op) ||
        onednn_is_log_softmax((int64_t)a->op))
        ASSAY_TRY(ask_of_nan(instance, l, a));
    if (a->op == ASSAY_OP_cast)
        ASSAY_TRY(ask_of_cast(instance, l, a));
    if (onednn_is_simple((int64_t)a->op))
        ASSAY_TRY(onednn_ask_law(instance, l, a->op, a->dtype, a->text));
    const dnnl_version_t *v = l->version();
    memcpy(&symbol, &l->version, sizeof symbol);
    snprintf(version, sizeof version, "%d.%d.%d", v->major, v->minor, v->patch);
    snprintf(more, sizeof more, "commit=%.64s\nisa=0x%x\nimplementation=%s\n", v->hash,
             (unsigned)l->get_effective_cpu_isa(), implementation);
    return assay__opened_identity(instance, symbol, version, more, buf, cap);
}

#else

assay_status onednn_identify(assay_instance *instance, const char *what, char *buf, size_t cap)
{
    (void)what;
    (void)buf;
    (void)cap;
    return assay__host_fail(instance, ASSAY_UNAVAILABLE,
                            "built without oneDNN: " ASSAY_WHY_ONEDNN
                            "; install it and build again");
}

#endif

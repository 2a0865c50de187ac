/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/onednn/onednn_laws.c -- does this build of oneDNN, on this CPU, compute elementwise ops,
 * reductions and layer_norm as the catalogue's laws say?
 *
 * Asked, not listed: 2.6 makes numbers of NaN in some of them, and zeros of subnormals.  What is
 * due is computed here in f64; how far a result may be off is the bound of the op. */
#include "backends/onednn/onednn_calls.h"

#if HAVE_ONEDNN

#include <math.h>
#include <string.h>

#include "assay/dtype.h"
#include "runtime/host_backend.h"

enum { SPECIALS = 8, HIGH = 256, PATTERNS = 6 * HIGH, N = SPECIALS * SPECIALS + PATTERNS };
enum { ROWS = 5, COLS = 32 };

typedef struct asked {
    assay_instance *instance;
    const onednn_library *library;
    const char *text;
    assay_op_id op;
    assay_dtype t;
} asked;

/* Due, and how far a result may be from it; 0: correctly rounded, with the sign of zero if strict.
 */
typedef struct due {
    double value, slack;
    bool is_strict, may_flush;
} due;

/* Distance of neighbours at r. */
static double step_at(assay_dtype t, double r)
{
    int digits = t == ASSAY_F32 ? 24 : 8;
    int e = r == 0.0 || ilogb(r) < -126 ? -126 : ilogb(r);

    return ldexp(1.0, e - digits + 1);
}

static double rounded(assay_dtype t, double r)
{
    float bits = 0.0f;

    assay_store_f64(t, &bits, 0, r);
    return assay_load_f64(t, &bits, 0);
}

static bool holds(assay_dtype t, double got, const due *d)
{
    double r = rounded(t, d->value);

    if (isnan(r))
        return isnan(got);
    if (isinf(r) || d->slack == 0.0)
        return got == r && (!d->is_strict || signbit(got) == signbit(r));
    return fabs(got - d->value) <= d->slack + step_at(t, r);
}

static assay_status check(const asked *a, double got, const due *d)
{
    if (holds(a->t, got, d))
        return ASSAY_OK;
    return assay__host_fail(a->instance, ASSAY_UNAVAILABLE,
                            "oneDNN: its %s follows another law on this CPU: %a where %a is due",
                            a->text, got, d->value);
}

/* ---- element by element ---- */

/* A NaN wins, -0 < +0. */
static double extreme(double a, double b, bool is_max)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return (signbit(a) != 0) == is_max ? b : a;
    return (a > b) == is_max ? a : b;
}

static double gate(double x, double share)
{
    return x == -INFINITY ? NAN : x * share;
}

static double value_of(assay_op_id op, double a, double b)
{
    switch (op) {
    case ASSAY_OP_add:
        return a + b;
    case ASSAY_OP_sub:
        return a - b;
    case ASSAY_OP_mul:
        return a * b;
    case ASSAY_OP_div:
        return a / b;
    case ASSAY_OP_maximum:
        return extreme(a, b, true);
    case ASSAY_OP_minimum:
        return extreme(a, b, false);
    case ASSAY_OP_relu:
        return a > 0.0 || isnan(a) ? a : 0.0;
    case ASSAY_OP_tanh:
        return tanh(a);
    case ASSAY_OP_gelu: /* 1 + tanh u, which cancels, is 2 / (1 + e^-2u) */
        return gate(a, 1.0 / (1.0 + exp(-2.0 * 0x1.9884533d43651p-1 * (a + 0.044715 * a * a * a))));
    default:
        return gate(a, 0.5 * erfc(-a * 0x1.6a09e667f3bcdp-1));
    }
}

/* The bound of the op, in steps of the result, or of the argument where results cancel. */
static due due_of(const asked *a, double x, double y)
{
    due d = {.value = value_of(a->op, x, y)};

    d.is_strict = a->op == ASSAY_OP_maximum || a->op == ASSAY_OP_minimum;
    if ((a->op == ASSAY_OP_gelu || a->op == ASSAY_OP_gelu_erf) && isfinite(x))
        d.slack = 16.0 * step_at(ASSAY_F32, x);
    else if (a->op == ASSAY_OP_tanh)
        d.slack = 20.0 * step_at(a->t, d.value);
    return d;
}

/* Pairs of special values, then values of every sign and exponent, in another order for b. */
static void fill(assay_dtype t, char *a, char *b)
{
    static const double special[SPECIALS] = {NAN,  INFINITY, -INFINITY, 0.0,
                                             -0.0, 1.0,      -1.0,      0x1p-133};
    static const uint32_t low[] = {0, 1, 0x408000, 0x7fffff, 0x808000, 0xffffff};
    size_t bytes = assay_dtype_bytes(t);

    for (size_t i = 0; i < SPECIALS * SPECIALS; i++) {
        assay_store_f64(t, a, i, special[i / SPECIALS]);
        assay_store_f64(t, b, i, special[i % SPECIALS]);
    }
    for (uint32_t i = 0; i < PATTERNS; i++) {
        uint32_t j = i * 97 % PATTERNS, k = SPECIALS * SPECIALS + i;
        uint32_t first = (i % HIGH << 24 | low[i / HIGH]) >> (32 - 8 * bytes);
        uint32_t second = (j % HIGH << 24 | low[j / HIGH]) >> (32 - 8 * bytes);
        memcpy(a + k * bytes, &first, bytes);
        memcpy(b + k * bytes, &second, bytes);
    }
}

static assay_status run(const asked *a, const int64_t dims[3], void *x, void *y, void *out)
{
    const assay_launch launch = {.struct_size = sizeof launch, .instance = a->instance};
    onednn_problem p;

    onednn_simple_example(a->op, a->t, dims, &p);
    return onednn_run(&launch, a->library, &p,
                      p.count == 3 ? (void *[]){x, y, out} : (void *[]){x, out});
}

static assay_status ask_elements(const asked *a)
{
    char x[N * 4], y[N * 4], out[N * 4] = {0};

    fill(a->t, x, y);
    ASSAY_TRY(run(a, (int64_t[]){N, 1, 1}, x, y, out));
    for (size_t i = 0; i < N; i++) {
        due d = due_of(a, assay_load_f64(a->t, x, i), assay_load_f64(a->t, y, i));
        ASSAY_TRY(check(a, assay_load_f64(a->t, out, i), &d));
    }
    return ASSAY_OK;
}

/* ---- over rows ---- */

/* Plain numbers, a NaN among them, zeros of both signs, nothing but -infinity, both infinities. */
static double element_of(size_t row, size_t col)
{
    double plain = (double)((int)(col * 37 % 64) - 30) / 16.0;

    switch (row) {
    case 1:
        return col == 5 ? NAN : plain;
    case 2:
        return col == 7 ? 0.0 : -0.0;
    case 3:
        return -INFINITY;
    case 4:
        return col == 3 ? INFINITY : col == 20 ? -INFINITY : plain;
    default:
        return plain;
    }
}

static due due_of_row(const asked *a, size_t row)
{
    double sum = 0.0, size = 0.0, least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < COLS; i++) {
        double x = element_of(row, i);
        sum += x;
        size += fabs(x);
        least = extreme(least, x, false);
        most = extreme(most, x, true);
    }
    if (a->op == ASSAY_OP_max_reduce || a->op == ASSAY_OP_min_reduce)
        return (due){.value = a->op == ASSAY_OP_max_reduce ? most : least, .is_strict = true};
    double share = a->op == ASSAY_OP_mean_reduce ? 1.0 / COLS : 1.0;
    return (due){.value = sum * share, .slack = COLS * 0x1p-23 * size * share};
}

static assay_status ask_rows(const asked *a, size_t lanes)
{
    enum { MOST = ROWS * COLS * ONEDNN_LANES };
    char x[MOST * 4], out[ROWS * ONEDNN_LANES * 4] = {0};

    for (size_t i = 0; i < ROWS * COLS * lanes; i++)
        assay_store_f64(a->t, x, i, element_of(i / lanes / COLS, i / lanes % COLS));
    ASSAY_TRY(run(a, (int64_t[]){ROWS, COLS, (int64_t)lanes}, x, NULL, out));
    for (size_t i = 0; i < ROWS * lanes; i++) {
        due d = due_of_row(a, i / lanes);
        ASSAY_TRY(check(a, assay_load_f64(a->t, out, i), &d));
    }
    return ASSAY_OK;
}

static assay_status ask_layer_norm(const asked *a)
{
    char x[ROWS * COLS * 4], out[ROWS * COLS * 4] = {0};

    for (size_t i = 0; i < ROWS * COLS; i++)
        assay_store_f64(a->t, x, i, element_of(i / COLS, i % COLS));
    ASSAY_TRY(run(a, (int64_t[]){ROWS, COLS, 1}, x, NULL, out));
    for (size_t row = 0; row < ROWS; row++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < COLS; i++)
            mean += element_of(row, i) / COLS;
        for (size_t i = 0; i < COLS; i++)
            square += (element_of(row, i) - mean) * (element_of(row, i) - mean) / COLS;
        for (size_t i = 0; i < COLS; i++) {
            due d = {.value = (element_of(row, i) - mean) / sqrt(square + 0x1p-16),
                     .slack = COLS * 0x1p-23};
            ASSAY_TRY(check(a, assay_load_f64(a->t, out, row * COLS + i), &d));
        }
    }
    return ASSAY_OK;
}

assay_status onednn_ask_law(assay_instance *instance, const onednn_library *l, assay_op_id op,
                            assay_dtype t, const char *text)
{
    const asked a = {instance, l, text, op, t};

    switch (op) {
    case ASSAY_OP_layer_norm_last_dim:
        return ask_layer_norm(&a);
    case ASSAY_OP_sum_reduce:
    case ASSAY_OP_mean_reduce:
    case ASSAY_OP_max_reduce:
    case ASSAY_OP_min_reduce:
        ASSAY_TRY(ask_rows(&a, 1));
        return ask_rows(&a, ONEDNN_LANES);
    default:
        return ask_elements(&a);
    }
}

#endif

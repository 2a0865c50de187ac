/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_cast.c -- y = x as another type.
 *
 * The exact result of a conversion to a float type is the operand itself, to be rounded once by who
 * asks; that to an integer type is an integer. Integers do not pass through one double: those of 64
 * bits have more bits than it. */
#include <string.h>

#include "backends/ref/ref.h"

/* ---- to integers ---- */

/* Bits below 2^n kept, the highest of them the sign's. */
static int64_t wrapped(const assay_dtype_info *to, int64_t v)
{
    int64_t range = (int64_t)1 << 8 * to->bytes % 64, rest;

    if (to->bytes == 8)
        return v;
    rest = (v % range + range) % range;
    return rest > to->max_int ? rest - range : rest;
}

/* Truncated toward zero and clamped. */
static ref_dd truncated(const assay_dtype_info *to, double x)
{
    double whole = x < 0.0 ? ceil(x) : floor(x);

    if (isnan(x))
        return (ref_dd){0.0, 0.0};
    if (whole > (double)to->max_int || whole >= 0x1p63)
        return ref_of_integer(to->max_int);
    if (whole < (double)to->min_int)
        return ref_of_integer(to->min_int);
    return (ref_dd){whole + 0.0, 0.0}; /* an integer has no -0 */
}

/* ---- elements ---- */

static ref_dd converted(const assay_tensor *x, const assay_tensor *y, int64_t index)
{
    const assay_dtype_info *from = assay_dtype_describe(x->dtype);
    const assay_dtype_info *to = assay_dtype_describe(y->dtype);
    const char *at = ref_element(x, index);

    if (!from->is_float) {
        int64_t v = ref_integer_at(x->dtype, at);
        return ref_of_integer(to->is_float ? v : wrapped(to, v));
    }
    double v = assay_load_f64(x->dtype, at, 0);
    return to->is_float ? (ref_dd){v, 0.0} : truncated(to, v);
}

assay_status ref_wide_cast(const assay_launch *launch, unsigned threads, const assay_wide *out);
assay_status ref_run_cast(const assay_launch *launch);

assay_status ref_wide_cast(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    int64_t count = out->count;

#pragma omp parallel for num_threads(threads) schedule(static) if (count > 65536)
    for (int64_t i = 0; i < count; i++)
        ref_put(out, i, converted(x, y, out->first + i), 0.0);
    return ASSAY_OK;
}

assay_status ref_run_cast(const assay_launch *launch)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    size_t bytes = assay_dtype_bytes(y->dtype);
    char *base = assay_tensor_data(y);

    for (int64_t i = 0; i < y->dims[0]; i++) {
        char *at = base + (ref_element(y, i) - base);
        if (x->dtype == y->dtype) { /* signaling NaNs too */
            memmove(at, ref_element(x, i), bytes);
            continue;
        }
        ref_dd value = converted(x, y, i);
        if (!assay_dtype_describe(y->dtype)->is_float)
            ref_store_integer(y->dtype, at, value);
        else if (y->dtype == ASSAY_F64)
            assay_store_f64(y->dtype, at, 0, ref_round(ASSAY_F64, value));
        else
            assay_store_f64(y->dtype, at, 0, ref_round_odd(value.hi, value.lo));
    }
    return ASSAY_OK;
}

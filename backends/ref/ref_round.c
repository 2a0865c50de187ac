/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_round.c -- from wide values to a dtype with one rounding. */
#include "backends/ref/ref.h"

#include <stdlib.h>
#include <string.h>

double ref_round_odd(double hi, double lo)
{
    uint64_t bits;

    if (lo == 0.0 || !isfinite(hi))
        return hi;
    ref_dd sum = ref_two_sum(hi, lo);
    if (sum.lo == 0.0 || !isfinite(sum.hi))
        return sum.hi;
    memcpy(&bits, &sum.hi, sizeof bits);
    if ((bits & 1u) == 0) /* step one bit toward the exact value; hi is not zero here */
        bits = (sum.hi > 0.0) == (sum.lo > 0.0) ? bits + 1 : bits - 1;
    memcpy(&sum.hi, &bits, sizeof bits);
    return sum.hi;
}

double ref_round(assay_dtype dtype, ref_dd value)
{
    if (dtype == ASSAY_F64)
        return isfinite(value.hi) && value.lo != 0.0 ? value.hi + value.lo : value.hi;
    double odd = ref_round_odd(value.hi, value.lo);
    return dtype == ASSAY_F32 ? (double)(float)odd : assay_round_f64(dtype, odd);
}

/* Rounds to `split` = 2^(53 - p) + 1 significant bits p (Veltkamp). */
static double round_bits(double x, double split)
{
    double c = x * split;

    return c - (c - x);
}

/* Whether everything within `reach` of x certainly rounds alike; false means nothing.  Subnormals
 * and values near overflow are left to the careful path. */
static bool settled(assay_dtype dtype, double x, double reach)
{
    double size = fabs(x);

    if (dtype == ASSAY_F32)
        return (float)(x - reach) == (float)(x + reach);
    if (dtype == ASSAY_F16)
        return size > 0x1p-13 && size < 0x1p14 &&
               round_bits(x - reach, 0x1p42 + 1.0) == round_bits(x + reach, 0x1p42 + 1.0);
    return dtype == ASSAY_BF16 && size > 0x1p-125 && size < 0x1p126 &&
           round_bits(x - reach, 0x1p45 + 1.0) == round_bits(x + reach, 0x1p45 + 1.0);
}

bool ref_doubtful(assay_dtype dtype, ref_dd value, double bound)
{
    if (bound == 0.0 || !isfinite(value.hi))
        return false;
    /* Wider by more than the sums here can be off. */
    if (settled(dtype, value.hi, bound + fabs(value.lo) + fabs(value.hi) * 0x1p-51))
        return false;
    ref_dd below = {value.hi, value.lo - bound};
    ref_dd above = {value.hi, value.lo + bound};
    return ref_round(dtype, below) != ref_round(dtype, above);
}

const char *ref_element(const assay_tensor *t, int64_t index)
{
    int64_t offset = 0;

    for (uint32_t d = t->rank; d-- > 0;) {
        offset += index % t->dims[d] * t->strides[d];
        index /= t->dims[d];
    }
    return (const char *)assay_tensor_data(t) + offset * (int64_t)assay_dtype_bytes(t->dtype);
}

double ref_load(const assay_tensor *t, int64_t index)
{
    return assay_load_f64(t->dtype, ref_element(t, index), 0);
}

/* ---- integers: those of 64 bits have more bits than a double ---- */

int64_t ref_integer_at(assay_dtype dtype, const char *at)
{
    int64_t wide;
    int32_t i32;
    int16_t i16;
    uint32_t u32;

    switch (dtype) {
    case ASSAY_I8:
        return (int64_t)(signed char)*at;
    case ASSAY_U8:
        return (int64_t)(unsigned char)*at;
    case ASSAY_I16:
        memcpy(&i16, at, sizeof i16);
        return i16;
    case ASSAY_I32:
        memcpy(&i32, at, sizeof i32);
        return i32;
    case ASSAY_U32:
        memcpy(&u32, at, sizeof u32);
        return u32;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

/* The nearest multiple of 2^32 and the rest. */
ref_dd ref_of_integer(int64_t v)
{
    int64_t low = v & 0xffffffff;

    return ref_fast_two_sum((double)(v - low), (double)low);
}

void ref_store_integer(assay_dtype dtype, char *at, ref_dd value)
{
    /* 2^63 is no int64_t: the largest is that and -1. */
    int64_t v = value.hi >= 0x1p63 ? INT64_MAX + (int64_t)(value.lo + 1.0)
                                   : (int64_t)value.hi + (int64_t)value.lo;

    memcpy(at, &v, assay_dtype_bytes(dtype)); /* little-endian */
}

ref_dd ref_load_exact(const assay_tensor *t, int64_t index)
{
    if (assay_dtype_describe(t->dtype)->is_float)
        return (ref_dd){ref_load(t, index), 0.0};
    return ref_of_integer(ref_integer_at(t->dtype, ref_element(t, index)));
}

/* ---- the kernel on top ---- */

static char *output_element(const assay_tensor *t, int64_t index)
{
    const char *base = assay_tensor_data(t);

    return (char *)assay_tensor_data(t) + (ref_element(t, index) - base);
}

static void store_rounded(const assay_tensor *t, const assay_wide *wide)
{
    for (int64_t i = 0; i < wide->count; i++) {
        ref_dd value = {wide->hi[i], wide->lo[i]};
        if (!assay_dtype_describe(t->dtype)->is_float) {
            ref_store_integer(t->dtype, output_element(t, wide->first + i), value);
            continue;
        }
        double rounded =
            t->dtype == ASSAY_F64 ? ref_round(ASSAY_F64, value) : ref_round_odd(value.hi, value.lo);
        assay_store_f64(t->dtype, output_element(t, wide->first + i), 0, rounded);
    }
}

assay_status ref_run(const assay_launch *launch, ref_wide_fn wide, int64_t chunk)
{
    const assay_tensor *y = &launch->operands[launch->operand_count - 1];
    int64_t total = 1;

    for (uint32_t d = 0; d < y->rank; d++)
        total *= y->dims[d];
    if (total == 0)
        return ASSAY_OK;
    chunk = chunk < total ? chunk : total;
    double *memory = malloc((size_t)chunk * 3 * sizeof *memory);
    if (memory == NULL)
        return ASSAY_NOMEM;
    assay_status status = ASSAY_OK;
    for (int64_t i = 0; i < total && status == ASSAY_OK; i += chunk) {
        assay_wide out = {.hi = memory, .lo = memory + chunk, .bound = memory + 2 * chunk};
        out.first = i;
        out.count = total - i < chunk ? total - i : chunk;
        status = wide(launch, 1, &out);
        if (status == ASSAY_OK)
            store_rounded(y, &out);
    }
    free(memory);
    return status;
}

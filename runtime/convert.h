/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/convert.h -- conversions of single elements and of arrays, inside the library. */
#ifndef ASSAY_RUNTIME_CONVERT_H
#define ASSAY_RUNTIME_CONVERT_H

#include "assay/dtype.h"
#include "assay/dtype_inline.h"

/* Bits of a value in f16, bf16, f8e4m3 or f8e5m2 (no other), rounded once. */
uint32_t assay__pack_f64(assay_dtype dtype, double value, bool sat);
uint32_t assay__pack_i64(assay_dtype dtype, int64_t value, bool sat);

/* Truncated and clamped to [lo, hi]; NaN gives 0. */
int64_t assay__f64_to_int(double value, int64_t lo, int64_t hi);

/* assay_convert and assay_convert_sat without checks, for plug-ins too: the dtypes are valid, the
 * pointers are not NULL, the sizes fit. */
void assay__convert(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n, bool sat);

/* The same without the instructions of convert_x86.c. */
void assay__convert_portable(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n,
                             bool sat);

/* Converts with instructions this processor has; false, with nothing done, when it has none for
 * the pair. The bits are those of assay__convert_portable. */
bool assay__convert_x86(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n);

/* Every float type to f64, exact. */
static inline double assay__widen_F64(double value)
{
    return value;
}

static inline double assay__widen_F32(float value)
{
    return (double)value;
}

static inline double assay__widen_F16(uint16_t bits)
{
    return (double)assay_f16_to_f32(bits);
}

static inline double assay__widen_BF16(uint16_t bits)
{
    return (double)assay_bf16_to_f32(bits);
}

static inline double assay__widen_F8E4M3(uint8_t bits)
{
    return (double)assay_f8e4m3_to_f32(bits);
}

static inline double assay__widen_F8E5M2(uint8_t bits)
{
    return (double)assay_f8e5m2_to_f32(bits);
}

/* f64 and i64 to every float type, rounded once. */
#define ASSAY__NARROW_NATIVE(NAME, type)                               \
    static inline type assay__narrow_##NAME(double value, bool sat)    \
    {                                                                  \
        (void)sat;                                                     \
        return (type)value;                                            \
    }                                                                  \
    static inline type assay__from_i64_##NAME(int64_t value, bool sat) \
    {                                                                  \
        (void)sat;                                                     \
        return (type)value;                                            \
    }
#define ASSAY__NARROW_SMALL(NAME, type, may_saturate)                             \
    static inline type assay__narrow_##NAME(double value, bool sat)               \
    {                                                                             \
        return (type)assay__pack_f64(ASSAY_##NAME, value, (may_saturate) && sat); \
    }                                                                             \
    static inline type assay__from_i64_##NAME(int64_t value, bool sat)            \
    {                                                                             \
        return (type)assay__pack_i64(ASSAY_##NAME, value, (may_saturate) && sat); \
    }
ASSAY__NARROW_NATIVE(F64, double)
ASSAY__NARROW_NATIVE(F32, float)
ASSAY__NARROW_SMALL(F16, uint16_t, false)
ASSAY__NARROW_SMALL(BF16, uint16_t, false)
ASSAY__NARROW_SMALL(F8E4M3, uint8_t, true)
ASSAY__NARROW_SMALL(F8E5M2, uint8_t, true)

#endif

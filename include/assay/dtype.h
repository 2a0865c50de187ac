/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/dtype.h -- element types, what they can hold, and conversions between them.
 *
 * Rules (docs/dtypes.md has them with examples):
 *   float -> float  rounded once, to nearest, ties to even, straight from the source value. A NaN
 *                   stays a NaN: quiet, sign and leading payload bits kept. Beyond the midpoint
 *                   above the largest finite value: infinity; f8e4m3, which has none: NaN. The
 *                   `_sat` forms give the largest finite f8 value instead, for infinities too.
 *   float -> int    truncated toward zero, clamped to the range of the type; NaN gives 0.
 *   int -> float    rounded once, to nearest, ties to even.
 *   int -> int      modulo 2^bits (two's complement).
 *   same type       bits are copied, signaling NaNs included.
 * The floating-point environment is assumed to round to nearest, as C programs start. */
#ifndef ASSAY_DTYPE_H
#define ASSAY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Float rows: X(NAME, value, text, storage type, precision, emin, emax, largest finite bits,
 * overflow bits). Precision counts the hidden bit; bits are those of the positive value. f8e4m3 is
 * the OCP format: no infinity, NaN only as 0x7f and 0xff, largest value 448. */
#define ASSAY_DTYPE_FLOAT_MAP(X)                                                      \
    X(F64, 0, "f64", double, 53, -1022, 1023, 0x7fefffffffffffff, 0x7ff0000000000000) \
    X(F32, 1, "f32", float, 24, -126, 127, 0x7f7fffff, 0x7f800000)                    \
    X(F16, 2, "f16", uint16_t, 11, -14, 15, 0x7bff, 0x7c00)                           \
    X(BF16, 3, "bf16", uint16_t, 8, -126, 127, 0x7f7f, 0x7f80)                        \
    X(F8E4M3, 4, "f8e4m3", uint8_t, 4, -6, 8, 0x7e, 0x7f)                             \
    X(F8E5M2, 5, "f8e5m2", uint8_t, 3, -14, 15, 0x7b, 0x7c)

/* Integer rows: X(NAME, value, text, storage type, least value, greatest value). */
#define ASSAY_DTYPE_INT_MAP(X)                      \
    X(I8, 6, "i8", int8_t, INT8_MIN, INT8_MAX)      \
    X(I16, 7, "i16", int16_t, INT16_MIN, INT16_MAX) \
    X(I32, 8, "i32", int32_t, INT32_MIN, INT32_MAX) \
    X(I64, 9, "i64", int64_t, INT64_MIN, INT64_MAX) \
    X(U8, 10, "u8", uint8_t, 0, UINT8_MAX)          \
    X(U32, 11, "u32", uint32_t, 0, UINT32_MAX)

/* All of them: X(NAME, value, text, storage type, ...). Values enter keys: append, never renumber.
 */
#define ASSAY_DTYPE_MAP(X)   \
    ASSAY_DTYPE_FLOAT_MAP(X) \
    ASSAY_DTYPE_INT_MAP(X)

typedef enum assay_dtype {
#define X(name, value, ...) ASSAY_##name = (value),
    ASSAY_DTYPE_MAP(X)
#undef X
} assay_dtype;

enum {
    ASSAY_DTYPE_COUNT = 0
#define X(name, value, ...) +1
    ASSAY_DTYPE_MAP(X)
#undef X
};

/* What a type can hold. Of the last two groups the one that does not apply is absent: NaN in the
 * doubles and 0 in the exponents of an integer type, 0 in the integers of a float type. */
typedef struct assay_dtype_info {
    const char *name; /* static storage */
    size_t bytes;     /* of one element */
    bool is_float;
    bool is_signed;
    bool has_inf;
    int precision; /* bits of the significand with the hidden one; integers: value bits */
    int emin;      /* exponent of the smallest normal value, 2^emin */
    int emax;      /* exponent of the largest finite value */
    double max_finite;
    double min_normal;
    double min_subnormal;
    double unit_roundoff; /* 2^-precision */
    int64_t min_int;
    int64_t max_int;
} assay_dtype_info;

/* Bytes of one element; 0 for a value outside the enum. */
size_t assay_dtype_bytes(assay_dtype dtype);

/* Canonical name, e.g. "bf16"; NULL for a value outside the enum. */
const char *assay_dtype_name(assay_dtype dtype);

/* The row of `dtype`, constant for the life of the process; NULL outside the enum. */
const assay_dtype_info *assay_dtype_describe(assay_dtype dtype);

/* Reads a canonical name, whole and in lower case. ASSAY_PARSE when it is none (the text of the
 * error lists the names), ASSAY_INVALID for NULL. */
assay_status assay_dtype_parse(const char *text, assay_dtype *out);

/* Element `index` of an array, exact except i64 beyond 2^53, which is rounded to nearest.
 * `base` needs no alignment. NaN for a dtype outside the enum. */
double assay_load_f64(assay_dtype dtype, const void *base, size_t index);

/* Converts by the rules above and writes element `index`; nothing for a dtype outside the enum. */
void assay_store_f64(assay_dtype dtype, void *base, size_t index, double value);

/* The same with saturation where dtype is f8e4m3 or f8e5m2. */
void assay_store_f64_sat(assay_dtype dtype, void *base, size_t index, double value);

/* The value that storing `value` as `dtype` and loading it again gives. */
double assay_round_f64(assay_dtype dtype, double value);

/* Converts `n` elements by the rules above; never through a type that loses bits. The arrays need
 * no alignment and must not overlap. n == 0 does nothing and accepts NULL.
 * ASSAY_INVALID: a dtype outside the enum, or NULL; ASSAY_OVERFLOW: n elements exceed the address
 * space; nothing is written then. */
assay_status assay_convert(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n);

/* The same with saturation where dst is f8e4m3 or f8e5m2. */
assay_status assay_convert_sat(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n);

#ifdef __cplusplus
}
#endif
#endif

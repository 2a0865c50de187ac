/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/convert.c -- conversion of arrays, without checks.
 *
 * Any float type fits f64 and any integer type fits i64 without loss, so a pair is a widening to
 * one of the two and a narrowing from it, in blocks that stay in the first-level cache. */
#include "runtime/convert.h"

#include <string.h>

#define BLOCK 256

static bool is_float(assay_dtype dtype)
{
    return assay_dtype_describe(dtype)->is_float;
}

/* One loop per row; reads and writes go through memcpy because neither side need be aligned. */
#define EACH_ELEMENT(out_type, in_type, expr)                                   \
    for (size_t i = 0; i < n; i++) {                                            \
        in_type in;                                                             \
        memcpy(&in, (const unsigned char *)s + i * sizeof in, sizeof in);       \
        out_type result = (expr);                                               \
        memcpy((unsigned char *)d + i * sizeof result, &result, sizeof result); \
    }

static void widen_float(double *d, assay_dtype src, const void *s, size_t n)
{
    switch (src) {
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME:                  \
        EACH_ELEMENT(double, type, assay__widen_##NAME(in)) break;
        ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
    default:
        break;
    }
}

static void widen_int(int64_t *d, assay_dtype src, const void *s, size_t n)
{
    switch (src) {
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME:                  \
        EACH_ELEMENT(int64_t, type, (int64_t)in) break;
        ASSAY_DTYPE_INT_MAP(X)
#undef X
    default:
        break;
    }
}

static void narrow_float(assay_dtype dst, void *d, const double *s, size_t n, bool sat)
{
    switch (dst) {
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME:                  \
        EACH_ELEMENT(type, double, assay__narrow_##NAME(in, sat)) break;
        ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
#define X(NAME, value, text, type, lo, hi) \
    case ASSAY_##NAME:                     \
        EACH_ELEMENT(type, double, (type)assay__f64_to_int(in, lo, hi)) break;
        ASSAY_DTYPE_INT_MAP(X)
#undef X
    }
}

static void narrow_int(assay_dtype dst, void *d, const int64_t *s, size_t n, bool sat)
{
    switch (dst) {
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME:                  \
        EACH_ELEMENT(type, int64_t, assay__from_i64_##NAME(in, sat)) break;
        ASSAY_DTYPE_FLOAT_MAP(X)
#undef X
#define X(NAME, value, text, type, ...) \
    case ASSAY_##NAME:                  \
        EACH_ELEMENT(type, int64_t, (type)(uint64_t)in) break;
        ASSAY_DTYPE_INT_MAP(X)
#undef X
    }
}

/* The pairs kernels convert all the time; the detour through f64 would give the same bits. */
static bool convert_direct(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n)
{
    if (src == ASSAY_F32 && dst == ASSAY_F16) {
        EACH_ELEMENT(uint16_t, float, assay_f32_to_f16(in))
    } else if (src == ASSAY_F32 && dst == ASSAY_BF16) {
        EACH_ELEMENT(uint16_t, float, assay_f32_to_bf16(in))
    } else if (src == ASSAY_F16 && dst == ASSAY_F32) {
        EACH_ELEMENT(float, uint16_t, assay_f16_to_f32(in))
    } else if (src == ASSAY_BF16 && dst == ASSAY_F32) {
        EACH_ELEMENT(float, uint16_t, assay_bf16_to_f32(in))
    } else {
        return false;
    }
    return true;
}

void assay__convert_portable(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n,
                             bool sat)
{
    size_t d_bytes = assay_dtype_bytes(dst), s_bytes = assay_dtype_bytes(src);
    union {
        double f64[BLOCK];
        int64_t i64[BLOCK];
    } wide;

    if (dst == src) {
        memcpy(d, s, n * d_bytes);
        return;
    }
    if (convert_direct(dst, d, src, s, n))
        return;
    for (size_t done = 0; done < n; done += BLOCK) {
        size_t count = n - done < BLOCK ? n - done : BLOCK;
        const unsigned char *from = (const unsigned char *)s + done * s_bytes;
        unsigned char *to = (unsigned char *)d + done * d_bytes;

        if (is_float(src)) {
            widen_float(wide.f64, src, from, count);
            narrow_float(dst, to, wide.f64, count, sat);
        } else {
            widen_int(wide.i64, src, from, count);
            narrow_int(dst, to, wide.i64, count, sat);
        }
    }
}

void assay__convert(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n, bool sat)
{
    if (!assay__convert_x86(dst, d, src, s, n))
        assay__convert_portable(dst, d, src, s, n, sat);
}

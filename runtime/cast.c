/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/cast.c -- the checked entry points: array conversion, and type names read from text.
 *
 * Apart from dtype.c and convert.c, which plug-ins carry their own copy of: error texts live in
 * libassay only. */
#include <string.h>

#include "runtime/convert.h"
#include "runtime/error.h"

static assay_status convert(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n,
                            bool sat)
{
    size_t d_bytes = assay_dtype_bytes(dst), s_bytes = assay_dtype_bytes(src);

    if (d_bytes == 0 || s_bytes == 0)
        return assay__fail(ASSAY_INVALID, "convert: %d is not a dtype",
                           d_bytes == 0 ? (int)dst : (int)src);
    if (n == 0)
        return ASSAY_OK;
    if (d == NULL || s == NULL)
        return assay__fail(ASSAY_INVALID, "convert: the %s array is NULL",
                           d == NULL ? "destination" : "source");
    if (n > SIZE_MAX / (d_bytes > s_bytes ? d_bytes : s_bytes))
        return assay__fail(ASSAY_OVERFLOW, "convert: %zu elements exceed the address space", n);
    assay__convert(dst, d, src, s, n, sat);
    return ASSAY_OK;
}

assay_status assay_convert(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n)
{
    return convert(dst, d, src, s, n, false);
}

assay_status assay_convert_sat(assay_dtype dst, void *d, assay_dtype src, const void *s, size_t n)
{
    return convert(dst, d, src, s, n, true);
}

assay_status assay_dtype_parse(const char *text, assay_dtype *out)
{
    if (text == NULL || out == NULL)
        return assay__fail(ASSAY_INVALID, "dtype: NULL argument");
#define X(NAME, value, canonical, ...)  \
    if (strcmp(text, canonical) == 0) { \
        *out = ASSAY_##NAME;            \
        return ASSAY_OK;                \
    }
    ASSAY_DTYPE_MAP(X)
#undef X
#define X(NAME, value, canonical, ...) " " canonical
    return assay__fail(ASSAY_PARSE, "unknown dtype '%.32s'; one of:" ASSAY_DTYPE_MAP(X), text);
#undef X
}

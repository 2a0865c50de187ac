/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/tensor.c -- host views: wrapping, layout letters, alignment. */
#include "assay/tensor.h"

#include <string.h>

#include "runtime/error.h"

static assay_status check_extents(assay_dtype dtype, uint32_t rank, const int64_t *dims)
{
    int64_t bytes = (int64_t)assay_dtype_bytes(dtype);
    bool empty = false;

    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return assay__fail(ASSAY_INVALID, "tensor: extent %u is %lld; extents are >= 0", i,
                               (long long)dims[i]);
        empty = empty || dims[i] == 0;
    }
    for (uint32_t i = 0; i < rank && !empty; i++)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes))
            return assay__fail(
                ASSAY_OVERFLOW,
                "tensor: its size in bytes does not fit 63 bits; use smaller extents");
    return ASSAY_OK;
}

/* Beside an extent of 0 the others may multiply to more than 63 bits; then the largest number,
 * which no stride of an element reaches. */
static int64_t step_over(int64_t step, int64_t extent)
{
    int64_t next;

    if (extent <= 1)
        return step;
    return __builtin_mul_overflow(step, extent, &next) ? INT64_MAX : next;
}

static void contiguous_strides(uint32_t rank, const int64_t *dims, int64_t *strides)
{
    int64_t step = 1;

    for (uint32_t i = rank; i-- > 0;) {
        strides[i] = step;
        step = step_over(step, dims[i]);
    }
}

assay_status assay_tensor_host(void *data, assay_dtype dtype, uint32_t rank, const int64_t *dims,
                               const int64_t *strides, assay_tensor *out)
{
    assay_tensor t;

    if (rank > ASSAY_MAX_RANK)
        return assay__fail(ASSAY_INVALID, "tensor: rank %u; at most %d dimensions", rank,
                           ASSAY_MAX_RANK);
    if (assay_dtype_bytes(dtype) == 0)
        return assay__fail(ASSAY_INVALID, "tensor: %d is no dtype", (int)dtype);
    ASSAY_TRY(check_extents(dtype, rank, dims));
    memset(&t, 0, sizeof t);
    t.buffer.at.host = data;
    t.buffer.size_bytes = UINT64_MAX;
    t.dtype = dtype;
    t.rank = rank;
    for (uint32_t i = 0; i < rank; i++)
        t.dims[i] = dims[i];
    if (strides != NULL)
        memcpy(t.strides, strides, rank * sizeof *strides);
    else
        contiguous_strides(rank, dims, t.strides);
    *out = t;
    return ASSAY_OK;
}

int64_t assay_tensor_elements(const assay_tensor *t)
{
    int64_t n = 1;

    /* Beside an extent of 0 the product of the others may be beyond 63 bits. */
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return 0;
    for (uint32_t i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

/* ---- copying ---- */

static void copy_elements(const char *from, int64_t from_step, char *to, int64_t to_step,
                          int64_t count, size_t bytes)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(to, from, bytes);
        from += from_step;
        to += to_step;
    }
}

/* Constant sizes are copied in registers. */
static void copy_row(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t count,
                     size_t bytes)
{
    if (from_step == (int64_t)bytes && to_step == (int64_t)bytes)
        memcpy(to, from, (size_t)count * bytes);
    else if (bytes == 4)
        copy_elements(from, from_step, to, to_step, count, 4);
    else if (bytes == 2)
        copy_elements(from, from_step, to, to_step, count, 2);
    else if (bytes == 8)
        copy_elements(from, from_step, to, to_step, count, 8);
    else
        copy_elements(from, from_step, to, to_step, count, bytes);
}

static void copy_dims(const assay_tensor *a, const char *from, const assay_tensor *b, char *to,
                      uint32_t dim)
{
    const int64_t bytes = (int64_t)assay_dtype_bytes(a->dtype);

    if (dim + 1 >= a->rank) {
        const bool is_scalar = a->rank == 0;
        copy_row(from, is_scalar ? bytes : a->strides[dim] * bytes, to,
                 is_scalar ? bytes : b->strides[dim] * bytes, is_scalar ? 1 : a->dims[dim],
                 (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < a->dims[dim]; i++)
        copy_dims(a, from + i * a->strides[dim] * bytes, b, to + i * b->strides[dim] * bytes,
                  dim + 1);
}

assay_status assay_tensor_copy(const assay_tensor *from, const assay_tensor *to)
{
    if (from->dtype != to->dtype || from->rank != to->rank ||
        memcmp(from->dims, to->dims, from->rank * sizeof *from->dims) != 0)
        return assay__fail(ASSAY_INVALID, "tensor copy: dtype, rank or extents differ");
    if (assay_tensor_elements(from) == 0)
        return ASSAY_OK;
    if (assay_tensor_data(from) == NULL || assay_tensor_data(to) == NULL)
        return assay__fail(ASSAY_INVALID, "tensor copy: one of the two has no host memory");
    copy_dims(from, assay_tensor_data(from), to, assay_tensor_data(to), 0);
    return ASSAY_OK;
}

static bool product_of(const int64_t *dims, uint32_t from, uint32_t to, int64_t *out)
{
    *out = 1;
    for (uint32_t d = from; d < to; d++)
        if (__builtin_mul_overflow(*out, dims[d], out))
            return false;
    return true;
}

assay_status assay_axis_split(uint32_t rank, const int64_t *dims, int64_t axis, int64_t out[3])
{
    int64_t at = axis < 0 ? axis + (int64_t)rank : axis, parts[3];

    if (rank > ASSAY_MAX_RANK || at < 0 || at >= (int64_t)rank)
        return assay__fail(ASSAY_INVALID, "axis %lld of a tensor of rank %u; use -%u to %d",
                           (long long)axis, rank, rank, (int)rank - 1);
    for (uint32_t d = 0; d < rank; d++)
        if (dims[d] < 0)
            return assay__fail(ASSAY_INVALID, "extent %u is %lld", d, (long long)dims[d]);
    if (!product_of(dims, 0, (uint32_t)at, &parts[0]) ||
        !product_of(dims, (uint32_t)at + 1, rank, &parts[2]))
        return assay__fail(ASSAY_OVERFLOW, "axis %lld: extents beside it exceed 63 bits",
                           (long long)axis);
    parts[1] = dims[at];
    memcpy(out, parts, sizeof parts);
    return ASSAY_OK;
}

/* ---- layouts ---- */

/* Rows contiguous and planes in row-major order, with room between rows. */
static bool leading_only(const assay_tensor *t)
{
    int64_t inner = 1;

    for (uint32_t i = t->rank; i-- > 0;) {
        if (t->dims[i] > 1 && t->strides[i] != inner && i + 1 >= t->rank)
            return false;
        if (t->dims[i] > 1 && t->strides[i] < inner)
            return false;
        if (t->dims[i] > 1)
            inner = step_over(t->strides[i], t->dims[i]);
    }
    return true;
}

static bool contiguous(const assay_tensor *t)
{
    int64_t step = 1;

    for (uint32_t i = t->rank; i-- > 0;) {
        if (t->dims[i] > 1 && t->strides[i] != step)
            return false;
        step = step_over(step, t->dims[i]);
    }
    return true;
}

char assay_tensor_layout(const assay_tensor *t)
{
    bool zero = false;

    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->dims[i] > 1 && t->strides[i] < 0)
            return 'n';
        zero = zero || (t->dims[i] > 1 && t->strides[i] == 0);
    }
    if (zero)
        return 'b';
    if (contiguous(t))
        return 'c';
    return leading_only(t) ? 'l' : 's';
}

unsigned assay_tensor_align(const assay_tensor *t)
{
    uintptr_t at = t->buffer.owner == 0 ? (uintptr_t)t->buffer.at.host + t->byte_offset
                                        : (uintptr_t)t->byte_offset;

    if (at % 64 == 0)
        return 64;
    return at % 16 == 0 ? 16 : 0;
}

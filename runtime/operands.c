/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/operands.c -- see operands.h. */
#include "runtime/operands.h"

#include "runtime/error.h"

bool assay__op_in_place(const assay_op_info *info)
{
    switch (info->family) {
    case ASSAY_FAMILY_ELEMENTWISE_BINARY:
    case ASSAY_FAMILY_ELEMENTWISE_UNARY:
    case ASSAY_FAMILY_ROW:
    case ASSAY_FAMILY_NORM:
        return true;
    case ASSAY_FAMILY_CONTRACTION:
    case ASSAY_FAMILY_REDUCE:
    case ASSAY_FAMILY_INDEX:
    case ASSAY_FAMILY_ATTENTION:
    case ASSAY_FAMILY_COUNT:
        break;
    }
    return false;
}

/* ---- one operand ---- */

static assay_status check_form(const assay_problem *p, const assay_tensor *t, size_t i)
{
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank = 0;

    ASSAY_TRY(assay_problem_operand(p, i, &rank, dims));
    if (t->dtype != (assay_dtype)p->dtypes[i])
        return assay__fail(ASSAY_INVALID, "operand %zu: dtype %s, the problem says %s", i,
                           assay_dtype_name(t->dtype) != NULL ? assay_dtype_name(t->dtype) : "?",
                           assay_dtype_name((assay_dtype)p->dtypes[i]));
    if (t->rank != rank)
        return assay__fail(ASSAY_INVALID, "operand %zu: rank %u, the problem says %u", i, t->rank,
                           rank);
    for (uint32_t d = 0; d < rank; d++)
        if (t->dims[d] != dims[d])
            return assay__fail(ASSAY_INVALID,
                               "operand %zu: extent %u is %lld, the problem says %lld", i, d,
                               (long long)t->dims[d], (long long)dims[d]);
    return ASSAY_OK;
}

/* Bytes [from, to) of a view, counted from its element (0, ..., 0). */
typedef struct span {
    int64_t from, to;
} span;

/* false: beyond 63 bits. */
static bool span_of(const assay_tensor *t, span *out)
{
    int64_t bytes = (int64_t)assay_dtype_bytes(t->dtype), way;
    span s = {0, bytes};

    for (uint32_t d = 0; d < t->rank; d++) {
        if (__builtin_mul_overflow(t->strides[d], t->dims[d] - 1, &way) ||
            __builtin_mul_overflow(way, bytes, &way) ||
            __builtin_add_overflow(way, way < 0 ? s.from : s.to, way < 0 ? &s.from : &s.to))
            return false;
    }
    *out = s;
    return true;
}

bool assay__tensor_span(const assay_tensor *t, int64_t *from, int64_t *to)
{
    span s;

    if (!span_of(t, &s))
        return false;
    *from = s.from;
    *to = s.to;
    return true;
}

static assay_status check_place(const assay_tensor *t, size_t i)
{
    uint64_t address = (uint64_t)(uintptr_t)t->buffer.at.host, size = t->buffer.size_bytes;
    uint64_t offset = t->byte_offset;
    span s;

    if (t->buffer.at.host == NULL)
        return assay__fail(ASSAY_INVALID, "operand %zu has no memory; give a buffer or an address",
                           i);
    if (!span_of(t, &s) || offset > INT64_MAX || address + offset < address ||
        __builtin_add_overflow(s.to, (int64_t)offset, &s.to))
        return assay__fail(ASSAY_OVERFLOW,
                           "operand %zu: its strides and offset leave the address space", i);
    s.from += (int64_t)offset; /* one is not above 0, the other not below */
    /* Where a wrapped pointer's memory begins and ends is not known. */
    if (size != UINT64_MAX && (s.from < 0 || (uint64_t)s.to > size))
        return assay__fail(ASSAY_INVALID,
                           "operand %zu: its elements lie at bytes %lld to %lld of a buffer of "
                           "%llu",
                           i, (long long)s.from, (long long)s.to, (unsigned long long)size);
    if ((address + offset) % assay_dtype_bytes(t->dtype) != 0)
        return assay__fail(ASSAY_INVALID, "operand %zu is not aligned to its elements", i);
    return ASSAY_OK;
}

/* ---- overlaps ---- */

static uint64_t size_of_stride(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* The dimension of the smallest step that is not done and has more than one index; the rank when
 * there is none. */
static uint32_t next_step(const assay_tensor *t, const bool *done)
{
    uint32_t least = t->rank;

    for (uint32_t d = 0; d < t->rank; d++)
        if (!done[d] && t->dims[d] > 1 &&
            (least == t->rank || size_of_stride(t->strides[d]) < size_of_stride(t->strides[least])))
            least = d;
    return least;
}

/* Each dimension steps over all that the smaller steps reach: then no two indices meet.  Refuses
 * some views that interleave with themselves, which nobody needs for an output. */
static bool meets_itself(const assay_tensor *t)
{
    bool done[ASSAY_MAX_RANK] = {false};
    uint64_t reach = 1;

    for (uint32_t d = next_step(t, done); d < t->rank; d = next_step(t, done)) {
        if (size_of_stride(t->strides[d]) < reach)
            return true;
        reach += (uint64_t)(t->dims[d] - 1) * size_of_stride(t->strides[d]);
        done[d] = true;
    }
    return false;
}

/* What a view takes of every period: bytes [from, from + width) modulo `period`. */
static void within_period(const assay_tensor *t, int64_t period, span *out)
{
    int64_t bytes = (int64_t)assay_dtype_bytes(t->dtype);

    *out = (span){0, bytes};
    for (uint32_t d = 0; d < t->rank; d++) {
        if (t->dims[d] <= 1 || t->strides[d] * bytes % period == 0)
            continue;
        int64_t way = t->strides[d] * bytes * (t->dims[d] - 1);
        *(way < 0 ? &out->from : &out->to) += way;
    }
}

/* Halves of a matrix, or its even and odd columns, share no element though their spans cross: what
 * repeats with the same period is told apart within one. */
static bool apart_by_period(const assay_tensor *a, const assay_tensor *b, int64_t period)
{
    span in_a, in_b;
    int64_t widths,
        distance = (int64_t)((uintptr_t)assay_tensor_data(b) - (uintptr_t)assay_tensor_data(a));

    within_period(a, period, &in_a);
    within_period(b, period, &in_b);
    widths = in_a.to - in_a.from;
    distance = ((distance + in_b.from - in_a.from) % period + period) % period;
    return distance >= widths && period - distance >= in_b.to - in_b.from;
}

static bool share_elements(const assay_tensor *a, const assay_tensor *b)
{
    uintptr_t at_a = (uintptr_t)assay_tensor_data(a), at_b = (uintptr_t)assay_tensor_data(b);
    span in_a, in_b;

    if (!span_of(a, &in_a) || !span_of(b, &in_b))
        return true;
    if (at_a + (uintptr_t)in_a.to <= at_b + (uintptr_t)in_b.from ||
        at_b + (uintptr_t)in_b.to <= at_a + (uintptr_t)in_a.from)
        return false;
    for (uint32_t d = 0; d < a->rank; d++) {
        uint64_t step = size_of_stride(a->strides[d]) * assay_dtype_bytes(a->dtype);
        if (a->dims[d] > 1 && step > 0 && apart_by_period(a, b, (int64_t)step))
            return false;
    }
    return true;
}

static bool same_view(const assay_tensor *a, const assay_tensor *b)
{
    if (assay_tensor_data(a) != assay_tensor_data(b) || a->dtype != b->dtype || a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dims[d] != b->dims[d] || (a->dims[d] > 1 && a->strides[d] != b->strides[d]))
            return false;
    return true;
}

static assay_status check_overlaps(const assay_op_info *info, const assay_tensor *operands,
                                   size_t output)
{
    const assay_tensor *y = &operands[output];

    if (assay_tensor_elements(y) == 0)
        return ASSAY_OK;
    if (meets_itself(y))
        return assay__fail(ASSAY_INVALID,
                           "operand %zu: elements of an output share memory; make it contiguous",
                           output);
    for (size_t i = 0; i < output; i++) {
        if (assay_tensor_elements(&operands[i]) == 0 || !share_elements(y, &operands[i]) ||
            (i < info->inputs && assay__op_in_place(info) && same_view(y, &operands[i])))
            continue;
        return assay__fail(ASSAY_INVALID, "%s: operand %zu overlaps operand %zu, which it %s",
                           info->name, output, i,
                           assay__op_in_place(info) ? "may only equal; copy one of them"
                                                    : "must not; copy one of them");
    }
    return ASSAY_OK;
}

assay_status assay__operands_check(const assay_problem *p, const assay_tensor *operands,
                                   size_t count)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);

    ASSAY_TRY(assay_problem_check(p));
    if (count != p->dtype_count)
        return assay__fail(ASSAY_INVALID, "%zu operands given, the problem has %u", count,
                           p->dtype_count);
    for (size_t i = 0; i < count; i++) {
        ASSAY_TRY(check_form(p, &operands[i], i));
        if (operands[i].buffer.owner != 0)
            return assay__fail(ASSAY_INVALID, "operand %zu is not in host memory", i);
        if (assay_tensor_elements(&operands[i]) > 0)
            ASSAY_TRY(check_place(&operands[i], i));
    }
    for (size_t i = info->inputs; i < count; i++)
        ASSAY_TRY(check_overlaps(info, operands, i));
    return ASSAY_OK;
}

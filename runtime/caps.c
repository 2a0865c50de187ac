/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/caps.c -- layouts, offsets and alignment against what a kernel says it takes. */
#include "runtime/caps.h"

#include <stdio.h>

/* What a layout letter asks of a kernel; strided kernels walk leading dimensions too. */
static bool takes_layout(unsigned caps, char letter)
{
    switch (letter) {
    case '\0':
    case 'c':
        return true;
    case 'l':
        return (caps & (ASSAY_CAP_LEADING | ASSAY_CAP_STRIDED)) != 0;
    case 's':
        return (caps & ASSAY_CAP_STRIDED) != 0;
    case 'b':
        return (caps & ASSAY_CAP_BROADCAST) != 0;
    case 'n':
        return (caps & ASSAY_CAP_NEGATIVE) != 0;
    }
    return false;
}

static bool refuse_layout(size_t operand, char letter, char *reason, size_t cap)
{
    (void)snprintf(reason, cap,
                   "operand %zu: layout '%c' is not in the kernel's caps; "
                   "make it contiguous",
                   operand, letter);
    return false;
}

static bool refuse_align(size_t operand, uint64_t has, unsigned needs, char *reason, size_t cap)
{
    (void)snprintf(reason, cap, "operand %zu: aligned to %llu bytes, the kernel needs %u", operand,
                   (unsigned long long)has, needs);
    return false;
}

static bool operand_fits(const assay_kernel_desc *desc, size_t i, char letter, unsigned align,
                         char *reason, size_t cap)
{
    unsigned needs = desc->caps[i].align_bytes;
    size_t element = assay_dtype_bytes((assay_dtype)desc->dtypes[i]);

    if (!takes_layout(desc->caps[i].layouts, letter))
        return refuse_layout(i, letter, reason, cap);
    /* An operand is aligned to its elements at least. */
    if (needs > 1 && (align == 0 || align % needs != 0) && element % needs != 0)
        return refuse_align(i, align > element ? align : element, needs, reason, cap);
    return true;
}

bool assay__caps_fit(const assay_kernel_desc *desc, const char *layout, unsigned align,
                     char *reason, size_t cap)
{
    for (size_t i = 0; i < desc->dtype_count; i++)
        if (!operand_fits(desc, i, layout[i], align, reason, cap))
            return false;
    return true;
}

bool assay__caps_copies(const assay_kernel_desc *desc, const char *layout, unsigned align,
                        unsigned *copies, char *reason, size_t cap)
{
    const assay_op_info *info = assay_op_get(desc->op);
    unsigned mask = 0;

    for (size_t i = 0; i < desc->dtype_count; i++) {
        if (operand_fits(desc, i, layout[i], align, reason, cap))
            continue;
        if (info == NULL || i >= info->inputs)
            return false;
        mask |= 1u << i;
    }
    *copies = mask;
    return true;
}

/* The letter of what is left when repeated dimensions are taken out and reversed ones turned. */
static char plain_layout(const assay_tensor *t)
{
    assay_tensor plain = *t;

    for (uint32_t d = 0; d < plain.rank; d++) {
        if (plain.strides[d] == 0)
            plain.dims[d] = 1;
        if (plain.strides[d] < 0)
            plain.strides[d] = -plain.strides[d];
    }
    return assay_tensor_layout(&plain);
}

static bool tensor_fits(const assay_operand_caps *caps, const assay_tensor *t, size_t operand,
                        char *reason, size_t cap)
{
    char letter = assay_tensor_layout(t), plain = plain_layout(t);
    bool repeats = false;
    uint64_t at;

    for (uint32_t d = 0; d < t->rank; d++)
        repeats = repeats || (t->strides[d] == 0 && t->dims[d] > 1);
    if (!takes_layout(caps->layouts, letter))
        return refuse_layout(operand, letter, reason, cap);
    if (repeats && !takes_layout(caps->layouts, 'b'))
        return refuse_layout(operand, 'b', reason, cap);
    if (!takes_layout(caps->layouts, plain))
        return refuse_layout(operand, plain, reason, cap);
    if (t->byte_offset != 0 && (caps->layouts & ASSAY_CAP_OFFSET) == 0) {
        (void)snprintf(reason, cap, "operand %zu: the kernel takes no byte offset; copy it",
                       operand);
        return false;
    }
    at = t->buffer.owner == 0 ? (uint64_t)(uintptr_t)t->buffer.at.host + t->byte_offset
                              : t->byte_offset;
    if (caps->align_bytes > 1 && at % caps->align_bytes != 0)
        return refuse_align(operand, at & (~at + 1), caps->align_bytes, reason, cap);
    return true;
}

bool assay__caps_fit_tensor(const assay_kernel_desc *desc, const assay_tensor *operand, size_t i,
                            char *reason, size_t cap)
{
    return tensor_fits(&desc->caps[i], operand, i, reason, cap);
}

bool assay__caps_fit_tensors(const assay_kernel_desc *desc, const assay_tensor *operands,
                             size_t count, char *reason, size_t cap)
{
    if (count != desc->dtype_count) {
        (void)snprintf(reason, cap, "%zu operands given, the kernel has %u", count,
                       desc->dtype_count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!tensor_fits(&desc->caps[i], &operands[i], i, reason, cap))
            return false;
    return true;
}

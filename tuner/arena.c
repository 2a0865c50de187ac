/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/arena.c -- operand placement; see arena.h. */
#include "tuner/arena.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/error.h"
#include "tuner/cold.h"

#define PAGE   4096u
#define VECTOR 64u /* bytes of the widest */

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Distance from a 64-byte boundary that makes an address fit its class and no better one. */
static uint64_t phase_of(unsigned align, assay_dtype dtype)
{
    if (align == 64)
        return 0;
    return align == 16 ? 16 : assay_dtype_bytes(dtype);
}

bool assay__reads_output(const assay_problem *p)
{
    int beta = assay_op_param_index((assay_op_id)p->op, "beta");

    /* A scatter leaves the rows that no index names. */
    return p->op == ASSAY_OP_scatter || (beta >= 0 && p->params[beta].r != 0.0);
}

assay_status assay__input_plan_make(const assay_problem *p, unsigned align, assay__input_plan *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    uint64_t at = 0;

    memset(out, 0, sizeof *out);
    out->count = info->inputs + (assay__reads_output(p) ? 1u : 0u);
    for (size_t i = 0; i < out->count; i++) {
        int64_t bytes = assay_problem_operand_bytes(p, i);
        if (bytes < 0 || (uint64_t)bytes > (uint64_t)INT64_MAX / 4)
            return assay__fail(ASSAY_OVERFLOW, "operand %zu is too large to place", i);
        out->bytes[i] = (uint64_t)bytes;
        out->offset[i] = at + phase_of(align, (assay_dtype)p->dtypes[i]);
        at = round_up(out->offset[i] + (uint64_t)bytes + 64, PAGE);
    }
    out->total = at > 0 ? at : PAGE;
    return ASSAY_OK;
}

assay_status assay__output_plan_make(const assay_problem *p, unsigned align,
                                     assay__output_plan *out)
{
    const assay_op_info *info = assay_op_get((assay_op_id)p->op);
    int64_t bytes = assay_problem_operand_bytes(p, info->inputs);
    uint64_t phase = phase_of(align, (assay_dtype)p->dtypes[info->inputs]);

    if (bytes < 0 || (uint64_t)bytes > (uint64_t)INT64_MAX / 4)
        return assay__fail(ASSAY_OVERFLOW, "the output is too large to place");
    out->bytes = (uint64_t)bytes;
    out->total = round_up((uint64_t)bytes + 2 * VECTOR, PAGE);
    /* As late as its alignment class allows: writes past the end soon meet the guard page.  But a
     * vector's width before it: a store of 64 bytes that reaches into a page without access is
     * helped out by microcode, even where a mask leaves nothing to be written there, 60 ns each. */
    out->offset = (out->total - out->bytes - VECTOR) / 64 * 64 + phase;
    if (out->offset + out->bytes > out->total - VECTOR)
        out->offset -= 64;
    return ASSAY_OK;
}

/* One element of what an output holds before it is written. */
static size_t poison_of(assay_dtype dtype, uint64_t *out)
{
    static const uint64_t nan64 = 0x7ff8a55aa55aa55aULL;
    static const uint32_t nan32 = 0x7fc5a55aU;
    static const uint16_t nan16 = 0x7e5aU, nan_bf = 0x7fdaU;
    static const uint8_t nan8 = 0x7f, canary = ASSAY__CANARY;
    const void *pattern = &canary;
    size_t size = sizeof canary;

    switch (dtype) {
    case ASSAY_F64:
        pattern = &nan64;
        size = sizeof nan64;
        break;
    case ASSAY_F32:
        pattern = &nan32;
        size = sizeof nan32;
        break;
    case ASSAY_F16:
        pattern = &nan16;
        size = sizeof nan16;
        break;
    case ASSAY_BF16:
        pattern = &nan_bf;
        size = sizeof nan_bf;
        break;
    case ASSAY_F8E4M3:
    case ASSAY_F8E5M2:
        pattern = &nan8;
        break;
    default:
        break;
    }
    memcpy(out, pattern, size);
    return size;
}

void assay__output_poison(void *base, const assay__output_plan *plan, assay_dtype dtype)
{
    const unsigned char canary = ASSAY__CANARY;
    unsigned char *at = base;
    uint64_t element = 0;
    size_t size = poison_of(dtype, &element), end = (size_t)(plan->offset + plan->bytes);

    assay__cold_fill(at, &canary, sizeof canary, (size_t)plan->offset);
    assay__cold_fill(at + plan->offset, &element, size, (size_t)plan->bytes);
    assay__cold_fill(at + end, &canary, sizeof canary, (size_t)plan->total - end);
    /* Lines that two of the three share were written in a cache. */
    (void)assay__cold_evict(at + plan->offset, plan->bytes > 0);
    (void)assay__cold_evict(at + end - 1, plan->bytes > 0);
}

size_t assay__output_overrun(const void *base, const assay__output_plan *plan, uint64_t *first)
{
    const unsigned char *at = base;
    size_t bad = 0;

    for (uint64_t i = 0; i < plan->total; i++) {
        if (i == plan->offset)
            i += plan->bytes;
        if (i >= plan->total || at[i] == ASSAY__CANARY)
            continue;
        if (bad++ == 0)
            *first = i;
    }
    return bad;
}

void assay__populate(void *at, size_t bytes, bool is_shared)
{
#if defined(MADV_POPULATE_READ) && defined(MADV_POPULATE_WRITE)
    const size_t lead = (uintptr_t)at % PAGE;

    (void)madvise((char *)at - lead, bytes + lead,
                  is_shared ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
#else
    (void)at;
    (void)bytes;
    (void)is_shared;
#endif
}

void *assay__map_guarded(int fd, uint64_t total, bool writable)
{
    size_t whole = (size_t)total + 2 * PAGE;
    char *base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;

    if (base == MAP_FAILED)
        return NULL;
    if (mmap(base + PAGE, (size_t)total, prot, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(base, whole);
        return NULL;
    }
    return base + PAGE;
}

void assay__unmap_guarded(void *base, uint64_t total)
{
    if (base != NULL)
        munmap((char *)base - PAGE, (size_t)total + 2 * PAGE);
}

assay_status assay__tensors_make(const assay_problem *p, void *const *addresses,
                                 assay_tensor out[ASSAY_MAX_OPERANDS])
{
    for (size_t i = 0; i < p->dtype_count; i++) {
        int64_t dims[ASSAY_MAX_RANK];
        uint32_t rank;

        ASSAY_TRY(assay_problem_operand(p, i, &rank, dims));
        ASSAY_TRY(
            assay_tensor_host(addresses[i], (assay_dtype)p->dtypes[i], rank, dims, NULL, &out[i]));
    }
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* conform/conform_case.h -- one problem with its operands, the oracle's result, and the verdict.
 *
 * Operands lie in images: memory of the host that a buffer of the device is filled from, with bytes
 * between and behind the elements that must stay as they are. */
#ifndef ASSAY_CONFORM_CONFORM_CASE_H
#define ASSAY_CONFORM_CONFORM_CASE_H

#include "assay/table.h"
#include "conform/conform.h"

/* How operands lie; what a kernel does not claim to take lies dense. */
typedef enum assay__case_layout {
    ASSAY__CASE_DENSE = 0,
    ASSAY__CASE_LEADING,   /* rows apart */
    ASSAY__CASE_STRIDED,   /* elements apart */
    ASSAY__CASE_NEGATIVE,  /* the last dimension backwards */
    ASSAY__CASE_BROADCAST, /* stride 0 in the first dimension; inputs alone */
    ASSAY__CASE_OFFSET,    /* not at the begin of the buffer */
    ASSAY__CASE_LAYOUTS
} assay__case_layout;
const char *assay__case_layout_name(assay__case_layout layout);

typedef struct assay__case {
    assay_problem problem;
    uint32_t count; /* operands; the last is the output */
    assay_tensor
        operands[ASSAY_MAX_OPERANDS]; /* over the images; a buffer's too, but for `buffer` */
    char *images[ASSAY_MAX_OPERANDS]; /* owned; the output's holds what it begins with */
    size_t bytes[ASSAY_MAX_OPERANDS]; /* of the images, never 0 */
    int64_t elements;                 /* of the output */
    bool is_dense;                    /* no operand was laid out otherwise */
    int same;                         /* the input in whose place the output lies; -1: none */
    assay_wide wide;                  /* owned */
    double *depth;                    /* owned; NULL unless the rule needs it */
} assay__case;

/* Problem `index` of an op and dtypes: empty, single, odd and longer extents, every value of an
 * enumeration, alpha and beta; false past the last. */
bool assay__case_problem(assay_op_id op, const uint8_t *dtypes, size_t dtype_count, size_t index,
                         assay_problem *out);

/* Fills inputs by set `seed` of those that the op is checked on first, and asks the oracle.
 * kernel: by whose claims operands are laid out; NULL: dense.  ASSAY_UNAVAILABLE: no oracle. */
assay_status assay__case_init(const assay_manifest *ref, const assay_problem *problem,
                              const assay_kernel_desc *kernel, assay__case_layout layout,
                              unsigned seed, assay__case *out);

/* What the operands of a case hold, and how they lie. */
typedef struct assay__case_data {
    assay__case_layout layout;
    unsigned seed;
    int stratum; /* of calibrate/inputs.h; ASSAY__CASE_USUAL: as above */
    /* NULL, or what is laid over it: dense, before the oracle is asked. */
    void (*change)(const assay_problem *problem, uint32_t operand, void *dense, size_t elements);
} assay__case_data;
enum { ASSAY__CASE_USUAL = -1 };
assay_status assay__case_make(const assay_manifest *ref, const assay_problem *problem,
                              const assay_kernel_desc *kernel, const assay__case_data *data,
                              assay__case *out);
/* A problem with room for every special value on a line of its own; false: none of this op. */
bool assay__case_wide_problem(assay_op_id op, const uint8_t *dtypes, size_t dtype_count,
                              assay_problem *out);
void assay__case_clear(assay__case *k);

/* Buffers of the engine with the images in them. */
assay_status assay__case_upload(const assay__case *k, assay_engine *engine,
                                assay_buffer out[ASSAY_MAX_OPERANDS]);
assay_status assay__case_free(const assay__case *k, assay_engine *engine,
                              const assay_buffer buffers[ASSAY_MAX_OPERANDS]);

/* The images as they are after a run, the caller's; those of inputs must be as they were, that of
 * the output within the bound of the op, or of the kernel that did it (NULL: not known), and as it
 * was beside its elements.  false: `why` says what is wrong. */
bool assay__case_judge(const assay__case *k, const assay_kernel_desc *kernel,
                       char *const after[ASSAY_MAX_OPERANDS], char *why, size_t cap);
/* Of buffers. */
assay__conform_verdict assay__case_judge_buffers(assay__conform *c, const assay__case *k,
                                                 const assay_kernel_desc *kernel,
                                                 const assay_buffer *buffers, const char *who);
/* Every image, the output's too, is in its buffer as it was: nothing was written. */
assay__conform_verdict assay__case_untouched(assay__conform *c, const assay__case *k,
                                             const assay_buffer *buffers, const char *who);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_key.h -- the binary key of a question, and of the routes that may answer it. */
#ifndef ASSAY_RUNTIME_PICK_KEY_H
#define ASSAY_RUNTIME_PICK_KEY_H

#include "assay/pick.h"
#include "runtime/keyhash.h"

/* Everything of a question that an answer depends on, without padding.  Class parameters hold
 * their class (a value other than 0 and 1 becomes ASSAY__CLASS_OTHER), inert ones their value. */
typedef struct assay__question_key {
    uint16_t op;
    uint8_t dtype_count, param_count;
    uint32_t max_threads;
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    char layout[ASSAY_MAX_OPERANDS];
    uint8_t align, cache, load, span;
    uint8_t stability, proof, allow_claims, reserved;
    uint32_t given; /* required parameters only */
    uint32_t reserved_too;
    uint64_t workspace_bytes;
    uint64_t backends;                    /* hash of the list; 0: none */
    double limits[4];                     /* max_ulp, max_rho, max_rel, max_abs; -1: none */
    assay_value params[ASSAY_MAX_PARAMS]; /* the first param_count count */
} assay__question_key;

#define ASSAY__CLASS_OTHER 2.0

/* What a key needs of the catalogue, a bit a parameter. */
typedef struct assay__key_masks {
    uint32_t class_params[ASSAY_OP_COUNT];
    uint32_t required[ASSAY_OP_COUNT];
} assay__key_masks;
void assay__key_masks_init(assay__key_masks *out);

/* false for a question that no key stands for: unknown op, counts or limits out of range.  `out` is
 * filled up to params[param_count]; the returned hash covers just that. */
bool assay__question_key_make(const assay__key_masks *masks, const assay_question *q,
                              assay__question_key *out, assay__key128 *hash);

/* ASSAY_INVALID with the field at fault; ASSAY_OK for a question that may be asked. */
assay_status assay__question_check(const assay_question *q);

/* Canonical text under which routes are found: ACCURACY form with classes in place of class
 * parameters.  0: does not fit. */
size_t assay__route_text(const assay_problem *p, char *buf, size_t cap);

/* Two questions are the same to the last bit that counts; both without a list of backends. */
bool assay__question_same(const assay_question *a, const assay_question *b);

#endif

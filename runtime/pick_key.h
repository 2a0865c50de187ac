/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_key.h -- the binary key of a question, and of the routes that may answer it. */
#ifndef ASSAY_RUNTIME_PICK_KEY_H
#define ASSAY_RUNTIME_PICK_KEY_H

#include <stddef.h>
#include <string.h>

#include "assay/pick.h"
#include "runtime/keyhash.h"

/* Everything of a question that an answer depends on, without padding: a head, the parameters that
 * the op has, and, where one of them is not at its default, the rarer limits.  Class parameters
 * hold their class (a value other than 0 and 1 becomes ASSAY__CLASS_OTHER), inert ones their
 * value. */
typedef struct assay__question_key {
    uint16_t op;
    uint8_t dtype_count, param_count;
    uint8_t align, cache, load, span;
    uint8_t dtypes[ASSAY_MAX_OPERANDS];
    char layout[ASSAY_MAX_OPERANDS];
    uint32_t given; /* required parameters only */
    uint32_t max_threads;
    uint8_t stability, proof, allow_claims, has_limits;
    uint32_t reserved;
    /* param_count parameters, then with has_limits: workspace_bytes, hash of the backends,
     * max_ulp, max_rho, max_rel, max_abs. */
    uint64_t words[ASSAY_MAX_PARAMS + 6];
} assay__question_key;

#define ASSAY__CLASS_OTHER 2.0

_Static_assert(offsetof(assay__question_key, words) == 40, "padding in assay__question_key");
_Static_assert(offsetof(assay_problem, params) == 16, "the head of a problem is 16 bytes");
_Static_assert(offsetof(assay_question, align) == offsetof(assay_question, layout) + 8 &&
                   offsetof(assay_question, policy) == offsetof(assay_question, layout) + 9 &&
                   sizeof(assay_policy) == 3,
               "layout, align and policy lie together");
_Static_assert(ASSAY_MAX_PARAMS % 2 == 0, "parameters are compared by twos");

/* What a key needs of the catalogue, a bit a parameter. */
typedef struct assay__key_masks {
    uint32_t class_params[ASSAY_OP_COUNT];
    uint32_t required[ASSAY_OP_COUNT];
} assay__key_masks;
void assay__key_masks_init(assay__key_masks *out);

/* ASSAY_INVALID with the field at fault; ASSAY_OK for a question that may be asked. */
assay_status assay__question_check(const assay_question *q);

/* Canonical text under which routes are found: ACCURACY form with classes in place of class
 * parameters.  0: does not fit. */
size_t assay__route_text(const assay_problem *p, char *buf, size_t cap);

static inline double assay__class_of(double value)
{
    return value == 0.0 || value == 1.0 ? value : ASSAY__CLASS_OTHER;
}

/* The eight letters as one word: absent ones become 'c', those past the operands 0. */
static inline void assay__key_layout(const char *layout, unsigned operands, char *out)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word, absent;

    memcpy(&word, layout, sizeof word);
    /* Letters are ASCII, so adding 0x7f to a byte carries into its top bit unless it is 0. */
    absent = ~(word + 0x7f * ones) & 0x80 * ones;
    word |= (absent >> 7) * 'c';
    if (operands < ASSAY_MAX_OPERANDS)
        word &= ((uint64_t)1 << (8 * operands)) - 1;
    memcpy(out, &word, sizeof word);
}

/* Appends what most questions leave at its default; the number of words, or 0 for a limit that is
 * NaN. */
size_t assay__key_limits(const assay_question *q, uint64_t *words);

static inline bool assay__has_limits(const assay_question *q)
{
    const assay_tolerance *t = &q->tolerance;

    return !(t->max_ulp < 0.0 && t->max_rho < 0.0 && t->max_rel < 0.0 && t->max_abs < 0.0) ||
           q->workspace_bytes != UINT64_MAX || q->backends != NULL;
}

/* false for a question that no key stands for: unknown op, counts or limits out of range.  The hash
 * covers just the bytes in use; *size tells how many. */
static inline bool assay__question_key_make(const assay__key_masks *masks, const assay_question *q,
                                            assay__question_key *out, size_t *size,
                                            assay__key128 *hash)
{
    const assay_problem *p = &q->problem;
    size_t count = p->param_count;
    uint32_t given;

    if (p->op >= ASSAY_OP_COUNT || count > ASSAY_MAX_PARAMS || p->dtype_count > ASSAY_MAX_OPERANDS)
        return false;
    out->op = p->op;
    out->dtype_count = p->dtype_count;
    out->param_count = p->param_count;
    memcpy(&out->align, &q->align, 4); /* and the three parts of the policy */
    memcpy(out->dtypes, p->dtypes, sizeof out->dtypes);
    assay__key_layout(q->layout, p->dtype_count, out->layout);
    memcpy(&given, p->given, sizeof given);
    out->given = given & masks->required[p->op];
    out->max_threads = q->max_threads;
    out->stability = q->tolerance.stability;
    out->proof = q->tolerance.proof;
    out->allow_claims = q->tolerance.allow_claims != 0;
    out->has_limits = assay__has_limits(q);
    out->reserved = 0;
    /* Eight at once; a fixed size is copied in registers. */
    memcpy(out->words, p->params, 8 * sizeof *out->words);
    if (count > 8)
        memcpy(out->words + 8, p->params + 8, (ASSAY_MAX_PARAMS - 8) * sizeof *out->words);
    for (uint32_t rest = masks->class_params[p->op]; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        double class = assay__class_of(p->params[i].r);
        memcpy(&out->words[i], &class, sizeof class);
    }
    if (out->has_limits) {
        size_t more = assay__key_limits(q, out->words + count);
        if (more == 0)
            return false;
        count += more;
    }
    *size = offsetof(assay__question_key, words) + count * sizeof *out->words;
    *hash = assay__xxh(out, *size);
    return true;
}

/* ---- equality at a call site ---- */

typedef uint64_t assay__wide __attribute__((vector_size(16)));

static inline assay__wide assay__differ(const void *a, const void *b)
{
    assay__wide x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

static inline uint64_t assay__differ_u64(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

static inline uint32_t assay__differ_u32(const void *a, const void *b)
{
    uint32_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

/* Two questions are the same to the last bit that counts; both without a list of backends, which
 * may change behind its pointer. */
static inline bool assay__question_same(const assay_question *a, const assay_question *b)
{
    const assay_tolerance *s = &a->tolerance, *t = &b->tolerance;
    assay__wide sum = assay__differ(a, b) | assay__differ(&s->max_ulp, &t->max_ulp) |
                      assay__differ(&s->max_rel, &t->max_rel);
    uint64_t rest = assay__differ_u64(a->layout, b->layout) |
                    assay__differ_u32(&a->align, &b->align) | (a->max_threads ^ b->max_threads) |
                    (a->workspace_bytes ^ b->workspace_bytes) |
                    (uint64_t)((s->stability ^ t->stability) | (s->proof ^ t->proof) |
                               (s->allow_claims ^ t->allow_claims));

    /* Two parameters a step; one past an odd count is zero in both. */
    for (size_t i = 0; i < a->problem.param_count; i += 2)
        sum |= assay__differ(&a->problem.params[i], &b->problem.params[i]);
    return (sum[0] | sum[1] | rest) == 0 && a->backends == NULL && b->backends == NULL;
}

#endif

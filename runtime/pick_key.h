/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_key.h -- the binary key of a question, and of the routes that may answer it. */
#ifndef ASSAY_RUNTIME_PICK_KEY_H
#define ASSAY_RUNTIME_PICK_KEY_H

#include <stddef.h>
#include <string.h>

#include "assay/pick.h"
#include "runtime/keyhash.h"

/* Everything of a question that an answer depends on, without padding, as whole words: a word that
 * is written in parts and read in one makes the processor wait for memory.
 *
 *   0  op, counts, first four dtypes
 *   1  the other dtypes, max_threads
 *   2  layout: a letter an operand, 0 for contiguous
 *   3  align, policy, ASSAY__KEY_WIDE or not
 *   4  parameters
 *
 * In the narrow form, which most questions have, parameters are 32 bits each and eight in number;
 * that needs integers below 2^32, classes 0 or 1, no inert value and no limit beyond max_threads.
 * The wide form has a word a parameter of the op, then stability, proof, allow_claims,
 * workspace_bytes, a hash of the backends, max_ulp, max_rho, max_rel, max_abs.  Class parameters
 * hold their class (a value other than 0 and 1 becomes ASSAY__CLASS_OTHER), inert ones their
 * value.
 *
 * The hash stands for the key, 127 bits of it: keys are not kept, so that an answer is one line.
 * Of 10^9 questions some two agree in it with a chance below 10^-20; they come from the program
 * itself, so that nobody chooses them to collide. */
#define ASSAY__KEY_HEAD   4
#define ASSAY__KEY_NARROW 8
#define ASSAY__KEY_LIMITS 7
#define ASSAY__KEY_WIDE   ((uint64_t)1 << 32) /* in word 3 */
typedef struct assay__question_key {
    uint64_t words[ASSAY__KEY_NARROW];
} assay__question_key;

#define ASSAY__CLASS_OTHER 2.0

_Static_assert(offsetof(assay_problem, params) == 16 && offsetof(assay_problem, given) == 12,
               "the head of a problem is 16 bytes");
_Static_assert(offsetof(assay_question, align) == offsetof(assay_question, layout) + 8 &&
                   offsetof(assay_question, policy) == offsetof(assay_question, layout) + 9 &&
                   sizeof(assay_policy) == 3,
               "layout, align and policy lie together");
_Static_assert(offsetof(assay_question, backends) ==
                       offsetof(assay_question, workspace_bytes) + 8 &&
                   offsetof(assay_tolerance, max_rho) == 8 &&
                   offsetof(assay_tolerance, max_abs) == offsetof(assay_tolerance, max_rel) + 8,
               "limits lie together by twos");
_Static_assert(offsetof(assay_tolerance, proof) == offsetof(assay_tolerance, stability) + 1 &&
                   offsetof(assay_tolerance, allow_claims) ==
                       offsetof(assay_tolerance, stability) + 2,
               "the small parts of a tolerance lie together");
_Static_assert(ASSAY_MAX_PARAMS % 2 == 0, "parameters are compared by twos");

typedef uint32_t assay__quad __attribute__((vector_size(16)));

/* What a key needs of an op in the catalogue. */
typedef struct assay__key_rule {
    assay__quad one[2];   /* upper half of 1.0 where a parameter is a class; else 0 */
    assay__quad class[2]; /* all bits where it is; else 0 */
    uint64_t contiguous;  /* a 'c' an operand */
    uint32_t required;    /* a bit a parameter */
    uint32_t head;        /* op and counts as they lie in a problem; no op's: no narrow form */
    uint8_t pad[48];
} assay__key_rule;
#define ASSAY__KEY_RULES 128 /* a power of two */
_Static_assert((int)ASSAY_OP_COUNT <= ASSAY__KEY_RULES, "a rule an op");
typedef struct assay__key_rules {
    _Alignas(64) assay__key_rule ops[ASSAY__KEY_RULES];
} assay__key_rules;
void assay__key_rules_init(assay__key_rules *out);

/* ASSAY_INVALID with the field at fault; ASSAY_OK for a question that may be asked. */
assay_status assay__question_check(const assay_question *q);

/* Canonical text under which routes are found: ACCURACY form with classes in place of class
 * parameters.  0: does not fit. */
size_t assay__route_text(const assay_problem *p, char *buf, size_t cap);

/* The dtypes as flags and shape sets want them: T where the op's rule makes the tuple of it, else
 * "u8,f32,f32". */
void assay__dtypes_text(const assay_problem *p, char *buf, size_t cap);

static inline uint64_t assay__load_u64(const void *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint32_t assay__load_u32(const void *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static inline assay__quad assay__load_quad(const void *at)
{
    assay__quad quad;

    memcpy(&quad, at, sizeof quad);
    return quad;
}

static inline bool assay__any_bit(assay__quad quad)
{
#ifdef __SSE2__
    typedef char bytes __attribute__((vector_size(16)));
    return __builtin_ia32_pmovmskb128((bytes)(quad == 0)) != 0xffff;
#else
    return (quad[0] | quad[1] | quad[2] | quad[3]) != 0;
#endif
}

/* Four parameters in 32 bits each; sets bits in `bad` for any that does not fit. */
static inline assay__quad assay__narrow(const assay_value *params, assay__quad one,
                                        assay__quad class, assay__quad *bad)
{
    const assay__quad a = assay__load_quad(params), b = assay__load_quad(params + 2);
    const assay__quad low = __builtin_shufflevector(a, b, 0, 2, 4, 6);
    const assay__quad high = __builtin_shufflevector(a, b, 1, 3, 5, 7);

    *bad |= (high & ~one) | (low & class);
    return low | high;
}

/* Bits that are 0 for a question without any of the rarer limits. */
static inline assay__quad assay__limit_bits(const assay_question *q)
{
    const assay__quad none = {0, 0xbff00000u, 0, 0xbff00000u}; /* -1.0, -1.0 */
    const assay__quad rest = {UINT32_MAX, UINT32_MAX, 0, 0};   /* any workspace, no backends */

    return (assay__load_quad(&q->tolerance.max_ulp) ^ none) |
           (assay__load_quad(&q->tolerance.max_rel) ^ none) |
           (assay__load_quad(&q->workspace_bytes) ^ rest);
}

/* Hash of the wide form; false for a question that no key stands for: unknown op, wrong counts,
 * a required parameter that is not given, a limit that is NaN. */
bool assay__question_hash_wide(const assay__key_rules *rules, const assay_question *q,
                               assay__key128 *hash);

/* false: the question has no narrow form. */
__attribute__((always_inline)) static inline bool
assay__question_key_narrow(const assay__key_rules *rules, const assay_question *q,
                           assay__question_key *out)
{
    const assay_problem *p = &q->problem;
    const assay__key_rule *rule = &rules->ops[p->op % ASSAY__KEY_RULES];
    const uint64_t layout = assay__load_u64(q->layout);
    assay__quad bad = assay__limit_bits(q), first, second;

    first = assay__narrow(p->params, rule->one[0], rule->class[0], &bad);
    second = assay__narrow(p->params + 4, rule->one[1], rule->class[1], &bad);
    if (__builtin_expect(assay__load_u32(p) != rule->head, 0) ||
        __builtin_expect((assay__load_u32(&q->tolerance.stability) << 8 |
                          (rule->required & ~assay__load_u32(p->given))) != 0,
                         0) ||
        __builtin_expect(layout != 0 && layout != rule->contiguous, 0) ||
        __builtin_expect(assay__any_bit(bad), 0))
        return false;
    out->words[0] = assay__load_u64(p);
    out->words[1] = assay__load_u32(p->dtypes + 4) | (uint64_t)q->max_threads << 32;
    out->words[2] = 0;
    out->words[3] = assay__load_u32(&q->align);
    memcpy(out->words + 4, &first, sizeof first);
    memcpy(out->words + 6, &second, sizeof second);
    return true;
}

/* false for a question that no key stands for. */
__attribute__((always_inline)) static inline bool
assay__question_hash(const assay__key_rules *rules, const assay_question *q, assay__key128 *hash)
{
    assay__question_key key;

    if (__builtin_expect(!assay__question_key_narrow(rules, q, &key), 0))
        return assay__question_hash_wide(rules, q, hash);
    *hash = assay__xxh(key.words, ASSAY__KEY_NARROW * sizeof *key.words);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/inputs.h -- named, seeded input sets.
 *
 * An element depends on (stratum, seed, problem, operand, index) alone: each chunk of 64 elements
 * has a generator of its own, so data do not change with the number of threads or the order of
 * filling. Values are rounded once to the operand's type. Operands of indices name rows that are
 * there, in every set. */
#ifndef ASSAY_CALIBRATE_INPUTS_H
#define ASSAY_CALIBRATE_INPUTS_H

#include "assay/op.h"

#define ASSAY_STRATUM_EXACT   1u /* every sound kernel is exact: tests indexing, not precision */
#define ASSAY_STRATUM_SPECIAL 2u /* holds NaN, infinities or values that overflow */
#define ASSAY_STRATUM_TIMED   4u /* fit to be timed on: nothing that changes speed or power */

/* X(NAME, text, flags, contraction, binary, unary, row, norm, reduction, index, attention, what it
 * is for): 1 where the ops of a family have it. Texts are stored: append, never rename. The order
 * is that in which a family's sets are preferred. */
#define ASSAY_STRATUM_MAP(X)                                                                   \
    X(NORMAL, "normal", ASSAY_STRATUM_TIMED, 1, 1, 1, 1, 1, 1, 1, 1,                           \
      "N(0,1): mixed signs, as in use; integers over their range")                             \
    X(UNIFORM, "uniform", ASSAY_STRATUM_TIMED, 1, 0, 0, 0, 0, 1, 0, 1,                         \
      "U(0,1): no cancellation, shows the accumulator")                                        \
    X(ORDINALS, "ordinals", ASSAY_STRATUM_SPECIAL, 0, 1, 1, 0, 0, 0, 1, 0,                     \
      "all bit patterns but NaN")                                                              \
    X(EDGES, "edges", ASSAY_STRATUM_SPECIAL, 0, 1, 1, 0, 0, 0, 0, 0,                           \
      "within 64 steps of powers of two, zero and the thresholds of exponentials")             \
    X(CANCEL, "cancel", 0, 1, 1, 0, 0, 0, 1, 0, 0, "pairs that cancel to 1e-3 of their size")  \
    X(OFFSET, "offset", 0, 0, 0, 0, 0, 1, 0, 0, 0, "a mean far above the deviation")           \
    X(SPREAD, "spread", 0, 1, 0, 0, 1, 1, 1, 0, 1,                                             \
      "magnitudes over 2^+-10 (f16: 2^+-4); softmax: scores over +-128 and more; attention: "  \
      "over +-50")                                                                             \
    X(MASKED, "masked", ASSAY_STRATUM_SPECIAL, 0, 0, 0, 1, 0, 0, 0, 0,                         \
      "half of a row -inf; every eighth row all of it")                                        \
    X(WORKLOAD, "workload", ASSAY_STRATUM_TIMED, 0, 1, 1, 0, 0, 0, 0, 0, "U(-10,10)")          \
    X(INTEGERS, "integers", ASSAY_STRATUM_EXACT, 1, 0, 0, 0, 0, 0, 0, 0,                       \
      "small integers, sparse enough for every partial sum to be exact")                       \
    X(HUGE_TINY, "huge_tiny", 0, 1, 0, 0, 0, 1, 1, 0, 0,                                       \
      "one large element a row among small ones")                                              \
    X(POWERS, "powers", 0, 1, 0, 0, 0, 0, 0, 0, 0, "powers of two: products without rounding") \
    X(SPECIALS, "specials", ASSAY_STRATUM_SPECIAL, 1, 1, 1, 0, 0, 1, 1, 1,                     \
      "zeros, subnormals, largest values, infinities, NaN; two operands: every pair")          \
    X(PEAKED, "peaked", 0, 0, 0, 0, 1, 0, 0, 0, 1,                                             \
      "a top near 88 with signs, the rest far below; attention: one long key")                 \
    X(EQUAL, "equal", 0, 0, 0, 0, 1, 1, 0, 0, 1, "all elements of a row alike")                \
    X(INFINITE, "infinite", ASSAY_STRATUM_SPECIAL, 0, 0, 0, 1, 1, 0, 0, 0, "one +inf a row")

typedef enum assay_stratum {
#define X(name, ...) ASSAY_STRATUM_##name,
    ASSAY_STRATUM_MAP(X)
#undef X
        ASSAY_STRATUM_COUNT
} assay_stratum;

const char *assay__stratum_name(assay_stratum stratum); /* NULL outside the enum */
const char *assay__stratum_doc(assay_stratum stratum);
unsigned assay__stratum_flags(assay_stratum stratum);
bool assay__stratum_fits(assay_stratum stratum, assay_op_id op);

/* The first `count` sets an op is checked on, the one it is timed on first; how many there are. */
size_t assay__strata_preferred(assay_op_id op, size_t count, assay_stratum *out);

/* ASSAY_NOTFOUND lists the strata of the op. */
assay_status assay__stratum_find(assay_op_id op, const char *name, assay_stratum *out);

/* Writes elements first .. first + count - 1 of a contiguous operand (inputs then outputs; an
 * output's elements are its old contents, N(0,1) in every stratum) to dst[0 .. count).
 * ASSAY_INVALID: no such operand, a stratum that the op lacks, elements outside the operand. */
assay_status assay__inputs_fill(const assay_problem *problem, assay_stratum stratum, uint64_t seed,
                                unsigned operand, uint64_t first, uint64_t count, void *dst);
/* All elements of an operand, by up to `threads` threads: the same for every number of them. */
assay_status assay__inputs_fill_all(const assay_problem *problem, assay_stratum stratum,
                                    uint64_t seed, unsigned operand, unsigned threads, void *dst);

#endif

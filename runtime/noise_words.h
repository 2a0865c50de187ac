/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/noise_words.h -- words for what disturbed a measurement.
 *
 * None of them says that a result is wrong or a time false; each is a reason to look twice before
 * one trusts the time alone.  Two bytes of the route's record and words in the store. */
#ifndef ASSAY_RUNTIME_NOISE_WORDS_H
#define ASSAY_RUNTIME_NOISE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* Bits are stored: append, never renumber.  X(NAME, bit, word, what it says) */
#define ASSAY__NOISE_MAP(X)                                                                       \
    X(BIMODAL, 0, "bimodal", "times lie in two groups")                                           \
    X(DRIFT, 1, "drift", "times went up or down all along")                                       \
    X(WIDE, 2, "wide", "the interval of the time is wider than asked for")                        \
    X(UNSTEADY, 3, "unsteady", "the warm-up ended before calls took the same time")               \
    X(CLOCK, 4, "clock", "samples taken while the core's or device's clock was low are left out") \
    X(HEAT, 5, "heat", "the processor or device slowed down because of heat")                     \
    X(QUOTA, 6, "quota", "the container had used up its processor time")                          \
    X(STEAL, 7, "steal", "the hypervisor gave the processor to others")                           \
    X(POWER, 8, "power", "the device slowed down because of its power limit or supply")

typedef enum assay__noise {
#define X(name, bit, word, text) ASSAY__NOISE_##name = 1 << (bit),
    ASSAY__NOISE_MAP(X)
#undef X
} assay__noise;

#define ASSAY__NOISE_ONE(name, bit, word, text) +1
enum { ASSAY__NOISE_COUNT = 0 ASSAY__NOISE_MAP(ASSAY__NOISE_ONE) };

/* "bimodal drift"; "" none.  Length without the NUL, as snprintf. */
size_t assay__noise_words(unsigned flags, char *buf, size_t cap);
/* Words it does not know count for nothing. */
unsigned assay__noise_parse(const char *words);
/* What a single bit says; NULL: no such bit. */
const char *assay__noise_text(unsigned bit);

#endif

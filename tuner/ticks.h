/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/ticks.h -- time between two readings of a counter of ticks, which may go round between
 * them.
 *
 * Devices count in 36 to 64 bits (VkQueueFamilyProperties::timestampValidBits; the bits above may
 * hold anything) and in ticks of a length of their own (timestampPeriod). */
#ifndef ASSAY_TUNER_TICKS_H
#define ASSAY_TUNER_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks from `begin` to `end`, less than 2^valid_bits of them having passed; false: valid_bits is
 * not 1 to 64, there is no such counter. */
bool assay__ticks_between(uint64_t begin, uint64_t end, unsigned valid_bits, uint64_t *ticks);

/* The same in ns; false also for a period that is no length of time. */
bool assay__ticks_ns(uint64_t begin, uint64_t end, unsigned valid_bits, double period_ns,
                     double *ns);

#endif

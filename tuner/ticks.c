/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/ticks.c -- see ticks.h. */
#include "tuner/ticks.h"

/* Masked after subtracting: what the bits that are not valid held, and what was borrowed from them
 * where the counter went round, falls away together. */
bool assay__ticks_between(uint64_t begin, uint64_t end, unsigned valid_bits, uint64_t *ticks)
{
    if (valid_bits == 0 || valid_bits > 64)
        return false;
    *ticks = (end - begin) & UINT64_MAX >> (64 - valid_bits);
    return true;
}

bool assay__ticks_ns(uint64_t begin, uint64_t end, unsigned valid_bits, double period_ns,
                     double *ns)
{
    uint64_t ticks;

    if (!(period_ns > 0 && period_ns < 1e12) ||
        !assay__ticks_between(begin, end, valid_bits, &ticks))
        return false;
    *ns = (double)ticks * period_ns;
    return true;
}

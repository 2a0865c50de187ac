/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/caches.h -- how much the caches of this host can hold between two uses of a byte. */
#ifndef ASSAY_TUNER_CACHES_H
#define ASSAY_TUNER_CACHES_H

#include <stddef.h>

#include "runtime/machine.h"

/* Bytes of all last-level caches (each is counted once, however many CPUs share it) and of all
 * caches of the level below, which may hold other lines.  NaN: not known. */
double assay__cache_bytes(const assay__machine *machine);

/* own[i]: bytes of the data cache of level i + 1 that are `cpu`'s, an even share of one that others
 * have, too; 0: there is none, or nobody says.  At most `levels`. */
void assay__cache_levels(const assay__machine *machine, int cpu, double *own, size_t levels);

#endif

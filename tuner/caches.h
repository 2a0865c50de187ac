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

/* whole[i]: bytes of the data cache of level i + 1 that `cpu` uses, which are its own while nobody
 * else is at work; own[i]: an even share where others have it, too.  0: there is none, or nobody
 * says.  At most `levels`. */
void assay__cache_levels(const assay__machine *machine, int cpu, double *own, double *whole,
                         size_t levels);

/* bytes[i]: so many that a thread may use over and over on any of these CPUs, alone or beside the
 * others, for most of them to come from the cache of level i + 1: four times the whole cache below,
 * at most half of its share.  0: there is no such number, as for the first level. */
void assay__cache_operands(const assay__machine *machine, const int *cpus, size_t count,
                           double *bytes, size_t levels);

#endif

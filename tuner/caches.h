/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/caches.h -- how much the caches of this host can hold between two uses of a byte. */
#ifndef ASSAY_TUNER_CACHES_H
#define ASSAY_TUNER_CACHES_H

#include "runtime/machine.h"

/* Bytes of all last-level caches (each is counted once, however many CPUs share it) and of all
 * caches of the level below, which may hold other lines.  NaN: not known. */
double assay__cache_bytes(const assay__machine *machine);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/transfer_price.h -- what it costs to move bytes between two memories, from measured
 * sizes. */
#ifndef ASSAY_RUNTIME_TRANSFER_PRICE_H
#define ASSAY_RUNTIME_TRANSFER_PRICE_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/plugin.h"

/* Memories are named "host:pageable", "host:pinned" and "<backend>:<place>", "cpu:0": the place of
 * the device among those of its backend that share the deployment under which the row is stored, so
 * that a row follows the device, whatever its number.  One of another deployment has the begin of
 * that one's digest behind it, "cuda:0@0123456789abcdef".  Pinned is what the slot host_alloc of
 * the device's backend gave. */
#define ASSAY__HOST_PAGEABLE "host:pageable"
#define ASSAY__HOST_PINNED   "host:pinned"
#define ASSAY__MEMORY_MAX    64

/* `memory`, of deployment `own`, as rows of deployment `of` (digests in hex) name it. */
void assay__memory_seen_from(const char *memory, const char *own, const char *of,
                             char out[ASSAY__MEMORY_MAX]);

typedef struct assay__transfer_point {
    double bytes;                   /* above 0 */
    double median_ns, lo_ns, hi_ns; /* 0 <= lo <= median <= hi, 95 % interval */
} assay__transfer_point;

/* As at the end of a target, "cpu:0/copy"; static text. */
const char *assay__transfer_path_name(assay_path path);
/* false: it ends in no path that there is. */
bool assay__transfer_path(const char *target, assay_path *out);

/* Can this have been measured? */
bool assay__transfer_is_sound(const assay__transfer_point *p);

/* out: median, lower and upper bound in ns of moving `bytes`; points: sound, by rising bytes.
 * Below the first point it takes as long as there, which is latency; between two it lies on the
 * line through them, as latency and a rate do; beyond the last it goes on as from the one before,
 * or by the last one's rate where there is only one or no more bytes took longer.  More bytes never
 * cost less: where a larger size seemed faster, the slower of the smaller ones counts.  Nothing to
 * move costs 0.  false: nothing is known, out stays. */
bool assay__transfer_price(const assay__transfer_point *points, size_t count, double bytes,
                           double out[3]);

#endif

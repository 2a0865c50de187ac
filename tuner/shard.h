/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shard.h -- a part of a shape set: "2/4", or what a batch system says of this job.
 *
 * Shards of a set are disjoint and together are the set; which problems one has follows from the
 * set alone.  They are dealt out in turn, as sets go from small problems to large ones. */
#ifndef ASSAY_TUNER_SHARD_H
#define ASSAY_TUNER_SHARD_H

#include "tuner/shape_set.h"

typedef struct assay__shard {
    size_t index, count; /* 1 <= index <= count */
} assay__shard;

/* "i/n", or "auto": the variables of a Slurm job array (SLURM_ARRAY_TASK_ID with _MIN, _MAX, _STEP
 * and _COUNT) or of Open MPI (OMPI_COMM_WORLD_RANK and _SIZE).  get: getenv, or a test's.
 * ASSAY_INVALID: neither; the text names the variable. */
assay_status assay__shard_parse(const char *text, const char *(*get)(const char *name),
                                assay__shard *out);
/* Leaves this shard's problems and their uses in the set; rows that were skipped stay told. */
void assay__shard_take(assay__shape_set *set, const assay__shard *shard);

#endif

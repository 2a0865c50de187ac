/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_activity.h -- when work on a stream began and ended, by CUPTI's records.
 *
 * The device itself notes both times, so that no launch and no wait is in them.  Recording is on
 * between begin and end alone, and for one measurement of the process at a time: others wait. */
#ifndef BACKENDS_CUDA_CUDA_ACTIVITY_H
#define BACKENDS_CUDA_CUDA_ACTIVITY_H

#include "backends/cuda/cuda.h"

/* What ended on the stream since the last look. */
typedef struct cuda_activity {
    size_t records;
    size_t dropped;             /* that CUPTI had no room for */
    uint64_t first_ns, last_ns; /* earliest start, latest end */
} cuda_activity;

/* Begins to record what runs on a stream; graphs: whole graphs, else each kernel, copy and fill.
 * false: it cannot be had here, with the reason in `why`. */
bool cuda_activity_begin(CUcontext context, CUstream stream, bool graphs, char *why, size_t cap);

/* To be called when the stream has been waited for.  Fewer than `least` are asked for by force. */
bool cuda_activity_look(size_t least, cuda_activity *out);

/* Passes over what ended so far and was not told, so that no later look takes it for its own. */
void cuda_activity_forget(void);

void cuda_activity_end(void);

#endif

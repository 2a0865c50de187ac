/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/host_team.h -- parts of a kernel over the threads of a host program.
 *
 * Parts are claimed, not dealt out: a helper that gets no CPU takes none, and the caller does them
 * all.  So a call never waits for a thread that has not begun, which a team with barriers does:
 * with a spinning thread of another library on its CPU, each such wait is a slice of the scheduler.
 */
#ifndef ASSAY_RUNTIME_HOST_TEAM_H
#define ASSAY_RUNTIME_HOST_TEAM_H

#include <stdint.h>

#define ASSAY__HOST_TEAM_MOST 256 /* threads of a call: more take no part */

typedef void (*assay__host_part_fn)(void *cookie, int64_t part);

/* Runs part(cookie, 0 .. parts - 1), each once, in any order, on the caller and at most threads - 1
 * helpers; all are done on return.  Helpers are shared by all callers of this plug-in, at most the
 * usable CPUs less one; they sleep soon after their last part.  Thread-safe, may be nested. */
void assay__host_team_run(int threads, int64_t parts, assay__host_part_fn part, void *cookie);

#endif

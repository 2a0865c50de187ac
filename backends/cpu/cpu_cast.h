/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_cast.h -- a conversion over threads: operands whose elements differ in size. */
#ifndef ASSAY_BACKENDS_CPU_CAST_H
#define ASSAY_BACKENDS_CPU_CAST_H

#include "backends/cpu/cpu.h"
#include "runtime/host_team.h"

/* n elements. */
typedef void (*cpu_cast_fn)(const assay_launch *launch, const char *x, char *y, int64_t n,
                            bool nontemporal);

/* UNIT: a multiple of every vector and cache line of either type, so that the cuts change no bit.
 * SHARES: parts a thread, so that one that came late takes fewer. */
enum { CAST_UNIT = 8192, CAST_SHARES = 4 };

typedef struct cpu_cast_split {
    const assay_launch *launch;
    const char *x;
    char *y;
    int64_t n, parts, in_bytes, out_bytes;
    bool nontemporal;
    cpu_cast_fn fn;
} cpu_cast_split;

static inline void cpu_cast_part(void *cookie, int64_t part)
{
    const cpu_cast_split *s = cookie;
    int64_t from, to;

    cpu_part(s->n, CAST_UNIT, s->parts, part, &from, &to);
    s->fn(s->launch, s->x + from * s->in_bytes, s->y + from * s->out_bytes, to - from,
          s->nontemporal);
}

static inline assay_status cpu_run_cast(const assay_launch *launch, bool nontemporal,
                                        cpu_cast_fn fn)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    cpu_cast_split s = {.launch = launch,
                        .x = assay_tensor_data(x),
                        .y = assay_tensor_data(y),
                        .n = ASSAY__INT(launch->problem, cast, n),
                        .in_bytes = (int64_t)assay_dtype_bytes(x->dtype),
                        .out_bytes = (int64_t)assay_dtype_bytes(y->dtype),
                        .nontemporal = nontemporal,
                        .fn = fn};
    int64_t units = (s.n + CAST_UNIT - 1) / CAST_UNIT;
    int threads = cpu_threads(launch);

    s.parts = threads > 1 ? (int64_t)threads * CAST_SHARES : 1;
    s.parts = s.parts < units ? s.parts : units;
    assay__host_team_run(threads, s.parts, cpu_cast_part, &s);
    return ASSAY_OK;
}

#endif

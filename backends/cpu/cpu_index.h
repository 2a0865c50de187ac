/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_index.h -- gather and scatter of rows: whole rows are moved as bytes, whatever
 * their type.
 *
 * Every index is looked at before anything is written.  Parts are ranges of rows of the output: a
 * scatter's part walks all indices in order and takes those of its rows, so that the last of equal
 * ones wins whatever the number of threads. */
#ifndef ASSAY_BACKENDS_CPU_INDEX_H
#define ASSAY_BACKENDS_CPU_INDEX_H

#include <string.h>

#include "backends/cpu/cpu.h"
#include "runtime/host_backend.h"
#include "runtime/host_team.h"

/* Rows `row_bytes` long; `ahead`: the row that will be read some rows later, NULL: none. */
typedef void (*cpu_copy_row_fn)(char *to, const char *from, int64_t row_bytes, const char *ahead,
                                bool nontemporal);
typedef void (*cpu_copy_done_fn)(bool nontemporal);

typedef struct cpu_index_job {
    const char *from;
    char *to;
    const void *index; /* i64, or u32 where `is_short` */
    bool is_short;
    int64_t n, rows, row_bytes, parts; /* rows: of the table or the output that indices point to */
    bool nontemporal;
    cpu_copy_row_fn copy;
    cpu_copy_done_fn done;
} cpu_index_job;

static inline int64_t cpu_index_at(const cpu_index_job *j, int64_t i)
{
    return j->is_short ? (int64_t)((const uint32_t *)j->index)[i] : ((const int64_t *)j->index)[i];
}

/* Rows that are fetched while one is copied. */
enum { CPU_ROWS_AHEAD = 4 };

static inline assay_status cpu_index_check(const assay_launch *launch, const cpu_index_job *j)
{
    const char *name = launch->problem->op == ASSAY_OP_gather ? "gather" : "scatter";

    for (int64_t i = 0; i < j->n; i++) {
        int64_t row = cpu_index_at(j, i);
        if (row < 0 || row >= j->rows)
            return assay__host_fail(launch->instance, ASSAY_INVALID,
                                    "%s: index %lld is %lld, outside the %lld rows; nothing was "
                                    "written",
                                    name, (long long)i, (long long)row, (long long)j->rows);
    }
    return ASSAY_OK;
}

static inline void cpu_gather_part(void *cookie, int64_t part)
{
    const cpu_index_job *j = cookie;
    int64_t from, to, bytes = j->row_bytes;

    cpu_part(j->n, 1, j->parts, part, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const char *ahead =
            i + CPU_ROWS_AHEAD < to ? j->from + cpu_index_at(j, i + CPU_ROWS_AHEAD) * bytes : NULL;
        j->copy(j->to + i * bytes, j->from + cpu_index_at(j, i) * bytes, bytes, ahead,
                j->nontemporal);
    }
    j->done(j->nontemporal);
}

static inline void cpu_scatter_part(void *cookie, int64_t part)
{
    const cpu_index_job *j = cookie;
    int64_t from, to, bytes = j->row_bytes;

    cpu_part(j->rows, 1, j->parts, part, &from, &to);
    for (int64_t i = 0; i < j->n; i++) {
        int64_t row = cpu_index_at(j, i);
        if (row >= from && row < to)
            j->copy(j->to + row * bytes, j->from + i * bytes, bytes, NULL, j->nontemporal);
    }
    j->done(j->nontemporal);
}

static inline assay_status cpu_run_index(const assay_launch *launch, cpu_copy_row_fn copy,
                                         cpu_copy_done_fn done)
{
    const assay_tensor *from = &launch->operands[0], *y = &launch->operands[2];
    bool gathers = launch->problem->op == ASSAY_OP_gather;
    int threads = cpu_threads(launch);
    cpu_index_job j = {.from = assay_tensor_data(from),
                       .to = assay_tensor_data(y),
                       .index = assay_tensor_data(&launch->operands[1]),
                       .is_short = launch->operands[1].dtype == ASSAY_U32,
                       .n = launch->operands[1].dims[0],
                       .rows = gathers ? from->dims[0] : y->dims[0],
                       .row_bytes = y->dims[1] * (int64_t)assay_dtype_bytes(y->dtype),
                       .copy = copy,
                       .done = done};

    ASSAY_TRY(cpu_index_check(launch, &j));
    if (j.n == 0 || j.row_bytes == 0)
        return ASSAY_OK;
    /* Portable kernels have no such tunable and ignore it. */
    j.nontemporal = launch->tunables != NULL && launch->tunables[CPU_NONTEMPORAL] != 0;
    j.parts = gathers ? j.n : j.rows;
    int64_t most = gathers && threads > 1 ? (int64_t)threads * 4 : threads;
    j.parts = j.parts < most ? j.parts : most;
    assay__host_team_run(threads, j.parts, gathers ? cpu_gather_part : cpu_scatter_part, &j);
    return ASSAY_OK;
}

/* Entry points cpu_<stem>_<dtype>, and cpu_<stem>_any of other types, all of them one. */
#define CPU_INDEX(stem, copy, done)               \
    CPU_ENTRY(stem##_f64)                         \
    {                                             \
        return cpu_run_index(launch, copy, done); \
    }                                             \
    CPU_ENTRY(stem##_f32)                         \
    {                                             \
        return cpu_run_index(launch, copy, done); \
    }                                             \
    CPU_ENTRY(stem##_f16)                         \
    {                                             \
        return cpu_run_index(launch, copy, done); \
    }                                             \
    CPU_ENTRY(stem##_any)                         \
    {                                             \
        return cpu_run_index(launch, copy, done); \
    }                                             \
    CPU_ENTRY(stem##_bf16)                        \
    {                                             \
        return cpu_run_index(launch, copy, done); \
    }

#endif

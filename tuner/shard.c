/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/shard.c -- see shard.h. */
#include "tuner/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"
#include "support/number.h"

#define MOST INT64_C(1000000)

typedef const char *(*getter)(const char *name);

/* `otherwise` where the variable is not set; negative: it must be. */
static assay_status read_variable(getter get, const char *name, int64_t otherwise, int64_t *out)
{
    const char *text = get(name);

    if (text == NULL && otherwise < 0)
        return assay__fail(ASSAY_INVALID, "--shard auto: %s is not set; give --shard i/n", name);
    if (text == NULL) {
        *out = otherwise;
        return ASSAY_OK;
    }
    if (assay__parse_int(text, 0, MOST * MOST, out) != ASSAY_OK)
        return assay__fail(ASSAY_INVALID, "--shard auto: %s is '%s', no whole number", name, text);
    return ASSAY_OK;
}

/* Task numbers begin anywhere and go in steps; those of a list say nothing of their place in it. */
static assay_status of_slurm(getter get, assay__shard *out)
{
    int64_t id, first, last, step, count;

    ASSAY_TRY(read_variable(get, "SLURM_ARRAY_TASK_ID", -1, &id));
    ASSAY_TRY(read_variable(get, "SLURM_ARRAY_TASK_MIN", -1, &first));
    ASSAY_TRY(read_variable(get, "SLURM_ARRAY_TASK_MAX", -1, &last));
    ASSAY_TRY(read_variable(get, "SLURM_ARRAY_TASK_COUNT", -1, &count));
    ASSAY_TRY(read_variable(get, "SLURM_ARRAY_TASK_STEP", 1, &step));
    if (step < 1 || id < first || id > last || (id - first) % step != 0 ||
        (last - first) / step + 1 != count)
        return assay__fail(ASSAY_INVALID,
                           "--shard auto: task %lld of %lld, from %lld to %lld in steps of %lld: "
                           "its place is not known; give --shard i/n",
                           (long long)id, (long long)count, (long long)first, (long long)last,
                           (long long)step);
    *out = (assay__shard){(size_t)((id - first) / step + 1), (size_t)count};
    return ASSAY_OK;
}

static assay_status of_mpi(getter get, assay__shard *out)
{
    int64_t rank, size;

    ASSAY_TRY(read_variable(get, "OMPI_COMM_WORLD_RANK", -1, &rank));
    ASSAY_TRY(read_variable(get, "OMPI_COMM_WORLD_SIZE", -1, &size));
    if (rank >= size)
        return assay__fail(ASSAY_INVALID,
                           "--shard auto: OMPI_COMM_WORLD_RANK is %lld of "
                           "OMPI_COMM_WORLD_SIZE %lld",
                           (long long)rank, (long long)size);
    *out = (assay__shard){(size_t)rank + 1, (size_t)size};
    return ASSAY_OK;
}

static assay_status of_job(getter get, assay__shard *out)
{
    if (get("SLURM_ARRAY_TASK_ID") != NULL)
        return of_slurm(get, out);
    if (get("OMPI_COMM_WORLD_RANK") != NULL)
        return of_mpi(get, out);
    return assay__fail(ASSAY_INVALID, "--shard auto: neither SLURM_ARRAY_TASK_ID nor "
                                      "OMPI_COMM_WORLD_RANK is set; give --shard i/n");
}

assay_status assay__shard_parse(const char *text, getter get, assay__shard *out)
{
    const char *slash = strchr(text, '/');
    char first[24];
    int64_t index, count;

    if (strcmp(text, "auto") == 0)
        return of_job(get, out);
    if (slash != NULL && (size_t)(slash - text) < sizeof first) {
        (void)snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
        if (assay__parse_int(first, 1, MOST, &index) == ASSAY_OK &&
            assay__parse_int(slash + 1, index, MOST, &count) == ASSAY_OK) {
            *out = (assay__shard){(size_t)index, (size_t)count};
            return ASSAY_OK;
        }
    }
    return assay__fail(ASSAY_INVALID,
                       "--shard: '%s' is not i/n with 1 <= i <= n <= %lld, and not auto", text,
                       (long long)MOST);
}

void assay__shard_take(assay__shape_set *set, const assay__shard *shard)
{
    size_t items = 0, uses = 0;

    for (size_t i = shard->index - 1; i < set->count; i += shard->count)
        set->items[items++] = set->items[i];
    for (size_t i = 0; i < set->use_count; i++) {
        const size_t shape = set->uses[i].shape;
        if (shape % shard->count != shard->index - 1)
            continue;
        set->uses[uses] = set->uses[i];
        set->uses[uses++].shape = shape / shard->count;
    }
    set->count = items;
    set->use_count = uses;
}

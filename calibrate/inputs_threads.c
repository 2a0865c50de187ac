/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/inputs_threads.c -- input sets by several threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/inputs.h"
#include "runtime/error.h"

#define ALONE UINT64_C(65536) /* elements that are not worth a thread */

typedef struct part {
    const assay_problem *problem;
    assay_stratum stratum;
    uint64_t seed, first, count;
    unsigned operand;
    char *to;
    assay_status status;
    char error[256]; /* errors are texts of the thread that met them */
    pthread_t thread;
    bool started;
} part;

static void *fill_part(void *arg)
{
    part *w = arg;

    w->status =
        assay__inputs_fill(w->problem, w->stratum, w->seed, w->operand, w->first, w->count, w->to);
    if (w->status != ASSAY_OK)
        (void)snprintf(w->error, sizeof w->error, "%s", assay_last_error());
    return NULL;
}

static assay_status join(part *list, uint64_t count)
{
    assay_status status = ASSAY_OK;

    for (uint64_t i = 0; i < count; i++) {
        if (list[i].started)
            pthread_join(list[i].thread, NULL);
        if (status == ASSAY_OK && list[i].status != ASSAY_OK)
            status = assay__fail(list[i].status, "%s", list[i].error);
    }
    return status;
}

assay_status assay__inputs_fill_all(const assay_problem *problem, assay_stratum stratum,
                                    uint64_t seed, unsigned operand, unsigned threads, void *dst)
{
    const uint64_t all = (uint64_t)assay_problem_operand_elements(problem, operand);
    const uint64_t most = all / ALONE + 1, wanted = threads > 0 ? threads : 1;
    const uint64_t parts = wanted < most ? wanted : most;
    const size_t bytes = assay_dtype_bytes((assay_dtype)problem->dtypes[operand]);
    part *list = calloc((size_t)parts, sizeof *list);
    assay_status status;

    if (list == NULL)
        return assay__fail(ASSAY_NOMEM, "threads that fill inputs");
    for (uint64_t i = 0; i < parts; i++) {
        part *w = &list[i];
        /* Whole chunks of the generator: none is drawn twice. */
        const uint64_t begin = all / 64 * i / parts * 64;
        const uint64_t end = i + 1 < parts ? all / 64 * (i + 1) / parts * 64 : all;
        *w = (part){.problem = problem, .stratum = stratum, .seed = seed, .operand = operand};
        w->first = begin;
        w->count = end - begin;
        w->to = (char *)dst + begin * bytes;
        w->started = i + 1 < parts && pthread_create(&w->thread, NULL, fill_part, w) == 0;
        if (!w->started)
            (void)fill_part(w);
    }
    status = join(list, parts);
    free(list);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/sequence_marks.c -- see sequence_marks.h. */
#include "runtime/sequence_marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine_internal.h"
#include "runtime/error.h"

assay_status assay__marks_init(assay__marks *m, const assay__backend *backend, assay_queue *queue,
                               size_t cap)
{
    memset(m, 0, sizeof *m);
    m->backend = backend;
    m->queue = queue;
    m->cap = cap;
    if (cap == 0)
        return ASSAY_OK;
    if (queue != NULL)
        m->events = calloc(cap, sizeof(assay_event *));
    else
        m->at_ns = calloc(cap, sizeof *m->at_ns);
    return m->events != NULL || m->at_ns != NULL
               ? ASSAY_OK
               : assay__fail(ASSAY_NOMEM, "sequence: no memory for %zu times", cap);
}

void assay__marks_clear(assay__marks *m)
{
    /* Of a sequence that failed some may still be ahead: none of these would be let go. */
    if (m->events != NULL && m->count > 0)
        (void)assay__backend_event_wait(m->backend, m->events[m->count - 1]);
    for (size_t i = 0; m->events != NULL && i < m->count; i++)
        (void)assay__backend_event_destroy(m->backend, m->events[i]);
    free(m->events);
    free(m->at_ns);
    memset(m, 0, sizeof *m);
}

assay_status assay__marks_set(assay__marks *m)
{
    if (m->count == m->cap)
        return ASSAY_OK;
    if (m->queue == NULL) {
        m->at_ns[m->count++] = (double)assay__trace_now_ns();
        return ASSAY_OK;
    }
    assay_event *event = NULL;
    ASSAY_TRY(assay__backend_event_create(m->backend, &event));
    const assay_status status = assay__backend_event_record(m->backend, event, m->queue);
    if (status == ASSAY_OK)
        m->events[m->count++] = event;
    else
        (void)assay__backend_event_destroy(m->backend, event);
    return status;
}

double assay__marks_between(const assay__marks *m, size_t from, size_t to)
{
    double ns;

    if (from >= m->count || to >= m->count)
        return (double)NAN;
    if (m->queue == NULL)
        return m->at_ns[to] - m->at_ns[from];
    return assay__backend_event_elapsed(m->backend, m->events[from], m->events[to], &ns) == ASSAY_OK
               ? ns
               : (double)NAN;
}

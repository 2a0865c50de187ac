/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker_phases.h -- where the time of a stay goes beside its calls.
 *
 * A stay is always in one phase, by the host's clock; what its calls took by the clock that timed
 * them is in none.  Of what happens inside of a backend's measure the backend tells by metrics, if
 * it does: cuda's are named below. */
#ifndef ASSAY_TUNER_WORKER_PHASES_H
#define ASSAY_TUNER_WORKER_PHASES_H

#include "support/json.h"

#include "runtime/backend_slots.h"

/* Those of the worker in the order of a stay, then the parent's, then what is left. */
#define ASSAY__PHASE_MAP(X)                         \
    X(sets, "making operand sets")                  \
    X(poison, "poisoning outputs")                  \
    X(cool, "cooling")                              \
    X(code, "compiling and loading code")           \
    X(graphs, "building graphs")                    \
    X(records, "asking for records")                \
    X(warm, "around warm-up calls")                 \
    X(spans, "around timed spans")                  \
    X(sensors, "reading sensors")                   \
    X(pauses, "waiting for calm and for clocks")    \
    X(fetch, "fetching outputs")                    \
    X(hash, "hashing outputs")                      \
    X(inputs, "looking at inputs")                  \
    X(other, "else in the worker")                  \
    X(asking, "asking the worker, and its answers") \
    X(judging, "judging what timed calls left")     \
    X(storing, "storing stays")

typedef enum assay__phase {
#define X(name, text) ASSAY__PHASE_##name,
    ASSAY__PHASE_MAP(X)
#undef X
        ASSAY__PHASES
} assay__phase;

/* Key in JSON, and words. */
const char *assay__phase_name(assay__phase phase);
const char *assay__phase_text(assay__phase phase);

enum { ASSAY__PHASE_METRICS = 4 };

typedef struct assay__phases {
    double ns[ASSAY__PHASES];
    double since_ns; /* 0: nobody counts */
    assay__phase now;
    const assay__backend *backend;
    size_t metrics_cap;
    uint64_t metrics[ASSAY__PHASE_METRICS]; /* as read last */
} assay__phases;

/* A stay on this backend begins, in the phase `other`. */
void assay__phases_begin(assay__phases *p, const assay__backend *backend);
/* So many of the backend's metrics, the first, hold all that is known here; those behind are left
 * alone, as sensors among them take their time.  0: it tells nothing. */
void assay__phases_ask(assay__phases *p, size_t metrics);
bool assay__phases_knows(const char *metric);
/* Into a phase; returns the one before, to go back to.  Nothing happens before the begin. */
assay__phase assay__phases_go(assay__phases *p, assay__phase to);
/* Calls took so long of the present phase. */
void assay__phases_called(assay__phases *p, double ns);
/* A measure has ended, and the backend tells what of the present phase was another.  Returns ns of
 * calls that it made beside those it told of. */
double assay__phases_measured(assay__phases *p);
/* Ends the stay: phases {name: ns}. */
assay_status assay__phases_reply(assay__phases *p, json_t *reply);
/* Adds what a reply says, in seconds; returns their sum. */
double assay__phases_add(const json_t *reply, double seconds[ASSAY__PHASES]);

#endif

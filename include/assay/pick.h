/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/pick.h -- the route picker: which kernel should run a problem here, and why.
 *
 * Threads: any number may use one context at once; close needs it alone.
 *
 * fork(): a child may go on with a context of its parent: pick, run, explain, close.  What it
 * answers is what was loaded; assay_reload is refused there (ASSAY_INVALID), as SQLite's
 * connections do not survive fork(), and the child must not open the same store anew either.  While
 * the process forks no other thread may be inside a call that is no hit: its lock would stay locked
 * in the child.  Threads of libraries do not survive: what ran with several threads before fork()
 * may hang in the child (BLIS and oneDNN through libgomp; OpenBLAS and own kernels start theirs
 * anew).  Fork first, then open, where all of it is wanted.
 *
 * Signals: no function may be called in a handler; a handler may interrupt any of them. */
#ifndef ASSAY_PICK_H
#define ASSAY_PICK_H

#include "assay/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum assay_proof { /* level of evidence, strongest last */
                           ASSAY_PROOF_ABSENT = 0,
                           ASSAY_PROOF_SAMPLED, /* at least 10^6 output elements over all strata */
                           ASSAY_PROOF_BOUNDED, /* an a-priori bound holds and nothing measured
                                                   contradicts it */
                           ASSAY_PROOF_EXHAUSTIVE
} assay_proof;

typedef struct assay_policy {
    uint8_t cache; /* 0 rotate, 1 hot */
    uint8_t load;  /* 0 alone, 1 busy */
    uint8_t span;  /* 0 kernel, 1 call */
} assay_policy;
/* "rotate/alone/kernel" and so on. */
assay_status assay_policy_parse(const char *text, assay_policy *out);
size_t assay_policy_format(assay_policy policy, char *buf, size_t cap);

/* Limits; a negative number or ABSENT sets none.  Evidence decides; claims only when allowed; a
 * kernel with neither fails every limit that is set.  So does one that a sample keeps within the
 * limit and whose author claims more: the maximum of a sample is a lower bound. */
typedef struct assay_tolerance {
    double max_ulp; /* dist: 0 is correctly rounded */
    double max_rho;
    double max_rel;
    double max_abs;
    uint8_t stability; /* assay_stability, at least */
    uint8_t proof;     /* assay_proof, at least */
    uint8_t allow_claims;
} assay_tolerance;
#define ASSAY_NO_TOLERANCE                                                    \
    {                                                                         \
        -1.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_ABSENT, ASSAY_PROOF_ABSENT, 0 \
    }

typedef struct assay_question {
    assay_problem problem;
    char layout[ASSAY_MAX_OPERANDS]; /* a letter an operand (assay_tensor_layout), NUL: 'c' */
    uint8_t align;                   /* 64, 16 or 0 "element"; default 16 */
    assay_policy policy;
    assay_tolerance tolerance;
    uint32_t max_threads;     /* 0: no limit */
    uint64_t workspace_bytes; /* UINT64_MAX: no limit */
    const char *backends;     /* comma list, NULL: all that are not explicit-only */
} assay_question;
/* Default question for a problem: all 'c', align 16, rotate/alone/kernel, no limits. */
void assay_question_init(const assay_problem *problem, assay_question *out);

/* 64 bytes: one cache line. */
typedef struct assay_route {
    const assay_binding *binding;   /* borrowed from the context's snapshot: valid until the context
                                       is closed, across reloads too */
    const int64_t *tunables;        /* in the descriptor's order; same lifetime */
    uint64_t measurement, accuracy; /* evidence ids in the store; 0: none */
    float time_ns, lo_ns, hi_ns;    /* NaN: unknown */
    uint8_t tier;                   /* assay_tier */
    uint8_t proof;                  /* assay_proof */
    uint8_t stability;              /* assay_stability, measured */
    uint8_t flags;                  /* bit 0: default because nothing is measured; the others:
                                       assay_route_copies */
    float max_ulp, max_rho;         /* NaN: no evidence */
    uint64_t reserved;
} assay_route;

/* Inputs that the route's kernel does not take as they lie: bit i, input i has to be made
 * contiguous first, at an address that is a multiple of 64, and time_ns, lo_ns and hi_ns count that
 * in. assay_run does it.  Who launches by himself makes a tensor without strides over memory of his
 * own (assay_tensor_host), fills it (assay_tensor_copy) and passes it in place of the input. */
static inline unsigned assay_route_copies(const assay_route *route)
{
    return (unsigned)route->flags >> 1;
}

typedef struct assay_context assay_context; /* table + store snapshot + picker */

typedef struct assay_open_options {
    uint32_t struct_size;
    const char *plugin_path; /* NULL: next to libassay, and $ASSAY_PLUGIN_PATH */
    const char *backends;    /* comma list, NULL: all found. One that runs on a device elsewhere
                                (cuda, vulkan), and it alone: it is opened, and what was measured
                                on its first device counts; else what was measured on the host */
    uint32_t bare;           /* 1: load no plug-ins; the caller registers kernels itself */
    /* Warnings, once each; from any thread, one at a time. It must not call this context. */
    void (*log)(void *cookie, int level, const char *text);
    void *cookie;
    /* Comma list of the ops that will be asked for, NULL: all.  Kernels of others are not looked
     * at, so that no library is opened for them alone; a question about another op is refused with
     * that reason, and routes of other ops are counted neither as usable nor as idle. */
    const char *ops;
    /* Comma list of backends on devices elsewhere that questions may be about, NULL: all; the
     * others are left out, so that no driver is opened for them.  "": operands lie in the host's
     * memory. One such backend and none of the host's beside it: as of `backends`. */
    const char *devices;
} assay_open_options;

/* Opens plug-ins and, when path is not NULL, the store at `path` for reading.  A missing store
 * means defaults, counted, and is no error; a damaged, foreign or newer one is an error.
 * options NULL: defaults. */
assay_status assay_open(const char *path, const assay_open_options *options, assay_context **out);
void assay_close(assay_context **context);
assay_table *assay_context_table(assay_context *context);

/* Answers at once: never measures, compiles or blocks.  ASSAY_NO_ROUTE when every kernel is
 * rejected. */
assay_status assay_pick(assay_context *context, const assay_question *question, assay_route *out);

/* One per call site and thread, zero-initialised (static _Thread_local, say): makes repeats of the
 * same question cheaper.  Opaque; it holds the last question whole and its answer, so that another
 * question is never given this one's answer. */
typedef struct assay_site {
    uint64_t generation; /* of the answer, unique in the process; 0: none yet */
    assay_route route;
    assay_question question;
} assay_site;
assay_status assay_pick_at(assay_context *context, assay_site *site, const assay_question *question,
                           assay_route *out);

/* Runs a route on host tensors (inputs then outputs): checks the problem, shapes, layouts,
 * alignment and overlaps first, ASSAY_INVALID or ASSAY_OVERFLOW with the operand when they do not
 * fit.  No memory of an operand is touched before.  An output shares no element with an input; of
 * ops by element, over rows and norms it may equal one: same place, same strides.  Inputs that the
 * route wants contiguous are copied into memory that is freed again; nothing else is allocated.
 * Without an element to write, no kernel is called. */
assay_status assay_run(assay_context *context, const assay_route *route,
                       const assay_problem *problem, const assay_tensor *operands, size_t count);

/* Why: the winner, its ties, and the reason for every rejection. */
typedef struct assay_candidate {
    const assay_binding *binding; /* NULL: not in this process's table (stale or absent) */
    char kernel[64];
    char backend[24];
    assay_digest revision; /* of the variant */
    int64_t tunables[ASSAY_MAX_TUNABLES];
    size_t tunable_count;
    assay_route route;
    uint8_t chosen, tied, rejected;
    char reason[160]; /* why rejected, or how it ranks */
    /* Words for what disturbed its measurement, "noisy" first where neither its time nor its ratio
     * to the default is known as well as was asked for; docs/measurement.md. "": nothing. */
    char noise[80];
} assay_candidate;
typedef struct assay_explanation {
    assay_question question;
    char deployment[65]; /* hex */
    size_t candidate_count;
    assay_candidate *candidates; /* owned; chosen first, then ties, then the rest by time */
    char store_path[256];
    int64_t schema;
    int64_t searched, total; /* of the search that made the route; 0/0: none */
    char stop_reason[48];
    size_t
        hidden_count; /* candidates left out: their backends answer only when asked for by name */
} assay_explanation;
assay_status assay_explain(assay_context *context, const assay_question *question,
                           assay_explanation **out);
void assay_explanation_destroy(assay_explanation **explanation);

/* Counters since open: hits, misses (defaults served for lack of evidence), those of engines on
 * devices elsewhere included; routes usable here and idle (another revision or deployment), with
 * the reasons. */
typedef struct assay_pick_stats {
    uint64_t hits, misses, routes_usable, routes_idle;
    char idle_reason[160];
    uint64_t misses_kept, misses_dropped; /* distinct questions without evidence, see below */
} assay_pick_stats;
void assay_pick_stats_get(const assay_context *context, assay_pick_stats *out);

/* Problems that were asked for and have no measurement, each once, as a shape set:
 * `assay sweep --shapes FILE` measures them, those of engines on devices elsewhere included.  What
 * the store has learned of meanwhile is left out.
 * A context keeps the first ASSAY_MISSES_MAX questions (about 1 MB, none before the first miss) and
 * only counts the others; a pick that hits does not look at them.  ASSAY_NOTFOUND: there is none;
 * ASSAY_IO: the file cannot be written.  Then what was there stays. */
#define ASSAY_MISSES_MAX 4096
assay_status assay_pick_misses_write(assay_context *context, const char *path);

/* Reads the store again, when it has changed or another file has its path, and swaps atomically;
 * routes handed out stay valid, and picks of other threads go on meanwhile.  Cheap when nothing has
 * changed: a program calls it now and then, from any thread.  On failure the answers stay. */
assay_status assay_reload(assay_context *context);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/pick_internal.h -- the picker's own structures: generations, candidates, the context. */
#ifndef ASSAY_RUNTIME_PICK_INTERNAL_H
#define ASSAY_RUNTIME_PICK_INTERNAL_H

#include <sys/types.h>

#include "assay/pick.h"
#include "runtime/expr.h"
#include "runtime/pick_cache.h"
#include "runtime/pick_key.h"
#include "runtime/pick_misses.h"
#include "runtime/pick_proven.h"
#include "runtime/pick_store.h"
#include "runtime/plugin_set.h"
#include "runtime/reader.h"
#include "runtime/table_internal.h"

/* ---- what a table and a store make together ---- */

typedef enum assay__fit {
    ASSAY__FIT_FRESH,   /* in the table, same revision */
    ASSAY__FIT_ABSENT,  /* no such kernel in this process */
    ASSAY__FIT_STALE,   /* another revision of the kernel */
    ASSAY__FIT_UNKNOWN, /* its tunables are not those of the kernel */
    ASSAY__FIT_CLOSED   /* of an op that the context was not opened for */
} assay__fit;

/* A stored variant as this process's table has it. */
typedef struct assay__known_variant {
    const assay_binding *binding; /* NULL when absent */
    assay__fit fit;
    int64_t tunables[ASSAY_MAX_TUNABLES];
} assay__known_variant;

/* What a row of the table needs at pick time, made once. */
typedef struct assay__row_code {
    assay__expr *can_run, *constraint;    /* owned; NULL: none */
    assay__expr *cost_flops, *cost_bytes; /* the same */
    int threads;                          /* place of the tunable "threads"; -1: none */
    uint32_t first_proof;                 /* place + 1 in the generation's proven; 0: none */
    double worst[4];         /* max_ulp, max_rho, max_rel, max_abs over all evidence; NaN: none */
    uint8_t least_stability; /* assay_stability; ABSENT: no evidence */
} assay__row_code;

/* Immutable but for the cache. The store data is the context's. */
struct assay__generation {
    const assay_snapshot *snapshot; /* held */
    const assay__pick_store *store; /* borrowed */
    assay__known_variant *variants; /* one a stored variant */
    assay__row_code *codes;         /* one a row of the snapshot */
    assay__pick_cache *cache;
    assay__proven *proven; /* one a proof of the store: the worst that is known with it */
    bool weighed;          /* proven is filled */
    bool gated;            /* worst and least_stability of the rows are known */
    bool counted;          /* usable and idle below are known */
    uint64_t usable, idle;
    char idle_reason[160];
};
typedef struct assay__generation assay__generation;

assay_status assay__generation_create(assay_table *table, const assay__pick_store *store,
                                      assay__generation **out);
/* Frees all but the cache, which readers may be in. */
void assay__generation_destroy(assay__generation **generation);
/* Has the route a candidate of today's code, whatever was found of it? */
bool assay__generation_serves(const assay__generation *g, const assay__stored_route *route);
/* Counts routes that this process can use, with the commonest reason for the others. */
void assay__generation_count(assay__generation *g);
/* Gathers what all evidence of a kernel says, against which its claims are held. */
void assay__generation_gate(assay__generation *g);

static inline const assay__row_code *assay__code_of(const assay__generation *g,
                                                    const assay_binding *row)
{
    return &g->codes[row - assay_snapshot_at(g->snapshot, 0)];
}

/* ---- candidates of one question ---- */

typedef struct assay__judged {
    const assay_binding *binding;           /* NULL: not in the table */
    const assay__stored_variant *stored;    /* NULL: never measured */
    const assay__route_candidate *measured; /* NULL: nothing measured for this question */
    const char *quarantine;                 /* reason, or NULL */
    assay__verdict worst;      /* WRONG or CRASHED at another problem; of unmeasured ones alone */
    const char *worst_problem; /* where, when it is not NONE */
    assay__proven proven;
    /* What is known of its error for this question, from `measured` and `proven`. */
    double max_ulp, max_rho, max_rel, max_abs; /* NaN: no evidence */
    assay_proof proof;
    uint64_t accuracy; /* row; 0: none */
    int64_t tunables[ASSAY_MAX_TUNABLES];
    assay__fit fit;
    assay_tier tier;
    double time_ns, lo_ns, hi_ns; /* the kernel and its copies; NaN: unknown */
    uint8_t copies;               /* bit i: input i has to be made contiguous first */
    bool at_defaults;             /* tunables are those of the default kernel */
    bool is_published;            /* the winner of its route */
    bool rejected, chosen, tied;
    bool hidden;      /* of a backend that answers only when asked for, and was not */
    char reason[160]; /* filled when reasons are asked for */
} assay__judged;

typedef struct assay__judgement {
    const assay__stored_route *route; /* NULL: no row for this question */
    assay__judged *items;             /* owned, reused */
    size_t count, cap;
    size_t chosen; /* SIZE_MAX: none */
    bool is_default;
} assay__judgement;

/* Collects, judges and ranks all candidates. named: backends asked for when the context was opened
 * (comma list or NULL).  with_reasons: fills the texts, for explanations. */
assay_status assay__judge(assay__generation *g, const char *named, const assay_question *q,
                          bool with_reasons, assay__judgement *out);
void assay__judgement_clear(assay__judgement *j);
/* The answer for one candidate; binding and tunables are left for the caller. */
void assay__judged_route(const assay__judged *item, bool is_default, assay_route *out);

/* One candidate against the rules that need no measurement and those that do; false: rejected. */
bool assay__admit(const assay__generation *g, const char *named, const assay_question *q,
                  assay__row_values *values, bool with_reasons, assay__judged *item);

/* ---- making inputs contiguous ---- */

/* Puts 'c' in place of the letters of the inputs in `copies`; NUL becomes 'c' everywhere. */
void assay__copies_layout(const assay_question *q, unsigned copies, char out[ASSAY_MAX_OPERANDS]);
/* Time, lower and upper bound in ns of copying these inputs; false: nothing is known. */
bool assay__copies_price(const assay_question *q, unsigned copies, const assay__copy_costs *costs,
                         double out[3]);
/* "operands 0, 2"; "" for none. */
void assay__copies_text(unsigned copies, char *buf, size_t cap);

/* ---- running ---- */

/* Whose instance launches kernels of one backend, where it is not the context's; what it took. */
typedef struct assay__run_on {
    const assay__backend *backend; /* open */
    const assay_manifest *manifest;
    assay_queue *queue;          /* NULL: none */
    bool is_apart;               /* the host does not reach its memory */
    const assay_tensor *handles; /* the operands as buffers of it, for the two above */
    uint32_t launches;           /* out */
    uint64_t copied_bytes;       /* out */
} assay__run_on;

/* assay_run for operands that assay__operands_check has seen and that have elements to write.
 * on NULL: by the context's own instances. */
assay_status assay__run_checked(assay_context *context, const assay_route *route,
                                const assay_problem *problem, const assay_tensor *operands,
                                size_t count, assay__run_on *on);

/* Is there a cost that the kernel itself declares, an expression or a function, and known for this
 * problem?  It ranks devices and ops, never rivals, and so is worth no more than its name. */
bool assay__declares_cost(const assay__pick_store *store, const assay__row_code *code,
                          const assay_kernel_desc *desc, const assay_problem *problem,
                          assay__row_values *values);

/* ---- the context ---- */

struct assay_context {
    _Atomic(const void *) cache; /* assay__pick_cache that readers enter */
    _Atomic uint64_t generation; /* its number; 0 while none */
    assay__readers readers;
    assay__key_rules rules;
    pthread_mutex_t answering; /* of everything below that is not const after open */
    assay__generation *current;
    assay__pick_store *store_data;
    assay__pick_cache *replaced;
    assay__interned *interned;
    assay__judgement scratch;
    assay__misses misses;
    bool warned_ops[ASSAY_OP_COUNT];
    pthread_mutex_t reloading; /* of the store handle; taken before `answering` */
    const assay__store_ops *ops;
    assay__store *store; /* NULL: none */
    pid_t store_owner;   /* the process that opened it */
    char *path;          /* owned; NULL: none asked for */
    uint64_t file[5];    /* device, inode, size, time of change when `store` was opened; 0: none */
    char *named;         /* owned; backends of the options, or NULL */
    char deployment[ASSAY_DIGEST_HEX];
    assay_table *table;
    assay__plugins *plugins;   /* NULL when bare */
    pthread_mutex_t opening;   /* of backends; of a branch: unused, its root's is taken */
    assay_context *root;       /* of a branch: whose table and plug-ins it has; NULL: its own */
    assay_context *branches;   /* owned, a list: one for each device elsewhere that is in use */
    assay_context *next;       /* branch of the same root */
    pthread_mutex_t branching; /* of that list; never held while another lock is waited for */
    void (*log)(void *cookie, int level, const char *text);
    void *cookie;
};

/* The table of a context without a store and, with `ops`, of one whose store another makes: for
 * tests.  deployment_hex NULL: that of this host. */
assay_status assay__context_open(const char *path, const assay_open_options *options,
                                 const assay__store_ops *ops, const char *deployment_hex,
                                 assay_context **out);
/* What is known of another deployment by the same table and plug-ins and the same store: routes of
 * a device elsewhere.  Owned by `root`, which reloads it and tells it of registrations. */
assay_status assay__context_branch(assay_context *root, const char *deployment_hex,
                                   assay_context **out);
/* What answers for the comma list `backends` (NULL: all): a branch where they are of one device
 * elsewhere that says what it is, else the root.  As long as the root. */
assay_status assay__context_for(assay_context *root, const char *backends, assay_context **out);
/* The first of the branches, or the one behind another; NULL: no more. None is taken away before
 * the root is. */
assay_context *assay__context_branch_after(assay_context *root, const assay_context *branch);
/* As assay_pick, for whoever only compares: no hit and no miss, since nothing is served yet. */
assay_status assay__pick_uncounted(assay_context *context, const assay_question *question,
                                   assay_route *out);
/* Taken while a backend is opened. */
pthread_mutex_t *assay__context_opening(assay_context *context);
/* The plug-ins it loaded, with the reasons of those it could not; NULL when bare. */
assay__plugins *assay__context_plugins(assay_context *context);
/* With `answering` held: the lasting copy of a candidate's binding and tunables. */
assay_status assay__intern(assay_context *context, const assay_binding *binding,
                           const int64_t *tunables, const assay__interned **out);

#endif

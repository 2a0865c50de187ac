/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/compute_internal.h -- what all typed calls are made of: enter, run problems, leave. */
#ifndef ASSAY_RUNTIME_COMPUTE_INTERNAL_H
#define ASSAY_RUNTIME_COMPUTE_INTERNAL_H

#include "assay/compute.h"
#include "runtime/engine_internal.h"
#include "runtime/op_params.h"

/* One typed call under way. */
typedef struct assay__typed {
    assay_engine *engine;
    assay__engine_call entered;
    assay_call call;         /* as given, or defaults */
    assay_execution record;  /* filled as kernels run */
    bool wants_record;       /* what only a record needs is left out otherwise */
    const assay_binding *by; /* that did the op; NULL: nothing was to do */
    /* Of the one run of the op, for a call that says the same again; runs 2: there were several. */
    int runs;
    assay_route route;
    assay_problem problem;
    size_t count;
    assay_tensor operands[ASSAY_MAX_OPERANDS];
} assay__typed;

/* what: static text, the name in texts and traces. */
assay_status assay__typed_begin(assay__typed *t, assay_engine *engine, const char *what,
                                const assay_call *call);
/* Picks and runs one problem.  operands: places already in `buffer` and `byte_offset`.  pick: which
 * of the site's answers it is, 0 for the op itself.  A problem without elements to write succeeds.
 */
assay_status assay__typed_run(assay__typed *t, const assay_problem *problem,
                              const assay_tensor *operands, size_t count, int pick);
/* All that assay__typed_run would refuse before it picks; nothing runs. */
assay_status assay__typed_check(const assay__typed *t, const assay_problem *problem,
                                const assay_tensor *operands, size_t count);
/* Leaves; hands the record over when all went well. Returns `status`. */
assay_status assay__typed_end(assay__typed *t, assay_status status);

/* What the picker is asked: layouts and alignment of these host tensors, limits of the call. */
void assay__typed_question(const assay__typed *t, const assay_problem *problem,
                           const assay_tensor *operands, size_t count, assay_question *q);
/* Into the record: what ran. */
void assay__typed_note(assay__typed *t, const assay_route *route, const assay_problem *problem);
/* Into the record: so many pieces moved as one operation.  host: as of assay__engine_transfer_cost.
 */
void assay__typed_note_transfer(assay__typed *t, const void *host, size_t pieces, uint64_t bytes,
                                bool up);
/* On the host, with the operands of a device apart brought there and the outputs back. */
assay_status assay__typed_on_host(assay__typed *t, const assay_problem *problem,
                                  const assay_tensor *operands, size_t count);
/* Is that, with all it moves, faster than the device's own kernel, beyond the intervals of what was
 * measured?  operands: as host tensors. */
bool assay__typed_host_is_faster(const assay__typed *t, const assay_problem *problem,
                                 const assay_tensor *operands, size_t count);

/* ---- calls that say the same again: compute_again.c ---- */

enum { ASSAY__KEY_MAX = 384 };

/* All that a call says but where its operands lie. */
typedef struct assay__typed_key {
    size_t size;
    unsigned char bytes[ASSAY__KEY_MAX];
} assay__typed_key;
/* args: with its places zeroed; what of the call decides is added. */
void assay__typed_key_init(assay__typed_key *key, const assay__typed *t, const void *args,
                           size_t size);
/* true: the site's last call said the same, and these places are as good: it is run, `status` says
 * how that went.  false: nothing was done. places: in the order of operands. */
bool assay__typed_again(assay__typed *t, const assay__typed_key *key, const assay_place *places,
                        size_t count, assay_status *status);
/* From assay__typed_run on, what was run last may be kept under this key. */
void assay__typed_remember(assay__typed *t, const assay__typed_key *key);

/* Row-major tensor at a place. */
assay_status assay__typed_tensor(assay_place place, assay_dtype dtype, uint32_t rank,
                                 const int64_t *dims, assay_tensor *out);

/* The caller's struct, with zeros for what he does not know of yet.  ASSAY_INVALID: NULL, or no
 * struct_size. */
assay_status assay__typed_args(const char *what, const void *given, size_t size, void *out);

/* Memory that lasts for the call, of the site where there is one. */
assay_status assay__typed_workspace(assay__typed *t, size_t bytes, void **out);

#define ASSAY__SET_INT(problem, op, name, value) \
    assay__typed_set((problem), ASSAY__PARAM_INDEX(op, name), (assay_value){.i = (value)})
#define ASSAY__SET_REAL(problem, op, name, value)             \
    assay__typed_set((problem), ASSAY__PARAM_INDEX(op, name), \
                     (assay_value){.r = (value) == 0.0 ? 0.0 : (value)})

/* Unchecked: assay_problem_check follows. */
static inline void assay__typed_set(assay_problem *p, size_t index, assay_value value)
{
    p->params[index] = value;
    p->given[index / 8] = (uint8_t)(p->given[index / 8] | 1u << (index % 8));
}

#endif

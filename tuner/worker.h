/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/worker.h -- the worker process: loads plug-ins, runs and times kernels on request.
 *
 * Requests are JSON objects with "cmd"; replies have "status", "error" and what is said here.
 *   hello    plugin_path?, backends?, refused?: [{path, reason}], descriptor
 *                                                    loads the plug-ins but those refused; the
 *                                                       descriptor is memory for an assay__doing
 *   device   backend                                 -> device, architecture, driver, uuid,
 *                                                       memory_bytes?: of its first one
 *   bindings                                         -> bindings: [{backend, kernel, op, dtypes,
 *                                                       revision, available, reason, libraries}]
 *   can_run  problem, questions: [{backend, kernel, tunables: [of one variant after the other]}]
 *                                                    -> answers: ["101..." a variant each]
 *   prepare  problem, align, arena?, descriptors,    one input file a set, then the output file,
 *            memory_bytes? [limit]                      then memory to rotate over when arena says
 *                                                       at which byte to begin -> is_spent? [by
 *                                                       problems before: little is left of memory
 *                                                       or of descriptors]
 *   run      backend, kernel, tunables, set          one launch into the output file
 *            revision? [of the kernel]               STALE when it is another by now; as in time
 *   time     backend, kernel, tunables, cache, span?, span_ns, spans, warm_ns, budget_ns,
 *            rotate_bytes, seed, expected? [digest], expected_far? [the device's of the same],
 *            speed? [of the core's clock, the fastest that the variant was seen at], device_mhz?
 * [the same of the device's], strict? [leave out samples in which the CPU was taken away]
 *                                                    -> samples [ns a call], inner, sets, clock,
 *                                                       called_ns [in all calls], cold_bytes? [of
 *                                                       operands, put out of all caches before
 *                                                       the spans], steady [when the warm-up
 *                                                       ended], shortened [fewer spans than asked
 *                                                       for: the budget], rejected? [{reason:
 *                                                       places of samples}], gave_up [the clock
 *                                                       stayed low: not all wanted are there],
 *                                                       low_clock? [whose: "core", "device"],
 *                                                       speed [as above, by now], worker [what the
 *                                                       system counted], where the device has
 *                                                       sensors device, device_flags, device_mhz
 *                                                       (tuner/worker_sense.h), far? [the device's
 *                                                       digest of the output], by_digest? [all
 *                                                       have expected_far, and none is in the
 *                                                       output file], phases? [what
 *                                                       went by beside the calls,
 *                                                       tuner/worker_phases.h]; in the output
 *                                                       file an output that is not as expected,
 *                                                       else the last, and shown_set, the inputs
 *            other?, other_expected? [digest]             that it is of: 0, or `other`, when one
 *                                                       more call at addresses that were timed gave
 *                                                       something else for those inputs; also
 *                                                       leaked_bytes? leaked_fds? [timed calls],
 *                                                       is_spent? [little is left of memory, as
 *                                                       of run, or of descriptors]
 *   wide     problem, align, threads, descriptors    inputs, result: hi, lo, bound, magnitude
 *   peaks    seconds, spot?                          -> peaks: [{name, unit, samples}],
 *                                                       cache_bytes?
 *   device_peaks  backend, spot?                     -> as peaks, of its first device
 *   probe    backend, kind, dtype [number], spans,   kernels of known work, tuner/probe_run.h
 *            inner?, amount or wanted_ns,            -> spans [ns], amount, clock, resolution_ns,
 *            bytes? [of copies], late_ns? [the          overhead_ns; of spins: spun_ns,
 *            host sleeps inside of each launch]         spun_cycles, step_ns
 *   products backend, dtype [number], n, rounds,     -> zeros, random [ns a call, a round each],
 *            seed                                       kernel
 *   transfers  seconds                               -> transfers: [{source, target, sizes:
 *                                                       [{bytes, samples}]}], absent: [{memory,
 *                                                       reason}]
 *   counters                                       -> counters: [{name, unit, source, event,
 *                                                       reason}], each tried
 *   count    as time, and counters: [name], passes   -> counts: [{name, calls, values [a call, of
 *                                                       each pass]}, or {name, reason}]
 *   load     on, threads                             a stated load, tuner/load.h; returns when it
 *                                                       is there, or gone -> bytes [copied so far]
 *
 * time with span 1 times whole calls: launch and synchronize, one after the other. */
#ifndef ASSAY_TUNER_WORKER_H
#define ASSAY_TUNER_WORKER_H

#include "support/json.h"

#include "runtime/plugin_set.h"
#include "tuner/arena.h"
#include "tuner/load.h"
#include "tuner/protocol.h"
#include "tuner/worker_phases.h"
#include "tuner/worker_sense.h"

#define ASSAY__WORKER_SETS (ASSAY__PROTOCOL_FDS - 2)

typedef struct assay__worker_problem {
    assay_problem problem;
    unsigned align;
    assay__input_plan in;
    assay__output_plan out;
    size_t sets;
    int input_fd[ASSAY__WORKER_SETS]; /* owned */
    /* Read-only map of one set at a time, all at the same addresses: a kernel that knows its
     * operands by where they lie gives results of another set, and is found out. */
    void *inputs;
    size_t placed; /* which set; `sets`: none yet */
    void *output;  /* between guard pages */
    bool is_ready; /* a device apart was found to be usable */
    int arena;     /* memory that workers share one after another; -1: none */
    int64_t arena_begin;
    assay__phases phases; /* of the stay under way */
    /* Digests of input sets, whole, as their files have them (runtime/word_digest.h). */
    uint64_t input_digest[ASSAY__WORKER_SETS];
    bool has_digest[ASSAY__WORKER_SETS];
    struct assay__worker_pool *pool;  /* borrowed: the one in use; NULL until something is timed */
    struct assay__worker_pool *pools; /* owned, a list: the host's, and one of each device apart */
} assay__worker_problem;

/* Revision of a kernel as this process loaded it. */
typedef struct assay__worker_revision {
    const assay_kernel_desc *desc;
    assay_digest revision;
} assay__worker_revision;

typedef struct assay__worker_state {
    const struct assay__worker_command *more;
    assay__plugins *plugins;
    assay__worker_problem *prepared;   /* NULL: none */
    assay__worker_revision *revisions; /* owned: those asked for so far */
    size_t revision_count;
    assay__load *load;           /* NULL: none yet */
    assay__sense_history clocks; /* of the device, under load */
} assay__worker_state;

/* A request of another folder; `reply` gets what it adds. */
typedef struct assay__worker_command {
    const char *name;
    assay_status (*run)(assay__worker_state *s, json_t *request, assay__message *m, json_t *reply);
} assay__worker_command;

/* Serves requests on `socket` until its end of file, those of `more` too (ends with a NULL name, or
 * is NULL).  Returns the process exit code. */
int assay__worker_main(int socket, const assay__worker_command *more);

/* Handlers; each returns a status, and may add to `reply`. */
assay_status assay__worker_prepare(assay__worker_state *s, json_t *request, assay__message *m);
assay_status assay__worker_run(assay__worker_state *s, json_t *request);
assay_status assay__worker_time(assay__worker_state *s, json_t *request, json_t *reply);
assay_status assay__worker_device(assay__worker_state *s, json_t *request, json_t *reply);
assay_status assay__worker_device_peaks(assay__worker_state *s, json_t *request, json_t *reply);
assay_status assay__worker_probe(assay__worker_state *s, json_t *request, json_t *reply);
assay_status assay__worker_products(assay__worker_state *s, json_t *request, json_t *reply);
assay_status assay__worker_counters(json_t *reply);
assay_status assay__worker_count(assay__worker_state *s, json_t *request, json_t *reply);
/* What is done just before and just after calls that nobody times; end gets how many there were and
 * how they ended, and says how the pass did. */
typedef struct assay__worker_pass {
    assay_status (*begin)(void *cookie);
    assay_status (*end)(void *cookie, size_t calls, assay_status status);
    void *cookie;
} assay__worker_pass;
/* So many passes of a span each, warm-up and operands as where "time" has its spans. */
assay_status assay__worker_passes(assay__worker_state *s, json_t *request, size_t passes,
                                  const assay__worker_pass *pass);
assay_status assay__worker_wide(assay__worker_state *s, json_t *request, assay__message *m);
assay_status assay__worker_bindings(assay__worker_state *s, json_t *reply);
assay_status assay__worker_can_run(assay__worker_state *s, json_t *request, json_t *reply);
void assay__worker_release(assay__worker_state *s);

/* A kernel named in a request, ready to launch. */
typedef struct assay__worker_kernel {
    const assay_kernel_desc *desc;
    const assay__backend *backend; /* open */
    int64_t tunables[ASSAY_MAX_TUNABLES];
} assay__worker_kernel;
/* `request` names backend, kernel and tunables; needs a prepared problem. */
assay_status assay__worker_kernel_find(assay__worker_state *s, json_t *request,
                                       assay__worker_kernel *out);
/* The same for any problem. */
assay_status assay__worker_kernel_for(assay__worker_state *s, json_t *request,
                                      const assay_problem *problem, assay__worker_kernel *out);
/* The kernel called `name` of a manifest for the problem's op and dtypes; NULL: none. */
const assay_kernel_desc *assay__manifest_find(const assay_manifest *manifest, const char *name,
                                              const assay_problem *problem);
/* The oracle of an op in the plug-in "ref". */
assay_status assay__worker_oracle(assay__worker_state *s, const assay_problem *problem,
                                  const assay_oracle_desc **out);
/* ---- operand sets to rotate over: worker_pool.c ---- */

#define ASSAY__WORKER_POOL_SETS 4096u

/* Copies of the operands: all inputs first, made read-only once filled so that a kernel that
 * writes there faults on the spot, then all outputs.  Kept while the problem stays prepared. */
typedef struct assay__worker_pool {
    const assay__backend *apart; /* whose memory it lies in; NULL: the host's */
    struct assay__worker_pool *next;
    char *inputs, *outputs;                        /* of the host's */
    size_t input_bytes, output_bytes;              /* of all sets */
    assay_buffer far_inputs, far_outputs, scratch; /* of a device's; tuner/worker_apart.h */
    bool has_far, has_scratch;
    char *near_output; /* owned: one that was brought here */
    size_t sets, filled;
    size_t touched; /* sets whose inputs a kernel has read since they were put out of the caches */
    assay_tensor *operands; /* sets * dtype_count */
    assay_launch *launches;
} assay__worker_pool;

/* The pool of this backend's memory, made on first use, as w->pool. */
assay_status assay__worker_pool_use(assay__worker_problem *w, const assay__backend *backend,
                                    double rotate_bytes);
void assay__worker_pools_clear(assay__worker_problem *w);
/* The first `sets` sets: fresh poison in every output, launches of this kernel.  No cache holds an
 * output then. */
assay_status assay__worker_pool_aim(assay__worker_problem *w, const assay__worker_kernel *k,
                                    size_t sets);
/* Puts them out of all caches; bytes of operands that are in none then. */
double assay__worker_pool_cool(const assay__worker_problem *w, size_t sets);
/* Input set `set` where the launch `at` has its inputs. */
assay_status assay__worker_pool_refill(assay__worker_problem *w, size_t at, size_t set);
/* Poison where it has its output; and that output, whole, valid until the next call. */
assay_status assay__worker_pool_poison(assay__worker_problem *w, size_t at);
assay_status assay__worker_pool_output(const assay__worker_problem *w, size_t at, char **out);
/* Outputs of a device apart that are what they should be need not be brought here: where the parent
 * knows the device's digest of such a one (runtime/word_digest.h), and all have it, that is told in
 * place of the output. */
typedef struct assay__worker_shown {
    const char *expected; /* digest that the parent wants; NULL: it compares what it gets */
    uint64_t far;         /* the device's of the same output, its surroundings included; in: what it
                             is to be, out: what it is */
    bool has_far;         /* in and out */
    bool as_expected;
    bool is_there; /* in the output file; else all outputs had the digest that was wanted */
} assay__worker_shown;

/* Puts what is judged of a timed run of so many calls over so many sets into the problem's output
 * file.  ASSAY_DEVICE: the kernel wrote to its inputs. */
assay_status assay__worker_pool_show(assay__worker_problem *w, size_t sets, size_t calls,
                                     assay__worker_shown *shown);
/* Has it the digest `expected`? */
bool assay__worker_output_is(const void *output, size_t bytes, const char *expected);

/* Puts input set `set` where inputs lie. */
assay_status assay__worker_place(assay__worker_problem *p, size_t set);
/* Operand addresses of inputs at `inputs` and the output at `output`. */
void assay__worker_addresses(const assay__worker_problem *p, char *inputs, char *output,
                             void *out[ASSAY_MAX_OPERANDS]);

#endif

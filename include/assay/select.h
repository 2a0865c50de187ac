/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* assay/select.h -- which backend to take: a registry over a context's plug-ins, selection by what
 * a device can do, routing by class of op, and acquiring engines.
 *
 * Nothing here is measured, compiled or downloaded.  Selection is a static rule over flags and
 * priorities; assay_route_class asks the store first.  Same registry, same request, same answer:
 * neither time nor order of loading enters.
 *
 * Threads: any number may use one registry at once; destroy needs it alone.  A call that opens a
 * backend for the first time lets the others wait for that.
 *
 * Text in out-parameters is a copy; names are the plug-ins' own, which are never unloaded.
 *
 * Source of the rules: the compute-backend contract of docs/backends.md (kinds, priorities,
 * request, fallback chain, classes) and its dispatch contract (score, ranking of
 * acquire_preferred). */
#ifndef ASSAY_SELECT_H
#define ASSAY_SELECT_H

#include "assay/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- kinds ---- */

/* X(NAME, number, name, default priority, aliases): a maker's own interface before those that are
 * portable, these before the host. */
#define ASSAY_BACKEND_KIND_MAP(X)                  \
    X(CUDA, 1, "cuda", 100, "nvidia")              \
    X(ROCM, 2, "rocm", 90, "hip,amd")              \
    X(METAL, 3, "metal", 85, "mtl,apple")          \
    X(LEVEL_ZERO, 4, "level_zero", 80, "l0,intel") \
    X(VULKAN, 5, "vulkan", 60, "vk")               \
    X(WEBGPU, 6, "webgpu", 50, "wgpu")             \
    X(CPU, 7, "cpu", 1, "host,reference")

typedef enum assay_backend_kind {
    ASSAY_BACKEND_KIND_ANY = 0, /* in requests */
#define X(name, number, text, priority, aliases) ASSAY_BACKEND_KIND_##name = (number),
    ASSAY_BACKEND_KIND_MAP(X)
#undef X
} assay_backend_kind;

/* "?" for ANY and for a number outside. */
const char *assay_backend_kind_name(assay_backend_kind kind);
/* 0 for ANY and for a number outside. */
int32_t assay_backend_kind_priority(assay_backend_kind kind);
/* A name or alias; spaces around it and case do not matter.  ASSAY_INVALID lists the names. */
assay_status assay_backend_kind_parse(const char *text, assay_backend_kind *out);

/* ---- the registry ---- */

typedef struct assay_registry assay_registry; /* opaque; owned by whoever created it */

/* One entry for each usable plug-in of the context, none for a bare context; files that are no
 * usable plug-in are no entries (assay_engine_create says why).  Opens nothing.  context: outlives
 * the registry.  ASSAY_NOMEM. */
assay_status assay_registry_create(assay_context *context, assay_registry **out);
void assay_registry_destroy(assay_registry **registry); /* engines that were acquired stay */

/* Forgets what backends said of themselves, so that the next call asks them anew: after a driver
 * was installed or a device added.  Priorities and what was switched off stay. */
void assay_registry_refresh(assay_registry *registry);

typedef struct assay_backend_entry {
    const char *name;
    const char *version;     /* "unspecified" when the plug-in does not say */
    assay_backend_kind kind; /* by where its kernels' operands lie: assay_manifest.location */
    int32_t priority;        /* the kind's, unless it was set */
    /* It opens, has a device and, when it has kernels, at least one that can run here; and it was
     * not switched off. */
    uint32_t available;
    uint32_t explicit_only;       /* chosen only when named: null, fake, ref */
    uint32_t is_oracle;           /* has references to judge others by; chosen only when named */
    uint32_t dispatches;          /* has kernels */
    uint64_t features;            /* profile.features */
    assay_device_profile profile; /* of device 0, with the rates measured here; all 0 and rates NaN
                                     when it cannot be opened */
    char reason[256];             /* why it is not available; "" */
} assay_backend_entry;

/* All, sorted by name.  Opens every backend that was not opened yet; one that fails is listed with
 * its reason.  out NULL and cap 0: only *count, and nothing is opened; else fills at most cap. */
assay_status assay_backends_list(assay_registry *registry, assay_backend_entry *out, size_t cap,
                                 size_t *count);
/* ASSAY_UNAVAILABLE: there is none of this name; the text lists those there are. */
assay_status assay_backend_find(assay_registry *registry, const char *name,
                                assay_backend_entry *out);
/* Any number; larger wins.  ASSAY_UNAVAILABLE as above. */
assay_status assay_backend_set_priority(assay_registry *registry, const char *name,
                                        int32_t priority);
/* false: not selected, routed to or acquired through this registry.  true takes that back; it makes
 * nothing available that cannot be opened.  Engines that are there go on.  ASSAY_UNAVAILABLE as
 * above. */
assay_status assay_backend_set_available(assay_registry *registry, const char *name,
                                         bool available);

/* ---- selection ---- */

#define ASSAY_FEATURE_BIT(name) (UINT64_C(1) << ASSAY_FEATURE_##name)

/* All 0 but struct_size: no demands. */
typedef struct assay_select_request {
    uint32_t struct_size;
    uint32_t require_gpu;    /* 1: no backend of kind CPU */
    assay_backend_kind kind; /* ANY: does not matter */
    uint32_t allow_cpu;      /* assay_acquire_preferred only: 1: kind CPU may be taken unnamed */
    const char *pin;         /* exactly this backend; NULL: any */
    const char *exclude;     /* comma list of names; those that are not here matter nothing */
    uint64_t features;       /* each of these must be there: ASSAY_FEATURE_BIT(F16) | ... */
} assay_select_request;

typedef struct assay_selection {
    const char *name;
    assay_backend_kind kind;
    int32_t priority;
    assay_tier tier; /* MEASURED: the store answered; else UNKNOWN: a static rule */
    char why[1024];  /* what was left out and why this one won */
} assay_selection;

/* The backend of the highest priority among those that are available, have every feature and meet
 * the rest of the request; of equal priorities the kind with the higher default; of equals the
 * one with kernels for more ops, then the first by name.  (The seed means the first registered and
 * keeps the last.)  Oracles and explicit-only backends are taken only when pinned. request NULL: no
 * demands.  ASSAY_UNSUPPORTED: none matches; the text has each one's reason. ASSAY_INVALID: the
 * request has a kind or feature that does not exist. */
assay_status assay_select(assay_registry *registry, const assay_select_request *request,
                          assay_selection *out);

typedef struct assay_fallback {
    const char *name;
    assay_backend_kind kind;
    int32_t priority;
    uint32_t is_last_resort; /* 1: kind CPU */
} assay_fallback;
/* All that match, best first by the same rule, but kind CPU after all others whatever its priority.
 * Two calls as above.  Statuses of assay_select; none matching is ASSAY_UNSUPPORTED, too. */
assay_status assay_fallback_chain(assay_registry *registry, const assay_select_request *request,
                                  assay_fallback *out, size_t cap, size_t *count);

/* ---- routing by class of op ---- */

#define ASSAY_OP_CLASS_MAP(X)     \
    X(MATMUL, "matmul")           \
    X(CONVOLUTION, "convolution") \
    X(ATTENTION, "attention")     \
    X(REDUCTION, "reduction")     \
    X(ELEMENTWISE, "elementwise") \
    X(MEMORY, "memory")

typedef enum assay_op_class {
#define X(name, text) ASSAY_OP_CLASS_##name,
    ASSAY_OP_CLASS_MAP(X)
#undef X
        ASSAY_OP_CLASS_COUNT
} assay_op_class;

const char *assay_op_class_name(assay_op_class op_class); /* "?" for a number outside */
/* By family: contractions are MATMUL but for those whose name begins with conv2d; rows (softmax),
 * norms and reductions are REDUCTION; gather and scatter MEMORY; casts ELEMENTWISE.
 * ASSAY_OP_CLASS_COUNT for a number outside the catalogue. */
assay_op_class assay_op_class_of(assay_op_id op);

/* With a question, the store first: the route picked among the backends that could be selected
 * answers when its tier is MEASURED; the text names kernel and time.  Else, and without a question,
 * the static rule: MATMUL, CONVOLUTION and ATTENTION take a backend with tensor cores when one
 * matches; then, and for the other classes, assay_select without demands.  With a question a
 * backend needs a kernel for its op and dtypes besides, and question->backends, when given, is who
 * may answer, explicit-only ones among them.  `why` says which tier answered.
 * ASSAY_INVALID: the question's op is of another class.  ASSAY_UNSUPPORTED: as assay_select. */
assay_status assay_route_class(assay_registry *registry, assay_op_class op_class,
                               const assay_question *question, assay_selection *out);

/* ---- engines ---- */

/* The engine of exactly this backend, initialised on device 0.  options: as for
 * assay_engine_create.  ASSAY_UNAVAILABLE: there is none of this name, or it is switched off; else
 * what creating and initialising it returned. */
assay_status assay_acquire(assay_registry *registry, const char *name,
                           const assay_engine_options *options, assay_engine **out);

/* Points of a device: reported limit of buffers 16; 64 invocations a workgroup 8, 256 another 4;
 * known subgroup size 8; subgroup operations 8, shuffle 4; shared memory 4; tensor cores 4; f16,
 * bf16, indirect dispatch, device timestamps, hardware counters 2 each.  It counts what a device
 * can do and says nothing of how fast.  NULL: 0. */
uint32_t assay_capability_score(const assay_device_profile *profile);

/* Initialises an engine of every backend that has kernels and meets the request, keeps the best and
 * destroys the others.  Best: the higher score; then the better timing; then the higher measured
 * memory bandwidth (unknown counts as 0); then priority and the kind's default; then name.  How
 * long acquiring took decides nothing: it would make answers differ from run to run. Oracles,
 * explicit-only backends and those of kind CPU are taken only when pinned; the latter also when
 * request->allow_cpu is 1. ASSAY_UNAVAILABLE: none is left; the text has each one's reason.
 * ASSAY_INVALID as assay_select. out: owned by the caller.  selection: NULL, or who it is and why.
 */
assay_status assay_acquire_preferred(assay_registry *registry, const assay_select_request *request,
                                     const assay_engine_options *options, assay_engine **out,
                                     assay_selection *selection);

#ifdef __cplusplus
}
#endif
#endif

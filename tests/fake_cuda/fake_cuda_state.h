/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/fake_cuda/fake_cuda_state.h -- what the files of the scripted driver share. */
#ifndef ASSAY_TESTS_FAKE_STATE_H
#define ASSAY_TESTS_FAKE_STATE_H

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_DEVICES = 8, FAKE_FAILS = 16, FAKE_NAMES = 128, FAKE_NODES = 4096, FAKE_ARGS = 8 };

typedef struct fake_fail {
    char name[48];
    long after, times; /* calls of that name that still succeed, and that then fail */
    CUresult result;
    bool is_set;
} fake_fail;

typedef struct fake_count {
    const char *name;
    size_t calls;
} fake_count;

/* A launch that waits in a graph, its arguments copied. */
typedef struct fake_node {
    int kernel;
    uint64_t arguments[FAKE_ARGS];
} fake_node;

typedef struct fake_block { /* memory of the device, or of the host in a context's care */
    struct fake_block *next;
    struct CUctx_st *context;
    void *memory;
    size_t bytes;
    bool is_host, is_registered;
} fake_block;

struct CUctx_st {
    int device;
    CUresult poison; /* CUDA_SUCCESS: none */
    CUresult coming; /* what the next wait finds out */
    CUresult late;   /* what one for all streams does */
};
struct CUstream_st {
    struct CUctx_st *context;
    double now_ns;
    bool is_capturing;
    struct CUgraph_st *graph;
};
struct CUevent_st {
    double at_ns;
    bool is_pending;
    unsigned hold; /* of the script when it was recorded */
};
struct CUgraph_st {
    size_t count;
    fake_node nodes[FAKE_NODES];
};
struct CUgraphExec_st {
    struct CUgraph_st graph;
};

typedef struct fake_driver {
    pthread_mutex_t lock;
    int version, devices, sm, init;
    int order[FAKE_DEVICES];
    size_t memory, used[FAKE_DEVICES];
    double ns, gap;
    double ghz, stretch, bytes_per_ns, round_ns; /* of probes */
    fake_fail fails[FAKE_FAILS];
    fake_count counts[FAKE_NAMES];
    bool is_held, cannot_capture, is_ready;
    unsigned hold;
    size_t live;
    int cupti;               /* what enabling records returns */
    size_t lose, dropped;    /* flushes that lose a record; records that are told as dropped */
    size_t keep, keep_after; /* flushes that leave a record to the next; those that first do not */
    unsigned clock_mhz;      /* what NVML reads */
    unsigned long long reasons;
    fake_block *blocks;
} fake_driver;

extern fake_driver fake;

/* Takes the lock, counts the call and says how it fails by script; with a context it also fails as
 * that one is poisoned. */
CUresult fake_begin(const char *name, bool needs_context);
/* Lets go; what poisons a context does. */
CUresult fake_end(CUresult result);
struct CUctx_st *fake_current(void);
void fake_set_current(struct CUctx_st *context);

/* The block that holds all of [at, at + bytes); NULL: none. */
fake_block *fake_find(const void *at, size_t bytes);

/* A function that stands for one of the device.  Its arguments are of 8 bytes each. */
typedef struct fake_kernel {
    const char *name;
    int arguments;
    CUresult (*run)(const uint64_t *arguments);
    bool is_late; /* its fault shows when all streams are waited for */
    int weight;   /* the argument (1: the first) that says how many times `ns` it takes; 0: once */
} fake_kernel;
extern const fake_kernel fake_villains[]; /* until one has no name */
extern const fake_kernel fake_probes[];   /* the same */
extern const fake_kernel fake_shown[];    /* the same */
extern const fake_kernel fake_judges[];   /* the same */
/* What a probe takes beside `ns`; others 0. */
double fake_probe_ns(const fake_kernel *k, const uint64_t *arguments);

/* Lock held. */
void fake_run(struct CUctx_st *context, const fake_node *node);

/* A record of CUPTI's, where such are wanted.  Lock held. */
void fake_note(const struct CUstream_st *s, double from_ns, double to_ns, bool is_graph);

/* FAKE_CALL(name, needs_context, result): what a call of the driver does between the two. */
#define FAKE_CALL(name, needs_context, ...)                 \
    do {                                                    \
        CUresult result_ = fake_begin(name, needs_context); \
        if (result_ == CUDA_SUCCESS)                        \
            result_ = (__VA_ARGS__);                        \
        return fake_end(result_);                           \
    } while (0)

#endif

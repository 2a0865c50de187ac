/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_instance.h -- one instance of this plug-in, as its host side sees it.
 *
 * An instance has a context of its own, not the device's primary one: an error that poisons a
 * context (a kernel's illegal address) then stays with the instance that made it, and recover can
 * destroy the context and make another, which nobody can do with a context that others hold.  It is
 * made by the first slot that needs it, so that listing devices takes none of their memory.
 *
 * Locks, outermost first: `life` (every slot reads, recover writes), a queue's lock (held while a
 * kernel enqueues; `timed`'s before `own`'s), the staging lock, `lock`.  Nobody waits for the
 * device with `lock` held. */
#ifndef BACKENDS_CUDA_CUDA_INSTANCE_H
#define BACKENDS_CUDA_CUDA_INSTANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "backends/cuda/cuda.h"
#include "backends/cuda/cuda_driver.h"
#include "backends/lead_in.h"
#include "backends/nvml.h"
#include "runtime/host_pinned.h"

enum {
    CUDA_ALIGN = 256,    /* what cuMemAlloc gives at least */
    CUDA_RING = 64,      /* launches of a queue whose buffers are pinned */
    CUDA_HALF = 4 << 20, /* bytes of one half of the staging memory */
    CUDA_PARTS = 64,     /* pieces of downloads that lie in one half */
    CUDA_BUCKETS = 64    /* of the table of functions */
};

typedef struct cuda_slot {
    CUdeviceptr address; /* 0: free slot */
    CUdeviceptr block;   /* what cuMemAlloc gave, where that is not yet aligned as asked; else 0 */
    void *wrapped;       /* the host's memory behind it, borrowed; NULL: owned memory */
    uint64_t bytes;
    uint32_t generation;
    uint32_t users; /* launches and transfers that still need it */
} cuda_slot;

/* What is known of one device without a context on it. */
typedef struct cuda_device {
    CUdevice number; /* the driver's, which depends on the environment */
    char name[128];
    CUuuid uuid;
    char bus_id[32]; /* "0000:1b:00.0" */
    int place[3];    /* on the bus: domain, bus, device */
    int max_threads[3];
    int can_map_host;
    cuda_limits limits;
} cuda_device;

typedef struct cuda_job { /* a launch that is in a queue */
    CUevent ended;
    uint32_t places[ASSAY_MAX_OPERANDS]; /* slots that it pins */
    uint32_t count;
} cuda_job;

/* A stream and what belongs to it.  The instance has two that no caller sees: `own`, for all that
 * is not queued, and `timed`, for measurements. */
struct assay_queue {
    assay_queue *next; /* of the instance's list; these four under the instance's lock */
    uint64_t generation;
    unsigned holders;
    bool going; /* is being destroyed */
    CUstream stream;
    pthread_mutex_t lock; /* of all below */
    CUdeviceptr workspace;
    uint64_t workspace_bytes;
    uint64_t added, ended; /* jobs; job number n lies at n % CUDA_RING */
    cuda_job ring[CUDA_RING];
    assay_status failed; /* first since the last wait */
    assay_error_detail detail;
    char why[512];
};

struct assay_event {
    assay_event *next; /* of the instance's list, its lock held */
    CUevent mark;
    uint64_t generation;
    atomic_bool is_recorded;
};

typedef struct cuda_part { /* of a download, in staging memory */
    char *to;
    size_t at, bytes;
} cuda_part;
typedef struct cuda_half {
    char *memory;
    CUevent passed;
    size_t used;
    bool is_busy; /* `passed` is recorded and was not waited for */
    cuda_part parts[CUDA_PARTS];
    size_t part_count;
} cuda_half;
typedef struct cuda_staging {
    pthread_mutex_t lock;
    char *memory; /* pinned, both halves; NULL: not made yet */
    cuda_half halves[2];
    int current;
} cuda_staging;

struct cuda_entry;  /* a function that was looked up: cuda_module.c */
struct cuda_loaded; /* a module */
typedef struct cuda_code {
    pthread_mutex_t lock;
    struct cuda_entry *entries[CUDA_BUCKETS];
    struct cuda_loaded *modules;
} cuda_code;

/* What measure says of a clock, once it has been looked at here. */
typedef struct cuda_clock {
    bool is_known;
    double resolution_ns, overhead_ns;
} cuda_clock;

/* What an instance counts; the names of assay_metric, in this order. */
#define CUDA_METRICS(X)   \
    X(allocs)             \
    X(frees)              \
    X(uploads)            \
    X(upload_bytes)       \
    X(downloads)          \
    X(download_bytes)     \
    X(copies)             \
    X(copy_bytes)         \
    X(fills)              \
    X(fill_bytes)         \
    X(staging_operations) \
    X(launches)           \
    X(queued_launches)    \
    X(modules)            \
    X(compilations)       \
    X(losses)             \
    X(recoveries)         \
    X(code_ns)            \
    X(measure_graph_ns)   \
    X(measure_record_ns)  \
    X(measure_untimed_ns)
enum {
#define X(name) CUDA_COUNT_##name,
    CUDA_METRICS(X)
#undef X
        CUDA_COUNTS
};

struct assay_instance {
    const assay_host *host; /* borrowed; may be NULL */
    const cuda_driver *cu;
    /* Mark in buffers: 48 bits unique in the process, then the low bits of the generation. */
    uint64_t owner;
    cuda_device *devices; /* by their place on the bus */
    size_t device_count, device;
    pthread_rwlock_t life;
    pthread_mutex_t making; /* of the context; and reading sensors */
    pthread_mutex_t lock;
    pthread_cond_t let_go; /* a queue has one holder less */
    CUcontext context;
    atomic_bool is_ready; /* it is there, with `own` and `timed` */
    atomic_bool is_lost;
    cuda_slot *slots;
    size_t slot_count;
    uint64_t live_buffers, live_bytes, generation;
    assay_queue *queues; /* those from before a recover stay in it, without a stream */
    assay_event *events;
    assay_queue *own, *timed;
    cuda_staging staging;
    assay__pinned pinned;
    cuda_code code;
    cuda_clock clocks[2]; /* by records, by events; `timed`'s lock held */
    lead_pace pace;       /* likewise */
    lead_pace rough;      /* what a row that was timed roughly leaves to the next measurement */
    int spans_by;         /* likewise: the clock of the last spans that were kept, */
    bool has_spans_by;    /* if there were any */
    assay__nvml sensors;
    void *blaslt;
    _Atomic uint64_t counts[CUDA_COUNTS];
};

static inline const cuda_device *cuda_selected(const assay_instance *instance)
{
    return &instance->devices[instance->device];
}

static inline void cuda_count(assay_instance *instance, int what, uint64_t by)
{
    atomic_fetch_add_explicit(&instance->counts[what], by, memory_order_relaxed);
}

/* CLOCK_MONOTONIC_RAW. */
static inline uint64_t cuda_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static inline void cuda_count_since(assay_instance *instance, int what, uint64_t begin_ns)
{
    cuda_count(instance, what, cuda_now_ns() - begin_ns);
}

/* ---- errors: cuda_error.c ---- */

__attribute__((format(printf, 3, 4))) assay_status
cuda_fail_detail(const assay_instance *instance, const assay_error_detail *detail,
                 const char *format, ...);
/* Text and numbers of the calling thread's last failure in this plug-in. */
const char *cuda_last_text(void);
const assay_error_detail *cuda_last_detail(void);
void cuda_clear_text(void);
assay_status cuda_fail_lost(const assay_instance *instance, const char *what);
assay_status cuda_fail_generation(const assay_instance *instance, const char *what);

/* ---- life: cuda_life.c ---- */

/* Enters a slot: the device is not lost, the context is there and is the thread's.  What returns OK
 * is left by cuda_leave. */
assay_status cuda_enter(assay_instance *instance, const char *what);
/* The same for slots that also work on a lost device or before there is a context. */
void cuda_enter_any(assay_instance *instance);
void cuda_leave(assay_instance *instance);
assay_status cuda_open(const assay_host *host, assay_instance **out);
void cuda_close(assay_instance *instance);
assay_status cuda_select_device(assay_instance *instance, size_t device);
assay_status cuda_prepare(assay_instance *instance);
assay_status cuda_state(assay_instance *instance, assay_instance_state *out);
assay_status cuda_recover(assay_instance *instance);
assay_status cuda_metrics(assay_instance *instance, assay_metric *out, size_t cap, size_t *count);

/* ---- devices: cuda_device.c ---- */

/* All devices in the order of the bus; the caller frees *out. */
assay_status cuda_list_devices(assay_instance *instance, cuda_device **out, size_t *count);
assay_status cuda_device_count(assay_instance *instance, size_t *out);
assay_status cuda_device_info(assay_instance *instance, size_t device, assay_device_info *out);
assay_status cuda_device_profile(assay_instance *instance, size_t device,
                                 assay_device_profile *out);

/* ---- memory: cuda_memory.c, cuda_transfer.c ---- */

assay_status cuda_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                        assay_buffer *out);
assay_status cuda_free(assay_instance *instance, assay_buffer buffer);
assay_status cuda_wrap(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out);
assay_status cuda_map(assay_instance *instance, assay_buffer buffer, void **host, uint64_t *bytes);
assay_status cuda_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                       assay_buffer src, uint64_t src_offset, uint64_t bytes);
assay_status cuda_fill(assay_instance *instance, assay_buffer dst, uint64_t offset, uint64_t bytes,
                       uint8_t value);
assay_status cuda_upload(assay_instance *instance, const assay_transfer *pieces, size_t count);
assay_status cuda_download(assay_instance *instance, const assay_transfer *pieces, size_t count);

/* Where bytes of a buffer lie.  host: NULL for memory of the device. */
typedef struct cuda_place {
    char *host;
    CUdeviceptr device;
    uint32_t slot; /* of the device's */
} cuda_place;

/* Looks up a range and pins its slot until cuda_unpin. */
assay_status cuda_pin(assay_instance *instance, const char *what, assay_buffer buffer,
                      uint64_t offset, uint64_t bytes, cuda_place *out);
void cuda_unpin(assay_instance *instance, const cuda_place *place);
void cuda_unpin_slots(assay_instance *instance, const uint32_t *slots, uint32_t count);
/* Operands with handles replaced by device addresses; their slots, pinned, in slots[0..*count). */
assay_status cuda_resolve(assay_instance *instance, const assay_launch *in, assay_launch *out,
                          assay_tensor *operands, uint32_t *slots, uint32_t *count);
/* Every slot becomes free and handles of before are void; the context goes anyway. */
void cuda_forget_memory(assay_instance *instance);

/* ---- digests: cuda_digest.c ---- */

assay_status cuda_digest(assay_instance *instance, assay_buffer buffer, uint64_t offset,
                         uint64_t bytes, uint64_t step, size_t count, uint64_t *out);

/* ---- staging: cuda_staging.c ---- */

typedef struct cuda_piece {
    char *host;
    cuda_place at;
    uint64_t bytes;
} cuda_piece;
/* Moves pieces in order through pinned memory, and waits once. */
assay_status cuda_stage(assay_instance *instance, const cuda_piece *pieces, size_t count, bool up);
assay_status cuda_make_staging(assay_instance *instance);
void cuda_drop_staging(assay_instance *instance);

/* ---- memory of the host that needs no staging: cuda_pinned.c ---- */

assay_status cuda_host_alloc(assay_instance *instance, uint64_t bytes, void **out);
assay_status cuda_host_free(assay_instance *instance, void *host);
/* The context goes: what was fixed is plain memory from now on. */
void cuda_loosen_host(assay_instance *instance);
/* The instance goes, and all of it. */
void cuda_drop_host(assay_instance *instance);

/* ---- from device to device: cuda_peer.c ---- */

assay_status cuda_peer_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                            assay_instance *source, assay_buffer src, uint64_t src_offset,
                            uint64_t bytes);

/* ---- launches and queues: cuda_queue.c; events: cuda_event.c ---- */

assay_status cuda_make_queue(assay_instance *instance, assay_queue **out);
/* forget: the context is lost or going, and its handles with it; else they are destroyed. */
void cuda_drop_stream(assay_instance *instance, assay_queue *queue);
void cuda_free_queue(assay_queue *queue);
void cuda_drop_queues(assay_instance *instance);
void cuda_forget_queues(assay_instance *instance);
void cuda_reap_queues(assay_instance *instance);
assay_status cuda_hold_queue(assay_instance *instance, assay_queue *queue, bool any_age);
void cuda_let_go_queue(assay_instance *instance, assay_queue *queue);
assay_status cuda_launch(assay_instance *instance, assay_kernel_fn run, const assay_launch *launch);
assay_status cuda_synchronize(assay_instance *instance);
assay_status cuda_queue_create(assay_instance *instance, assay_queue **out);
assay_status cuda_queue_destroy(assay_instance *instance, assay_queue *queue);
assay_status cuda_queue_wait(assay_instance *instance, assay_queue *queue);
assay_status cuda_event_create(assay_instance *instance, assay_event **out);
assay_status cuda_event_destroy(assay_instance *instance, assay_event *event);
assay_status cuda_event_record(assay_instance *instance, assay_event *event, assay_queue *queue);
assay_status cuda_event_wait(assay_instance *instance, assay_event *event);
assay_status cuda_event_ready(assay_instance *instance, assay_event *event, bool *out);
assay_status cuda_event_elapsed(assay_instance *instance, assay_event *from, assay_event *to,
                                double *out_ns);

/* ---- code: cuda_module.c, cuda_nvrtc.c ---- */

void cuda_drop_code(assay_instance *instance);
/* Machine code (or, for a device that the compiler does not know yet, PTX) of CUDA C; kept for the
 * process.  key: the options, one a line. */
assay_status cuda_compile(assay_instance *instance, const cuda_source *source,
                          const char *const *options, const char *key, const void **out);
assay_status cuda_nvrtc_identity(const assay_instance *instance, char *buf, size_t cap);

/* ---- measuring: cuda_measure.c ---- */

assay_status cuda_measure(assay_instance *instance, const assay_measure *what,
                          assay_clock_info *clock);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/vulkan/vulkan.h -- what the files of the Vulkan backend share.
 *
 * Operands.  Buffers lie in device memory; the slots launch and measure replace each handle by the
 * device's address of it: `at.host` holds the address and `owner` a mark of this instance and
 * generation, which no handle has.  Kernels read it by vulkan_address alone and pass addresses as
 * push constants (buffer device addresses, Vulkan 1.2), so that a dispatch costs no descriptor.
 * Operands in host memory are refused by number.
 *
 * Layers, each using those before it: loader (one VkInstance for the process, never destroyed:
 * drivers are unloaded with the last one and leave memory behind), devices, device (VkDevice with
 * its queues, made at the first need), memory, submit, pipeline, dispatch, transfer, measure.
 *
 * Locks, in the order in which they are taken: instance->gate (shared by all who use the VkDevice,
 * alone by who makes or destroys it), staging.lock, instance->base.lock, those of lists.  Queues,
 * events, faults and counters are those of runtime/host_*.c, which ask assay__host_resolve here. */
#ifndef ASSAY_BACKENDS_VULKAN_H
#define ASSAY_BACKENDS_VULKAN_H

#include "backends/lead_in.h"
#include "backends/nvml.h"
#include "backends/vulkan/vulkan_calls.h"
#include "backends/vulkan/vulkan_heap.h"
#include "backends/vulkan/vulkan_limits.h"
#include "backends/vulkan/vulkan_order.h"
#include "runtime/host_backend.h"

/* ---- loader: vulkan_loader.c ---- */

typedef struct vulkan_loader {
    VkInstance handle;
    vulkan_calls call;
} vulkan_loader;

/* The loader and the instance of the process; ASSAY_UNAVAILABLE with what to install. */
assay_status vulkan_loader_get(assay_instance *instance, const vulkan_loader **out);
/* Messages of the validation layer so far, of the whole process; 0 where it is off. */
uint64_t vulkan_messages(void);
/* ASSAY_DEVICE with the first message's text where some came since the last such failure. */
assay_status vulkan_tell_messages(assay_instance *instance);

/* ---- devices: vulkan_devices.c ---- */

typedef struct vulkan_found {
    VkPhysicalDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceFloatControlsProperties floats;
    VkPhysicalDeviceMemoryProperties memory;
    vulkan_rank rank;
    char uuid[VULKAN_UUID_TEXT];
    uint32_t family; /* of queues: compute, without graphics where there is one */
    uint32_t queue_count, timestamp_bits;
    uint32_t subgroup_size;
    uint64_t max_buffer_bytes;
    bool has_16bit_storage, has_budget, has_calibration, has_maintenance4;
} vulkan_found;

/* Usable ones in our order, narrowed by ASSAY_VULKAN_DEVICE; *out is the caller's to free.
 * ASSAY_UNAVAILABLE with the reason when there is none. */
assay_status vulkan_find_devices(assay_instance *instance, const vulkan_loader *loader,
                                 vulkan_found **out, size_t *count);
const char *vulkan_type_name(VkPhysicalDeviceType type);
/* Do its loops end before they are done?  vulkan_limits has how many rounds they make. */
static inline bool vulkan_loops_end(const vulkan_found *f)
{
    return f->driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
}
/* Largest heap of the device's own. */
uint32_t vulkan_device_heap(const VkPhysicalDeviceMemoryProperties *memory);

/* ---- device: vulkan_device.c ---- */

enum {
    VULKAN_QUEUES = 4,
    VULKAN_CONSTANTS = 5,
    VULKAN_PUSH = 128,
    VULKAN_PARTS = 4,
    VULKAN_MOVES = 64
};

typedef struct vulkan_block vulkan_block;
typedef struct vulkan_pipeline vulkan_pipeline;

/* A command buffer with what it takes to submit it; in nobody's hands it is in the device's list.
 */
typedef struct vulkan_commands {
    struct vulkan_commands *next;
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkFence fence;
    uint32_t queue;
    bool is_recording;
    /* The one dispatch that it holds, to be submitted again; NULL: something else. */
    const vulkan_pipeline *pipeline;
    uint32_t grid[2];
    unsigned char push[VULKAN_PUSH];
} vulkan_commands;

typedef struct vulkan_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    VkDeviceAddress address; /* 0: of a buffer that kernels do not reach */
    char *host;              /* NULL: not mapped */
    uint64_t bytes;
} vulkan_buffer;

typedef struct vulkan_part {
    vulkan_commands *commands; /* NULL: nothing under way */
    uint64_t used;
    size_t move_count;
    struct {
        void *to;
        uint64_t offset, bytes;
    } moves[VULKAN_MOVES]; /* of a download: what goes where once it has ended */
} vulkan_part;

typedef struct vulkan_staging {
    pthread_mutex_t lock;
    vulkan_buffer buffer; /* VULKAN_PARTS parts, used in turn */
    vulkan_part parts[VULKAN_PARTS];
    unsigned current;
} vulkan_staging;

/* Both clocks at one moment. */
typedef struct vulkan_moment {
    uint64_t ticks, host_ns;
} vulkan_moment;

typedef struct vulkan_device {
    const vulkan_found *found;
    VkDevice handle;
    vulkan_device_calls call;
    VkQueue queues[VULKAN_QUEUES];
    pthread_mutex_t queue_locks[VULKAN_QUEUES];
    uint32_t queue_count;
    vulkan_limits limits;
    pthread_mutex_t lock; /* of the lists below */
    vulkan_commands *idle;
    uint32_t commands_made;
    vulkan_pipeline *pipelines;
    VkPipelineLayout layout; /* push constants alone: one for all */
    VkPipelineCache cache;
    vulkan_block *blocks; /* the instance's lock */
    vulkan_staging staging;
    VkQueryPool queries; /* VK_NULL_HANDLE: no timestamps */
    pthread_mutex_t measuring;
    double overhead_ns;  /* of an empty span; below 0: not known yet */
    lead_pace pace;      /* `measuring` held, as for the one before */
    vulkan_moment begun; /* when both clocks were first read together; host_ns 0: never */
} vulkan_device;

typedef struct vulkan_slot {
    vulkan_block *block; /* of alloc */
    char *host;          /* of wrap, borrowed; both NULL: free */
    uint64_t offset, bytes;
    uint32_t generation;
    uint32_t users; /* queued launches that still need it */
} vulkan_slot;

#define VULKAN_METRICS(X) \
    X(dispatches)         \
    X(resubmissions)      \
    X(pipelines)          \
    X(blocks)             \
    X(measured_spans)     \
    X(lead_launches)
enum {
#define X(name) VULKAN_COUNT_##name,
    VULKAN_METRICS(X)
#undef X
        VULKAN_COUNTS
};

typedef struct vulkan_instance {
    struct assay_instance base; /* first: the library knows this */
    const vulkan_loader *loader;
    vulkan_found *devices;
    size_t device_count, selected;
    pthread_rwlock_t gate;
    vulkan_device *device; /* NULL: not needed yet */
    vulkan_slot *slots;
    size_t slot_count;
    assay__nvml sensors;
    _Atomic uint64_t counts[VULKAN_COUNTS];
} vulkan_instance;

static inline vulkan_instance *vulkan_of(assay_instance *instance)
{
    return (vulkan_instance *)(void *)instance; /* its first member */
}

static inline void vulkan_count(vulkan_instance *v, int what, uint64_t by)
{
    atomic_fetch_add_explicit(&v->counts[what], by, memory_order_relaxed);
}

/* The text of a failed call: ASSAY_DEVICE_LOST, and then the instance is; ASSAY_NOMEM; else
 * ASSAY_DEVICE with the driver's code. */
assay_status vulkan_fail(vulkan_instance *v, const char *what, VkResult result);
/* The same after which nobody knows what the device is at: it counts as lost.  In the gate. */
assay_status vulkan_lose(vulkan_instance *v, const char *what, VkResult result);
#define VULKAN_TRY(v, what, expr)                   \
    do {                                            \
        const VkResult result_ = (expr);            \
        if (result_ != VK_SUCCESS)                  \
            return vulkan_fail((v), what, result_); \
    } while (0)

/* Takes the gate, shared, with the device made.  On success vulkan_leave must follow. */
assay_status vulkan_enter(vulkan_instance *v);
void vulkan_leave(vulkan_instance *v);
/* With the gate held alone, or nobody else inside. */
void vulkan_device_destroy(vulkan_instance *v);

/* ---- memory: vulkan_memory.c, vulkan_slots.c ---- */

/* usage: VkBufferUsageFlags; wanted, liked: memory properties. */
assay_status vulkan_buffer_make(vulkan_instance *v, uint64_t bytes, VkBufferUsageFlags usage,
                                VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags liked,
                                vulkan_buffer *out);
void vulkan_buffer_clear(vulkan_device *d, vulkan_buffer *buffer);
/* Room for a buffer; base.lock held. */
assay_status vulkan_block_take(vulkan_instance *v, uint64_t bytes, uint64_t align,
                               vulkan_block **block, uint64_t *offset);
void vulkan_block_give(vulkan_block *block, uint64_t offset);
/* Destroys blocks with nothing in them, all but one unless `all`; the gate held alone. */
void vulkan_blocks_trim(vulkan_instance *v, bool all);
bool vulkan_blocks_are_idle(
    const vulkan_instance *v); /* two or more with nothing; base.lock held */
const vulkan_buffer *vulkan_block_buffer(const vulkan_block *block);
/* What the device has left for us, by its budget where it tells one. */
uint64_t vulkan_free_bytes(const vulkan_instance *v);

typedef struct vulkan_place {
    VkBuffer buffer;
    uint64_t offset, bytes;
    char *host; /* not NULL: there, and not on the device */
} vulkan_place;
/* Bytes of a handle; its statuses, INVALID for a range outside. */
assay_status vulkan_find_place(vulkan_instance *v, const char *what, assay_buffer buffer,
                               uint64_t offset, uint64_t bytes, vulkan_place *out);

/* Addresses of a launch's operands, 0 where there are no elements; refuses those that are no
 * buffers of the device, by number. */
assay_status vulkan_addresses(const assay_launch *launch, uint64_t *out);

assay_status vulkan_alloc(assay_instance *instance, uint64_t bytes, uint64_t align,
                          assay_buffer *out);
assay_status vulkan_free(assay_instance *instance, assay_buffer buffer);
assay_status vulkan_wrap(assay_instance *instance, void *host, uint64_t bytes, assay_buffer *out);

/* ---- submit: vulkan_submit.c ---- */

/* Of queue `queue` modulo their number; UINT32_MAX: any. */
assay_status vulkan_take_commands(vulkan_instance *v, uint32_t queue, vulkan_commands **out);
/* An idle one that holds just this dispatch, or NULL. */
vulkan_commands *vulkan_take_recorded(vulkan_device *d, const vulkan_pipeline *pipeline,
                                      const uint32_t grid[2], const void *push, size_t push_bytes);
void vulkan_give_commands(vulkan_device *d, vulkan_commands *c);
/* Starts recording; all that was written before is seen. */
assay_status vulkan_begin(vulkan_instance *v, vulkan_commands *c);
assay_status vulkan_end(vulkan_instance *v, vulkan_commands *c);
/* What was recorded and ended, also again. */
assay_status vulkan_submit(vulkan_instance *v, vulkan_commands *c);
assay_status vulkan_wait(vulkan_instance *v, vulkan_commands *c);
/* Everything before is seen by everything behind; to_host: by the host, too. */
void vulkan_barrier(const vulkan_device *d, VkCommandBuffer buffer, bool to_host);

/* ---- pipelines: vulkan_pipeline.c, vulkan_spirv.c, vulkan_shaders.c ---- */

#define VULKAN_MAP_SHADERS(X, op) X(op##_f32, false) X(op##_f16, true) X(op##_bf16, true)
/* X(name, needs storage of 16 bits) */
#define VULKAN_SHADERS(X)             \
    X(matmul_f32, false)              \
    X(probe_empty, false)             \
    X(probe_copy, false)              \
    X(probe_fma, false)               \
    X(probe_shared, false)            \
    X(probe_specialized, false)       \
    VULKAN_MAP_SHADERS(X, add)        \
    VULKAN_MAP_SHADERS(X, relu)       \
    VULKAN_MAP_SHADERS(X, exp)        \
    VULKAN_MAP_SHADERS(X, gelu)       \
    VULKAN_MAP_SHADERS(X, softmax)    \
    VULKAN_MAP_SHADERS(X, layer_norm) \
    VULKAN_MAP_SHADERS(X, rms_norm)   \
    VULKAN_MAP_SHADERS(X, sum_reduce) \
    X(cast_f32_f32, false)            \
    X(cast_f32_f16, true)             \
    X(cast_f32_bf16, true)            \
    X(cast_f16_f32, true)             \
    X(cast_f16_f16, true)             \
    X(cast_f16_bf16, true)            \
    X(cast_bf16_f32, true)            \
    X(cast_bf16_f16, true)            \
    X(cast_bf16_bf16, true)
typedef enum vulkan_shader {
#define X(name, narrow) VULKAN_SHADER_##name,
    VULKAN_SHADERS(X)
#undef X
        VULKAN_SHADER_COUNT
} vulkan_shader;

typedef struct vulkan_code {
    const char *name;
    const uint32_t *words;
    size_t word_count;
    bool is_narrow; /* needs storage of 16 bits */
} vulkan_code;
extern const vulkan_code vulkan_codes[VULKAN_SHADER_COUNT];

/* Does the device promise to convert to and from f16 as integer arithmetic does: to nearest, with
 * subnormals, NaN and infinities?  Modules then ask for it, and constant VULKAN_CONSTANTS is 1. */
bool vulkan_promises_halves(const VkPhysicalDeviceFloatControlsProperties *floats);
/* The module with what the device offers of float controls for f32, and f16, switched on; the
 * caller frees. NULL: no memory, or no module. */
uint32_t *vulkan_spirv_control(const uint32_t *words, size_t count,
                               const VkPhysicalDeviceFloatControlsProperties *floats, size_t *out);

struct vulkan_pipeline {
    vulkan_pipeline *next;
    vulkan_shader shader;
    uint32_t constants[VULKAN_CONSTANTS];
    VkPipeline handle;
    atomic_bool is_warm; /* it ran: what a driver does at the first dispatch is done */
};
assay_status vulkan_pipeline_get(vulkan_instance *v, vulkan_shader shader,
                                 const uint32_t constants[VULKAN_CONSTANTS], vulkan_pipeline **out);
void vulkan_pipelines_clear(vulkan_device *d);
assay_status vulkan_cache_open(vulkan_instance *v);
void vulkan_cache_close(vulkan_device *d);

/* ---- dispatch: vulkan_dispatch.c ---- */

typedef struct vulkan_work {
    vulkan_shader shader;
    uint32_t constants[VULKAN_CONSTANTS]; /* specialization, by number; not used: 0 */
    vulkan_shape shape;
    const void *push;
} vulkan_work;

/* Into the recording of this thread, or submitted and waited for.  The launch is one that
 * launch or measure gave. */
assay_status vulkan_run(const assay_launch *launch, const vulkan_work *work);
assay_status vulkan_refuse(const assay_launch *launch, const char *why);

typedef struct vulkan_recording {
    VkCommandBuffer buffer;
    bool has_launches;
    bool is_cold; /* a pipeline in it never ran */
} vulkan_recording;
/* What this thread dispatches goes there; NULL: ends that. */
void vulkan_record(vulkan_recording *recording);

/* ---- transfers: vulkan_transfer.c, vulkan_staging.c ---- */

assay_status vulkan_copy(assay_instance *instance, assay_buffer dst, uint64_t dst_offset,
                         assay_buffer src, uint64_t src_offset, uint64_t bytes);
assay_status vulkan_fill(assay_instance *instance, assay_buffer dst, uint64_t offset,
                         uint64_t bytes, uint8_t value);
assay_status vulkan_upload(assay_instance *instance, const assay_transfer *pieces, size_t count);
assay_status vulkan_download(assay_instance *instance, const assay_transfer *pieces, size_t count);

/* Staging: its lock held from begin to end. */
void vulkan_stage_begin(vulkan_instance *v);
assay_status vulkan_stage_up(vulkan_instance *v, const vulkan_place *to, const void *from);
assay_status vulkan_stage_down(vulkan_instance *v, const vulkan_place *from, void *to);
/* Between places of one buffer that overlap. */
assay_status vulkan_stage_across(vulkan_instance *v, const vulkan_place *to,
                                 const vulkan_place *from);
/* Between places apart, and bytes of one value. */
assay_status vulkan_stage_copy(vulkan_instance *v, const vulkan_place *to,
                               const vulkan_place *from);
assay_status vulkan_stage_fill(vulkan_instance *v, const vulkan_place *to, uint8_t value);
/* Waits for all of it; end also after a failure, and gives `status` or the first failure. */
assay_status vulkan_stage_drain(vulkan_instance *v);
assay_status vulkan_stage_end(vulkan_instance *v, assay_status status);
assay_status vulkan_staging_make(vulkan_instance *v);
void vulkan_staging_clear(vulkan_device *d);

/* ---- measuring and what the device is: vulkan_measure.c, vulkan_clock.c, vulkan_profile.c ---- */

assay_status vulkan_measure(assay_instance *instance, const assay_measure *what,
                            assay_clock_info *clock);
/* ASSAY_DEVICE where the device's clock and the host's disagree on how fast time goes: a wrong
 * period.  Where timestamps cannot be calibrated nothing is known. */
assay_status vulkan_check_clock(vulkan_instance *v);
assay_status vulkan_device_count(assay_instance *instance, size_t *out);
assay_status vulkan_device_info(assay_instance *instance, size_t device, assay_device_info *out);
assay_status vulkan_device_profile(assay_instance *instance, size_t device,
                                   assay_device_profile *out);

#endif

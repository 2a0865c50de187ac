/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* examples/backend_minimal/backend_minimal.c -- a whole backend in one file: buffers with
 * generations in memory of malloc, one kernel, "add" of f32.  docs/backends.md explains it.
 *
 *     cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Wl,-z,defs -Wl,--build-id \
 *         backend_minimal.c $(pkg-config --cflags assay) -pthread -lm -o assay_minimal.so
 *     ASSAY_PLUGIN_PATH=$PWD assay check --backend minimal
 *
 * It includes the installed headers alone and calls nothing of libassay: a plug-in takes only what
 * is inline there.  The file's name must be assay_<name of the backend>.so.
 *
 * -DBREAK_<X> breaks it on purpose, for a test of the rules that notice. */
#include <assay/plugin.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- the instance: what open() makes and every slot is given ---- */

typedef struct slot {
    void *memory; /* NULL: free */
    uint64_t bytes;
    uint32_t generation; /* one more each time the place is taken: an old handle does not fit */
} slot;

struct assay_instance {
    const assay_host *host;
    uint64_t owner;       /* mark in the handles of this instance alone */
    pthread_mutex_t lock; /* of what follows; slots may be called from any thread */
    slot *slots;
    uint32_t slot_count;
    uint64_t live_buffers, live_bytes;
};

/* The text stands behind assay_last_error(): what is wrong, and what to do. */
static assay_status fail(const assay_instance *self, assay_status status, const char *text)
{
    return self->host->fail(status, text);
}

/* No two instances of this process have one owner, whichever plug-in made them: the address tells
 * plug-ins apart, the number instances of this one. 0 is the host's plain memory. */
static uint64_t new_owner(void)
{
    static atomic_uint number;

    return ((uint64_t)(uintptr_t)&number << 16) + atomic_fetch_add(&number, 1) + 1;
}

static assay_status open_backend(const assay_host *host, assay_instance **out)
{
    assay_instance *self = calloc(1, sizeof *self);

    if (self == NULL)
        return host->fail(ASSAY_NOMEM, "minimal: no memory for an instance");
    self->host = host;
    self->owner = new_owner();
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return ASSAY_OK;
}

/* Nobody is inside another slot; buffers that are left are freed. */
static void close_backend(assay_instance *self)
{
    for (uint32_t i = 0; i < self->slot_count; i++)
        free(self->slots[i].memory);
    free(self->slots);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- what it is ---- */

static assay_status device_count(assay_instance *self, size_t *out)
{
    (void)self;
    *out = 1;
    return ASSAY_OK;
}

static assay_status device_info(assay_instance *self, size_t device, assay_device_info *out)
{
    if (device != 0)
        return fail(self, ASSAY_INVALID, "minimal: there is device 0 alone");
    memset(out, 0, sizeof *out); /* 0 and "": not reported */
    out->struct_size = sizeof *out;
    strcpy(out->name, "minimal example");
    out->is_cpu = 1;
    return ASSAY_OK;
}

#define HAS(feature) (UINT64_C(1) << ASSAY_FEATURE_##feature)

static assay_status device_profile(assay_instance *self, size_t device, assay_device_profile *out)
{
    if (device != 0)
        return fail(self, ASSAY_INVALID, "minimal: there is device 0 alone");
    memset(out, 0, sizeof *out); /* 0: not reported */
    out->struct_size = sizeof *out;
    out->features = HAS(RESIDENT) | HAS(UNIFIED_MEMORY);
#ifdef BREAK_FEATURE
    out->features |= HAS(FAULT_INJECTION); /* and no slot inject */
#endif
    out->dtypes = (1u << ASSAY_DTYPE_COUNT) - 1; /* bytes are bytes */
    out->alignment_bytes = 64;
    out->granularity_bits = 8;
    out->memory = ASSAY_MEMORY_HOST;
    out->location = ASSAY_LOCATION_CPU;
    out->paths[ASSAY_LOCATION_CPU] = 1u << ASSAY_PATH_SHARED | 1u << ASSAY_PATH_COPY;
    out->timing = ASSAY_TIMING_ENQUEUE_WAIT; /* what the default of measure does */
    out->flops_per_ns = out->bytes_per_ns = (double)NAN;
    return ASSAY_OK;
}

static assay_status state(assay_instance *self, assay_instance_state *out)
{
    pthread_mutex_lock(&self->lock);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->generation = 1; /* it cannot be recovered */
    out->live_buffers = self->live_buffers;
    out->live_bytes = self->live_bytes;
    pthread_mutex_unlock(&self->lock);
    return ASSAY_OK;
}

/* ---- handles ---- */

/* The slot of a handle, lock held. Each kind of wrong handle has its own status. */
static assay_status find(assay_instance *self, assay_buffer buffer, slot **out)
{
    if (buffer.owner != self->owner)
        return fail(self, ASSAY_FOREIGN, "minimal: the buffer belongs to another instance");
    if (buffer.at.slot.index >= self->slot_count)
        return fail(self, ASSAY_INVALID, "minimal: there never was such a buffer");
    slot *s = &self->slots[buffer.at.slot.index];
    if (s->memory == NULL || s->generation != buffer.at.slot.generation)
        return fail(self, ASSAY_FREED, "minimal: the buffer was freed before");
    *out = s;
    return ASSAY_OK;
}

/* Where a buffer lies and how long it is.  owner 0 is memory of the host's, as the default of wrap
 * gives it and as transfers name their other end. Lock held. */
static assay_status locate(assay_instance *self, assay_buffer buffer, char **memory,
                           uint64_t *bytes)
{
    slot *s = NULL;

    if (buffer.owner == 0) {
        if (buffer.at.host == NULL && buffer.size_bytes > 0)
            return fail(self, ASSAY_INVALID, "minimal: the buffer is NULL");
        *memory = buffer.at.host;
        *bytes = buffer.size_bytes;
        return ASSAY_OK;
    }
    ASSAY_TRY(find(self, buffer, &s));
    *memory = s->memory;
    *bytes = s->bytes;
    return ASSAY_OK;
}

/* Address of a part.  The comparison is one that cannot overflow. Lock held. */
static assay_status part(assay_instance *self, assay_buffer buffer, uint64_t offset, uint64_t bytes,
                         char **out)
{
    uint64_t size = 0;
    char *memory = NULL;

    ASSAY_TRY(locate(self, buffer, &memory, &size));
    if (offset > size || bytes > size - offset)
        return fail(self, ASSAY_INVALID, "minimal: the part lies outside the buffer");
#ifdef BREAK_COPY
    offset = 0;
#endif
    *out = memory != NULL ? memory + offset : NULL;
    return ASSAY_OK;
}

/* ---- memory ---- */

/* A place that is free, growing the table when there is none; UINT32_MAX: no memory. Lock held. */
static uint32_t take_place(assay_instance *self)
{
    uint32_t i = 0;

    while (i < self->slot_count && self->slots[i].memory != NULL)
        i++;
    if (i < self->slot_count)
        return i;
    const uint32_t more = self->slot_count < 8 ? 16 : 2 * self->slot_count;
    slot *slots = realloc(self->slots, more * sizeof *slots);
    if (slots == NULL)
        return UINT32_MAX;
    memset(slots + self->slot_count, 0, (more - self->slot_count) * sizeof *slots);
    self->slots = slots;
    self->slot_count = more;
    return i;
}

static assay_status put(assay_instance *self, void *memory, uint64_t bytes, assay_buffer *out)
{
    const uint32_t i = take_place(self);

    if (i == UINT32_MAX)
        return fail(self, ASSAY_NOMEM, "minimal: no memory for another buffer");
    slot *s = &self->slots[i];
    s->memory = memory;
    s->bytes = bytes;
    s->generation++;
    self->live_buffers++;
    self->live_bytes += bytes;
    memset(out, 0, sizeof *out);
    out->owner = self->owner;
    out->at.slot.index = i;
    out->at.slot.generation = s->generation;
    out->size_bytes = bytes;
    return ASSAY_OK;
}

/* `out` is written on success alone. */
static assay_status alloc(assay_instance *self, uint64_t bytes, uint64_t align, assay_buffer *out)
{
    const uint64_t unit = align > 64 ? align : 64;

    if (bytes == 0 || (align & (align - 1)) != 0)
        return fail(self, ASSAY_INVALID, "minimal: no bytes, or an alignment of no power of two");
    if (bytes > SIZE_MAX / 4 || unit > SIZE_MAX / 4)
        return fail(self, ASSAY_NOMEM, "minimal: so many bytes there are not; ask for less");
    /* aligned_alloc wants a multiple of the alignment */
    void *memory = aligned_alloc((size_t)unit, (size_t)((bytes + unit - 1) / unit * unit));
    if (memory == NULL)
        return fail(self, ASSAY_NOMEM, "minimal: no memory; free some, or ask for less");
    pthread_mutex_lock(&self->lock);
    const assay_status status = put(self, memory, bytes, out);
    pthread_mutex_unlock(&self->lock);
    if (status != ASSAY_OK)
        free(memory);
    return status;
}

static assay_status free_buffer(assay_instance *self, assay_buffer buffer)
{
    slot *s = NULL;

    if (buffer.owner == 0)
        return fail(self, ASSAY_INVALID, "minimal: the memory is the caller's, not of alloc");
#ifdef BREAK_CRASH
    abort();
#endif
    pthread_mutex_lock(&self->lock);
    const assay_status status = find(self, buffer, &s);
    if (status == ASSAY_OK) {
        free(s->memory);
        s->memory = NULL; /* its generation stays: the handle is known as freed */
        self->live_buffers--;
        self->live_bytes -= s->bytes;
    }
    pthread_mutex_unlock(&self->lock);
#ifdef BREAK_DOUBLE_FREE
    if (status == ASSAY_FREED)
        return ASSAY_OK;
#endif
    return status;
}

static assay_status copy(assay_instance *self, assay_buffer dst, uint64_t dst_offset,
                         assay_buffer src, uint64_t src_offset, uint64_t bytes)
{
    char *to = NULL, *from = NULL;

    pthread_mutex_lock(&self->lock);
    assay_status status = part(self, dst, dst_offset, bytes, &to);
    if (status == ASSAY_OK)
        status = part(self, src, src_offset, bytes, &from);
    if (status == ASSAY_OK && bytes > 0)
        memmove(to, from, (size_t)bytes); /* both may be parts of one buffer */
    pthread_mutex_unlock(&self->lock);
    return status;
}

static assay_status fill(assay_instance *self, assay_buffer dst, uint64_t offset, uint64_t bytes,
                         uint8_t value)
{
    char *to = NULL;

    pthread_mutex_lock(&self->lock);
    const assay_status status = part(self, dst, offset, bytes, &to);
    if (status == ASSAY_OK && bytes > 0)
        memset(to, value, (size_t)bytes);
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* All pieces are looked at before the first moves.  Lock held. */
static assay_status check_pieces(assay_instance *self, const assay_transfer *pieces, size_t count)
{
    char *at;

    for (size_t i = 0; i < count; i++) {
        if (pieces[i].host == NULL && pieces[i].bytes > 0)
            return fail(self, ASSAY_INVALID, "minimal: a piece has no memory of the host");
        ASSAY_TRY(part(self, pieces[i].buffer, pieces[i].offset, pieces[i].bytes, &at));
    }
    return ASSAY_OK;
}

/* In order: where pieces overlap, the later one counts. */
static assay_status move_pieces(assay_instance *self, const assay_transfer *pieces, size_t count,
                                bool up)
{
    pthread_mutex_lock(&self->lock);
    assay_status status = check_pieces(self, pieces, count);
    for (size_t i = 0; status == ASSAY_OK && i < count; i++) {
        const assay_transfer *p = &pieces[i];
        char *at = NULL;
        status = part(self, p->buffer, p->offset, p->bytes, &at);
        if (status == ASSAY_OK && p->bytes > 0)
            memmove(up ? at : (char *)p->host, up ? (char *)p->host : at, (size_t)p->bytes);
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

static assay_status upload(assay_instance *self, const assay_transfer *pieces, size_t count)
{
    return move_pieces(self, pieces, count, true);
}

static assay_status download(assay_instance *self, const assay_transfer *pieces, size_t count)
{
    return move_pieces(self, pieces, count, false);
}

static assay_status map(assay_instance *self, assay_buffer buffer, void **host, uint64_t *bytes)
{
    char *memory = NULL;

    pthread_mutex_lock(&self->lock);
    const assay_status status = locate(self, buffer, &memory, bytes);
    pthread_mutex_unlock(&self->lock);
    if (status == ASSAY_OK)
        *host = memory;
    return status;
}

/* ---- launches ---- */

/* Kernels see addresses: handles of this instance are replaced, once, before the kernel runs. */
static assay_status resolve(assay_instance *self, const assay_launch *launch,
                            assay_tensor *operands)
{
    assay_status status = ASSAY_OK;

    pthread_mutex_lock(&self->lock);
    for (uint32_t i = 0; status == ASSAY_OK && i < launch->operand_count; i++) {
        char *memory = NULL;
        uint64_t bytes = 0;
        operands[i] = launch->operands[i];
        status = locate(self, operands[i].buffer, &memory, &bytes);
        operands[i].buffer = (assay_buffer){.at.host = memory, .size_bytes = bytes};
    }
    pthread_mutex_unlock(&self->lock);
    return status;
}

static assay_status launch_kernel(assay_instance *self, assay_kernel_fn run,
                                  const assay_launch *launch)
{
    assay_tensor operands[ASSAY_MAX_OPERANDS];
    assay_launch resolved = *launch;

    if (launch->queue != NULL)
        return fail(self, ASSAY_UNSUPPORTED, "minimal: no async_compute, so no queues");
    if (launch->operand_count > ASSAY_MAX_OPERANDS)
        return fail(self, ASSAY_INVALID, "minimal: too many operands");
    ASSAY_TRY(resolve(self, launch, operands));
    resolved.operands = operands;
    resolved.instance = self;
    return run(&resolved);
}

/* ---- the kernel ---- */

/* Shapes, dtypes, layouts, alignment and overlaps were checked by the caller; y may be a or b. */
static assay_status add_f32(const assay_launch *launch)
{
    const float *a = assay_tensor_data(&launch->operands[0]);
    const float *b = assay_tensor_data(&launch->operands[1]);
    float *y = assay_tensor_data(&launch->operands[2]);
    const int64_t n = launch->operands[2].dims[0];

    for (int64_t i = 0; i < n; i++)
#ifdef BREAK_ADD
        y[i] = a[i] + b[i] + 1.0f;
#else
        y[i] = a[i] + b[i];
#endif
    return ASSAY_OK;
}

static const assay_kernel_desc kernels[] = {{
    .struct_size = sizeof(assay_kernel_desc),
    .name = "minimal_add_f32",
    .op = ASSAY_OP_add,
    .dtype_count = 3,
    .dtypes = {ASSAY_F32, ASSAY_F32, ASSAY_F32},
    /* caps all 0: dense operands, aligned to their elements; others are copied by the caller. */
    .default_rank = 50,
    .claims = {0.0, -1.0, -1.0, -1.0, ASSAY_STABILITY_ANYWHERE}, /* one rounding */
    .entry_point = "minimal_add_f32",
    .run = add_f32,
}};

/* ---- the manifest ---- */

/* Slots that are left out (NULL) have the defaults of docs/backends.md: prepare and flush succeed,
 * recover, queues, events, inject, grid_fits, host_alloc, peer_copy and probe are refused, wrap
 * gives plain memory, measure times launches by the host's clock, there are no metrics. */
static const assay_backend backend = {
    .struct_size = sizeof(assay_backend),
    .abi_version = ASSAY_PLUGIN_ABI,
    .open = open_backend,
    .close = close_backend,
    .device_count = device_count,
    .device_info = device_info,
    .alloc = alloc,
    .free = free_buffer,
    .copy = copy,
    .fill = fill,
    .launch = launch_kernel,
    .device_profile = device_profile,
    .state = state,
    .upload = upload,
    .download = download,
    .map = map,
};

/* The one symbol that a plug-in exports. It is data: reading it runs no code. */
ASSAY_PLUGIN_EXPORT const assay_manifest assay_plugin_manifest = {
    .struct_size = sizeof(assay_manifest),
    .abi_version = ASSAY_PLUGIN_ABI,
    .name = "minimal",
    .version = "1.0",
    .compiler = __VERSION__,
    .kernels = kernels,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .sources = NULL, /* the build-id of the file stands for the code */
    .backend = &backend,
    .explicit_only = 1, /* an example answers only who names it */
    .location = ASSAY_LOCATION_CPU,
};

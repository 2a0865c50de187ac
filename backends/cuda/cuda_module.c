/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_module.c -- functions of the device: found once a context, and launched.
 *
 * Kernels ask for their function at every launch, so what was found is kept in a table by where the
 * code comes from, the options it was compiled with, and the name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_instance.h"

enum { KEY_MAX = 2048, SHARED_WITHOUT_OPT_IN = 48 * 1024 };

typedef struct cuda_entry {
    struct cuda_entry *next;
    const void *from; /* an image's bytes, or a source's text: borrowed, for good */
    CUfunction function;
    size_t options; /* where in `text` the options begin */
    char text[];    /* the name, then the options, each ended by a 0 */
} entry;

typedef struct cuda_loaded {
    struct cuda_loaded *next;
    const void *code;
    CUmodule module;
} loaded;

/* ---- the table ---- */

static size_t bucket_of(const void *from, const char *name, const char *options)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)from; /* FNV-1a */

    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (const char *c = options; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return (size_t)((hash ^ hash >> 32) % CUDA_BUCKETS);
}

/* Lock held, here and below. */
static const entry *find(const cuda_code *code, size_t bucket, const void *from, const char *name,
                         const char *options)
{
    const entry *e = code->entries[bucket];

    while (e != NULL && (e->from != from || strcmp(e->text, name) != 0 ||
                         strcmp(e->text + e->options, options) != 0))
        e = e->next;
    return e;
}

static assay_status keep(assay_instance *instance, size_t bucket, const void *from,
                         const char *name, const char *options, CUfunction function)
{
    const size_t first = strlen(name) + 1, second = strlen(options) + 1;
    entry *e = calloc(1, sizeof *e + first + second);

    if (e == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "function %s: no memory", name);
    e->from = from;
    e->function = function;
    e->options = first;
    memcpy(e->text, name, first);
    memcpy(e->text + first, options, second);
    e->next = instance->code.entries[bucket];
    instance->code.entries[bucket] = e;
    return ASSAY_OK;
}

/* ---- modules ---- */

/* What the driver says of code that is not for this device, in our terms. */
static assay_status check_load(assay_instance *instance, CUresult result, const char *file)
{
    const cuda_limits *limits = cuda_device_limits(instance);

    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_PTX ||
        result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_INVALID_IMAGE)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "%s: no code for sm_%d%d in it (%s); build with that architecture", file,
                         limits->compute_major, limits->compute_minor,
                         cuda_result_name(instance->cu, result));
    return cuda_check(instance, result, file);
}

static assay_status load(assay_instance *instance, const void *code, const char *file,
                         CUmodule *out)
{
    const loaded *l = instance->code.modules;

    while (l != NULL && l->code != code)
        l = l->next;
    if (l != NULL) {
        *out = l->module;
        return ASSAY_OK;
    }
    loaded *made = calloc(1, sizeof *made);
    if (made == NULL)
        return cuda_fail(instance, ASSAY_NOMEM, "%s: no memory", file);
    const uint64_t begin = cuda_now_ns();
    const assay_status status =
        check_load(instance, instance->cu->cuModuleLoadData(&made->module, code), file);
    cuda_count_since(instance, CUDA_COUNT_code_ns, begin);
    if (status != ASSAY_OK) {
        free(made);
        return status;
    }
    made->code = code;
    made->next = instance->code.modules;
    instance->code.modules = made;
    cuda_count(instance, CUDA_COUNT_modules, 1);
    *out = made->module;
    return ASSAY_OK;
}

static assay_status look_up(assay_instance *instance, const void *code, const char *file,
                            const char *name, CUfunction *out)
{
    CUmodule module = NULL;

    ASSAY_TRY(load(instance, code, file, &module));
    const CUresult result = instance->cu->cuModuleGetFunction(out, module, name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return cuda_fail(instance, ASSAY_INVALID, "%s has no function %s", file, name);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) /* modules may be loaded at the first question */
        return check_load(instance, result, file);
    return cuda_check(instance, result, name);
}

/* On a lost device the calls fail, and the context takes the modules with it. */
void cuda_drop_code(assay_instance *instance)
{
    cuda_code *code = &instance->code;

    for (size_t i = 0; i < CUDA_BUCKETS; i++)
        while (code->entries[i] != NULL) {
            entry *e = code->entries[i];
            code->entries[i] = e->next;
            free(e);
        }
    while (code->modules != NULL) {
        loaded *l = code->modules;
        code->modules = l->next;
        (void)instance->cu->cuModuleUnload(l->module);
        free(l);
    }
}

/* ---- functions ---- */

assay_status cuda_function(assay_instance *instance, const cuda_image *image, const char *name,
                           CUfunction *out)
{
    const size_t bucket = bucket_of(image->bytes, name, "");
    CUfunction function = NULL;

    pthread_mutex_lock(&instance->code.lock);
    const entry *e = find(&instance->code, bucket, image->bytes, name, "");
    assay_status status = ASSAY_OK;
    if (e != NULL)
        function = e->function;
    else
        status = look_up(instance, image->bytes, image->name, name, &function);
    if (e == NULL && status == ASSAY_OK)
        status = keep(instance, bucket, image->bytes, name, "", function);
    pthread_mutex_unlock(&instance->code.lock);
    if (status == ASSAY_OK)
        *out = function;
    return status;
}

/* Options as one text, one a line. */
static assay_status join(const assay_instance *instance, const char *const *options, char *out)
{
    size_t at = 0;

    out[0] = '\0';
    for (; options != NULL && *options != NULL; options++) {
        const int length = snprintf(out + at, KEY_MAX - at, "%s\n", *options);
        if (length < 0 || (size_t)length >= KEY_MAX - at)
            return cuda_fail(instance, ASSAY_OVERFLOW,
                             "compiling: all options together have more than %d bytes", KEY_MAX);
        at += (size_t)length;
    }
    return ASSAY_OK;
}

static assay_status compile_and_keep(assay_instance *instance, const cuda_source *source,
                                     const char *const *options, const char *key, const char *name,
                                     CUfunction *out)
{
    const void *code = NULL;

    ASSAY_TRY(cuda_compile(instance, source, options, key, &code));
    ASSAY_TRY(look_up(instance, code, source->name, name, out));
    return keep(instance, bucket_of(source->text, name, key), source->text, name, key, *out);
}

assay_status cuda_compiled(assay_instance *instance, const cuda_source *source,
                           const char *const *options, const char *name, CUfunction *out)
{
    char key[KEY_MAX];
    CUfunction function = NULL;

    ASSAY_TRY(join(instance, options, key));
    const size_t bucket = bucket_of(source->text, name, key);
    pthread_mutex_lock(&instance->code.lock);
    const entry *e = find(&instance->code, bucket, source->text, name, key);
    assay_status status = ASSAY_OK;
    if (e != NULL)
        function = e->function;
    else
        status = compile_and_keep(instance, source, options, key, name, &function);
    pthread_mutex_unlock(&instance->code.lock);
    if (status == ASSAY_OK)
        *out = function;
    return status;
}

/* ---- launching ---- */

static assay_status check_groups(const assay_instance *instance, const cuda_grid *grid)
{
    const cuda_limits *limits = cuda_device_limits(instance);

    for (int i = 0; i < 3; i++)
        if (grid->groups[i] > limits->max_groups[i])
            return cuda_fail(instance, ASSAY_UNSUPPORTED,
                             "launch: %llu workgroups in dimension %d, this device takes %u",
                             (unsigned long long)grid->groups[i], i, limits->max_groups[i]);
    return ASSAY_OK;
}

static assay_status check_threads(const assay_instance *instance, const cuda_grid *grid)
{
    const cuda_device *d = cuda_selected(instance);
    uint64_t all = 1;

    for (int i = 0; i < 3; i++) {
        if (grid->threads[i] == 0 || grid->threads[i] > (uint32_t)d->max_threads[i])
            return cuda_fail(instance, ASSAY_UNSUPPORTED,
                             "launch: %u invocations in dimension %d, this device takes 1 to %d",
                             grid->threads[i], i, d->max_threads[i]);
        all *= grid->threads[i];
    }
    if (all > (uint64_t)d->limits.max_threads_block)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "launch: workgroups of %llu invocations, this device takes %d",
                         (unsigned long long)all, d->limits.max_threads_block);
    return ASSAY_OK;
}

/* The function may take whatever its own static share leaves, the same from every launch: two
 * threads with different sizes must not take it from each other. */
static assay_status opt_in(assay_instance *instance, CUfunction function, uint32_t shared_bytes)
{
    const cuda_driver *cu = instance->cu;
    const int most = cuda_device_limits(instance)->shared_block_optin;
    int own = 0;

    ASSAY_TRY(cuda_check(
        instance, cu->cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
        "launch, its shared memory"));
    if ((int64_t)shared_bytes + own > most)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "launch: %u bytes of shared memory beside %d of the kernel's own, a "
                         "workgroup has %d",
                         shared_bytes, own, most);
    if (shared_bytes + (uint32_t)own <= SHARED_WITHOUT_OPT_IN)
        return ASSAY_OK;
    return cuda_check(instance,
                      cu->cuFuncSetAttribute(
                          function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own),
                      "launch, its shared memory");
}

static bool is_empty(const cuda_grid *grid)
{
    return grid->groups[0] == 0 || grid->groups[1] == 0 || grid->groups[2] == 0;
}

assay_status cuda_enqueue(const assay_launch *launch, CUfunction function, const cuda_grid *grid,
                          void **arguments)
{
    assay_instance *instance = launch->instance;

    if (is_empty(grid))
        return ASSAY_OK;
    ASSAY_TRY(check_groups(instance, grid));
    ASSAY_TRY(check_threads(instance, grid));
    if (grid->shared_bytes > 0)
        ASSAY_TRY(opt_in(instance, function, grid->shared_bytes));
    const CUresult result = instance->cu->cuLaunchKernel(
        function, (unsigned)grid->groups[0], (unsigned)grid->groups[1], (unsigned)grid->groups[2],
        grid->threads[0], grid->threads[1], grid->threads[2], grid->shared_bytes,
        cuda_stream(launch), arguments, NULL);
    if (result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        return cuda_fail(instance, ASSAY_UNSUPPORTED,
                         "launch: workgroups of %u x %u x %u invocations need more registers or "
                         "shared memory than a multiprocessor has",
                         grid->threads[0], grid->threads[1], grid->threads[2]);
    return cuda_check(instance, result, "launch");
}

/* The old block may still be in use by what is on the stream.  Queue's lock held. */
static assay_status grow(assay_instance *instance, assay_queue *q, size_t bytes)
{
    const cuda_driver *cu = instance->cu;
    CUdeviceptr block = 0;

    if (q->workspace != 0) {
        ASSAY_TRY(cuda_check(instance, cu->cuStreamSynchronize(q->stream), "workspace"));
        (void)cu->cuMemFree(q->workspace);
        q->workspace = 0;
        q->workspace_bytes = 0;
    }
    ASSAY_TRY(cuda_check(instance, cu->cuMemAlloc(&block, bytes), "workspace"));
    q->workspace = block;
    q->workspace_bytes = bytes;
    return ASSAY_OK;
}

/* Called inside a launch, hence with the lock of its queue held. */
assay_status cuda_workspace(const assay_launch *launch, size_t bytes, CUdeviceptr *out)
{
    assay_queue *q = launch->queue != NULL ? launch->queue : launch->instance->own;

    if (bytes > q->workspace_bytes)
        ASSAY_TRY(grow(launch->instance, q, bytes));
    *out = q->workspace;
    return ASSAY_OK;
}

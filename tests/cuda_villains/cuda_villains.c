/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/cuda_villains/cuda_villains.c -- launches of the villains, see cuda_villains.h. */
#include "tests/cuda_villains/cuda_villains.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_vectors.h"

#define BLOCK      256
#define ROUNDS     256 /* a few times what an element takes to come and go */
#define HONEST     4
#define SLEEPY     40
#define NEVER      UINT64_C(0)
#define NAN_BITS   UINT64_C(0x7fc00000)
#define WRONG_BITS UINT64_C(0x42280000) /* 42 */
#define FAR_BYTES  (UINT64_C(1) << 40)
#define TOO_SHARED (1u << 20)

__asm__(".pushsection .rodata,\"a\"\n"
        ".balign 16\n"
        "cuda_villains_image:\n"
        ".incbin \"cuda_villains_kernels.fatbin\"\n"
        ".popsection\n");
extern const unsigned char cuda_villains_image[] __attribute__((visibility("hidden")));

/* ---- launching ---- */

typedef struct job {
    const assay_launch *launch;
    CUdeviceptr a, b, y;
    uint64_t n;
} job;

static assay_status function(assay_instance *instance, const char *name, CUfunction *out)
{
    /* Its size is in its own header; nobody else asks. */
    const cuda_image image = {.name = "cuda_villains_kernels.cu", .bytes = cuda_villains_image};

    return cuda_function(instance, &image, name, out);
}

/* threads: as many as there is work, in blocks; 1: one. */
static assay_status enqueue(const assay_launch *launch, const char *name, uint64_t threads,
                            void **arguments)
{
    const cuda_grid grid = {.groups = {threads > 1 ? cuda_parts_of(threads, BLOCK) : threads, 1, 1},
                            .threads = {threads > 1 ? BLOCK : 1, 1, 1}};
    CUfunction f;

    ASSAY_TRY(function(launch->instance, name, &f));
    return cuda_enqueue(launch, f, &grid, arguments);
}

static assay_status store(const assay_launch *launch, CUdeviceptr at, uint64_t bits)
{
    void *arguments[] = {&at, &bits};

    return enqueue(launch, "v_store", 1, arguments);
}

static bool is_poisoned; /* the fault has not shown yet */

static assay_status run_rounds(const assay_launch *launch, uint64_t rounds, job *out)
{
    job j = {launch, cuda_address(&launch->operands[0]), cuda_address(&launch->operands[1]),
             cuda_address(&launch->operands[2]), (uint64_t)launch->operands[2].dims[0]};
    uint64_t never = NEVER;
    void *arguments[] = {&j.a, &j.b, &j.y, &j.n, &rounds, &never};

    *out = j;
    if (is_poisoned)
        ASSAY_TRY(store(launch, j.y + FAR_BYTES, 0));
    return enqueue(launch, "v_add", j.n, arguments);
}

static assay_status run_fast(const assay_launch *launch, job *out)
{
    return run_rounds(launch, 0, out);
}

/* ---- right ---- */

assay_status g_honest(const assay_launch *launch)
{
    job j;

    return run_rounds(launch, HONEST * ROUNDS, &j);
}

assay_status g_work(const assay_launch *launch)
{
    job j;

    return run_rounds(launch, (uint64_t)launch->tunables[0] * ROUNDS, &j);
}

/* Beside calls that take their time: a graph would leave the sleep out. */
assay_status v_sleep(const assay_launch *launch)
{
    job j;

    (void)usleep(200);
    return run_rounds(launch, SLEEPY * ROUNDS, &j);
}

/* ---- faults ---- */

assay_status v_illegal(const assay_launch *launch)
{
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return store(launch, j.y + FAR_BYTES, 0);
}

assay_status v_misaligned(const assay_launch *launch)
{
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return store(launch, j.y + 1, 0);
}

static assay_status run_and(const assay_launch *launch, const char *name)
{
    uint64_t never = NEVER;
    void *arguments[] = {&never};
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return enqueue(launch, name, 1, arguments);
}

assay_status v_assert(const assay_launch *launch)
{
    return run_and(launch, "v_assert");
}

assay_status v_trap(const assay_launch *launch)
{
    return run_and(launch, "v_trap");
}

assay_status v_endless(const assay_launch *launch)
{
    return run_and(launch, "v_endless");
}

assay_status v_next(const assay_launch *launch)
{
    static CUstream elsewhere;
    assay_instance *instance = launch->instance;
    const cuda_driver *cu = instance->cu;
    uint64_t bits = 0;
    CUfunction f;
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    if (elsewhere == NULL)
        ASSAY_TRY(cuda_check(instance, cu->cuStreamCreate(&elsewhere, CU_STREAM_NON_BLOCKING),
                             "a stream of its own"));
    ASSAY_TRY(function(instance, "v_store_later", &f));
    j.y += FAR_BYTES;
    void *arguments[] = {&j.y, &bits};
    return cuda_check(instance,
                      cu->cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, elsewhere, arguments, NULL),
                      "launch elsewhere");
}

assay_status v_poison(const assay_launch *launch)
{
    job j;

    is_poisoned = false;
    ASSAY_TRY(run_fast(launch, &j));
    is_poisoned = true;
    return ASSAY_OK;
}

assay_status v_launch(const assay_launch *launch)
{
    uint64_t never = NEVER;
    void *arguments[] = {&never};
    CUfunction f;
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    ASSAY_TRY(function(launch->instance, "v_trap", &f));
    return cuda_check(launch->instance,
                      launch->instance->cu->cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, TOO_SHARED,
                                                           cuda_stream(launch), arguments, NULL),
                      "v_launch");
}

assay_status v_shared(const assay_launch *launch)
{
    const cuda_grid grid = {.groups = {1, 1, 1}, .threads = {1, 1, 1}, .shared_bytes = TOO_SHARED};
    uint64_t never = NEVER;
    void *arguments[] = {&never};
    CUfunction f;

    ASSAY_TRY(function(launch->instance, "v_trap", &f));
    return cuda_enqueue(launch, f, &grid, arguments);
}

/* ---- wrong ---- */

assay_status v_oob(const assay_launch *launch)
{
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return store(launch, j.y + j.n * sizeof(float), WRONG_BITS);
}

assay_status v_scribble(const assay_launch *launch)
{
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return store(launch, j.a, WRONG_BITS);
}

assay_status v_unwritten(const assay_launch *launch)
{
    CUdeviceptr a = cuda_address(&launch->operands[0]), b = cuda_address(&launch->operands[1]),
                y = cuda_address(&launch->operands[2]);
    uint64_t n = (uint64_t)launch->operands[2].dims[0];
    void *arguments[] = {&a, &b, &y, &n};

    return enqueue(launch, "v_holes", n, arguments);
}

assay_status v_nan(const assay_launch *launch)
{
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return store(launch, j.y + j.n / 2 * sizeof(float), NAN_BITS);
}

assay_status v_late(const assay_launch *launch)
{
    static int calls;
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    return ++calls > 10 ? store(launch, j.y, WRONG_BITS) : ASSAY_OK;
}

static assay_status copy(const assay_launch *launch, CUdeviceptr from, CUdeviceptr to, uint64_t n)
{
    void *arguments[] = {&from, &to, &n};

    return enqueue(launch, "v_copy", n, arguments);
}

/* Results by where the first operand lies. */
assay_status v_replay(const assay_launch *launch)
{
    enum { KEPT = 4096 };
    static struct {
        CUdeviceptr a, y;
    } kept[KEPT];
    static size_t count;
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    for (size_t i = 0; i < count; i++)
        if (kept[i].a == j.a)
            return copy(launch, kept[i].y, j.y, j.n);
    if (count == KEPT ||
        launch->instance->cu->cuMemAlloc(&kept[count].y, j.n * sizeof(float)) != CUDA_SUCCESS)
        return ASSAY_OK;
    kept[count].a = j.a;
    return copy(launch, j.y, kept[count++].y, j.n);
}

/* ---- memory ---- */

assay_status v_leak(const assay_launch *launch)
{
    assay_instance *instance = launch->instance;
    CUdeviceptr lost;
    job j;

    ASSAY_TRY(cuda_check(
        instance, instance->cu->cuMemAlloc(&lost, cuda_device_limits(instance)->memory_bytes / 64),
        "v_leak"));
    return run_fast(launch, &j);
}

assay_status v_hog(const assay_launch *launch)
{
    const cuda_driver *cu = launch->instance->cu;
    size_t bytes = (size_t)cuda_device_limits(launch->instance)->memory_bytes;
    CUdeviceptr taken;
    job j;

    ASSAY_TRY(run_fast(launch, &j));
    while (bytes >= 4096)
        if (cu->cuMemAlloc(&taken, bytes) != CUDA_SUCCESS)
            bytes /= 2;
    return ASSAY_OK;
}

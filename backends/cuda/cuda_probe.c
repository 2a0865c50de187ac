/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_probe.c -- launches of cuda_probe.cu, and how much each is.
 *
 * Matrix instructions of a warp are all that devices 8.x and 12.x have.  On 9.0 they reach two
 * thirds of what groups of four warps do, which cuda_probe.cu uses there; 10.x has yet another way
 * that there is no probe for, so that nothing is told of it. */
#include "backends/cuda/cuda_probe.h"

#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_instance.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_probe_shape.h"
#include "backends/tensor_reach.h"

enum {
    WARP = 32,
    GROUP = 4 * WARP,
    FMA_GROUPS = 2048 / CUDA_PROBE_BLOCK, /* workgroups that a multiprocessor has room for */
    PRODUCT_GROUPS = 2
};
#define NEVER UINT64_C(0x7ff4000000000ead) /* a NaN of f64, and longer than any other result */

/* X(name, kind, dtype, numbers a register or, of products, flops of a warp's instruction) */
#define PROBES(X)                                 \
    X(fma_f64, FMA, F64, 1)                       \
    X(fma_f32, FMA, F32, 1)                       \
    X(fma_f16, FMA, F16, 2)                       \
    X(fma_bf16, FMA, BF16, 2)                     \
    X(matrix_f64, MATRIX, F64, 2 * 8 * 8 * 4)     \
    X(matrix_tf32, MATRIX, F32, 2 * 16 * 8 * 8)   \
    X(matrix_f16, MATRIX, F16, 2 * 16 * 8 * 16)   \
    X(matrix_bf16, MATRIX, BF16, 2 * 16 * 8 * 16) \
    X(matrix_i8, MATRIX, I8, 2 * 16 * 8 * 32)

static assay_status enqueue(const assay_launch *launch, const char *name, const cuda_grid *grid,
                            void **arguments)
{
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_probe, name, &function));
    return cuda_enqueue(launch, function, grid, arguments);
}

static assay_status check(const assay_launch *launch, uint32_t operands)
{
    if (launch->tunables == NULL || launch->tunables[0] < 1 || launch->operand_count != operands)
        return cuda_fail(launch->instance, ASSAY_INVALID,
                         "probe: needs an amount of 1 or more and %u operands", operands);
    return ASSAY_OK;
}

/* What is behind an operand is another's, or nobody's, which loses the device. */
static assay_status check_bytes(const assay_launch *launch, int64_t bytes)
{
    for (uint32_t i = 0; i < launch->operand_count; i++)
        if (!tensor_has_bytes(&launch->operands[i], bytes))
            return cuda_fail(launch->instance, ASSAY_INVALID,
                             "probe: operand %u has less than %lld bytes", i, (long long)bytes);
    return ASSAY_OK;
}

/* ---- one thread ---- */

static const cuda_grid lone = {.groups = {1, 1, 1}, .threads = {1, 1, 1}};

static assay_status run_empty(const assay_launch *launch)
{
    return enqueue(launch, "probe_empty", &lone, NULL);
}

static assay_status spin(const assay_launch *launch, uint64_t by_cycles)
{
    ASSAY_TRY(check(launch, 1));
    ASSAY_TRY(check_bytes(launch, (int64_t)sizeof(assay_probe_spun)));
    uint64_t amount = (uint64_t)launch->tunables[0];
    CUdeviceptr out = cuda_address(&launch->operands[0]);
    void *arguments[] = {&amount, &by_cycles, &out};

    return enqueue(launch, "probe_spin", &lone, arguments);
}

static assay_status run_spin_ns(const assay_launch *launch)
{
    return spin(launch, 0);
}

static assay_status run_spin_cycles(const assay_launch *launch)
{
    return spin(launch, 1);
}

/* ---- features ---- */

static assay_status run_shown(const assay_launch *launch, const char *name)
{
    ASSAY_TRY(check(launch, 2));
    const int64_t most = UINT32_MAX; /* as the kernels count */
    uint64_t words = (uint64_t)launch->tunables[0];
    if (launch->tunables[0] > most || words % CUDA_SHOWN_BLOCK != 0)
        return cuda_fail(launch->instance, ASSAY_INVALID,
                         "probe: %llu words are no multiple of %d, or too many",
                         (unsigned long long)words, CUDA_SHOWN_BLOCK);
    ASSAY_TRY(check_bytes(launch, launch->tunables[0] * (int64_t)sizeof(uint32_t)));
    CUdeviceptr from = cuda_address(&launch->operands[0]), to = cuda_address(&launch->operands[1]);
    void *arguments[] = {&from, &to, &words};
    const cuda_grid grid = {.groups = {words / CUDA_SHOWN_BLOCK, 1, 1},
                            .threads = {CUDA_SHOWN_BLOCK, 1, 1}};
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_shown, name, &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

#define SHOWN(X)          \
    X(shared, SHARED)     \
    X(shuffle, SHUFFLE)   \
    X(subgroup, SUBGROUP) \
    X(mul_high, MUL_HIGH)
#define X(name, kind)                                           \
    static assay_status show_##name(const assay_launch *launch) \
    {                                                           \
        return run_shown(launch, "shown_" #name);               \
    }
SHOWN(X)
#undef X

static assay_status find_shown(const assay_instance *instance, assay_probe *probe)
{
    static const assay_kernel_fn rows[ASSAY_PROBE_KINDS] = {
#define X(name, kind) [ASSAY_PROBE_##kind] = show_##name,
        SHOWN(X)
#undef X
    };

    probe->run = (size_t)probe->kind < ASSAY_PROBE_KINDS ? rows[probe->kind] : NULL;
    probe->operand_count = 2;
    probe->work_per_amount = 0.0;
    return probe->run != NULL ? ASSAY_OK
                              : cuda_fail(instance, ASSAY_UNSUPPORTED,
                                          "probe: no kernel of kind %d", (int)probe->kind);
}

/* ---- all of the device ---- */

static assay_status run_copy(const assay_launch *launch)
{
    ASSAY_TRY(check(launch, 2));
    ASSAY_TRY(check_bytes(launch, launch->tunables[0]));
    uint64_t bytes = (uint64_t)launch->tunables[0];
    CUdeviceptr from = cuda_address(&launch->operands[0]), to = cuda_address(&launch->operands[1]);
    if ((from | to) % 16 != 0)
        return cuda_fail(launch->instance, ASSAY_INVALID,
                         "probe: operands of a copy begin at multiples of 16");
    void *arguments[] = {&from, &to, &bytes};
    const cuda_grid grid = {
        .groups = {cuda_parts_of(bytes, 16 * CUDA_PROBE_COPIES * CUDA_PROBE_BLOCK), 1, 1},
        .threads = {CUDA_PROBE_BLOCK, 1, 1}};

    return enqueue(launch, "probe_copy", &grid, arguments);
}

static bool has_groups_of_warps(const assay_instance *instance)
{
    return cuda_device_limits(instance)->compute_major == 9;
}

/* Workgroups of one launch: as many as fill the device. */
static uint64_t groups_of(const assay_instance *instance, assay_probe_kind kind, assay_dtype dtype)
{
    const uint64_t each = kind == ASSAY_PROBE_FMA                               ? FMA_GROUPS
                          : has_groups_of_warps(instance) && dtype != ASSAY_F64 ? 1
                                                                                : PRODUCT_GROUPS;

    return each * (uint64_t)cuda_device_limits(instance)->multiprocessors;
}

static assay_status run_rounds(const assay_launch *launch, const char *name, assay_probe_kind kind,
                               assay_dtype dtype)
{
    ASSAY_TRY(check(launch, 0));
    uint64_t rounds = (uint64_t)launch->tunables[0], never = NEVER;
    CUdeviceptr nowhere = 0;
    void *arguments[] = {&rounds, &never, &nowhere};
    const cuda_grid grid = {.groups = {groups_of(launch->instance, kind, dtype), 1, 1},
                            .threads = {CUDA_PROBE_BLOCK, 1, 1}};

    return enqueue(launch, name, &grid, arguments);
}

#define X(name, kind, dtype, count)                                                   \
    static assay_status run_##name(const assay_launch *launch)                        \
    {                                                                                 \
        return run_rounds(launch, "probe_" #name, ASSAY_PROBE_##kind, ASSAY_##dtype); \
    }
PROBES(X)
#undef X

/* ---- how much that is ---- */

/* Flops of one workgroup in one round. */
static double flops_of(const assay_instance *instance, assay_probe_kind kind, assay_dtype dtype,
                       double count)
{
    if (kind == ASSAY_PROBE_FMA)
        return 2.0 * count * CUDA_PROBE_CHAINS * CUDA_PROBE_LINKS * CUDA_PROBE_BLOCK;
    if (has_groups_of_warps(instance) && dtype != ASSAY_F64) /* 64 x 256 of 32 bytes */
        return 2.0 * 64 * 256 * (32.0 / (double)assay_dtype_bytes(dtype)) *
               CUDA_PROBE_GROUP_PRODUCTS * (CUDA_PROBE_BLOCK / GROUP);
    if (has_groups_of_warps(instance))
        count = 2 * 16 * 8 * 16;
    return count * CUDA_PROBE_CHAINS * CUDA_PROBE_PRODUCTS * (CUDA_PROBE_BLOCK / WARP);
}

static assay_status check_matrix(const assay_instance *instance)
{
    const cuda_limits *limits = cuda_device_limits(instance);

    if (limits->compute_major == 8 || limits->compute_major == 9 || limits->compute_major == 12)
        return ASSAY_OK;
    return cuda_fail(instance, ASSAY_UNSUPPORTED,
                     "probe: none here reaches what the matrix units of sm_%d%d do at most",
                     limits->compute_major, limits->compute_minor);
}

static assay_status find_rounds(const assay_instance *instance, assay_probe *probe)
{
    static const struct row {
        assay_probe_kind kind;
        assay_dtype dtype;
        assay_kernel_fn run;
        double count;
    } rows[] = {
#define X(name, kind, dtype, count) {ASSAY_PROBE_##kind, ASSAY_##dtype, run_##name, count},
        PROBES(X)
#undef X
    };

    if (probe->kind == ASSAY_PROBE_MATRIX)
        ASSAY_TRY(check_matrix(instance));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == probe->kind && rows[i].dtype == probe->dtype) {
            probe->run = rows[i].run;
            probe->operand_count = 0;
            probe->work_per_amount = (double)groups_of(instance, probe->kind, probe->dtype) *
                                     flops_of(instance, probe->kind, probe->dtype, rows[i].count);
            return ASSAY_OK;
        }
    return cuda_fail(instance, ASSAY_UNSUPPORTED, "probe: no kernel of kind %d in %s",
                     (int)probe->kind, assay_dtype_name(probe->dtype));
}

static assay_status find(const assay_instance *instance, assay_probe *probe)
{
    static const struct row {
        assay_kernel_fn run;
        uint32_t operands;
        double work;
    } rows[] = {[ASSAY_PROBE_EMPTY] = {run_empty, 0, 0.0},
                [ASSAY_PROBE_SPIN_NS] = {run_spin_ns, 1, 0.0},
                [ASSAY_PROBE_SPIN_CYCLES] = {run_spin_cycles, 1, 0.0},
                [ASSAY_PROBE_COPY] = {run_copy, 2, 2.0}};

    if (probe->kind >= ASSAY_PROBE_SHARED)
        return find_shown(instance, probe);
    if ((size_t)probe->kind >= sizeof rows / sizeof *rows)
        return find_rounds(instance, probe);
    probe->run = rows[probe->kind].run;
    probe->operand_count = rows[probe->kind].operands;
    probe->work_per_amount = rows[probe->kind].work;
    return ASSAY_OK;
}

assay_status cuda_probe(assay_instance *instance, assay_probe *probe)
{
    ASSAY_TRY(cuda_enter(instance, "probe"));
    const assay_status status = find(instance, probe);
    cuda_leave(instance);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/cuda_kernel_rows.c -- launches of softmax and the norms over rows.
 *
 * A row that a block can hold in registers has a group of threads of its own, several groups a
 * block for short rows.  Longer ones, and long ones that are too few for the device, are split over
 * blocks in two grids, see cuda_part.cuh. */
#include "backends/cuda/cuda_images.h"
#include "backends/cuda/cuda_kernels.h"
#include "backends/cuda/cuda_vectors.h"
#include "backends/cuda/kernels/cuda_shapes.h"
#include "runtime/op_params.h"

enum {
    WARP = 32,
    POWERS = 4,
    SHORT_BLOCK = 128,
    USUAL_BLOCK = 512,
    LONG_ROW = 16384,
    BLOCKS_A_UNIT = 8,
    WALKING_THREADS = 1024, /* a multiprocessor: of 64 registers each */
    VECTOR_WORDS = 4
};

typedef struct rows_op {
    const cuda_image *image;
    const cuda_source *source;
    const char *held[CUDA_TYPES][POWERS]; /* 1, 2, 4, 8 vectors a thread */
    const char *single[CUDA_TYPES];
    const char *figures[2][CUDA_TYPES], *apply[2][CUDA_TYPES]; /* by vectors; one by one */
    size_t entry_bytes;
} rows_op;

#define HELD(op)                                              \
    {                                                         \
        {op "_f32_1", op "_f32_2", op "_f32_4", op "_f32_8"}, \
            {op "_f16_1", op "_f16_2", op "_f16_4", NULL},    \
        {                                                     \
            op "_bf16_1", op "_bf16_2", op "_bf16_4", NULL    \
        }                                                     \
    }
#define EACH(stem, suffix)                                          \
    {                                                               \
        stem "_f32" suffix, stem "_f16" suffix, stem "_bf16" suffix \
    }
#define ROWS_OP(op, bytes)                                                    \
    {                                                                         \
        &cuda_image_##op, &cuda_source_##op, HELD(#op), EACH(#op, "_single"), \
            {EACH(#op "_figures", ""), EACH(#op "_figures", "_single")},      \
            {EACH(#op "_apply", ""), EACH(#op "_apply", "_single")}, bytes    \
    }
static const rows_op softmax_op = ROWS_OP(softmax, 8);
static const rows_op layer_norm_op = ROWS_OP(layer_norm, 16);
static const rows_op rms_norm_op = ROWS_OP(rms_norm, 8);

/* As cuda_row.cuh and cuda_part.cuh declare them. */
typedef struct rows_place {
    CUdeviceptr x, y;
    uint64_t rows, cols, x_step, y_step;
} rows_place;

typedef struct parts_place {
    rows_place rows;
    uint64_t parts, vectors;
} parts_place;

typedef struct rows_job {
    const rows_op *op;
    rows_place place;
    double eps;
    unsigned type;
    unsigned vector;  /* elements of a vector, or 1 */
    uint64_t vectors; /* that a row touches at most */
} rows_job;

/* Vectors serve where each row of y lies as far from 16 bytes as that of x. */
static unsigned vector_of(const rows_place *p, uint64_t bytes)
{
    const bool alike = (p->x - p->y) % CUDA_VECTOR_BYTES == 0 &&
                       (p->rows <= 1 || (p->x_step - p->y_step) * bytes % CUDA_VECTOR_BYTES == 0);

    return alike ? CUDA_VECTOR_BYTES / (unsigned)bytes : 1;
}

static void measure_vectors(rows_job *job, uint64_t bytes)
{
    const rows_place *p = &job->place;
    const bool is_aligned = p->x % CUDA_VECTOR_BYTES == 0 &&
                            (p->rows <= 1 || p->x_step * bytes % CUDA_VECTOR_BYTES == 0);

    job->vector = vector_of(p, bytes);
    job->vectors = cuda_parts_of(p->cols + (is_aligned ? 0 : job->vector - 1), job->vector);
}

static uint64_t step_of(const assay_tensor *t)
{
    return (uint64_t)(t->dims[0] > 1 ? t->strides[0] : t->dims[1]);
}

/* x[rows, cols], or x[outer, axis, 1]. */
static rows_job job_of(const assay_launch *launch, const rows_op *op, double eps)
{
    const assay_tensor *x = &launch->operands[0], *y = &launch->operands[1];
    rows_job job = {.op = op, .eps = eps, .type = cuda_type_index(x->dtype)};

    job.place = (rows_place){.x = cuda_address(x),
                             .y = cuda_address(y),
                             .rows = (uint64_t)x->dims[0],
                             .cols = (uint64_t)x->dims[1],
                             .x_step = step_of(x),
                             .y_step = step_of(y)};
    measure_vectors(&job, assay_dtype_bytes(x->dtype));
    return job;
}

/* ---- rows in registers -------------------------------------------------------------------------
 */

static uint64_t power_from(uint64_t least)
{
    uint64_t power = 1;

    while (power < least)
        power *= 2;
    return power;
}

static uint64_t warps_of(uint64_t threads)
{
    return cuda_parts_of(threads, WARP) * WARP;
}

typedef struct rows_shape {
    uint64_t lanes, each; /* threads a row, vectors a thread */
} rows_shape;

/* A warp or less where that is enough.  Else half of what a thread can hold, so that more blocks
 * are under way, unless `block` threads are too few for that. */
static rows_shape shape_of(const rows_job *job, uint64_t block)
{
    const uint64_t most = CUDA_ROW_HELD / job->vector;
    rows_shape s = {.each = job->vector == 1 ? most : 1};

    if (job->vectors <= WARP * most) {
        s.each = job->vector == 1 ? most : power_from(cuda_parts_of(job->vectors, WARP));
        s.lanes = power_from(cuda_parts_of(job->vectors, s.each));
        return s;
    }
    if (job->vector > 1)
        s.each = most / 2;
    if (cuda_parts_of(job->vectors, s.each) > block)
        s.each = most;
    s.lanes = warps_of(cuda_parts_of(job->vectors, s.each));
    return s;
}

static const char *held_name(const rows_job *job, uint64_t each)
{
    unsigned power = 0;

    if (job->vector == 1)
        return job->op->single[job->type];
    while (1u << power < each)
        power++;
    return job->op->held[job->type][power];
}

static assay_status run_held(const assay_launch *launch, rows_job *job, uint64_t block)
{
    const rows_shape s = shape_of(job, block);
    const uint64_t together = s.lanes <= WARP ? SHORT_BLOCK / s.lanes : 1;
    const cuda_grid grid = {
        .groups = {cuda_parts_of(job->place.rows, together), 1, 1},
        .threads = {(uint32_t)s.lanes, (uint32_t)together, 1},
    };
    void *arguments[] = {&job->place, &job->eps};
    CUfunction function;

    ASSAY_TRY(cuda_function(launch->instance, job->op->image, held_name(job, s.each), &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

/* ---- parts of rows -----------------------------------------------------------------------------
 */

/* Enough blocks for the device, each with a full load for all of its threads if it can. */
static uint64_t parts_for(const assay_launch *launch, const rows_job *job)
{
    const int units = cuda_device_limits(launch->instance)->multiprocessors;
    const uint64_t blocks = (uint64_t)(units > 0 ? units : 1) * BLOCKS_A_UNIT;
    const uint64_t wanted = cuda_parts_of(blocks, job->place.rows);
    const uint64_t most = cuda_parts_of(job->vectors, CUDA_PART_BLOCK * CUDA_PART_UNROLL);

    return wanted < most ? wanted : most;
}

static assay_status run_parts(const assay_launch *launch, rows_job *job, uint64_t parts)
{
    const uint64_t load = CUDA_PART_BLOCK * CUDA_PART_UNROLL;
    uint64_t vectors = cuda_parts_of(job->vectors, parts);

    if (vectors > load / 2) /* whole loads are faster */
        vectors = cuda_parts_of(vectors, load) * load;
    parts_place place = {job->place, cuda_parts_of(job->vectors, vectors), vectors};
    const bool is_single = job->vector == 1;
    const cuda_grid grid = {.groups = {job->place.rows * place.parts, 1, 1},
                            .threads = {CUDA_PART_BLOCK, 1, 1}};
    CUfunction figures, apply;
    CUdeviceptr entries;
    void *arguments[] = {&place, &entries, &job->eps};

    ASSAY_TRY(cuda_function(launch->instance, job->op->image,
                            job->op->figures[is_single][job->type], &figures));
    ASSAY_TRY(cuda_function(launch->instance, job->op->image, job->op->apply[is_single][job->type],
                            &apply));
    ASSAY_TRY(cuda_workspace(launch, (size_t)(grid.groups[0] * job->op->entry_bytes), &entries));
    ASSAY_TRY(cuda_enqueue(launch, figures, &grid, arguments));
    return cuda_enqueue(launch, apply, &grid, arguments);
}

/* Rows that leave three quarters of the device without one. */
static bool are_few(const assay_launch *launch, const rows_job *job)
{
    const int units = cuda_device_limits(launch->instance)->multiprocessors;

    return job->place.cols >= LONG_ROW && units > 0 && job->place.rows * 4 <= (uint64_t)units;
}

/* parts, block: 0 leaves it to what is usual. */
static assay_status run_job(const assay_launch *launch, rows_job *job, uint64_t parts,
                            uint64_t block)
{
    const bool fits = job->vectors * job->vector <= CUDA_ROW_BLOCK * CUDA_ROW_HELD;

    if (job->place.rows == 0 || job->place.cols == 0)
        return ASSAY_OK;
    if (parts > 0)
        return run_parts(launch, job, parts);
    if (!fits || are_few(launch, job))
        return run_parts(launch, job, parts_for(launch, job));
    return run_held(launch, job, block > 0 ? block : USUAL_BLOCK);
}

static assay_status run_rows(const assay_launch *launch, const rows_op *op, double eps)
{
    const int64_t *t = launch->tunables;
    rows_job job = job_of(launch, op, eps);

    return run_job(launch, &job, (uint64_t)t[CUDA_ROW_TUNABLE_PARTS],
                   (uint64_t)t[CUDA_ROW_TUNABLE_BLOCK]);
}

/* ---- compiled at run time: exactly as many vectors a thread as a row needs ---------------------
 */

static const char *each_option(uint64_t each)
{
    static const char *const options[] = {
        "-DCUDA_ROW_PER=1",  "-DCUDA_ROW_PER=2",  "-DCUDA_ROW_PER=3",  "-DCUDA_ROW_PER=4",
        "-DCUDA_ROW_PER=5",  "-DCUDA_ROW_PER=6",  "-DCUDA_ROW_PER=7",  "-DCUDA_ROW_PER=8",
        "-DCUDA_ROW_PER=9",  "-DCUDA_ROW_PER=10", "-DCUDA_ROW_PER=11", "-DCUDA_ROW_PER=12",
        "-DCUDA_ROW_PER=13", "-DCUDA_ROW_PER=14", "-DCUDA_ROW_PER=15", "-DCUDA_ROW_PER=16"};

    return each <= sizeof options / sizeof *options ? options[each - 1] : NULL;
}

static const char *block_option(uint64_t block)
{
    return block == 128   ? "-DCUDA_ROW_BLOCK=128"
           : block == 256 ? "-DCUDA_ROW_BLOCK=256"
           : block == 512 ? "-DCUDA_ROW_BLOCK=512"
                          : "-DCUDA_ROW_BLOCK=1024";
}

/* Blocks a multiprocessor whose threads find registers: 64 each for so many elements of this row
 * and vectors of the next, 80, 128. */
static uint64_t fitting(const rows_job *job, uint64_t each, uint64_t block)
{
    const uint64_t words = each * (job->vector + VECTOR_WORDS);
    const uint64_t threads = words <= 32   ? WALKING_THREADS
                             : words <= 48 ? WALKING_THREADS * 3 / 4
                             : words <= 96 ? WALKING_THREADS / 2
                                           : WALKING_THREADS / 4;

    return threads > block ? threads / block : 1;
}

static const char *fit_option(uint64_t blocks)
{
    static const char *const options[] = {
        "-DCUDA_ROW_FIT=1", "-DCUDA_ROW_FIT=2", "-DCUDA_ROW_FIT=3", "-DCUDA_ROW_FIT=4",
        "-DCUDA_ROW_FIT=5", "-DCUDA_ROW_FIT=6", "-DCUDA_ROW_FIT=7", "-DCUDA_ROW_FIT=8"};

    return options[blocks - 1];
}

/* Blocks that walk over rows: as many as are on the device at once. */
static uint64_t walkers(const assay_launch *launch, uint64_t rows, uint64_t fit)
{
    const int units = cuda_device_limits(launch->instance)->multiprocessors;
    const uint64_t blocks = (uint64_t)(units > 0 ? units : 1) * fit;

    return rows < blocks ? rows : blocks;
}

static assay_status run_compiled(const assay_launch *launch, rows_job *job, uint64_t each)
{
    static const char *const types[CUDA_TYPES] = {
        "-DCUDA_ROW_TYPE=cuda_f32", "-DCUDA_ROW_TYPE=cuda_f16", "-DCUDA_ROW_TYPE=cuda_bf16"};
    const uint64_t block = (uint64_t)launch->tunables[CUDA_WALK_TUNABLE_BLOCK];
    const bool is_ahead = launch->tunables[CUDA_WALK_TUNABLE_AHEAD] != 0;
    const uint64_t fit = fitting(job, each, block);
    const char *const options[] = {CUDA_NO_CONTRACTION,
                                   types[job->type],
                                   each_option(each),
                                   block_option(block),
                                   is_ahead ? "-DCUDA_ROW_AHEAD=1" : "-DCUDA_ROW_AHEAD=0",
                                   is_ahead ? fit_option(fit) : NULL,
                                   NULL};
    const uint64_t rows = job->place.rows;
    const cuda_grid grid = {
        .groups = {is_ahead ? walkers(launch, rows, fit) : rows, 1, 1},
        .threads = {(uint32_t)warps_of(cuda_parts_of(job->vectors, each)), 1, 1},
    };
    void *arguments[] = {&job->place, &job->eps};
    CUfunction function;

    ASSAY_TRY(cuda_compiled(launch->instance, job->op->source, options, "jit", &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

/* Rows that a block can neither hold nor fill a warp of, and single elements, go as they do without
 * a compiler. */
static assay_status run_walk(const assay_launch *launch, const rows_op *op, double eps)
{
    rows_job job = job_of(launch, op, eps);
    const uint64_t each =
        cuda_parts_of(job.vectors, (uint64_t)launch->tunables[CUDA_WALK_TUNABLE_BLOCK]);
    /* Registers of a thread: 64 with 1024 threads, else 128 and more. */
    const uint64_t most = launch->tunables[CUDA_WALK_TUNABLE_BLOCK] > CUDA_ROW_BLOCK
                              ? CUDA_ROW_HELD / 2
                              : CUDA_ROW_HELD * 2;
    const bool is_held = each > 0 && each * job.vector <= most;

    if (job.place.rows == 0 || !is_held || job.vector == 1 || job.vectors <= WARP)
        return run_job(launch, &job, 0, 0);
    return run_compiled(launch, &job, each);
}

#define ENTRIES(name, op, eps)                                      \
    assay_status cuda_##name(const assay_launch *launch)            \
    {                                                               \
        return run_rows(launch, &op##_op, eps);                     \
    }                                                               \
    assay_status cuda_##name##_compiled(const assay_launch *launch) \
    {                                                               \
        return run_walk(launch, &op##_op, eps);                     \
    }

ENTRIES(softmax_rows, softmax, 0.0)
ENTRIES(layer_norm, layer_norm, ASSAY__REAL(launch->problem, layer_norm_last_dim, eps))
ENTRIES(rms_norm, rms_norm, ASSAY__REAL(launch->problem, rms_norm_last_dim, eps))

/* ---- softmax along the middle extent -----------------------------------------------------------
 */

assay_status cuda_softmax_columns(const assay_launch *launch)
{
    static const char *const names[CUDA_TYPES] = EACH("softmax_columns", "");
    const assay_tensor *x = &launch->operands[0];
    uint64_t outer = (uint64_t)x->dims[0], axis = (uint64_t)x->dims[1];
    uint64_t inner = (uint64_t)x->dims[2];
    CUdeviceptr from = cuda_address(x), to = cuda_address(&launch->operands[1]);
    const cuda_grid grid = {.groups = {outer * cuda_parts_of(inner, CUDA_LINE_COLUMNS), 1, 1},
                            .threads = {CUDA_LINE_COLUMNS, CUDA_LINE_DEEP, 1}};
    void *arguments[] = {&from, &to, &axis, &inner};
    CUfunction function;

    if (outer == 0 || axis == 0 || inner == 0)
        return ASSAY_OK;
    ASSAY_TRY(cuda_function(launch->instance, &cuda_image_softmax, names[cuda_type_index(x->dtype)],
                            &function));
    return cuda_enqueue(launch, function, &grid, arguments);
}

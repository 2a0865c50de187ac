/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_judge.cu -- outputs of unary kernels over consecutive bit patterns
 * against a reference in f64, and their digest.
 *
 * A block has a batch of 8,192 outputs at a time, loaded 16 bytes a thread so that a warp has half
 * a block of XXH3.  What a thread counts stays in registers until the end.  Outputs that may have
 * the largest error are found tile by tile: one where any reaches the largest so far is gone
 * through once more, and a third time where that is still so when the block is done. */
#include "backends/cuda/kernels/cuda_judge_plain.h"
#include "backends/cuda/kernels/cuda_judge_shape.h"

enum { WARPS = CUDA_JUDGE_BLOCK / 32, MOST_BLOCKS = CUDA_JUDGE_BATCH * 4 / JUDGE_BLOCK_BYTES };
enum { MOST_ASIDE = 24 }; /* tiles of a block that may hold the largest */
enum { WHY_LOOK = 1, WHY_SAMPLE = 2, WHY_LEADS = 4 };

struct judge_task {
    const void *y;
    judge_u64 first, batches; /* pattern of the first output */
    judge_u64 *record, *best;
    unsigned limit, capacity; /* of priorities in the sample; of the list */
};

struct judge_aside {
    judge_u64 tile;
    judge_u64 top[JUDGE_BESTS], most[JUDGE_BESTS]; /* bits of doubles, none of them negative */
    unsigned leader[JUDGE_BESTS];                  /* the first place that has the largest */
};

struct judge_shared {
    judge_u64 sums[2][MOST_BLOCKS][JUDGE_LANES];
    judge_u64 best[JUDGE_BESTS];
    judge_aside aside[MOST_ASIDE];
    unsigned aside_count;
    judge_u64 total[JUDGED_WORDS];
};

template <int TYPE> struct judge_tile {
    enum {
        bytes = TYPE == JUDGE_F32 ? 4 : 2,
        blocks = CUDA_JUDGE_BATCH * bytes / JUDGE_BLOCK_BYTES,
        each = blocks / WARPS, /* of XXH3 a warp */
        vector = 16 / bytes
    };
    /* Where in the batch a thread's vector lies: half 0 or 1 of one of its warp's blocks. */
    JUDGE_FN unsigned at(int block, int half)
    {
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

        return ((warp * each + block) * JUDGE_BLOCK_BYTES + half * 512 + lane * 16) / bytes;
    }
    JUDGE_FN uint4 load(const void *y, judge_u64 element)
    {
        return *(const uint4 *)((const char *)y + element * bytes);
    }
    JUDGE_FN unsigned bits(uint4 v, int i)
    {
        const unsigned word = i * bytes / 4;
        const unsigned all = word == 0 ? v.x : word == 1 ? v.y : word == 2 ? v.z : v.w;

        return bytes == 4 ? all : all >> i % 2 * 16 & 0xffffu;
    }
};

/* ---- the digest ---- */

/* What a vector of half `half` adds to the two lanes that it belongs to. */
JUDGE_FN void hash_vector(uint4 v, int half, int last, judge_u64 sums[2])
{
    const int lane = threadIdx.x % 32, stripe = half * 8 + lane / 4, place = lane % 4 * 2;
    const judge_u64 even = (judge_u64)v.y << 32 | v.x, odd = (judge_u64)v.w << 32 | v.z;

    sums[0] += odd + judge_hash_product(even, judge_hash_secret(stripe, place, last));
    sums[1] += even + judge_hash_product(odd, judge_hash_secret(stripe, place + 1, last));
}

/* The sums of a whole block, by the eight threads that have the same lanes. */
JUDGE_FN void hash_block(judge_u64 sums[2], judge_u64 *out)
{
    const int lane = threadIdx.x % 32;

    for (int apart = 4; apart < 32; apart *= 2) {
        sums[0] += __shfl_xor_sync(0xffffffffu, sums[0], apart);
        sums[1] += __shfl_xor_sync(0xffffffffu, sums[1], apart);
    }
    if (lane < 4) {
        out[2 * lane] = sums[0];
        out[2 * lane + 1] = sums[1];
    }
}

/* One warp: all blocks of a batch through the lanes, in order. */
JUDGE_FN judge_u64 hash_batch(const judge_u64 sums[][JUDGE_LANES], int blocks, unsigned bytes,
                              judge_u64 batch)
{
    const int place = threadIdx.x % JUDGE_LANES;
    judge_u64 lane = judge_lanes_begin[place], lanes[JUDGE_LANES];

    for (int b = 0; b < blocks; b++)
        lane = judge_hash_step(lane, sums[b][place], place, b + 1 == blocks);
#pragma unroll
    for (int i = 0; i < JUDGE_LANES; i++)
        lanes[i] = __shfl_sync(0xffffffffu, lane, i);
    return judge_hash_pair(judge_hash_end(lanes, bytes), batch);
}

/* ---- the list ---- */

JUDGE_FN void list(const judge_task *task, judge_u64 place, unsigned why, unsigned bits)
{
    const judge_u64 at = atomicAdd(&task->record[JUDGED_LISTED], 1ull);

    if (at >= task->capacity)
        return;
    judge_u64 *element = task->record + JUDGED_WORDS + 2 * at;
    element[0] = bits;
    element[1] = (judge_u64)why << 32 | place;
}

/* ---- one pass over a tile ---- */

template <int OP, int IN, int OUT>
JUDGE_FN int measure(const judge_task *task, judge_u64 place, unsigned bits, judge_point *p)
{
    const judge_reference r = judge_wide(OP, judge_value(IN, (unsigned)(task->first + place)));

    return judge_measure(OUT, bits, r, OP == JUDGE_RELU || OP == JUDGE_CAST, p);
}

/* Counts those of a vector that are plain, and says which are not. */
template <int OP, int IN, int OUT, bool IS_LINE>
JUDGE_FN unsigned count_plain(unsigned pattern, uint4 v, const judge_gate *gate,
                              const judge_line *line, judge_counts *counts)
{
    typedef judge_tile<OUT> shape;
    enum { once = IN == JUDGE_F32 ? shape::vector : 1 }; /* spaces of 16 bits are small */
    unsigned others = 0;

#pragma unroll(once)
    for (int i = 0; i < shape::vector; i++) {
        const float x = judge_single(IN, pattern + i);
        const double hi = IS_LINE ? fma((double)x, line->slope, line->at) : judge_plain_wide(OP, x);
        if (!judge_count_plain(counts, OUT, shape::bits(v, i), hi, gate))
            others |= 1u << i;
    }
    return others;
}

/* Counts those of a vector that are not, and says which of them the host must look at. */
template <int OP, int IN, int OUT>
JUDGE_FN unsigned count_others(const judge_task *task, judge_u64 place, uint4 v, unsigned others,
                               const judge_bar *bar, judge_counts *counts, judge_shared *s,
                               int *again)
{
    typedef judge_tile<OUT> shape;
    unsigned looks = 0;

#pragma unroll 1
    for (int i = 0; i < shape::vector; i++) {
        const unsigned bits = shape::bits(v, i);
        judge_point p;
        if ((others >> i & 1) == 0)
            continue;
        if (!measure<OP, IN, OUT>(task, place + i, bits, &p)) {
            list(task, place + i, WHY_LOOK, bits);
            looks |= 1u << i;
            continue;
        }
        const int bin = judge_count(counts, &p);
        if (bin > 0)
            atomicAdd(&s->total[JUDGED_BINS + bin], 1ull);
        *again |= judge_rises(&p, bar);
    }
    return looks;
}

/* Counts a vector, and lists what is in the sample. */
template <int OP, int IN, int OUT>
JUDGE_FN void count_vector(const judge_task *task, judge_u64 place, uint4 v, const judge_bar *bar,
                           const judge_gate *gate, const judge_line *line, judge_counts *counts,
                           judge_shared *s, int *again)
{
    typedef judge_tile<OUT> shape;
    const unsigned pattern = (unsigned)(task->first + place);
    const unsigned group = judge_sample_group(task->first + place);
    const unsigned others = line->is_one
                                ? count_plain<OP, IN, OUT, true>(pattern, v, gate, line, counts)
                                : count_plain<OP, IN, OUT, false>(pattern, v, gate, line, counts);
    unsigned looks = 0;

    if (others != 0)
        looks = count_others<OP, IN, OUT>(task, place, v, others, bar, counts, s, again);
    if (group >> 6 > task->limit)
        return;
#pragma unroll 1
    for (int i = 0; i < shape::vector; i++)
        if ((looks >> i & 1) == 0 &&
            judge_sample_priority(group, task->first + place + i) <= task->limit)
            list(task, place + i, WHY_SAMPLE, shape::bits(v, i));
}

/* Counts, hashes, and says whether any may be the largest of all. */
template <int OP, int IN, int OUT>
JUDGE_FN int count_tile(const judge_task *task, judge_u64 tile, const judge_bar *bar,
                        judge_counts *counts, judge_shared *s, judge_u64 sums[][JUDGE_LANES])
{
    typedef judge_tile<OUT> shape;
    const judge_gate gate = judge_gate_of(OUT, OP == JUDGE_RELU || OP == JUDGE_CAST, bar);
    const judge_line line =
        judge_line_of(OP, IN, (unsigned)(task->first + tile * CUDA_JUDGE_BATCH));
    int again = 0;

#pragma unroll 1
    for (int b = 0; b < shape::each; b++) {
        const int block = threadIdx.x / 32 * shape::each + b;
        judge_u64 adds[2] = {0, 0};
#pragma unroll 1
        for (int half = 0; half < 2; half++) {
            const judge_u64 place = tile * CUDA_JUDGE_BATCH + shape::at(b, half);
            const uint4 v = shape::load(task->y, place);
            hash_vector(v, half, block + 1 == shape::blocks, adds);
            count_vector<OP, IN, OUT>(task, place, v, bar, &gate, &line, counts, s, &again);
        }
        hash_block(adds, sums[block]);
    }
    return again;
}

/* What thread `threadIdx.x` finds in a tile: of each kind the largest, the first that has it, and
 * the most that the host may find. */
struct judge_lead {
    double top[JUDGE_BESTS], most[JUDGE_BESTS];
    unsigned place[JUDGE_BESTS];
};

template <int OP, int IN, int OUT>
JUDGE_FN void lead_of(const judge_task *task, judge_u64 tile, judge_lead *out)
{
    typedef judge_tile<OUT> shape;

#pragma unroll 1
    for (int b = 0; b < 2 * shape::each; b++) {
        const judge_u64 place = tile * CUDA_JUDGE_BATCH + shape::at(b / 2, b % 2);
        const uint4 v = shape::load(task->y, place);
#pragma unroll 1
        for (int i = 0; i < shape::vector; i++) {
            judge_point p;
            if (!measure<OP, IN, OUT>(task, place + i, shape::bits(v, i), &p))
                continue;
#pragma unroll
            for (int kind = 0; kind < JUDGE_BESTS; kind++) {
                const double least = judge_figure(&p, kind, -1.0);
                out->most[kind] = fmax(out->most[kind], judge_figure(&p, kind, 1.0));
                if (least > out->top[kind]) {
                    out->top[kind] = least;
                    out->place[kind] = (unsigned)(place + i);
                }
            }
        }
    }
}

/* A tile whose largest reached those so far is put aside until the block's tiles are done: where
 * errors grow from tile to tile few of them are still among the largest then. */
template <int OP, int IN, int OUT>
__device__ __noinline__ void put_aside(judge_task task, judge_u64 tile, judge_bar bar,
                                       judge_shared *s)
{
    judge_lead mine = {};
    judge_aside *aside = &s->aside[s->aside_count];

    if (threadIdx.x < JUDGE_BESTS) {
        aside->top[threadIdx.x] = aside->most[threadIdx.x] = 0;
        aside->leader[threadIdx.x] = 0xffffffffu;
    }
    __syncthreads();
    lead_of<OP, IN, OUT>(&task, tile, &mine);
#pragma unroll
    for (int kind = 0; kind < JUDGE_BESTS; kind++) {
        atomicMax(&aside->top[kind], judge_bits(mine.top[kind]));
        atomicMax(&aside->most[kind], judge_bits(mine.most[kind]));
    }
    __syncthreads();
#pragma unroll
    for (int kind = 0; kind < JUDGE_BESTS; kind++)
        if (mine.top[kind] > 0.0 && judge_bits(mine.top[kind]) == aside->top[kind])
            atomicMin(&aside->leader[kind], mine.place[kind]);
    __syncthreads();
    if (threadIdx.x == 0) {
        aside->tile = tile;
        s->aside_count++;
    }
    if (threadIdx.x >= JUDGE_BESTS)
        return;
    const int kind = threadIdx.x;
    const double top = judge_double(aside->top[kind]);
    if (judge_leads(kind, &bar, top))
        atomicMax(&task.best[kind], kind == JUDGE_BY_ERR
                                        ? judge_key(top, (unsigned)task.first + aside->leader[kind])
                                        : aside->top[kind]);
}

/* All that the host may find larger than the largest so far. */
template <int OP, int IN, int OUT>
JUDGE_FN void list_leads(const judge_task *task, judge_u64 tile, const judge_bar *bar)
{
    typedef judge_tile<OUT> shape;

#pragma unroll 1
    for (int b = 0; b < 2 * shape::each; b++) {
        const judge_u64 place = tile * CUDA_JUDGE_BATCH + shape::at(b / 2, b % 2);
        const uint4 v = shape::load(task->y, place);
#pragma unroll 1
        for (int i = 0; i < shape::vector; i++) {
            judge_point p;
            int leads = 0;
            if (!measure<OP, IN, OUT>(task, place + i, shape::bits(v, i), &p))
                continue;
#pragma unroll
            for (int kind = 0; kind < JUDGE_BESTS; kind++)
                leads |= judge_may_lead(&p, kind, bar, 0.0);
            if (leads)
                list(task, place + i, WHY_LEADS, shape::bits(v, i));
        }
    }
}

template <int OP, int IN, int OUT>
__device__ __noinline__ void look_again(judge_task task, judge_shared *s)
{
    __syncthreads();
    if (threadIdx.x < JUDGE_BESTS)
        s->best[threadIdx.x] = atomicMax(&task.best[threadIdx.x], 0ull);
    __syncthreads();
    for (unsigned n = 0; n < s->aside_count; n++) {
        const judge_aside *aside = &s->aside[n];
        const judge_u64 first = task.first + aside->tile * CUDA_JUDGE_BATCH;
        const judge_bar bar = judge_bar_of(s->best, (unsigned)first);
        int is_in = 0;
#pragma unroll
        for (int kind = 0; kind < JUDGE_BESTS; kind++)
            is_in |= judge_double(aside->most[kind]) >= bar.least[kind];
        if (!is_in)
            continue;
        list_leads<OP, IN, OUT>(&task, aside->tile, &bar);
        if (threadIdx.x >= JUDGE_BESTS)
            continue;
        const double top = judge_double(aside->top[threadIdx.x]);
        const unsigned leader = aside->leader[threadIdx.x];
        if (top > 0.0 && top >= bar.least[threadIdx.x])
            list(&task, leader, WHY_LEADS,
                 OUT == JUDGE_F32 ? ((const unsigned *)task.y)[leader]
                                  : ((const unsigned short *)task.y)[leader]);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        s->aside_count = 0;
    __syncthreads();
}

/* ---- the end ---- */

JUDGE_FN void put(judge_shared *s, int word, judge_u64 value)
{
    for (int apart = 16; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, apart);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&s->total[word], value);
}

JUDGE_FN void put_counts(judge_shared *s, const judge_counts *c)
{
    put(s, JUDGED_ELEMENTS, c->elements);
    put(s, JUDGED_ZERO_SIGN, c->zero_sign);
    put(s, JUDGED_MISROUNDED, c->misrounded);
    put(s, JUDGED_OVER_ONE, c->over_one);
    put(s, JUDGED_ZEROS, c->zeros);
    put(s, JUDGED_INTEGERS, c->integers);
    put(s, JUDGED_SUM_PART, c->part & 0xffffffffu);
    const judge_u64 whole = c->whole + (c->part >> 32);
    put(s, JUDGED_SUM_LOW, whole & 0xffffffffu);
    put(s, JUDGED_SUM_HIGH, whole >> 32);
    for (int bin = 1; bin <= JUDGE_HELD; bin++)
        put(s, JUDGED_BINS + bin, judge_held(c, bin));
    atomicMax(&s->total[JUDGED_MAX_DIST], (judge_u64)c->most_dist);
}

/* Bin 0 has who is in no other. */
JUDGE_FN void put_record(const judge_task *task, judge_shared *s)
{
    const int word = threadIdx.x;

    if (word >= JUDGED_WORDS || word == JUDGED_LISTED || word == JUDGED_BINS)
        return;
    if (word == JUDGED_MAX_DIST)
        atomicMax(&task->record[word], s->total[word]);
    else if (s->total[word] != 0)
        atomicAdd(&task->record[word], s->total[word]);
    if (word != JUDGED_ELEMENTS)
        return;
    judge_u64 rest = s->total[JUDGED_ELEMENTS];
    for (int bin = 1; bin < JUDGE_BINS; bin++)
        rest -= s->total[JUDGED_BINS + bin];
    atomicAdd(&task->record[JUDGED_BINS], rest);
}

template <int OP, int IN, int OUT> JUDGE_FN void judge(const judge_task *task)
{
    __shared__ judge_shared s;
    typedef judge_tile<OUT> shape;
    judge_counts counts = {};
    judge_u64 digest = 0;
    unsigned round = 0;

    if (threadIdx.x < JUDGED_WORDS)
        s.total[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        s.aside_count = 0;
    for (judge_u64 n = blockIdx.x; n < task->batches; n += gridDim.x, round++) {
        /* From the last on: errors grow with the operand's size more often than not. */
        const judge_u64 tile = task->batches - 1 - n;
        const judge_u64 first = task->first + tile * CUDA_JUDGE_BATCH;
        judge_u64(*sums)[JUDGE_LANES] = s.sums[round % 2];
        if (threadIdx.x < JUDGE_BESTS)
            s.best[threadIdx.x] = *(volatile judge_u64 *)&task->best[threadIdx.x];
        __syncthreads();
        const judge_bar bar = judge_bar_of(s.best, (unsigned)first);
        if (s.aside_count == MOST_ASIDE)
            look_again<OP, IN, OUT>(*task, &s);
        const int again = count_tile<OP, IN, OUT>(task, tile, &bar, &counts, &s, sums);
        if (__syncthreads_or(again))
            put_aside<OP, IN, OUT>(*task, tile, bar, &s);
        /* Each warp in its turn, while the others are at the next tile. */
        if (threadIdx.x / 32 == round % WARPS)
            digest += hash_batch(sums, shape::blocks, CUDA_JUDGE_BATCH * shape::bytes,
                                 first / CUDA_JUDGE_BATCH);
    }
    __syncthreads();
    if (s.aside_count > 0)
        look_again<OP, IN, OUT>(*task, &s);
    put_counts(&s, &counts);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&s.total[JUDGED_DIGEST], digest);
    __syncthreads();
    put_record(task, &s);
}

#define JUDGE(name, op, in, out)                                                   \
    extern "C" __global__ void __launch_bounds__(CUDA_JUDGE_BLOCK, 2)              \
        name(const void *y, judge_u64 first, judge_u64 batches, judge_u64 *record, \
             judge_u64 *best, judge_u64 limit, judge_u64 capacity)                 \
    {                                                                              \
        const judge_task task = {y,    first,           batches,           record, \
                                 best, (unsigned)limit, (unsigned)capacity};       \
        judge<JUDGE_##op, JUDGE_##in, JUDGE_##out>(&task);                         \
    }
#define JUDGE_SAME(op, name)                    \
    JUDGE(judge_##name##_f32_f32, op, F32, F32) \
    JUDGE(judge_##name##_f16_f16, op, F16, F16) \
    JUDGE(judge_##name##_bf16_bf16, op, BF16, BF16)

JUDGE_SAME(RELU, relu)
JUDGE_SAME(GELU, gelu)
JUDGE_SAME(EXP, exp)
JUDGE_SAME(CAST, cast)
JUDGE(judge_cast_f32_f16, CAST, F32, F16)
JUDGE(judge_cast_f32_bf16, CAST, F32, BF16)
JUDGE(judge_cast_f16_f32, CAST, F16, F32)
JUDGE(judge_cast_f16_bf16, CAST, F16, BF16)
JUDGE(judge_cast_bf16_f32, CAST, BF16, F32)
JUDGE(judge_cast_bf16_f16, CAST, BF16, F16)

/* ---- inputs ---- */

/* Patterns first, first + 1, ... in x, of 2 or 4 bytes each; ones, which are no number, in y.  By
 * vectors; n is a multiple of 8,192. */
extern "C" __global__ void __launch_bounds__(CUDA_JUDGE_BLOCK)
    judge_patterns(uint4 *x, judge_u64 x_bytes, uint4 *y, judge_u64 y_bytes, judge_u64 first,
                   judge_u64 n)
{
    const judge_u64 step = (judge_u64)gridDim.x * blockDim.x;
    const judge_u64 begin = (judge_u64)blockIdx.x * blockDim.x + threadIdx.x;

    for (judge_u64 i = begin; i < n * x_bytes / 16; i += step) {
        const unsigned at = (unsigned)(first + i * (16 / x_bytes));
        x[i] = x_bytes == 4 ? make_uint4(at, at + 1, at + 2, at + 3)
                            : make_uint4((at & 0xffffu) | (at + 1) << 16,
                                         ((at + 2) & 0xffffu) | (at + 3) << 16,
                                         ((at + 4) & 0xffffu) | (at + 5) << 16,
                                         ((at + 6) & 0xffffu) | (at + 7) << 16);
    }
    for (judge_u64 i = begin; i < n * y_bytes / 16; i += step)
        y[i] = make_uint4(~0u, ~0u, ~0u, ~0u);
}

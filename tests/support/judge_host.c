/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tests/support/judge_host.c -- see judge_host.h. */
#include "tests/support/judge_host.h"

#include <math.h>
#include <string.h>

#include "backends/cuda/kernels/cuda_judge_plain.h"
#include "backends/cuda/kernels/cuda_judge_shape.h"

enum { MOST_BLOCKS = CUDA_JUDGE_BATCH * 4 / JUDGE_BLOCK_BYTES };

_Static_assert(sizeof(assay_judged) == JUDGED_WORDS * sizeof(uint64_t), "words of a record");

static unsigned bits_at(const judge_host_task *t, uint64_t place)
{
    return t->out == JUDGE_F32 ? ((const uint32_t *)t->y)[place] : ((const uint16_t *)t->y)[place];
}

static void list(const judge_host_task *t, uint64_t place, unsigned why)
{
    const uint64_t at = t->record[JUDGED_LISTED]++;

    if (at >= t->capacity)
        return;
    t->record[JUDGED_WORDS + 2 * at] = bits_at(t, place);
    t->record[JUDGED_WORDS + 2 * at + 1] = (uint64_t)why << 32 | place;
}

static int measure(const judge_host_task *t, uint64_t place, judge_point *p)
{
    const double x = judge_value(t->in, (unsigned)(t->first + place));

    return judge_measure(t->out, bits_at(t, place), judge_wide(t->op, x),
                         t->op == JUDGE_RELU || t->op == JUDGE_CAST, p);
}

/* ---- the digest ---- */

static uint64_t hash(const judge_host_task *t, uint64_t tile)
{
    const unsigned bytes = CUDA_JUDGE_BATCH * (t->out == JUDGE_F32 ? 4 : 2);
    const int blocks = (int)bytes / JUDGE_BLOCK_BYTES;
    const char *from = (const char *)t->y + tile * bytes;
    judge_u64 lanes[JUDGE_LANES];

    memcpy(lanes, judge_lanes_begin, sizeof lanes);
    for (int b = 0; b < blocks; b++) {
        judge_u64 sums[JUDGE_LANES] = {0}, data;
        for (int i = 0; i < JUDGE_BLOCK_BYTES / 8; i++) {
            memcpy(&data, from + b * JUDGE_BLOCK_BYTES + 8 * i, 8);
            sums[i % 8] +=
                judge_hash_product(data, judge_hash_secret(i / 8, i % 8, b + 1 == blocks));
            sums[i % 8 ^ 1] += data;
        }
        for (int i = 0; i < JUDGE_LANES; i++)
            lanes[i] = judge_hash_step(lanes[i], sums[i], i, b + 1 == blocks);
    }
    return judge_hash_pair(judge_hash_end(lanes, bytes), t->first / CUDA_JUDGE_BATCH + tile);
}

/* ---- a tile ---- */

static void put_counts(const judge_host_task *t, const judge_counts *c)
{
    uint64_t *r = t->record, rest = c->elements;
    const uint64_t whole = c->whole + (c->part >> 32);

    r[JUDGED_ELEMENTS] += c->elements;
    r[JUDGED_ZERO_SIGN] += c->zero_sign;
    r[JUDGED_MISROUNDED] += c->misrounded;
    r[JUDGED_OVER_ONE] += c->over_one;
    r[JUDGED_ZEROS] += c->zeros;
    r[JUDGED_INTEGERS] += c->integers;
    r[JUDGED_SUM_PART] += c->part & UINT32_MAX;
    r[JUDGED_SUM_LOW] += whole & UINT32_MAX;
    r[JUDGED_SUM_HIGH] += whole >> 32;
    if (c->most_dist > r[JUDGED_MAX_DIST])
        r[JUDGED_MAX_DIST] = c->most_dist;
    for (int bin = 1; bin <= JUDGE_HELD; bin++) {
        const uint64_t n = judge_held(c, bin);
        r[JUDGED_BINS + bin] += n;
        rest -= n;
    }
    r[JUDGED_BINS] += rest;
}

static int is_plain(const judge_host_task *t, uint64_t place, const judge_gate *gate,
                    const judge_line *line, judge_counts *counts)
{
    const float x = judge_single(t->in, (unsigned)(t->first + place));
    const double hi =
        line->is_one ? fma((double)x, line->slope, line->at) : judge_plain_wide(t->op, x);

    return judge_count_plain(counts, t->out, bits_at(t, place), hi, gate);
}

static int count_tile(const judge_host_task *t, uint64_t tile, const judge_bar *bar)
{
    const judge_gate gate = judge_gate_of(t->out, t->op == JUDGE_RELU || t->op == JUDGE_CAST, bar);
    const judge_line line =
        judge_line_of(t->op, t->in, (unsigned)(t->first + tile * CUDA_JUDGE_BATCH));
    judge_counts counts = {0};
    int again = 0;

    for (uint64_t place = tile * CUDA_JUDGE_BATCH; place < (tile + 1) * CUDA_JUDGE_BATCH; place++) {
        const unsigned group = judge_sample_group(t->first + place);
        judge_point p;
        if (!is_plain(t, place, &gate, &line, &counts)) {
            if (!measure(t, place, &p)) {
                list(t, place, ASSAY_JUDGE_LOOK);
                continue;
            }
            const int bin = judge_count(&counts, &p);
            if (bin > 0) {
                t->record[JUDGED_BINS + bin]++;
                t->record[JUDGED_BINS]--;
            }
            again |= judge_rises(&p, bar);
        }
        if (judge_sample_priority(group, t->first + place) <= t->limit)
            list(t, place, ASSAY_JUDGE_SAMPLE);
    }
    put_counts(t, &counts);
    return again;
}

static void lead_element(const judge_host_task *t, uint64_t place, const judge_bar *bar,
                         double top[JUDGE_BESTS], unsigned leader[JUDGE_BESTS], int step)
{
    judge_point p;
    int leads = 0;

    if (!measure(t, place, &p))
        return;
    for (int kind = 0; kind < JUDGE_BESTS; kind++) {
        const double least = judge_figure(&p, kind, -1.0);
        if (step == 0) {
            top[kind] = fmax(top[kind], least);
            continue;
        }
        if (least >= top[kind] && place < leader[kind])
            leader[kind] = (unsigned)place;
        leads |= judge_may_lead(&p, kind, bar, top[kind]);
    }
    if (leads)
        list(t, place, ASSAY_JUDGE_LEADS);
}

static void look_again(const judge_host_task *t, uint64_t tile, const judge_bar *bar)
{
    double top[JUDGE_BESTS] = {0};
    unsigned leader[JUDGE_BESTS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

    for (int step = 0; step < 2; step++)
        for (uint64_t i = 0; i < CUDA_JUDGE_BATCH; i++)
            lead_element(t, tile * CUDA_JUDGE_BATCH + i, bar, top, leader, step);
    for (int kind = 0; kind < JUDGE_BESTS; kind++) {
        if (!judge_leads(kind, bar, top[kind]))
            continue;
        const uint64_t key = kind == JUDGE_BY_ERR
                                 ? judge_key(top[kind], (unsigned)t->first + leader[kind])
                                 : judge_bits(top[kind]);
        if (key > t->best[kind])
            t->best[kind] = key;
        list(t, leader[kind], ASSAY_JUDGE_LEADS);
    }
}

void judge_host_run(const judge_host_task *t)
{
    for (uint64_t n = 0; n < t->batches; n++) {
        const uint64_t tile = t->batches - 1 - n;
        judge_u64 best[JUDGE_BESTS];
        for (int i = 0; i < JUDGE_BESTS; i++)
            best[i] = t->best[i];
        const judge_bar bar = judge_bar_of(best, (unsigned)(t->first + tile * CUDA_JUDGE_BATCH));
        if (count_tile(t, tile, &bar))
            look_again(t, tile, &bar);
        t->record[JUDGED_DIGEST] += hash(t, tile);
    }
}

void judge_host_patterns(void *x, uint64_t x_bytes, void *y, uint64_t y_bytes, uint64_t first,
                         uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (x_bytes == 4)
            ((uint32_t *)x)[i] = (uint32_t)(first + i);
        else
            ((uint16_t *)x)[i] = (uint16_t)(first + i);
    memset(y, 0xff, n * y_bytes);
}

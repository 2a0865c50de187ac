/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* runtime/roofline.c -- ceilings of a machine from its measured peaks. */
#include "runtime/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/deployment.h"

/* Units that a machine may have, by what its deployment says of its instruction sets.  A peak of
 * that name must have been measured; a unit without a name has no probe yet, and leaves what it
 * would speed up unknown. */
static const struct unit {
    const char *isa, *peak;
    assay__arith arith;
    bool is_device;
} units[] = {
    {"avx2,fma", "fma_f32_avx2_", ASSAY__ARITH_F32, false},
    {"avx2,fma", "fma_f64_avx2_", ASSAY__ARITH_F64, false},
    {"avx2,fma", "load_cache_avx2_", ASSAY__ARITH_CACHE, false},
    {"avx2,fma", "copy_cache_avx2_", ASSAY__ARITH_CACHE, false},
    {"avx512f", "fma_f32_avx512_", ASSAY__ARITH_F32, false},
    {"avx512f", "fma_f64_avx512_", ASSAY__ARITH_F64, false},
    {"avx512f", "load_cache_avx512_", ASSAY__ARITH_CACHE, false},
    {"avx512f", "copy_cache_avx512_", ASSAY__ARITH_CACHE, false},
    {"avx512_bf16", "dot_bf16_avx512_", ASSAY__ARITH_BF16, false},
    {"avx512_fp16", "fma_f16_avx512_", ASSAY__ARITH_F16, false},
    {"amx_bf16", "tile_bf16_amx_", ASSAY__ARITH_BF16, false},
    {"amx_int8", "tile_i8_amx_", ASSAY__ARITH_I8, false},
    {"amx_fp16", NULL, ASSAY__ARITH_F16, false},
    {"amx_tf32", NULL, ASSAY__ARITH_F32, false},
    {"amx_fp8", NULL, ASSAY__ARITH_I8, false},
    {NULL, "fma_f32_portable_", ASSAY__ARITH_F32, false},
    {NULL, "fma_f64_portable_", ASSAY__ARITH_F64, false},
    {NULL, "fma_f64_d", ASSAY__ARITH_F64, true},
    {NULL, "fma_f32_d", ASSAY__ARITH_F32, true},
    {NULL, "fma_f16_d", ASSAY__ARITH_F16, true},
    {NULL, "fma_bf16_d", ASSAY__ARITH_BF16, true},
    {NULL, "matrix_f64_d", ASSAY__ARITH_F64, true},
    {NULL, "matrix_tf32_d", ASSAY__ARITH_TF32, true},
    {NULL, "matrix_f16_d", ASSAY__ARITH_F16, true},
    {NULL, "matrix_bf16_d", ASSAY__ARITH_BF16, true},
    {NULL, "matrix_i8_d", ASSAY__ARITH_I8, true},
};
enum { UNITS = sizeof units / sizeof *units };
_Static_assert(sizeof units / sizeof *units <= 32, "missing has a bit for each unit");

/* Products of an arithmetic that one product of a dtype takes, at least; 0: it does not serve.
 * Own: at the dtype's own precision or a wider one.  Split: the operands as sums of narrower
 * numbers, as libraries do on tile units: f32 as two or three bf16 (three products are the least
 * that keeps more than bf16 has), f64 as six or more bytes (21 products). */
static const uint8_t own[4][ASSAY__ARITHS] = {
    [0] = {[ASSAY__ARITH_F64] = 1},
    [1] = {[ASSAY__ARITH_F32] = 1},
    [2] = {[ASSAY__ARITH_F32] = 1, [ASSAY__ARITH_F16] = 1},
    [3] = {[ASSAY__ARITH_F32] = 1, [ASSAY__ARITH_BF16] = 1},
};
static const uint8_t split[4][ASSAY__ARITHS] = {
    [0] = {[ASSAY__ARITH_F64] = 1, [ASSAY__ARITH_I8] = 21},
    [1] = {[ASSAY__ARITH_F32] = 1, [ASSAY__ARITH_F16] = 3, [ASSAY__ARITH_BF16] = 3},
    [2] = {[ASSAY__ARITH_F32] = 1, [ASSAY__ARITH_F16] = 1, [ASSAY__ARITH_BF16] = 3},
    [3] = {[ASSAY__ARITH_F32] = 1, [ASSAY__ARITH_F16] = 1, [ASSAY__ARITH_BF16] = 1},
};

/* On devices libraries take one narrow product where the caller's settings let them, and what comes
 * of a long sum of those may pass for right: no floor is above that. */
static const uint8_t split_on_device[4][ASSAY__ARITHS] = {
    [0] = {[ASSAY__ARITH_F64] = 1, [ASSAY__ARITH_I8] = 21},
    [1] = {[ASSAY__ARITH_F32] = 1,
           [ASSAY__ARITH_TF32] = 1,
           [ASSAY__ARITH_F16] = 1,
           [ASSAY__ARITH_BF16] = 1},
    [2] = {[ASSAY__ARITH_F32] = 1,
           [ASSAY__ARITH_TF32] = 1,
           [ASSAY__ARITH_F16] = 1,
           [ASSAY__ARITH_BF16] = 1},
    [3] = {[ASSAY__ARITH_F32] = 1,
           [ASSAY__ARITH_TF32] = 1,
           [ASSAY__ARITH_F16] = 1,
           [ASSAY__ARITH_BF16] = 1},
};

/* Row of the tables above; -1: a dtype whose arithmetic is not probed. */
static int row_of(assay_dtype dtype)
{
    switch (dtype) {
    case ASSAY_F64:
        return 0;
    case ASSAY_F32:
        return 1;
    case ASSAY_F16:
        return 2;
    case ASSAY_BF16:
        return 3;
    default:
        return -1;
    }
}

static void init(assay__roofline *roof, double cpus, const char *isa)
{
    *roof = (assay__roofline){.cpus = cpus,
                              .bytes_per_ns = (double)NAN,
                              .memory_per_ns = (double)NAN,
                              .cache_bytes = (double)NAN,
                              .is_isa_known = isa != NULL && isa[0] != '\0'};
    for (size_t i = 0; i < ASSAY__ARITHS; i++)
        roof->arith_per_ns[i] = (double)NAN;
}

void assay__roofline_init(assay__roofline *roof, double cpus, const char *isa)
{
    init(roof, cpus, isa);
    for (size_t i = 0; roof->is_isa_known && i < UNITS; i++)
        if (units[i].isa != NULL && assay_isa_covers(isa, units[i].isa, NULL, 0))
            roof->missing |= 1u << i;
}

void assay__roofline_init_device(assay__roofline *roof)
{
    init(roof, 0, NULL);
    roof->is_isa_known = roof->is_device = true;
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].is_device)
            roof->missing |= 1u << i;
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* 2 of "fma_f32_avx2_t2", with sign 't'; 0 without such an end. */
static double count_of(const char *name, char sign)
{
    const char *at = strrchr(name, '_');

    return at != NULL && at[1] == sign ? strtod(at + 2, NULL) : 0;
}

static void raise_to(double *ceiling, double value)
{
    if (value > 0 && !(*ceiling >= value))
        *ceiling = value;
}

static void add_unit(assay__roofline *roof, const char *name, double scaled)
{
    for (size_t i = 0; i < UNITS; i++) {
        if (units[i].peak == NULL || !starts_with(name, units[i].peak))
            continue;
        raise_to(&roof->arith_per_ns[units[i].arith], scaled);
        if (scaled > 0)
            roof->missing &= ~(1u << i);
    }
}

void assay__roofline_add(assay__roofline *roof, const char *name, double value)
{
    double threads = count_of(name, roof->is_device ? 'd' : 't'), scaled = value;

    if (!(threads > 0))
        return;
    if (roof->cpus > threads)
        scaled = value * roof->cpus / threads;
    if (starts_with(name, roof->is_device ? "copy_d" : "copy_nt_") ||
        starts_with(name, "copy_plain_")) {
        raise_to(&roof->bytes_per_ns, value);
        raise_to(&roof->memory_per_ns, value);
    } else if (starts_with(name, "store_nt_") || starts_with(name, "load_memory_")) {
        raise_to(&roof->memory_per_ns, value);
    } else {
        add_unit(roof, name, scaled);
    }
}

static bool is_missing(const assay__roofline *roof, assay__arith arith)
{
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].arith == arith && (roof->missing & 1u << i) != 0)
            return true;
    return false;
}

/* The best rate over what serves a dtype; NaN when a peak of it is missing, or all are. */
static double best_rate(const assay__roofline *roof, const uint8_t products[ASSAY__ARITHS])
{
    double best = (double)NAN;

    for (size_t i = 0; i < ASSAY__ARITHS; i++) {
        if (products[i] == 0)
            continue;
        if (is_missing(roof, (assay__arith)i))
            return (double)NAN;
        raise_to(&best, roof->arith_per_ns[i] / products[i]);
    }
    return best;
}

double assay__roofline_flops(const assay__roofline *roof, assay_dtype dtype)
{
    int row = row_of(dtype);

    return row < 0 ? (double)NAN : best_rate(roof, own[row]);
}

assay__roofline_bound assay__roofline_bound_of(const assay__roofline *roof, assay_dtype dtype,
                                               double flops, double bytes)
{
    double by_flops = flops / assay__roofline_flops(roof, dtype);
    double by_bytes = bytes / roof->bytes_per_ns;
    assay__roofline_bound bound = {.floor_ns = (double)NAN,
                                   .intensity = bytes > 0 ? flops / bytes : (double)NAN};

    if (isnan(by_flops) && isnan(by_bytes))
        bound.is_compute = bound.intensity > 8;
    else
        bound.is_compute = isnan(by_bytes) || by_flops > by_bytes;
    bound.floor_ns = bound.is_compute ? by_flops : by_bytes;
    return bound;
}

double assay__roofline_flops_floor(const assay__roofline *roof, assay_dtype dtype, double flops)
{
    int row = row_of(dtype);

    if (row < 0 || !roof->is_isa_known)
        return (double)NAN;
    return flops / best_rate(roof, roof->is_device ? split_on_device[row] : split[row]);
}

double assay__roofline_bytes_floor(const assay__roofline *roof, double bytes, double rotation_bytes)
{
    /* No mix of loads and stores is faster than loads and copies at once. */
    double cache = is_missing(roof, ASSAY__ARITH_CACHE)
                       ? (double)NAN
                       : 2.0 * roof->arith_per_ns[ASSAY__ARITH_CACHE];
    /* Of a round, the best cache keeps what fits, however it replaces lines. */
    double kept = rotation_bytes > 0 ? fmin(roof->cache_bytes / rotation_bytes, 1.0) : 1.0;
    double by_memory =
        isnan(roof->cache_bytes) ? (double)NAN : bytes * (1.0 - kept) / roof->memory_per_ns;

    if (!roof->is_isa_known)
        return (double)NAN;
    return fmax(bytes / cache, by_memory); /* fmax: the one that is known */
}

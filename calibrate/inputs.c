/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/inputs.c -- the strata: names, and elements as functions of their index. */
#include "calibrate/inputs.h"

#include "calibrate/special_values.h"
#include "runtime/error.h"
#include "support/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 64

static const struct {
    const char *name, *doc;
    unsigned flags;
    bool fits[ASSAY_FAMILY_COUNT];
} strata[ASSAY_STRATUM_COUNT] = {
#define X(id, text, bits, contraction, binary, unary, row, norm, reduction, index, attention, why) \
    {text, why, bits, {contraction, binary, unary, row, norm, reduction, index, attention}},
    ASSAY_STRATUM_MAP(X)
#undef X
};

const char *assay__stratum_name(assay_stratum stratum)
{
    return (unsigned)stratum < ASSAY_STRATUM_COUNT ? strata[stratum].name : NULL;
}

const char *assay__stratum_doc(assay_stratum stratum)
{
    return (unsigned)stratum < ASSAY_STRATUM_COUNT ? strata[stratum].doc : NULL;
}

unsigned assay__stratum_flags(assay_stratum stratum)
{
    return (unsigned)stratum < ASSAY_STRATUM_COUNT ? strata[stratum].flags : 0;
}

bool assay__stratum_fits(assay_stratum stratum, assay_op_id op)
{
    const assay_op_info *info = assay_op_get(op);

    return info != NULL && (unsigned)stratum < ASSAY_STRATUM_COUNT &&
           strata[stratum].fits[info->family];
}

size_t assay__strata_preferred(assay_op_id op, size_t count, assay_stratum *out)
{
    size_t n = 0;

    for (unsigned s = 0; s < ASSAY_STRATUM_COUNT && n < count; s++)
        if (assay__stratum_fits((assay_stratum)s, op))
            out[n++] = (assay_stratum)s;
    return n;
}

assay_status assay__stratum_find(assay_op_id op, const char *name, assay_stratum *out)
{
    char list[512] = "";
    size_t used = 0;

    for (unsigned s = 0; s < ASSAY_STRATUM_COUNT; s++) {
        if (!assay__stratum_fits((assay_stratum)s, op))
            continue;
        if (strcmp(strata[s].name, name) == 0) {
            *out = (assay_stratum)s;
            return ASSAY_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, " %s", strata[s].name);
    }
    const assay_op_info *info = assay_op_get(op);
    return assay__fail(ASSAY_NOTFOUND, "input set '%s': %s has%s", name, info ? info->name : "?",
                       used > 0 ? list : " none");
}

/* One operand being filled. */
typedef struct filler {
    assay_stratum stratum;
    assay_op_family family;
    unsigned operand;
    assay_dtype dtype;
    assay_dtype to; /* of what a unary op gives */
    bool is_whole;  /* an integer type's, but not of indices */
    bool is_cast;   /* of another type than its operand's: what matters is where results turn */
    double scale;   /* of N(0,1), so that results of integers are not mostly zero */
    uint64_t key;   /* seed of this operand's streams */
    uint64_t rows, cols; /* of the last two extents; cols: the innermost */
    uint64_t k;          /* contraction: products a sum, else 0 */
    uint64_t line, step; /* contraction: a line of the sum has `line` elements, `step` apart; rows:
                          * 1, or as far as the elements of a row along an axis are apart */
    uint64_t index_rows; /* of an operand of indices: how many rows they may name, else 0 */
    uint64_t window[2];  /* convolution: height and width of a filter in x */
    uint64_t channels;   /* convolution: of a group, that a sum runs over */
    uint64_t images, all_channels; /* gradient by a filter: a sum runs over images and places */
    double density;                /* INTEGERS: share of elements that are not zero */
    double range;                  /* half the span of exponents, or the largest integer */
    uint64_t cached;               /* chunk in `draws`, UINT64_MAX: none */
    assay__rng chunk;              /* its generator, after the draws */
    double draws[CHUNK];
} filler;

static double number_of(const filler *f, assay__rng *rng)
{
    switch (f->stratum) {
    case ASSAY_STRATUM_UNIFORM:
        return assay__rng_uniform(rng);
    case ASSAY_STRATUM_WORKLOAD:
        return 20.0 * assay__rng_uniform(rng) - 10.0;
    case ASSAY_STRATUM_ORDINALS:
        return assay__special_from_bits(f->dtype, assay__rng_bits(rng));
    case ASSAY_STRATUM_EDGES:
        if (f->is_cast)
            return assay__special_turn(f->dtype, f->to, assay__rng_bits(rng));
        return assay__special_edge(f->family == ASSAY_FAMILY_ELEMENTWISE_UNARY, f->dtype,
                                   assay__rng_bits(rng));
    case ASSAY_STRATUM_POWERS: {
        uint64_t bits = assay__rng_bits(rng);
        return ldexp(bits & 1 ? -1.0 : 1.0, (int)(bits >> 8 & 15) - 8);
    }
    case ASSAY_STRATUM_INTEGERS: {
        double whole = floor((2.0 * f->range + 1.0) * assay__rng_uniform(rng)) - f->range;
        return assay__rng_uniform(rng) < f->density ? whole : 0.0;
    }
    case ASSAY_STRATUM_SPREAD: {
        double exponent = floor((2.0 * f->range + 1.0) * assay__rng_uniform(rng)) - f->range;
        return ldexp(assay__rng_normal(rng), (int)exponent);
    }
    default:
        return f->scale * assay__rng_normal(rng);
    }
}

/* Draw number `index` of the operand. */
static double draw(filler *f, uint64_t index)
{
    if (f->cached != index / CHUNK) {
        f->cached = index / CHUNK;
        assay__rng_seed(&f->chunk, f->key, f->cached);
        for (int i = 0; i < CHUNK; i++)
            f->draws[i] = number_of(f, &f->chunk);
    }
    return f->draws[index % CHUNK];
}

/* A number that belongs to (purpose, index) and to no draw. */
static uint64_t hash_of(const filler *f, uint64_t purpose, uint64_t index)
{
    uint64_t state = f->key ^ purpose << 56 ^ index * 0x9e3779b97f4a7c15u;
    return assay__splitmix64(&state);
}

static double unit_of(uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53;
}

/* Where an element of a contraction's operand lies: along the sum, and across it. */
static void split(const filler *f, uint64_t index, uint64_t *along, uint64_t *across)
{
    *along = index / f->step % f->line;
    *across = index / (f->step * f->line) * f->step + index % f->step;
}

/* The index of the even member of a pair of neighbours along the sum. */
static uint64_t pair_index(const filler *f, uint64_t index, uint64_t along)
{
    return along % 2 == 0 ? index : index - f->step;
}

/* A: v, -v (1 + d); B: w, w. Products cancel to |d| of their size, |d| <= 1e-3. */
static double cancelling(filler *f, uint64_t index)
{
    if (f->family == ASSAY_FAMILY_ELEMENTWISE_BINARY) {
        /* b = -a (1 + d), next to it a (1 + d), a from the first operand's own draws */
        double v = draw(f, index);
        double d = 1e-3 * (2.0 * unit_of(hash_of(f, 1, index)) - 1.0);
        return f->operand == 0 ? v : (index % 2 ? v : -v) * (1.0 + d);
    }
    uint64_t along, across;
    split(f, index, &along, &across);
    if (along % 2 == 0)
        return draw(f, index);
    double v = draw(f, pair_index(f, index, along));
    double d = 1e-3 * (2.0 * unit_of(hash_of(f, 1, index)) - 1.0);
    return f->operand == 0 ? -v * (1.0 + d) : v;
}

/* One large element on each line of the sum, of the first operand. */
static double huge_or_tiny(filler *f, uint64_t index)
{
    uint64_t along, across;

    split(f, index, &along, &across);
    if (f->operand == 0 && along == hash_of(f, 2, across) % f->line)
        return ldexp(draw(f, index) < 0.0 ? -1.0 : 1.0, (int)f->range);
    return 0.125 * draw(f, index);
}

/* One special value on each line of the sum, of the first operand; elsewhere N(0,1). */
static double special_in_sum(filler *f, uint64_t index)
{
    uint64_t along, across;

    split(f, index, &along, &across);
    if (f->operand == 0 && along == hash_of(f, 3, across) % f->line)
        return assay__special_value(f->dtype, (size_t)(across % assay__special_count()));
    return draw(f, index);
}

/* At most one special value in each window of x: two of the largest ones may overflow on the way to
 * a sum that is finite. */
static double special_in_window(filler *f, uint64_t index)
{
    uint64_t plane = f->rows * f->cols, row = index % plane / f->cols, col = index % f->cols;
    uint64_t channel = index / plane % f->channels;
    uint64_t spot = index / (plane * f->channels) * plane + index % plane;

    if (f->operand == 0 && row % f->window[0] == 0 && col % f->window[1] == 0 &&
        channel == hash_of(f, 3, spot) % f->channels)
        return assay__special_value(f->dtype,
                                    (size_t)(hash_of(f, 7, spot) % assay__special_count()));
    return draw(f, index);
}

/* At most one special value in all images of a channel of x: a sum runs over them. */
static double special_in_images(filler *f, uint64_t index)
{
    uint64_t plane = f->rows * f->cols, channel = index / plane % f->all_channels;
    uint64_t at = index / (plane * f->all_channels) * plane + index % plane;

    if (f->operand == 0 && channel % 2 == 0 && at == hash_of(f, 3, channel) % (f->images * plane))
        return assay__special_value(f->dtype,
                                    (size_t)(hash_of(f, 7, channel) % assay__special_count()));
    return draw(f, index);
}

static double special_pair(const filler *f, uint64_t index)
{
    uint64_t n = assay__special_count();
    return assay__special_value(f->dtype, (size_t)(f->operand == 0 ? index % n : index / n % n));
}

static double softmax_score(filler *f, uint64_t index)
{
    uint64_t plane = f->cols * f->step, col = index / f->step % f->cols;
    uint64_t row = index / plane * f->step + index % f->step;
    uint64_t peak = hash_of(f, 4, row) % f->cols;
    double v = draw(f, index);

    switch (f->stratum) {
    case ASSAY_STRATUM_PEAKED: { /* f16 and bf16 hold 86..88 exactly, exp of it overflows f16 */
        double top = (88.0 - (double)(row % 3)) * (row / 3 % 2 ? -1.0 : 1.0);
        return col == peak ? top : top - 20.0 - fabs(v);
    }
    case ASSAY_STRATUM_EQUAL:
        return 4.0 * unit_of(hash_of(f, 5, row)) - 2.0;
    case ASSAY_STRATUM_MASKED:
        return row % 8 == 7 || (col != peak && hash_of(f, 6, index) & 1) ? -INFINITY : v;
    case ASSAY_STRATUM_INFINITE:
        return col == peak ? INFINITY : v;
    case ASSAY_STRATUM_SPREAD:
        return 64.0 * v;
    default:
        return v;
    }
}

static double norm_value(filler *f, uint64_t index)
{
    uint64_t row = index / f->cols, col = index % f->cols;
    uint64_t peak = hash_of(f, 4, row) % f->cols;
    double v = draw(f, index);

    switch (f->stratum) {
    case ASSAY_STRATUM_OFFSET: /* f16 and bf16 keep a few bits of the deviation */
        return (assay_dtype_bytes(f->dtype) == 2 ? 64.0 : 1e4) * (row % 2 ? -1.0 : 1.0) + v;
    case ASSAY_STRATUM_EQUAL:
        return 4.0 * unit_of(hash_of(f, 5, row)) - 2.0;
    case ASSAY_STRATUM_HUGE_TINY:
        return col == peak ? 1024.0 : 0.125 * v;
    case ASSAY_STRATUM_INFINITE:
        return col == peak ? INFINITY : v;
    default:
        return v;
    }
}

/* A NaN in some row of q and in some row of k and v, or an infinity in the latter; every fourth
 * head has none.  Scores are ordinary elsewhere: no weight is so small that kernels may lose it. */
static double special_in_head(filler *f, uint64_t index)
{
    static const double values[] = {NAN, INFINITY, -INFINITY};
    uint64_t head = index / (f->rows * f->cols), at = index % (f->rows * f->cols);
    uint64_t spot = hash_of(f, 3, head) % (f->rows * f->cols);

    if (at != spot || head % 4 == 3)
        return draw(f, index);
    return f->operand == 0 ? head % 4 == 1 ? NAN : 0.0 : values[(head + f->operand) % 3];
}

static double attention_value(filler *f, uint64_t index)
{
    uint64_t head = index / (f->rows * f->cols), row = index / f->cols % f->rows;

    switch (f->stratum) {
    case ASSAY_STRATUM_SPREAD:
        return f->operand == 0 ? 16.0 * draw(f, index) : draw(f, index);
    case ASSAY_STRATUM_PEAKED:
        return f->operand == 1 && row == hash_of(f, 4, head) % f->rows ? 8.0 * draw(f, index)
                                                                       : draw(f, index);
    case ASSAY_STRATUM_EQUAL: /* keys alike: every weight is the same */
        return draw(f, f->operand == 1 ? head * f->cols + index % f->cols : index);
    case ASSAY_STRATUM_SPECIALS:
        return special_in_head(f, index);
    default:
        return draw(f, index);
    }
}

static double element(filler *f, uint64_t index)
{
    if (f->family == ASSAY_FAMILY_ATTENTION)
        return attention_value(f, index);
    if (f->index_rows > 0)
        return floor(unit_of(hash_of(f, 8, index)) * (double)f->index_rows);
    if (f->family == ASSAY_FAMILY_NORM)
        return norm_value(f, index);
    if (f->family == ASSAY_FAMILY_ROW)
        return softmax_score(f, index);
    switch (f->stratum) {
    case ASSAY_STRATUM_CANCEL:
        return cancelling(f, index);
    case ASSAY_STRATUM_HUGE_TINY:
        return huge_or_tiny(f, index);
    case ASSAY_STRATUM_SPECIALS:
        if (f->images > 0)
            return special_in_images(f, index);
        if (f->channels > 0)
            return special_in_window(f, index);
        return f->k > 0 ? special_in_sum(f, index) : special_pair(f, index);
    default:
        return draw(f, index);
    }
}

/* Of an operand whose type is an integer: all of its values matter alike, and no double on the way
 * may round them. */
static int64_t whole_element(const filler *f, uint64_t index)
{
    uint64_t bits = hash_of(f, 9, index);

    switch (f->stratum) {
    case ASSAY_STRATUM_EDGES:
        return assay__special_integer_turn(f->dtype, f->to, bits);
    case ASSAY_STRATUM_SPECIALS:
        return assay__special_integer(f->dtype, (size_t)index);
    case ASSAY_STRATUM_WORKLOAD: /* an unsigned type has those above zero alone */
        return (int64_t)floor(20.0 * unit_of(bits)) -
               (assay_dtype_describe(f->dtype)->is_signed ? 10 : 0);
    default:
        return (int64_t)bits;
    }
}

/* Integers of both operands so that |a b| k stays below 2^24 (2^53 for f64), the accumulator. */
static void plan_integers(filler *f)
{
    bool is_narrow = assay_dtype_bytes(f->dtype) <= 2, is_first = f->operand == 0;
    double exact = f->dtype == ASSAY_F64 ? 0x1p53 : 0x1p24;
    double product = is_narrow ? 8.0 : 8192.0;

    f->range = is_narrow ? (is_first ? 4.0 : 2.0) : (is_first ? 64.0 : 128.0);
    f->density = fmin(1.0, exact / (product * fmax((double)f->k, 1.0)));
}

static bool is_transposed(const filler *f, const assay_problem *problem)
{
    const char *side = f->operand == 0 ? "trans_a" : "trans_b";

    return problem->op == ASSAY_OP_matmul && assay_problem_int(problem, side) != 0;
}

/* Of a fused_linear too; along its bias nothing is summed, which no set needs to know. */
static void plan_matmul(filler *f, const assay_problem *problem)
{
    bool is_inner = (f->operand == 0) != is_transposed(f, problem);

    f->k = (uint64_t)assay_problem_int(problem, "k");
    f->line = is_inner ? f->cols : f->rows;
    f->step = is_inner ? 1 : f->cols;
}

/* Channels that a sum runs over, of a convolution or a gradient of one; 0: over images and places.
 */
static uint64_t summed_channels(const assay_problem *problem)
{
    const char *channels = problem->op == ASSAY_OP_conv2d ? "c" : "k";

    if (problem->op == ASSAY_OP_conv2d_backward_filter)
        return 0;
    return (uint64_t)assay_problem_int(problem, channels) /
           (uint64_t)assay_problem_int(problem, "groups");
}

/* Elements of the first operand that a filter reaches at a time, along height or width. */
static uint64_t window_of(const assay_problem *problem, const char *taps, const char *dilation,
                          const char *stride)
{
    uint64_t reach = (uint64_t)assay_problem_int(problem, dilation) *
                     ((uint64_t)assay_problem_int(problem, taps) - 1);

    if (problem->op == ASSAY_OP_conv2d_backward_data) /* in y, which steps over x */
        reach /= (uint64_t)assay_problem_int(problem, stride);
    return reach + 1;
}

/* Lines run along the channels of a group; with one channel, along a row. */
static void plan_conv2d(filler *f, const assay_problem *problem)
{
    bool by_k = problem->op == ASSAY_OP_conv2d_backward_data && f->operand == 1;
    uint64_t channels = summed_channels(problem);

    f->channels = channels;
    f->k = channels * (uint64_t)assay_problem_int(problem, "r") *
           (uint64_t)assay_problem_int(problem, "s");
    f->line = channels > 1 ? channels : f->cols;
    f->step = channels > 1 ? f->rows * f->cols : 1;
    if (by_k && channels > 1) /* the filter is [k, c / groups, r, s] */
        f->step *= (uint64_t)assay_problem_int(problem, "c") /
                   (uint64_t)assay_problem_int(problem, "groups");
    f->window[0] = window_of(problem, "r", "dil_h", "stride_h");
    f->window[1] = window_of(problem, "s", "dil_w", "stride_w");
}

static void plan_filter_gradient(filler *f, const assay_problem *problem)
{
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank;

    plan_conv2d(f, problem);
    if (assay_problem_operand(problem, 1, &rank, dims) == ASSAY_OK) /* y */
        f->k = (uint64_t)dims[0] * (uint64_t)dims[2] * (uint64_t)dims[3];
    f->images = (uint64_t)dims[0];
    f->all_channels = (uint64_t)assay_problem_int(problem, f->operand == 0 ? "c" : "k");
}

static void plan_contraction(filler *f, const assay_problem *problem)
{
    if (problem->op == ASSAY_OP_conv2d_backward_filter)
        plan_filter_gradient(f, problem);
    else if (problem->op == ASSAY_OP_conv2d || problem->op == ASSAY_OP_conv2d_backward_data)
        plan_conv2d(f, problem);
    else
        plan_matmul(f, problem);
    f->range = f->dtype == ASSAY_F16 ? 4.0 : 10.0;
    if (f->stratum == ASSAY_STRATUM_INTEGERS)
        plan_integers(f);
}

/* Whole numbers over half of an integer type's range, as far as the operand's reaches. */
static void plan_cast(filler *f, const assay_problem *problem)
{
    const assay_dtype_info *from = assay_dtype_describe(f->dtype);
    const assay_dtype_info *to = assay_dtype_describe((assay_dtype)problem->dtypes[1]);

    f->to = (assay_dtype)problem->dtypes[1];
    f->is_cast = f->to != f->dtype;
    if (from->is_float && !to->is_float)
        f->scale = fmin((double)(to->max_int / 2), from->max_finite / 8.0);
}

static assay_status plan(filler *f, const assay_problem *problem, uint64_t seed)
{
    const assay_op_info *info = assay_op_get((assay_op_id)problem->op);
    int64_t dims[ASSAY_MAX_RANK];
    uint32_t rank;
    char name[128];

    ASSAY_TRY(assay_problem_operand(problem, f->operand, &rank, dims));
    f->cols = rank > 0 ? (uint64_t)dims[rank - 1] : 1;
    f->rows = rank > 1 ? (uint64_t)dims[rank - 2] : 1;
    f->dtype = (assay_dtype)problem->dtypes[f->operand];
    f->cached = UINT64_MAX;
    f->step = 1;
    f->scale = 1.0;
    if (f->family == ASSAY_FAMILY_ELEMENTWISE_UNARY && f->operand == 0)
        plan_cast(f, problem);
    if (f->family == ASSAY_FAMILY_ROW && rank == 3) {
        f->step = (uint64_t)dims[2];
        f->cols = (uint64_t)dims[1];
    }
    /* A second operand that cancels the first is built from the first one's draws. */
    bool is_mirror =
        f->family == ASSAY_FAMILY_ELEMENTWISE_BINARY && f->stratum == ASSAY_STRATUM_CANCEL;
    (void)snprintf(name, sizeof name, "%s:%s:%u", info->name, strata[f->stratum].name,
                   is_mirror ? 0 : f->operand);
    assay__rng named;
    assay__rng_seed_named(&named, seed, name);
    f->key = assay__rng_bits(&named);
    if (f->family == ASSAY_FAMILY_INDEX && f->operand == 1)
        f->index_rows = (uint64_t)assay_problem_int(problem, "rows");
    f->is_whole = !assay_dtype_describe(f->dtype)->is_float && f->index_rows == 0;
    if (f->operand >= info->inputs)
        f->stratum = ASSAY_STRATUM_NORMAL;
    else if (f->family == ASSAY_FAMILY_CONTRACTION)
        plan_contraction(f, problem);
    else if (f->family == ASSAY_FAMILY_REDUCE) {
        f->k = f->line = f->rows;
        f->step = f->cols;
        f->range = f->dtype == ASSAY_F16 ? 4.0 : 10.0;
    } else if (f->stratum == ASSAY_STRATUM_SPREAD)
        f->range = f->dtype == ASSAY_F16 ? 4.0 : f->family == ASSAY_FAMILY_ROW ? 0.0 : 10.0;
    return ASSAY_OK;
}

static assay_status request_check(const assay_problem *problem, assay_stratum stratum,
                                  unsigned operand, uint64_t first, uint64_t count)
{
    assay_op_id op = (assay_op_id)problem->op;

    if (!assay__stratum_fits(stratum, op))
        return assay__fail(ASSAY_INVALID, "inputs: input set %d is none of this op's",
                           (int)stratum);
    if (operand >= problem->dtype_count)
        return assay__fail(ASSAY_INVALID, "inputs: operand %u of %u", operand,
                           (unsigned)problem->dtype_count);
    uint64_t all = (uint64_t)assay_problem_operand_elements(problem, operand);
    if (first > all || count > all - first)
        return assay__fail(ASSAY_INVALID, "inputs: elements %llu + %llu of %llu",
                           (unsigned long long)first, (unsigned long long)count,
                           (unsigned long long)all);
    return ASSAY_OK;
}

assay_status assay__inputs_fill(const assay_problem *problem, assay_stratum stratum, uint64_t seed,
                                unsigned operand, uint64_t first, uint64_t count, void *dst)
{
    filler f = {.stratum = stratum, .operand = operand};
    double values[CHUNK];

    ASSAY_TRY(request_check(problem, stratum, operand, first, count));
    f.family = assay_op_get((assay_op_id)problem->op)->family;
    ASSAY_TRY(plan(&f, problem, seed));
    unsigned char *to = dst;
    size_t bytes = assay_dtype_bytes(f.dtype);
    if (f.is_whole) {
        for (uint64_t i = 0; i < count; i++) {
            int64_t value = whole_element(&f, first + i);
            memcpy(to + i * bytes, &value, bytes); /* modulo the type's range */
        }
        return ASSAY_OK;
    }
    for (uint64_t done = 0; done < count;) {
        uint64_t n = count - done < CHUNK ? count - done : CHUNK;
        for (uint64_t i = 0; i < n; i++)
            values[i] = element(&f, first + done + i);
        ASSAY_TRY(assay_convert(f.dtype, to + done * bytes, ASSAY_F64, values, (size_t)n));
        done += n;
    }
    return ASSAY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/error_stats.c -- error figures over many elements. */
#include "calibrate/error_stats.h"

#include "calibrate/ulp_scan.h"
#include "runtime/error.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GROUP         64
#define MANY_ZEROS    0.9
#define MANY_INTEGERS 0.99

assay_status assay__error_stats_init(assay_error_stats *stats, assay_dtype dtype, bool saturates)
{
    assay_error_stats s = {.elements = 0};

    ASSAY_TRY(assay__ulp_any_format(dtype, saturates, &s.format));
    ASSAY_TRY(assay__sample_set_init(&s.sample));
    s.worst.index = s.worst_rho.index = ASSAY_ERROR_NONE;
    for (int i = 0; i < ASSAY_ULP_CLASSES; i++)
        s.first[i].index = ASSAY_ERROR_NONE;
    *stats = s;
    return ASSAY_OK;
}

void assay__error_stats_clear(assay_error_stats *stats)
{
    assay__sample_set_clear(&stats->sample);
}

static size_t bin_of(double err)
{
    int exponent;

    if (err <= 0.5)
        return 0;
    double mantissa = frexp(err, &exponent); /* err = mantissa * 2^exponent, mantissa >= 1/2 */
    int bin = mantissa <= 0.5 ? exponent : exponent + 1;
    return bin < ASSAY_ERROR_BINS ? (size_t)bin : ASSAY_ERROR_BINS - 1;
}

/* One piece of a batch, short enough for the scan. */
typedef struct piece {
    const assay_error_batch *batch;
    const double *y; /* as doubles */
    size_t offset;   /* of the piece in the batch */
    size_t count;
} piece;

static double at(const double *array, size_t i)
{
    return array ? array[i] : 0.0;
}

static void keep(const assay_error_stats *stats, const piece *p, size_t i, double figure,
                 double expected, assay_error_element *out)
{
    const assay_error_batch *b = p->batch;
    size_t j = p->offset + i;

    *out = (assay_error_element){.index = b->first + j,
                                 .figure = figure,
                                 .y = p->y[i],
                                 .hi = b->hi[j],
                                 .lo = at(b->lo, j),
                                 .expected = expected,
                                 .y_bits = assay__element_bits(stats->format.dtype, b->y, j),
                                 .magnitude = at(b->magnitude, j),
                                 .input_count = b->input_count};
    for (unsigned k = 0; k < b->input_count; k++)
        out->input_bits[k] = assay__element_bits(b->input_dtypes[k], b->inputs[k], j);
}

/* Elements of a piece come out of order here: among equals the first in the batch stays. */
static void raise_worst(assay_error_stats *stats, const piece *p, size_t i, double err,
                        double expected)
{
    uint64_t index = p->batch->first + p->offset + i;

    if (err < stats->max_err_ulp || !(err > 0.0) ||
        (err <= stats->max_err_ulp && index >= stats->worst.index))
        return;
    stats->max_err_ulp = err;
    keep(stats, p, i, err, expected, &stats->worst);
}

static void add_ordinary(assay_error_stats *stats, const piece *p, size_t i,
                         const assay_ulp_point *point)
{
    stats->misrounded += point->dist > 0;
    stats->over_one += point->err_ulp >= 1.0;
    stats->bins[bin_of(point->err_ulp)]++;
    assay__sum_add(&stats->err_sum, point->err_ulp);
    if (point->dist > stats->max_dist)
        stats->max_dist = point->dist;
    stats->max_rel = fmax(stats->max_rel, point->rel);
    stats->max_abs = fmax(stats->max_abs, point->abs);
    raise_worst(stats, p, i, point->err_ulp, point->expected);
}

static void add_measured(assay_error_stats *stats, const piece *p, size_t i,
                         const assay_ulp_point *point)
{
    stats->classes[point->class]++;
    stats->zero_sign_mismatch += point->zero_sign_mismatch;
    stats->uncertain += point->is_uncertain;
    if (point->class == ASSAY_ULP_ORDINARY) {
        add_ordinary(stats, p, i, point);
        return;
    }
    if (point->class == ASSAY_ULP_INF_MISMATCH)
        stats->max_err_soft = fmax(stats->max_err_soft, point->err_ulp);
    if (stats->first[point->class].index == ASSAY_ERROR_NONE)
        keep(stats, p, i, 0.0, point->expected, &stats->first[point->class]);
}

/* Offers the elements of one group of 64 indices, from..to of the piece, to the sample. */
static void sample_group(assay_error_stats *stats, const piece *p, const assay_scan_out *scan,
                         size_t from, size_t to)
{
    uint64_t first = p->batch->first + p->offset;
    uint32_t group = assay__sample_group(first + from);
    uint32_t levels = stats->sample.threshold >> 26; /* members above it cannot stay */

    for (uint32_t level = 0; level <= levels && level < GROUP; level++) {
        uint64_t index = ((first + from) & ~(uint64_t)(GROUP - 1)) | ((level ^ group) & 63);
        if (index < first + from || index >= first + to)
            continue;
        double err = scan->err[index - first];
        if (err >= 0.0) /* marked elements hold their error by now, or -1 for a class */
            assay__sample_set_put(&stats->sample, index, err, assay__sample_priority(group, index));
    }
}

static void sample_piece(assay_error_stats *stats, const piece *p, const assay_scan_out *scan)
{
    uint64_t first = p->batch->first + p->offset;

    for (size_t from = 0; from < p->count;) {
        size_t to = from + GROUP - (size_t)((first + from) % GROUP);
        if (to > p->count)
            to = p->count;
        sample_group(stats, p, scan, from, to);
        from = to;
    }
}

/* Below the normal range the format's step does not shrink with the result: half of it is u times
 * the smallest normal, which f64 itself does not hold, so u divides last. */
static double rho_of(const assay_ulp_format *format, double abs, double magnitude)
{
    if (abs <= 0.0)
        return 0.0;
    double rho = abs / fmax(magnitude, format->min_normal) / format->unit_roundoff;
    /* A magnitude of zero or NaN excuses nothing. */
    return magnitude > 0.0 && rho < DBL_MAX ? rho : DBL_MAX;
}

/* rho of every element whose error is a number; `p` has magnitudes. */
static void add_rho(assay_error_stats *stats, const piece *p, const assay_scan_out *scan)
{
    const assay_error_batch *b = p->batch;

    for (size_t i = 0; i < p->count; i++) {
        size_t j = p->offset + i;
        if (!(scan->err[i] >= 0.0) || !isfinite(p->y[i]) || !isfinite(b->hi[j]))
            continue;
        double abs = fabs((p->y[i] - b->hi[j]) - at(b->lo, j));
        double rho = rho_of(&stats->format, abs, b->magnitude[j]);
        stats->rho_elements++;
        assay__sum_add(&stats->rho_squares, rho < 0x1p20 ? rho * rho : ASSAY_SUM_CAP);
        if (rho > stats->max_rho) {
            stats->max_rho = rho;
            keep(stats, p, i, rho, assay__ulp_round(&stats->format, b->hi[j], at(b->lo, j)),
                 &stats->worst_rho);
        }
    }
}

/* Whole results of whole operands are what an op is there for. */
static bool takes_integers(const assay_error_batch *b)
{
    for (unsigned i = 0; i < b->input_count; i++) {
        const assay_dtype_info *info = assay_dtype_describe(b->input_dtypes[i]);
        if (info == NULL || info->is_float)
            return false;
    }
    return b->input_count > 0;
}

/* What unmarked elements add. */
static void add_plain(assay_error_stats *stats, const piece *p, const assay_scan_out *scan)
{
    const assay_error_batch *b = p->batch;
    size_t i = 0;

    assay__sum_merge(&stats->err_sum, (assay_exact_sum){0, scan->plain_sum});
    stats->max_abs = fmax(stats->max_abs, scan->plain_abs);
    stats->max_rel = fmax(stats->max_rel, scan->plain_rel);
    stats->zeros += scan->zeros;
    stats->integers += takes_integers(b) ? 0 : scan->integers;
    if (scan->plain_err <= 0.0 || scan->plain_err < stats->max_err_ulp)
        return;
    /* A marked element may show this error too, but only an unmarked one is sure to. */
    while (scan->err[i] < scan->plain_err || !(scan->err[i] <= scan->plain_err) ||
           (scan->marked[i / 64] >> (i % 64) & 1) != 0)
        i++;
    size_t j = p->offset + i;
    raise_worst(stats, p, i, scan->plain_err,
                assay__ulp_round(&stats->format, b->hi[j], at(b->lo, j)));
}

static void add_piece(assay_error_stats *stats, const piece *p, assay_scan_fn scan_fn)
{
    const assay_error_batch *b = p->batch;
    const double *lo = b->lo ? b->lo + p->offset : NULL;
    const double *bound = b->bound ? b->bound + p->offset : NULL;
    assay_scan_in in = {&stats->format, p->y,     b->hi + p->offset, lo,
                        bound,          p->count, stats->max_rel};
    assay_scan_out scan;
    uint64_t marked = 0;

    scan_fn(&in, &scan);
    add_plain(stats, p, &scan);
    for (size_t w = 0; w < ASSAY_SCAN_MAX / 64; w++)
        for (uint64_t bits = scan.marked[w]; bits; bits &= bits - 1) {
            size_t i = 64 * w + (size_t)__builtin_ctzll(bits);
            assay_ulp_point point =
                assay__ulp_measure(&stats->format, p->y[i], in.hi[i], at(lo, i), at(bound, i));
            add_measured(stats, p, i, &point);
            scan.err[i] = point.class == ASSAY_ULP_ORDINARY ? point.err_ulp : -1.0;
            marked++;
        }
    stats->classes[ASSAY_ULP_ORDINARY] += p->count - marked;
    stats->bins[0] += p->count - marked;
    stats->elements += p->count;
    sample_piece(stats, p, &scan);
    if (b->magnitude)
        add_rho(stats, p, &scan);
}

/* No scan sorts them: an element is right or it is not. */
static void add_integers(assay_error_stats *stats, const piece *p)
{
    const assay_error_batch *b = p->batch;
    assay_scan_out scan;

    for (size_t i = 0; i < p->count; i++) {
        size_t j = p->offset + i;
        assay_ulp_point point = assay__ulp_measure_integer(
            &stats->format, assay__integer_element(stats->format.dtype, b->y, j), b->hi[j],
            at(b->lo, j));
        add_measured(stats, p, i, &point);
        scan.err[i] = point.class == ASSAY_ULP_ORDINARY ? point.err_ulp : -1.0;
        stats->zeros += fabs(b->hi[j]) <= 0.0;
    }
    stats->elements += p->count;
    sample_piece(stats, p, &scan);
}

assay_status assay__error_stats_add(assay_error_stats *stats, const assay_error_batch *batch)
{
    size_t bytes = assay_dtype_bytes(stats->format.dtype);
    assay_scan_fn scan = assay__ulp_scan_best();
    double wide[ASSAY_SCAN_MAX];

    if (batch->count > 0 && (!batch->y || !batch->hi))
        return assay__fail(ASSAY_INVALID, "error statistics: no outputs or no references");
    if (batch->input_count > ASSAY_ERROR_INPUTS)
        return assay__fail(ASSAY_INVALID, "error statistics: %u inputs, at most %d",
                           batch->input_count, ASSAY_ERROR_INPUTS);
    for (size_t done = 0; done < batch->count;) {
        size_t n = batch->count - done;
        if (n > ASSAY_SCAN_MAX)
            n = ASSAY_SCAN_MAX;
        const void *y = (const unsigned char *)batch->y + done * bytes;
        ASSAY_TRY(assay_convert(ASSAY_F64, wide, stats->format.dtype, y, n));
        piece p = {batch, wide, done, n};
        if (stats->format.is_integer)
            add_integers(stats, &p);
        else
            add_piece(stats, &p, scan);
        done += n;
    }
    return ASSAY_OK;
}

/* The larger figure, among equals the lower index. */
static void merge_worst(assay_error_element *a, const assay_error_element *b)
{
    if (b->index == ASSAY_ERROR_NONE)
        return;
    bool is_worse = b->figure > a->figure || (b->figure >= a->figure && b->index < a->index);
    if (a->index == ASSAY_ERROR_NONE || is_worse)
        *a = *b;
}

assay_status assay__error_stats_merge(assay_error_stats *stats, const assay_error_stats *other)
{
    if (stats->format.dtype != other->format.dtype ||
        stats->format.saturates != other->format.saturates)
        return assay__fail(ASSAY_INVALID, "error statistics: merge of %s and %s",
                           assay_dtype_name(stats->format.dtype),
                           assay_dtype_name(other->format.dtype));
    stats->elements += other->elements;
    stats->zero_sign_mismatch += other->zero_sign_mismatch;
    stats->uncertain += other->uncertain;
    stats->misrounded += other->misrounded;
    stats->over_one += other->over_one;
    stats->zeros += other->zeros;
    stats->integers += other->integers;
    stats->rho_elements += other->rho_elements;
    if (other->max_dist > stats->max_dist)
        stats->max_dist = other->max_dist;
    stats->max_err_ulp = fmax(stats->max_err_ulp, other->max_err_ulp);
    stats->max_err_soft = fmax(stats->max_err_soft, other->max_err_soft);
    stats->max_rel = fmax(stats->max_rel, other->max_rel);
    stats->max_abs = fmax(stats->max_abs, other->max_abs);
    stats->max_rho = fmax(stats->max_rho, other->max_rho);
    assay__sum_merge(&stats->err_sum, other->err_sum);
    assay__sum_merge(&stats->rho_squares, other->rho_squares);
    for (int i = 0; i < ASSAY_ERROR_BINS; i++)
        stats->bins[i] += other->bins[i];
    merge_worst(&stats->worst, &other->worst);
    merge_worst(&stats->worst_rho, &other->worst_rho);
    for (int i = 0; i < ASSAY_ULP_CLASSES; i++) {
        stats->classes[i] += other->classes[i];
        merge_worst(&stats->first[i], &other->first[i]);
    }
    assay__sample_set_merge(&stats->sample, &other->sample);
    return ASSAY_OK;
}

/* The bin in which the share p of the ordinary errors is reached. */
static size_t quantile_bin(const assay_error_stats *stats, double p)
{
    double rank = p * (double)(stats->classes[ASSAY_ULP_ORDINARY] - 1);
    uint64_t below = 0;
    size_t bin = 0;

    for (; bin + 1 < ASSAY_ERROR_BINS; bin++) {
        below += stats->bins[bin];
        if ((double)below > rank)
            break;
    }
    return bin;
}

/* Of the sample, held inside the bin that the full counts name. */
static double quantile(const assay_error_stats *stats, const double *sorted, size_t n, double p)
{
    double rank = p * (double)(n - 1), value;
    size_t low = (size_t)rank, bin = quantile_bin(stats, p);

    value = sorted[low];
    if (low + 1 < n)
        value += (rank - (double)low) * (sorted[low + 1] - sorted[low]);
    if (n == stats->classes[ASSAY_ULP_ORDINARY])
        return value; /* complete: exact */
    double least = bin == 0 ? 0.0 : ldexp(1.0, (int)bin - 2);
    double most = bin + 1 == ASSAY_ERROR_BINS ? DBL_MAX : ldexp(1.0, (int)bin - 1);
    return fmin(fmin(fmax(value, least), most), stats->max_err_ulp);
}

static double effective_bits(const assay_error_stats *stats)
{
    double share =
        stats->rho_elements > 0 ? stats->max_rho * stats->format.unit_roundoff : stats->max_rel;
    double most = (double)stats->format.precision;
    return share > 0.0 ? fmin(-log2(share), most) : most;
}

assay_status assay__error_stats_figures(assay_error_stats *stats, assay_error_figures *out)
{
    assay_error_figures f = {.sampled = 0};
    double ordinary = (double)stats->classes[ASSAY_ULP_ORDINARY];
    double *sorted;
    size_t n;

    if (stats->classes[ASSAY_ULP_ORDINARY] == 0)
        return assay__fail(ASSAY_NOTFOUND, "error statistics: no element with a defined error");
    ASSAY_TRY(assay__sample_set_values(&stats->sample, &sorted, &n));
    f.sampled = n;
    f.mean_err_ulp = assay__sum_value(&stats->err_sum) / ordinary;
    f.p50_err_ulp = quantile(stats, sorted, n, 0.5);
    f.p99_err_ulp = quantile(stats, sorted, n, 0.99);
    f.p999_err_ulp = quantile(stats, sorted, n, 0.999);
    free(sorted);
    if (stats->rho_elements > 0)
        f.rms_rho = sqrt(assay__sum_value(&stats->rho_squares) / (double)stats->rho_elements);
    if (stats->worst_rho.index != ASSAY_ERROR_NONE) {
        double size = fabs(stats->worst_rho.hi);
        f.kappa = size > 0.0 ? fmin(stats->worst_rho.magnitude / size, DBL_MAX) : DBL_MAX;
    }
    f.eff_bits = effective_bits(stats);
    *out = f;
    return ASSAY_OK;
}

assay_trust assay__error_stats_trust(const assay_error_stats *stats)
{
    double all = (double)stats->elements;

    if (stats->elements == 0)
        return ASSAY_TRUST_EMPTY;
    if ((double)stats->zeros > MANY_ZEROS * all)
        return ASSAY_TRUST_ZEROS;
    return (double)stats->integers >= MANY_INTEGERS * all ? ASSAY_TRUST_INTEGERS : ASSAY_TRUST_OK;
}

const char *assay__trust_text(assay_trust trust)
{
    switch (trust) {
    case ASSAY_TRUST_OK:
        return "trusted";
    case ASSAY_TRUST_EMPTY:
        return "mistrusted: no elements";
    case ASSAY_TRUST_ZEROS:
        return "mistrusted: mostly zeros";
    case ASSAY_TRUST_INTEGERS:
        return "mistrusted: exact integers";
    }
    return "unknown";
}

void assay__error_stats_pack(const assay_error_stats *stats, void *out)
{
    memcpy(out, stats, sizeof *stats);
    memcpy((char *)out + sizeof *stats, stats->sample.items,
           stats->sample.count * sizeof *stats->sample.items);
}

assay_status assay__error_stats_unpack(const void *bytes, assay_error_stats *out)
{
    assay_error_stats s, fresh;
    unsigned char saturates; /* to be looked at before it is read as a bool */

    memcpy(&saturates, (const char *)bytes + offsetof(assay_error_stats, format.saturates), 1);
    if (saturates > 1)
        return assay__fail(ASSAY_INVALID, "error statistics: no such format");
    memcpy(&s, bytes, sizeof s);
    ASSAY_TRY(assay__error_stats_init(&fresh, s.format.dtype, s.format.saturates));
    if (s.sample.count > 2 * ASSAY_SAMPLE_KEEP) {
        assay__error_stats_clear(&fresh);
        return assay__fail(ASSAY_INVALID, "error statistics: no such sample");
    }
    s.sample.items = fresh.sample.items;
    memcpy(s.sample.items, (const char *)bytes + sizeof s, s.sample.count * sizeof *s.sample.items);
    *out = s;
    return ASSAY_OK;
}

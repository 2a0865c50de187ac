/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/unary_agree.c -- the judge on the device held against the host's: over one batch of
 * each plan, and for who compares more. */
#include "calibrate/unary_judge.h"

#include "runtime/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEAN_SLACK 0x1p-20 /* ulps an element: what references of both sides may differ by */

static bool tell(char *why, size_t cap, const char *what, double device, double host)
{
    (void)snprintf(why, cap, "%s: %.17g by the device's judge, %.17g by the host's", what, device,
                   host);
    return false;
}

static bool is_same(double a, double b)
{
    return a <= b && a >= b;
}

/* ---- counts ---- */

static bool agree_on_counts(const assay_exhaustive_result *device,
                            const assay_exhaustive_result *host, char *why, size_t cap)
{
    const assay_error_stats *a = &device->stats, *b = &host->stats;
    const struct {
        const char *name;
        uint64_t device, host;
    } rows[] = {{"inputs", device->inputs, host->inputs},
                {"inputs that are NaN", device->nan_inputs, host->nan_inputs},
                {"elements", a->elements, b->elements},
                {"zeros of the wrong sign", a->zero_sign_mismatch, b->zero_sign_mismatch},
                {"references that leave the rounding open", a->uncertain, b->uncertain},
                {"misrounded", a->misrounded, b->misrounded},
                {"errors of 1 ulp and more", a->over_one, b->over_one},
                {"largest distance", a->max_dist, b->max_dist},
                {"references of zero", a->zeros, b->zeros}};
    char name[32];

    if (device->digest != host->digest) /* no number that rounds */
        return (void)snprintf(why, cap,
                              "digest: %016llx by the device's judge, %016llx by the host's",
                              (unsigned long long)device->digest, (unsigned long long)host->digest),
               false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].device != rows[i].host)
            return tell(why, cap, rows[i].name, (double)rows[i].device, (double)rows[i].host);
    for (size_t i = 0; i < ASSAY_ULP_CLASSES; i++)
        if (a->classes[i] != b->classes[i]) {
            (void)snprintf(name, sizeof name, "class %zu", i);
            return tell(why, cap, name, (double)a->classes[i], (double)b->classes[i]);
        }
    for (size_t i = 0; i < ASSAY_ERROR_BINS; i++)
        if (a->bins[i] != b->bins[i]) {
            (void)snprintf(name, sizeof name, "bin %zu", i);
            return tell(why, cap, name, (double)a->bins[i], (double)b->bins[i]);
        }
    return true;
}

/* ---- maxima and elements ---- */

/* Below 2^-10 ulp the device does not ask the host, whose figure may be off by the reference. */
static bool is_about(double a, double b, double ulps)
{
    return is_same(a, b) || (ulps < 0x1p-9 && fabs(a - b) <= fmax(a, b));
}

static bool agree_on_maxima(const assay_error_stats *a, const assay_error_stats *b, char *why,
                            size_t cap)
{
    const double ulps = fmax(a->max_err_ulp, b->max_err_ulp);

    if (!is_about(a->max_err_ulp, b->max_err_ulp, ulps) ||
        fabs(a->max_err_ulp - b->max_err_ulp) > MEAN_SLACK)
        return tell(why, cap, "largest err_ulp", a->max_err_ulp, b->max_err_ulp);
    if (!is_same(a->max_err_soft, b->max_err_soft))
        return tell(why, cap, "largest err_ulp past overflow", a->max_err_soft, b->max_err_soft);
    if (!is_about(a->max_abs, b->max_abs, ulps))
        return tell(why, cap, "largest |y - r|", a->max_abs, b->max_abs);
    if (!is_about(a->max_rel, b->max_rel, ulps))
        return tell(why, cap, "largest |y - r| / |r|", a->max_rel, b->max_rel);
    if (ulps >= 0x1p-9 && a->worst.index != b->worst.index)
        return tell(why, cap, "input of the largest err_ulp", (double)a->worst.index,
                    (double)b->worst.index);
    for (size_t i = 0; i < ASSAY_ULP_CLASSES; i++)
        if (a->first[i].index != b->first[i].index || a->first[i].y_bits != b->first[i].y_bits)
            return tell(why, cap, "first input of a class", (double)a->first[i].index,
                        (double)b->first[i].index);
    return true;
}

/* ---- sums ---- */

static bool agree_on_sums(const assay_error_stats *a, const assay_error_stats *b, bool is_exact,
                          char *why, size_t cap)
{
    const double device = assay__sum_value(&a->err_sum), host = assay__sum_value(&b->err_sum);
    const double slack = is_exact ? 0.0 : MEAN_SLACK * (double)a->elements + 1e-12 * host;

    if (is_exact && a->integers != b->integers)
        return tell(why, cap, "references that are whole", (double)a->integers,
                    (double)b->integers);
    if (!(fabs(device - host) <= slack))
        return tell(why, cap, "sum of errors", device, host);
    return true;
}

static bool agree_on_sample(assay_error_stats *a, assay_error_stats *b, char *why, size_t cap)
{
    double *device = NULL, *host = NULL;
    size_t m = 0, n = 0, i = 0;

    if (assay__sample_set_values(&a->sample, &device, &m) != ASSAY_OK ||
        assay__sample_set_values(&b->sample, &host, &n) != ASSAY_OK) {
        free(device);
        return tell(why, cap, "memory for samples", 0, 0);
    }
    while (i < m && i < n && is_same(device[i], host[i]))
        i++;
    const bool same = m == n && i == n;
    if (!same)
        (void)tell(why, cap, "a value of the sample", i < m ? device[i] : NAN,
                   i < n ? host[i] : NAN);
    free(device);
    free(host);
    return same;
}

bool assay__unary_agree(assay_exhaustive_result *device, assay_exhaustive_result *host,
                        const assay_problem *problem, char *why, size_t cap)
{
    const bool is_exact = assay_op_get((assay_op_id)problem->op)->bound_rule == ASSAY_BOUND_EXACT;

    return agree_on_counts(device, host, why, cap) &&
           agree_on_maxima(&device->stats, &host->stats, why, cap) &&
           agree_on_sums(&device->stats, &host->stats, is_exact, why, cap) &&
           agree_on_sample(&device->stats, &host->stats, why, cap);
}

/* ---- one batch of a plan ---- */

static assay_status run_on_host(const assay_unary_launch *launch, const assay_exhaustive_plan *plan,
                                assay_exhaustive_result *out)
{
    assay_unary_launch l = *launch;

    ASSAY_TRY(assay__unary_bring(&l, ASSAY_EXHAUSTIVE_BATCH));
    const assay__unary u = assay__unary_of(&l);
    const assay_status status = assay__exhaustive_run(&u, plan, out);
    assay__unary_leave(&l);
    return status;
}

static assay_status compare(const assay_unary_launch *launch, const assay_exhaustive_plan *plan)
{
    assay_exhaustive_result device, host;
    char why[200];

    ASSAY_TRY(assay__unary_judged_alone(launch, plan, NULL, &device));
    assay_status status = run_on_host(launch, plan, &host);
    if (status == ASSAY_OK) {
        if (!assay__unary_agree(&device, &host, &launch->problem, why, sizeof why))
            status = assay__fail(ASSAY_NUMERIC, "batch %llu: %s",
                                 (unsigned long long)plan->first_batch, why);
        assay__exhaustive_clear(&host);
    }
    assay__exhaustive_clear(&device);
    return status;
}

assay_status assay__unary_judged(const assay_unary_launch *launch,
                                 const assay_exhaustive_plan *plan, assay_exhaustive_result *out)
{
    const uint64_t all = assay__exhaustive_batches((assay_dtype)launch->problem.dtypes[0]);
    const uint64_t count = plan->batch_count > 0 ? plan->batch_count : all - plan->first_batch;
    const uint64_t mixed = (plan->first_batch + 1) * 0x9e3779b97f4a7c15u;
    const assay_exhaustive_plan one = {.threads = 1,
                                       .first_batch = plan->first_batch +
                                                      (count > 0 ? (mixed >> 24) % count : 0),
                                       .batch_count = 1};

    ASSAY_TRY(compare(launch, &one));
    return assay__unary_judged_alone(launch, plan, NULL, out);
}

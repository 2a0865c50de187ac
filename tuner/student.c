/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* tuner/student.c -- tail probabilities behind the intervals: Student's t and the fair binomial. */
#include "tuner/student.h"

#include <math.h>

#define FRACTION_STEPS 400

static double log_gamma(double x)
{
    int sign; /* lgamma() itself writes a global */
    return lgamma_r(x, &sign);
}

/* One step of the modified Lentz scheme: a denominator that vanishes is nudged. */
static double nudged(double x)
{
    return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* Continued fraction of the incomplete beta function (DLMF 8.17.22), x < (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1.0, d = 1.0 / nudged(1.0 - (a + b) * x / (a + 1.0)), h = d;

    for (int m = 1; m <= FRACTION_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 / nudged(1.0 + even * d);
        c = nudged(1.0 + even / c);
        h *= d * c;
        d = 1.0 / nudged(1.0 + odd * d);
        c = nudged(1.0 + odd / c);
        h *= d * c;
        if (fabs(d * c - 1.0) < 1e-15)
            break;
    }
    return h;
}

/* Regularised incomplete beta I_x(a, b); `y` = 1 - x is passed apart to keep its digits. */
static double beta_regularised(double x, double y, double a, double b)
{
    if (x <= 0.0)
        return 0.0;
    if (y <= 0.0)
        return 1.0;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(x, a, b) / a;
    return 1.0 - front * beta_fraction(y, b, a) / b;
}

double assay__student_tails(double t, double df)
{
    double t2 = t * t;
    return beta_regularised(df / (df + t2), t2 / (df + t2), 0.5 * df, 0.5);
}

double assay__student_critical(double alpha, double df)
{
    double lo = 0.0, hi = 1.0;

    while (assay__student_tails(hi, df) > alpha && hi < 1e150) {
        lo = hi;
        hi *= 2.0;
    }
    for (int i = 0; i < 200 && hi - lo > 1e-13 * hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (assay__student_tails(mid, df) > alpha)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

double assay__coin_tail(size_t n, size_t k)
{
    /* Terms more than 20 standard deviations below the middle add less than 1e-80. */
    double reach = 10.0 * sqrt((double)n) + 10.0;
    double from = 0.5 * (double)n - reach;
    size_t i = from > 0.0 ? (size_t)from : 0;
    double all = log_gamma((double)n + 1.0) - (double)n * log(2.0), sum = 0.0;

    for (; i <= k; i++)
        sum += exp(all - log_gamma((double)i + 1.0) - log_gamma((double)(n - i) + 1.0));
    return sum < 1.0 ? sum : 1.0;
}

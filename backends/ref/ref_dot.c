/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_dot.c -- single elements of the reference matmul, slow and as good as exact. */
#include "backends/ref/ref_matmul.h"

#include <mpfr.h>

/* Products of doubles span 2^-2148 .. 2^2048; 64 more bits for the carries of the sum. */
enum { EXACT_BITS = 2148 + 2048 + 64 };

ref_sum ref_matmul_dot(const ref_matmul *g, int64_t batch, int64_t i, int64_t j)
{
    double s = 0.0, c = 0.0, lost = 0.0, magnitude = 0.0;

    for (int64_t p = 0; p < g->k; p++) {
        double a = ref_matmul_a(g, batch, i, p), b = ref_matmul_b(g, batch, p, j);
        ref_dd product = ref_two_prod(a, b);
        ref_dd sum = ref_two_sum(s, product.hi);
        ref_dd first = ref_two_sum(c, sum.lo);
        ref_dd second = ref_two_sum(first.hi, product.lo);
        s = sum.hi;
        c = second.hi;
        lost += fabs(first.lo) + fabs(second.lo);
        magnitude += fabs(product.hi);
    }
    if (!isfinite(s))
        return (ref_sum){{s, 0.0}, 0.0, magnitude};
    double bound = lost * 1.001;
    if (g->c->dtype == ASSAY_F64) /* tails of products may have underflowed */
        bound += 2.0 * (double)g->k * REF_TINY;
    ref_dd value = ref_two_sum(s, c);
    return (ref_sum){value, bound, magnitude};
}

static ref_dd scale_dd(double factor, ref_dd value)
{
    ref_dd p = ref_two_prod(factor, value.hi);

    if (!isfinite(p.hi))
        return (ref_dd){p.hi, 0.0};
    return ref_two_sum(p.hi, p.lo + factor * value.lo);
}

static ref_dd add_dd(ref_dd a, ref_dd b)
{
    ref_dd s = ref_two_sum(a.hi, b.hi);

    if (!isfinite(s.hi))
        return (ref_dd){s.hi, 0.0};
    ref_dd t = ref_two_sum(a.lo, b.lo);
    s = ref_fast_two_sum(s.hi, s.lo + t.hi);
    return ref_fast_two_sum(s.hi, s.lo + t.lo);
}

ref_sum ref_matmul_scale(const ref_matmul *g, int64_t batch, int64_t i, int64_t j, ref_sum sum)
{
    if (g->alpha == 1.0 && g->beta == 0.0)
        return sum;
    double factor = fabs(g->alpha);
    ref_sum y = {{0.0, 0.0}, factor * sum.bound, factor * sum.magnitude};
    if (g->k > 0)
        y.value = scale_dd(g->alpha, sum.value);
    if (g->beta != 0.0) {
        double old = ref_matmul_c(g, batch, i, j);
        ref_dd scaled = scale_dd(g->beta, (ref_dd){old, 0.0});
        y.value = g->k > 0 ? add_dd(y.value, scaled) : scaled;
        y.magnitude += fabs(g->beta * old);
        if (g->k == 0) /* one product, kept whole */
            return y;
    }
    if (g->alpha != 1.0 || g->beta != 1.0)
        y.bound += y.magnitude * 0x1p-101 + 4.0 * REF_TINY;
    else /* both parts came in whole */
        y.bound += y.magnitude * 0x1p-104;
    if (!isfinite(y.value.hi))
        y.bound = 0.0;
    return y;
}

/* sum += a * b, where the sum keeps every bit. */
static void accumulate(mpfr_t sum, double a, double b)
{
    MPFR_DECL_INIT(x, 53);
    MPFR_DECL_INIT(product, 106);

    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_mul_d(product, x, b, MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
}

static ref_sum exact_f64(const ref_matmul *g, int64_t batch, int64_t i, int64_t j)
{
    ref_sum y = {{0.0, 0.0}, 0.0, 0.0};
    mpfr_t sum;

    mpfr_init2(sum, EXACT_BITS);
    mpfr_set_zero(sum, 1);
    for (int64_t p = 0; p < g->k; p++) {
        double a = ref_matmul_a(g, batch, i, p), b = ref_matmul_b(g, batch, p, j);
        accumulate(sum, a, b);
        y.magnitude += fabs(a * b);
    }
    y.magnitude *= fabs(g->alpha);
    if (g->k > 0)
        mpfr_mul_d(sum, sum, g->alpha, MPFR_RNDN); /* relative error 2^-4260 at most */
    if (g->beta != 0.0) {
        double old = ref_matmul_c(g, batch, i, j);
        accumulate(sum, g->beta, old);
        y.magnitude += fabs(g->beta * old);
    }
    y.value.hi = mpfr_get_d(sum, MPFR_RNDN);
    if (isfinite(y.value.hi)) {
        mpfr_sub_d(sum, sum, y.value.hi, MPFR_RNDN);
        y.value.lo = mpfr_get_d(sum, MPFR_RNDN);
        mpfr_sub_d(sum, sum, y.value.lo, MPFR_RNDN);
        y.bound = mpfr_zero_p(sum) ? 0.0 : fabs(y.value.lo) * REF_U + REF_TINY;
    }
    mpfr_clear(sum);
    return y;
}

ref_sum ref_matmul_exact(const ref_matmul *g, int64_t batch, int64_t i, int64_t j)
{
    if (g->c->dtype == ASSAY_F64)
        return exact_f64(g, batch, i, j);
    return ref_matmul_scale(g, batch, i, j, ref_matmul_dot(g, batch, i, j));
}

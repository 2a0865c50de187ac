/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_exp.c -- y = e^x.
 *
 * Up to 32 bits: a double within 4 units in the last place (libmvec's bound, glibc manual), and
 * MPFR for the few elements whose rounding that leaves open.  f64: a double-double, MPFR outside
 * its range and where it leaves the rounding open. */
#include "backends/ref/ref.h"

#include <string.h>

#include "runtime/convert.h"

#define BLOCK 512

void ref_exp_fast(const double *x, double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = exp(x[i]); /* glibc: 1 unit in the last place */
}

static ref_dd exp_f64(double x, double *bound)
{
    if (x > -600.0 && x < 700.0) {
        ref_dd y = ref_exp_dd((ref_dd){x, 0.0});
        *bound = y.hi * REF_EXP_DD_BOUND;
        if (!ref_doubtful(ASSAY_F64, y, *bound))
            return y;
    }
    return ref_exp_mpfr(x, bound);
}

static void block_f64(const double *x, const assay_wide *out, int64_t at, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double bound;
        ref_dd y = exp_f64(x[i], &bound);
        ref_put(out, at + i, y, bound);
    }
}

static void bounds_portable(const double *y, double *bound, uint8_t *open, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        /* At least the real unit for normal y, and not less than that of subnormals. */
        double unit = fabs(y[i]) * 0x1p-52 + REF_EXP_LEAST_UNIT;
        bound[i] = isfinite(y[i]) ? REF_EXP_FAST_ULP * unit : 0.0;
        double reach = bound[i] * REF_EXP_REACH;
        open[i] = (float)(y[i] - reach) != (float)(y[i] + reach);
    }
}

static void block_narrow(assay_dtype dtype, const double *x, const assay_wide *out, int64_t at,
                         int64_t n)
{
    double *hi = out->hi + at, *bounds = out->bound + at;
    uint8_t open[BLOCK]; /* the rounding to f32 is not settled; NaN counts as open here */
    bool has_avx2 = ref_has_avx2();

    memset(out->lo + at, 0, (size_t)n * sizeof *out->lo);
    (has_avx2 ? ref_exp_fast_avx2 : ref_exp_fast)(x, hi, n);
    (has_avx2 ? ref_exp_bounds_avx2 : bounds_portable)(hi, bounds, open, n);
    for (int64_t i = 0; i < n; i++) {
        if (dtype == ASSAY_F32 && !open[i])
            continue;
        if (!ref_doubtful(dtype, (ref_dd){hi[i], 0.0}, bounds[i]))
            continue;
        double bound;
        ref_dd y = ref_exp_mpfr(x[i], &bound);
        ref_put(out, at + i, y, bound);
    }
}

static void load_block(const assay_tensor *t, int64_t first, int64_t n, double *x)
{
    bool contiguous = t->rank == 1 && (t->strides[0] == 1 || t->dims[0] == 1);

    if (contiguous)
        assay__convert(ASSAY_F64, x, t->dtype, ref_element(t, first), (size_t)n, false);
    for (int64_t i = 0; i < n && !contiguous; i++)
        x[i] = ref_load(t, first + i);
}

assay_status ref_wide_exp(const assay_launch *launch, unsigned threads, const assay_wide *out)
{
    const assay_tensor *t = &launch->operands[0];
    assay_dtype dtype = launch->operands[1].dtype;
    int64_t count = out->count, blocks = (count + BLOCK - 1) / BLOCK;

#pragma omp parallel num_threads(threads) if (count > 4 * BLOCK)
    {
#pragma omp for schedule(static)
        for (int64_t block = 0; block < blocks; block++) {
            double x[BLOCK];
            int64_t at = block * BLOCK, n = count - at < BLOCK ? count - at : BLOCK;
            load_block(t, out->first + at, n, x);
            if (dtype == ASSAY_F64)
                block_f64(x, out, at, n);
            else
                block_narrow(dtype, x, out, at, n);
        }
        ref_mpfr_release();
    }
    return ASSAY_OK;
}

assay_status ref_run_exp(const assay_launch *launch)
{
    return ref_run(launch, ref_wide_exp, 8192);
}

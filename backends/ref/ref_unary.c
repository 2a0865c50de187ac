/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/ref/ref_unary.c -- see ref_unary.h. */
#include "backends/ref/ref_unary.h"

#include <string.h>

#include "runtime/convert.h"

static ref_dd exact(const ref_unary *f, double x, double *bound)
{
    MPFR_DECL_INIT(argument, 53);
    MPFR_DECL_INIT(value, REF_BITS);

    mpfr_clear_flags();
    mpfr_set_d(argument, x, MPFR_RNDN);
    f->exact(value, argument);
    double hi = mpfr_get_d(value, MPFR_RNDN);
    *bound = 0.0;
    if (!isfinite(hi))
        return (ref_dd){hi, 0.0};
    bool vanished = mpfr_underflow_p() || mpfr_overflow_p() || !mpfr_zero_p(value);
    if (hi == 0.0) {
        *bound = vanished ? REF_TINY : 0.0;
        return (ref_dd){hi, 0.0};
    }
    mpfr_sub_d(value, value, hi, MPFR_RNDN);
    double lo = mpfr_get_d(value, MPFR_RNDN);
    /* A few roundings to REF_BITS, which e^u makes up to 2^13 times as large, that of the low part,
     * and what one in the subnormal range loses.  Where x is 2^-149, gelu is half of it and a hair
     * of 2^-149 of that more: the hair says how halves round. */
    *bound = fabs(hi) * 0x1p-170 + fabs(lo) * 0x1p-52 + (fabs(hi) < 0x1p-900 ? REF_TINY : 0.0);
    return (ref_dd){hi, lo};
}

static void put_exact(const ref_unary *f, double x, const assay_wide *out, int64_t at)
{
    double bound;
    ref_dd y = exact(f, x, &bound);

    ref_put(out, at, y, bound);
}

static void block_narrow(const ref_unary *f, assay_dtype dtype, const double *x,
                         const assay_wide *out, int64_t at, int64_t n)
{
    f->fast(x, out->hi + at, out->bound + at, n);
    memset(out->lo + at, 0, (size_t)n * sizeof *out->lo);
    for (int64_t i = 0; i < n; i++)
        if (ref_doubtful(dtype, (ref_dd){out->hi[at + i], 0.0}, out->bound[at + i]))
            put_exact(f, x[i], out, at + i);
        else if (!isfinite(out->hi[at + i]))
            out->bound[at + i] = 0.0;
}

static void load_block(const assay_tensor *t, int64_t first, int64_t n, double *x)
{
    bool contiguous = t->rank == 1 && (t->strides[0] == 1 || t->dims[0] == 1);

    if (contiguous)
        assay__convert(ASSAY_F64, x, t->dtype, ref_element(t, first), (size_t)n, false);
    for (int64_t i = 0; i < n && !contiguous; i++)
        x[i] = ref_load(t, first + i);
}

assay_status ref_wide_unary(const assay_launch *launch, unsigned threads, const assay_wide *out,
                            const ref_unary *f)
{
    const assay_tensor *t = &launch->operands[0];
    assay_dtype dtype = launch->operands[1].dtype;
    int64_t count = out->count, blocks = (count + REF_BLOCK - 1) / REF_BLOCK;

#pragma omp parallel num_threads(threads) if (count > 4 * REF_BLOCK)
    {
#pragma omp for schedule(dynamic)
        for (int64_t block = 0; block < blocks; block++) {
            double x[REF_BLOCK];
            int64_t at = block * REF_BLOCK, n = count - at < REF_BLOCK ? count - at : REF_BLOCK;
            load_block(t, out->first + at, n, x);
            if (dtype != ASSAY_F64)
                block_narrow(f, dtype, x, out, at, n);
            for (int64_t i = 0; i < n && dtype == ASSAY_F64; i++)
                put_exact(f, x[i], out, at + i);
            for (int64_t i = 0; i < n && out->magnitude != NULL && f->measured_by_x; i++)
                out->magnitude[at + i] = fabs(x[i]);
        }
        ref_mpfr_release();
    }
    return ASSAY_OK;
}

#define X(name)                                                \
    void ref_map_##name(const double *x, double *y, int64_t n) \
    {                                                          \
        if (ref_has_avx2()) {                                  \
            ref_map_##name##_avx2(x, y, n);                    \
            return;                                            \
        }                                                      \
        for (int64_t i = 0; i < n; i++)                        \
            y[i] = name(x[i]);                                 \
    }
REF_LIBM(X)
#undef X

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_tile_avx512.h -- fourteen rows by two vectors of C in registers: 28 sums,
 * two vectors of op(B), one value of op(A) out of memory.
 *
 * A template: the including file defines REAL, VEC, MASK, LANES, FN(name) and OP(call).  Included
 * once for f32 and once for f64.  What sticks out of C is masked. */

#define NR (2 * LANES)

typedef struct FN(sums) {
    VEC v[MR][2];
} FN(sums);

/* What beta scales: at[r * ld + j]. */
typedef struct FN(source) {
    const REAL *at;
    int64_t ld;
} FN(source);

#define ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
/* Sums stay in named registers: an array of them goes through memory at every step. */
#define DECLARE(r) VEC c##r##l = zero, c##r##h = zero;
#define STEP(r)                          \
    x = OP(set1)(a[r]);                  \
    c##r##l = OP(fmadd)(x, b0, c##r##l); \
    c##r##h = OP(fmadd)(x, b1, c##r##h);
#define KEEP(r)           \
    s->v[r][0] = c##r##l; \
    s->v[r][1] = c##r##h;

/* Packed operands: MR values of op(A) and NR of op(B) a step. */
static inline __attribute__((always_inline)) void FN(sum_packed)(int64_t kc, const REAL *a,
                                                                 const REAL *b, FN(sums) * s)
{
    VEC zero = OP(setzero)(), x;
    ROWS(DECLARE)

    for (int64_t p = 0; p < kc; p++, a += MR, b += NR) {
        VEC b0 = OP(load)(b), b1 = OP(load)(b + LANES);
        ROWS(STEP)
    }
    ROWS(KEEP)
}

static inline MASK FN(lanes)(int64_t cols)
{
    unsigned lanes = cols >= LANES ? ~0u : cols <= 0 ? 0u : (1u << cols) - 1u;

    return (MASK)lanes;
}

/* C = alpha s + beta old over rows x cols of the tile; beta == 0 never reads `old`. */
static inline void FN(put)(const FN(sums) * s, FN(source) old, REAL *c, int64_t ld, int64_t rows,
                           int64_t cols, REAL alpha, REAL beta)
{
    const MASK low_lanes = FN(lanes)(cols), high_lanes = FN(lanes)(cols - LANES);
    VEC factor = OP(set1)(alpha), scale = OP(set1)(beta);

    for (int64_t r = 0; r < rows; r++, c += ld, old.at += old.ld) {
        VEC low = OP(mul)(factor, s->v[r][0]), high = OP(mul)(factor, s->v[r][1]);
        if (beta != 0) {
            low = OP(fmadd)(scale, OP(maskz_loadu)(low_lanes, old.at), low);
            high = OP(fmadd)(scale, OP(maskz_loadu)(high_lanes, old.at + LANES), high);
        }
        OP(mask_storeu)(c, low_lanes, low);
        OP(mask_storeu)(c + LANES, high_lanes, high);
    }
}

/* Rows [0, rows) of packed op(A) times strips [0, cols) of packed op(B), each kc deep. */
static inline void FN(macro)(int64_t rows, int64_t cols, int64_t kc, const REAL *a, const REAL *b,
                             FN(source) old, REAL *c, int64_t ld, REAL alpha, REAL beta)
{
    for (int64_t j = 0; j < cols; j += NR)
        for (int64_t i = 0; i < rows; i += MR) {
            FN(sums) s;
            FN(source) from = {old.at + i * old.ld + j, old.ld};
            FN(sum_packed)(kc, a + i * kc, b + j * kc, &s);
            FN(put)
            (&s, from, c + i * ld + j, ld, rows - i < MR ? rows - i : MR,
             cols - j < NR ? cols - j : NR, alpha, beta);
        }
}

#undef ROWS
#undef DECLARE
#undef STEP
#undef KEEP

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cpu/cpu_matmul_tile_avx2.h -- six rows by two vectors of C in registers.
 *
 * A template: the including file defines REAL, VEC, LANES, FN(name) and OP(call).  Included once
 * for f32 and once for f64. */

#define NR (2 * LANES)

/* Sums stay in named registers: an array of them goes through memory at every step. */
typedef struct FN(sums) {
    VEC v[MR][2];
} FN(sums);

#define STEP(r, value)                   \
    x = OP(broadcast)(value);            \
    c##r##0 = OP(fmadd)(x, b0, c##r##0); \
    c##r##1 = OP(fmadd)(x, b1, c##r##1)

/* Packed operands: MR values of op(A) and NR of op(B) a step. */
static inline __attribute__((always_inline)) void FN(sum_packed)(int64_t kc, const REAL *a,
                                                                 const REAL *b, FN(sums) * s)
{
    VEC zero = OP(setzero)(), x;
    VEC c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero, c21 = zero;
    VEC c30 = zero, c31 = zero, c40 = zero, c41 = zero, c50 = zero, c51 = zero;

    for (int64_t p = 0; p < kc; p++, a += MR, b += NR) {
        VEC b0 = OP(load)(b), b1 = OP(load)(b + LANES);
        STEP(0, a);
        STEP(1, a + 1);
        STEP(2, a + 2);
        STEP(3, a + 3);
        STEP(4, a + 4);
        STEP(5, a + 5);
    }
    *s = (FN(sums)){{{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}, {c40, c41}, {c50, c51}}};
}

/* Operands where they lie: rows[r] walks along k by a_k, op(B) has its rows b_k apart. */
static inline __attribute__((always_inline)) void FN(sum_direct)(int64_t k, const REAL *const *rows,
                                                                 int64_t a_k, const REAL *b,
                                                                 int64_t b_k, FN(sums) * s)
{
    VEC zero = OP(setzero)(), x;
    VEC c00 = zero, c01 = zero, c10 = zero, c11 = zero, c20 = zero, c21 = zero;
    VEC c30 = zero, c31 = zero, c40 = zero, c41 = zero, c50 = zero, c51 = zero;
    const REAL *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3], *r4 = rows[4],
               *r5 = rows[5];

    for (int64_t p = 0, at = 0; p < k; p++, at += a_k, b += b_k) {
        VEC b0 = OP(loadu)(b), b1 = OP(loadu)(b + LANES);
        STEP(0, r0 + at);
        STEP(1, r1 + at);
        STEP(2, r2 + at);
        STEP(3, r3 + at);
        STEP(4, r4 + at);
        STEP(5, r5 + at);
    }
    *s = (FN(sums)){{{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}, {c40, c41}, {c50, c51}}};
}

/* Where beta's factor comes from: C itself, or rows that all lie in one place. */
typedef struct FN(source) {
    const REAL *at;
    int64_t ld;
} FN(source);

/* C = alpha s + beta old over rows x cols of the tile; beta == 0 never reads `old`. */
static inline void FN(put_part)(const FN(sums) * s, FN(source) old, REAL *c, int64_t ld,
                                int64_t rows, int64_t cols, REAL alpha, REAL beta)
{
    REAL sums[NR];

    for (int64_t r = 0; r < rows; r++) {
        OP(storeu)(sums, s->v[r][0]);
        OP(storeu)(sums + LANES, s->v[r][1]);
        for (int64_t j = 0; j < cols; j++)
            c[r * ld + j] = beta == 0 ? alpha * sums[j]
                                      : FN(fused)(beta, old.at[r * old.ld + j], alpha * sums[j]);
    }
}

static inline void FN(put)(const FN(sums) * s, FN(source) old, REAL *c, int64_t ld, int64_t rows,
                           int64_t cols, REAL alpha, REAL beta)
{
    VEC factor = OP(set1)(alpha), scale = OP(set1)(beta);

    if (rows < MR || cols < NR) {
        FN(put_part)(s, old, c, ld, rows, cols, alpha, beta);
        return;
    }
    for (int r = 0; r < MR; r++, c += ld, old.at += old.ld) {
        VEC low = OP(mul)(factor, s->v[r][0]), high = OP(mul)(factor, s->v[r][1]);
        if (beta != 0) {
            low = OP(fmadd)(scale, OP(loadu)(old.at), low);
            high = OP(fmadd)(scale, OP(loadu)(old.at + LANES), high);
        }
        OP(storeu)(c, low);
        OP(storeu)(c + LANES, high);
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

#undef STEP

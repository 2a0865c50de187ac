/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* calibrate/projection_body.h -- the loops themselves, included once for each instruction set,
 * which defines MULTIPLY_ADD(a, b, c) for vectors of four.  Vectors never pass through a call:
 * their calling convention depends on the instruction set. */
#include <stdint.h>
#include <string.h>

#include "calibrate/projection_loops.h"

typedef double four __attribute__((vector_size(32)));
typedef int64_t bits __attribute__((vector_size(32)));

#define LAST_SIZE     ((bits){-1, -1, -1, INT64_MAX}) /* all of three, the last without its sign */
#define SPREAD(x)     ((four)((bits)(four){(x), (x), (x), (x)} & LAST_SIZE))
#define LOAD(v, from) memcpy(&(v), (from), sizeof(four))
#define STORE(to, v)  memcpy((to), &(v), sizeof(four))

static void dot(const double *x, const double *fours, size_t n, double *sum)
{
    four s[4] = {{0}, {0}, {0}, {0}}, r, all;
    size_t j = 0;

    LOAD(all, sum);
    for (; j + 4 <= n; j += 4) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            LOAD(r, fours + 4 * (j + i));
            s[i] = MULTIPLY_ADD(SPREAD(x[j + i]), r, s[i]);
        }
    }
    for (; j < n; j++) {
        LOAD(r, fours + 4 * j);
        all = MULTIPLY_ADD(SPREAD(x[j]), r, all);
    }
    all += (s[0] + s[1]) + (s[2] + s[3]);
    STORE(sum, all);
}

static void add(const double *x, const double *row, size_t n, double *out)
{
    four r, s;

    LOAD(r, row);
    for (size_t p = 0; p < n; p++, out += 4) {
        LOAD(s, out);
        s = MULTIPLY_ADD(SPREAD(x[p]), r, s);
        STORE(out, s);
    }
}

/* Four rows of two fours: eight sums in registers. */
static void tile(const double *x, size_t row_step, size_t step, size_t k, const double *fours,
                 size_t count, double *out)
{
    four s[4][2], b0, b1;

    for (size_t i = 0; i < 4; i++) {
        LOAD(s[i][0], out + 4 * i * count);
        LOAD(s[i][1], out + 4 * i * count + 4);
    }
    for (size_t p = 0; p < k; p++, x += step, fours += 4 * count) {
        LOAD(b0, fours);
        LOAD(b1, fours + 4);
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            const four a = SPREAD(x[i * row_step]);
            s[i][0] = MULTIPLY_ADD(a, b0, s[i][0]);
            s[i][1] = MULTIPLY_ADD(a, b1, s[i][1]);
        }
    }
    for (size_t i = 0; i < 4; i++) {
        STORE(out + 4 * i * count, s[i][0]);
        STORE(out + 4 * i * count + 4, s[i][1]);
    }
}

static void multiply(const double *x, size_t row_step, size_t step, size_t rows, size_t k,
                     const double *fours, size_t count, double *out)
{
    for (size_t i = 0; i < rows; i += 4)
        for (size_t c = 0; c < count; c += 2)
            tile(x + i * row_step, row_step, step, k, fours + 4 * c, count,
                 out + 4 * (i * count + c));
}

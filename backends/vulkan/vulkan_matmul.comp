#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* C = alpha op(A) op(B) + beta C, f32.  A workgroup of SIDE x SIDE invocations makes a tile of
 * SIDE*EACH rows and columns, each invocation EACH x EACH of it, SIDE apart; DEEP steps of k are
 * kept in shared memory at a time, read in the order in which they lie in memory. */
#extension GL_GOOGLE_include_directive : require
#include "vulkan_types.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 0) const uint SIDE = 16;
layout(constant_id = 2) const uint EACH = 4;
layout(constant_id = 3) const uint TRANS_A = 0;
layout(constant_id = 4) const uint TRANS_B = 0;

const uint DEEP = 16;
const uint TILE = SIDE * EACH;
const uint LINE = TILE + 1; /* neighbours along k in different banks */

layout(push_constant) uniform Arguments
{
    F32s a;
    F32s b;
    F32s c;
    uint m, n, k;
    uint lda, ldb, ldc;
    uint a_step, b_step, c_step;
    uint rows, columns, groups; /* of tiles; tiles in all */
    float alpha, beta;
} p;

shared float a_part[DEEP * LINE];
shared float b_part[DEEP * LINE];

/* Rows of op(A) from `row` on, k from `first` on. */
void load_a(uint base, uint row, uint first)
{
    for (uint t = gl_LocalInvocationIndex; t < TILE * DEEP; t += SIDE * SIDE) {
        const uint i = TRANS_A != 0u ? t % TILE : t / DEEP;
        const uint l = TRANS_A != 0u ? t / TILE : t % DEEP;
        const bool there = row + i < p.m && first + l < p.k;
        const uint at = TRANS_A != 0u ? (first + l) * p.lda + row + i : (row + i) * p.lda + first + l;
        a_part[l * LINE + i] = there ? LOAD(p.a, base + at) : 0.0;
    }
}

void load_b(uint base, uint column, uint first)
{
    for (uint t = gl_LocalInvocationIndex; t < TILE * DEEP; t += SIDE * SIDE) {
        const uint j = TRANS_B != 0u ? t / DEEP : t % TILE;
        const uint l = TRANS_B != 0u ? t % DEEP : t / TILE;
        const bool there = column + j < p.n && first + l < p.k;
        const uint at =
            TRANS_B != 0u ? (column + j) * p.ldb + first + l : (first + l) * p.ldb + column + j;
        b_part[l * LINE + j] = there ? LOAD(p.b, base + at) : 0.0;
    }
}

float sums[EACH * EACH];

void add_products()
{
    const uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;

    for (uint l = 0; l < DEEP; l++) {
        float b[EACH];
        for (uint j = 0; j < EACH; j++)
            b[j] = b_part[l * LINE + x + j * SIDE];
        for (uint i = 0; i < EACH; i++) {
            const float a = a_part[l * LINE + y + i * SIDE];
            for (uint j = 0; j < EACH; j++)
                sums[i * EACH + j] += a * b[j];
        }
    }
}

void store_c(uint base, uint row, uint column)
{
    for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++) {
            const uint r = row + gl_LocalInvocationID.y + i * SIDE;
            const uint s = column + gl_LocalInvocationID.x + j * SIDE;
            if (r >= p.m || s >= p.n)
                continue;
            const uint at = base + r * p.ldc + s;
            float v = p.alpha * sums[i * EACH + j];
            if (p.beta != 0.0)
                v += p.beta * LOAD(p.c, at);
            STORE(p.c, at, v);
        }
}

void main()
{
    const uint group = group_number();

    if (group >= p.groups)
        return;
    const uint of = group / (p.rows * p.columns), tile = group % (p.rows * p.columns);
    const uint row = tile / p.columns * TILE, column = tile % p.columns * TILE;
    for (uint i = 0; i < EACH * EACH; i++)
        sums[i] = 0.0;
    for (uint first = 0; first < p.k; first += DEEP) {
        load_a(of * p.a_step, row, first);
        load_b(of * p.b_step, column, first);
        barrier();
        add_products();
        barrier();
    }
    store_c(of * p.c_step, row, column);
}

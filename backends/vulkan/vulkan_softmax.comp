#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = e^(x - max) / sum of e^(x - max) over each row.  A row of -inf gives NaN by itself: -inf -
 * -inf.  A NaN may be no maximum but reaches the sum.  Exponentials and sums are 2^24 times too
 * large, which their quotients do not show. */
#extension GL_GOOGLE_include_directive : require
#define BF16_ABOVE bf16_away
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_exp.glsl"
#include "vulkan_rows.glsl"

layout(push_constant) uniform Arguments
{
    X x;
    X y;
    uint rows;
    uint cols;
} a;
#include "vulkan_held.glsl"

const uint MINUS_INFINITY = 0xff800000u;

float most_of_piece()
{
    float most = uintBitsToFloat(MINUS_INFINITY);

    [[unroll]] for (uint u = 0; u < PER; u++) {
        float m = held[u * LANES];
        [[unroll]] for (uint k = 1; k < LANES; k++)
            m = max(m, held[u * LANES + k]);
        most = max(most, m);
    }
    return most;
}

/* Leaves the exponentials in the place of what they are of. */
float sum_of_piece(float most)
{
    precise float sum = 0.0;

    [[unroll]] for (uint u = 0; u < PER; u++) {
        precise float e[LANES];
        [[unroll]] for (uint k = 0; k < LANES; k++)
            held[u * LANES + k] = e[k] = exp_scaled(held[u * LANES + k] - most);
        sum += sum_of_lanes(e);
    }
    return sum;
}

void row_in_registers(uint base)
{
    load_piece(base, 0u, uintBitsToFloat(MINUS_INFINITY));
    const float most = most_of_group(most_of_piece());
    store_product(base, 0u, reciprocal_of(sum_of_group(sum_of_piece(most))));
}

/* What is subtracted where nothing but -inf has been seen: their share of any sum is 0. */
float finite_most(float most)
{
    return floatBitsToUint(most) == MINUS_INFINITY ? 0.0 : most;
}

/* Read twice: a sum goes over to a larger maximum when one is met. */
void row_in_pieces(uint base)
{
    float most = uintBitsToFloat(MINUS_INFINITY);
    precise float sum = 0.0;

    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        load_piece(base, piece, uintBitsToFloat(MINUS_INFINITY));
        const float next = max(most, most_of_piece());
        sum = sum * (exp_scaled(most - finite_most(next)) * EXP_UNSCALED) +
              sum_of_piece(finite_most(next));
        most = next;
    }
    const float of_row = most_of_group(most);
    sum = sum_of_group(sum * (exp_scaled(most - finite_most(of_row)) * EXP_UNSCALED));
    const float by = reciprocal_of(sum);
    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        load_piece(base, piece, uintBitsToFloat(MINUS_INFINITY));
        sum_of_piece(of_row);
        store_product(base, piece, by);
    }
}

void main()
{
    const uint row = group_number();

    if (row >= a.rows)
        return;
    if (HELD != 0u)
        row_in_registers(row * a.cols);
    else
        row_in_pieces(row * a.cols);
}

#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = (x - mean) / sqrt(var + eps) over each row.  The mean is taken twice: what rounding left of it
 * the first time is found among the differences, so that nothing cancels. */
#extension GL_GOOGLE_include_directive : require
#define BF16_ABOVE bf16_away
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_rows.glsl"
#include "vulkan_norm.glsl"

/* The largest |x| and the sum of x as it is. */
uvec2 first_pass(uint base)
{
    uint most = 0u;
    precise float sum = 0.0;

    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        load_piece(base, piece, 0.0);
        most = max(most, magnitude_of_piece());
        sum += sum_of_piece();
    }
    return group_most_and_sum(uvec2(most, floatBitsToUint(sum)));
}

float scaled_sum(uint base, float scale)
{
    precise float sum = 0.0;

    if (HELD != 0u)
        multiply_piece(scale);
    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        scaled_piece_again(base, piece, scale);
        sum += sum_of_piece();
    }
    return sum_of_group(sum);
}

/* Places beyond the row stay 0. */
void subtract_from_piece(uint piece, float mean)
{
    [[unroll]] for (uint u = 0; u < PER; u++)
        [[unroll]] for (uint k = 0; k < LANES; k++) {
            precise float difference = held[u * LANES + k] - mean;
            if (is_inside(piece, u, k))
                held[u * LANES + k] = difference;
        }
}

/* Sums of the differences from the mean, and of their squares; those of what is held stay. */
vec2 differences(uint base, float scale, float mean)
{
    precise vec2 sums = vec2(0.0);

    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        scaled_piece_again(base, piece, scale);
        subtract_from_piece(piece, mean);
        sums += vec2(sum_of_piece(), squares_of_piece());
    }
    return sums_of_group(sums) / float(a.cols);
}

void main()
{
    const uint row = group_number();

    if (row >= a.rows)
        return;
    const uint base = row * a.cols;
    const uvec2 found = first_pass(base);
    const float scale = scale_of_row(found.x);
    const float sum = is_ordinary(found.x) ? uintBitsToFloat(found.y) : scaled_sum(base, scale);
    const float mean = sum / float(a.cols);
    const vec2 means = differences(base, scale, mean);
    const float rest = means.x;
    precise float spread = means.y - rest * rest;
    /* Not max(), which may pass over the NaN of a row that has one. */
    precise float variance = (spread < 0.0 ? 0.0 : spread) + eps_of_row(scale);
    const float by = reciprocal_of(sqrt(variance));
    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        scaled_piece_again(base, piece, scale);
        if (HELD == 0u)
            subtract_from_piece(piece, mean);
        subtract_from_piece(piece, rest);
        store_product(base, piece, by);
    }
}

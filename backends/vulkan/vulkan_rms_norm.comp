#version 450
/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y = x / sqrt(mean(x^2) + eps) over each row. */
#extension GL_GOOGLE_include_directive : require
#define BF16_ABOVE bf16_away
#include "vulkan_types.glsl"
#include "vulkan_vectors.glsl"
#include "vulkan_rows.glsl"
#include "vulkan_norm.glsl"

/* The largest |x| and the sum of squares of x as it is. */
uvec2 first_pass(uint base)
{
    uint most = 0u;
    precise float squares = 0.0;

    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        load_piece(base, piece, 0.0);
        most = max(most, magnitude_of_piece());
        squares += squares_of_piece();
    }
    return group_most_and_sum(uvec2(most, floatBitsToUint(squares)));
}

float scaled_squares(uint base, float scale)
{
    precise float squares = 0.0;

    if (HELD != 0u)
        multiply_piece(scale);
    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        scaled_piece_again(base, piece, scale);
        squares += squares_of_piece();
    }
    return sum_of_group(squares);
}

void main()
{
    const uint row = group_number();

    if (row >= a.rows)
        return;
    const uint base = row * a.cols;
    const uvec2 found = first_pass(base);
    const float scale = scale_of_row(found.x);
    const float squares =
        is_ordinary(found.x) ? uintBitsToFloat(found.y) : scaled_squares(base, scale);
    precise float mean = squares / float(a.cols) + eps_of_row(scale);
    const float by = reciprocal_of(sqrt(mean));
    for (uint piece = 0; piece < pieces_of_row(); piece++) {
        scaled_piece_again(base, piece, scale);
        store_product(base, piece, by);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* A row in pieces of PER vectors an invocation, a piece at a time in registers.  HELD: there is one
 * piece, which is loaded once; else each pass loads them anew.
 *
 * Which element is whose depends on the number of columns, never on where operands lie: sums have
 * the same order, and results the same bits, by vectors and by single elements.  Hence `precise`,
 * too: what a driver fuses may differ between two pipelines of a shader. */
layout(constant_id = 1) const uint PER = 4;
layout(constant_id = 2) const uint WAY = 0; /* one of these, see vulkan_row_plan.h */
layout(constant_id = 3) const uint HELD = 0;
layout(constant_id = 4) const uint WHOLE = 0; /* 1: pieces have no places beyond the row */

const uint BY_VECTORS = 0u; /* aligned operands */
const uint BY_SINGLES = 1u; /* of the same places */
const uint BY_SPREAD = 2u;  /* of rows that are no multiple: neighbours load neighbours */

float held[PER * LANES];

uint pieces_of_row()
{
    return HELD != 0u ? 1u : (a.cols + WG * PER * LANES - 1u) / (WG * PER * LANES);
}

uint vector_of(uint piece, uint u)
{
    return (piece * PER + u) * WG + gl_LocalInvocationID.x;
}

uint place_of(uint piece, uint u, uint k)
{
    return WAY == BY_SPREAD
               ? ((piece * PER + u) * LANES + k) * WG + gl_LocalInvocationID.x
               : vector_of(piece, u) * LANES + k;
}

bool is_inside(uint piece, uint u, uint k)
{
    return WHOLE != 0u || place_of(piece, u, k) < a.cols;
}

void load_piece(uint base, uint piece, float outside)
{
    [[unroll]] for (uint u = 0; u < PER; u++) {
        uint bits[LANES];
        [[unroll]] for (uint k = 0; k < LANES; k++)
            bits[k] = floatBitsToUint(outside);
        if (WAY == BY_VECTORS) {
            if (is_inside(piece, u, 0u))
                GET_LANES(a.x, base / LANES + vector_of(piece, u), bits);
        } else {
            [[unroll]] for (uint k = 0; k < LANES; k++)
                if (is_inside(piece, u, k))
                    bits[k] = GET(a.x, base + place_of(piece, u, k));
        }
        [[unroll]] for (uint k = 0; k < LANES; k++)
            held[u * LANES + k] = uintBitsToFloat(bits[k]);
    }
}

void store_piece(uint base, uint piece)
{
    [[unroll]] for (uint u = 0; u < PER; u++) {
        uint bits[LANES];
        [[unroll]] for (uint k = 0; k < LANES; k++)
            bits[k] = floatBitsToUint(held[u * LANES + k]);
        if (WAY == BY_VECTORS) {
            if (is_inside(piece, u, 0u))
                PUT_LANES(a.y, base / LANES + vector_of(piece, u), bits);
        } else {
            [[unroll]] for (uint k = 0; k < LANES; k++)
                if (is_inside(piece, u, k))
                    PUT(a.y, base + place_of(piece, u, k), bits[k]);
        }
    }
}

void multiply_piece(float by)
{
    [[unroll]] for (uint i = 0; i < PER * LANES; i++) {
        precise float product = held[i] * by;
        held[i] = product;
    }
}

/* As NaN the one that is plain enough for bf16_away: of rows that may have some. */
void quieten_piece()
{
    [[unroll]] for (uint i = 0; i < PER * LANES; i++)
        held[i] = isnan(held[i]) ? uintBitsToFloat(0x7fc00000u) : held[i];
}

/* y = by * what is held; where `by` is no number above 0, or infinite, NaN may come of it. */
void store_product(uint base, uint piece, float by)
{
    multiply_piece(by);
    if (!(by > 0.0 && by < uintBitsToFloat(0x7f800000u)))
        quieten_piece();
    store_piece(base, piece);
}

/* By halves. */
float sum_of_lanes(float of[LANES])
{
    precise float v[LANES] = of;

    [[unroll]] for (uint s = LANES / 2; s > 0; s >>= 1)
        [[unroll]] for (uint i = 0; i < s; i++)
            v[i] += v[i + s];
    return v[0];
}

/* 1/x, nearer than a driver's division has to be; of 0 and infinity as it is. */
float reciprocal_of(float x)
{
    const float r = 1.0 / x;
    precise float nearer = fma(fma(-x, r, 1.0), r, r);

    return x > 0.0 && floatBitsToUint(x) < 0x7f800000u ? nearer : r;
}

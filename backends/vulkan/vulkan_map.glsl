/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* y[i] = MAP_BITS(bits of x[i]), or with MAP_PAIR y[i] = MAP_PAIR(bits of x[i], bits of z[i]),
 * element by element; X and Y are types of vulkan_types.glsl.
 *
 * An invocation has PER vectors, WG apart, and loads all of them before it uses the first. */
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;
layout(constant_id = 1) const uint PER = 2;
layout(constant_id = 2) const uint ALIGNED = 0; /* vectors fit all operands; else single elements */

layout(push_constant) uniform Arguments
{
    X x;
#ifdef MAP_PAIR
    X z;
#endif
    Y y;
    uint n;
} a;

uint x_bits[PER * LANES];
#ifdef MAP_PAIR
uint z_bits[PER * LANES];
#define MAPPED(i) MAP_PAIR(x_bits[i], z_bits[i])
#else
#define MAPPED(i) MAP_BITS(x_bits[i])
#endif

void load_vector(uint at, uint u)
{
    uint bits[LANES];

    GET_LANES(a.x, at, bits);
    [[unroll]] for (uint k = 0; k < LANES; k++)
        x_bits[u * LANES + k] = bits[k];
#ifdef MAP_PAIR
    GET_LANES(a.z, at, bits);
    [[unroll]] for (uint k = 0; k < LANES; k++)
        z_bits[u * LANES + k] = bits[k];
#endif
}

void store_vector(uint at, uint u)
{
    uint bits[LANES];

    [[unroll]] for (uint k = 0; k < LANES; k++)
        bits[k] = MAPPED(u * LANES + k);
    PUT_LANES(a.y, at, bits);
}

void load_single(uint at, uint i)
{
    x_bits[i] = GET(a.x, at);
#ifdef MAP_PAIR
    z_bits[i] = GET(a.z, at);
#endif
}

void one_by_one(uint first, uint end, uint step)
{
    for (uint at = first; at < end; at += step) {
        load_single(at, 0u);
        PUT(a.y, at, MAPPED(0u));
    }
}

/* Vectors of a workgroup from `base` on; the one that the last elements do not fill is theirs, too.
 */
void map_vectors(uint base)
{
    const uint first = base + gl_LocalInvocationID.x, whole = a.n / LANES;

    if (base + WG * PER <= whole) { /* the same for all invocations */
        [[unroll]] for (uint u = 0; u < PER; u++)
            load_vector(first + u * WG, u);
        [[unroll]] for (uint u = 0; u < PER; u++)
            store_vector(first + u * WG, u);
        return;
    }
    for (uint at = first; at < base + WG * PER; at += WG)
        if (at < whole) {
            load_vector(at, 0u);
            store_vector(at, 0u);
        } else if (at == whole) {
            one_by_one(at * LANES, a.n, 1u);
        }
}

void map_singles(uint base)
{
    const uint first = base + gl_LocalInvocationID.x;

    if (base + WG * PER * LANES <= a.n) {
        [[unroll]] for (uint i = 0; i < PER * LANES; i++)
            load_single(first + i * WG, i);
        [[unroll]] for (uint i = 0; i < PER * LANES; i++)
            PUT(a.y, first + i * WG, MAPPED(i));
    } else {
        one_by_one(first, a.n, WG);
    }
}

void main()
{
    const uint base = group_number() * (WG * PER);

    if (base >= (a.n - 1u) / LANES + 1u) /* of a grid that was folded */
        return;
    if (ALIGNED != 0u)
        map_vectors(base);
    else
        map_singles(base * LANES);
}

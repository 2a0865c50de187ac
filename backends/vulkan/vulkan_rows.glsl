/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* One workgroup a row: sums and maxima of all its invocations.  WG is a power of two. */
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;

shared uint parts[WG];

/* Keys that order floats as integers; a NaN is above all. */
const uint NAN_KEY = 0xffffffffu;

uint key_of(uint bits)
{
    if (is_nan_bits(bits))
        return NAN_KEY;
    return bits >> 31 != 0u ? ~bits : bits | 0x80000000u;
}

uint bits_of_key(uint key)
{
    if (key == NAN_KEY)
        return 0x7fc00000u;
    return key >> 31 != 0u ? key & 0x7fffffffu : ~key;
}

uint max_of_group(uint value)
{
    const uint at = gl_LocalInvocationID.x;

    barrier(); /* those before have been read */
    parts[at] = value;
    barrier();
    for (uint s = WG / 2; s > 0; s >>= 1) {
        if (at < s)
            parts[at] = max(parts[at], parts[at + s]);
        barrier();
    }
    return parts[0];
}

float sum_of_group(float value)
{
    const uint at = gl_LocalInvocationID.x;

    barrier();
    parts[at] = floatBitsToUint(value);
    barrier();
    for (uint s = WG / 2; s > 0; s >>= 1) {
        if (at < s)
            parts[at] =
                floatBitsToUint(uintBitsToFloat(parts[at]) + uintBitsToFloat(parts[at + s]));
        barrier();
    }
    return uintBitsToFloat(parts[0]);
}

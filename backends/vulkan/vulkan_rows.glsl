/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* Sums and maxima of all invocations of a workgroup, the same bits in each of them.
 *
 * In two steps: FEW invocations join the parts of all, then each joins what those have.  Two
 * barriers, as by operations of subgroups, of which a device need have none, and whose order and
 * size would be the driver's; which memory is written in turn makes a third one needless.  WG is a
 * power of two, FEW or more. */
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 128;

const uint FEW = 16; /* vulkan_kernels.h has it, too */

shared uvec2 parts[WG];
shared uvec2 joined[FEW];

#define GROUP_JOIN(name, join)                                     \
    uvec2 name(uvec2 value)                                        \
    {                                                              \
        const uint at = gl_LocalInvocationID.x;                    \
        uvec2 all[FEW];                                            \
                                                                   \
        parts[at] = value;                                         \
        barrier();                                                 \
        if (at < FEW) {                                            \
            for (uint i = at + FEW; i < WG; i += FEW)              \
                value = join(value, parts[i]);                     \
            joined[at] = value;                                    \
        }                                                          \
        barrier();                                                 \
        [[unroll]] for (uint i = 0; i < FEW; i++)                  \
            all[i] = joined[i];                                    \
        [[unroll]] for (uint s = FEW / 2; s > 0; s >>= 1)          \
            [[unroll]] for (uint i = 0; i < s; i++)                \
                all[i] = join(all[i], all[i + s]);                 \
        return all[0];                                             \
    }

uvec2 join_sums(uvec2 a, uvec2 b)
{
    precise vec2 sums = uintBitsToFloat(a) + uintBitsToFloat(b);
    return floatBitsToUint(sums);
}

uvec2 join_most_and_sum(uvec2 a, uvec2 b)
{
    return uvec2(max(a.x, b.x), join_sums(a, b).y);
}

/* Of floats; where one is NaN it may be either. */
uvec2 join_most(uvec2 a, uvec2 b)
{
    return uvec2(floatBitsToUint(max(uintBitsToFloat(a.x), uintBitsToFloat(b.x))), 0u);
}

GROUP_JOIN(group_sums, join_sums)
GROUP_JOIN(group_most_and_sum, join_most_and_sum)
GROUP_JOIN(group_most, join_most)

float sum_of_group(float value)
{
    return uintBitsToFloat(group_sums(uvec2(floatBitsToUint(value), 0u)).x);
}

vec2 sums_of_group(vec2 value)
{
    return uintBitsToFloat(group_sums(floatBitsToUint(value)));
}

float most_of_group(float value)
{
    return uintBitsToFloat(group_most(uvec2(floatBitsToUint(value), 0u)).x);
}

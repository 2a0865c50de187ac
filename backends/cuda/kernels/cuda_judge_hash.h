/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The Assay authors */
/* backends/cuda/kernels/cuda_judge_hash.h -- XXH3-64 of a batch of outputs, in parts that many
 * threads make at once (Collet, XXH3, BSD licence: the algorithm and its constants).
 *
 * Inside one of its blocks of 1,024 bytes the hash only adds to eight lanes, so that blocks are
 * summed in any order; the 16 or 32 sums of a batch then pass through the lanes one after another.
 * For C and for CUDA C++. */
#ifndef BACKENDS_CUDA_KERNELS_CUDA_JUDGE_HASH_H
#define BACKENDS_CUDA_KERNELS_CUDA_JUDGE_HASH_H

#ifdef __CUDACC__
#define JUDGE_FN     static __device__ __forceinline__
#define JUDGE_TABLE  static __device__ const
#define JUDGE_UNROLL _Pragma("unroll")
#else
#define JUDGE_FN    static inline
#define JUDGE_TABLE static const
#define JUDGE_UNROLL
#endif

typedef unsigned long long judge_u64;

enum { JUDGE_LANES = 8, JUDGE_BLOCK_BYTES = 1024, JUDGE_STRIPE_BYTES = 64 };

/* The secret at multiples of 8 bytes; at 121 bytes, for the last stripe; at 11, for the end. */
JUDGE_TABLE judge_u64 judge_secret[24] = {
    0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,
    0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,
    0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
    0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u,
    0xc3ebd33483acc5eau, 0xeb6313faffa081c5u, 0x49daf0b751dd0d17u, 0x9e68d429265516d3u,
    0xfca1477d58be162bu, 0xce31d07ad1b8f88fu, 0x280416958f3acb45u, 0x7e404bbbcafbd7afu};
JUDGE_TABLE judge_u64 judge_secret_last[8] = {
    0xea647378d9c97e9fu, 0xc5c3ebd33483acc5u, 0x17eb6313faffa081u, 0xd349daf0b751dd0du,
    0x2b9e68d429265516u, 0x8ffca1477d58be16u, 0x45ce31d07ad1b8f8u, 0xaf280416958f3acbu};
JUDGE_TABLE judge_u64 judge_secret_end[8] = {
    0x6dd4de1cad21f72cu, 0xa44072db979083e9u, 0xe679cb1f67b3b7a4u, 0xd05a8278e5c0cc4eu,
    0x4608b82172ffcc7du, 0x9035e08e2443f774u, 0x52283c4c263a81e6u, 0x65d088cb00c391bbu};
JUDGE_TABLE judge_u64 judge_lanes_begin[8] = {
    0xc2b2ae3du,         0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
    0x85ebca77c2b2ae63u, 0x85ebca77u,         0x27d4eb2f165667c5u, 0x9e3779b1u};

/* What 8 bytes add to the lane of their place, and to the one beside it `data` itself. */
JUDGE_FN judge_u64 judge_hash_product(judge_u64 data, judge_u64 secret)
{
    const judge_u64 key = data ^ secret;

    return (judge_u64)(unsigned)key * (unsigned)(key >> 32);
}

/* The secret for lane `lane` of stripe `stripe` of a block; last: of the last of all blocks. */
JUDGE_FN judge_u64 judge_hash_secret(int stripe, int lane, int last)
{
    return last && stripe == JUDGE_BLOCK_BYTES / JUDGE_STRIPE_BYTES - 1
               ? judge_secret_last[lane]
               : judge_secret[stripe + lane];
}

/* A lane behind a block whose sum is `sum`. */
JUDGE_FN judge_u64 judge_hash_step(judge_u64 lane, judge_u64 sum, int place, int last)
{
    lane += sum;
    if (last)
        return lane;
    lane ^= lane >> 47;
    return (lane ^ judge_secret[16 + place]) * 0x9e3779b1u;
}

JUDGE_FN judge_u64 judge_hash_fold(judge_u64 a, judge_u64 b)
{
    const judge_u64 low = (a & 0xffffffffu) * (b & 0xffffffffu);
    const judge_u64 left = (a >> 32) * (b & 0xffffffffu), right = (a & 0xffffffffu) * (b >> 32);
    const judge_u64 middle = (low >> 32) + (left & 0xffffffffu) + right;
    const judge_u64 high = (a >> 32) * (b >> 32) + (left >> 32) + (middle >> 32);

    return high ^ (middle << 32 | (low & 0xffffffffu));
}

JUDGE_FN judge_u64 judge_hash_avalanche(judge_u64 h)
{
    h ^= h >> 37;
    h *= 0x165667919e3779f9u;
    return h ^ h >> 32;
}

/* The hash of a batch of so many bytes, from its lanes. */
JUDGE_FN judge_u64 judge_hash_end(const judge_u64 *lanes, judge_u64 bytes)
{
    judge_u64 h = bytes * 0x9e3779b185ebca87u;

    JUDGE_UNROLL
    for (int i = 0; i < JUDGE_LANES; i += 2)
        h +=
            judge_hash_fold(lanes[i] ^ judge_secret_end[i], lanes[i + 1] ^ judge_secret_end[i + 1]);
    return judge_hash_avalanche(h);
}

JUDGE_FN judge_u64 judge_hash_swap(judge_u64 x)
{
    x = (x & 0x00ff00ff00ff00ffu) << 8 | (x >> 8 & 0x00ff00ff00ff00ffu);
    x = (x & 0x0000ffff0000ffffu) << 16 | (x >> 16 & 0x0000ffff0000ffffu);
    return x << 32 | x >> 32;
}

/* The hash of the 16 bytes of two numbers: how a batch's digest is bound to its place. */
JUDGE_FN judge_u64 judge_hash_pair(judge_u64 digest, judge_u64 batch)
{
    const judge_u64 low = digest ^ judge_secret[3] ^ judge_secret[4];
    const judge_u64 high = batch ^ judge_secret[5] ^ judge_secret[6];

    return judge_hash_avalanche(16 + judge_hash_swap(low) + high + judge_hash_fold(low, high));
}

#endif
